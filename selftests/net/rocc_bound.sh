#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A congestion point that may not send as many CNPs as it has flows to tell: each is told less often, and
# hears how long it takes. Its limiter waits for so long, and the queue is at its reference all the same.
# And what it costs to look through the flows is bounded, also when nobody is told.
#
#	h1 ---.
#	...    s --- r		100 flows in all
#	h4 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

# $SLUICE_ROCC_BOUNDS: so many CNPs per second (auto 100000).

HOSTS=4
EACH=25

# bound CNPS: so many per second
bound()
{
	local start at area reference sent i now

	leave_spaces
	star bridge $HOSTS 10gbit 1500ns
	tc_in s qdisc add dev pr root handle 1: rocc limit 64m cnps "$1" || die "no congestion point"
	in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink" &
	pids=($!)
	start=$(($(now) + 5000000))
	for ((i = 1; i <= HOSTS; i++)); do
		tc_in h$i qdisc add dev e0 root handle 1: rocc role host limit 64m || die "no reaction point"
		sends h$i $((100 * i)) $start 150ms -f $EACH
	done
	sleep_until $((start + 100000000))
	figures s pr time backlog_time q_ref cnps
	read -r at area reference sent <<<"$REPLY"
	sleep_until $((start + 145000000))
	figures s pr time backlog_time drops cnps cnps_held
	read -r -a now <<<"$REPLY"
	sent=$(((now[3] - sent) * 1000000000 / (now[0] - at)))
	diag "cnps $1: $sent CNPs per second, held: ${now[4]}, mean queue: $(((now[1] - area) / (now[0] - at)))"
	within "cnps $1: the queue is at its reference" $(((now[1] - area) / (now[0] - at))) "$reference" "$2"
	[ "$1" = auto ] || between "cnps $1: no more are sent" $sent $(($1 / 2)) $(($1 * 101 / 100))
	is "cnps $1: nothing is lost" "${now[2]}" 0
	wait "${pids[@]}"
	check "cnps $1: no limiter is left" wait_until 5 all_free
}

all_free()
{
	local i

	for ((i = 1; i <= HOSTS; i++)); do
		no_limiter h$i || return
	done
}

# Of very many flows that are told nothing, for the port is free, so many are forgotten in an interval.
scan()
{
	local flows=30000 known word box

	leave_spaces
	star bridge 1 10gbit 1500ns
	for box in s h1 r; do	# what they say of their own accord, at a time that is drawn, is a flow
		in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6" 2>/dev/null
	done
	tc_in s qdisc add dev pr root handle 1: rocc interval 1s flows 65536 || die "no congestion point"
	tc_in h1 qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"
	modprobe -q pktgen || [ -d /proc/net/pktgen ] || die "no pktgen"
	pktgen kpktgend_0 "add_device e0"
	for word in "xmit_mode queue_xmit" "count $flows" "pkt_size 60" "delay 0" "src_min 10.0.0.1" "src_max 10.0.0.1" \
		    "dst 10.0.0.200" "dst_mac $(mac 200)" "udp_src_min 10000" "udp_src_max 40000"; do
		pktgen e0 "$word"
	done
	pktgen pgctrl start
	figures s pr flows_active
	known=$REPLY
	between "very many flows: they are known" "$known" 12500 $flows
	sleep 1
	for word in 1 2 3; do
		figures s pr flows_active
		is "very many flows: so many are looked at in interval $word" $((known - REPLY)) 4096
		known=$REPLY
		sleep 1
	done
	sleep 8
	figures s pr flows_active backlog
	is "very many flows: all are forgotten" "$REPLY" "0 0"
	pktgen kpktgend_0 rem_device_all
}

pktgen() { in_ns h1 sh -c "echo '$2' >/proc/net/pktgen/$1" || die "pktgen: $2"; }

# 1000000 would be needed: each flow, each 100 us
for cnps in ${SLUICE_ROCC_BOUNDS:-auto 100000}; do
	bound $cnps $([ $cnps = auto ] && echo 10 || echo 20)
done
scan

rm -r "$work"
finish
