#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC where routes change: a flow leaves one congestion point for another, for one without congestion,
# and with a link that fails. Soon each has what there is on its new way, and no limiter stays behind.
#
#	h1 --.        .-- p1 --.
#	      a (router)        b -- r		to r: 40 Gb/s; p1, p2: 4 Gb/s; from hosts: 10 Gb/s
#	h2 --'        '-- p2 --'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk
need_virtual_time
load_modules sch_rocc wire

SETTLE=60000000		# ns: at 4 Gb/s T is 250 us, and after a cut to the least rate the way up takes 190 of them

wired() # BOX DEV ADDRESS BOX DEV ADDRESS RATE
{
	ip link add "$2" netns "$NS-$1" mtu $ROCC_MTU type wire rate "$7" delay 1500ns ring 0 \
		peer name "$5" netns "$NS-$4" mtu $ROCC_MTU || die "no wire"
	ip_in "$1" addr add "$3" dev "$2"
	ip_in "$4" addr add "$6" dev "$5"
	ip_in "$1" link set "$2" up
	ip_in "$4" link set "$5" up
}

# by PORT FLOW...: the way that the router sends these
by()
{
	local i

	for i in "${@:2}"; do
		ip_in a route replace "10.0.200.$i" via "10.0.1$1.2"
	done
}

# shares NAME MBIT...: what each sends now, in 5 ms
shares()
{
	local i rates=() from=$(($(now) + SETTLE))

	sleep_until "$from"
	for i in 1 2; do
		rates[i]=$(link_stat h$i e0 tx_bytes)
	done
	sleep_until $((from + 5000000))
	for i in 1 2; do
		rates[i]=$((($(link_stat h$i e0 tx_bytes) - rates[i]) * 8 / 5000))
	done
	diag "$1: ${rates[*]} Mbit/s"
	for i in 1 2; do
		within "$1: h$i" "${rates[i]}" "${@:i + 1:1}" 3
	done
}

all_free() { no_limiter h1 && no_limiter h2; }

ns a b r h1 h2
in_ns a sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
in_ns b sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
for i in 1 2; do
	wired h$i e0 10.0.$i.1/24 a q$i 10.0.$i.254/24 10gbit
	wired a p$i 10.0.1$i.1/24 b u$i 10.0.1$i.2/24 4gbit
	ip_in h$i route add default via 10.0.$i.254
	tc_in h$i qdisc add dev e0 root handle 1: rocc role host
	tc_in a qdisc add dev p$i root handle 1: rocc limit 64m
done
wired b pr 10.0.200.254/24 r e0 10.0.200.1/24 40gbit
ip_in r addr add 10.0.200.2/24 dev e0
ip_in r route add default via 10.0.200.254
tc_in b qdisc add dev pr root handle 1: rocc
by 1 1 2

in_ns r "$udpflow" sink --json --idle 20ms >"$work/sink" &
pids=($!)
start=$(($(now) + 20000000))
for i in 1 2; do
	receiver=10.0.200.$i
	sends h$i $i $start 400ms
done
sleep_until $start
shares "both by p1" 2000 2000
by 2 2
shares "the second by p2" 4000 4000
by 2 1
shares "both by p2" 2000 2000
by 1 1 2
shares "both back by p1 at once" 2000 2000
ip_in a link set p1 down
by 2 1 2
shares "p1 fails" 2000 2000
ip_in a link set p1 up
by 1 1
shares "p1 is back, for the first" 4000 4000
wait "${pids[@]}"
check "no limiter is left" wait_until 1 all_free
figures a p1 flows_active backlog
is "nothing is left at the first congestion point" "$REPLY" "0 0"
figures a p2 flows_active backlog
is "nor at the second" "$REPLY" "0 0"
rm -r "$work"
finish
