#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# GSO packets at a reaction point: those of a flow with a limiter leave frame by frame, at its rate; with
# no-split-gso, or without a limiter, as a whole. Frames that find no room are dropped, the others stay,
# and the parents count what is there.
#
#	h1 ---.
#	       s --- r		10 Gb/s; h2 plays a congestion point
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq bridge
need_virtual_time
need_program gsosend
: "${gsosend:?}"	# set by need_program
load_modules sch_rocc wire

PORT=5001
SEGMENTS=20
FRAME=$((1000 + 28 + 14))
RATE=10000	# kbit/s
TURN=$((FRAME * 8000000 / RATE))	# ns

count() { qdisc_stat h1 e0 "$1" rocc; }
send() { in_ns h1 "$gsosend" "$receiver" $SEGMENTS 1000 "${1:-$PORT}"; }

# told KBIT: the flow is
told()
{
	in_ns h2 "$cnpsend" "udp,10.0.0.1,$PORT,$receiver,7000" rate="$1" gap=500000000 "sequence=$((++sequence))" >/dev/null
}

# limited NAME: the flow has a limiter, which owes nothing
limited()
{
	local before at

	before=$(count accepted)
	at=$(($(now) + 1000000))
	sends h1 1 $at 1us -n 1
	wait $!
	told $RATE
	sleep 0.005
	is "$1: the flow has a limiter" "$(($(count accepted) - before)) $(limiters h1)" "1 1"
}

# leaves NAME FRAMES...: of one GSO packet so many frames have left half a turn later, and then in each turn
leaves()
{
	local name=$1 at each=()

	shift
	at=$(($(now) + 1000000))
	(
		sleep_until $at
		send
	) &
	each=($(samples $((at - TURN / 2)) $TURN $# |
		awk -v frame=$FRAME 'NR > 1 { printf "%s ", ($1 - last) / frame } { last = $1 }'))
	wait $!
	is "$name: frames that leave in each turn" "${each[*]}" "$*"
}

# empty_again NAME: nothing waits, and everybody counts that
empty_again()
{
	sleep 0.05
	is "$1: nothing is left" "$(count held) $(tc_in h1 -j -s qdisc show dev e0 |
		jq -c '[.[] | .backlog, .qlen] | unique')" "0 [0]"
}

star bridge 2 10gbit 1500ns
# What h1 sends of its own accord would count as the flow's
in_ns h1 sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null
neigh h2 e0 10.0.0.1 "$(mac 1)"
in_ns r "$udpflow" sink --json --idle 100s >/dev/null &
sink=$!
sequence=0
ones=$(printf '1 %.0s' $(seq $SEGMENTS))

# ---- at its rate ----
tc_in h1 qdisc add dev e0 root handle 1: rocc role host hold 1s
send 5009
is "without a limiter it is not cut" "$(count gso_split) $(count delayed)" "0 0"
limited "cut"
# shellcheck disable=SC2086
leaves "cut" $ones 0
is "cut: one packet, and all frames but the first waited" "$(count gso_split) $(count delayed)" "1 $((SEGMENTS - 1))"
send 5009
is "cut: not those of others" "$(count gso_split)" 1
empty_again "cut"

tc_in h1 qdisc change dev e0 root rocc no-split-gso
limited "uncut"
leaves "uncut" $SEGMENTS 0 0
sleep 0.05
send
send
is "uncut: the next one waits as a whole" "$(count gso_split) $(count held)" "1 $((SEGMENTS * FRAME))"
empty_again "uncut"

# ---- room ----
# with_room NAME QDISC: 9 frames have room in a limiter, and another one goes
with_room()
{
	tc_in h1 qdisc del dev e0 root
	case $2 in
	prio) tc_in h1 qdisc add dev e0 root handle 9: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	drr)
		tc_in h1 qdisc add dev e0 root handle 9: drr
		tc_in h1 class add dev e0 parent 9: classid 9:1 drr
		tc_in h1 filter add dev e0 parent 9: matchall flowid 9:1 ;;
	ets) tc_in h1 qdisc add dev e0 root handle 9: ets bands 2 quanta 1514 1514 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ;;
	esac || die "no $2"
	tc_in h1 qdisc add dev e0 parent 9:1 handle 1: rocc role host hold 1s limit $((4 * 9 * FRAME + 2000)) || die "no rocc"
	limited "$1"
}

# waiting: packets that the parent, and that rocc counts, and what rocc has dropped
waiting()
{
	REPLY=$(tc_in h1 -j -s qdisc show dev e0 | jq -c 'map({(.kind): .}) | add | [.'"$1"'.qlen, .'"$1"'.backlog, .rocc.qlen,
		.rocc.backlog, .rocc.drop_limit, .rocc.drops, .rocc.gso_split]')
}

for parent in prio drr ets; do
	with_room "below $parent" $parent
	send
	waiting $parent
	is "below $parent: what has room waits, the rest is dropped" "$REPLY" "[9,$((9 * FRAME)),9,$((9 * FRAME)),10,10,1]"
	empty_again "below $parent"
	# the first frame goes, whatever comes of it; the others each when it is due
	tc_in h1 qdisc add dev e0 parent 1:1 handle 3: bfifo limit 1
	limited "below $parent, above a full child"
	sleep 0.05
	before=$(link_stat h1 e0 tx_packets)
	send
	waiting $parent
	is "below $parent, above a full child: the others wait" "$(jq -c '.[:4]' <<<"$REPLY")" "[9,$((9 * FRAME)),9,$((9 * FRAME))]"
	empty_again "below $parent, above a full child"
	is "below $parent, above a full child: nothing has left" $(($(link_stat h1 e0 tx_packets) - before)) 0
done

tc_in h1 qdisc del dev e0 root
tc_in h1 qdisc add dev e0 root handle 1: rocc role host hold 1s limit $((SEGMENTS * FRAME - 1))
limited "beyond the limit"
send
is "beyond the limit: dropped as a whole" "$(count drop_limit) $(count gso_split) $(count held)" "1 0 0"
empty_again "beyond the limit"

# ---- fragments ----
# They name no flow, but the packet that they are cut from did.
tc_in h1 qdisc del dev e0 root
tc_in h1 qdisc add dev e0 root handle 1: rocc role host hold 1s
limited "fragments"
before=$(count no_flow)
check "fragments: a datagram is sent" in_ns h1 "$gsosend" e0 "$(mac 200)" 10.0.0.1 $PORT "$receiver" 14000
is "fragments: they wait for their turn" "$(count gso_split) $(count delayed) $(($(count no_flow) - before))" "1 9 0"
empty_again "fragments"

# ---- memory ----
failslab=/sys/kernel/debug/failslab
if [ -d $failslab ]; then
	tc_in h1 qdisc replace dev e0 root handle 2: rocc role host hold 1s
	limited "no memory"
	# what must not sleep gets none; nothing in the log for each
	echo Y >$failslab/ignore-gfp-wait
	echo 0 >$failslab/verbose
	echo -1 >$failslab/times
	echo 100 >$failslab/probability
	send
	echo 0 >$failslab/probability
	is "no memory: dropped as a whole, and counted" "$(count drop_gso) $(count gso_split) $(qdisc_stat h1 e0 drops rocc)" "1 0 1"
	# shellcheck disable=SC2086
	leaves "memory again" $ones 0
	empty_again "no memory"
else
	diag "this kernel cannot be made to have no memory (CONFIG_FAILSLAB)"
fi
told 10000000
check "at the full rate the limiter goes" wait_until 2 no_limiter h1
kill $sink
wait $sink
rm -r "$work"
finish
