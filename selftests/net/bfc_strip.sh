#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Who sees the fabric tag besides bfc: tc classifiers on the way in and XDP stand before the hook that takes
# it off. A switch does not tag towards a host; and a port with such filters does not offer to take tags off, so
# the neighbour stops, and until it has, tags are taken off as before.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	over wire
#
# Filters count what they see, by EtherType.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
BPFPASS=$PATHS_DIR/bpfpass

paths_build wire
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"

# watched NS DEV: filters there, pref 1 for tagged frames, pref 2 for IPv4
watched()
{
	tc_in "$1" qdisc add dev "$2" clsact 2>/dev/null
	tc_in "$1" filter add dev "$2" ingress pref 1 protocol 802.1ad matchall action pass ||
		skip_all "no tc filters"
	tc_in "$1" filter add dev "$2" ingress pref 2 protocol ip matchall action pass ||
		skip_all "no tc filters"
}

# saw NS DEV PREF: frames
saw()
{
	filter_stat "$1" "$2" ingress packets "$3"
}

# stream NAME N: a frame each millisecond; none may be lost
stream()
{
	paths_from h1 h2
	paths_sink sink --expect "$2" --timeout 20s --idle 3s
	ip netns exec "$NS-h1" "$UDPFLOW" send --dest 10.0.0.2 --packets "$2" --rate 8m \
		>"$PATHS_TMP/sent" 2>&1 &
	streaming=$!
	streamed=$1
}

stream_ends()
{
	wait "$streaming"
	paths_arrived "$streamed: no frame is lost"
}

for port in h1/eth0 sw/p1 sw/p2 h2/eth0; do
	options="role host"
	[ "${port%/*}" != sw ] || options="th 1"
	# shellcheck disable=SC2086
	tc_in "${port%/*}" qdisc replace dev "${port#*/}" root handle 1: bfc $options || die "no bfc"
done

diag "a switch does not tag towards a host"
check "the host tags" paths_wait 10 port_in h1 eth0 tagging
check "the switch says that the neighbour is a host" paths_wait 10 port_in sw p2 host
watched h2 eth0
stream "to a host" 500
stream_ends
is "what filters there see has no tag" "$(saw h2 eth0 1),$(saw h2 eth0 2)" 0,500
is "nor was one taken off" "$(port_stat h2 eth0 tag_stripped)" 0
is "pauses work: the switch knows where frames came from" \
   "$(qdisc_stat sw p2 over_unlabelled bfc)" 0
tc_in sw qdisc change dev p2 root bfc peer switch
tc_in h2 qdisc change dev eth0 root bfc strip always
check "one that is said to be a switch gets tags" paths_wait 10 port_in sw p2 tagging
tc_in sw qdisc change dev p2 root bfc peer auto
check "one that is not, none" paths_wait 10 port_in sw p2 host

diag "filters on the way into a switch"
tc_in sw qdisc add dev p1 clsact
tc_in sw filter add dev p1 egress pref 1 protocol ip matchall action continue
sleep 0.5
is "one on the way out is none" "$(port_stat sw p1 ingress_filter),$(port_stat h1 eth0 state)" \
   false,tagging
stream "a filter comes" 2000
sleep 0.5
watched sw p1
check "the neighbour is told and stops" paths_wait 3 port_in h1 eth0 no_strip
is "the switch says why" "$(port_stat sw p1 ingress_filter)" true
sleep 0.2
tagged=$(saw sw p1 1) plain=$(saw sw p1 2)
stream_ends
is "from then on filters see what they are for" "$(($(saw sw p1 1) - tagged))" 0
between "all of it" "$(($(saw sw p1 2) - plain))" 500 2000
between "and it is known what they cannot have seen" "$(port_stat sw p1 tag_unseen)" \
	"$(saw sw p1 1)" 400
stream "a filter goes" 2000
sleep 0.3
tc_in sw filter del dev p1 ingress
check "the neighbour tags again" paths_wait 10 port_in h1 eth0 tagging
is "no filter" "$(port_stat sw p1 ingress_filter)" false
unseen=$(port_stat sw p1 tag_unseen)
stream_ends
is "nothing is unseen without one" "$(port_stat sw p1 tag_unseen)" "$unseen"
tc_in sw qdisc del dev p1 clsact

diag "strip always"
tc_in sw qdisc change dev p1 root bfc strip always
watched sw p1
stream "strip always" 1000
sleep 0.5
is "the neighbour goes on" "$(port_stat h1 eth0 state),$(port_stat sw p1 ingress_filter)" tagging,true
stream_ends
is "the filters see no IPv4" "$(saw sw p1 2)" 0
between "but tags, of the probes too" "$(saw sw p1 1)" 1000 1100
between "and it is counted" "$(($(port_stat sw p1 tag_unseen) - unseen))" 1000 1300
tc_in sw qdisc change dev p1 root bfc strip auto
check "auto again: it stops" paths_wait 3 port_in h1 eth0 no_strip
tc_in sw qdisc del dev p1 clsact
check "and without filters tags again" paths_wait 10 port_in h1 eth0 tagging

# program HOOK: a BPF program on p1 for as long as $program runs
program()
{
	: >"$PATHS_TMP/bpf"	# of the one before
	ip netns exec "$NS-sw" "$BPFPASS" "$1" p1 >"$PATHS_TMP/bpf" 2>&1 &
	program=$!
	wait_until 5 attached_or_gone
	attached
}

attached() { [[ $'\n'$(<"$PATHS_TMP/bpf")$'\n' == *$'\nattached\n'* ]]; }
attached_or_gone() { attached || ! kill -0 "$program" 2>/dev/null; }

for hook in xdp tcx; do
	diag "a BPF program: $hook"
	if ! program $hook; then
		kill "$program" 2>/dev/null
		wait "$program"
		skip "$hook" "this kernel cannot"
		continue
	fi
	if [ $hook = xdp ]; then
		check "$hook: the neighbour stops" paths_wait 3 port_in h1 eth0 no_strip
	else
		sleep 0.5
		is "$hook on the way out is no filter" "$(port_stat h1 eth0 state)" tagging
	fi
	kill "$program"
	wait "$program" 2>/dev/null
	check "$hook: without it it tags" paths_wait 10 port_in h1 eth0 tagging
done

finish
