#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual cable to the nanosecond: serialisation, propagation, ring, control frames.
#
#	a: w0 ===================== w1 :b
#
# The probe stamps each frame when the stack hands it to w0 (tx) and when w1 hands it to the
# stack (rx), so the differences are the cable's own.

. "$(dirname "$0")/lib.sh"
need_virtual_time
probe=$(dirname "$0")/wireprobe
[ -x "$probe" ] || skip_all "wireprobe is not built (make -C selftests)"
gsosend=$(dirname "$0")/gsosend
[ -x "$gsosend" ] || skip_all "gsosend is not built"
need_tool jq ethtool
load_modules wire
ns a b
for n in a b; do
	in_ns $n sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done

# cable [OPTION...] [-- LINK OPTION...]
cable()
{
	local options=()

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	ip_in a link del w0 2>/dev/null
	ip_in a link add name w0 txqueuelen 20000 "$@" type wire "${options[@]}" \
		peer name w1 netns "$NS-b" || die "no cable"
	ip_in a link set w0 up
	ip_in b link set w1 up
	sleep 0.1
}

set_wire() { ip_in a link set w0 type wire "$@"; }
counter() { in_ns a ethtool -S w0 | awk -v k="$1:" '$1 == k { print $2 }'; }
send() { "$probe" -t -w "$wait_ms" "$NS-a/w0" "$NS-b/w1" "$@"; }
wait_ms=100

# Reads what send says. Frames 0 to N - 1 of BYTES were sent at once over a line of RATE bit/s
# and NS of delay: is each there exactly when it should be?
exact()
{
	local kind sequence ns bytes bits first= count=0 want

	while read -r kind sequence ns bytes bits; do
		case $kind in
		tx)	[ "$sequence" != 0 ] || first=$ns ;;
		rx)	times[sequence]=$ns ;;
		esac
	done
	for sequence in "${!times[@]}"; do
		want=$((first + (sequence + 1) * $2 * 8000000000 / $3 + $4))
		if [ "${times[sequence]}" != "$want" ]; then
			echo "frame $sequence at ${times[sequence]}, should be at $want"
			return
		fi
		count=$((count + 1))
	done
	echo "$count exact"
}

test_rate()
{
	local -a times
	local rate bps bytes n ring

	while read -r rate bps bytes n; do
		for ring in 0 10000 1m; do
			cable rate "$rate" ring "$ring" delay 700ns
			times=()
			is "$n frames of $bytes B at $rate, ring $ring" \
				"$(send "count=$n,size=$bytes" | exact "$n" "$bytes" "$bps" 700)" "$n exact"
		done
	done <<-END
		1gbit    1000000000   1000 500
		10gbit   10000000000  1514 500
		100gbit  100000000000 1000 500
		400gbit  400000000000 64   500
		400gbit  400000000000 1514 500
		3gbit    3000000000   1000 500
		1000tbit 1000000000000000 60 500
	END
	wait_ms=500000
	cable rate 7bit delay 1s
	times=()
	is "5 frames of 60 B at 7 bit/s" "$(send count=5,size=60 | exact 5 60 7 1000000000)" "5 exact"
	wait_ms=100
	cable rate 1gbit overhead 24
	times=()
	is "with overhead" "$(send count=100,size=1000 | exact 100 1024 1000000000 0)" "100 exact"
	is "the line was busy for as long" "$(counter busy_ns)" 819200
}

# Frames that are late by an exact time, and those that overtake them
test_reorder()
{
	local wrong got

	cable rate 1gbit delay 1us reorder 20% reorder_delay 60us seed 3
	got=$(send count=500,size=1000)
	# frame n has left after (n + 1) * 8 us
	wrong=$(awk '$1 == "tx" && $2 == 0 { first = $3 }
		$1 == "rx" { at[$2] = $3 }
		END { for (n = 0; n < 500; n++) {
			d = at[n] - first - (n + 1) * 8000 - 1000
			if (d == 60000) late++; else if (d) print n, d }
		      print late }' <<<"$got")
	is "frames are on time, or late by 60 us exactly" "$wrong" "$(counter reordered)"
	between "a fifth of them" "$(counter reordered)" 70 130
	is "and arrive in the order of time" "$(grep ^rx <<<"$got" | sort -s -n -k3,3 | md5sum)" \
		"$(grep ^rx <<<"$got" | md5sum)"
}

# latency OPTION...: of a single frame
latency()
{
	cable "$@"
	send size=1000 | awk '$1 == "rx" { rx = $3 } $1 == "tx" { tx = $3 } END { printf "%.0f\n", rx - tx }'
}

test_delay()
{
	local got

	is "no rate, no delay, no time" "$(latency)" 0
	is "1 ns" "$(latency delay 1ns)" 1
	is "1 us at 100 Gb/s" "$(latency delay 1us rate 100gbit)" 1080
	wait_ms=20000
	is "10 s" "$(latency delay 10s)" 10000000000
	wait_ms=100
	cable delay 50ms
	got=$(
		sleep 0.03 && set_wire delay 1us &
		send count=5 count=5,at=20000000
		wait)
	is "a shorter delay does not let frames overtake" "$(awk '$1 == "rx" { print $2 }' <<<"$got")" \
		"$(seq 0 9)"
	is "they come with those before them" \
		"$(awk '$1 == "rx" { print $3 }' <<<"$got" | uniq | wc -l)" 1
}

# Frames on the card at any time, at most, of frames of 1000 B at 1 Gb/s
on_card()
{
	awk '$1 == "tx" { if ($2 == 0) first = $3; n = $2 - int(($3 - first) / 8000) + 1
			  if (n > most) most = n } END { print most }'
}

test_ring()
{
	local n

	cable rate 1gbit ring 0
	is "ring 0: each frame is handed over when the last one has left" \
		"$(send count=300,size=1000 | awk '$1 == "tx" { if ($2 == 0) first = $3
			if ($3 != first + $2 * 8000) bad++; n++ } END { print n + 0, bad + 0 }')" "300 0"
	is "and the line never rests" "$(counter busy_ns)" $((300 * 8000))
	is "nor did the queue stop for the other reason" "$(counter ring_full)" 0
	for n in 2 5 10; do
		cable rate 1gbit ring "${n}000"
		between "ring of $n frames is not exceeded" "$(send count=500,size=1000 | on_card)" \
			2 $((n + 1))
	done
	echo 5000 | in_ns a tee /sys/class/net/w0/queues/tx-0/byte_queue_limits/limit_min >/dev/null
	is "a least limit fills the ring from the start" "$(send count=500,size=1000 | on_card)" 6
	set_wire ring 0
	is "a ring made smaller counts at once" "$(send count=500,size=1000 | on_card)" 1
	cable rate 1gbit
	is "past the qdisc 4096 frames wait, no more" \
		"$(send count=5000,size=1000,direct,drop | grep -c ^rx)" 4097
	is "and the queue was stopped once" "$(counter ring_full)" 1
	is "and is awake" "$(send count=10 | grep -c ^rx)" 10
}

order() { awk '$1 == "rx" { printf "%s%s", n++ ? " " : "", $2 }'; }

test_control()
{
	local got

	# 8 us each: the control frame comes while the third is being sent
	cable rate 1gbit
	got=$(send count=10,size=1000,direct count=1,size=125,prio=7,direct,at=20000)
	is "a control frame waits for the frame on the line only" "$(order <<<"$got")" \
		"0 1 2 10 3 4 5 6 7 8 9"
	is "and then takes its own time" \
		"$(awk '$2 == 2 { two = $3 } $2 == 10 { print $3 - two }' <<<"$got")" 1000
	is "counted" "$(counter control_frames)" 1
	got=$(send count=10,size=1000 count=1,size=125,prio=7,direct,at=20000)
	is "a queue stopped by its byte limit lets it pass" "$(order <<<"$got")" \
		"0 1 2 10 3 4 5 6 7 8 9"
	got=$(send count=1,size=1000,direct count=70,size=125,prio=7,direct)
	is "64 wait, the 65th is dropped" "$(order <<<"$got" | wc -w) $(counter control_overflow)" \
		"65 6"
}

# Three queues are filled by type; the line takes from each in turn.
# A train of N datagrams goes down as one; the line is busy with the headers of each.
test_train()
{
	local n=10 bytes=1000 how busy

	for how in on off; do
		cable rate 1gbit overhead 24
		in_ns a sh -c "echo 1 >/proc/sys/net/ipv6/conf/w0/disable_ipv6"
		ip_in a addr add 10.0.0.1/24 dev w0
		neigh a w0 10.0.0.2 "$(ip_in b -j link show w1 | jq -r '.[0].address')"
		in_ns a ethtool -K w0 tx-udp-segmentation $how
		in_ns a "$gsosend" 10.0.0.2 $n $bytes
		sleep 0.01
		is "a UDP train, segmentation on the card $how" "$(counter sent_frames)" \
			"$([ $how = on ] && echo 1 || echo $n)"
		is "takes as long as its frames" "$(counter busy_ns)" $((n * (bytes + 42 + 24) * 8))
	done
}

test_queues()
{
	local got q

	cable rate 1gbit ring 0 -- numtxqueues 4
	tc_in a qdisc add dev w0 clsact
	for q in 1 2 3; do
		tc_in a filter add dev w0 egress protocol "0x900$q" pref "$q" matchall \
			action skbedit queue_mapping "$q" || die "no filter"
	done
	got=$(send count=100,type=0x9001 count=100,type=0x9002 count=100,type=0x9003)
	is "by turns" "$(awk '$1 == "rx" { q = int($2 / 100); if (n > 0 && q != (last + 1) % 3) bad++
		last = q; n++ } END { print n + 0, bad + 0 }' <<<"$got")" "300 0"
	is "without a gap" "$(awk '$1 == "rx" { if (n++ == 0) first = $3; last = $3 }
		END { print last - first }' <<<"$got")" $((299 * 480))
	is "each queue has its byte limit" \
		"$(in_ns a sh -c 'cat /sys/class/net/w0/queues/tx-*/byte_queue_limits/limit_max' |
			tr '\n' ' ')" "0 0 0 0 "
}

test_change()
{
	local got

	# 10 ms a frame; the rate changes somewhere in the middle
	cable rate 800kbit
	got=$(
		sleep 0.075 && set_wire rate 1600kbit &
		send count=10,size=1000
		wait)
	is "another rate holds from the next frame on" "$(
		awk '$1 == "rx" { if (n++) print $3 - last; last = $3 }' <<<"$got" | uniq |
			tr '\n' ' ')" "10000000 5000000 "
	cable rate 1gbit duplicate 100%
	is "a duplicate takes its own time" "$(send count=3,size=1000 |
		awk '$1 == "rx" { print $3 - last; last = $3 }' | tail -n +2 | sort -u)" 8000
	cable rate 1gbit loss 100%
	send count=10,size=1000 >/dev/null
	is "a lost frame too" "$(counter busy_ns)" 80000
}

nothing_to_inspect "the ends of a cable have the kernel's own qdiscs"
# All, or those named
for name in "${@:-rate delay reorder ring control train queues change}"; do
	for part in $name; do
		"test_$part"
	done
done
finish
