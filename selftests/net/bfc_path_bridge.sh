#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The user's packet through a Linux bridge between bfc ports: IPv4, IPv6, other EtherTypes, frames
# with VLAN tags of the user's own, among them 802.1ad, which the fabric tag is too.
#
#	h1 br0/eth0 --- p1 sw:br0 p2 --- eth0/br0 h2	over wire, then over veth
#
# The hosts have a bridge above eth0, since a packet socket there sees the frame as the port has
# left it, tags and all. Each frame is held against what was sent byte for byte, and each hop has
# to have tagged and labelled it.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin

# raw NAME [ARG...]: 50 frames to h2
raw() { paths_raw "$kind: $1" 50 br0 "${@:2}"; }

address_hosts()
{
	ip_in h1 addr add 10.0.0.1/24 dev br0
	ip_in h2 addr add 10.0.0.2/24 dev br0
	ip_in h1 addr add fd00::1/64 dev br0 nodad
	ip_in h2 addr add fd00::2/64 dev br0 nodad
	neigh h1 br0 10.0.0.2 "$h2_mac"
	neigh h2 br0 10.0.0.1 "$h1_mac"
	neigh h1 br0 fd00::2 "$h2_mac"
	neigh h2 br0 fd00::1 "$h1_mac"
}

internet()
{
	paths_from h1 h2
	paths_udp "$kind: IPv4" 200 10.0.0.2
	paths_udp "$kind: IPv4, full-size frames" 200 10.0.0.2 --length 1472
	paths_udp "$kind: IPv4 in fragments" 50 10.0.0.2 --length 4000
	paths_udp "$kind: IPv6" 200 fd00::2
	paths_udp "$kind: IPv6, full-size frames" 200 fd00::2 --length 1452
	paths_labels "$kind"
	paths_from h2 h1
	paths_udp "$kind: IPv4, back" 200 10.0.0.1
	paths_labels "$kind: back"
}

user_frames()
{
	local vid

	paths_from h1 h2
	raw "EtherType 0x88b6, smallest frame" --length 60
	raw "EtherType 0x88b6, full-size frame" --length 1514
	raw "802.1Q, smallest frame" --vlan 0x8100:10 --length 60
	raw "802.1Q, priority and drop eligible" --vlan 0x8100:0xb00a
	raw "802.1Q, full-size frame" --vlan 0x8100:10 --length 1518
	# of 128 sub-queues: VLAN ids 1 to 128 are in use by the fabric
	for vid in 1 128 129 4094; do
		raw "802.1ad, VLAN id $vid" --vlan "0x88a8:$vid"
	done
	raw "802.1ad, only a priority" --vlan 0x88a8:0xe000
	raw "802.1Q in 802.1ad" --vlan 0x88a8:7 --vlan 0x8100:10
	raw "802.1ad in 802.1ad" --vlan 0x88a8:7 --vlan 0x88a8:8
	raw "three tags" --vlan 0x88a8:7 --vlan 0x8100:10 --vlan 0x8100:11
	paths_labels "$kind: frames with tags"
}

# Tags that a VLAN device puts into the packet's metadata rather than into the frame
vlan_device()
{
	local proto=$1 tpid=$2 VIA=v5 RAWSEND RAWSINK

	ip_in h1 link add link eth0 name v5 type vlan proto "$proto" id 5 ||
		{ skip "$kind: $proto by a VLAN device" "there are none"; return; }
	paths_quiet h1 v5
	ip_in h1 link set v5 up
	paths_from h1 h2
	RAWSINK="--vlan $tpid:5 --length 1004"
	raw "$proto by a VLAN device"
	RAWSEND="--length 1514" RAWSINK="--vlan $tpid:5 --length 1518"
	raw "$proto by a VLAN device, full-size frame"
	RAWSEND="--vlan 0x8100:9" RAWSINK="--vlan $tpid:5 --vlan 0x8100:9 --length 1004"
	raw "$proto by a VLAN device around 802.1Q"
	paths_labels "$kind: $proto by a VLAN device"
	ip_in h1 link del v5
}

# Frames of the control class go without the fabric's tag, unless they start with one of its TPID
control_class()
{
	local moved='[d("h1/eth0"; "control"), d("h1/eth0"; "tagged"),
		p("sw/p1"; "tag_stripped"), p("sw/p1"; "tag_unlabelled"), d("sw/p2"; "marks")]'

	paths_from h1 h2
	raw "802.1ad in the control class" --vlan 0x88a8:20 --priority 7
	paths_shot "$PATHS_TMP/now"
	is "$kind: it is tagged nevertheless, and names no sub-queue" "$(paths_moved "$moved")" \
	   "[50,50,50,0,0]"
	paths_from h1 h2
	raw "802.1Q in the control class" --vlan 0x8100:20 --priority 7
	paths_shot "$PATHS_TMP/now"
	is "$kind: it is not tagged" "$(paths_moved "$moved")" "[50,0,0,0,0]"
}

# Frames that go past the qdisc, as those that hardware forwards, may start with a tag of the fabric's type. One
# with an id that no sub-queue has is the user's.
past_the_qdisc()
{
	local vid RAWSEND=--bypass

	for vid in 129 4094; do
		raw "802.1ad past the qdisc, VLAN id $vid" --vlan "0x88a8:$vid"
	done
}

# The fabric's tag is of the user's type
other_tpid()
{
	paths_bfc "tpid 0x8100" "tpid 0x8100"
	check "$kind: all four ports tag with 0x8100" paths_tagging
	paths_from h1 h2
	raw "no tag in 0x8100" --length 1514
	raw "802.1Q in 0x8100" --vlan 0x8100:10 --length 1518
	raw "802.1ad in 0x8100" --vlan 0x88a8:10
	raw "802.1Q in 802.1Q in 0x8100" --vlan 0x8100:10 --vlan 0x8100:11
	paths_labels "$kind, TPID 0x8100"
}

for kind in wire veth; do
	paths_build $kind
	paths_bridged_host h1
	paths_bridged_host h2
	paths_bridge sw br0 p1 p2
	address_hosts
	paths_bfc
	check "$kind: all four ports tag" paths_tagging
	internet
	user_frames
	vlan_device 802.1Q 0x8100
	vlan_device 802.1ad 0x88a8
	control_class
	past_the_qdisc
	[ $kind = veth ] || other_tpid
	paths_done "$kind"
done

finish
