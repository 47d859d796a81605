#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What passes with time at RoCC's two ends, to the closed forms of the paper and the manual page: how
# fast a host recovers when nobody speaks to it any more (Algorithm 2), when its limiter goes, for how
# long a flow is one that the host sends, and one that a congestion point tells. And how much of a
# host's room one flow may fill.
#
#	h1 ---.
#	       s --- r		10 Gb/s; h2 plays a congestion point
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

LINE=10000	# Mbit/s
FLOW=udp,10.0.0.1,5001,10.0.0.200,7000

forge() { in_ns h2 "$cnpsend" "$FLOW" "$@" >/dev/null; }
count() { qdisc_stat h1 e0 "$1" rocc; }

# doublings MBIT: how many it takes from there to the line's rate
doublings() { awk "BEGIN { n = 0; for (r = $1; r < $LINE; r *= 2) n++; print n }"; }

# steps NAME FROM STEP MBIT: h1 sends at that rate for STEP ns, then at twice as much, and so on up to
# what the line takes; each within 20 % or two packets
steps()
{
	local n rates

	n=$(doublings "$4")
	rates=$(samples "$2" "$3" $((n + 2)) | awk -v step="$3" 'NR > 1 { printf "%d ", ($1 - last) * 8000 / step } { last = $1 }')
	diag "$1: $rates Mbit/s"
	is "$1: the rate doubles each time" "$(awk -v step="$3" -v rate="$4" -v line=$LINE '{
		slack = 2 * 1514 * 8000 / step
		for (i = 1; i <= NF; i++) {
			want = rate * 2 ^ (i - 1) < line ? rate * 2 ^ (i - 1) : line
			off = $i < want ? want - $i : $i - want
			if (off > want / 5 && off > slack)
				printf "%d, should be %d; ", $i, want
		} }' <<<"$rates")" ""
	is "$1: and has come to the line's after" "$(awk -v line=$LINE '{
		for (i = 1; i <= NF && $i < line * 0.98; i++) ; print i - 1 }' <<<"$rates") intervals" "$n intervals"
}

# recovers NAME MBIT STEP OPTION...: from what one CNP has said
recovers()
{
	local at

	pids=()
	sends h1 1 $(($(now) + 1000000)) 20ms
	sleep 0.002
	# what is on the card leaves before it matters
	forge rate=$(($2 * 1000)) gap=10000000
	sleep 0.001
	at=$(now)
	forge rate=$(($2 * 1000)) sequence=2 "${@:4}"
	# there and over two wires
	steps "$1" $((at + 3500)) "$3" "$2"
	wait "${pids[@]}"
	check "$1: no limiter is left" wait_until 1 no_limiter h1
}

star bridge 2 ${LINE}mbit 1500ns
neigh h2 e0 10.0.0.1 "$(mac 1)"
in_ns r "$udpflow" sink --json --idle 100s >"$work/sink" &

# ---- recovery: 1.375 times the gap that the CNP says, at least 55 us ----
tc_in h1 qdisc add dev e0 root handle 1: rocc role host
recovers "T = 40 us, from 1 Gb/s" 1000 55000
recovers "T = 40 us, from 3 Gb/s" 3000 55000
recovers "told each 400 us, from 100 Mb/s" 100 550000 gap=400000
tc_in h1 qdisc change dev e0 root rocc recovery 1ms
recovers "recovery 1ms, from 300 Mb/s" 300 1000000 gap=400000
tc_in h1 qdisc change dev e0 root rocc recovery auto

# ---- the same when there was a congestion point ----
# Of a port of 1 Gb/s, which is one of 10 Gb/s from now on: T was 1 ms.
ip_in s link set pr type wire rate 1gbit
tc_in s qdisc add dev pr root handle 1: rocc limit 64m
pids=()
start=$(($(now) + 5000000))
sends h1 1 $start 260ms
before=$(samples $((start + 240000000)) 10000000 1 | xargs)
before=$(((${before#* } - ${before% *}) * 8 / 10000))
within "a port of 1 Gb/s: the flow has its rate" $before 1000 10
tc_in s qdisc replace dev pr root handle 3: pfifo limit 100000
ip_in s link set pr type wire rate 10gbit
at=$(now)
free=$(samples "$at" 50000 160 | awk 'NR > 1 && ($1 - last) * 8 / 50 > 9500 { print (NR - 2) * 50000; exit } { last = $1 }')
diag "the port is one of 10 Gb/s: h1 has that after $free ns"
# the last CNP was up to T before
between "the port is one of 10 Gb/s: so has h1, when the law says" "${free:-0}" \
	$((4 * 1375000 - 1000000)) $((4 * 1375000 + 50000))
wait "${pids[@]}"
check "the port is one of 10 Gb/s: no limiter is left" wait_until 1 no_limiter h1

# ---- a limiter at the full rate goes when it is looked at next ----
tc_in h1 qdisc change dev e0 root rocc recovery 1ms
pids=()
sends h1 1 $(($(now) + 1000000)) 20ms --rate 100m
sleep 0.002
raised=$(count raised)
at=$(now)
forge rate=1000000
sleep_until $((at + 4950000))
figures h1 e0 limiters raised
is "from 1 Gb/s: after four doublings it is there" "${REPLY% *} $((${REPLY#* } - raised))" "1 4"
sleep_until $((at + 5050000))
figures h1 e0 limiters raised
is "and gone a recovery time later" "${REPLY% *} $((${REPLY#* } - raised))" "0 4"
wait "${pids[@]}"

# ---- flows that a host sends: those of the last 100 ms ----
# known NAME AFTER WANT: is a CNP believed so long after the flow's last packet?
known()
{
	local before refused at

	at=$(($(now) + 1000000))
	sends h1 1 $at 1ms --rate 100m
	wait $!
	before=$(count accepted) refused=$(count bad_flow)
	sleep_until $((at + 1000000 + $2 * 1000000))
	forge rate=1000000
	sleep 0.0001
	is "$1: accepted, refused" "$(($(count accepted) - before)) $(($(count bad_flow) - refused))" "$3"
	check "$1: no limiter is left" wait_until 1 no_limiter h1
}
known "95 ms after its last packet" 95 "1 0"
known "105 ms after its last packet" 105 "0 1"

# ---- flows that a congestion point knows ----
# remembers NAME OPTIONS MS MS: after the first time three flows are there, after the second none
remembers()
{
	local at early

	# shellcheck disable=SC2086
	tc_in s qdisc replace dev pr root handle 2: rocc $2 || die "no congestion point"
	at=$(($(now) + 1000000))
	sends h1 1 $at 1us -f 3 -n 1
	sleep_until $((at + $3))
	figures s pr flows_active
	early=$REPLY
	sleep_until $((at + $4))
	figures s pr flows_active
	is "$1" "$early $REPLY" "3 0"
	wait $!
	tc_in s qdisc del dev pr root
}
# T is 100 us; it is looked at each T
remembers "table age: for 4 T" "table age" 395000 560000
remembers "table age age 2ms" "table age age 2ms" 1995000 2160000
remembers "table queue: not beyond the queue" "table queue" 90000 260000

# A flow that has sent one packet is told for so long: its source counts.
# told NAME OPTIONS LOW HIGH
told()
{
	local before

	# shellcheck disable=SC2086
	tc_in s qdisc replace dev pr root handle 2: rocc limit 64m $2 || die "no congestion point"
	pids=()
	sends h2 2 $(($(now) + 1000000)) 50ms
	sends h1 1 $(($(now) + 40000000)) 1us -n 1
	before=$(count accepted)
	wait "${pids[@]}"
	between "$1" $(($(count accepted) - before)) "$3" "$4"
	tc_in s qdisc del dev pr root
	check "$1: no limiter is left" wait_until 1 all_free
}
all_free() { no_limiter h1 && no_limiter h2; }
# T is 200 us
ip_in s link set pr type wire rate 5gbit
tc_in h2 qdisc add dev e0 root handle 1: rocc role host
told "table age age 3ms: told for 15 T" "table age age 3ms" 14 16
told "table queue: told while it is there" "table queue" 0 2
ip_in s link set pr type wire rate 10gbit

# ---- room: one flow may have a quarter ----
tc_in h1 qdisc replace dev e0 root handle 1: rocc role host limit 400000 hold 1s recovery auto
pkill -x udpflow
wait
in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink" &
pids=($!)
start=$(($(now) + 1000000))
# 83 packets each ms
sends h1 1 $start 40ms -f 2 --rate 1g
sends h1 3 $start 40ms --rate 1g
sleep_until $((start + 1000000))
forge rate=10000 gap=500000000
sleep_until $((start + 10000000))
figures h1 e0 held drop_limit
between "one that is held back has a quarter of the room" "${REPLY% *}" $((100000 - 1514)) 100000
between "and no more" "${REPLY#* }" 500 1000
FLOW=${FLOW/5001/5002} forge rate=10000 gap=500000000
sleep_until $((start + 20000000))
figures h1 e0 held backlog
between "two have two" "${REPLY% *}" $((200000 - 2 * 1514)) 200000
between "and the rest is free" "${REPLY#* }" 0 225000
wait "${pids[@]}"
is "of a third flow, between them, nothing is lost" "$(jq '.flows[] | select(.flow == 3) | .lost' "$work/sink")" 0
tc_in h1 qdisc del dev e0 root
rm -r "$work"
finish
