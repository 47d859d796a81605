#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# An incast that is twice as large as the buffer in front of the receiver.
#
#	s1 ---+
#	s2 ---+--- sw (bridge) --- r		17 wires, each 10 Gb/s, 1 us
#	..    |        16 senders, 100 frames each; 800 frames fit in sw's queue to r
#	s16 --+
#
# Without hop-by-hop flow control half of the frames have nowhere to be: pfifo loses them, and
# so does bfc if it may not pause. With it, they wait at the senders, and none is lost. Runs
# at a hundredth of the rate where processing takes time.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
load_modules

SENDERS=16
FRAMES=100
LENGTH=1458	# UDP payload of a frame of 1500 bytes
LIMIT=$((SENDERS * FRAMES / 2))
RATE=10gbit
[ "${SLUICE_HOME:-}" = uml ] || RATE=100mbit
udpflow=$(dirname "$0")/udpflow

# box NAME NUMBER ADDRESS: a host on a wire of its own to the switch
box()
{
	ip_in "$1" link add e0 address "$(mac "$2")" type wire rate $RATE delay 1us \
		peer name "p$1" address "$(mac "$2" 1)" netns "$NS-sw"
	ip_in sw link set "p$1" master br0 up
	ip_in "$1" addr add "$3/24" dev e0
	ip_in "$1" link set e0 up
}

# Frames are counted to the last one: nothing but ours may be sent.
quiet() { in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'; }

build()
{
	local i

	ns sw r
	quiet sw
	quiet r
	ip_in sw link add br0 type bridge
	ip_in sw link set br0 up
	box r 100 10.0.0.100
	for ((i = 1; i <= SENDERS; i++)); do
		ns "s$i"
		quiet "s$i"
		box "s$i" $i 10.0.0.$i
		neigh "s$i" e0 10.0.0.100 "$(mac 100)"
	done
	# The bridge has to know where r is before it is asked, or it floods.
	in_ns sw bridge fdb replace "$(mac 100)" dev pr master static
}

# scheme WORDS...: that qdisc on every port; r's and the senders' own never lose anything
scheme()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		tc_in "s$i" qdisc replace dev e0 root "$@"
		tc_in sw qdisc replace dev "ps$i" root "$@"
	done
	tc_in r qdisc replace dev e0 root "$@"
	tc_in sw qdisc replace dev pr root "$@"
}

tagging()
{
	local i

	for ((i = 1; i <= SENDERS; i++)); do
		port_is "s$i" e0 state tagging ||
			return
	done
}

# incast: prints how many frames arrived
incast()
{
	local i out

	out=$(mktemp)
	in_ns r "$udpflow" sink --ports=$SENDERS --idle=500ms --timeout=20s --json >"$out" &
	wait_until 5 sink_is_up
	for ((i = 1; i <= SENDERS; i++)); do
		in_ns "s$i" "$udpflow" send -d 10.0.0.100 -p $((6999 + i)) --id=$i -l $LENGTH \
			-n $FRAMES --sndbuf=16m --at="$START" &
	done >/dev/null
	wait
	jq .packets "$out"
	rm -f "$out"
}

sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge $SENDERS ]; }

# Half a second from now, on the clock of all namespaces
soon() { START=$(($(awk '{ printf "%d", $1 * 100 }' /proc/uptime) * 10000000 + 500000000)); }

dropped() { tc_in sw -j -s qdisc show dev pr | jq '[.[] | .drops] | add'; }

build
ALL=$((SENDERS * FRAMES))

scheme pfifo limit $LIMIT
soon
got=$(incast)
lost=$(dropped)
between "pfifo loses frames" "$lost" 1 $((ALL - 1))
is "pfifo: what was not lost arrived" $((got + lost)) $ALL

scheme bfc limit $((LIMIT * 1500))
check "every sender tags" wait_until 5 tagging
soon
is "bfc: every frame arrived" "$(incast)" $ALL
is "bfc loses none" "$(dropped)" 0
peak=$(qdisc_stat sw pr backlog_max)
marks=$(qdisc_stat sw pr marks)
pauses=0 obeyed=0 expired=0
for ((i = 1; i <= SENDERS; i++)); do
	pauses=$((pauses + $(qdisc_stat sw "ps$i" pauses_tx)))
	obeyed=$((obeyed + $(qdisc_stat "s$i" e0 pauses_obeyed)))
	expired=$((expired + $(qdisc_stat "s$i" e0 lease_expired)))
done
diag "backlog at most $peak bytes, $marks marks, $pauses pauses sent, $obeyed obeyed," \
	"$expired leases ran out"
between "bfc: packets were marked" "$marks" 1 $ALL
between "bfc: pauses were sent" "$pauses" $SENDERS $ALL
# On a slow machine a lease may run out; the next refresh pauses again the sender's one sub-queue.
between "bfc: pauses were obeyed" "$obeyed" $SENDERS $((pauses + expired))
between "bfc: the highest backlog is below the limit" "$peak" 1500 $((LIMIT * 1500))

scheme bfc limit $((LIMIT * 1500)) nopause
soon
got=$(incast)
lost=$(dropped)
between "bfc nopause loses frames" "$lost" 1 $((ALL - 1))
is "bfc nopause: what was not lost arrived" $((got + lost)) $ALL
is "bfc nopause pauses nobody" "$(qdisc_stat sw pr marked)" 0

finish
