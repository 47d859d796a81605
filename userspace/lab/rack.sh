#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# rack: two racks of hosts and a spine, made of network namespaces joined by virtual cables.
#
#	rack-h1  h2  h3  h4            h5  h6  h7  rack-h8     hosts: eth0
#	      |   |   |   |             |   |   |   |          RATE
#	  +-------------------+     +-------------------+
#	  | h1..h4  rack-tor1 |     | h5..h8  rack-tor2 |      Linux bridges
#	  +------spine--------+     +-------spine-------+
#	            \                       /                  CORE_RATE
#	           +-------------------------+
#	           | tor1  rack-spine   tor2 |                 router
#	           +-------------------------+
#
#	rack.sh up [SCHEME]	build it; every port of hosts and switches gets SCHEME (pfifo)
#	rack.sh scheme SCHEME	the same rack with another scheme; counters start anew
#	rack.sh down		take it away
#	rack.sh show		tc -s of every port
#	rack.sh list hosts|switches|ports|addresses
#
# Schemes: pfifo, fq_codel, bfc-single (bfc assign single), bfc. All have the same limit; the first
# two count packets and get as many full frames as the bytes of LIMIT hold.
#
# Settings are taken from the environment:
#	HOSTS=4			per rack
#	RATE=25mbit CORE_RATE=50mbit DELAY=50us RING=1514	of each link and direction
#	LIMIT=280000		bytes that a port may queue
#	LINK=wire		or veth, with tbf in front of the scheme, where there is no wire module
#	GSO=1			segments in one packet of a host; more is cheaper and burstier
#
# Rack r is the network 10.r.0.0/24, host n has 10.r.0.n, the spine 10.r.0.254. Neighbour entries
# are static: no ARP in the measurement. The machine's own namespace is not touched: links are made
# in the spine's and moved from there. With a module that is not installed, set SLUICE_MODDIR, and
# TC_LIB_DIR and IP_LIB_DIR for the plugins of tc and ip.

set -eu

HOSTS=${HOSTS:-4}
RATE=${RATE:-25mbit}
CORE_RATE=${CORE_RATE:-50mbit}
DELAY=${DELAY:-50us}
RING=${RING:-1514}
LIMIT=${LIMIT:-280000}
LINK=${LINK:-wire}
GSO=${GSO:-1}
FRAME=1514
ALL=$(seq 1 $((2 * HOSTS)))
SWITCHES="rack-tor1 rack-tor2 rack-spine"
NAMESPACES="$(printf 'rack-h%s ' $ALL)$SWITCHES"

die() {
	echo "rack: $*" >&2
	exit 1
}

rack_of() {	# HOST: sets $r, as a call in $(...) would cost a process
	r=$((($1 - 1) / HOSTS + 1))
}

mac() {	# KIND RACK NUMBER: sets $mac
	mac=02:00:00:0$1:0$2:$3
	[ "$3" -gt 9 ] || mac=02:00:00:0$1:0$2:0$3
}

list_ports() {	# one "NETNS DEV RATE" per line
	for h in $ALL; do
		rack_of "$h"
		echo "rack-h$h eth0 $RATE"
		echo "rack-tor$r h$h $RATE"
	done
	for r in 1 2; do
		echo "rack-tor$r spine $CORE_RATE"
		echo "rack-spine tor$r $CORE_RATE"
	done
}

list() {	# WHAT: one per line
	case $1 in
	hosts)
		printf 'rack-h%s\n' $ALL ;;
	switches)
		printf '%s\n' $SWITCHES ;;
	addresses)
		for h in $ALL; do
			rack_of "$h"
			echo "10.$r.0.$h"
		done ;;
	ports)
		list_ports ;;
	*)
		die "list: expected hosts, switches, ports or addresses" ;;
	esac
}

# Modules that are not installed but lie in SLUICE_MODDIR are loaded from there.
module() {	# NAME
	[ -d "/sys/module/$1" ] && return
	if [ -n "${SLUICE_MODDIR:-}" ] && [ -e "$SLUICE_MODDIR/$1.ko" ]; then
		insmod "$SLUICE_MODDIR/$1.ko" || die "the kernel refuses $SLUICE_MODDIR/$1.ko"
	else
		modprobe "$1" 2>/dev/null || die "there is no module $1: build and install it," \
			"or set SLUICE_MODDIR to where it is"
	fi
}

link_spec() {	# NAME PEER RATE: a line for ip -batch
	case $LINK in
	wire)	echo "link add $1 type wire rate $3 delay $DELAY ring $RING peer name $2" ;;
	veth)	echo "link add $1 type veth peer name $2" ;;
	*)	die "LINK is wire or veth" ;;
	esac
}

make_links() {
	for h in $ALL; do
		rack_of "$h"
		link_spec "sl-h$h" "sl-t$h" "$RATE"
		mac 0 "$r" "$h"
		echo "link set sl-h$h address $mac gso_max_segs $GSO"
		mac 1 "$r" "$h"
		echo "link set sl-t$h address $mac"
		echo "link set sl-h$h netns rack-h$h name eth0"
		echo "link set sl-t$h netns rack-tor$r name h$h"
	done
	for r in 1 2; do
		link_spec "sl-up$r" "tor$r" "$CORE_RATE"
		echo "link set sl-up$r address 02:00:00:01:0$r:fe"
		echo "link set tor$r address 02:00:00:00:0$r:fe"
		echo "link set sl-up$r netns rack-tor$r name spine"
	done
}

# Sysctls that keep one run from changing the next (route metrics) and the wire silent (IPv6).
set_sysctls() {	# NETNS FORWARD
	ip netns exec "$1" sh -c "cd /proc/sys/net
		for f in ipv6/conf/all/disable_ipv6 ipv6/conf/default/disable_ipv6; do
			[ ! -e \$f ] || echo 1 > \$f
		done
		echo 1 > ipv4/tcp_no_metrics_save
		echo $2 > ipv4/ip_forward"
}

neighbour() {	# HOST DEV: a line for ip -batch
	rack_of "$1"
	mac 0 "$r" "$1"
	echo "neigh add 10.$r.0.$1 lladdr $mac dev $2 nud permanent"
}

setup_host() {	# HOST: lines for ip -batch
	rack_of "$1"
	own=$r
	echo "link set lo up"
	echo "link set eth0 up"
	echo "addr add 10.$own.0.$1/24 dev eth0"
	echo "route add default via 10.$own.0.254"
	echo "neigh add 10.$own.0.254 lladdr 02:00:00:00:0$own:fe dev eth0 nud permanent"
	for other in $ALL; do
		rack_of "$other"
		[ "$other" = "$1" ] || [ "$r" != "$own" ] || neighbour "$other" eth0
	done
}

setup_tor() {	# RACK
	echo "link add br0 type bridge forward_delay 0 mcast_snooping 0"
	echo "link set br0 up"
	for h in $ALL; do
		rack_of "$h"
		[ "$r" = "$1" ] || continue
		echo "link set h$h master br0"
		echo "link set h$h up"
	done
	echo "link set spine master br0"
	echo "link set spine up"
}

setup_spine() {
	for r in 1 2; do
		echo "link set tor$r up"
		echo "addr add 10.$r.0.254/24 dev tor$r"
	done
	for h in $ALL; do
		rack_of "$h"
		neighbour "$h" "tor$r"
	done
}

scheme_spec() {	# SCHEME
	case $1 in
	pfifo)		echo "pfifo limit $((LIMIT / FRAME))" ;;
	fq_codel)	echo "fq_codel limit $((LIMIT / FRAME))" ;;
	bfc-single)	echo "bfc assign single limit $LIMIT" ;;
	bfc)		echo "bfc limit $LIMIT" ;;
	*)		die "scheme $1: expected pfifo, fq_codel, bfc-single or bfc" ;;
	esac
}

# tbf's own delay limit must never bite: the scheme below it is what drops.
port_spec() {	# DEV RATE SPEC: lines for tc -batch
	if [ "$LINK" = veth ]; then
		echo "qdisc add dev $1 root handle 1: tbf rate $2 burst 2k limit 100m"
		echo "qdisc add dev $1 parent 1:1 handle 10: $3"
	else
		echo "qdisc add dev $1 root handle 1: $3"
	fi
}

# tc's commands for all ports of a namespace. The old qdisc goes first: so an option that can not be
# changed is no matter, and the new one's counters begin at 0.
scheme_batch() {	# NETNS SPEC DELETE
	list_ports | while read -r port_ns dev rate; do
		[ "$port_ns" = "$1" ] || continue
		[ -z "$3" ] || echo "qdisc del dev $dev root"
		port_spec "$dev" "$rate" "$2"
	done
}

# A port that somebody has already emptied has nothing to delete: then without it, once more.
set_scheme() {	# SCHEME [fresh]
	spec=$(scheme_spec "$1")
	case $1 in
	bfc*)
		module hopctl
		module sch_bfc ;;
	esac
	for ns in $NAMESPACES; do
		if [ -z "${2:-}" ]; then
			scheme_batch "$ns" "$spec" delete | tc -n "$ns" -batch - 2>/dev/null && continue
			list_ports | while read -r port_ns dev rate; do
				[ "$port_ns" != "$ns" ] || echo "qdisc del dev $dev root"
			done | tc -n "$ns" -force -batch - 2>/dev/null || :
		fi
		scheme_batch "$ns" "$spec" '' | tc -n "$ns" -batch - ||
			die "scheme $1 was refused in $ns"
	done
}

up() {	# SCHEME
	scheme_spec "$1" >/dev/null
	[ ! -e /run/netns/rack-spine ] || die "there is a rack already: rack.sh down"
	[ "$LINK" != wire ] || module wire
	printf 'netns add %s\n' $NAMESPACES | ip -batch -
	for ns in $NAMESPACES; do
		case $ns in
		rack-spine)	set_sysctls "$ns" 1 ;;
		*)		set_sysctls "$ns" 0 ;;
		esac
	done
	make_links | ip -n rack-spine -batch - || die "the links cannot be made"
	for h in $ALL; do
		setup_host "$h" | ip -n "rack-h$h" -batch -
	done
	for r in 1 2; do
		setup_tor "$r" | ip -n "rack-tor$r" -batch -
	done
	setup_spine | ip -n rack-spine -batch -
	set_scheme "$1" fresh
}

down() {
	for ns in $NAMESPACES; do
		[ ! -e "/run/netns/$ns" ] || ip netns del "$ns"
	done
}

show() {
	for ns in $NAMESPACES; do
		echo "== $ns"
		tc -n "$ns" -s qdisc show
	done
}

usage() {
	sed -n '/^#	rack.sh/s/^#	/usage: /p' "$0"
}

case ${1:-} in
up)	up "${2:-pfifo}" ;;
scheme)	[ $# -ge 2 ] || { usage >&2; exit 2; }
	set_scheme "$2" ;;
down)	down ;;
show)	show ;;
list)	list "${2:-}" ;;
*)	usage >&2; exit 2 ;;
esac
