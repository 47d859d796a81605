#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# When a port says HELLO, to the millisecond, and how soon two ports find each other.
#
#	a (bfc on p)  --- xa [ m: bridge ] xb ---  b (hopframe, or bfc, on q)
#
# A port that has never had a neighbour says HELLO at once, after 1, 2, 4 ... 2048 ms, then each 4 s. When it hears
# somebody, or its carrier comes, it begins anew; when nobody is heard any more for a dead interval it slows down
# again. One that has a neighbour, or had one, goes on at ten a second.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
need_virtual_time
load_modules hopctl sch_bfc

hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"
heard=$(mktemp)
trap 'rm -f "$heard"; _at_exit' EXIT

ns a b m
ip_in m link add br0 type bridge group_fwd_mask 0x4000
ip_in m link set br0 up
cable()
{
	ip_in "$1" link add "$2" address "$(mac "$4")" type veth peer name "$3" netns "$NS-m"
	ip_in m link set "$3" master br0 up
	ip_in "$1" link set "$2" up
}
cable a p xa 1
cable b q xb 2

state_is() { port_is "$1" "$2" state "$3"; }

# ears MS [NS DEV]: writes down what arrives at b, or there, for so long; `times` sets REPLY to when HELLOs did, in ms after the first
ears() { in_ns "${2:-b}" "$hopframe" listen "${3:-q}" for="$1" >"$heard" & ears=$!; sleep 0.01; }
times()
{
	wait $ears
	REPLY=$(awk '/ hello / { print $1 }' "$heard" | awk 'NR == 1 { t = $1 } { print $1 - t }' | paste -sd' ')
}

# gaps MOST END: the moments of a start: at once, then after 1, 2, 4 ... but no more than MOST ms, up to END
gaps()
{
	local at=0 gap=1 said=

	while [ $at -le "$2" ]; do
		said+=" $at"
		at=$((at + gap))
		gap=$((2 * gap < $1 ? 2 * gap : $1))
	done
	echo "${said# }"
}
AGAIN=" 1127 1327 1727 2527 4127 7327 11327"	# ten a second, then slower: by 100 ms, 200, 400 ... 4 s

diag "nobody is there"
ears 60000
tc_in a qdisc add dev p root bfc role switch
times
is "HELLOs of a minute" "$REPLY" "$(gaps 4000 59900)"
is "the first says all that there is to say" \
	"$(sed -nE '1s/.* (hello .*) ring=.*/\1/p' "$heard")" \
	"hello role=switch queues=128 flags=1 tpid=88a8 kinds=1"
is "not one more" "$(qdisc_stat a p hello_tx)" "$(gaps 4000 59900 | wc -w)"

diag "somebody says one word"
sleep 1.1
ears 15000
in_ns b "$hopframe" send q mine=7 hello
times
is "HELLOs as at the start, for a dead interval ten a second, then less and less" "$REPLY" \
	"$(gaps 100 1030)$AGAIN"

diag "the carrier comes"
ip_in a link set p down
sleep 10
ears 15000 m xa	# before the bridge, which may learn of the carrier later than p says the first
ip_in a link set p up
times
is "HELLOs as at the start" "$REPLY" "$(gaps 4000 14900)"

# us from now on until both tag
both_tag() { state_is a p tagging && state_is b q tagging; }
appears()
{
	local from to

	from=$(cut -d' ' -f1 /proc/uptime)
	check "$1: they find each other" wait_until 10 both_tag
	to=$(cut -d' ' -f1 /proc/uptime)
	took=$((10#${to/./} - 10#${from/./}))
}

diag "a neighbour comes to a port that says little"
sleep 13
before=$(qdisc_stat a p hello_tx)
tc_in b qdisc add dev q root bfc role switch
appears "it comes"
between "within 40 ms, in units of 10 ms" $took 0 4

diag "it falls silent"
tc_in m qdisc add dev xb clsact
tc_in m filter add dev xb ingress protocol all matchall action drop
check "it is lost" wait_until 5 state_is a p no_neighbour
sleep 20
ears 2000
times
between "a port that had a neighbour goes on at ten a second" "$(wc -w <<<"$REPLY")" 20 21
tc_in m qdisc del dev xb clsact
check "they find each other again" wait_until 1 both_tag

diag "two ports that have both slowed down hear each other at last"
tc_in a qdisc del dev p root
tc_in b qdisc del dev q root
sleep 1.5
ip_in m link set xb nomaster
tc_in a qdisc add dev p root bfc role switch
sleep 1.7
tc_in b qdisc add dev q root bfc role switch
sleep 20
ip_in m link set xb master br0
appears "the link is joined"
between "within a HELLO interval of 4 s, in units of 10 ms" $took 0 404

finish
