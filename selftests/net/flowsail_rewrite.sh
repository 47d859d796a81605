#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Flows that are rewritten in a box, between its receive hook and its qdisc, so that they have another id there than upstream, or
# several have one: the slots that upstream gave them are held, those of other flows are not, all comes in order, and at the end
# nothing is held.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc bridge jq
need_program udpflow
: "${udpflow:?}"	# set by need_program
load_modules
need_module sch_flowsail
need_virtual_time

FLOWS=4		# to either host
PACKETS=200	# of each
work=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$work"; _at_exit' EXIT

#	h:p ===1G=== s:q [ bridge ] s:r ===1G=== c:t [ router ] c:u --100M-- y:e, of 10.1.0.2
#	                                                        c:v ---1G--- z:e, of 10.2.0.2
ns h s c y z
for box in h s c y z; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6" 2>/dev/null
done
ip_in s link add br0 type bridge mcast_snooping 0
ip_in s link set br0 up
cable 5us h p 1gbit s q
cable 5us s r 1gbit c t
cable 5us c u 100mbit y e
cable 5us c v 1gbit z e
ip_in s link set dev q master br0
ip_in s link set dev r master br0
in_ns c sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
ip_in h addr add 10.0.0.1/24 dev p
ip_in c addr add 10.0.0.254/24 dev t
ip_in c addr add 10.1.0.1/24 dev u
ip_in c addr add 10.2.0.1/24 dev v
ip_in y addr add 10.1.0.2/24 dev e
ip_in z addr add 10.2.0.2/24 dev e
ip_in h route add default via 10.0.0.254
for host in y:1 z:2; do
	ip_in ${host%:*} route add default via 10.${host#*:}.0.1
done
sails queues 2 ql 15000 qh 60000

first=0 slots=yes ends=pipe
# run NAME AT_U [ADDRESS]: flows to both hosts; those to y, and no others, are held at s:r, where they are AT_U flows at c:u.
# ADDRESS is one of y. $slots no: none is held, since the packets have lost their slots
run()
{
	local host senders=() sinks=() most=0 most_u=0 at_u
	local dest=${3:-10.1.0.2}

	figs c u over_unlabelled; at_u=$REPLY
	for host in y z; do
		in_ns $host "$udpflow" sink --expect $((FLOWS * PACKETS)) --idle 2s --timeout 10s --json >"$work/$host" &
		sinks[${#sinks[@]}]=$!
	done
	for host in "$dest" 10.2.0.2; do
		in_ns h "$udpflow" send --dest "$host" --flows $FLOWS --id $first --sport $((5000 + first)) --packets $PACKETS --length 958 \
			--rate 100m --sndbuf 100000 >/dev/null &
		first=$((first + FLOWS))
		senders[${#senders[@]}]=$!
	done
	while kill -0 "${senders[@]}" 2>/dev/null || ! figs_are c u backlog 0; do
		figs s r paused; most=$((REPLY > most ? REPLY : most))
		figs c u flows; most_u=$((REPLY > most_u ? REPLY : most_u))
		sleep 0.0005
	done
	wait "${senders[@]}" "${sinks[@]}"
	is "$1: flows held upstream at a time, of twice as many" $most $([ "$slots" = no ] && echo 0 || echo $FLOWS)
	is "$1: flows that they are where they wait" $most_u "$2"
	figs c u over_unlabelled
	between "$1: packets that would hold a flow, and have no slot" $((REPLY - at_u)) \
		$([ "$slots" = no ] && echo 1 $((FLOWS * PACKETS)) || echo 0 0)
	figs c v marks
	is "$1: others hold nobody" "$REPLY" 0
	for host in y z; do
		is "$1: what comes to $host, out of order, twice, damaged" "$(jq -c '[.packets, ([.flows[].reordered] | add), ([.flows[].duplicate] | add), .corrupt]' "$work/$host")" "[$((FLOWS * PACKETS)),0,0,0]"
	done
	check "$1: nothing is left" wait_until -e 100 20 rest
}
# edited NAME AT_U BOX DEV PEDIT...: the same with pedit in clsact, of the UDP packets that leave there; the filter ends with $ends
edited()
{
	tc_in "$3" qdisc add dev "$4" clsact && tc_in "$3" filter add dev "$4" egress protocol ip u32 match ip protocol 17 0xff \
		action pedit ex munge "${@:5}" $ends || die "no pedit"
	run "$1" "$2"
	between "$1: packets that were" "$(filter_stat "$3" "$4" egress packets)" $((FLOWS * PACKETS)) $((2 * FLOWS * PACKETS))
	tc_in "$3" qdisc del dev "$4" clsact
}

run "as it is" $FLOWS
edited "another address" $FLOWS c u ip src set 9.0.1.1	# with the checksum of 10.0.0.1
slots=no ends=ok edited "an end with ok, which erases the slot" $FLOWS c u ip src set 9.0.1.1
edited "one flow of all" 1 c u udp sport set 7777
edited "another port upstream, before its qdisc" $FLOWS s r udp sport add 1000

# The outer flow is one, and its packets have nothing of the device that they came by
ip_in c link add g type gre local 10.1.0.1 remote 10.1.0.2 && ip_in c link set g up &&
	ip_in c route add 10.3.0.2/32 dev g || die "no tunnel"
ip_in y link add g type gre local 10.1.0.2 remote 10.1.0.1 && ip_in y link set g up &&
	ip_in y addr add 10.3.0.2/32 dev g || die "no end of the tunnel"
run "into a tunnel" 1 10.3.0.2
figs c u handle_forged
is "into a tunnel: slots that are not believed" "$REPLY" 0
finish
