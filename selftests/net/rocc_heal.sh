#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC heals itself. Congestion notification packets are lost, the congestion point restarts or goes,
# the route changes, senders vanish: rates recover, and no limiter stays.
#
#	h1 ---.
#	h2 --- s --- r		10 Gb/s, 1.5 us
#	h3 ---'

. "$(dirname "$0")/lib.sh"
# the fewer packets, the longer what is looked at
ROCC_MTU=9000
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

RATE=10	# Gb/s
N=3
LIMIT=64m

all_free()
{
	local i

	for ((i = 1; i <= N; i++)); do
		no_limiter "h$i" || return
	done
}

# begin TIME [ARG]...: all send to r, from $start on; $end is when they stop
begin()
{
	local i

	in_ns r "$udpflow" sink --json --idle 200ms >"$work/sink" &
	pids=($!)
	start=$(($(now) + 20000000))
	end=$((start + $1 * 1000000))
	for ((i = 1; i <= N; i++)); do
		sends "h$i" "$i" "$start" "${1}ms" "${@:2}"
	done
}

# ended NAME: nothing was lost, no limiter and no flow is left
ended()
{
	wait "${pids[@]}"
	is "$1: no packet was lost" "$(jq '"\(.lost) \(.corrupt) \(.flows | length)"' "$work/sink")" "\"0 0 $N\""
	check "$1: no limiter is left" wait_until 1 all_free
	figures s pr flows_active fair_rate
	is "$1: the congestion point is at rest" "$REPLY" "0 $((RATE * 125000000))"
}

# rates FROM: sets rates[i], Mbit/s, in the 10 ms from then on
rates()
{
	local i

	sleep_until "$1"
	for ((i = 1; i <= N; i++)); do
		rates[i]=$(link_stat "h$i" e0 tx_bytes)
	done
	sleep_until $(($1 + 10000000))
	for ((i = 1; i <= N; i++)); do
		rates[i]=$((($(link_stat "h$i" e0 tx_bytes) - rates[i]) * 8 / 10000))
	done
}

# shares NAME FROM: then each gets its part, and the link is full
shares()
{
	local i

	rates "$2"
	diag "$1: ${rates[*]} Mbit/s"
	for ((i = 1; i <= N; i++)); do
		within "$1: h$i gets its part" "${rates[i]}" $((RATE * 1000 / N)) 3
	done
}

lose() # SHARE: of what goes to the hosts, which is CNPs alone
{
	local i

	for ((i = 1; i <= N; i++)); do
		ip_in s link set "p$i" type wire loss_data "$1" seed $((i + 40))
	done
}

star bridge $N ${RATE}gbit 1500ns
tc_in s qdisc add dev pr root handle 1: rocc limit $LIMIT
for ((i = 1; i <= N; i++)); do
	tc_in "h$i" qdisc add dev e0 root handle 1: rocc role host
done

# With a longer recovery time a lost CNP is no end of congestion.
LOSS=${SLUICE_ROCC_LOSS:-10 50}	# percent, or none: not now
for loss in ${LOSS#none}; do
	for recovery in auto 1ms; do
		name="$loss % of CNPs lost, recovery $recovery"
		for ((i = 1; i <= N; i++)); do
			tc_in "h$i" qdisc change dev e0 root rocc recovery $recovery
		done
		lose $loss%
		begin 100
		rates $((start + 40000000))
		diag "$name: ${rates[*]} Mbit/s"
		for ((i = 1; i <= N; i++)); do
			between "$name: h$i is not starved" "${rates[i]}" $((RATE * 1000 / N / 10)) $((RATE * 1000))
		done
		lose 0ppb
		shares "$name, then none" $((start + 85000000))
		ended "$name, then none"
	done
done
for ((i = 1; i <= N; i++)); do
	tc_in "h$i" qdisc change dev e0 root rocc recovery auto
done

lose 100%
begin 10
sleep_until $((end - 1000000))
is "all CNPs lost: no limiter" "$(limiters h1)" 0
ended "all CNPs lost"
lose 0ppb

begin 60
sleep_until $((start + 20000000))
tc_in s qdisc change dev pr root rocc limit 32m
shares "options change under load" $((start + 30000000))
ended "options change under load"

begin 70
sleep_until $((start + 20000000))
tc_in s qdisc add dev pr parent 1:1 handle 2: pfifo limit 40000
shares "the child is replaced" $((start + 50000000))
wait "${pids[@]}"
check "the child is replaced: no limiter is left" wait_until 1 all_free
tc_in s qdisc del dev pr parent 1:1

# What was queued at the congestion point goes with it; the new one has another epoch.
begin 70
sleep_until $((start + 20000000))
tc_in s qdisc del dev pr root
tc_in s qdisc add dev pr root handle 1: rocc limit $LIMIT
shares "the congestion point restarts" $((start + 50000000))
wait "${pids[@]}"
check "the congestion point restarts: no limiter is left" wait_until 1 all_free

begin 40
sleep_until $((start + 20000000))
tc_in s qdisc replace dev pr root handle 3: pfifo limit 100000
sleep_until $((start + 25000000))
is "the congestion point has gone: nobody is limited" "$(for i in 1 2 3; do limiters h$i; done | xargs)" "0 0 0"
wait "${pids[@]}"
tc_in s qdisc replace dev pr root handle 1: rocc limit $LIMIT

# A device without carrier loses all that comes, at once: only their rate holds senders back from here on.
begin 40 --rate ${RATE}g
sleep_until $((start + 20000000))
ip_in s link set p3 down
sleep_until $((start + 21000000))
ip_in s link set p3 up
sleep_until $((start + 25000000))
tc_in h2 qdisc del dev e0 root
tc_in h2 qdisc add dev e0 root handle 1: rocc role host
wait "${pids[@]}"
check "a port flaps and a reaction point restarts: no limiter is left" wait_until 1 all_free

begin 30 --rate ${RATE}g
sleep_until $((start + 20000000))
ip_in s link del pr
sleep_until $((start + 25000000))
is "the port vanishes with all that it holds: nobody is limited" \
	"$(for i in 1 2 3; do limiters h$i; done | xargs)" "0 0 0"
kill "${pids[@]}" 2>/dev/null
ip netns pids "$NS-r" | xargs -r kill
wait

# A host goes with packets in its limiters.
is "packets wait in a limiter" "$(tc_in h1 qdisc del dev e0 root && echo gone)" gone
rm -r "$work"
finish
