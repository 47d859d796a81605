#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# One bfc for each transmit queue of a device, below mq: together they are one port.
#
#	h e0 ============ x d			a neighbour made by hand (hopframe)
#	h e0 ============ p0 [ sw: bridge ] p1 --- e0 r
#	   mq, 4 x bfc	  a fast wire		   a slow one
#
# Each instance owns a range of the port's sub-queue numbers, which start where those of the
# one before end: it tags with them, and is paused by them. Filters choose the transmit queue by
# the port that a datagram is sent to. The ranges are no multiple of a word of the bitmap, so that
# words are shared.
#
# On the chain, four flows by four transmit queues, from as many processors as there are, are held
# back by the slow link behind sw: no frame is lost, as with one instance at the root. The link is one for all,
# so what each may hold depends on how many wait in all of them.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
load_modules

here=$(cd "$(dirname "$0")" && pwd)
udpflow=$here/udpflow
hopframe=$here/hopframe
[ -x "$udpflow" ] && [ -x "$hopframe" ] || skip_all "udpflow or hopframe is not built"

QUEUES=40	# of each instance
TXQS=4
FLOWS=8		# to each transmit queue, of two frames each, to see their numbers
FRAMES=500	# of each flow
LENGTH=1458	# UDP payload of a frame of 1500 bytes
LIMIT=$((400 * 1500))
FAST=1gbit SLOW=100mbit
HOLD_S=1	# how long a pause by hand lasts; where processes take time it is looked at meanwhile
[ "${SLUICE_HOME:-}" = uml ] || { FAST=20mbit SLOW=5mbit HOLD_S=8; }
heard=$(mktemp)
out=$(mktemp)
hands=()
trap 'rm -f "$heard" "$out"; _at_exit' EXIT

ns h d sw r
for name in h d sw r; do
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done

# device PEER SPACE: h's e0, whose other end is that
device()
{
	ip_in h link add e0 numtxqueues $TXQS numrxqueues $TXQS address "$(mac 1)" type wire \
		rate $FAST peer name "$1" address "$(mac 2)" netns "$NS-$2" ||
		skip_all "no wire with several transmit queues"
	ip_in "$2" link set "$1" up
	ip_in h link set e0 up
	ip_in h addr add 10.0.0.1/24 dev e0
	neigh h e0 10.0.0.2 "$(mac 9)"
}

# by_port: datagrams to port 7000 + n go by transmit queue n
by_port()
{
	local n lines="qdisc add dev e0 clsact"

	for ((n = 0; n < TXQS; n++)); do
		lines+="
filter add dev e0 egress protocol ip flower ip_proto udp dst_port $((7000 + n)) action skbedit queue_mapping $n"
	done
	tc -n "$NS-h" -batch - <<<"$lines" || skip_all "no filter chooses a transmit queue"
}

# instances OPTIONS: mq on e0, and a bfc for each transmit queue, with handles 11: to 14:
instances()
{
	local n lines="qdisc add dev e0 root handle 1: mq"

	for ((n = 1; n <= TXQS; n++)); do
		lines+="
qdisc add dev e0 parent 1:$n handle 1$n: bfc $1"
	done
	tc -n "$NS-h" -batch - <<<"$lines" || die "no mq with bfc"
}

# each KEY: a figure of each instance of e0's, in the order of their handles
each()
{
	local qdisc handle all=() n qdiscs

	qdiscs_in "$(tc_in h -j -s qdisc show dev e0)" bfc
	for qdisc in "${qdiscs[@]}"; do
		[[ $qdisc =~ \"handle\":\"([0-9]+): ]] && handle=${BASH_REMATCH[1]}
		figure_in "$qdisc" "$1"
		all[handle]=$REPLY
	done
	echo "${all[@]}"
}

each_is() { [ "$(each "$1")" = "$2" ]; }
# all_have FIGURE: what each then prints
all_have() { for ((n = 0; n < TXQS; n++)); do echo "$1"; done | xargs; }
state_is() { port_is "$1" "$2" state "$3"; }

# paused: the sub-queues that are, as tc's class show names them
paused()
{
	tc_in h -s class show dev e0 | awk '
		$1 == "class" { name = $3 }
		/ paused yes / { print name }' | sort | xargs
}

epoch=0
# neighbour [WORDS]: d is e0's, a new one each time; pauses these sub-queues for HOLD_S
neighbour()
{
	local i states=()

	epoch=$((epoch + 1))
	if [ $# -gt 0 ]; then
		for ((i = 0; i < HOLD_S; i++)); do
			states+=(at=$((i * 1000 + 400)) "state:seq=$((i + 1)),lease=2000000000,words=$1")
		done
		states+=(at=$((HOLD_S * 1000 + 400)) "state:seq=$((i + 1)),lease=2000000000,words=0+0+0")
	fi
	# not by a function, whose child would outlive it
	ip netns exec "$NS-d" "$hopframe" peer x mine=$epoch role=switch queues=64 \
		for=$(((HOLD_S + 9) * 1000)) "${states[@]}" >/dev/null 2>&1 &
	hands+=($!)
	check "e0 tags" wait_until -e 100 5 tags_for $epoch
}

# tags_for N: e0 tags, and the N-th neighbour has come up
tags_for()
{
	tc_in h -j -s qdisc show dev e0 >"$out"
	grep -q '"state":"tagging"' "$out" && grep -q "\"neighbour_up\":$1," "$out"
}

# hand_rests: d is e0's neighbour no more
hand_rests()
{
	kill "${hands[@]}" 2>/dev/null
	wait "${hands[@]}" 2>/dev/null
	hands=()
}

sends() { in_ns h "$udpflow" send -d 10.0.0.2 -p "$1" -l 500 -n "${@:2}" >/dev/null; }

diag "numbers"
device x d
by_port
instances "queues $QUEUES nowatch"
# All are paused while the flows come: what leaves at once leaves its sub-queue to the next flow. Then each draws one of 40:
# 8 draw 3 or fewer once in 100,000 times.
neighbour ffffffffffffffff+ffffffffffffffff+ffffffff
ip netns exec "$NS-d" "$hopframe" listen x data for=$(((HOLD_S + 9) * 1000)) >"$heard" 2>&1 &
hands+=($!)
check "all sub-queues are paused" wait_until -e 100 5 each_is paused "$(all_have $QUEUES)"
for ((n = 0; n < TXQS; n++)); do
	sends $((7000 + n)) 2 -f $FLOWS --ports=1
done
is "all frames wait" "$(each qlen)" "$(all_have $((FLOWS * 2)))"
# vids N: of data frames, those of instance N, all, and how many were tagged with another's number
vids()
{
	sed -nE 's/.* vid=([0-9]+) data type=0*800 .*/\1/p' "$heard" | awk -v n="$1" -v q=$QUEUES '
		int(($1 - 1) / q) == n { own++; if (!seen[$1]++) kinds++ } END { print own + 0, kinds + 0 }'
}
heard_all() { [ "$(grep -c 'data type=0*800' "$heard")" -ge $((TXQS * FLOWS * 2)) ]; }
check "frames of each transmit queue arrive" wait_until -e 100 $((HOLD_S + 5)) heard_all
for ((n = 0; n < TXQS; n++)); do
	read -r own kinds < <(vids $n)
	is "instance $n: tags with $((n * QUEUES + 1)) to $(((n + 1) * QUEUES))" "$own" $((FLOWS * 2))
	between "instance $n: flows have numbers of their own" "$kinds" $((FLOWS / 2)) $FLOWS
done
is "each has sent its own" "$(each tagged)" "$(all_have $((FLOWS * 2)))"
hand_rests

diag "pauses"
# sub-queue 3 of the first, 5 of the second, 6 of the third, 7 of the fourth
neighbour 0000200000000008+8000000000400000+0
check "one sub-queue of each is paused" wait_until -e 100 5 each_is paused "1 1 1 1"
shown=$(paused)
diag "paused: $shown"
is "the right ones" "$shown" "11:1003 12:1005 13:1006 14:1007"
check "all are resumed" wait_until -e 100 15 each_is paused "0 0 0 0"
hand_rests

diag "one instance held"
# numbers 80 to 119, all of the third
neighbour 0+00ffffffffff0000+0
check "all of the third is paused" wait_until -e 100 5 each_is paused "0 0 $QUEUES 0"
sent=$(each tagged)
for ((n = 0; n < TXQS; n++)); do
	sends $((7000 + n)) 10
done
check "its frames wait, those of the others pass" wait_until -e 100 1 each_is qlen "0 0 10 0"
check "until it is resumed" wait_until -e 100 15 each_is qlen "0 0 0 0"
is "all have left" "$(each tagged)" "$(for n in $sent; do echo -n "$((n + 10)) "; done | sed 's/ $//')"
is "nothing was dropped" "$(each drops)" "0 0 0 0"
hand_rests
ip_in h link del e0

diag "the threshold"
# Th = HRTT x rate / N_active (BFC, section 3.3.2), where N_active is the whole port's: 125000 bytes,
# and 1 + 2 + 3 + 4 flows that wait for a line that all but stands still
device x d
by_port
ip_in h link set e0 type wire rate 1kbit ring 0
instances "queues $QUEUES nowatch rate 1gbit hrtt 1ms"
for ((n = 0; n < TXQS; n++)); do
	sends $((7000 + n)) 3 -f $((n + 1)) --ports=1
done
is "flows wait" "$(each backlogged)" "1 2 3 4"
is "each instance counts those of all" "$(each n_active)" "10 10 10 10"
is "and divides by them" "$(each th)" "12500 12500 12500 12500"
# one more flow, of frames of 542 bytes: 20 of them are 10840, 21 are more than 125000 / 11
sends 7001 40 --sndbuf=1m
is "what one holds is held against that" "$(each over_unlabelled)" "0 20 0 0"
is "another one waits" "$(each n_active)" "11 11 11 11"
# mq empties all of them when one is replaced
tc_in h qdisc replace dev e0 parent 1:4 handle 15: bfc queues $QUEUES nowatch rate 1gbit hrtt 1ms
is "what is thrown away counts no more" "$(each n_active)" "0 0 0 0"
is "and the threshold is the whole" "$(each th)" "125000 125000 125000 125000"
ip_in h link del e0

diag "a chain"
device p0 sw
ip_in sw link add br0 type bridge mcast_snooping 0
ip_in sw link set br0 up
ip_in sw link set p0 master br0
ip_in sw link add p1 type wire rate $SLOW peer name e0 address "$(mac 9)" netns "$NS-r"
ip_in sw link set p1 master br0 up
ip_in r link set e0 up
ip_in r addr add 10.0.0.2/24 dev e0
in_ns sw bridge fdb replace "$(mac 9)" dev p1 master static
by_port
for port in "sw p0" "sw p1" "r e0"; do
	# shellcheck disable=SC2086
	set -- $port
	tc_in "$1" qdisc add dev "$2" root bfc limit $LIMIT
done

sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge $TXQS ]; }

# flows: prints how many frames arrived
flows()
{
	local n pids=()

	in_ns r "$udpflow" sink --ports=$TXQS --idle=3s --timeout=30s --json >"$out" &
	local sink=$!
	wait_until 5 sink_is_up
	for ((n = 0; n < TXQS; n++)); do
		in_ns h "$udpflow" send -d 10.0.0.2 -p $((7000 + n)) --id=$n -l $LENGTH -n $FRAMES >/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}" "$sink"
	jq .packets "$out"
}

dropped() { qdisc_stat sw p1 drops bfc; }
ALL=$((TXQS * FRAMES))

# held NAME: the flows pass e0, and none of their frames is lost
held()
{
	check "$1: e0 tags" wait_until -e 100 5 state_is h e0 tagging
	dropped=$(dropped) marks=$(qdisc_stat sw p1 marks bfc)
	is "$1: every frame arrived" "$(flows)" $ALL
	is "$1: sw dropped none" "$(($(dropped) - dropped))" 0
	between "$1: frames were marked" "$(($(qdisc_stat sw p1 marks bfc) - marks))" 1 $ALL
	diag "$1: pauses obeyed: $(each pauses_obeyed)"
	for count in $(each pauses_obeyed); do
		between "$1: an instance was paused" "$count" 1 1000000
	done
	check "$1: none is paused any more" wait_until -e 100 5 each_is paused "$(each qlen | sed 's/[0-9]*/0/g')"
}

instances "queues $QUEUES nowatch"
held mq
is "mq: each has sent a flow" "$(for n in $(each tagged); do echo $((n >= FRAMES)); done | xargs)" \
	"1 1 1 1"
tc_in h qdisc del dev e0 root
tc_in h qdisc add dev e0 root handle 11: bfc queues $((TXQS * QUEUES)) nowatch
held "one at the root"
tc_in h qdisc del dev e0 root
instances "queues $QUEUES nopause"
tc_in sw qdisc change dev p1 root bfc nopause limit $LIMIT
dropped=$(dropped)
got=$(flows)
between "without pauses frames are lost" "$(($(dropped) - dropped))" 1 $ALL
is "what was not lost arrived" "$((got + $(dropped) - dropped))" $ALL

diag "they have gone"
tc_in h qdisc del dev e0 root
check "a root instance takes all numbers" tc_in h qdisc add dev e0 root bfc queues 4094
finish
