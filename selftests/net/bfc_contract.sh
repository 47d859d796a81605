#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What bfc (or KIND: pfc, floodgate, flowsail) owes to its parents and to the kernel: sizes at the ends of their ranges, counts that
# a parent can trust when packets are dropped in enqueue, in dequeue and by a change, and refusals of
# what it cannot be.
#
#	bfc_contract.sh [KIND]
#
#	a:p ---- b:q		wire
#
# A parent counts a packet that it handed down if it was told SUCCESS, and must be told of every
# other change. If it is not, packets stay in its counts that nobody has; or it waits for packets
# that it does not know, and the link stands still. Bursts are sent at once, so the sums are exact.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
kind=${1:-bfc}
case $kind in
bfc) our="bfc" ;;
pfc) our="pfc pool 1g" && need_module sch_pfc ;;
floodgate) our="floodgate" && need_module sch_floodgate ;;
flowsail) our="flowsail" && need_module sch_flowsail ;;
*) die "no kind $kind" ;;
esac
tcmsg=$PATHS_DIR/tcmsg
gsosend=$PATHS_DIR/gsosend
[ -x "$tcmsg" ] && [ -x "$gsosend" ] || skip_all "tcmsg or gsosend is not built (make -C selftests)"
ns a b
for end in a b; do
	in_ns $end sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
from=a to=b sent=0

# line RATE
line()
{
	ip_in a link del p 2>/dev/null
	ip_in a link add p address "$(mac 1)" type wire rate "$1" delay 2us \
		peer name q address "$(mac 2)" || die "no wire"
	ip_in a link set q netns "$NS-b"
	ip_in a link set p up
	ip_in b link set q up
	ip_in a addr add 10.0.0.1/24 dev p
	ip_in b addr add 10.0.0.2/24 dev q
	neigh a p 10.0.0.2 "$(mac 2)"
	neigh b q 10.0.0.1 "$(mac 1)"
}

tcs() { tc -n "$NS-a" -batch - <<<"$1" || die "tc: $1"; }
# each_counts: sets REPLY to kind, packets and bytes of each qdisc
each_counts()
{
	local qdisc qdiscs said=

	qdiscs_of a p
	qdiscs_in "$REPLY"
	for qdisc in "${qdiscs[@]}"; do
		figures_in "$qdisc" qlen backlog
		said+="${said:+, }${qdisc%%\"*} $REPLY"
	done
	REPLY=$said
}

diag "sizes"
line 1gbit
# stab CELL_LOG SIZE_LOG OVERHEAD ENTRY...: a size table as tc would not make it
stab()
{
	local entry n=$(($# - 3)) data=

	for entry in "${@:4}"; do
		data+=$(printf '%02x%02x' $((entry & 255)) $((entry >> 8)))
	done
	printf '8+{ 1=hex:%02x%02x0000' "$1" "$2"
	for entry in "$3" 0 0 0 "$n"; do
		printf '%02x%02x%02x%02x' $((entry & 255)) $((entry >> 8 & 255)) \
			$((entry >> 16 & 255)) $((entry >> 24 & 255))
	done
	[ "$n" = 0 ] || printf ' 2=hex:%s' "$data"
	echo " }"
}

declare -A ends=([bfc]="queues 1
queues 2 flows 1 ways 1
queues 2 flows 4
queues 4093 flows 1 ways 1
queues 4094
flows 4194303 queues 1 ways 1
flows 4194304
classes 8 queues 4088
limit 1073741823
limit 1073741824
limit 2000000 th 1
quantum 256
quantum 257
quantum 1073741823
quantum 1073741824
th 1
th 1073741823
th 1073741824
th-scale 1
th-scale 10000 rate 8tbit hrtt 100ms
th-scale 1 rate 1kbit hrtt 100ns
sticky 1ns
sticky 1s reuse empty
assign single
assign stochastic" [pfc]="limit 2000000
limit 1073741824
pool-alpha 1000% pool-pause-alpha 0.01%
kmin 1 kmax 1073741824 pmax 0.01%
kmax 1 pmax 100%
kmin 1073741824 kmax 1073741824
control-share 0.01%
rate 1kbit" [floodgate]="limit 2000000
limit 1073741824
pool 1g pool-alpha 1000%
pool 1g pool-alpha 0.02%
window 1
window 1073741824
window-factor 0.01%
window-factor 1000% hrtt 100ms rate 8tbit
window-scope port serve through
slots 1
slots 4094
credit-interval 1us
credit-interval 1s credit-threshold 1
credit-threshold 1073741824
kmin 1 kmax 1073741824 pmax 0.01%
kmax 1 pmax 100%
telemetry 65535
control-share 0.01%
rate 1kbit" [flowsail]="queues 1 isolation 1
queues 1 isolation flow slots 1
queues 2048 isolation 64 slots 1984
isolation 64 slots 4024
isolation flow slots 4088
slots 1
limit 2000000
limit 1073741824
pool 1g pool-alpha 1000%
pool 1g pool-alpha 0.02%
quantum 256
quantum 257
quantum 1073741823
quantum 1073741824
ql 1 qh 1
ql 1 qh 1073741824
ql 1073741824 qh 1073741824
ql-scale 0.01% qh-scale 0.01%
ql-scale 1000% qh-scale 1000% rate 8tbit hrtt 100ms
ql-scale 0.01% rate 1kbit hrtt 100ns
lone high
kmin 1 kmax 1073741824 pmax 0.01%
kmax 1 pmax 100%
control-share 0.01%
rate 1kbit")
tables="$(stab 0 0 2147483647)
$(stab 0 0 -2147483648)
$(stab 0 0 -1)
$(stab 0 30 0 1)
$(stab 0 30 0 65535)
$(stab 0 16 0 65535 65535)
$(stab 30 0 0 0)
$(stab 0 0 1000 0)"

declare -A small=([bfc]="TCA_BFC_QUANTUM=u32:256 TCA_BFC_LIMIT=u32:0x40000000"
	[pfc]="TCA_PFC_POOL=u32:0x40000000 TCA_PFC_LIMIT=u32:0x40000000"
	[floodgate]="TCA_FLOODGATE_LIMIT=u32:0x40000000"
	[flowsail]="TCA_FLOWSAIL_QUANTUM=u32:256 TCA_FLOWSAIL_LIMIT=u32:0x40000000")
for mtu in 68 1500 65535; do
	ip_in a link set p mtu $mtu
	ip_in b link set q mtu $mtu
	length=$((mtu - 28))
	[ $mtu -lt 65535 ] || length=65507
	mapfile -t lines <<<"${ends[$kind]}"
	paths_sink sink --expect $((${#lines[@]} * 20)) --timeout 5s --idle 5s
	for words in "${lines[@]}"; do
		tcs "qdisc replace dev p root handle 1: pfifo
		     qdisc replace dev p root handle 2: $our $words"
		paths_send send --dest 10.0.0.2 --packets 20 --length $length
		sleep 0.02
	done
	paths_arrived "MTU $mtu: every packet passes, with each option at an end of its range"

	stays=
	tc_in a qdisc del dev p root
	mapfile -t lines <<<"$tables"
	for table in "${lines[@]}"; do
		# shellcheck disable=SC2086
		"$tcmsg" -n "$NS-a" send add p TCA_KIND=str:$kind $table "TCA_OPTIONS{" \
			${small[$kind]} "}" || fail "$kind with a size table" "$table"
		paths_send send --dest 10.0.0.2 --packets 20 --length $length
		sleep 0.02
		each_counts
		[ "$REPLY" = "$kind 0 0" ] || stays+="$table "
		tc_in a qdisc del dev p root
	done
	is "MTU $mtu: size tables after which packets stay" "$stays" ""
done

diag "parents"
line 10mbit
ip_in a link set p mtu 1500

# parent KIND OPTIONS: commands that put one above ours, which is 2:
parent()
{
	local root="qdisc add dev p root handle 1:" class="class add dev p parent 1: classid 1:1"
	local at=1:1

	case $1 in
	tbf) echo "$root tbf rate 9mbit burst 10k latency 10s" ;;
	prio) echo "$root prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" ;;
	red) echo "$root red limit 1m min 900k max 950k avpkt 1000 burst 1000 probability 0.01" ;;
	htb)
		echo "$root htb default 1"
		echo "$class htb rate 9mbit quantum 1514" ;;
	hfsc)
		echo "$root hfsc default 1"
		echo "$class hfsc sc rate 9mbit" ;;
	drr) echo "$root drr" && echo "$class drr quantum 1514" ;;
	qfq) echo "$root qfq" && echo "$class qfq weight 1 maxpkt 2048" ;;
	ets) echo "$root ets bands 2 quanta 1514 1514 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" ;;
	esac
	case $1 in
	drr|qfq) echo "filter add dev p parent 1: matchall flowid 1:1" ;;
	esac
	echo "qdisc add dev p parent $at handle 2: $our $2"
}

# ours KEY...: sets REPLY to figures of our qdisc
ours()
{
	local qdiscs

	qdiscs_of a p
	qdiscs_in "$REPLY" $kind
	figures_in "${qdiscs[0]-}" "$@"
}

# agree NAME: the parent counts what ours does. It is looked at first, and where time goes by, a packet may leave in between.
agree()
{
	local us

	if [ "${SLUICE_HOME:-}" = uml ]; then
		same_counts
	else
		wait_until -e 10 1 same_counts
	fi
	is "$1" "$REPLY" "$above $us, $kind $us"
}
same_counts() { each_counts; us=${REPLY##*", $kind "}; [ "$REPLY" = "$above $us, $kind $us" ]; }

# all_come NAME N: what did not arrive of N was dropped; sets `arrived`
all_come()
{
	arrived=$(<"$PATHS_TMP/sink")
	figure_in "${arrived#\{}" packets
	arrived=$REPLY
	ours drops
	is "$1: what did not arrive was dropped" $((arrived + REPLY)) "$2"
}
none_counted() { each_counts; [[ $REPLY == *" 0 0, "*" 0 0" ]]; }

# left NAME: packets on their way leave, and none stays counted that nobody has
left()
{
	wait_until -e 100 3 none_counted
	is "$1: nothing is left" "$REPLY" "$above 0 0, $kind 0 0"
}

declare -A queues=([bfc]=" queues 64" [pfc]="" [floodgate]=" slots 64" [flowsail]=" queues 8 slots 64")
parents="tbf prio red htb hfsc drr qfq ets"
for above in $parents; do
	tc_in a qdisc del dev p root 2>/dev/null
	# four flows, so that it is mostly another flow's packet that is dropped
	tcs "$(parent $above "limit 30000${queues[$kind]}")"
	paths_sink sink --flows 4 --idle 1s --timeout 5s
	paths_send send --dest 10.0.0.2 --flows 4 --packets 50 --length 500 --sndbuf 1m
	agree "$above: counts after drops in enqueue"
	tcs "qdisc change dev p parent 1:1 handle 2: $kind limit 9000"
	agree "$above: counts after the limit went down"
	tcs "qdisc change dev p parent 1:1 handle 2: $kind limit 1"
	agree "$above: counts after it went to one byte"
	paths_send send --dest 10.0.0.2 --flows 1 --packets 5 --length 500
	tcs "qdisc change dev p parent 1:1 handle 2: $kind limit 1m"
	paths_send send --dest 10.0.0.2 --flows 1 --packets 50 --length 500 --sndbuf 1m
	wait "$_sink"
	all_come "$above" 255
	between "$above: after the limit went up, all arrive" "$arrived" 50 254
	left "$above"
done

diag "a part of a GSO packet is dropped"
line 1gbit
# One datagram of 20 segments. What is left of it has to leave by itself: nothing else comes.
for above in $parents; do
	tc_in a qdisc del dev p root 2>/dev/null
	tcs "$(parent $above "limit 6000")"
	check "$above: a GSO packet" in_ns a "$gsosend" 10.0.0.2 20 1000
	split=1
	[ $above != tbf ] || split=0	# it has done that itself: its burst is smaller
	ours gso_split drops
	is "$above: split, and a part dropped" "$REPLY" "$split 15"
	left "$above"
done
tc_in a qdisc del dev p root

diag "packets dropped while they leave, below a parent"
# A line that takes one tag and not two drops a user's frame of 802.1ad.
# shellcheck disable=SC2086
tc_in b qdisc add dev q root $our role switch
ip_in b link set q mtu 1496
ip_in a link add v link p type vlan protocol 802.1ad id 33
ip_in a link set v up
tagging() { qdiscs_of a p; [[ $REPLY == *'"state":"tagging"'* ]]; }
# qfq puts a warning into the kernel's log if a child has a packet and then gives none.
for above in ${parents/qfq/}; do
	tc_in a qdisc del dev p root 2>/dev/null
	tcs "$(parent $above "")"
	check "$above: the port tags" paths_wait 8 tagging
	sleep 1
	in_ns a "$UDPFLOW" rawsend --dev v --mac "$(mac 2)" --packets 5 --length 1514 >/dev/null
	ours drop_tag
	is "$above: packets dropped" "$REPLY" 5
	left "$above"
	paths_udp "$above: others pass" 50 10.0.0.2
done
ip_in a link del v
leave_ports
tc_in a qdisc del dev p root
tc_in b qdisc del dev q root

# Windows are between switches. With one of a byte a packet leaves when the one before it has been credited, and all
# others wait in the VOQ, of which no parent knows. htb and other parents do not ask a child that has no packets, so END
# waits for traffic there, and windows for END.
if [ $kind = floodgate ]; then
	diag "VOQs below a parent"
	tc_in b qdisc add dev q root floodgate role switch
	has_windows() { ours windows; [ "$REPLY" = 1 ]; }
	for above in tbf prio red; do
		tc_in a qdisc del dev p root 2>/dev/null
		tcs "$(parent $above "role switch window 1 limit 30000")"
		check "$above: windows hold" paths_wait 8 has_windows
		paths_sink sink --flows 4 --idle 1s --timeout 10s
		paths_send send --dest 10.0.0.2 --flows 4 --packets 50 --length 500 --sndbuf 1m
		agree "$above: counts while a VOQ is full"
		if [ "${SLUICE_HOME:-}" = uml ]; then
			ours voq_backlog
			between "$above: it is full" "$REPLY" 20000 30000
		else
			skip "$above: it is full" "needs virtual time"	# it empties while tc starts
		fi
		tcs "qdisc change dev p parent 1:1 handle 2: floodgate limit 9000"
		agree "$above: counts after the limit went down"
		tcs "qdisc change dev p parent 1:1 handle 2: floodgate window auto serve through limit 1m"
		agree "$above: counts after the window grew"
		paths_send send --dest 10.0.0.2 --flows 1 --packets 50 --length 500 --sndbuf 1m
		wait "$_sink"
		all_come "$above" 250
		left "$above"
		tcs "qdisc change dev p parent 1:1 handle 2: floodgate window 1"
		paths_send send --dest 10.0.0.2 --flows 1 --packets 20 --length 500
		tcs "qdisc del dev p parent 1:1"
		is "$above: removed with a VOQ that is full, it takes its counts with it" \
			"$(tc_in a -j -s qdisc show dev p | jq -c 'map(select(.kind != "pfifo")) | map([.qlen, .backlog] | add) | add <= 1100')" true
	done
	leave_ports
	tc_in a qdisc del dev p root
	tc_in b qdisc del dev q root
fi

# All of a card share 4094 numbers, and one that replaces another needs its own before those of the other are free; of
# pfc each has one. Half of them are shared out, but bfc has eight at least, and as many as eight classes divide.
diag "a card with many transmit queues"
need_tool ethtool
option=slots alone=1024
[ "$kind" != bfc ] || option=queues alone=128
# has CLASSID: how many one has of what it did not say
has()
{
	tc_in a -j qdisc show dev card |
		jq -c --arg at "$1" --arg option $option '[.[] | select(.parent == $at).options[$option]] | unique'
}
# allocated:used
[ "$kind" = pfc ] || for queues in 2:2 4:4 17:17 64:4 128:128; do
	used=${queues#*:}
	ip_in a link add name card numtxqueues "${queues%:*}" type veth peer name far numrxqueues "${queues%:*}" ||
		die "no veth with $queues queues"
	[ "$used" = "${queues%:*}" ] || in_ns a ethtool -L card tx "$used" || die "no $used queues"
	tc_in a qdisc add dev card root handle 1: mq
	wrong=
	for ((i = 1; i <= used; i++)); do
		tc_in a qdisc add dev card parent 1:"$(printf %x "$i")" "$kind" || { wrong="queue $i"; break; }
	done
	is "$queues: $kind below mq, of each" "$wrong" ""
	share=$((4094 / 2 / used))
	[ "$kind" != bfc ] || share=$((share < 8 ? 8 : share / 8 * 8))
	is "... has $option" "$(has 1:2)" "[$((share < alone ? share : alone))]"
	tc_in a qdisc replace dev card parent 1:2 handle 9: "$kind" limit 1m
	is "... and another in the place of one" "$?" 0
	if [ "$kind" = bfc ]; then
		tc_in a qdisc replace dev card parent 1:2 handle 10: bfc classes 8
		is "... also with classes" "$?" 0
	fi
	tc_in a qdisc del dev card root
	tc_in a qdisc add dev card root handle 1: tbf rate 1mbit burst 10k limit 10k
	tc_in a qdisc add dev card parent 1:1 "$kind"
	is "... and alone below a shaper" "$(has 1:1)" "[$alone]"
	ip_in a link del card
done

diag "what it cannot be"
if [[ $kind != @(bfc|flowsail) ]]; then
	tcs "qdisc add dev p root handle 1: $our"
	for parent in 1:1 1:fff; do
		refused "pfifo as a child at $parent" "" tc_in a qdisc add dev p parent $parent handle 5: pfifo
	done
	refused "a filter" "" tc_in a filter add dev p parent 1: protocol all prio 1 matchall flowid 1:1
	paths_udp "packets pass" 20 10.0.0.2
	leave_ports
	tc_in a qdisc del dev p root
	refused "in place of ingress" "" "$tcmsg" -n "$NS-a" send ingress p TCA_KIND=str:$kind
	finish
fi
tcs "qdisc add dev p root handle 1: $kind classes 2"
for child in plug "tbf rate 1mbit burst 10k limit 10k" "netem delay 1ms" pfifo fq_codel bfc mq; do
	for parent in 1:1 1:fff 1:1000; do
		# shellcheck disable=SC2086
		refused "${child%% *} as a child at $parent" "" \
			tc_in a qdisc add dev p parent $parent handle 5: $child
	done
done
for flow in 1:0 1:3 1:ffe 1:1000 1:ffff ffff:1 ffff:ffff 0:1; do
	tcs "filter replace dev p parent 1: handle 1 protocol all prio 1 matchall flowid $flow"
	paths_udp "a filter that says $flow" 20 10.0.0.2
	tcs "filter del dev p parent 1: prio 1"
done
for priority in 65536 65537 65538 65539 69631 69632 131071 2147483647; do
	paths_udp "a priority of $priority" 20 10.0.0.2 --priority $priority
done
is "one qdisc all the while" "$(tc_in a -j qdisc show dev p | jq -c 'map([.kind, .handle])')" '[["'$kind'","1:"]]'
leave_ports
tc_in a qdisc del dev p root
refused "in place of ingress" "" "$tcmsg" -n "$NS-a" send ingress p TCA_KIND=str:$kind

finish
