#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC, sections 5.2 and 6: where it is stable. N greedy flows that meet at one link, N from 2 to 128,
# and T from 8 times down to an eighth of the round-trip time. At 1 to 2 times (section 4: "a
# typical guideline") the mean queue is at the reference, the link is full and the rate stays where it is.
# The rest is a map: what becomes of queue, rate and link there.
#
#	h1 ---.
#	 ..    s --- r		wires, all of RATE; s is a bridge; host i has flows i, i + HOSTS, ...
#	h8 ---'
#
# The round trip is that of a packet of full size between two hosts while nothing else is sent: the delays
# of four wires, and 5 x the time that such a packet takes on one.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time

RATE=40			# Gb/s
INTERVAL=40		# us: T, which is the default at this rate
HOSTS=8
FLOWS=${SLUICE_ROCC_MAP_FLOWS-2 8 32 128}
RATIOS=${SLUICE_ROCC_MAP_RATIOS-2 1}	# T / RTT; the map of the manual page: 4 2 1 .5 .25 .125
OPTIONS=${SLUICE_ROCC_OPTIONS:-}		# of the switch
SAMPLES=200				# one each T / 2
[ -n "$FLOWS" ] || skip_all "SLUICE_ROCC_MAP_FLOWS is empty"
load_modules sch_rocc wire

# Sets mean (% of the reference), queue_sd, rate (% of the N-th part), rate_sd, use (% of the link)
watch() # N FROM
{
	local i b=() a=()

	sleep_until "$2"
	figures s pr backlog_time time q_ref
	read -ra b <<<"$REPLY"
	link_stat s pr tx_bytes >"$work/bytes"
	for ((i = 1; i <= SAMPLES; i++)); do
		sleep_until $(($2 + i * INTERVAL * 500))
		figures s pr backlog fair_rate
		echo "$REPLY"
	done >"$work/samples"
	figures s pr backlog_time time
	read -ra a <<<"$REPLY"
	link_stat s pr tx_bytes >>"$work/bytes"
	read -r queue_sd rate rate_sd < <(awk -v ref="${b[2]}" -v part=$((RATE * 125000000 / $1)) '
		{ q += $1; qq += $1 * $1; f += $2; ff += $2 * $2 }
		function sd(sum, squares) { v = squares / NR - (sum / NR) ^ 2; return v > 0 ? sqrt(v) : 0 }
		END { printf "%.0f %.1f %.1f\n", sd(q, qq) / ref * 100, f / NR / part * 100, sd(f, ff) / part * 100 }
		' "$work/samples")
	mean=$(awk "BEGIN { printf \"%.0f\", (${a[0]} - ${b[0]}) / (${a[1]} - ${b[1]}) / ${b[2]} * 100 }")
	use=$(awk -v span=$((a[1] - b[1])) -v rate=$RATE '
		NR == 1 { first = $1 } END { printf "%.1f", ($1 - first) * 800 / span / rate }' "$work/bytes")
}

diag "$(printf '%5s %6s %9s   %7s %5s   %7s %5s   %6s' N T/RTT 'RTT (us)' queue sd rate sd link)"
diag "$(printf '%5s %6s %9s   %13s   %13s   %6s' '' '' '' '% of Qref' '% of B/N' '%')"
for ratio in $RATIOS; do
	delay=$(awk "BEGIN { printf \"%.0f\", ($INTERVAL / $ratio - 5 * $ROCC_MTU * .008 / $RATE) * 250 }")	# ns
	rtt=$(awk "BEGIN { print $INTERVAL / $ratio }")
	for n in $FLOWS; do
		name="T = $ratio RTT, $n flows"
		hosts=$((n < HOSTS ? n : HOSTS))
		star bridge $hosts ${RATE}gbit "${delay}ns"
		# shellcheck disable=SC2086
		tc_in s qdisc add dev pr root handle 1: rocc limit 128m interval ${INTERVAL}us $OPTIONS ||
			die "no qdisc"
		for ((i = 1; i <= hosts; i++)); do
			tc_in "h$i" qdisc add dev e0 root handle 1: rocc role host limit 128m || die "no qdisc"
		done
		in_ns r "$udpflow" sink --json --idle 20ms >"$work/sink" &
		pids=($!)
		start=$(($(now) + 50000000))
		warmup=$((20 + n / 8))	# ms
		for ((i = 1; i <= n; i++)); do
			sends "h$(((i - 1) % hosts + 1))" "$i" $((start + i * 170)) \
				$((warmup + SAMPLES * INTERVAL / 2000 + 1))ms
		done
		watch "$n" $((start + warmup * 1000000))
		diag "$(printf '%5d %6s %9s   %7s %5s   %7s %5s   %6s' "$n" "$ratio" "$rtt" "$mean" "$queue_sd" \
			"$rate" "$rate_sd" "$use")"
		wait "${pids[@]}"
		is "$name: nothing was lost" "$(jq '"\(.lost) \(.corrupt) \(.flows | length)"' "$work/sink")" \
			"\"0 0 $n\""
		if awk "BEGIN { exit !($ratio >= 1) }"; then
			within "$name: the mean queue is at the reference" "$mean" 100 10
			within "$name: the fair rate is the N-th part" "$rate" 100 5
			between "$name: the queue does not swing" "$queue_sd" 0 15
			between "$name: neither does the rate" "${rate_sd%.*}" 0 10
			within "$name: the link is full" "$use" 100 1
		fi
		leave_spaces
	done
done
rm -r "$work"
finish
