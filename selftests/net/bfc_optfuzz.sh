#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Options of bfc (or KIND..., of one module: see optfuzz.c) at random, on devices of small and large frames, with packets that wait.
#
#	namespace a:  w0 ==== wire, 8 ms for a full frame ==== w1
#
# optfuzz (optfuzz.c) looks after each of its messages what became of the qdisc: what is refused
# changes nothing, what is taken is shown and in range. Afterwards the qdisc still passes
# traffic. SLUICE_FUZZ_INPUTS is the number of messages, SLUICE_SEED their seed.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool tc ip jq
kinds=("${@:-bfc}")
modules=("sch_${kinds[0]%%-*}")
[[ ${kinds[0]} != @([bp]fc|floodgate|flowsail) ]] || modules=(hopctl "${modules[@]}")
load_modules "${modules[@]}" wire

here=$(cd "$(dirname "$0")" && pwd)
for tool in optfuzz hopframe; do
	[ -x "$here/$tool" ] || skip_all "$tool is not built"
done

# A million takes 40 s in User-Mode Linux; sanitizers and emulation are slower.
inputs=${SLUICE_FUZZ_INPUTS:-1000000}
if [ -z "${SLUICE_FUZZ_INPUTS:-}" ] &&
   { [ -w $_kmemleak ] || [ "${SLUICE_HOME:-}" != uml ]; }; then
	inputs=60000
fi

each=$((inputs / 3 / ${#kinds[@]}))

ns a

# Frames of a type of their own that come out at the other end
said=$(mktemp)
trap 'rm -f "$said"; _at_exit' EXIT
arrive()
{
	in_ns a "$here/hopframe" listen w1 data for=2000 >"$said" &
	sleep 0.5
	in_ns a "$here/hopframe" data w0 n=200 dst=02:00:00:00:09:09
	wait $!
	grep -c 'data type=9000' "$said"
}

for run in "${kinds[@]/%/ 68}" "${kinds[@]/%/ 1500}" "${kinds[@]/%/ 65535}"; do
	read -r kind mtu <<<"$run"
	ip_in a link add w0 type wire rate $((mtu * 1000)) ring 0 peer name w1 || die "no wire"
	for dev in w0 w1; do
		ip_in a link set $dev mtu $mtu up
	done
	if "$here/optfuzz" -n "$NS-a" -k "$kind" w0 $each $((${SLUICE_SEED:-1} + mtu)) \
		>"$said" 2>&1; then
		pass "$kind, MTU $mtu: $each messages"
	else
		fail "$kind, MTU $mtu: $each messages"
	fi
	sed 's/^[^#]/# &/' "$said"
	read -r messages taken refused queued < <(sed -n 's/^messages taken refused with-packets //p' "$said")
	is "$kind, MTU $mtu: all were answered" "${messages:-none}" $each
	between "$kind, MTU $mtu: many are taken" "${taken:-none}" $((each / 5)) $each
	between "$kind, MTU $mtu: many are refused" "${refused:-none}" $((each / 5)) $each
	between "$kind, MTU $mtu: most while packets wait" "${queued:-none}" $((each / 2)) $each

	ip_in a link set w0 type wire rate 10gbit
	tc_in a qdisc del dev w0 root 2>/dev/null
	case $kind in
	rocc-host) words="rocc role host" ;;
	pfc) words="pfc pool 1g" ;;
	*) words=$kind ;;
	esac
	# shellcheck disable=SC2086
	check "$run: a new one" tc_in a qdisc add dev w0 root handle 1: $words limit 1g
	sleep 5
	is "$kind, MTU $mtu: nothing is left behind" "$(qdisc_stat a w0 backlog)" 0
	is "$kind, MTU $mtu: frames still pass" "$(arrive)" 200
	leave_ports
	ip_in a link del w0
done
finish
