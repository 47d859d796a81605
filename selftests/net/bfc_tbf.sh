#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On plain veth, without the virtual cable: tbf shapes, bfc is its child, on each port.
#
#	h1 ---+
#	      +--- sw (bridge) --- r		veth; tbf 100 Mb/s and bfc on all six ports
#	h2 ---+
#
# A pause has to reach the child, a resume has to wake the root, since the child alone cannot,
# and control frames must not wait in tbf's queue.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
load_modules hopctl sch_bfc

RATE=100mbit
FRAMES=200
LENGTH=1458
LIMIT=100	# frames that fit in sw's queue to r: half of what has nowhere to go
udpflow=$(dirname "$0")/udpflow

# port NAME DEV WORDS...
port()
{
	local name=$1 dev=$2

	shift 2
	tc_in "$name" qdisc replace dev "$dev" root handle 1: tbf rate $RATE burst 5k limit 1m
	tc_in "$name" qdisc replace dev "$dev" parent 1: handle 10: bfc rate $RATE "$@"
}

# box NAME NUMBER
box()
{
	ip_in "$1" link add e0 address "$(mac "$2")" type veth \
		peer name "p$1" address "$(mac "$2" 1)" netns "$NS-sw"
	ip_in sw link set "p$1" master br0 up
	ip_in "$1" addr add "10.0.0.$2/24" dev e0
	ip_in "$1" link set e0 up
	port "$1" e0 limit 8m
	port sw "p$1" limit $((LIMIT * 1500))
}

ns sw h1 h2 r
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
box h1 1
box h2 2
box r 100
for host in h1 h2; do
	neigh $host e0 10.0.0.100 "$(mac 100)"
done
in_ns sw bridge fdb replace "$(mac 100)" dev pr master static

state() { tc_in "$1" -j -s qdisc show dev "$2" | jq -r '.[] | select(.kind == "bfc") | .port.state'; }
all_tag() { [ "$(state h1 e0)$(state h2 e0)$(state sw pr)" = taggingtagginghost ]; }
sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge 2 ]; }
hello_rx() { qdisc_stat sw ph1 hello_rx bfc; }

# burst: both hosts send at once; prints how many frames arrived
burst()
{
	local out host

	out=$(mktemp)
	in_ns r "$udpflow" sink --ports=2 --idle=1s --timeout=20s --json >"$out" &
	wait_until 5 sink_is_up
	for host in 1 2; do
		in_ns h$host "$udpflow" send -d 10.0.0.100 -p $((6999 + host)) --id=$host \
			-l $LENGTH -n $FRAMES --sndbuf=16m &
	done >/dev/null
	wait
	jq .packets "$out"
	rm -f "$out"
}

check "all ports tag" wait_until 5 all_tag

is "bfc below tbf: every frame arrived" "$(burst)" $((2 * FRAMES))
is "none was dropped at the switch" "$(qdisc_stat sw pr drop_limit bfc)" 0
between "frames were marked at the switch" "$(qdisc_stat sw pr marks bfc)" 1 $((2 * FRAMES))
for host in h1 h2; do
	between "$host: pauses reached the child" "$(qdisc_stat $host e0 pauses_obeyed bfc)" 1 9999
	is "$host: each pause was resumed" "$(qdisc_stat $host e0 resumes_obeyed bfc)" \
		"$(qdisc_stat $host e0 pauses_obeyed bfc)"
	is "$host: no lease had to end a pause" "$(qdisc_stat $host e0 lease_expired bfc)" 0
	between "$host: paused for a while" "$(qdisc_stat $host e0 paused_time bfc)" 1000 2000000000
done

# 400 frames of 1500 bytes take 48 ms at 100 Mb/s, less the burst of 5 KiB. If resumes did not
# wake the root, they would wait for the next packet or HELLO, 100 ms away.
if [ "${SLUICE_HOME:-}" = uml ]; then
	out=$(mktemp)
	in_ns r "$udpflow" sink --ports=2 --idle=1s --timeout=20s --json >"$out" &
	wait_until 5 sink_is_up
	for host in 1 2; do
		in_ns h$host "$udpflow" send -d 10.0.0.100 -p $((6999 + host)) --id=$host \
			-l $LENGTH -n $FRAMES --sndbuf=16m >/dev/null &
	done
	wait
	span=$(jq '.last_ns - .first_ns' "$out")
	between "the link to r was busy until the last frame" "$span" 45000000 50000000
	rm -f "$out"
else
	skip "the link to r was busy until the last frame" "needs virtual time"
fi

# A megabit per second, and a queue of a second in front of it: HELLOs go past it.
for dev in e0; do
	tc_in h1 qdisc change dev $dev root handle 1: tbf rate 1mbit burst 2k limit 1m
done
before=$(hello_rx)
in_ns h1 "$udpflow" send -d 10.0.0.100 -p 7005 -l $LENGTH -n 80 --sndbuf=16m >/dev/null &
sender=$!
sleep 0.5
between "a queue stands in front of tbf" "$(qdisc_stat h1 e0 qlen bfc)" 10 80
between "HELLOs do not wait in it" $(($(hello_rx) - before)) 4 20
between "nor does it lengthen the HRTT" "$(qdisc_stat sw ph1 hrtt_raw bfc)" 0 5000000
wait $sender
check "which leaves" wait_for 5 0 qdisc_stat h1 e0 qlen bfc

# Without pauses half of it is lost, so the losslessness above was not for lack of load.
port sw pr limit $((LIMIT * 1500)) nopause
for host in h1 h2; do
	port $host e0 limit 8m
done
check "all ports tag again" wait_until 5 all_tag
got=$(burst)
lost=$(qdisc_stat sw pr drop_limit bfc)
between "nopause: frames are lost" "$lost" 1 $((2 * FRAMES))
is "what was not lost arrived" $((got + lost)) $((2 * FRAMES))

finish
