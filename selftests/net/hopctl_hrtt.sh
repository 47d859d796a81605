#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What is believed of a link's HRTT, and what is measured.
#
#	x: made by hand -------- px sw pr ------- r
#	a: sends --------------- pa (bridge)		wires of 100 Gb/s and 1 us
#	b: sends --------------- pb    ps ------- s	2.5 Gb/s
#	c: sends ---- m (bridge) --- pm			10 Gb/s, 5 Gb/s behind m
#
# A neighbour that says whatever it likes, at ports of 100 Gb/s: the others' pauses still come before drops,
# for the threshold has an end. Then a link on which frames wait where no HELLO tells of it: a box m in between with a
# queue for data that control frames go past, as on a card without byte queue limits.

. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool ip tc jq bridge
load_modules

here=$(cd "$(dirname "$0")" && pwd)
hopframe=$here/hopframe
udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || skip_all "hopframe or udpflow is not built"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; _at_exit' EXIT

LIMIT=$((8 << 20))	# the default
FRAMES=12000		# of 1500 bytes by each of a and b: four times the limit, twice what r can take meanwhile
LENGTH=1458

quiet() { in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'; }

# cable A DEV B DEV NUMBER OPTION...
cable()
{
	ip_in "$1" link add "$2" address "$(mac "$5")" type wire "${@:6}" \
		peer name "$4" address "$(mac "$5" 1)" netns "$NS-$3" || die "no cable"
	ip_in "$1" link set "$2" up
	ip_in "$3" link set "$4" up
}

ns sw x a b r c m s
for name in sw x a b r c m s; do
	quiet $name
done
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
declare -A number=([a]=1 [b]=2 [r]=3 [x]=9 [c]=4 [s]=5)
# box NAME PORT OPTION...: on a cable to the switch
box()
{
	cable sw "$2" "$1" e0 "${number[$1]}" "${@:3}"
	ip_in sw link set "$2" master br0
	ip_in "$1" addr add 10.0.0.${number[$1]}/24 dev e0
	tc_in sw qdisc add dev "$2" root handle 1: bfc || die "no bfc"
}
for name in x a b r; do
	box $name p$name rate 100gbit delay 1us
	[ $name = x ] || tc_in $name qdisc add dev e0 root handle 1: bfc limit 1g role host
done
in_ns sw bridge fdb replace "$(mac 3 1)" dev pr master static
for name in a b; do
	neigh $name e0 10.0.0.3 "$(mac 3 1)"
done

port() { port_says sw "$1" "$2"; echo "$REPLY"; }

# flood FRAMES TO NAME...: each of them so many to TO, all at once; sets $arrived
flood()
{
	local frames=$1 to=$2 i=0 name start

	shift 2
	in_ns "$to" "$udpflow" sink --ports=$# --expect=$(($# * frames)) --idle=200ms --timeout=20s \
		--json >"$tmp/sink" 2>/dev/null &
	sleep 0.1
	start=$(($("$udpflow" now) + 100000000))
	for name; do
		in_ns "$name" "$udpflow" send -d 10.0.0.${number[$to]} -p $((7000 + i)) --id=$((++i)) \
			-l $LENGTH -n "$frames" --sndbuf=64m --at=$start >/dev/null &
	done
	wait
	arrived=$(jq .packets "$tmp/sink")
}

# incast NAME: a and b send to r at once; nothing is lost, and they were paused
incast()
{
	local drops pauses

	pauses=$(($(port pa pauses_tx) + $(port pb pauses_tx)))
	drops=$(qdisc_stat sw pr drops)
	flood $FRAMES r a b
	is "$1: every frame arrives" "$arrived" $((2 * FRAMES))
	is "$1: none is dropped" $(($(qdisc_stat sw pr drops) - drops)) 0
	pauses=$(($(port pa pauses_tx) + $(port pb pauses_tx) - pauses))
	between "$1: for the others were paused" $pauses 2 $((2 * FRAMES))
	between "$1: above a threshold of a quarter of the limit at most" "$(qdisc_stat sw pr th_max)" \
		1500 $((LIMIT / 4))
}

# liar ARG...: x says so, for long
liar()
{
	ip netns exec "$NS-x" "$hopframe" peer e0 for=1000000 deaf mine=7 "$@" >/dev/null &
	hand=$!
	disown $hand
}

diag "the truth"
check "a and b tag" wait_until 10 port_is sw pa peer_role host
between "HELLOs measure the link" "$(port pa hrtt_raw)" 2000 3000

diag "a neighbour that says that its card holds 100 ms"
liar role=switch ring=100000000
check "is heard" wait_until 10 port_is sw px neighbour_up 1
is "what it says is shown" "$(($(port px hrtt_raw) / 1000000))" 100
is "and believed up to 1 ms" "$(port px hrtt)" 1000000
between "which is counted" "$(port px hrtt_capped)" 1 1000
incast "100 ms said"
tc_in sw qdisc change dev px root bfc hrtt-max 10us
is "or up to what is configured" "$(port px hrtt)" 10000
is "which is what the threshold reckons with" "$(qdisc_stat sw pr hrtt)" 10000
tc_in sw qdisc change dev px root bfc hrtt-max 1ms peer host

diag "one that is said to be a host"
is "counts up to 100 us, as one that is not known" "$(qdisc_stat sw pr hrtt)" 100000
# highest figures anew
tc_in sw qdisc del dev pr root
tc_in sw qdisc add dev pr root handle 1: bfc
incast "a host says 100 ms"
between "a host says 100 ms: above the threshold of 100 us" "$(qdisc_stat sw pr th_max)" 1500 1250000
for dev in pa pb pr; do
	tc_in sw qdisc change dev $dev root bfc peer host
done
is "so it is where all are" "$(qdisc_stat sw pr hrtt)" 100000
capped=$(port px hrtt_capped)
tc_in sw qdisc change dev px root bfc hrtt 7ms 2>/dev/null
is "what is configured counts whoever is there" "$(qdisc_stat sw pr hrtt)" 7000000
sleep 0.5
is "and is no fault" "$(port px hrtt_capped)" "$capped"
for dev in px pa pb pr; do
	tc_in sw qdisc change dev $dev root bfc peer auto hrtt auto
done
kill "$hand"
check "it falls silent" wait_until 5 port_is sw px state no_neighbour

diag "a quarter of the limit"
tc_in sw qdisc change dev pr root bfc limit 60k
tc_in sw qdisc change dev pa root bfc hrtt 1ms 2>/dev/null
is "is the threshold's end" "$(qdisc_stat sw pr th)" 15360
said=$(tc_in sw qdisc change dev pr root bfc hrtt 20us 2>&1)
is "a configured HRTT may be more, with a warning" "${said%%:*}, ${said##*: }" \
	"Warning, packets may be dropped before a pause has an effect."
is "of this port, not of another" "$(qdisc_stat sw pr th)" 250000
said=$(tc_in sw qdisc change dev pr root bfc hrtt auto th 16k 2>&1)
is "so may a threshold" "$said" \
	"Warning: th is above a quarter of limit or pool: packets may be dropped before a pause has an effect."
said=$(tc_in sw qdisc change dev pr root bfc th 15k 2>&1)
is "a quarter is no reason to warn" "$said" ""
tc_in sw qdisc change dev pr root bfc th auto pool 40k
is "or a quarter of the pool" "$(qdisc_stat sw pr th)" 10240
tc_in sw qdisc change dev pr root bfc limit 8m pool none
tc_in sw qdisc change dev pa root bfc hrtt auto

diag "a card with several queues says what the longest holds, not the sum"
ip_in x link add m0 numtxqueues 4 numrxqueues 4 address "$(mac 20)" type wire rate 10gbit \
	ring 125000 peer name m1
ip_in x link set m0 up
ip_in x link set m1 up
for queue in 0 1 2 3; do
	in_ns x sh -c "echo 125000 >/sys/class/net/m0/queues/tx-$queue/byte_queue_limits/limit_min
		echo 125000 >/sys/class/net/m0/queues/tx-$queue/byte_queue_limits/limit"
done 2>/dev/null
tc_in x qdisc add dev m0 root bfc
is "ring" "$(tc_in x -j -s qdisc show dev m0 | jq '.[0].port.ring')" 100000
tc_in x qdisc del dev m0 root
ip_in x link del m0

diag "frames wait where no HELLO tells of it"
# c sends twice what m's line takes, and that twice what s's does; m has room for 64 frames
cable m mc c e0 4 rate 10gbit delay 1us ring 0
cable sw pm m ms 6 rate 5gbit delay 1us ring 0
box s ps rate 2500mbit delay 1us
ip_in m link add br0 type bridge group_fwd_mask 0x4000
ip_in m link set br0 up
for dev in mc ms; do
	ip_in m link set $dev master br0
done
tc_in m qdisc add dev ms root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
tc_in m filter add dev ms parent 1: protocol 0x88b5 matchall classid 1:1
tc_in m qdisc add dev ms parent 1:2 pfifo limit 64
ip_in sw link set pm master br0
tc_in sw qdisc add dev pm root handle 1: bfc
ip_in c addr add 10.0.0.4/24 dev e0
tc_in c qdisc add dev e0 root handle 1: bfc limit 1g role host
neigh c e0 10.0.0.5 "$(mac 5 1)"
in_ns sw bridge fdb replace "$(mac 5 1)" dev ps master static
in_ns m bridge fdb replace "$(mac 5 1)" dev ms master static
check "c tags" wait_until 10 port_is sw pm peer_role host
between "HELLOs measure the lines" "$(port pm hrtt_raw)" 4000 10000
flood 2000 s c
# 64 frames of 1504 bytes and 24 of overhead, one on the line, in multiples of 2.4 us; twice 2 us of delay
between "pauses find that 64 frames wait" "$(port pm reaction)" 150000 170000
between "each time" "$(port pm reactions)" 1 2000
between "which is what is used, in four digits" "$(port pm hrtt)" "$(port pm reaction)" \
	$(($(port pm reaction) * 9 / 8))
is "and what the threshold reckons with" "$(qdisc_stat sw ps hrtt)" "$(port pm hrtt)"
tc_in m qdisc replace dev ms parent 1:2 pfifo limit 1
flood 4000 s c
between "with no queue there, nothing of it is left after 16 times" "$(port pm reaction)" 2000 20000

finish
