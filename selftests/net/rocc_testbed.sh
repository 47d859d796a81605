#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC, section 6.2: three senders, a software switch and a receiver, at a hundredth of the testbed's
# rates: links of 100 Mb/s, T = 10 ms, a reference of 75 kB. Offered 100 Mb/s each, each gets a third;
# offered 100, 30 and 10, they get 60, 30 and 10 (Fig. 13). UDP, and then TCP.
#
# Nothing here is exact to the nanosecond, so it runs in real time, too: in a virtual machine on the
# distribution's kernel. UDP is iperf3's there, and its cards have rings, so that a late timer leaves no
# gap on the line.

. "$(dirname "$0")/lib.sh"
[ "${SLUICE_HOME:-}" = uml ] || { need_tool iperf3; ROCC_RING=6056; }
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge

N=3
SECONDS_RUN=${SLUICE_ROCC_SECONDS:-12}	# of each part; 0: not now
[ "$SECONDS_RUN" -gt 0 ] || skip_all "SLUICE_ROCC_SECONDS is 0"

# halves: the flows have begun; sets rates[i] (kbit/s) and mean (bytes) over the last half of the run
halves()
{
	local i a=() b=() half=$((SECONDS_RUN * 1000000000 / 2))

	sleep_until $((start + half))
	for ((i = 1; i <= N; i++)); do
		rates[i]=$(link_stat "h$i" e0 tx_bytes)
	done
	begin=$(now)
	figures s pr backlog_time time
	read -ra a <<<"$REPLY"
	sleep_until $((start + half * 2 - 500000000))
	for ((i = 1; i <= N; i++)); do
		rates[i]=$(($(link_stat "h$i" e0 tx_bytes) - rates[i]))
	done
	end=$(now)
	figures s pr backlog_time time
	read -ra b <<<"$REPLY"
	for ((i = 1; i <= N; i++)); do
		rates[i]=$((rates[i] * 8000000 / (end - begin)))
	done
	mean=$(((b[0] - a[0]) / (b[1] - a[1])))
}

# shares NAME KBIT...
shares()
{
	local i name=$1

	shift
	diag "$name: ${rates[*]} kbit/s, mean queue $mean"
	for ((i = 1; i <= N; i++)); do
		within "$name: h$i" "${rates[i]}" "${!i}" 5
	done
	within "$name: the mean queue is at the reference" "$mean" 75000 15
}

all_free()
{
	local i

	for ((i = 1; i <= N; i++)); do
		no_limiter "h$i" || return
	done
}

load_modules sch_rocc wire
star bridge $N 100mbit 50us
for ((i = 1; i <= N; i++)); do
	neigh r e0 "10.0.0.$i" "$(mac "$i")"
	tc_in "h$i" qdisc add dev e0 root handle 1: rocc role host
done
tc_in s qdisc add dev pr root handle 1: rocc interval 10ms qref 75000 qmid 150000 qmax 210000

# udp_iperf3 RATE...: what each offers, payload bit/s
udp_iperf3()
{
	local i

	pids=()
	for ((i = 1; i <= N; i++)); do
		in_ns r iperf3 -s -1 -p $((5200 + i)) --json >"$work/sink$i" 2>&1 &
		pids+=($!)
	done
	wait_until 10 servers || die "iperf3 does not listen: $(cat "$work"/sink*)"
	start=$(($(now) + 1000000000))
	for ((i = 1; i <= N; i++)); do
		in_ns "h$i" iperf3 -c "$receiver" -p $((5200 + i)) -u -b "${!i}" -l $ROCC_PAYLOAD \
			-t $((SECONDS_RUN + 2)) --json >"$work/send$i" 2>&1 &
		pids+=($!)
	done
	halves
	wait "${pids[@]}"
}

servers() { [ "$(in_ns r ss -Htln | grep -c ':520[0-9] ')" = $N ]; }

# udp RATE...: the same of a program that starts all at one moment
udp()
{
	local i

	[ "$ROCC_RING" = 0 ] || { udp_iperf3 "$@"; return; }
	in_ns r "$udpflow" sink --json --idle 500ms >"$work/sink" &
	pids=($!)
	start=$(($(now) + 300000000))
	for ((i = 1; i <= N; i++)); do
		sends "h$i" "$i" "$start" ${SECONDS_RUN}s --rate "${!i}"
	done
	halves
	wait "${pids[@]}"
}

udp 100m 100m 100m
shares "100, 100 and 100 Mb/s offered" 33333 33333 33333
check "100, 100 and 100: no limiter is left" wait_until 3 all_free

# of what is offered the frames' headers are not part
udp 100m 29166k 9722k
shares "100, 30 and 10 Mb/s offered" 60000 30000 10000
check "100, 30 and 10: no limiter is left" wait_until 3 all_free

in_ns r timeout 120 "$udpflow" tcpsink --expect $N --json >"$work/sink" &
pids=($!)
wait_until 5 in_ns r sh -c 'ss -Htln | grep -q .'
start=$(($(now) + 300000000))
for ((i = 1; i <= N; i++)); do
	in_ns "h$i" "$udpflow" tcpsend -d "$receiver" -B $((SECONDS_RUN * 4200000)) --id "$i" --at "$start" \
		>"$work/send$i" &
	pids+=($!)
done
halves
shares "TCP" 33333 33333 33333
wait "${pids[@]}"
check "TCP: no limiter is left" wait_until 3 all_free
rm -r "$work"
finish
