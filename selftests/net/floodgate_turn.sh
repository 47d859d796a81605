#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ports of one box wait for the window of one destination, and the one whose turn it is, or who has used up the window, cannot
# send: its link is gone, or what has no window keeps it busy. The others go on.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc bridge
need_program frames
load_modules
need_module sch_floodgate

FRAME=1000	# bytes, with the Ethernet header
# shaped DEV: 5 Mbit/s, by a parent: the device is not stopped then
shaped()
{
	tc_in a qdisc replace dev "$1" root handle 9: tbf rate 5mbit burst 2000 limit 10000 || die "no tbf"
	parent="parent 9:1" gate a "$1" switch window $FRAME
}
# below DEV: likewise, and what has no window goes past it and first
below()
{
	tc_in a qdisc replace dev "$1" root handle 9: tbf rate 5mbit burst 2000 limit 10000 || die "no tbf"
	tc_in a qdisc replace dev "$1" parent 9:1 handle 8: prio || die "no prio"
	tc_in a qdisc replace dev "$1" parent 8:1 handle 7: pfifo limit 10000 || die "no pfifo"
	tc_in a filter add dev "$1" parent 8: protocol ip u32 match ip dst 225.1.1.1/32 flowid 8:1 || die "no filter"
	parent="parent 8:2" gate a "$1" switch window $FRAME
}
to() { echo "y n=$1 bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2) ${*:2}"; }
# what has no window
crowd() { echo "y n=$1 bytes=$FRAME from=10.0.0.1 to=225.1.1.1 sport=1 dport=9 dst=01:00:5e:01:01:01"; }
# got: packets that y got, without a look at any qdisc, which would wake it
got() { in_ns b cat /sys/class/net/y/statistics/rx_packets; }
got_all() { [ "$(got)" -ge "$1" ]; }

#	a:p1 ... a:p4 ====100M==== b:q1 ... b:q4 [ bridge ] b:r --- y
#
# boxes RATE-OF-R RATE-OF-P
boxes()
{
	local i

	ns a b
	ip_in b link add br0 type bridge mcast_snooping 0
	ip_in b link set br0 up
	for i in 1 2 3 4; do
		cable a p$i "$2" b q$i
		ip_in b link set dev q$i master br0
		bridge -n "$NS-b" link set dev q$i mcast_flood off
	done
	cable b r "$1" b y
	ip_in b link set dev r master br0
	bridge -n "$NS-b" link set dev r mcast_flood off
	bridge -n "$NS-b" fdb replace "$(mac 2)" dev r master static
}
# gates WORD...
gates()
{
	local i

	for i in 1 2 3 4; do
		gate a p$i switch "$@"
		gate b q$i switch
	done
	gate b r host
	for i in 1 2 3 4; do
		check "p$i: they meet" wait_until -e 500 10 figs_are a p$i windows 1
	done
}

diag "a link is lost while all of the window is on it"
boxes 1mbit 100mbit
gates window 20000
sends a p1 "$(to 100)"
sleep 0.05
ip_in b link set dev q1 down
before=$(got)
sends a p2 "$(to 50 sport=2)"
check "the other port goes on" wait_until -e 200 8 got_all $((before + 50))
ip_in b link set dev q1 up
check "and the one that was lost does again" wait_until -e 500 10 figs_are a p1 windows 1
before=$(got)
sends a p1 "$(to 50)"
check "all of it" wait_until -e 200 8 got_all $((before + 50))
check "and nothing is outstanding" wait_until -e 400 20 figs_are a p1 outstanding backlog voqs_used "0 0 0"
leave_spaces

diag "a port that was called is busy with what has no window"
boxes 200kbit 100mbit
gates window $FRAME
shaped p2
check "p2: they meet" wait_until -e 500 10 figs_are a p2 windows 1
sends a p2 "$(crowd 6000)"	# 10 s
sends a p1 "$(to 30)"
sends a p2 "$(to 1 sport=2)"
check "the other port goes on" wait_until -e 100 4 figs_are a p1 backlog "0"
figs a p2 backlog
between "and the first one was busy" "$REPLY" $((200 * FRAME)) $((6000 * FRAME))
check "and sends all" wait_until -e 200 20 figs_are a p2 backlog outstanding "0 0"
leave_spaces

diag "a port that was called gets busy with what has no window, while others of its VOQs go first"
boxes 200kbit 100mbit
cable b r2 100mbit b y2
ip_in b link set dev r2 master br0
bridge -n "$NS-b" link set dev r2 mcast_flood off
bridge -n "$NS-b" fdb replace "$(mac 3)" dev r2 master static
gates window $FRAME
gate b r2 host
shaped p2
check "p2: they meet" wait_until -e 500 10 figs_are a p2 windows 1
others=()
for i in {1..8}; do
	others+=("y n=200 bytes=$FRAME from=10.0.0.1 to=10.0.1.$i sport=3 dport=9 dst=$(mac 3)")
done
sends a p2 "${others[@]}"	# 2.6 s
sleep 0.1	# those that had window are gone
sends a p1 "$(to 30)"
sends a p2 "$(to 1 sport=2)"
its_turn() { [[ $(tc_in a -s class show dev p2) =~ "address 10.0.0.2 waits turn window "[0-9]+"b used 0b" ]]; }
check "p2 is called, and has eight of others before it" wait_until -e 1 1 its_turn
sends a p2 "$(crowd 6000)"	# 10 s
check "the other port goes on" wait_until -e 100 4 figs_are a p1 backlog "0"
figs a p2 backlog
between "and the first one was busy" "$REPLY" $((1000 * FRAME)) $((8000 * FRAME))
check "and sends all" wait_until -e 200 20 figs_are a p2 backlog outstanding "0 0"
leave_spaces

diag "a port that was called is not asked by its parent"
boxes 200kbit 100mbit
gates window $FRAME
below p2
check "p2: they meet" wait_until -e 500 10 figs_are a p2 windows 1
sends a p2 "$(crowd 6000)"	# 10 s
sends a p1 "$(to 20)"
sends a p2 "$(to 1 sport=2)"
waits() { figs_are a p1 outstanding voqs_used "0 1" && sleep 0.2 && figs_are a p1 outstanding voqs_used "0 1"; }
check "the other port waits for it" wait_until -e 20 5 waits
sends a p1 "$(to 1)"
check "the other port goes on with the next packet" wait_until -e 100 4 figs_are a p1 backlog "0"
figs a p2 backlog
is "and the first one was not asked" "$REPLY" $FRAME
check "and sends all" wait_until -e 200 20 figs_are a p2 backlog outstanding "0 0"
leave_spaces

diag "a port that was called is held as a whole by its neighbour"
boxes 200kbit 100mbit
cable b r2 2kbit b y2	# where what has no window goes, 4 s for each
ip_in b link set dev r2 master br0
gates window $FRAME
tc_in a qdisc del dev p2 root
gate a p2 switch window $FRAME pool 10m pfc nowatch
tc_in b qdisc del dev q2 root
gate b q2 switch pool 30000 pool-alpha 1000% pfc
gate b r2 host pool 30000 pool-alpha 1000% pfc nowatch
check "p2: they meet" wait_until -e 500 10 figs_are a p2 windows 1
sends a p2 "$(crowd 5)"	# all have left by the time of the pause
check "it is held, with nothing in its FIFO" wait_until -e 10 2 figs_are a p2 pfc_paused backlog "1 0"
sends a p1 "$(to 30)"
sends a p2 "$(to 1 sport=2)"
check "the other port goes on" wait_until -e 100 4 figs_are a p1 backlog "0"
figs a p2 pfc_paused voqs_used
is "and the first one was held" "$REPLY" "1 1"
ip_in b link set dev r2 type wire rate 1gbit
check "and sends all" wait_until -e 200 20 figs_are a p2 backlog outstanding pfc_paused "0 0 0"
leave_spaces

diag "a port goes, and others wait which have not been called yet"
boxes 200kbit 100mbit
gates window $FRAME
for port in p2 p3 p4; do
	below $port
done
for port in p2 p3 p4; do
	check "$port: they meet" wait_until -e 500 10 figs_are a $port windows 1
	sends a $port "$(crowd 6000)"
done
sends a p1 "$(to 2)"
for port in p2 p3 p4; do
	sends a $port "$(to 2 sport=2)"
done
sleep 0.1
tc_in a qdisc replace dev p1 root pfifo
for port in p2 p3 p4; do
	check "$port sends all" wait_until -e 200 20 figs_are a $port backlog outstanding "0 0"
done
leave_spaces
# 200 kbit/s: END takes 2.4 ms, and is due each 0.4 ms while anything is outstanding; a packet takes 40 ms.
diag "below a shaper that takes longer for END than a block lasts"
boxes 100mbit 100mbit
gates
tc_in a qdisc replace dev p1 root handle 9: tbf rate 200kbit burst 2000 limit 100000 || die "no tbf"
parent="parent 9:1" gate a p1 switch
check "p1: they meet" wait_until -e 500 10 figs_are a p1 windows 1
before=$(got)
sends a p1 "$(to 20)"
check "packets leave all the same" wait_until -e 100 2 got_all $((before + 20))
check "and nothing is outstanding" wait_until -e 400 20 figs_are a p1 outstanding backlog "0 0"
leave_spaces

finish
