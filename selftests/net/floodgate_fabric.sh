#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The qdisc floodgate in more than one shape of a fabric: credits that are delayed where VOQs are long, one window over two
# ports, boxes that route, bridges that know VLANs, packets that are cut or put together on the way, devices with several
# queues.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc bridge jq ethtool
need_program frames gsosend
: "${gsosend:?}"	# set by need_program
need_virtual_time
load_modules
need_module sch_floodgate

FRAME=1000	# bytes, with the Ethernet header
WINDOW=20000
FRAMES=600
boxes()
{
	local box

	ns "$@"
	for box; do
		in_ns "$box" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
	done
}
bridges()
{
	local box

	for box; do
		ips "$box" "link add br0 type bridge mcast_snooping 0
link set br0 up"
	done
}
fdb() { bridge -n "$NS-$1" fdb replace "$(mac 2)" dev "$2" master static; }
meets() { figs_are "$1" "$2" windows 1; }
to() { echo "y n=$1 bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2) ${*:2}"; }

# ---- credits that are delayed ----
#
#	a:p ===1G=== b:q [ bridge ] b:r ===1G=== c:t [ bridge ] c:u ---10M--- y

diag "delayed credits"
boxes a b c
bridges b c
cable a p 1gbit b q
cable b r 1gbit c t
cable c u 10mbit c y
for port in b:q b:r c:t c:u; do
	enslave ${port%:*} ${port#*:}
done
fdb b r
fdb c u
THRESHOLD=30000
# delays NAME THRESHOLD: a sends three times as much as b holds back
delays()
{
	gate a p switch window 100000
	gate b q switch
	gate b r switch window $WINDOW credit-threshold "$2"
	gate c t switch
	gate c u host
	check "$1: they meet" wait_until -e 500 10 meets a p
	check "$1: all of them" wait_until -e 500 10 meets b r
	sends a p "$(to 300)"
}
quiet() { figs_are a p outstanding voqs_used backlog "0 0 0" && figs_are b r outstanding queued voqs_used "0 0 0" && figs_are c u queued backlog "0 0"; }
delays "a threshold" $THRESHOLD
bad='' held=0 before=
for ((i = 0; i < 40; i++)); do
	sleep 0.005
	figs a p outstanding
	out=$REPLY
	figs b r voq_backlog
	# more than that all the time since the last look: had b told anything, a would have sent more
	if [ -n "$before" ] && [ "$REPLY" -gt $THRESHOLD ] && [ "$was" -gt "$REPLY" ]; then
		held=$((held + 1))
		[ "$out" -ge "$before" ] || bad+=" $before to $out"
	fi
	before=$out was=$REPLY
done
between "b holds more than that for a while" $held 5 40
is "and tells a nothing of what leaves meanwhile" "$bad" ""
figs b r delayed voq_max
between "credits were delayed" "${REPLY% *}" 50 300
between "b's VOQ held no more than a's window" "${REPLY#* }" $THRESHOLD 101000
check "all leaves, and nothing is outstanding" wait_until -e 400 50 quiet
figs b r delayed
delayed=$REPLY
delays "a threshold that is never reached" 1000000
check "all leaves, and nothing is outstanding" wait_until -e 400 50 quiet
shows "nothing was delayed" b r delayed "$delayed"
# a larger one, while they are
delays "a threshold that is raised" $THRESHOLD
sleep 0.04
ip_in c link set dev u type wire rate 10kbit	# nothing leaves b's VOQ for a while
sleep 0.01
figs a p backlog
before=$REPLY
tc_in b qdisc change dev r root floodgate credit-threshold 1m
sleep 0.01
figs a p backlog
between "a is told at once, and sends what it has" "$((before - REPLY))" 10000 300000
ip_in c link set dev u type wire rate 10mbit
check "all leaves, and nothing is outstanding" wait_until -e 400 50 quiet
# b's port goes with a VOQ that holds credits back
delays "the port goes" $THRESHOLD
sleep 0.05
gate b r switch window $WINDOW
tc_in b qdisc replace dev r root pfifo
gate b r switch window $WINDOW
check "the port goes: nothing stays outstanding" wait_until -e 400 50 quiet
leave_spaces

# ---- one window over two ports ----
#
#	a:p ====100M==== b:q [ bridge ] b:r ---10M--- y
#	a:o ====100M==== b:n

boxes a b
bridges b
cable a p 100mbit b q
cable a o 100mbit b n
cable b r 10mbit b y
for dev in q n r; do
	enslave b $dev
done
fdb b r
# two SCOPE
two()
{
	for dev in p o; do
		tc_in a qdisc del dev $dev root 2>/dev/null
		gate a $dev switch window $WINDOW window-scope "$1"
	done
	for dev in q n; do
		gate b $dev switch
	done
	gate b r host
	check "$1: they meet" wait_until -e 500 10 meets a p
	check "$1: both" wait_until -e 500 10 meets a o
}
both_rest() { figs_are a p outstanding backlog voqs_used "0 0 0" && figs_are a o outstanding backlog voqs_used "0 0 0" && figs_are b r queued backlog "0 0"; }
# most: sets `most` to the highest sum of what is outstanding, `each` to the highest of one port, `fair` to 1 if both go on alike
sums()
{
	local i one

	most=0 each=0
	for ((i = 0; i < 15; i++)); do
		sleep 0.01
		figs a p outstanding backlog
		one=$REPLY
		figs a o outstanding backlog
		most=$((${one% *} + ${REPLY% *} > most ? ${one% *} + ${REPLY% *} : most))
		each=$((${one% *} > each ? ${one% *} : each))
	done
	left="${one#* } ${REPLY#* }"
}
for scope in switch port; do
	diag "scope $scope"
	two $scope
	sends a p "$(to 300)"
	sends a o "$(to 300 sport=2)"
	sums
	if [ $scope = switch ]; then
		between "switch: both together have one window" $most $((WINDOW / 2)) $((WINDOW + 2 * FRAME))
	else
		between "port: both together have two" $most $((WINDOW * 3 / 2)) $((2 * WINDOW + 2 * FRAME))
		between "port: and each has one" $each $((WINDOW / 2)) $((WINDOW + FRAME))
	fi
	between "$scope: both go on alike" $((${left% *} - ${left#* })) -40000 40000
	check "$scope: all leaves, and nothing is outstanding" wait_until -e 400 50 both_rest
done

# What both ports have not been told of yet adds up: a window has as much more, up to what the link sends in credit-interval
diag "a window by credit-bytes"
for dev in p o; do
	ip_in a link set dev $dev type wire rate 100gbit || die "no rate"
done
window_of() { tc_in a -s class show dev "$1" | sed -n 's/.*address 10\.0\.0\.2 .*window \([0-9]*\)b.*/\1/p'; }
# by_bytes NAME MORE [WORD]...: what a second port adds to the window, with these options
by_bytes()
{
	local dev one

	for dev in p o; do
		tc_in a qdisc del dev $dev root
		gate a $dev switch hrtt-max 10ms "${@:3}"
	done
	check "$1: they meet" wait_until -e 500 10 meets a p
	check "$1: both" wait_until -e 500 10 meets a o
	sends a p "$(to 1)"
	one=$(window_of p)
	shows "$1: by one port as the port says" a p window_bytes "$one"
	sends a o "$(to 1 sport=2)"
	is "$1: by two" "$(window_of p) $(window_of o)" "$((one + $2)) $((one + $2))"
	tc_in a qdisc replace dev o root pfifo
	is "$1: by one again" "$(window_of p)" "$one"
	gate a o switch hrtt-max 10ms "${@:3}"
	check "$1: all leaves" wait_until -e 400 50 both_rest
}
by_bytes "20000 bytes" 20000 credit-bytes 20000
by_bytes "the default" $((125000 - 65536))	# 100 Gb/s carry 125000 bytes in 10 us
by_bytes "none" 0 credit-bytes none
by_bytes "the paper's, but for each port" 0 window-scope port
by_bytes "a window that is given" 0 window 50000
sends a o "$(to 1 sport=2)"
tc_in a qdisc change dev p root floodgate window auto
sends a p "$(to 1)"
shows "a change: auto, and for two ports" a p window_bytes $(($(window_of p) - 125000 + 65536))
tc_in a qdisc change dev p root floodgate credit-interval 20us
sends a p "$(to 1)"
shows "a change: of what two may have at most" a p window_bytes $(($(window_of p) - 65536))
# A port whose neighbour is not there any more is not one of them
tc_in b qdisc del dev n root
figs a p window_bytes
one=$REPLY
window_is() { [ "$(window_of p) $(window_of o)" = "$1" ]; }
check "without a neighbour there is no window, and the other port has its own" wait_until -e 300 50 window_is "$one 0"
gate b n switch
check "both" wait_until -e 500 10 meets a o
check "with one there are two again" wait_until -e 500 10 window_is "$((one + 65536)) $((one + 65536))"
# nor is one that it has not left by for 10 s, when something else has
sleep 11
sends a p "$(to 1)"
check "the window is still of two" window_is "$((one + 65536)) $((one + 65536))"
sends a o "y n=1 bytes=1000 from=10.0.0.1 to=10.0.0.3 sport=1 dport=9 dst=$(mac 3)"
check "then of one" wait_until -e 50 20 window_is "$one "
for dev in p o; do
	ip_in a link set dev $dev type wire rate 100mbit
done

# One of both cannot send: the other one has the window to itself, and loses no call for it.
diag "a port without a carrier waits with the other one"
two switch
sends a p "$(to 300)"
sends a o "$(to 300 sport=2)"
sleep 0.02
ip_in b link set dev n down
check "the other one goes on to its end" wait_until -e 100 5 figs_are a p backlog voqs_used "0 0"
ip_in b link set dev n up
check "both meet again" wait_until -e 500 10 meets a o
sends a o "$(to 100 sport=2)"
check "and all leaves" wait_until -e 400 50 both_rest

# One frame at a time may be outstanding, and the frame that o sends takes 0.24 s: meanwhile p has all turns. It needs some
# 2 ms for each of its own.
diag "a port whose device is busy waits with the other one"
two switch
for dev in p o; do
	tc_in a qdisc change dev $dev root floodgate window 1
done
ip_in a link set dev o type wire rate 50kbit
sends a p "$(to 50)"
sends a o "y n=1 bytes=1500 from=10.0.0.1 to=10.0.0.3 sport=1 dport=9 dst=$(mac 3)" "$(to 2 sport=2)"
sleep 0.2
shows "p is at its end" a p backlog voqs_used "0 0"
ip_in a link set dev o type wire rate 100mbit	# or the probes of so slow a link would take all of it
check "and so is o, in time" wait_until -e 400 10 both_rest

# o waits for the credit of p's frame, and is called by it while its device is busy: nobody is in the row, and nothing outstanding
# would call p, whose one frame begins to wait then. (A second one would look for itself.) The window is still of 1 byte.
diag "a port begins to wait when all are called"
ip_in a link set dev o type wire rate 50kbit
sends a o "y n=1 bytes=1500 from=10.0.0.1 to=10.0.0.3 sport=1 dport=9 dst=$(mac 3)"
sends a p "$(to 1)"
sends a o "$(to 1 sport=2)"
sleep 0.05
shows "o has what it was called for" a o backlog voqs_used "$FRAME 1"
shows "and p has nothing outstanding" a p outstanding 0
sends a p "$(to 1)"
sleep 0.1
shows "p is not kept waiting" a p backlog voqs_used "0 0"
shows "as o still is" a o backlog voqs_used "$FRAME 1"
ip_in a link set dev o type wire rate 100mbit
check "o is, in time" wait_until -e 400 10 both_rest

diag "a port goes while the other one waits"
two switch
sends a p "$(to 300)"
sends a o "$(to 300 sport=2)"
sleep 0.02
tc_in a qdisc replace dev o root pfifo
check "the other one goes on to its end" wait_until -e 100 5 figs_are a p outstanding backlog voqs_used "0 0 0"
leave_spaces

# ---- boxes that route, and bridges that know VLANs ----
#
#	a:p ====100M==== b:q, b:r ---10M--- y

# shape NAME LINE: FRAMES of such frames, of which a window is on its way, and nothing in the end
shape()
{
	local i bad='' most=0 bound=$((WINDOW + FRAME + 200))	# and reports of IGMP and MLD

	diag "$1"
	gate a p switch window $WINDOW
	gate b q switch
	gate b r host
	check "$1: they meet" wait_until -e 500 10 meets a p
	sends a p "$2"
	for ((i = 0; i < 10; i++)); do
		sleep 0.01
		figs b r backlog
		most=$((REPLY > most ? REPLY : most))
		[ "$REPLY" -le $bound ] || bad+=" $REPLY"
	done
	is "$1: never more than a window at r" "$bad" ""
	between "$1: but nearly so much" $most $((WINDOW / 4)) $bound
	check "$1: all leaves, and nothing is outstanding" wait_until -e 400 50 shape_rests
}
shape_rests() { figs_are a p outstanding backlog voqs_used "0 0 0" && figs_are b r queued backlog "0 0"; }
ns a b
cable a p 100mbit b q
cable b r 10mbit b y
ips b "link set dev q address $(mac 9)
addr add 10.0.0.254/24 dev q
addr add 10.0.1.254/24 dev r
addr add fd00:1::fe/64 dev r nodad
neigh replace 10.0.1.2 lladdr $(mac 2) nud permanent dev r
neigh replace fd00:1::2 lladdr $(mac 2) nud permanent dev r"
in_ns b sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding 2>/dev/null"
shape "a router, IPv4" "y n=$FRAMES bytes=$FRAME from=10.0.0.1 to=10.0.1.2 sport=1 dport=9 dst=$(mac 9)"
[ ! -e /proc/sys/net/ipv6 ] ||
	shape "a router, IPv6" "y n=$FRAMES bytes=$FRAME from=fd00::1 to=fd00:1::2 sport=1 dport=9 dst=$(mac 9)"
ips b "link add br0 type bridge mcast_snooping 0 vlan_filtering 1
link set br0 up
link set q master br0
link set r master br0"
bridge -n "$NS-b" vlan add dev q vid 5
bridge -n "$NS-b" vlan add dev r vid 5
bridge -n "$NS-b" fdb replace "$(mac 2)" dev r vlan 5 master static
shape "a bridge, VLAN 5" "y n=$FRAMES bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2) tag=5"
shape "a bridge, VLAN 5, no IP" "y n=$FRAMES bytes=$FRAME dst=$(mac 2) tag=5"
# frames that are padded on the way count alike at both ends
shape "a bridge, VLAN 5, small frames" "y n=$((20 * FRAMES)) bytes=60 from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2) tag=5"
leave_spaces

# ---- what leaves by no port of the kind ----
#
#	a:p ====100M==== b:q, which has the address itself, or b:r with another qdisc ---100M--- y

boxes a b
bridges b
cable a p 100mbit b q
cable b r 100mbit b y
enslave b q
enslave b r
fdb b r
ips b "addr add 10.0.0.3/24 dev br0
link set dev br0 address $(mac 3)"
gate a p switch
gate b q switch
check "they meet" wait_until -e 500 10 meets a p
# FRAMES take 49 ms of the cable; credits that came with the end of a block alone would be three times as long
for way in "is delivered:10.0.0.3:3" "leaves by another qdisc:10.0.0.2:2"; do
	diag "what ${way%%:*}"
	IFS=: read -r name address host <<<"$way"
	sends a p "y n=$FRAMES bytes=$FRAME from=10.0.0.1 to=$address sport=1 dport=9 dst=$(mac "$host")"
	sleep 0.06
	shows "what $name: all of it has left at the cable's rate" a p backlog voqs_used "0 0"
	check "what $name: nothing is outstanding" wait_until -e 50 2 figs_are a p outstanding 0
done
# With credits each 100 ms a window of 20000 bytes lets 200 frames a second pass, unless they come after 5000 bytes.
for bytes in none 5000; do
	diag "credits after 100 ms or $bytes bytes"
	gate a p switch window $WINDOW refresh 300ms lease 1s	# or the ends of blocks would bring them
	for port in q:switch r:host; do
		gate b ${port%:*} ${port#*:} credit-interval 100ms credit-bytes $bytes
	done
	check "they meet" wait_until -e 500 10 meets a p
	sends a p "$(to $FRAMES)"
	sleep 0.06
	figs a p backlog
	if [ $bytes = none ]; then
		between "most of it waits for credits" "$REPLY" $((FRAMES * FRAME / 2)) $((FRAMES * FRAME))
	else
		is "all of it has left at the cable's rate" "$REPLY" 0
	fi
	check "all leaves then" wait_until -e 400 50 figs_are a p outstanding backlog "0 0"
done
# Nor need more of it come meanwhile: all of a window is at r, which takes 98 ms for FRAMES
ip_in b link set dev r type wire rate 50mbit
sends a p "$(to $FRAMES)"
sleep 0.11
shows "nor is more to come for that: all of it has left at half the rate" a p backlog 0
check "all leaves" wait_until -e 400 50 figs_are a p outstanding backlog "0 0"
leave_spaces

# ---- what credits take of a link (Floodgate, Fig. 18: 0.175 %) ----
#
#	a:p ===100G=== b:q [ bridge ] b:r ---100G--- y

boxes a b
bridges b
cable a p 100gbit b q
cable b r 100gbit b y
enslave b q
enslave b r
fdb b r
sent() { in_ns "$1" ethtool -S "$2" | awk '$1 == "sent_bytes:" { print $2 }'; }
ips b "addr add 10.0.0.3/24 dev br0
link set dev br0 address $(mac 3)"
# 20000 frames take 1.64 ms
for bytes in none 64kb; do
	for way in "by floodgate" "by pfifo" "delivered"; do
		gate a p switch limit 100m credit-bytes $bytes
		gate b q switch credit-bytes $bytes
		if [ "$way" = "by pfifo" ]; then tc_in b qdisc replace dev r root pfifo limit 100000; else gate b r host credit-bytes $bytes; fi
		check "they meet" wait_until -e 500 10 meets a p
		there=$(sent a p) back=$(sent b q)
		if [ "$way" = delivered ]; then
			sends a p "y n=20000 bytes=$FRAME from=10.0.0.1 to=10.0.0.3 sport=1 dport=9 dst=$(mac 3)"
		else
			sends a p "$(to 20000)"
		fi
		sleep 0.0018
		shows "credits, $bytes, $way: all has left at 100 Gb/s" a p backlog 0
		sleep 0.0012
		there=$(($(sent a p) - there)) back=$(($(sent b q) - back))
		diag "credits, $bytes, $way: $back bytes for $there of data"
		between "credits, $bytes, $way: less than 0.2 %" $((back * 100000 / there)) 10 200
	done
done
leave_spaces

# Credits after each frame do not leave after each: not more of them than 1 % of the link
boxes a b
bridges b
cable a p 1gbit b q
cable b r 1gbit b y
enslave b q
enslave b r
fdb b r
gate a p switch credit-bytes 1514
gate b q switch credit-bytes 1514
gate b r host
check "they meet" wait_until -e 500 10 meets a p
sleep 2
sends a p "$(to 2000)"
sleep 0.0168
shows "credits, 1514: all has left at 1 Gb/s" a p backlog 0
leave_spaces

# ---- packets that are cut and put together, several queues ----
#
#	a:p ==== b:q, veth

diag "packets of 20 segments, cut by a or not, put together by b or not"
ns a b
ip_in a link add p type veth peer name q netns "$NS-b" || die "no veth"
cable b r 100mbit b y
ips a "link set p up
addr add 10.0.0.1/24 dev p"
ips b "link set q up
addr add 10.0.0.254/24 dev q
addr add 10.0.1.254/24 dev r
neigh replace 10.0.1.2 lladdr $(mac 2) nud permanent dev r"
ip_in a route add 10.0.1.0/24 via 10.0.0.254
in_ns b sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
for split in split-gso no-split-gso; do
	for gro in off on; do
		in_ns b ethtool -K q gro $gro >/dev/null || die "ethtool"
		gate a p switch window 60000 $split
		gate b q switch
		gate b r host
		check "$split, gro $gro: they meet" wait_until -e 500 10 meets a p
		for ((i = 0; i < 10; i++)); do
			in_ns a "$gsosend" 10.0.1.2 20 1000 || fail "gsosend"
		done
		figs a p voq_packets
		between "$split, gro $gro: some waited for window" "$REPLY" 1 300
		check "$split, gro $gro: all leaves, and nothing is outstanding" wait_until -e 400 50 shape_rests
	done
done

# b, which gets the segments, waits for what a has counted: of 1000 bytes, 8 of UDP, 20 of IP, 14 of Ethernet. A few leave meanwhile.
diag "cut behind the qdisc"
in_ns a ethtool -K p tx-udp-segmentation off >/dev/null || die "ethtool"
ip_in b link set r type wire rate 10mbit
for i in 1 2; do
	in_ns a "$gsosend" 10.0.1.2 20 1000 || fail "gsosend"
done
sleep 0.001
figs a p outstanding
between "a packet counts as much as its segments" "$REPLY" $((35 * 1042)) $((40 * 1042))
check "all leaves, and nothing is outstanding" wait_until -e 400 50 shape_rests

diag "a packet of a VLAN in a VLAN, which leaves no room for the fabric tag"
ips a "link add link p name p.7 type vlan id 7
link add link p.7 name p.78 type vlan id 8
addr add 10.7.0.1/24 dev p.78
link set p.7 up
link set p.78 up
neigh replace 10.7.0.2 lladdr $(mac 9) nud permanent dev p.78"
figs a p tagged
tagged=$REPLY
in_ns a "$gsosend" 10.7.0.2 1 1472 || fail "gsosend"
check "it leaves" wait_until -e 100 10 shape_rests
shows "without the tag" a p tagged "$tagged"
is "and counts against no window any more" \
	"$(tc_in a -s class show dev p | grep -A9 "10\.7\.0\.2" | grep -o "used [0-9]*" | head -n 1)" "used 0"
leave_spaces

for queues in "numtxqueues 4" "numrxqueues 4"; do
	for root in root mq; do
		[ "$queues $root" != "numrxqueues 4 mq" ] || continue
		diag "$queues, $root"
		boxes a b
		bridges b
		ip_in a link add p ${queues/rx/tx} ${queues/tx/rx} type wire rate 100mbit delay 10us peer name q ${queues/tx/rx} netns "$NS-b" ||
			die "no wire"
		ip_in a link set p up
		ip_in b link set q up
		cable b r 10mbit b y
		enslave b q
		enslave b r
		fdb b r
		if [ $root = mq ]; then
			tc_in a qdisc replace dev p root handle 1: mq
			for i in 1 2 3 4; do
				tc_in a qdisc replace dev p parent 1:$i floodgate role switch peer switch window $WINDOW slots 64
			done
		else
			gate a p switch window $WINDOW
		fi
		gate b q switch
		gate b r host
		sum() { [ "$(qdisc_stat a p "$1" floodgate)" = "$2" ]; }
		check "$queues, $root: they meet" wait_until -e 500 10 sum windows $([ $root = mq ] && echo 4 || echo 1)
		ip_in a link set p type wire loss_data 5% loss_control 20%
		for i in 1 2 3 4 5 6; do
			sends a p "$(to 100 sport=$i)"
		done
		queues_rest() { sum outstanding 0 && sum backlog 0 && sum voqs_used 0 && figs_are b r queued backlog "0 0"; }
		between "$queues, $root: some waited for window" "$(qdisc_stat a p voq_packets floodgate)" 100 600
		check "$queues, $root: all leaves, and nothing is outstanding" wait_until -e 400 50 queues_rest
		leave_spaces
	done
done
finish
