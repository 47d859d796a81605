#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Which fields of a packet make another flow of it, where a box only forwards it.
#
#	h1 eth0 --- p1 sw p2 --- eth0 h2		sw is a bridge, then a router
#	              bfc on p2   hopframe, a neighbour that takes tags
#
# Each frame that leaves p2 says by its tag which sub-queue it was in. From a packet, one field is
# changed at a time: one of those that make a flow (tc-bfc(8): addresses, protocol, ports, VLAN ids)
# gives it another sub-queue, any other one the same.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
frames=$PATHS_DIR/frames hopframe=$PATHS_DIR/hopframe
[ -x "$frames" ] && [ -x "$hopframe" ] || skip_all "frames or hopframe is not built"
trap 'rm -rf "$PATHS_TMP"; _at_exit' EXIT

SW_IPV6=0 paths_build wire
for name in h1 h2; do
	in_ns $name sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null
done

# A flow that comes back gets the sub-queue that it had, another one a free one: there are enough.
fresh()
{
	tc_in sw qdisc del dev p2 root 2>/dev/null
	tc_in sw qdisc add dev p2 root bfc queues 1024 flows 400000 sticky 1s peer switch || die "no bfc"
	ip netns exec "$NS-h2" "$hopframe" peer eth0 for=30000 role=switch deaf >/dev/null 2>&1 &
	hand=$!
	paths_wait 10 port_in sw p2 tagging || die "p2 does not tag"
}

over() { kill "$hand"; wait "$hand" 2>/dev/null; }

# fields NAME: sends what $packet says, and with the changes in $others and in $same. Those are lines of a
# name and of words for frames, where later ones go before earlier ones.
fields()
{
	local name

	fresh
	{
		echo "as-it-is n=2 $packet"
		while read -r name words; do
			echo "$name n=2 $packet $words"
		done <<<"$others"$'\n'"$same"
		echo "again $packet"
	} | "$frames" -w 300 "$NS-h1/eth0" "$NS-h2/eth0" >"$PATHS_TMP/came" || die "frames"
	over
	own=$(queues as-it-is)
	between "$1: a sub-queue of its own" "${own:-0}" 1 1024
	while read -r name _; do
		isnt "$1: $name makes another flow" "$(queues "$name")" "$own"
	done <<<"$others"
	while read -r name _; do
		is "$1: $name does not" "$(queues "$name")" "$own"
	done <<<"$same"$'\n'again
	is "$1: sub-queues in all" "$(cut -d' ' -f5 "$PATHS_TMP/came" | sort -u | wc -l)" \
		$((1 + $(wc -l <<<"$others")))
}

# The sub-queues that frames of that name were in, plus 1
queues() { awk -v name="$1" '$1 == name { print $5 }' "$PATHS_TMP/came" | sort -u | xargs; }

# isnt NAME GOT OTHER: one number, and another one
isnt()
{
	if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" != "$3" ]; then
		pass "$1"
	else
		fail "$1" "is $2, should be another one than $3"
	fi
}

ports="source-port sport=6001
source-port-high sport=38768
destination-port dport=7001
destination-port-high dport=39768
ports-swapped sport=7000 dport=6000
protocol proto=136"
four="source from=10.0.1.3
source-high from=10.0.1.129
destination to=10.0.2.3
$ports"
six="source from=fd00:1::3
source-middle from=fd00:1::1:0:1
destination to=fd00:2::3
destination-middle to=fd00:2::1:0:2
$ports"
four_same="length bytes=1000
type-of-service tos=0xb8
identification ident=1234
time-to-live ttl=33"
six_same="length bytes=1000
traffic-class tos=0xb8
flow-label label=54321
hop-limit ttl=33"

diag "a bridge"
BRIDGE="mcast_snooping 0" paths_bridge sw br0 p1 p2
in_ns sw bridge fdb replace "$h2_mac" dev p2 master static
to_h2="dst=$h2_mac from=10.0.1.1 to=10.0.2.2"
packet=$to_h2 others=$four same="$four_same
sender's-mac src=02:00:00:00:77:77"
fields "bridge, IPv4"
packet="dst=$h2_mac from=fd00:1::1 to=fd00:2::2" others=$six same=$six_same
fields "bridge, IPv6"
packet="$to_h2 tag=5" others="vlan tag=6
vlan-high tag=2053
$four" same=$four_same
fields "bridge, VLAN"
packet="dst=$h2_mac tag=5 from=fd00:1::1 to=fd00:2::2" others="vlan tag=6
$six" same=$six_same
fields "bridge, IPv6 in a VLAN"

diag "a router"
ip_in sw link del br0
in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
ip_in sw -batch - <<-END || die "no router"
	addr add 10.0.1.254/24 dev p1
	addr add 10.0.2.254/24 dev p2
	addr add fd00:1::254/64 dev p1 nodad
	addr add fd00:2::254/64 dev p2 nodad
	neigh replace 10.0.2.2 lladdr $h2_mac nud permanent dev p2
	neigh replace 10.0.2.3 lladdr $h2_mac nud permanent dev p2
	neigh replace fd00:2::2 lladdr $h2_mac nud permanent dev p2
	neigh replace fd00:2::3 lladdr $h2_mac nud permanent dev p2
	neigh replace fd00:2::1:0:2 lladdr $h2_mac nud permanent dev p2
END
packet="dst=$p1_mac from=10.0.1.1 to=10.0.2.2" others=$four same=$four_same
fields "router, IPv4"
packet="dst=$p1_mac from=fd00:1::1 to=fd00:2::2" others=$six same=$six_same
fields "router, IPv6"
finish
