#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Several qdiscs of one port, each with its own options: whose count, and for how long.
#
#	a (bfc on p, or mq and four bfc)  ------ veth ------  b (bfc on q, or hopframe)
#
# The port goes by the options of the qdisc that was made or changed last, of those that are left.
# One that never came into force because `tc` refused it in the end changes nothing, not even for a
# moment. Its HELLOs announce the kinds of all, and a neighbour that has none of these is neither tagged
# for nor obeyed nor paused.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
load_modules hopctl sch_bfc

hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"
tracing=/sys/kernel/debug/tracing
[ -d $tracing/events/hopctl ] || mount -t debugfs none /sys/kernel/debug 2>/dev/null

ns a b
ip_in a link add p numtxqueues 4 numrxqueues 4 address "$(mac 1)" type veth \
	peer name q address "$(mac 2)" netns "$NS-b"
ip_in a link set p up
ip_in b link set q up

# All figures of a's port; each member shows the same
declare -A port
look()
{
	port=()
	port_of a p && fields_of "$REPLY" port
}

# has NAME KEY VALUE: waits for it; what is asked next is of the same moment
has()
{
	comes_to "$1" port "$2" "$3" 6 look
}

# figures KEY...: of the port as it is now
figures()
{
	local key said=

	look
	for key; do
		said+=,${port[$key]:-nothing}
	done
	echo "${said#,}"
}

diag "a qdisc that is refused after it has joined"
tc_in b qdisc add dev q root bfc role switch
tc_in a qdisc add dev p root handle 1: bfc tier down role switch lease 7ms
# one in the place of the other, so that there are numbers for two
tc_in a qdisc replace dev p root handle 2: bfc tier down role switch lease 7ms
has "a tags" state tagging
has "b's sub-queues have handles" handles 128
[ -w $tracing/events/hopctl/enable ] && {
	echo 1 >$tracing/events/hopctl/hop_state/enable
	: >$tracing/trace
}
before=$(figures state tier role handles peer_role neighbour_up)
# classes of bfc take no qdisc, which is found when it has been made
for how in add replace; do
	refused "$how below bfc" "" ip netns exec "$NS-a" tc qdisc "$how" dev p parent 2:1 \
		handle 7: bfc tier up role host peer host hrtt 50ms notag tpid 802.1q nowatch
done
is "the port is as it was" "$(figures state tier role handles peer_role neighbour_up)" "$before"
sleep 0.5
is "and stays so" "$(figures state tier role handles peer_role neighbour_up)" "$before"
between "with the HRTT of the link, not that of the refused" "$(figures hrtt)" 1 1000000
if [ -w $tracing/events/hopctl/enable ]; then
	is "nor was it anything else" "$(grep -c "hop_state: p " $tracing/trace)" 0
	echo 0 >$tracing/events/hopctl/hop_state/enable
else
	skip "nor was it anything else" "no tracepoints"
fi
refused "more queues than there are" "must not exceed 4094" \
	ip netns exec "$NS-a" tc qdisc replace dev p root handle 7: bfc queues 4000 tier up
is "nor by that" "$(figures tier role handles)" down,switch,128

diag "the one that was changed last decides, and when it goes, the one before"
tc_in a qdisc replace dev p root handle 9: mq
for i in 1 2 3 4; do
	tc_in a qdisc replace dev p parent 9:$i handle "1$i:" bfc queues 50 tier down
done
has "four leaves" tier down
tc_in a qdisc change dev p parent 9:3 handle 13: bfc tier none
tc_in a qdisc change dev p parent 9:2 handle 12: bfc tier up role host hrtt 50ms notag
is "the second decides" "$(figures tier role hrtt state)" up,host,50000000,disabled
tc_in a qdisc del dev p parent 9:2
is "it is gone: the third" "$(figures tier role)" none,host
has "which tags" state tagging
between "and measures" "${port[hrtt]}" 100 10000000
tc_in a qdisc del dev p parent 9:3
is "gone: the fourth, made after the first" "$(figures tier)" down
tc_in a qdisc change dev p parent 9:1 handle 11: bfc role switch
is "the first" "$(figures role)" switch
tc_in a qdisc replace dev p parent 9:1 handle 21: bfc queues 50 tier up
has "another in its place" tier up
is "has its own options, not those of before" "$(figures role)" host
tc_in a qdisc del dev p root
tc_in b qdisc del dev q root
sleep 1.5	# no goodbyes any more

# neighbour WORDS...: by hand, in the background; its lines go to $said
said=$(mktemp)
trap 'rm -f "$said"; _at_exit' EXIT
neighbour() { in_ns b "$hopframe" peer q role=switch queues=64 "$@" >"$said" 2>&1 & hand=$!; }

diag "a neighbour of another kind"
tc_in a qdisc add dev p root handle 9: mq
for i in 1 2 3; do
	tc_in a qdisc add dev p parent 9:$i handle "1$i:" bfc queues 50 role switch
done
for kinds in 2 0 fffe; do
	neighbour mine=1$kinds kinds=$kinds for=1500 at=600 state:seq=1,lease=2000000000,words=ff
	has "kinds $kinds: the port says why it is plain" state kind
	wait $hand
	is "it pauses nobody there" "$(figures handles)" 0
	untrusted=$((${untrusted:-0} + 1))
	is "and does not let itself be paused" "$(figures paused_queues state_rx rx_untrusted)" \
		"0,0,$untrusted"
	is "which is told all the same" "$(grep -c ' ack seq=1' "$said")" 1
	is "and sends no probe, says no TAGS" "$(figures probe_tx),$(grep -cE ' flags=([4-7c-f]) ' "$said")" 0,0
	has "gone" state no_neighbour
done
is "what the port announces are its members' kinds" \
	"$(sed -nE 's/.* kinds=([0-9a-f]+) .*/\1/p' "$said" | sort -u)" 1

neighbour mine=2 kinds=8001 for=4500 at=700 state:seq=1,lease=2000000000,words=ff at=1500 hello:kinds=2
has "one kind in common is enough" state tagging
has "and its pauses count" paused_queues 8
is "and it can be paused" "$(figures handles)" 64
has "when it has that no more they end" paused_queues 0
is "before their lease" "$(figures lease_expired)" 0
has "when it has it again the port tags again" state tagging
is "but it has to pause again" "$(figures paused_queues)" 0
wait $hand

diag "a qdisc that comes while its numbers are paused"
all=ffffffffffffffff
neighbour mine=3 for=3000 at=700 state:seq=1,lease=2000000000,words=$all+$all+$all
has "all are" paused_queues 150
tc_in a qdisc replace dev p parent 9:2 handle 22: bfc queues 50 role switch
between "it knows" "$(tc_in a -j -s qdisc show dev p | jq '.[] | select(.handle == "22:").paused')" 1 50
wait $hand
leave_ports
tc_in a qdisc del dev p root

finish
