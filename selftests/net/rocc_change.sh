#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The links of RoCC's two ends get another speed and another MTU while two greedy flows are on them. The
# fair rate is half of what the port carries now, its queue settles at the reference of that speed, and
# when the flows have ended nothing is left.
#
#	h1 ---.
#	       s --- r		100 Gb/s; the port to r is changed
#	h2 ---'

. "$(dirname "$0")/lib.sh"
ROCC_MTU=9000
. "$(dirname "$0")/rocc.sh"
ROCC_PAYLOAD=4000	# passes with the smaller MTU, too
WINDOW=5		# ms
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

# reference GBIT: T (ns) and the reference length (bytes), by the manual page: T is what the link needs for
# 125000 bytes, 40 us at least; the reference 75 % of what it carries in T, above 70 Gb/s 60 %
reference()
{
	awk "BEGIN { t = 1e6 / $1; if (t < 40000) t = 40000; print t, $1 * t / 8 * ($1 > 70 ? 0.6 : 0.75) }"
}

# port NAME GBIT MS: the port has that speed from now on; what it is MS later
port()
{
	ip_in s link set pr type wire rate "$2gbit" || die "no other speed"
	at=$((at + $3 * 1000000))
	measure 2 $((at - WINDOW * 1000000))
	figures s pr interval q_ref drops
	is "$1: T and the reference, and no drops" "$REPLY" "$(reference "$2") 0"
	diag "$1: fair rate $fair Gb/s, each from $each_least to $each_most, mean queue $mean"
}

# halves NAME GBIT: each of the two has half of it, and the queue is at the reference
halves()
{
	local reference

	reference=$(reference "$2")
	within "$1: the fair rate is half of it" "$fair" "$(awk "BEGIN { print $2 / 2 }")" 4
	within "$1: who got less got it" "$each_least" "$(awk "BEGIN { print $2 / 2 }")" 4
	within "$1: and who got more" "$each_most" "$(awk "BEGIN { print $2 / 2 }")" 4
	within "$1: the mean queue is at the reference" "$mean" "${reference#* }" 12
}

all_free() { no_limiter h1 && no_limiter h2; }

star bridge 2 100gbit 1500ns
for box in h1 h2; do
	tc_in $box qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"
done
tc_in s qdisc add dev pr root handle 1: rocc limit 256m || die "no congestion point"
in_ns r "$udpflow" sink --json --idle 20ms >"$work/sink" &
pids=($!)
at=$(($(now) + 10000000))
sends h1 1 $at 145ms
sends h2 2 $at 145ms
end=$((at + 145000000))

port "100 Gb/s" 100 15
halves "100 Gb/s" 100
port "40 Gb/s from now on" 40 20
halves "40 Gb/s from now on" 40
port "10 Gb/s from now on" 10 50
halves "10 Gb/s from now on" 10
port "100 Gb/s again" 100 25
halves "100 Gb/s again" 100

# The same of a host's own link: it takes what that carries, and the other one the rest.
ip_in h1 link set e0 type wire rate 20gbit
at=$((at + 15000000))
measure 2 $((at - WINDOW * 1000000))
within "a host's own link has 20 Gb/s: that is what it sends" "$each_least" 20 2
within "a host's own link has 20 Gb/s: the rest is the other's" "$each_most" 80 4
ip_in h1 link set e0 type wire rate 100gbit

# No reference is less than two frames of full size.
tc_in s qdisc change dev pr root rocc interval 1us
for mtu in 4100 9000 8000; do
	ip_in s link set pr mtu $mtu
	figures s pr q_ref
	is "an MTU of $mtu: two frames are the least reference" "$REPLY" \
		"$((7500 > 2 * (mtu + 14) ? 7500 : 2 * (mtu + 14)))"
done
tc_in s qdisc change dev pr root rocc interval auto
measure 2 $((end - (WINDOW + 1) * 1000000))
halves "another MTU" 100

wait "${pids[@]}"
is "nothing was lost" "$(jq '"\(.lost) \(.corrupt) \(.flows | length)"' "$work/sink")" "\"0 0 2\""
check "no limiter is left" wait_until 1 all_free
figures s pr flows_active backlog fair_rate
is "and no flow, and no packet; the rate is the full one" "$REPLY" "0 0 12500000000"
rm -r "$work"
finish
