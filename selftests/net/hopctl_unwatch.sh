#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The watchdogs are turned off while they are at work, and on again.
#
#	h1 --- p1 [ sw, a bridge ] q1 --- r1		r1: first a neighbour made by hand, which pauses q1
#
# In a storm the neighbour is obeyed again from its next word on, and no storm is seen any more; turned on, the
# watchdog needs its time again. On a line that all but stands still, where pauses were withdrawn, packets
# pause h1 again. Both with one qdisc at q1, and with one for each of two transmit queues below mq, where the
# one that was configured last decides for the port: then also for those that were not named.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules

here=$(cd "$(dirname "$0")" && pwd)
hopframe=$here/hopframe udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || skip_all "hopframe or udpflow is not built"

ns sw h1 r1
for name in sw h1 r1; do
	in_ns $name sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip_in sw link add br0 type bridge mcast_snooping 0
ip_in sw link set br0 up
# cable HOST NUMBER PORT
cable()
{
	ip_in "$1" link add e0 numtxqueues 2 numrxqueues 2 address "$(mac "$2")" type wire rate 1gbit delay 1us \
		ring 0 peer name "$3" numtxqueues 2 numrxqueues 2 address "$(mac "$2" 1)" \
		netns "$NS-sw" || die "no wire with two transmit queues"
	ip_in sw link set "$3" master br0 up
	ip_in "$1" addr add "10.0.0.$2/24" dev e0
	ip_in "$1" link set e0 up
	in_ns sw bridge fdb replace "$(mac "$2")" dev "$3" master static
}
cable h1 1 p1
cable r1 2 q1
neigh h1 e0 10.0.0.2 "$(mac 2)"
tc_in h1 qdisc add dev e0 root bfc role host limit 100m
tc_in sw qdisc add dev p1 root bfc
tc -n "$NS-sw" -batch - <<-END || skip_all "no filter chooses a transmit queue"
	qdisc add dev q1 clsact
	filter add dev q1 egress protocol ip flower ip_proto udp dst_port 7000 action skbedit queue_mapping 0
	filter add dev q1 egress protocol ip flower ip_proto udp dst_port 7001 action skbedit queue_mapping 1
END

# soon SECONDS COMMAND...: as wait_until, but ten times a second: processes are what costs
soon()
{
	local left=$(($1 * 10))

	shift
	until "$@"; do
		left=$((left - 1))
		[ "$left" -ge 0 ] || return 1
		sleep 0.1
	done
}

# q1's port, of which each instance shows the same
port() { port_says sw "$1" "$2"; echo "$REPLY"; }
q1() { port q1 "$1"; }
# each instance's, in their order
each() { tc_in sw -j -s qdisc show dev q1 | jq -r "[.[] | select(.kind == \"bfc\")] | sort_by(.handle) | map(.$1) | join(\" \")"; }

# watches OPTION: one of q1's qdiscs is told so: the last one
watches() { tc_in sw qdisc change dev q1 $last bfc "$1" || die "no $1"; }

# flows N: so many packets by each of the two ports
flows()
{
	local to

	for to in 7000 7001; do
		in_ns h1 "$udpflow" send -d 10.0.0.2 -p $to --sport $((to - 1000)) -l 958 -n "$1" --sndbuf 16m \
			>/dev/null
	done
	sleep 0.01	# they arrive
}

ALL=ffffffffffffffff+ffffffffffffffff

# storms NAME
storms()
{
	local hand actions=() i before

	for ((i = 1; i <= 12; i++)); do
		actions+=(at=$((i * 500)) "state:seq=$i,lease=2000000000,words=$ALL")
	done
	epoch=$((epoch + 1))
	ip netns exec "$NS-r1" "$hopframe" peer e0 mine=$epoch role=switch queues=128 for=7500 deaf \
		"${actions[@]}" at=6500 state:seq=13,lease=2000000000,words=0+0 >/dev/null 2>&1 &
	hand=$!
	check "$1: q1 tags" soon 5 port_is sw q1 state tagging
	before=$(q1 storms)
	check "$1: it is paused" soon 2 port_is sw q1 paused_queues $PAUSED
	flows 10
	check "$1: a storm begins" soon 2 port_is sw q1 storm true
	watches nowatch
	is "$1: turned off in a storm, it is over" "$(q1 storm) $(q1 storms) $(q1 storm_ends)" \
		"false $((before + 1)) $((before + 1))"
	flows 10
	sleep 0.5
	is "$1: the neighbour's next word is obeyed" "$(q1 paused_queues)" $PAUSED
	flows 10
	between "$1: packets wait" $(($(each backlog | tr ' ' '+'))) 5000 100000
	sleep 1
	is "$1: for longer than the watchdog's time, without a storm" "$(q1 storm) $(q1 paused_queues)" \
		"false $PAUSED"
	watches watch
	sleep 0.19
	is "$1: turned on, it takes its time" "$(q1 storm)" false
	sleep 0.06
	is "$1: and a storm begins" "$(q1 storm) $(q1 paused_queues)" "true 0"
	wait $hand
	check "$1: it ends when the neighbour's pauses have" port_is sw q1 storm false
	is "$1: as many began as ended" "$(q1 storms) $(q1 storm_ends)" "$((before + 2)) $((before + 2))"
}
epoch=0

h1_held() { [ "$(port p1 pausing_queues)" -ge "$1" ]; }
h1_free() { port_is sw p1 pausing_queues 0; }
emptied() { [[ $(each backlog) =~ ^[0\ ]+$ ]]; }

# stalls NAME: of $INSTANCES
stalls()
{
	local before

	tc_in r1 qdisc add dev e0 root bfc role switch
	check "$1: q1 tags to a real neighbour" soon 10 port_is sw q1 state tagging
	ip_in sw link set q1 type wire rate 2kbit
	flows 60
	check "$1: h1 is paused for a line that stands still" wait_until 1 h1_held 1
	sleep 0.5
	check "$1: and let go by the watchdog" h1_free
	is "$1: each qdisc has withdrawn pauses" "$(each 'withdrawn > 0')" "$ALL_TRUE"
	before=$(each marks)
	flows 60
	is "$1: what comes now pauses nobody" "$(port p1 pausing_queues) $(each marks)" "0 $before"
	watches nowatch
	flows 5
	is "$1: turned off, packets pause again, of each" "$(each marks | awk -v before="$before" '{
		split(before, b); for (i = 1; i <= NF; i++) print ($i > b[i]) ? "true" : "false" }' | xargs)" \
		"$ALL_TRUE"
	check "$1: for as long as it takes" h1_held $INSTANCES
	sleep 1
	check "$1: which is long" h1_held $INSTANCES
	watches watch
	sleep 0.4
	check "$1: turned on, they are withdrawn again" h1_free
	ip_in sw link set q1 type wire rate 1gbit
	sleep 10	# frames are on the line, and HELLOs in front of others
	check "$1: the line comes back" emptied
	# h1 takes pauses of 200 ms for a storm and sends on, which is not what its link takes
	between "$1: h1's link does not seem long for it" "$(port p1 reaction)" 0 100000000
	is "$1: and nothing has to be cut short" "$(port p1 hrtt_capped)" 0
	tc_in r1 qdisc del dev e0 root
	sleep 1
}

diag "one qdisc"
tc_in sw qdisc add dev q1 root handle 10: bfc limit 100m th 3000
last=root INSTANCES=1 ALL_TRUE=true PAUSED=128
storms root
stalls root
tc_in sw qdisc del dev q1 root

diag "two, below mq"
tc_in sw qdisc add dev q1 root handle 1: mq
tc_in sw qdisc add dev q1 parent 1:1 handle 11: bfc limit 100m th 3000 queues 64
tc_in sw qdisc add dev q1 parent 1:2 handle 12: bfc limit 100m th 3000 queues 64
last="parent 1:2" INSTANCES=2 ALL_TRUE="true true"
storms mq
stalls mq
finish
