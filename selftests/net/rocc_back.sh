#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The way of CNPs: whatever the switch is made of, they reach the sender, with the VLAN tags of its
# link, and no way that a sender can forge. The link to r is congested; the sender obeys only what it
# hears there. r needs nothing but a MAC address.
#
#	h1 e0 ----- p1 s pr ----- e0 r
#	    1 Gb/s		500 Mb/s

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq bridge ethtool
need_virtual_time
load_modules sch_rocc wire

point=	# options of the congestion point
find_sluice
WAYS=${SLUICE_ROCC_BACK_WAYS:-forged svi svi_vlans macvlan vrf vrf6 filtering with_leftover ambiguous vlan_ports bond double triple provider rp_filter}
h1_mac=$(mac 1) r_mac=$(mac 200) p1_mac=$(mac 3 1) pr_mac=$(mac 3 200) own_mac=$(mac 4)

cable() # BOX MAC PORT MAC RATE
{
	ip link add e0 netns "$NS-$1" address "$2" type wire rate "$5" delay 1us ring 0 \
		peer name "$3" netns "$NS-s" address "$4" || die "no wire"
	ip_in "$1" link set e0 up
	ip_in s link set "$3" up
}

begin() # [MAC of h1]
{
	ns h1 s r
	cable h1 "${1:-$h1_mac}" p1 "$p1_mac" 1gbit
	cable r "$r_mac" pr "$pr_mac" 500mbit
	# as from a card: a bridge corrects headers where a checksum is still to be made
	in_ns h1 ethtool -K e0 tx off >/dev/null || die "no checksums"
}

# A bridge of these ports; r is behind pr.
bridged() # OPTIONS PORT...
{
	local port

	# shellcheck disable=SC2086
	ip_in s link add br0 type bridge mcast_snooping 0 $1 || skip_all "no bridge devices"
	ip_in s link set br0 address "$own_mac" up
	for port in "${@:2}"; do
		ip_in s link set "$port" master br0 up
	done
	bridge -n "$NS-s" fdb replace "$r_mac" dev "$port" master static || die "no way to r"
	wait_until -e 100 10 star_forwards || die "the bridge does not forward"
}

# stacked BOX DEV [PROTO:]VID...: VLAN devices one above the other, the outermost tag first; in $top
stacked()
{
	local vid proto

	top=$2
	for vid in "${@:3}"; do
		proto=802.1q
		[[ $vid != *:* ]] || proto=${vid%:*} vid=${vid#*:}
		ip_in "$1" link add link "$top" name "$top.$vid" type vlan protocol "$proto" id "$vid" ||
			skip_all "no VLAN devices"
		top=$top.$vid
		ip_in "$1" link set "$top" up
	done
}

# Its device $top has its addresses, and a way to r by this MAC address.
sender() # MAC [GATEWAY]
{
	local dev=$top

	ip_in h1 addr add 10.0.1.1/24 dev "$top"
	receiver=10.0.1.200
	if [ -n "${2:-}" ]; then
		receiver=10.0.200.1
		ip_in h1 route add default via "$2"
	fi
	neigh h1 "$top" "${2:-$receiver}" "$1"
	# nothing is taken that has less tags
	while [ "$dev" != e0 ]; do
		dev=${dev%.*}
		tc_in h1 qdisc add dev "$dev" clsact
		tc_in h1 filter add dev "$dev" ingress protocol ip matchall action drop ||
			skip_all "no tc filters"
	done
}

# to_receiver DEV: s routes to r by it
to_receiver()
{
	ip_in s addr add 10.0.200.254/24 dev "$1"
	neigh s "$1" 10.0.200.1 "$r_mac"
}

# from_sender DEV: and to h1 by this one
from_sender()
{
	in_ns s sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	ip_in s addr add 10.0.1.254/24 dev "$1"
	neigh s "$1" 10.0.1.1 "$h1_mac"
}

congested()
{
	# shellcheck disable=SC2086
	tc_in s qdisc add dev pr root handle 1: rocc interval 100us limit 64m $point || die "no congestion point"
	tc_in h1 qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"
	pids=()
	sends h1 1 $(($(now) + 1000000)) 10ms "${@:2}"
	wait "${pids[@]}"
	figures s pr cnps cnps_failed cnps_vlan no_flow
	diag "$1: cnps, failed, vlan, no_flow: $REPLY; accepted: $(qdisc_stat h1 e0 accepted rocc)"
}

told() # NAME [OPTION]...
{
	congested "$@"
	between "$1: the sender is told" "$(qdisc_stat h1 e0 accepted rocc)" 50 110
	figures s pr cnps_failed cnps_vlan
	is "$1: each time" "$REPLY" "0 0"
}

# A MAC address is nothing to go by.
forged()
{
	begin "$pr_mac"
	bridged "" p1 pr
	top=e0
	sender "$r_mac"
	told "a bridge, and the port's own MAC address"
}

svi()
{
	begin
	bridged "" pr
	from_sender p1
	to_receiver br0
	top=e0
	sender "$p1_mac" 10.0.1.254
	told "routed into a bridge"
}

# vlan PORT VID [FLAG]...
vlan() { bridge -n "$NS-s" vlan add dev "$1" vid "${@:2}" || die "no VLAN"; }
# It has VLAN 1 from the start.
no_vlan() { bridge -n "$NS-s" vlan del dev "$1" vid "$2" || die "VLAN stays"; }

svi_vlans()
{
	begin
	bridged "vlan_filtering 1" p1 pr
	vlan p1 10 pvid untagged
	vlan pr 20 pvid untagged
	bridge -n "$NS-s" vlan add dev br0 vid 10 self
	bridge -n "$NS-s" vlan add dev br0 vid 20 self
	stacked s br0 10
	from_sender br0.10
	stacked s br0 20
	to_receiver br0.20
	top=e0
	sender "$own_mac" 10.0.1.254
	told "routed from one VLAN of a bridge into another"
}

macvlan()
{
	begin
	ip_in s link add mv0 link pr address "$own_mac" type macvlan mode bridge || skip_all "no macvlan devices"
	ip_in s link set mv0 up
	from_sender p1
	to_receiver mv0
	top=e0
	sender "$p1_mac" 10.0.1.254
	told "routed into a macvlan device"
}

in_vrf()
{
	begin
	ip_in s link add red type vrf table 10 || skip_all "no VRF devices"
	ip_in s link set red up
	ip_in s link set p1 master red
	ip_in s link set pr master red
}

vrf()
{
	in_vrf
	from_sender p1
	to_receiver pr
	top=e0
	sender "$p1_mac" 10.0.1.254
	told "routed in a VRF"
}

vrf6()
{
	in_vrf
	in_ns s sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	ip_in s addr add fd00:1::fe/64 dev p1 nodad
	ip_in s addr add fd00:200::fe/64 dev pr nodad
	neigh s p1 fd00:1::1 "$h1_mac"
	neigh s pr fd00:200::1 "$r_mac"
	ip_in h1 addr add fd00:1::1/64 dev e0 nodad
	ip_in h1 route add default via fd00:1::fe
	neigh h1 e0 fd00:1::fe "$p1_mac"
	receiver=fd00:200::1
	told "IPv6, routed in a VRF" --length 1400
}

# What the two ports are to VLAN 10, and whether h1 has a tag
access() { vlan "$1" 10 pvid untagged; no_vlan "$1" 1; }
trunk() { vlan "$1" 10; no_vlan "$1" 1; }

ports() # P1 PR
{
	begin
	bridged "vlan_filtering 1" p1 pr
	"$1" p1
	"$2" pr
	stacked h1 e0 $([ "$1" = access ] || echo 10)
	sender "$r_mac"
}

ports_told()
{
	ports "$1" "$2"
	told "a bridge with VLANs, from $1 to $2"
}

filtering()
{
	local from to

	for from in access trunk; do
		for to in access trunk; do
			ports_told $from $to
			leave_spaces
		done
	done
}

# Another VLAN was untagged at this port, and stays so: answers are in the newer one.
leftover()
{
	vlan "$1" 10 pvid untagged
}

with_leftover() { ports_told trunk leftover; }

# Packets that leave without a tag, in a VLAN in which no answer could come
apart() { vlan "$1" 10 untagged; vlan "$1" 20 pvid untagged; no_vlan "$1" 1; }
no_pvid() { vlan "$1" 10 untagged; no_vlan "$1" 1; }
tagged_pvid() { vlan "$1" 10 untagged; vlan "$1" 20 pvid; no_vlan "$1" 1; vlan p1 20; }

untold() # NAME [OPTION]...
{
	congested "$@"
	between "$1: it is counted" "$(qdisc_stat s pr cnps_vlan)" 50 110
	figures s pr cnps cnps_failed
	is "$1: none is sent" "$REPLY $(qdisc_stat h1 e0 accepted rocc)" "0 0 0"
}

ambiguous()
{
	local port

	for port in apart no_pvid tagged_pvid; do
		ports trunk $port
		untold "a bridge with VLANs that leaves it open ($port)"
		leave_spaces
	done
}

# A bridge of VLAN devices: the tag is no longer there where it is bridged.
vlan_ports()
{
	begin
	stacked s p1 10
	stacked s pr 20
	bridged "" p1.10 pr.20
	stacked h1 e0 10
	sender "$r_mac"
	told "a bridge of VLAN devices"
}

double()
{
	begin
	bridged "" p1 pr
	stacked h1 e0 802.1ad:10 5
	sender "$r_mac"
	told "two tags" --length 1400
}

triple()
{
	begin
	bridged "" p1 pr
	stacked h1 e0 802.1ad:10 5 6
	sender "$r_mac"
	untold "three tags" --length 1400
}

# A provider's bridge puts a tag of its own before that of the customer.
provider()
{
	local from to

	for from in access trunk; do
		for to in access trunk; do
			begin
			bridged "vlan_filtering 1 vlan_protocol 802.1ad" p1 pr
			$from p1
			$to pr
			stacked h1 e0 $([ $from = access ] || echo 802.1ad:10) 5
			sender "$r_mac"
			told "a provider's bridge, from $from to $to" --length 1400
			leave_spaces
		done
	done
}

# Packets leave the bridge by a bond, and the congestion point is below it.
bond()
{
	begin
	ip_in s link add bond0 type bond mode active-backup miimon 10 || skip_all "no bonds"
	ip_in s link set pr down
	ip_in s link set pr master bond0
	ip_in s link set bond0 up
	bridged "vlan_filtering 1" p1 bond0
	trunk p1
	access bond0
	stacked h1 e0 10
	sender "$r_mac"
	told "a bridge with VLANs, from trunk to a bond, access"
}

# filtered NAME FILTER ROUTE OPTION ADDRESS DOCTOR told|lost: h1 has this rp_filter and a default route (none, by
# e0, by another device, or `own`: one to 192.0.0.8), the switch an option and an address (or -), and doctor finds
# this much at h1
filtered()
{
	local name="rp_filter $2, route $3, switch: $1" dropped

	begin
	bridged "" p1 pr
	top=e0
	sender "$r_mac"
	in_ns h1 sh -c "echo $2 >/proc/sys/net/ipv4/conf/e0/rp_filter"
	ip_in h1 link add other type veth peer name far
	ip_in h1 link set other up
	ip_in h1 link set far up
	ip_in h1 addr add 10.9.0.1/24 dev other
	case $3 in
	e0) ip_in h1 route add default via 10.0.1.200 ;;
	other) ip_in h1 route add default via 10.9.0.2 ;;
	own) ip_in h1 route add 192.0.0.8 dev e0 ;;
	esac
	[ "$5" = - ] || ip_in s addr add "$5" dev br0
	[ "$4" = - ] || point=$4
	if [ "$7" = told ]; then
		told "$name"
	else
		congested "$name"
		between "$name: CNPs are sent" "$(qdisc_stat s pr cnps rocc)" 50 110
		is "$name: none is heard" "$(qdisc_stat h1 e0 accepted rocc)" 0
		dropped=$(awk '$1 == "TcpExt:" { if (!n) { for (n = 2; $n != "IPReversePathFilter"; n++); next } print $n }' \
			<(in_ns h1 cat /proc/net/netstat))
		is "$name: and the host counts what it throws away" "$dropped" "$(qdisc_stat s pr cnps rocc)"
	fi
	point=
	[ -z "$sluice" ] || is "$name: doctor" \
		"$("$sluice" -n "$NS-h1" -j doctor | jq -c '[.[].id]')" "$6"
	leave_spaces
}

# A switch without an address sends from one to which few have a route.
rp_filter()
{
	local found='["rocc_rp_filter"]'

	filtered "no address" 0 none - - '[]' told
	filtered "no address" 1 e0 - - '[]' told
	filtered "no address" 2 other - - '[]' told
	filtered "no address" 1 none - - "$found" lost
	filtered "no address" 2 none - - "$found" lost
	filtered "no address" 1 other - - "$found" lost
	filtered "no address, but a route to it" 1 own - - '[]' told
	filtered "an address" 1 none - 10.0.1.254/24 '[]' told
	filtered "source of the hosts' network" 1 none "source 10.0.1.250" - '[]' told
}

for way in ${WAYS//,/ }; do
	$way
	leave_spaces
done
rm -r "$work"
finish
