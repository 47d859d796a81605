#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What bfc makes of a packet before it queues it: control traffic, which has a queue and a bound of its own,
# and packets that a filter takes for itself.
#
#	a: v0 ---- v1 :b	tbf above bfc on v0

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
udpflow=$(cd "$(dirname "$0")" && pwd)/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
load_modules hopctl sch_bfc

CONTROL=1024	# packets of the control class that may wait

ns a b
ip_in a link add v0 address "$(mac 1)" type veth peer name v1 address "$(mac 2)" netns "$NS-b"
ip_in b link set v1 up
ip_in a link set v0 up
ip_in a addr add 10.0.0.1/24 dev v0
ip_in a addr add fd00::1/64 dev v0 nodad
ip_in b addr add fd00::2/64 dev v1 nodad
neigh a v0 10.0.0.2 "$(mac 2)"
neigh a v0 fd00::2 "$(mac 2)"
neigh b v1 fd00::1 "$(mac 1)"
sleep 3		# IPv6 has said what it says when a device comes up

# below RATE: a new bfc whose parent lets that much through
below()
{
	tc_in a qdisc del dev v0 root 2>/dev/null
	tc_in a qdisc add dev v0 root handle 1: tbf rate "$1" burst 20k limit 10m
	tc_in a qdisc add dev v0 parent 1: handle 10: bfc rate 1gbit
}
sends() { in_ns "$1" "$udpflow" send -l 100 --sndbuf=64m "${@:2}" >/dev/null; }

# figs KEY...: of bfc
figs() { bfc_figs "$NS-a" v0 "$@" && echo "$REPLY"; }

# parent KEY: of tbf
parent() { qdisc_stat a v0 "$1" tbf; }

diag "neighbour discovery is control traffic, other ICMPv6 is not"
below 1gbit
sends a -d fd00::9 -n 1
is "a solicitation" "$(figs control packets)" "1 1"
sends b -d fd00::1 -p 9 -n 1
sleep 0.1
read -r control packets < <(figs control packets)
is "port unreachable" "$((packets - control)) $(link_stat a v0 rx_packets)" "1 $(link_stat b v1 tx_packets)"

diag "the control class has a bound"
below 8kbit
sends a -d 10.0.0.2 -n 300	# what fits into the burst goes at once
sends a -d 10.0.0.2 -n $((CONTROL + 76)) --priority=7
is "so many wait, the others are dropped" "$(figs control drop_control)" "$CONTROL 76"
is "by no other account" "$(figs drops drop_limit drop_filter)" "76 0 0"
is "and the parent knows" "$(parent qlen) $(parent backlog)" "$(figs qlen) $(figs backlog)"

diag "a filter that takes packets for itself"
ip_in a link add d0 type dummy
ip_in a link set d0 up
sleep 3
below 1gbit
before=$(link_stat a d0 tx_packets)
tc_in a filter add dev v0 parent 10: protocol ip matchall action mirred egress redirect dev d0
sends a -d 10.0.0.2 -n 50
is "they are where it has sent them" $(($(link_stat a d0 tx_packets) - before)) 50
is "none came into a queue" "$(figs packets qlen backlog)" "0 0 0"
is "and none counts as lost" "$(figs drops drop_filter) $(parent drops)" "0 0 0"
is "nor does the parent wait for one" "$(parent qlen) $(parent backlog)" "0 0"
tc_in a filter del dev v0 parent 10:
tc_in a filter add dev v0 parent 10: protocol ip matchall action drop
sends a -d 10.0.0.2 -n 50
is "one that drops them: counted" "$(figs packets drop_filter drops)" "0 50 50"
tc_in a filter del dev v0 parent 10:
sends a -d 10.0.0.2 -n 50
is "without it they pass" "$(figs packets drop_filter drops)" "50 50 50"

diag "a filter that puts a tag on and names the class"
ip_in a link add link v0 name v0.5 type vlan id 5
in_ns a sh -c "echo 1 >/proc/sys/net/ipv6/conf/v0.5/disable_ipv6"
ip_in a link set v0.5 up
ip_in a addr add 10.5.0.1/24 dev v0.5
neigh a v0.5 10.5.0.2 "$(mac 2)"
below 1gbit
tc_in a filter add dev v0 parent 10: protocol all matchall classid 10:1 \
	action vlan push id 7 protocol 802.1ad pipe action ok
for port in 1 2 3 4 5 6 7 8; do
	sends a -d 10.5.0.2 -p 700$port -n 1
done
is "flows are told apart behind it" "$(figs packets assign_free assign_sticky)" "8 8 0"

finish
