#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The user's VLANs beside the fabric's tag: VLAN-aware bridges of both tag types, an access port,
# and VLAN devices above the ports, bridged and routed.
#
#	h1 br0/eth0 --- p1 sw:br0 p2 --- eth0/br0 h2	vlan_filtering 1, 802.1Q, then 802.1ad
#	h1 eth0.10 ---- p1.10 sw p2.20 ---- eth0.20 h2	routed
#	h1 eth0.10 ---- p1.10 sw:br1 p2.10 ---- eth0.10 h2

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
command -v bridge >/dev/null || skip_all "bridge is not installed"

raw() { paths_raw "$kind: $1" 50 br0 "${@:2}"; }

# The frames must not arrive: the sink hears nothing for a second.
lost()
{
	paths_sink rawsink --dev br0 --mac "$h2_mac" --timeout 1s "${@:2}"
	paths_send rawsend --dev eth0 --mac "$h2_mac" --packets 50 --rate 400m "${@:2}"
	wait "$_sink"
	is "$kind: $1" "$(jq .packets+.corrupt "$PATHS_TMP/sink")" 0
}

# vlan DEV VID [FLAG]...
vlan() { in_ns sw bridge vlan add dev "$1" vid "${@:2}" || fail "bridge vlan $*"; }

bridge_aware()
{
	local kind=$1 tpid=$2

	paths_build wire
	paths_bridged_host h1
	paths_bridged_host h2
	BRIDGE="vlan_filtering 1 vlan_protocol $kind" paths_bridge sw br0 p1 p2
	kind="$kind bridge"
	vlan p1 10
	vlan p2 10
	vlan p1 20
	vlan p1 30
	vlan p2 30 pvid untagged
	in_ns sw bridge vlan del dev p2 vid 1
	paths_bfc
	check "$kind: all four ports tag" paths_tagging

	paths_from h1 h2
	raw "a VLAN of both ports" --vlan "$tpid:10"
	# a packet socket takes a frame over the MTU only for 802.1Q
	[ "$tpid" != 0x8100 ] || raw "the same, full-size frame" --vlan 0x8100:10 --length 1518
	RAWSEND="--vlan $tpid:30 --length 1004" RAWSINK="--length 1000" \
		raw "tagged at one port, untagged at the other"
	raw "a frame with two tags" --vlan "$tpid:10" --vlan 0x8100:77
	paths_labels "$kind"
	lost "a VLAN that the other port is not in" --vlan "$tpid:20"
	lost "a VLAN of none" --vlan "$tpid:40"
	lost "no tag, as the ports have different VLANs for it" --length 600

	vlan p2 1 pvid untagged
	paths_from h1 h2
	raw "no tag, with one VLAN for it" --length 600
	# a tag of the type that the bridge does not filter is the user's business
	raw "a tag of the other type" --vlan "$(printf '0x%x' $((0x8100 ^ 0x88a8 ^ tpid))):44"
	paths_labels "$kind: without its tag"
	paths_done "$kind"
}

# vlan_above NS DEV VID ADDRESS/LENGTH [MTU]
vlan_above()
{
	ip_in "$1" link add link "$2" name "$2.$3" type vlan id "$3" || skip_all "no VLAN devices"
	paths_quiet "$1" "$2.$3"
	ip_in "$1" link set "$2.$3" up
	[ -z "${4:-}" ] || ip_in "$1" addr add "$4" dev "$2.$3"
}

routed()
{
	local kind="VLAN devices, routed"

	paths_build wire
	in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	vlan_above h1 eth0 10 10.0.1.1/24
	vlan_above sw p1 10 10.0.1.254/24
	vlan_above sw p2 20 10.0.2.254/24
	vlan_above h2 eth0 20 10.0.2.2/24
	ip_in h1 route add default via 10.0.1.254
	ip_in h2 route add default via 10.0.2.254
	neigh h1 eth0.10 10.0.1.254 "$p1_mac"
	neigh h2 eth0.20 10.0.2.254 "$p2_mac"
	neigh sw p1.10 10.0.1.1 "$h1_mac"
	neigh sw p2.20 10.0.2.2 "$h2_mac"
	paths_bfc
	check "$kind: all four ports tag" paths_tagging
	paths_from h1 h2
	paths_udp "$kind" 200 10.0.2.2
	paths_udp "$kind, full-size packets" 200 10.0.2.2 --length 1472
	paths_tcp "$kind, TCP" 100000 10.0.2.2
	paths_labels "$kind"
	paths_done "$kind"
}

bridged()
{
	local kind="VLAN devices, bridged"

	paths_build wire
	vlan_above h1 eth0 10 10.0.0.1/24
	vlan_above h2 eth0 10 10.0.0.2/24
	vlan_above sw p1 10
	vlan_above sw p2 10
	paths_bridge sw br1 p1.10 p2.10
	neigh h1 eth0.10 10.0.0.2 "$h2_mac"
	neigh h2 eth0.10 10.0.0.1 "$h1_mac"
	paths_bfc "" "role switch"
	check "$kind: all four ports tag" paths_tagging
	paths_from h1 h2
	paths_udp "$kind" 200 10.0.0.2
	paths_udp "$kind, full-size packets" 200 10.0.0.2 --length 1472
	paths_labels "$kind"
	paths_done "$kind"
}

bridge_aware 802.1Q 0x8100
bridge_aware 802.1ad 0x88a8
routed
bridged
finish
