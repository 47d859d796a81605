#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What makes a box a switch, which pauses its neighbours.
#
#	h1 eth0 =====1G===== p1 sw p2 -----100M----- eth0 h2
#
# A host pauses nobody. A box whose namespace or device forwards IPv4 or IPv6 is a switch, either of the two
# alone, and so is the port of a bridge. One that forwards IPv6 and nothing else then pauses h1 as any
# switch does: nothing is lost in front of the slow line.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
trap 'rm -rf "$PATHS_TMP"; _at_exit' EXIT
FAST=1gbit SLOW=100mbit
[ "${SLUICE_HOME:-}" = uml ] || { FAST=20mbit SLOW=5mbit; }
PATHS_CABLE="rate $FAST delay 2us ring 3k"
SW_IPV6=0 paths_build wire
for port in $PATHS_PORTS; do
	tc_in "${port%/*}" qdisc replace dev "${port#*/}" root handle 1: bfc limit 300k || die "no bfc"
done
tc_in h1 qdisc change dev eth0 root bfc limit 10m

# forwards FILE VALUE: below /proc/sys/net
forwards() { in_ns sw sh -c "echo $2 >/proc/sys/net/$1" || die "no $1"; }

# role_is ROLE: p1's. It is looked at with each HELLO.
role_is() { port_is sw p1 role "$1"; }

forwards ipv4/ip_forward 0
forwards ipv6/conf/all/forwarding 0
check "a box that forwards nothing is a host" paths_wait 5 role_is host
for file in ipv6/conf/all/forwarding ipv6/conf/p1/forwarding ipv4/ip_forward ipv4/conf/p1/forwarding; do
	forwards $file 1
	check "with $file it is a switch" paths_wait 5 role_is switch
	forwards $file 0
	check "and without a host again" paths_wait 5 role_is host
done
for family in ipv6 ipv4; do
	forwards $family/conf/all/forwarding 1
	forwards $family/conf/p1/forwarding 0
	sleep 0.5
	check "$family: where the namespace forwards it is one, whatever the device does" role_is switch
	forwards $family/conf/all/forwarding 0
	check "$family: and then not" paths_wait 5 role_is host
done
forwards ipv6/conf/p2/forwarding 1
sleep 0.5
check "what another device forwards does not count" role_is host
forwards ipv6/conf/p2/forwarding 0
paths_bridge sw br0 p1
check "the port of a bridge is a switch's" paths_wait 5 role_is switch
ip_in sw link del br0
check "and is not when it has left" paths_wait 5 role_is host

diag "IPv6 is forwarded, IPv4 is not"
ip_in sw link set p2 type wire rate $SLOW
ip_in h1 addr add fd00:1::1/64 dev eth0 nodad
ip_in h2 addr add fd00:2::2/64 dev eth0 nodad
ip_in sw addr add fd00:1::254/64 dev p1 nodad
ip_in sw addr add fd00:2::254/64 dev p2 nodad
ip_in h1 route add default via fd00:1::254
ip_in h2 route add default via fd00:2::254
neigh h1 eth0 fd00:1::254 "$p1_mac"
neigh sw p2 fd00:2::2 "$h2_mac"
forwards ipv6/conf/all/forwarding 1
check "h1 tags" paths_wait 10 port_in h1 eth0 tagging
dropped=$(qdisc_stat sw p2 drops)
paths_from h1 h2
paths_sink sink --expect 2000 --timeout 20s
paths_send send --dest fd00:2::2 --packets 2000 --length 1000 --sndbuf 16m
paths_arrived "2000 packets arrive, six times what may wait"
is "none was dropped" $(($(qdisc_stat sw p2 drops) - dropped)) 0
between "h1 was paused" "$(port_stat sw p1 pauses_tx)" 1 100000
finish
