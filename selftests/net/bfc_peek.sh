#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A packet is dropped on its way out, below a parent that only wants to look at the next one.
#
#	a:p ---- b:q		wire, which takes one VLAN tag and not two: a user's frame of 802.1ad is dropped
#
# qdisc_peek_dequeued() takes a packet out, and puts it where it is still in the queue. The parents are told
# in between of what is dropped before it: they must not find the qdisc empty, or they take the class off
# their round with a packet in it. hfsc then serves it by its real-time curve alone, which here lets a packet
# go each eight seconds, and not by its share of the link.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules hopctl sch_bfc wire

udpflow=$(cd "$(dirname "$0")" && pwd)/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"

two_boxes rate 1mbit delay 2us
ip_in b link set q mtu 1496
ip_in a addr add 10.0.0.1/24 dev p
neigh a p 10.0.0.2 "$(mac 2)"
ip_in a link add v link p type vlan protocol 802.1ad id 33
ip_in a link set v up
tc_in b qdisc add dev q root bfc role switch

good() { in_ns a "$udpflow" send -d 10.0.0.2 -n "$1" -l 958 --sndbuf 1m >/dev/null; }
bad() { in_ns a "$udpflow" rawsend --dev v --mac "$(mac 2)" -n "$1" -l 1514 >/dev/null; }

# tc's JSON of hfsc is none
seen() { tc_in a -j -s qdisc show dev p | sed 's/"options": *{default [^}]*}/"options":{}/'; }
bfc() { seen | jq '.[] | select(.kind == "bfc").'"$1"; }
# A look is what costs, so there are few.
tagging()
{
	local i

	for ((i = 0; i < 10; i++)); do
		sleep 1
		! port_is a p state tagging || return 0
	done
	return 1
}
# of parent, then child
waits() { seen | jq -r 'map("\(.qlen) \(.backlog)") | join(", ")'; }

# parent KIND COMMAND...: tc commands that make the parent 1:, with a class 1:1
parent()
{
	local kind=$1 command

	shift
	tc_in a qdisc del dev p root 2>/dev/null
	for command in "$@" "qdisc add dev p parent 1:1 handle 2: bfc queues 1"; do
		# shellcheck disable=SC2086
		tc_in a $command || die "tc $command"
	done
	check "$kind: the port tags" tagging
	sleep 12	# until then the slow line is full of probes that are too long for it
	good 30
	bad 2
	good 1
	sleep 0.4
	is "$kind: all have left" "$(waits)" "0 0, 0 0"
	is "$kind: two were dropped" "$(bfc drop_tag)" 2
	good 30
	bad 2
	sleep 0.4
	is "$kind: all have left when those to be dropped are the last" "$(waits)" "0 0, 0 0"
	good 5
	sleep 0.1
	is "$kind: and those that come then" "$(waits)" "0 0, 0 0"
}

parent hfsc "qdisc add dev p root handle 1: hfsc default 1" \
	"class add dev p parent 1: classid 1:1 hfsc rt rate 1kbit ls rate 1mbit"
parent drr "qdisc add dev p root handle 1: drr" "class add dev p parent 1: classid 1:1 drr quantum 500" \
	"filter add dev p parent 1: matchall flowid 1:1"
leave_ports
tc_in a qdisc del dev p root
ip_in a link del v
finish
