#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The user's packet through a router between bfc ports: IPv4 and IPv6, TCP with GSO on and off at
# the sender and split or not by bfc, over frames of 1500 and of 9000 bytes.
#
#	10.0.1.0/24	 h1 eth0 --- p1 sw p2 --- eth0 h2	10.0.2.0/24
#	fd00:1::/64					  fd00:2::/64
#
# over wire (where the card may be given TCP segmentation) and over veth (which hands GSO packets
# on whole, with checksums still to be filled in, and joins what it receives).

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
need_tool ethtool

address()
{
	in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
			echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	ip_in h1 addr add 10.0.1.1/24 dev eth0
	ip_in h2 addr add 10.0.2.2/24 dev eth0
	ip_in sw addr add 10.0.1.254/24 dev p1
	ip_in sw addr add 10.0.2.254/24 dev p2
	ip_in h1 addr add fd00:1::1/64 dev eth0 nodad
	ip_in h2 addr add fd00:2::2/64 dev eth0 nodad
	ip_in sw addr add fd00:1::254/64 dev p1 nodad
	ip_in sw addr add fd00:2::254/64 dev p2 nodad
	ip_in h1 route add default via 10.0.1.254
	ip_in h2 route add default via 10.0.2.254
	ip_in h1 route add default via fd00:1::254
	ip_in h2 route add default via fd00:2::254
	neigh h1 eth0 10.0.1.254 "$p1_mac"
	neigh h1 eth0 fd00:1::254 "$p1_mac"
	neigh h2 eth0 10.0.2.254 "$p2_mac"
	neigh h2 eth0 fd00:2::254 "$p2_mac"
	neigh sw p1 10.0.1.1 "$h1_mac"
	neigh sw p1 fd00:1::1 "$h1_mac"
	neigh sw p2 10.0.2.2 "$h2_mac"
	neigh sw p2 fd00:2::2 "$h2_mac"
}

# build NAME KIND MTU
build()
{
	SW_IPV6=0 paths_build "$2" "$3"
	address
	paths_bfc
	check "$1: all four ports tag" paths_tagging
}

datagrams()
{
	paths_from h1 h2
	paths_udp "$1: IPv4" 200 10.0.2.2
	paths_udp "$1: IPv4, full-size packets" 200 10.0.2.2 --length $(($2 - 28))
	paths_udp "$1: IPv6" 200 fd00:2::2
	paths_udp "$1: IPv6, full-size packets" 200 fd00:2::2 --length $(($2 - 48))
	paths_labels "$1"
}

# segments card|stack|socket: who cuts TCP's data into frames, unless bfc does
segments()
{
	local on=on segs=65535

	[ "$1" = card ] || on=off
	[ "$1" != socket ] || segs=1
	in_ns h1 ethtool -K eth0 tso $on gso $on || fail "ethtool -K"
	ip_in h1 link set eth0 gso_max_segs $segs || fail "gso_max_segs"
}

# tcp NAME card|stack|socket OPTION-OF-HOSTS OPTION-OF-SW: 300 KB twice over IPv4, then over IPv6
tcp()
{
	local name="$1: TCP, $2 segments, $3, sw $4" gso='' split

	segments "$2"
	paths_bfc "$3" "$4"
	[ "$2" = socket ] || [ "$3" = split-gso ] || gso=1
	paths_from h1 h2
	paths_tcp "$name" 300000 10.0.2.2
	paths_tcp "$name, IPv6" 300000 fd00:2::2
	sent=$((gso ? 10 : 1200000 / mtu))
	cp "$PATHS_TMP/before" "$PATHS_TMP/first"
	paths_labels "$name" "$gso"
	mv "$PATHS_TMP/before" "$PATHS_TMP/now"
	mv "$PATHS_TMP/first" "$PATHS_TMP/before"
	split=$(paths_moved '[d("h1/eth0"; "gso_split"), d("sw/p2"; "gso_split")] | map(. > 0)')
	is "$name: does h1, does sw split GSO packets" "$split" "$5"
}

for kind in wire veth; do
	for mtu in 1500 9000; do
		name="$kind, MTU $mtu"
		build "$name" $kind $mtu
		datagrams "$name" $mtu
		tcp "$name" card split-gso split-gso "[true,false]"
		tcp "$name" card no-split-gso split-gso "[false,true]"
		tcp "$name" card no-split-gso no-split-gso "[false,false]"
		if [ $mtu = 1500 ]; then
			tcp "$name" stack no-split-gso split-gso "[false,false]"
			tcp "$name" socket split-gso split-gso "[false,false]"
		fi
		paths_done "$name"
	done
done
finish
