#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Flows that find no entry of the flow table, and no sub-queue. And headers that do not lie in one piece.
#
#	a:p ---- b:q		wire
#
# With n flows at once in s sets of w entries, those beyond w of a set are guests of another: by the binomial law
# s E[(X - w)+] of them, X ~ Bin(n, 1/s). With `share spare` a destination that is alone holds half of the sub-queues at
# most, and who finds none goes to their own. The line is so slow that all waits at once.

. "$(dirname "$0")/lib.sh"
need_tool ip tc awk
need_virtual_time
load_modules hopctl sch_bfc wire

need_program frames

two_boxes rate 10mbit delay 1us ring 0

# sent OPTIONS LINE...: by a new qdisc; sets `per` to the packets that each sub-queue has sent, the fewest
# first, of those that were used
sent()
{
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev p root handle 1: bfc $1 || die "no bfc $1"
	printf '%s\n' "${@:2}" | "$frames" -w 500 "$NS-a/p" "$NS-b/q" >/dev/null || die "frames"
	per=$(tc_in a -s class show dev p | awk '
		/ parent / { queue = 1 } queue && / Sent / { print $4; queue = 0 }' | sort -n | xargs)
	stats=$(tc_in a -j -s qdisc show dev p)
	leave_ports
	tc_in a qdisc del dev p root
}

figures() { figures_in "$stats" "$@"; echo "$REPLY"; }

ASSIGNED="assign_free assign_early assign_own assign_shared"
FLOW="from=10.0.0.1 to=10.0.0.2"

diag "the flow table"
# shellcheck disable=SC2086
{
sent "role host queues 64 flows 4" "a ports=4 n=2 $FLOW"
is "four flows of one set: each has an entry" "$(figures collisions $ASSIGNED)" "0 4 0 0 0"
is "and a sub-queue" "$per" "2 2 2 2"
sent "role host queues 64 flows 4" "a ports=4 n=2 $FLOW" "b n=5 sport=7000 $FLOW"
is "a fifth one is a guest, counted once" "$(figures collisions $ASSIGNED)" "1 4 0 0 0"
is "in one of them, with all its packets" "$per" "2 2 2 7"
sent "role host queues 64 flows 4 sticky 1s" "a ports=4 $FLOW" "b wait=200000000 sport=7000 $FLOW"
is "nor has it an entry while others are only expected" "$(figures collisions assign_sticky)" "1 0"
sent "role host queues 64 flows 4 sticky 1ms" "a ports=4 $FLOW" "b wait=200000000 sport=7000 $FLOW"
is "it has when they are not any more" "$(figures collisions $ASSIGNED)" "0 5 0 0 0"
sent "role host queues 64 flows 4 sticky 1s" "a sport=7000 $FLOW" "b wait=200000000 sport=7000 $FLOW" "c sport=7001 $FLOW"
is "who comes back within the sticky time is known, who comes anew is not" \
	"$(figures collisions assign_sticky $ASSIGNED)" "0 1 2 0 0 0"
sent "role host queues 64 flows 1 ways 1 sticky 1s" "a $FLOW" "b wait=200000000 sport=7000 $FLOW"
is "one way: whoever comes within the sticky time has the entry" \
	"$(figures collisions assign_sticky $ASSIGNED)" "1 0 1 0 0 0"
# 64 - 64 (1 - (1 - 1/64)^64) = 23.4, and for X ~ Bin(64, 1/16) 16 E[(X - 4)+] = 12.1
sent "role host queues 256 flows 64 ways 1" "a ports=64 sport=3000 $FLOW"
between "one way: of 64 flows in 64 entries so many collide" "$(figures collisions)" 11 36
sent "role host queues 256 flows 64" "a ports=64 sport=3000 $FLOW"
between "four ways: so many" "$(figures collisions)" 3 21
sent "role host queues 256 flows 4096" "a ports=64 sport=3000 $FLOW"
is "in 4096 entries none" "$(figures collisions assign_free)" "0 64"
}

diag "sub-queues run out"
# to FIRST LAST: a flow of one packet to each of these
to()
{
	local i

	for ((i = $1; i <= $2; i++)); do
		lines+=("to$i from=$net${sep}1 to=$net$sep$i")
	done
}

for kind in "IPv4 10.0.1 ." "IPv6 fd00: :"; do
	read -r name net sep <<<"$kind"
	incast="a ports=10 n=4 from=$net${sep}1 to=$net${sep}99"
	lines=("$incast")
	to 2 5
	# shellcheck disable=SC2086
	{
	sent "role host queues 8 share random" "${lines[@]}"
	is "$name, random: ten flows to one take all that there is" "$(figures $ASSIGNED)" "8 0 0 6"
	sent "role host queues 8 share spare" "${lines[@]}"
	is "$name, spare: they take half" "$(figures $ASSIGNED)" "8 0 6 0"
	is "$name, spare: and share it, the others have one each" "$per" "1 1 1 1 8 8 12 12"
	sent "role host queues 16 share spare" "a ports=20 from=$net${sep}1 to=$net${sep}99" \
		"b ports=20 from=$net${sep}1 to=$net${sep}98" "c ports=20 from=$net${sep}1 to=$net${sep}97" \
		"d from=$net${sep}1 to=$net${sep}2" "e from=$net${sep}1 to=$net${sep}3"
	is "$name, spare: of three each takes half of what is left" "$(figures $ASSIGNED)" "16 0 46 0"
	sent "role switch peer host queues 8 share spare" "$incast"
	is "$name, spare, towards a host: they take all, and then any" "$(figures $ASSIGNED)" "8 0 0 2"
	# a lot leaves some shorter than others, by sqrt(800 x 1/8 x 7/8) = 9.4; the shorter of two does not
	sent "role switch peer host queues 8 flows 16384 share spare" "a ports=808 from=$net${sep}1 to=$net${sep}99"
	is "$name, spare, towards a host: no sub-queue is anybody's" "$(figures assign_own)" 0
	between "$name, spare, towards a host: by lot" $((${per##* } - ${per%% *})) 10 80
	lines+=("again sport=7000 from=$net${sep}1 to=$net${sep}2" "other from=$net${sep}1 to=$net${sep}98")
	sent "role host queues 8 share spare" "${lines[@]}"
	is "$name, spare: who has one joins that, who has none goes to any" "$(figures $ASSIGNED)" "8 0 7 1"
	sent "role host queues 8 share spare sticky 1ms" "$incast" "late wait=300000000 sport=7000 from=$net${sep}1 to=$net${sep}99"
	is "$name, spare: what is free again is held no more" "$(figures $ASSIGNED)" "5 0 6 0"
	sent "role host queues 8 classes 2 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 share spare" "$incast" "b prio=1 ${incast#a }"
	is "$name, spare: of each class its own" "$(figures $ASSIGNED)" "4 0 16 0"
	}
done

diag "headers in pieces"
ip_in a link set p mtu 9000
ip_in b link set q mtu 9000
for kind in "IPv4 10.0.1 ." "IPv6 fd00: :"; do
	read -r name net sep <<<"$kind"
	to="bytes=5000 from=$net${sep}1 to=$net${sep}99"
	lines=("whole $to")
	# within the Ethernet header, the addresses, the ports, behind them
	for at in 1 14 20 33 37 38 50 57 58 62 80; do
		lines+=("at$at linear=$at $to")
	done
	sent "role host queues 8" "${lines[@]}"
	is "$name: wherever a header is cut, it is one flow" "$per" 12
	sent "role host queues 8" "at20 ports=10 linear=20 $to" "other linear=20 ${to%99}98"
	is "$name: and to its destination" "$(figures $ASSIGNED)" "5 0 6 0"
done
finish
