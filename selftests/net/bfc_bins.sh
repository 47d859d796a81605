#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How flows are spread over sub-queues.
#
#	a:p ---- b:q		wire
#
# With `assign stochastic` a flow's hash alone says where it goes, so n sub-queues are as bins into which
# balls are thrown: of m balls, n (1 - 1/n)^m bins have none, and where all have many, the sum of the squares
# of the deviations over the mean, chi square, is n - 1, with a variance of 2 (n - 1). With `assign dynamic`
# each flow has one of its own while there are any; `reuse empty` takes the empty ones for free as soon as
# they are, so that flows that come one after the other fall into bins again. All bounds are at five standard
# deviations and more.

. "$(dirname "$0")/lib.sh"
need_tool ip tc awk
need_virtual_time
load_modules hopctl sch_bfc wire

need_program frames

two_boxes rate 10gbit delay 1us ring 0

# sent OPTIONS LINE...: by a new qdisc; sets `per` to the packets that each sub-queue has sent, those that were
# used
sent()
{
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev p root handle 1: bfc role host share random $1 || die "no bfc $1"
	printf '%s\n' "${@:2}" | "$frames" -w 100 "$NS-a/p" "$NS-b/q" >/dev/null || die "frames"
	mapfile -t per < <(tc_in a -s class show dev p | awk '
		/ parent / { queue = 1 } queue && / Sent / { print $4; queue = 0 }')
	stats=$(tc_in a -j -s qdisc show dev p)
	leave_ports
	tc_in a qdisc del dev p root
}

figures() { figures_in "$stats" "$@"; echo "$REPLY"; }

# chi_square N: of N sub-queues, rounded
chi_square()
{
	printf '%s\n' "${per[@]}" | awk -v n="$1" '
		{ sum += $1; squares += $1 * $1 }
		END { mean = sum / n; printf "%.0f\n", squares / mean - sum }'
}

FLOW="from=10.0.0.1 to=10.0.0.2"
SIX="from=fd00::1 to=fd00::2"

diag "assign stochastic"
sent "assign stochastic queues 64" "a n=3 $FLOW" "a n=3 $FLOW"
is "a flow is always in the same one" "${per[*]}" 6
# 64 (1 - 1/64)^64 = 23.4 are left empty, with a standard deviation of 2.5
sent "assign stochastic queues 64" "a ports=64 $FLOW"
between "64 flows: of 64 sub-queues come into use" ${#per[@]} 28 53
for kind in "IPv4 $FLOW" "IPv6 $SIX"; do
	name=${kind%% *}
	sent "assign stochastic queues 64" "a ports=6400 sport=1000 bytes=128 ${kind#* }"
	is "$name: 6400 flows: all do" ${#per[@]} 64
	between "$name: and alike, by chi square" "$(chi_square 64)" 15 130
done
# Not a power of two, and the last of the odd ones, too
sent "assign stochastic queues 63 classes 3 priomap 0 1 2 2 2 2 2 2 2 2 2 2 2 2 2 2" \
	"a prio=1 ports=2100 sport=1000 $FLOW"
is "a class of 21: all of them" ${#per[@]} 21
between "alike" "$(chi_square 21)" 1 62
# 1000 flows of two addresses and one port
sent "assign stochastic queues 16" "a ports=800 sport=1000 $FLOW" "b ports=800 sport=1000 from=10.0.0.2 to=10.0.0.1"
is "there and back: all of 16" ${#per[@]} 16
between "there and back: alike" "$(chi_square 16)" 1 48
is "nothing is assigned by the flow table" "$(figures assign_free assign_early assign_shared assign_sticky)" "0 0 0 0"

diag "assign dynamic"
# Each flow's packet has left when the next comes: it takes the line 80 ns
one_by_one=()
for ((i = 0; i < 64; i++)); do
	one_by_one+=("f$i wait=10000 sport=$((2000 + i)) $FLOW")
done
OPTIONS="queues 64 flows 400000 sticky 1s"
sent "$OPTIONS" "${one_by_one[@]}"
is "64 flows, one after the other: each has its own" "${#per[@]} $(figures assign_free assign_early assign_shared)" \
	"64 64 0 0"
sent "$OPTIONS reuse empty" "${one_by_one[@]}"
between "reuse empty: some have one that was used before" ${#per[@]} 28 53
is "each is free when it is taken" "$(figures assign_free assign_early assign_shared)" "64 0 0"
sent "$OPTIONS reuse empty" "a ports=64 n=2 bytes=1500 $FLOW"
is "reuse empty: what waits is shared by nobody" "${#per[@]} $(figures assign_free assign_shared)" "64 64 0"

# One sub-queue, and another flow comes within its sticky time
OPTIONS="queues 1 flows 400000 sticky 1s"
two=("a $FLOW" "b wait=10000 sport=6001 $FLOW" "a wait=10000 $FLOW")
sent "$OPTIONS" "${two[@]}"
is "within the sticky time it is taken early" "$(figures assign_free assign_early assign_sticky)" "1 1 1"
sent "$OPTIONS reuse empty" "${two[@]}"
is "with reuse empty it is free" "$(figures assign_free assign_early assign_sticky)" "2 0 1"
finish
