#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC in a kernel that has IPv6 but was told to do without: what others send of it is told of or
# counted, by whatever way it comes. The switch has no routes to look up, nor the tables for them.
#
#	h1 e0 ----- p1 s pr ----- e0 r
#	    1 Gb/s		500 Mb/s
#
# cmdline: ipv6.disable=1

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq
[ "$(cat /sys/module/ipv6/parameters/disable 2>/dev/null)" = 1 ] ||
	skip_all "needs a kernel with ipv6.disable=1"
load_modules sch_rocc wire

r_mac=$(mac 200) pr_mac=$(mac 3 200)
ns h1 s r
# The sender has taken the address of the port that its packets leave by.
ip link add e0 netns "$NS-h1" address "$pr_mac" type wire rate 1gbit delay 1us \
	peer name p1 netns "$NS-s" || die "no wire"
ip link add e0 netns "$NS-r" address "$r_mac" type wire rate 500mbit delay 1us \
	peer name pr netns "$NS-s" address "$pr_mac" || die "no wire"
ip_in h1 link set e0 up
ip_in r link set e0 up
ip_in s link set p1 up
ip_in s link set pr up

six() { in_ns h1 "$udpflow" rawsend --dev e0 --mac "$r_mac" --ethertype 0x86dd --length 1000 --packets 2000 >"$work/sent"; }

diag "bridged"
ip_in s link add br0 type bridge mcast_snooping 0 || skip_all "no bridge devices"
ip_in s link set br0 up
ip_in s link set p1 master br0
ip_in s link set pr master br0
wait_until -e 100 10 star_forwards || die "the bridge does not forward"
tc_in s qdisc add dev pr root handle 1: rocc interval 100us limit 64m || die "no congestion point"
six
figures s pr cnps cnps_failed
between "sources are told" "${REPLY% *}" 100 1000000
is "each time" "${REPLY#* }" 0

diag "passed on by a filter: with no bridge it would have to be routed"
ip_in s link set p1 nomaster
tc_in s qdisc replace dev pr root handle 2: rocc interval 100us limit 64m || die "no congestion point"
tc_in s qdisc add dev p1 clsact || skip_all "no clsact qdisc"
tc_in s filter add dev p1 ingress matchall action mirred egress redirect dev pr || skip_all "no mirred action"
six
figures s pr cnps cnps_failed
is "nobody is told" "${REPLY% *}" 0
between "and it is counted" "${REPLY#* }" 100 1000000
rm -r "$work"
finish
