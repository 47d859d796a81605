#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowsail keeps each flow in order, whatever happens: flows are held and go to isolation and back, rates, thresholds and losses
# change, and switches' qdiscs are replaced, at random times. What is sent is known byte for byte (udpflow.c), and the wires reorder
# nothing.
#
# $SLUICE_ORDER: packets, in thousands (100), and up to four times as many if by chance too little has happened to flows.
# $SLUICE_ORDER_SEED: of what happens (1).

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc bridge jq
load_modules
need_module sch_flowsail
udpflow=$(dirname "$0")/udpflow
need_virtual_time

PACKETS=$((${SLUICE_ORDER:-100} * 1000))
RANDOM=${SLUICE_ORDER_SEED:-1}
FLOWS=8		# to either host
BURST=250	# packets of each in a round
LENGTH=400
work=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$work"; _at_exit' EXIT

#	h:p ===1G=== s:q [ bridge ] s:r ===1G=== c:t [ bridge ] c:u ---100M to 1G--- y:e, of 10.0.0.2
#	                                                        c:v ------1G-------- z:e, of 10.0.0.3
ns h s c y z
for box in s c; do
	ip_in $box link add br0 type bridge mcast_snooping 0
	ip_in $box link set br0 up
done
cable 5us h p 1gbit s q
cable 5us s r 1gbit c t
cable 5us c u 300mbit y e
cable 5us c v 1gbit z e
for port in s:q s:r c:t c:u c:v; do
	ip_in ${port%:*} link set dev ${port#*:} master br0
done
ip_in h addr add 10.0.0.1/24 dev p
ip_in y addr add 10.0.0.2/24 dev e
ip_in z addr add 10.0.0.3/24 dev e
fresh()
{
	tc_in "${1%:*}" qdisc del dev "${1#*:}" root 2>/dev/null
	case $1 in
	h:p) sail h p host switch ;;
	s:q | c:v) sail ${1%:*} ${1#*:} switch host queues 2 ;;
	c:u) sail c u switch host queues $((RANDOM % 4 + 1)) ql 8000 qh 20000 ;;
	c:t) sail c t switch switch queues 2 ;;
	s:r) sail s r switch switch queues $((RANDOM % 4 + 1)) isolation "$(one_of 1 1 2 flow)" slots "$(one_of 4 16 64)" ql 8000 qh 20000 ;;
	esac
}
one_of() { local all=("$@"); echo "${all[RANDOM % $#]}"; }
for port in h:p s:q s:r c:t c:u c:v; do
	fresh $port
done
check "h tags" wait_until -e 100 10 tags h p
check "s tags" wait_until -e 100 10 tags s r

# What may happen between packets
happens()
{
	case $((RANDOM % 9)) in
	0 | 1) ip_in c link set dev u type wire rate "$(one_of 100 300 1000)mbit" ;;
	2) ip_in s link set dev q type wire loss_control "$(one_of 0 10 50)%" ;;
	3) ip_in c link set dev t type wire loss_control "$(one_of 0 10 50)%" ;;
	4) ip_in s link set dev r type wire loss_data "$(one_of 0 0 1)%" ;;
	5) tc_in s qdisc change dev r root flowsail ql "$(one_of 2000 8000 15000)" resume "$(one_of none 50% 100%)" lone "$(one_of low high)" ;;
	6) tc_in c qdisc change dev u root flowsail resume "$(one_of none 50% 100%)" "$(one_of pause pause nopause)" limit "$(one_of 8m 30k)" ;;
	7) [ $((RANDOM % 8)) -gt 0 ] || fresh "$(one_of s:r c:u s:q)" ;;
	8) [ $((RANDOM % 8)) -gt 0 ] || ! ip_in c link set dev t down || ip_in c link set dev t up ;;
	esac
}

for host in y z; do
	in_ns $host "$udpflow" sink --ports 1 --idle 3s --timeout 1000s --json >"$work/$host" &
done
rounds=$((PACKETS / (2 * FLOWS * BURST)))
least=$((rounds / 8 + 1))
declare -A sum=()
rate=
congest()
{
	rate=400
	fresh s:r
	fresh c:u
	wait_until -e 100 10 tags s r || fail "round $round: s does not tag"
	ip_in c link set dev u type wire rate 100mbit
}
enough() { local key; for key in held isolated released waits; do [ "${sum[$key]:-0}" -ge $least ] || return 1; done; }
for ((round = 0; round < 4 * rounds; round++)); do
	# What is drawn decides whether flows are ever held. If it was too seldom, y is slow in the rounds that follow, and in each
	# the two switches know each other when it begins.
	[ "$round" -lt $rounds ] || { ! enough || break; congest; }
	for host in 2 3; do
		in_ns h "$udpflow" send --dest 10.0.0.$host --flows $FLOWS --id $(((2 * round + host - 2) * FLOWS % 60000)) --sport $((5000 + host * 100)) \
			--packets $BURST --length $LENGTH --rate "${rate:-$(one_of 5 20 100 400)}m" >/dev/null &
		senders[host]=$!
	done
	while kill -0 "${senders[2]}" 2>/dev/null || kill -0 "${senders[3]}" 2>/dev/null; do
		sleep 0.00$((RANDOM % 9 + 1))
		happens
	done
	wait "${senders[@]}" || fail "round $round: a sender"
	# counters are those of the qdiscs that there are now
	figs s r pauses_obeyed assign_isolated released order_waits
	read -r a b c d <<<"$REPLY"
	sum[held]=$((${sum[held]:-0} + (a > 0))) sum[isolated]=$((${sum[isolated]:-0} + (b > 0)))
	sum[released]=$((${sum[released]:-0} + (c > 0))) sum[waits]=$((${sum[waits]:-0} + (d > 0)))
done
ip_in c link set dev u type wire rate 1gbit
for port in s:q s:r c:t; do
	ip_in ${port%:*} link set dev ${port#*:} type wire loss_control 0% loss_data 0%
done
wait
for key in held isolated released waits; do
	between "rounds in which flows were $key" "${sum[$key]}" $least $round
done
for host in y z; do
	between "$host: packets arrive" "$(jq .packets "$work/$host")" $((round * FLOWS * BURST / 2)) $((round * FLOWS * BURST))
	is "$host: none out of order, twice or damaged" "$(jq -c '[([.flows[].reordered] | add), ([.flows[].duplicate] | add), .corrupt]' "$work/$host")" "[0,0,0]"
done
quiet() { figs_are h p paused flows backlog "0 0 0" && figs_are s r paused flows backlog "0 0 0" && figs_are c u marked flows "0 0"; }
check "nothing is left" wait_until -e 100 20 quiet
finish
