#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the watchdogs look at, counted by their tracepoint: only at what has changed or is suspected.
#
#	a (bfc of 4094 sub-queues on p) --- b (hopframe on q)
#
#	h1 --- p1 [ sw, a bridge ] q1 --- r1	q1's line is slower than h1's
#
# A neighbour that pauses and resumes makes a look at the windows of the sub-queues that it has changed, not at all
# of them. A switch that pauses its neighbour asks its clock of each qdisc whether packets leave it, and takes RTNL
# and a qdisc's lock only if none do.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
need_virtual_time
load_modules

here=$(dirname "$0")
hopframe=$here/hopframe udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || die "hopframe and udpflow are not built: make -C selftests"
tracing=/sys/kernel/debug/tracing
[ -d $tracing/events/hopctl ] || mount -t debugfs none /sys/kernel/debug || die "no tracing"
[ -d $tracing/events/hopctl/hop_watch ] || die "no tracepoint hop_watch"
echo 1 >$tracing/events/hopctl/hop_watch/enable

# looked DEV WHAT: how many each look there was at, in their order
looked() { sed -nE "s/.* hop_watch: $1 $2 looked=([0-9]+)$/\\1/p" $tracing/trace | paste -sd' '; }

diag "the paused side"
ns a b
ip_in a link add p address "$(mac 1)" type veth peer name q address "$(mac 2)" netns "$NS-b"
ip_in a addr add 10.0.0.1/24 dev p
ip_in a link set p up
ip_in b link set q up
neigh a p 10.0.0.2 "$(mac 2)"
tc_in a qdisc add dev p root bfc queues 4094 assign single role host watchdog 1s
in_ns b "$hopframe" peer q role=switch queues=64 for=3500 \
	at=1000 state:seq=1,lease=2000000000,words=1 at=1400 state:seq=2,lease=2000000000,words=ffff \
	at=1800 state:seq=3,lease=2000000000,words=fffe at=2400 state:seq=4,lease=2000000000,words=0 >/dev/null &
hand=$!
check "it tags" wait_until 5 tags a p
: >$tracing/trace
sleep 1.2
in_ns a "$udpflow" send -d 10.0.0.2 -p 7000 -n 3 -l 958 --rate=1000000 >/dev/null
is "the packets wait" "$(qdisc_stat a p backlogged),$(qdisc_stat a p paused)" 1,1
wait $hand
is "the only window of those that changed, when it did" "$(looked p change)" 1
is "looks at what is paused or was, one sub-queue, sixteen, and fifteen" "$(looked p look | tr ' ' '\n' | uniq | paste -sd' ')" \
	"1 16 15 0"
is "each 125 ms, from the first pause on until nothing is" "$(looked p look | wc -w)" 13

diag "the pausing side"
cable()
{
	ns "$1"
	in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	ip_in "$1" link add e0 address "$(mac "$2")" type wire rate 1gbit delay 1us \
		peer name "$3" address "$(mac "$2" 1)" netns "$NS-sw"
	ip_in sw link set "$3" master br0 up
	ip_in "$1" addr add "10.0.0.$2/24" dev e0
	ip_in "$1" link set e0 up
	in_ns sw bridge fdb replace "$(mac "$2")" dev "$3" master static
	tc_in "$1" qdisc add dev e0 root bfc role host
	tc_in sw qdisc add dev "$3" root bfc
}
ns sw
in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
cable h1 3 p1
cable r1 4 q1
neigh h1 e0 10.0.0.4 "$(mac 4)"
check "h1 tags" wait_until 5 tags h1 e0

# traffic SECONDS: twice as much as q1's line takes
traffic()
{
	in_ns r1 "$udpflow" sink --port=7000 --idle=3s --json >/dev/null &
	sink=$!
	in_ns h1 "$udpflow" send -d 10.0.0.4 -p 7000 --id=1 -n $(($1 * 25000)) -l 958 --rate=200000000 >/dev/null &
}
ip_in sw link set q1 type wire rate 100mbit
: >$tracing/trace
traffic 2
sleep 1
between "h1 is paused and resumed" "$(qdisc_stat sw p1 pauses_tx)" 100 1000000
sleep 2
is "no lock is taken for it" "$(looked '[pq]1' lock)" ""
wait $sink

: >$tracing/trace
before=$(qdisc_stat sw q1 withdrawn)
ip_in sw link set q1 type wire rate 2kbit
traffic 1
sleep 2
between "q1's line hangs: its packets let go" "$(($(qdisc_stat sw q1 withdrawn) - before))" 1 100000
between "which takes its lock, again and again while it lasts" "$(looked q1 lock | wc -w)" 20 40
is "and no other" "$(looked q1 lock | tr ' ' '\n' | sort -u),$(looked p1 lock | tr ' ' '\n' | sort -u)" 1,0
ip_in sw link set q1 type wire rate 1gbit
wait $sink
sleep 3
: >$tracing/trace
sleep 1
is "nor any when it is over" "$(looked '[pq]1' lock)" ""
echo 0 >$tracing/events/hopctl/hop_watch/enable
finish
