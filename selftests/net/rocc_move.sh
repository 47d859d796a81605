#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A flow that goes out of another port of its host: as with two uplinks, a bond, or queues under mq. The
# reaction point that sends it now is told, and where it went before no limiter stays.
#
#	h1 e0 ---.
#	   e1 --- s --- r
#	h2 ------'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

star bridge 2 10gbit 1500ns
ip link add e1 netns "$NS-h1" address "$(mac 9)" mtu $ROCC_MTU type wire rate 10gbit delay 1500ns \
	ring $ROCC_RING peer name p9 netns "$NS-s" address "$(mac 9 1)" mtu $ROCC_MTU || die "no wire"
ip_in s link set p9 master br0 up
bridge -n "$NS-s" fdb replace "$(mac 9)" dev p9 master static
ip_in h1 link set e1 up
neigh h1 e1 10.0.0.200 "$(mac 200)"
wait_until -e 100 10 star_forwards || die "the bridge does not forward"
tc_in s qdisc add dev pr root handle 1: rocc limit 64m || die "no congestion point"
for dev in e0 e1; do
	tc_in h1 qdisc add dev $dev root handle 1: rocc role host || die "no reaction point"
done
tc_in h2 qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"

on() { figures h1 "$1" limiters accepted; }
# shares NAME DEV: what h1's DEV sends in 5 ms, of 10 Gb/s that it shares with h2
shares()
{
	local sent

	sent=$(link_stat h1 "$2" tx_bytes)
	sleep 0.005
	within "$1: h1 has its half" $((($(link_stat h1 "$2" tx_bytes) - sent) * 8 / 5000)) 5000 5
}

in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink" &
pids=($!)
start=$(($(now) + 20000000))
sends h1 1 $start 400ms
sends h2 2 $start 400ms
sleep_until $((start + 60000000))
shares "by its first port" e0
on e0
is "by its first port: it has its limiter there" "${REPLY%% *}" 1

ip_in h1 route replace 10.0.0.200/32 dev e1 src 10.0.0.1
sleep_until $((start + 130000000))
shares "by its second port" e1
on e1
read -r limiters accepted <<<"$REPLY"
is "by its second port: it has its limiter there" "$limiters" 1
between "by its second port: which is told" "$accepted" 100 10000
sleep_until $((start + 250000000))
on e0
told=$REPLY
is "by its second port: the first one has none" "${told%% *}" 0
sleep 0.02
on e0
is "by its second port: nor is the first one told any more" "$REPLY" "$told"

ip_in h1 route del 10.0.0.200/32 dev e1
sleep_until $((start + 360000000))
shares "and back" e0
wait "${pids[@]}"
all_free() { no_limiter h1 && no_limiter h2 && [ "$(qdisc_stat h1 e1 limiters rocc)" = 0 ]; }
check "no limiter is left" wait_until 2 all_free
rm -r "$work"
finish
