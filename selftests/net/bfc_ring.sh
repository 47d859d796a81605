#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A ring that deadlocks, and what keeps it from that (BFC, App. B).
#
#	h1 --- s1 -pr-> s2 --- h2	each flow goes two switches on: h1 to h3, h2 to h1, h3 to h2
#	        ^         |
#	       pl        pr		one sub-queue on each port, so that what is paused for one flow
#	        |         v		is paused for both
#	       s3 <-pr----+
#	        |
#	       h3
#
# Each line of the ring has two flows, one from the host and one from the ring, twice what it takes. So
# each switch pauses the one before it, and all three hold packets that wait for each other: for ever, if
# no watchdog ends it. Without backpressure from s1's line to s3's (one edge of the circle) every packet
# arrives. Likewise by the tier rule, and with watchdogs the ring frees itself.
#
# $SLUICE_STOPPED (5): for so many seconds it is looked at where it has stopped.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules

udpflow=$(dirname "$0")/udpflow
[ -x "$udpflow" ] || die "udpflow is not built: make -C selftests"
PACKETS=1000
STOPPED=${SLUICE_STOPPED:-5}	# seconds for which it is looked at when it has stopped
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

quiet() { in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'; }
next() { echo $(($1 % 3 + 1)); }

for i in 1 2 3; do
	ns h$i s$i
	quiet h$i
	quiet s$i
	in_ns s$i sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; for f in /proc/sys/net/ipv4/conf/*/rp_filter
		do echo 0 >$f; done'
done
for i in 1 2 3; do
	ip_in h$i link add e0 address "$(mac $i)" type wire rate 1gbit delay 1us \
		peer name ph address "$(mac $i 1)" netns "$NS-s$i"
	ip_in s$i link add pr address "$(mac $i 2)" type wire rate 1gbit delay 1us \
		peer name pl address "$(mac "$(next $i)" 3)" netns "$NS-s$(next $i)"
done
for i in 1 2 3; do
	ip_in h$i addr add 10.0.$i.2/24 dev e0
	ip_in s$i addr add 10.0.$i.1/24 dev ph
	ip_in h$i link set e0 up
	for dev in ph pr pl; do
		ip_in s$i link set $dev up
	done
	ip_in s$i addr add 10.1.$i.1/24 dev pr
	ip_in h$i route add default via 10.0.$i.1
	neigh h$i e0 10.0.$i.1 "$(mac $i 1)"
	neigh s$i ph 10.0.$i.2 "$(mac $i)"
	neigh s$i pr 10.1.$i.2 "$(mac "$(next $i)" 3)"
	for far in 1 2 3; do
		[ $far = $i ] || ip_in s$i route add 10.0.$far.0/24 via 10.1.$i.2 dev pr
	done
done

# ring OPTIONS: bfc on all ports, all of them tagging
ring()
{
	local i dev

	for i in 1 2 3; do
		tc_in h$i qdisc replace dev e0 root bfc role host
		for dev in ph pr pl; do
			tc_in s$i qdisc replace dev $dev root bfc queues 1 "$@"
		done
	done
	wait_until 20 tagging || fail "all tag" "$(tc_in s1 -s qdisc show)"
}

tagging()
{
	local i

	for i in 1 2 3; do
		[ "$(tc_in s$i -j -s qdisc show | jq -c '[.[] | select(.kind == "bfc").port.state] | unique')" = \
		  '["host","tagging"]' ] || return
	done
}

# round SECONDS: three flows; sets $arrived to the packets of all
round()
{
	local i to sinks=()

	for i in 1 2 3; do
		in_ns h$i "$udpflow" sink --expect=$PACKETS --idle="$1"s --timeout="$1"s --json \
			>"$tmp/h$i" 2>/dev/null &
		sinks+=($!)
	done
	sleep 0.1
	for i in 1 2 3; do
		to=$(next "$(next $i)")
		ip netns exec "$NS-h$i" timeout -k 1 "$1" "$udpflow" send -d 10.0.$to.2 --id=$i \
			-n $PACKETS -l 958 --sndbuf=16m >/dev/null 2>&1 &
	done
	wait "${sinks[@]}"
	arrived=$(cat "$tmp"/h[123] | jq -s 'map(.packets | numbers) | if length == 3 then add else empty end')
	[ -n "$arrived" ] || die "a sink does not say what came"
	ip_in s1 link show >/dev/null
}

figure() { for i in 1 2 3; do qdisc_stat s$i pr "$1"; done | awk '{ n += $1 } END { print n }'; }

# All senders and packets of a ring that has stopped have to go.
clear_ring()
{
	local i dev

	for i in 1 2 3; do
		for dev in ph pr pl; do
			tc_in s$i qdisc del dev $dev root
		done
		tc_in h$i qdisc del dev e0 root
	done
	wait
}

diag "nothing is done against it"
ring nowatch
round 1
between "it stops before all has arrived" "$arrived" 0 $((3 * PACKETS - 1))
is "all three lines hold each other paused" "$(figure paused)" 3
sleep "$STOPPED"
is "and still do after $STOPPED s" "$(figure paused)" 3
between "with packets in them" "$(figure backlog)" 3000 100000000
clear_ring

diag "one edge is left out, by the tier rule: s1's pl and pr lead up"
ring nowatch
tc_in s1 qdisc change dev pl root bfc tier up
tc_in s1 qdisc change dev pr root bfc tier up
round 3
is "every packet arrives" "$arrived" $((3 * PACKETS))
between "and some would have paused s3's line" "$(qdisc_stat s1 pr elided)" 1 $((3 * PACKETS))
is "nothing was lost" "$(figure drops)" 0
leave_ports
clear_ring

if find_sluice; then
	diag "one edge is left out by name: at s1, from pl to pr"
	ring nowatch
	check "the pair is taken" in_ns s1 "$sluice" pair add pl pr
	round 3
	is "pair: every packet arrives" "$arrived" $((3 * PACKETS))
	between "pair: and some would have paused s3's line" "$(qdisc_stat s1 pr elided)" 1 $((3 * PACKETS))
	check "the pair is let go" in_ns s1 "$sluice" pair del pl pr
	leave_ports
	clear_ring
else
	skip "one edge is left out by name" "sluice is not built"
fi

diag "with watchdogs alone"
ring limit 100m
round 3
is "every packet arrives" "$arrived" $((3 * PACKETS))
between "after a storm was seen" "$(figure storms)" 1 3
leave_ports
clear_ring
finish
