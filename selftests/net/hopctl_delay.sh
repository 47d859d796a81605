#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The HRTT that HELLOs measure, against what the link is made of.
#
#	a:p ---- b:q		wire, with a rate and a delay in either direction
#
# Nothing is sent but HELLOs, as hosts need no probes, so that a HELLO never waits: its way takes the time of its bits
# at the line's rate, and the line's delay. There and back that is, to the nanosecond,
#
#	delay + (length + overhead) / rate, of one direction and of the other,
#
# to which comes what the neighbour's card may hold, by its byte queue limit, at the line's rate. How
# long a HELLO is, the devices' counters say.

. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool ip tc
load_modules hopctl sch_bfc wire

OVERHEAD=24

ns a b
for end in a b; do
	in_ns $end sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
done

# length SPACE DEV BYTES PACKETS: of the frames that it has sent since these were its counters
length()
{
	local bytes packets

	bytes=$(($(link_stat "$1" "$2" tx_bytes) - $3))
	packets=$(($(link_stat "$1" "$2" tx_packets) - $4))
	[ $packets -gt 0 ] && [ $((bytes % packets)) = 0 ] || die "$2: $packets frames of $bytes bytes"
	echo $((bytes / packets))
}

# way RATE_MBIT DELAY_NS BYTES: ns that a frame is on its way
way() { echo $((($3 + OVERHEAD) * 8000 / $1 + $2)); }

# limit SPACE DEV BYTES: what its card may hold
limit()
{
	in_ns "$1" sh -c "cd /sys/class/net/$2/queues/tx-0/byte_queue_limits &&
		echo $3 >limit_max && echo $3 >limit_min && echo $3 >limit" || die "no byte queue limits"
}

# link NAME RATE_MBIT DELAY_NS RATE_BACK DELAY_BACK [HELD_BY_A HELD_BY_B]
link()
{
	local at_p at_q want out back

	ip_in a link add p address "$(mac 1)" type wire rate "$2"mbit delay "$3"ns overhead $OVERHEAD \
		ring 100k peer name q address "$(mac 2)" netns "$NS-b" || die "no wire"
	ip_in b link set q type wire rate "$4"mbit delay "$5"ns
	ip_in a link set p up
	ip_in b link set q up
	limit a p "${6:-0}"
	limit b q "${7:-0}"
	tc_in a qdisc add dev p root bfc role host hrtt-max 100ms
	tc_in b qdisc add dev q root bfc role host hrtt-max 100ms
	sleep 1
	at_p="$(link_stat a p tx_bytes) $(link_stat a p tx_packets)"
	at_q="$(link_stat b q tx_bytes) $(link_stat b q tx_packets)"
	sleep 2
	# shellcheck disable=SC2086
	out=$(way "$2" "$3" "$(length a p $at_p)") back=$(way "$4" "$5" "$(length b q $at_q)")
	diag "$1: $out ns there, $back ns back"
	want=$((out + back + ${7:-0} * 8000 / $4))
	is "$1: measured at one end" "$(qdisc_stat a p hrtt_raw)" $want
	is "$1: and what is used" "$(qdisc_stat a p hrtt)" $want
	is "$1: which the qdisc's threshold goes by" "$(qdisc_stat a p th)" \
		"$(threshold "$2" $want)"
	is "$1: at the other" "$(qdisc_stat b q hrtt_raw)" $((out + back + ${6:-0} * 8000 / $2))
	leave_ports
	ip_in a link del p
}

# threshold RATE_MBIT HRTT_NS: HRTT x rate, with nobody active, and at least a frame
threshold()
{
	local bytes=$(($1 * $2 / 8000))

	echo $((bytes > 1514 ? bytes : 1514))
}

link "1 Gb/s, 1 us" 1000 1000 1000 1000
link "1 Gb/s, 500 us" 1000 500000 1000 500000
link "10 Gb/s, 20 us" 10000 20000 10000 20000
link "100 Mb/s, no delay" 100 0 100 0
link "10 Mb/s, 5 ms" 10 5000000 10 5000000
link "100 Gb/s, 2 us" 100000 2000 100000 2000
link "another delay back" 1000 3000 1000 70000
link "another rate back" 1000 10000 100 10000
link "cards that hold something" 1000 10000 1000 10000 25000 50000
finish
