#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once, on several processors.
#
#	h1 ---+                                    wires: hosts fast, between the switches slower,
#	h2 ---+--- p1..p4 [ sw1 ] trunk --- trunk [ sw2 ] q --- e0 r	to r the slowest
#	h3 ---+
#	h4 - - (comes and goes, with its cable or without)
#
# Each host has a processor of its own to send from. So the frames to r wait in sw2, which pauses
# sw1, which pauses the hosts; and all the while ports flap, lose their qdiscs and get new ones,
# options change, the pool is joined and left, pairs are elided, everything is dumped, and a
# namespace is removed with what it has queued. Then some of it with pfc, which pauses by ingress, and then
# modules are unloaded and loaded.
#
# What has to be done is counted in rounds, so that the test ends however slow the machine is.
# Afterwards nothing is stuck: all ports tag, a flow passes whole, no gauge is above zero. The rest
# is for the kernel to say: it is meant for one that looks for races (selftests/vm/run --flavour).
#
# $SLUICE_STRESS (1): so many times as many rounds; 0.2 for a short run.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_tool ip tc jq taskset
CPUS=$(nproc)
[ "$CPUS" -ge "${SLUICE_CPUS:-1}" ] || die "$CPUS processors, where $SLUICE_CPUS should be"
[ "$CPUS" -ge 2 ] || skip_all "needs several processors"
here=$(cd "$(dirname "$0")" && pwd)
udpflow=$here/udpflow
churn=$here/churn
[ -x "$udpflow" ] && [ -x "$churn" ] || skip_all "udpflow or churn is not built"
need_sluice
load_modules

LIMIT=1m
HOSTS="1 2 3"
work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT
rounds() { awk -v n="$1" -v by="${SLUICE_STRESS:-1}" 'BEGIN { n = int(n * by); print n ? n : 1 }'; }

# phase NAME: says when it began, too
phase() { diag "$1 ($(cut -d. -f1 /proc/uptime) s)"; }

for name in h1 h2 h3 sw1 sw2 r; do
	ns $name
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done

# host N: hN on its cable to sw1
host()
{
	ip_in sw1 link add "p$1" type wire rate 40mbit delay 1us \
		peer name e0 address "$(mac "$1")" netns "$NS-h$1" &&
	ip_in sw1 link set "p$1" master br0 up &&
	ip -n "$NS-h$1" -batch - <<-END
		addr add 10.0.0.$1/24 dev e0
		link set e0 up
		neigh replace 10.0.0.9 lladdr $(mac 9) nud permanent dev e0
	END
}
for name in sw1 sw2; do
	ip_in $name link add br0 type bridge mcast_snooping 0
	ip_in $name link set br0 up
done
for n in $HOSTS; do
	host "$n" || die "no host $n"
done
ip_in sw1 link add trunk type wire rate 20mbit delay 1us peer name trunk netns "$NS-sw2"
ip_in sw1 link set trunk master br0 up
ip_in sw2 link set trunk master br0 up
ip_in sw2 link add q type wire rate 10mbit delay 1us peer name e0 address "$(mac 9)" netns "$NS-r"
ip_in sw2 link set q master br0 up
ip_in r addr add 10.0.0.9/24 dev e0
ip_in r link set e0 up

PORTS="h1/e0 h2/e0 h3/e0 sw1/p1 sw1/p2 sw1/p3 sw1/trunk sw2/trunk sw2/q r/e0"
# everywhere KIND [OPTION]...: a new one at each port
everywhere()
{
	local port

	kind=$1
	for port in $PORTS; do
		tc_in "${port%/*}" qdisc del dev "${port#*/}" root 2>/dev/null
		tc_in "${port%/*}" qdisc add dev "${port#*/}" root handle 1: "$1" limit $LIMIT "${@:2}" ||
			die "no $1 at $port"
	done
}

# all_tag: or have a host as their neighbour, which takes no tags
all_tag()
{
	local port

	for port in $PORTS; do
		tc_in "${port%/*}" -j -s qdisc show dev "${port#*/}" | grep -qE '"state":"(tagging|host)"' || return
	done
}

# know: a bridge's port that was down has forgotten who is behind it
know()
{
	local n

	in_ns sw1 bridge fdb replace "$(mac 9)" dev trunk master static
	in_ns sw2 bridge fdb replace "$(mac 9)" dev q master static
	for n in $HOSTS; do
		in_ns sw1 bridge fdb replace "$(mac "$n")" dev "p$n" master static
		in_ns sw2 bridge fdb replace "$(mac "$n")" dev trunk master static
		neigh "h$n" e0 10.0.0.9 "$(mac 9)"
		neigh r e0 "10.0.0.$n" "$(mac "$n")"
	done
}

# sends N CPU [ARG...]: from hN, until told to stop; fails while the link is down
sends()
{
	while [ -e "$work/go" ]; do
		taskset -c $(($2 % CPUS)) ip netns exec "$NS-h$1" "$udpflow" "${@:3}" \
			>/dev/null 2>&1 || sleep 0.2
	done
}

senders=()
traffic_begins()
{
	local n

	: >"$work/go"
	ip netns exec "$NS-r" "$udpflow" tcpsink --port 7900 --idle=600s --timeout=600s >/dev/null 2>&1 &
	sink=$!
	for n in $HOSTS; do
		sends "$n" "$n" send -d 10.0.0.9 -f 8 -n 1000 -l 1400 &
		senders+=($!)
	done
	# trains of segments, which bfc cuts
	sends 1 0 tcpsend -d 10.0.0.9 -p 7900 -f 2 -B 300000 --timeout=2s &
	senders+=($!)
}

traffic_ends()
{
	rm -f "$work/go"
	wait "${senders[@]}"
	kill $sink 2>/dev/null
	wait $sink 2>/dev/null
	senders=()
}

# Violence: each of these does a number of rounds, and fails if it could not.

churns() # KIND ROUNDS NS/DEV...
{
	local kind=$1 count=$2 target targets=()

	for target in "${@:3}"; do
		targets+=("$NS-$target")
	done
	"$churn" --seed="${SLUICE_SEED:-1}" --count="$count" --every=4000 --down=1000 \
		--modules="${SLUICE_MODDIR:-}" "$kind" "${targets[@]}"
}

# changes ROUNDS NS DEV OPTIONS|OPTIONS...: of a qdisc that stays
changes()
{
	local i change lines=

	while read -r -d '|' change; do
		lines+="qdisc change dev $3 root handle 1: $kind $change"$'\n'
	done <<<"$4|"
	for ((i = 0; i < $1; i++)); do
		tc -n "$NS-$2" -batch - <<<"$lines" || return
	done
}
OPTIONS="quantum 256|quantum auto|reuse empty|reuse sticky|no-split-gso|split-gso|rate 1gbit|rate auto
	|hrtt 1ms|hrtt auto|th 2000|th auto|sticky 1s|sticky auto|notag|tag|limit 20k|limit $LIMIT|pool 300k
	|refresh 20ms|lease 1s|lease auto|refresh auto|nopause|pause|watchdog 1ms|watchdog auto|tier up
	|tier none|pool-alpha 50%|pool none|share spare|share random|control-dscp 46|control-dscp none"

dumps() # ROUNDS
{
	local i name

	for ((i = 0; i < $1; i++)); do
		for name in h1 sw1 sw2; do
			tc_in $name -s qdisc show && tc_in $name -s class show dev e0
			[ $name = h1 ] || tc_in $name -s class show dev trunk
			"$sluice" -n "$NS-$name" -j show -s
			ip_in $name -s -d link show
		done >/dev/null 2>&1
	done
}

pairs() # ROUNDS
{
	local i

	for ((i = 0; i < $1; i++)); do
		"$sluice" -n "$NS-sw1" pair add p1 trunk && "$sluice" -n "$NS-sw1" pair del p1 trunk ||
			return
	done
}

wires() # ROUNDS
{
	local i

	for ((i = 0; i < $1; i++)); do
		ip -n "$NS-sw1" -batch - <<-END || return
			link set trunk type wire delay 50us ring 8k
			link set p1 type wire loss 1% reorder 5% reorder_delay 20us
			link set trunk type wire rate 100mbit duplicate 1%
			link set p1 type wire loss 0 reorder 0 rate 1gbit
			link set trunk type wire rate 20mbit delay 1us duplicate 0 ring 150k
			link set p1 type wire rate 40mbit
		END
	done
}

# leaves ROUNDS: h4 comes, sends, and goes with its namespace, its cable or its neighbour's port
leaves()
{
	local i sender

	for ((i = 0; i < $1; i++)); do
		ip netns add "$NS-h4" && host 4 || return
		tc_in sw1 qdisc add dev p4 root handle 1: bfc limit $LIMIT
		tc_in h4 qdisc add dev e0 root handle 1: bfc limit $LIMIT
		ip netns exec "$NS-h4" "$udpflow" send -d 10.0.0.9 -f 16 -n 100 -l 1400 >/dev/null 2>&1 &
		sender=$!
		sleep 0.2
		case $((i % 3)) in
		0) ip_in sw1 link del p4 ;;
		1) ip_in h4 link set e0 down ;;
		esac
		kill $sender 2>/dev/null
		wait $sender 2>/dev/null
		del_ns h4 || return
		# the cable goes a moment after its namespace
		wait_until 30 no_p4 || return
	done
}
no_p4() { ! ip_in sw1 link show p4 2>/dev/null; }

# together NAME COMMAND...: to be done beside others
names=() jobs=()
together()
{
	"${@:2}" >"$work/said-${#jobs[@]}" 2>&1 &
	names+=("$1")
	jobs+=($!)
}

# done_all PHASE
done_all()
{
	local i

	for i in "${!jobs[@]}"; do
		if wait "${jobs[i]}"; then
			pass "$1: ${names[i]}"
		else
			fail "$1: ${names[i]}" "$(tail -n 5 "$work/said-$i")"
		fi
	done
	names=() jobs=()
}

# told NS DEV...: pauses that these ports have sent, and obeyed, in all
told() { local name=$1 dev sum=0; shift; for dev; do sum=$((sum + $(qdisc_stat "$name" "$dev" "$key" bfc))); done; echo $sum; }

everywhere bfc
know
check "all ports tag" wait_until 30 all_tag
traffic_begins
key=pauses_tx
paused_yet() { [ "$(told sw2 trunk)" -gt 0 ] && [ "$(told sw1 p1 p2 p3)" -gt 0 ]; }
check "pauses reach the hosts" wait_until 30 paused_yet
between "sw2 pauses sw1" "$(told sw2 trunk)" 1 100000000
between "sw1 pauses the hosts" "$(told sw1 p1 p2 p3)" 1 100000000
key=pauses_obeyed
between "sw1 obeys" "$(told sw1 trunk)" 1 100000000
between "h1 obeys" "$(told h1 e0)" 1 100000000

phase "flaps, new qdiscs, options, removals, dumps"
together "flaps" churns flap "$(rounds 150)" h2/e0 sw1/p3 r/e0
together "new qdiscs" churns qdisc "$(rounds 150)" h2/e0 sw1/p2 sw1/p3 r/e0
together "options of sw1" changes "$(rounds 6)" sw1 trunk "$OPTIONS"
together "options of sw1's p1, in the same pool" changes "$(rounds 6)" sw1 p1 "pool 300k|pool-alpha 10%|pool none|pool-alpha 100%"
together "options of h1" changes "$(rounds 6)" h1 e0 "$OPTIONS"
together "wires" wires "$(rounds 6)"
together "pairs" pairs "$(rounds 8)"
together "a host that comes and goes" leaves "$(rounds 6)"
together "dumps" dumps "$(rounds 6)"
done_all "by queue"
is "sluice shows sw2's ports" "$("$sluice" -n "$NS-sw2" -j show -s | jq length)" 2
key=pauses_tx
between "sw2 has paused all the while" "$(told sw2 trunk)" 1 100000000

phase "pauses by ingress"
need_module sch_pfc
everywhere pfc pool 300k
know
together "flaps" churns flap "$(rounds 100)" h2/e0 sw1/p3
together "options of pfc" changes "$(rounds 10)" sw1 trunk "pool-pause-alpha 1%|kmin 2k kmax 20k|notag|tag
	|pool-pause-alpha 50%|limit 20k|limit $LIMIT|pool-alpha 1000%|pool-alpha 100%|kmin none kmax none"
together "the same at p1" changes "$(rounds 10)" sw1 p1 "pool-pause-alpha 0.1%|kmax 1k|kmax none|pool-pause-alpha 100%"
together "dumps" dumps "$(rounds 4)"
done_all "by ingress"

phase "modules"
if [ -n "${SLUICE_MODDIR:-}" ]; then
	# the modules that are loaded need no name here
	everywhere bfc
	_unload sch_pfc
	together "dumps" dumps "$(rounds 3)"
	# shellcheck disable=SC2086
	together "unloaded and loaded" churns reload "$(rounds 8)" $PORTS
	done_all "modules"
fi

phase "quiet again"
traffic_ends
everywhere bfc
know
check "all ports tag" wait_until 60 all_tag
sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge 1 ]; }
in_ns r "$udpflow" sink --expect=1000 --idle=5s --timeout=60s --json >"$work/sink" &
sink=$!
wait_until 10 sink_is_up
in_ns h1 "$udpflow" send -d 10.0.0.9 -f 4 -n 250 -l 1400 >/dev/null
wait $sink
is "a flow passes whole" "$(jq .packets "$work/sink")" 1000
finish
