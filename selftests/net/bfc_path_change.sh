#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What starts with a tag of the fabric's type, but is the user's, while ports begin and cease to
# tag; and frames that a link takes with one tag and not with two.
#
#	h1 br0/eth0 --- p1 sw:br0 p2 --- eth0/br0 h2	over wire
#
# When a port has ceased to tag, its neighbour takes tags off for as long as tagged frames may be
# on their way: the card's ring, the link and a millisecond. What starts with a tag of that type
# within this time loses it. The frames come one a millisecond, so that three may be hit.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
paths_build wire
paths_bridged_host h1
paths_bridged_host h2
paths_bridge sw br0 p1 p2
paths_bfc "" "strip always"
check "all four ports tag" paths_tagging

# while_changing NAME COMMAND...: 2000 frames of 802.1ad, the command after the first 500
while_changing()
{
	local name=$1

	shift
	paths_from h1 h2
	paths_sink rawsink --dev br0 --mac "$h2_mac" --expect 2000 --timeout 10s --idle 2s \
		--vlan 0x88a8:33
	paths_send rawsend --dev eth0 --mac "$h2_mac" --packets 2000 --rate 8m --vlan 0x88a8:33 &
	stream=$!
	sleep 0.5
	"$@" || fail "$name" "$*"
	wait "$stream"
	wait "$_sink"
	between "$name: frames whose tag was lost" \
		"$((2000 - $(jq .packets "$PATHS_TMP/sink")))" 0 3
}

bfc() { tc_in "$1" qdisc "$2" dev "$3" root handle 1: bfc "${@:4}"; }

tagged=$(qdisc_stat h1 eth0 tagged bfc)
while_changing "h1 ceases to tag" bfc h1 change eth0 notag
between "h1 ceases to tag: tagged frames before" \
	"$(($(qdisc_stat h1 eth0 tagged bfc) - tagged))" 100 1900
while_changing "h1 begins to tag" bfc h1 change eth0 tag
check "h1 tags" paths_wait 5 port_in h1 eth0 tagging
while_changing "sw takes its qdisc away" tc_in sw qdisc del dev p1 root
sleep 1.5
while_changing "sw has one again" bfc sw add p1 th 1 strip always
check "h1 tags" paths_wait 5 port_in h1 eth0 tagging
while_changing "h1 takes its qdisc away" tc_in h1 qdisc del dev eth0 root
sleep 1.5
while_changing "h1 has one again" bfc h1 add eth0 role host
check "h1 tags" paths_wait 5 port_in h1 eth0 tagging

tc_in sw qdisc add dev p1 clsact || skip_all "no clsact qdisc"
while_changing "the link ceases to take long tagged frames" \
	tc_in sw filter add dev p1 ingress protocol 802.1ad matchall \
	action police rate 100gbit burst 100m mtu 1513 conform-exceed drop/pipe
check "h1 does not tag" paths_wait 5 port_in h1 eth0 probe_size
tc_in sw qdisc del dev p1 clsact
check "h1 tags when it takes them" paths_wait 5 port_in h1 eth0 tagging

diag "a line that takes 1518 bytes: one tag with a full-size frame, not two"
long() { paths_raw "$1: full-size frames of 802.1Q" 100 br0 --vlan 0x8100:10 --length 1518; }
paths_from h1 h2
long "a longer line"
paths_labels "a longer line"
ip_in sw link set p1 mtu 1496
sleep 1
check "h1 tags" paths_wait 10 port_in h1 eth0 tagging
paths_from h1 h2
long "the line"
sent=0
paths_raw "the line: full-size frames" 100 br0 --length 1514
paths_raw "the line: 802.1Q, as long as goes" 100 br0 --vlan 0x8100:10 --length 1514
sleep 0.1
paths_shot "$PATHS_TMP/now"
is "the line: what does not fit with the tag goes without" \
   "$(paths_moved '[d("h1/eth0"; "tagged"), p("sw/p1"; "tag_stripped"), d("h1/eth0"; "drop_tag")]')" \
   "[200,200,0]"
ip_in sw link set p1 mtu 1500
sleep 1
paths_from h1 h2
long "the line is longer again"
paths_labels "the line is longer again"

finish
