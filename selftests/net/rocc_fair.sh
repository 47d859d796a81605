#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC, section 6.1: N greedy senders that meet at one link. Each gets the N-th part, and the queue
# settles at the reference length, whatever N is (Fig. 8). When half of them stop, the others have
# twice as much in a few intervals (Fig. 9). When all have stopped, nothing is left: no limiter, no
# flow, the full rate.
#
#	h1 ---.
#	 ..    s --- r		wires, all of RATE, 1.5 us; s is a bridge without an address
#	hN ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

RATES=${SLUICE_ROCC_RATES:-40 100}	# Gb/s
FLOWS=${SLUICE_ROCC_FLOWS:-2 10}
OPTIONS=${SLUICE_ROCC_OPTIONS:-}		# of the switch
WINDOW=5				# ms

# What a start at line rate leaves in the queue has to be drained first: about 60 us of each sender.
warmup() { echo $((10 + $1 / 6)); }

settles() # NAME N RATE
{
	local part tolerance=2

	part=$(awk "BEGIN { print $3 / $2 }")
	# of 100 flows a packet more or less in the window is a percent
	[ "$2" -lt 50 ] || tolerance=4
	diag "$1: fair rate $fair Gb/s, each from $each_least to $each_most, mean queue $mean of $q_ref"
	within "$1: the fair rate is the N-th part" "$fair" "$part" $((tolerance * (1 + ($2 >= 50) * 5)))
	within "$1: who got least got it" "$each_least" "$part" $tolerance
	within "$1: and who got most" "$each_most" "$part" $tolerance
	# one flow alone fills the link and no queue
	[ "$2" = 1 ] || within "$1: the mean queue is at the reference" "$mean" "$q_ref" 10
}

all_free()
{
	local i

	for ((i = 1; i <= n; i++)); do
		no_limiter "h$i" || return
	done
}

for rate in $RATES; do
	for n in $FLOWS; do
		name="$rate Gb/s, $n flows"
		star bridge "$n" "${rate}gbit" 1500ns
		# shellcheck disable=SC2086
		tc_in s qdisc add dev pr root handle 1: rocc limit 128m $OPTIONS || die "no qdisc"
		for ((i = 1; i <= n; i++)); do
			tc_in "h$i" qdisc add dev e0 root handle 1: rocc role host || die "no qdisc"
		done
		figures s pr q_ref
		q_ref=$REPLY
		in_ns r "$udpflow" sink --json --idle 20ms >"$work/sink" &
		pids=($!)
		start=$(($(now) + 20000000))
		half=$((start + ($(warmup "$n") + WINDOW + 1) * 1000000))
		end=$((half + 15000000))
		for ((i = 1; i <= n; i++)); do
			# the second half of them stops earlier
			until=$((i > n / 2 ? half : end))
			sends "h$i" "$i" $((start + i * 170)) $(((until - start) / 1000000))ms
		done
		measure "$n" $((start + $(warmup "$n") * 1000000))
		settles "$name" "$n" "$rate"
		measure $((n / 2)) $((end - (WINDOW + 1) * 1000000))
		settles "$name, half of them stop" $((n / 2)) "$rate"
		wait "${pids[@]}"
		is "$name: nothing was lost" "$(jq '"\(.lost) \(.corrupt) \(.flows | length)"' "$work/sink")" \
			"\"0 0 $n\""
		check "$name: no limiter is left" wait_until 1 all_free
		figures s pr flows_active fair_rate cnps_failed cnps_held
		is "$name: and no flow; the rate is the full one" "$REPLY" "0 $((rate * 125000000)) 0 0"
		leave_spaces
	done
done
rm -r "$work"
finish
