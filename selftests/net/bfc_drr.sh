#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Round robin beside pauses: a sub-queue whose turns are cut short by pauses, again and again, gets
# what is due to it and no more.
#
#	a:p ---- b:q (hopframe)		wire
#
# Two greedy flows have a sub-queue each, with turns of 64 KiB. The neighbour, made by hand, pauses
# one of the two every 13 ms in the middle of a turn. Before, between and after pauses both wait
# all the time and are not paused: over any such time they may differ by a quantum and two of the
# largest frames at most (Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round Robin,
# SIGCOMM 1995, theorem 4.5), and the credit of a sub-queue lies between minus a frame and a quantum.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
need_virtual_time
load_modules hopctl sch_bfc wire

dir=$(cd "$(dirname "$0")" && pwd)
udpflow=$dir/udpflow hopframe=$dir/hopframe
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
[ -x "$hopframe" ] || skip_all "hopframe is not built (make -C selftests)"

QUANTUM=65536
FRAME=1442
PAUSES=80

ns a b
for end in a b; do
	in_ns $end sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip_in a link add p address "$(mac 1)" type wire rate 100mbit delay 1us ring 3000 \
	peer name q address "$(mac 2)" netns "$NS-b"
ip_in a link set p up
ip_in b link set q up
ip_in a addr add 10.0.0.1/24 dev p
neigh a p 10.0.0.2 "$(mac 2)"
tc_in a qdisc add dev p root bfc role host share random queues 2 no-split-gso limit 128m nowatch

# Sub-queue 0 is paused for 6 ms, then has time for the rest of the other's turn and a part of its own.
says=()
for ((i = 1; i <= PAUSES; i++)); do
	says+=("at=$((i * 13))" "state:seq=$((2 * i)),lease=2000000000,words=1"
	       "at=$((i * 13 + 6))" "state:seq=$((2 * i + 1)),lease=2000000000,words=0")
done
in_ns b "$hopframe" peer q for=3000 role=switch queues=128 flags=d deaf "${says[@]}" >/dev/null &
hand=$!
for port in 6001 6002; do
	in_ns a "$udpflow" send -d 10.0.0.2 --sport $port -l 1400 -n 20000 --sndbuf=128m >/dev/null &
done

# sample: sets sent, credit, waits and pauses of each sub-queue, of one moment
sample()
{
	local text queue
	local number='([0-9]+)'

	text=$(tc_in a -s class show dev p)
	sent=() waits=() credit=() pauses=()
	for queue in 1000 1001; do
		text=${text#*:"$queue" parent}
		[[ ${text%%class bfc*} =~ Sent\ $number\ .*backlog\ $number.*deficit\ (-?[0-9]+).*pauses\ $number ]] ||
			die "no sub-queue $queue" "$text"
		sent+=("${BASH_REMATCH[1]}") waits+=("${BASH_REMATCH[2]}")
		credit+=("${BASH_REMATCH[3]}") pauses+=("${BASH_REMATCH[4]}")
	done
}

least=0 most=0 beyond=0
look()
{
	local one

	for one in "${credit[@]}"; do
		[ "$one" -ge "$least" ] || least=$one
		[ "$one" -le "$most" ] || most=$one
	done
}

# fair NAME N: over each of the times between N samples
fair()
{
	local ahead low high i

	sample
	low=$((sent[0] - sent[1])) high=$low
	for ((i = 0; i < $2; i++)); do
		sleep 0.007
		sample
		look
		ahead=$((sent[0] - sent[1]))
		[ $ahead -ge $low ] || low=$ahead
		[ $ahead -le $high ] || high=$ahead
	done
	between "$1: bytes by which the two differ at most" $((high - low)) 1 $((QUANTUM + 2 * FRAME))
}

sleep 0.01
for ((i = 0; i < 49; i++)); do
	sleep 0.02
	sample
	look
done
sleep 0.1
sample
is "one is paused again and again, the other never" "${pauses[*]}" "$PAUSES 0"
fair "after it" 40
[ "${waits[0]}" -gt 0 ] && [ "${waits[1]}" -gt 0 ] || beyond=1
is "both have waited all the while" $beyond 0
between "the least credit" $least $((1 - FRAME)) 0
between "the greatest" $most 1 $QUANTUM
wait
finish
