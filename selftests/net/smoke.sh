#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each kind of module does what it is there for, once: for kernels and machines on which nothing else runs.
#
#	h1 ---+
#	h2 ---+--- s (bridge) --- r		wires of 100 Mb/s, 1 us
#
# Two hosts send more than the link to r carries. With ideal, with pauses of bfc, flowsail and pfc and with windows of floodgate nothing is
# lost; rocc makes the hosts slower.
# Then flowgen's flows are complete.

. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge jq
load_modules
need_module sch_floodgate sch_flowsail sch_ideal sch_pfc sch_rocc flowgen
. "$(dirname "$0")/rocc.sh"
trap 'rm -rf "$work"; _at_exit' EXIT

FRAMES=400		# of each host; half of all are queued at the link to r
LIMIT=300		# frames that may wait there
RATE=100mbit

# on_all WORDS...: that qdisc on each port of s, for those behind it a host's
on_all()
{
	local port

	for port in p1 p2 pr; do
		tc_in s qdisc replace dev $port root "$@" || die "no $1 on $port"
	done
}
on_hosts()
{
	local host

	for host in h1 h2 r; do
		tc_in $host qdisc replace dev e0 root "$@" || die "no $1 on $host"
	done
}

sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge 2 ]; }

# both: 400 frames of each host at once; prints how many arrived
both()
{
	local i start

	in_ns r "$udpflow" sink --ports=2 --idle=500ms --timeout=20s --json >"$work/sink" &
	wait_until 5 sink_is_up
	start=$(($(now) + 500000000))
	for i in 1 2; do
		in_ns h$i "$udpflow" send -d "$receiver" -p $((6999 + i)) --id=$i -l $ROCC_PAYLOAD -n $FRAMES \
			--sndbuf=16m --at=$start >"$work/send$i" &
	done
	wait
	jq .packets "$work/sink"
}

star bridge 2 $RATE 1us

on_all ideal limit $((2 * FRAMES * 1500))
is "ideal: every frame arrives" "$(both)" $((2 * FRAMES))
# and a little that boxes say of themselves
between "ideal: and passed it" "$(qdisc_stat s pr packets ideal)" $((2 * FRAMES)) $((2 * FRAMES + 100))

is_tagging() { tc_in "$1" -j -s qdisc show dev e0 | grep -q '"state":"tagging"'; }
# pauses KIND HOST-WORDS SWITCH-WORD...: with such qdiscs s pauses the hosts, and nothing is lost
pauses()
{
	local i

	on_all "$1" "${@:3}"
	# shellcheck disable=SC2086
	on_hosts "$1" $2
	check "$1: h1 tags" wait_until 10 is_tagging h1
	check "$1: h2 tags" wait_until 10 is_tagging h2
	is "$1: every frame arrives" "$(both)" $((2 * FRAMES))
	is "$1: none is dropped" "$(qdisc_stat s pr drops "$1")" 0
	for i in 1 2; do
		between "$1: s paused h$i" "$(qdisc_stat s p$i pauses_tx "$1")" 1 $FRAMES
		between "$1: which obeyed" "$(qdisc_stat h$i e0 pauses_obeyed "$1")" 1 $FRAMES
	done
}
pauses bfc "" limit $((LIMIT * 1500))
pauses flowsail "" limit $((LIMIT * 1500))
pauses pfc "pool 64m" pool $((LIMIT * 1500)) pool-alpha 1000%

# Windows are between switches, which h1 and h2 are now.
on_all floodgate limit $((LIMIT * 1500))
on_hosts floodgate role switch
tc_in r qdisc replace dev e0 root floodgate role host
check "floodgate: h1 tags" wait_until 10 is_tagging h1
check "floodgate: h2 tags" wait_until 10 is_tagging h2
is "floodgate: every frame arrives" "$(both)" $((2 * FRAMES))
is "floodgate: none is dropped" "$(qdisc_stat s pr drops floodgate)" 0
for i in 1 2; do
	between "floodgate: packets waited in h$i's VOQ" "$(qdisc_stat h$i e0 voq_packets floodgate)" $((FRAMES / 2)) $FRAMES
	between "floodgate: for what s has told" "$(qdisc_stat h$i e0 credits floodgate)" 1 $((2 * FRAMES))
done

on_all rocc limit $((LIMIT * 1500))
on_hosts rocc role host
start=$(($(now) + 500000000))
pids=()
sends h1 1 $start 500ms
sends h2 2 $start 500ms
sleep_until $((start + 400000000))
figures s pr cnps fair_rate
read -r cnps fair <<<"$REPLY"
between "rocc: s sends CNPs" "$cnps" 2 100000
# 12.5 MB/s are the link
between "rocc: its fair rate is below the link's" "$fair" 1 12499999
for i in 1 2; do
	is "rocc: h$i has a limiter" "$(limiters h$i)" 1
done
wait "${pids[@]}"
for i in 1 2; do
	check "rocc: h$i has none any more" wait_until 20 no_limiter h$i
done

FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
if [ -x "$FLOWGEN" ]; then
	printf '%s\n' "1 $NS-h1 10.0.0.1" "2 $NS-h2 10.0.0.2" "3 $NS-r $receiver" >"$work/ends"
	printf '%s\n' "# sluice-trace 1" "0 1 3 100000" "1000 2 3 50000" >"$work/trace"
	neigh r e0 10.0.0.1 "$(mac 1)"
	neigh r e0 10.0.0.2 "$(mac 2)"
	check "flowgen runs" "$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" --json
	is "and both flows are complete" "$(sed 1d "$work/out" | grep -c .)" 2
else
	skip "flowgen runs" "flowgen is not built"
fi
finish
