#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Which sub-queue a new flow gets when the neighbour holds one of them paused.
#
#	a:p ---- b:q (hopframe)		wire
#
# Four sub-queues, each used by a flow that has gone, none of them unused for the sticky time. The one
# that was used first is paused: a new flow gets the longest unused of the others, and shares with
# nobody. When it is resumed, and its sticky time is over, it is given away like the others.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
need_virtual_time
load_modules hopctl sch_bfc wire

dir=$(cd "$(dirname "$0")" && pwd)
udpflow=$dir/udpflow hopframe=$dir/hopframe
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
[ -x "$hopframe" ] || skip_all "hopframe is not built (make -C selftests)"

ns a b
for end in a b; do
	in_ns $end sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip_in a link add p address "$(mac 1)" type wire rate 1gbit delay 1us \
	peer name q address "$(mac 2)" netns "$NS-b"
ip_in a link set p up
ip_in b link set q up
ip_in a addr add 10.0.0.1/24 dev p
neigh a p 10.0.0.2 "$(mac 2)"
tc_in a qdisc add dev p root handle 1: bfc role host share random queues 4 flows 400000 sticky 1s nowatch

flow() { in_ns a "$udpflow" send -d 10.0.0.2 --sport "$1" -n 1 >/dev/null; }

# sent: sets `sent` to the packets that each sub-queue has sent
sent()
{
	local text n

	text=$(tc_in a -s class show dev p)
	sent=()
	for n in 0 1 2 3; do
		sent[n]=0
		[[ ${text#*:100$n parent} = "$text" ]] ||
			[[ ! ${text#*:100$n parent} =~ bytes\ ([0-9]+)\ pkt ]] || sent[n]=${BASH_REMATCH[1]}
	done
}

figs() { bfc_figs "$NS-a" p "$@"; }
paused_is() { figs paused && [ "$REPLY" = "$1" ]; }

flow 6000
sent
for n in 0 1 2 3; do
	[ "${sent[n]}" = 0 ] || first=$n
done
in_ns b "$hopframe" peer q for=2500 role=switch queues=128 flags=d deaf \
	at=0 state:seq=1,lease=2000000000,words=$((1 << first)) \
	at=1500 state:seq=2,lease=2000000000,words=0 >/dev/null &
check "the first flow's sub-queue is paused" wait_until 1 paused_is 1
for port in 6001 6002 6003; do
	flow $port
	sleep 0.01
done
figs assign_free assign_early assign_shared
is "four flows had one each" "$REPLY" "4 0 0"

for port in 6011 6012 6013; do
	flow $port
	sleep 0.01
done
figs assign_free assign_early assign_shared
is "three new flows get the three that are empty and not paused" "$REPLY" "4 3 0"
sent
want=(2 2 2 2)
want[first]=1
is "one each" "${sent[*]}" "${want[*]}"
is "the four classes say that no flow waits any more" \
	"$(tc_in a -s class show dev p | awk '$1 == "class:" { k++; n += $5 } END { print k, n }')" "4 0"

check "it is resumed" wait_until 2 paused_is 0
sleep 1.1
for port in 6021 6022 6023 6024; do
	flow $port
	sleep 0.01
done
figs assign_free assign_early assign_shared
is "after the sticky time all four are free" "$REPLY" "8 3 0"
sent
want=(3 3 3 3)
want[first]=2
is "and are given to a flow each" "${sent[*]}" "${want[*]}"

wait
# Times of the flow table come round after 2^32 x 64 ns. Half of that after its making a table that nobody has used is as
# empty as at any time.
tc_in a qdisc del dev p root
tc_in a qdisc add dev p root handle 1: bfc role host share random queues 32 sticky 1s nowatch
sleep 137.9
for ((i = 0; i < 16; i++)); do
	flow $((7000 + i))
done
figs collisions assign_free
is "a table half a round of time old: each new flow has an entry and a sub-queue" "$REPLY" "0 16"

finish
