#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC on the ways that packets take: over a router, with IPv6, in a VLAN, as TCP; with each flow table,
# with the host computing, with signed CNPs; and above BFC's queues. Three senders share a link of
# 10 Gb/s in equal parts each time.
#
#	h1 ---.
#	h2 --- s --- r
#	h3 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules hopctl sch_bfc sch_rocc wire

N=3
RATE=10		# Gb/s
KEY1=000102030405060708090a0b0c0d0e0f
KEY2=f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
WAYS=${SLUICE_ROCC_WAYS:-router ipv6 ipv6_bare ipv6_router vlan tcp tcp6 acks computed computed_smooth signed slow_port age elephants afd smooth bounded bfc}

each_host() # COMMAND...: with hN in place of HOST
{
	local i

	for ((i = 1; i <= N; i++)); do
		"${@//HOST/h$i}" || die "$*"
	done
}

qdiscs() # SWITCH-OPTIONS HOST-OPTIONS
{
	# shellcheck disable=SC2086
	tc_in s qdisc add dev pr root handle 1: rocc limit 64m $1 || die "no congestion point"
	# shellcheck disable=SC2086
	each_host tc_in HOST qdisc add dev e0 root handle 1: rocc role host $2
}

# flow I START TIME: may be replaced
flow() { sends "h$1" "$1" "$2" "$3"; }
sink() { in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink"; }

# fair NAME PERCENT: they send for 50 ms and have equal parts in the 10 before the last
fair()
{
	local i start a=() part

	sink &
	pids=($!)
	start=$(($(now) + 20000000))
	for ((i = 1; i <= N; i++)); do
		flow "$i" "$start" 50ms
	done
	sleep_until $((start + 39000000))
	for ((i = 1; i <= N; i++)); do
		a[i]=$(link_stat "h$i" e0 tx_bytes)
	done
	[ -z "${midway:-}" ] || $midway
	sleep_until $((start + 49000000))
	[ "${midway:-}" != marks_so_far ] || late_end=$(qdisc_stat s pr marks bfc)
	for ((i = 1; i <= N; i++)); do
		a[i]=$((($(link_stat "h$i" e0 tx_bytes) - a[i]) * 8 / 10000))
	done
	part=$(awk "BEGIN { print $RATE * 1000 / $N }")
	figures s pr cnps cnps_failed backlog_max
	diag "$1: ${a[*]} Mbit/s; cnps, failed, highest backlog: $REPLY"
	for ((i = 1; i <= N; i++)); do
		within "$1: h$i gets its part" "${a[i]}" "$part" "$2"
		between "$1: h$i was told" "$(qdisc_stat "h$i" e0 accepted rocc)" 10 100000
	done
	wait "${pids[@]}"
	is "$1: none failed" "$(qdisc_stat s pr cnps_failed rocc)" 0
	check "$1: no limiter is left" wait_until 2 all_free
}

all_free()
{
	local i

	for ((i = 1; i <= N; i++)); do
		no_limiter "h$i" || return
	done
}

refusals()
{
	local i cause sum=0

	for ((i = 1; i <= N; i++)); do
		for cause in frame checksum version range ttl source tag; do
			sum=$((sum + $(qdisc_stat "h$i" e0 bad_$cause rocc)))
		done
	done
	echo $sum
}

router()
{
	star router $N ${RATE}gbit 1500ns
	qdiscs "" "radius 0 from 10.0.0.0/16"
	fair "over a router" 2
	is "over a router: no CNP is refused" "$(refusals)" 0
}

# IPv6 of i is fd00::i
sixth()
{
	local i

	ip_in r addr add fd00::c8/64 dev e0 nodad
	for ((i = 1; i <= N; i++)); do
		ip_in "h$i" addr add "fd00::$i/64" dev e0 nodad
		ip_in "h$i" neigh replace fd00::c8 lladdr "$(mac 200)" nud permanent dev e0
	done
	receiver=fd00::c8
}

ipv6()
{
	local ROCC_PAYLOAD=$((ROCC_MTU - 48))	# fragments are of no flow

	star bridge $N ${RATE}gbit 1500ns
	sixth
	qdiscs "" "radius 0 from fe80::/10"
	fair "IPv6" 2
	is "IPv6: no CNP is refused" "$(refusals)" 0
}

# A bridge with no address but that of its loopback device, which nobody believes on a wire
ipv6_bare()
{
	local dev ROCC_PAYLOAD=$((ROCC_MTU - 48))

	star bridge $N ${RATE}gbit 1500ns
	for dev in br0 p1 p2 p3 pr; do
		in_ns s sh -c "echo 1 >/proc/sys/net/ipv6/conf/$dev/disable_ipv6"
	done
	sixth
	qdiscs "" "radius 0 from fe80::/10"
	fair "IPv6, a bridge without an address" 2
}

ipv6_router()
{
	local i name ROCC_PAYLOAD=$((ROCC_MTU - 48))

	star router $N ${RATE}gbit 1500ns
	in_ns s sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/forwarding'
	for i in 1 2 3 200; do
		name=h$i port=p$i
		[ $i != 200 ] || name=r port=pr
		ip_in s addr add "fd00:$i::fe/64" dev $port nodad
		ip_in s neigh replace "fd00:$i::1" lladdr "$(mac "$i")" nud permanent dev $port
		ip_in $name addr add "fd00:$i::1/64" dev e0 nodad
		ip_in $name neigh replace "fd00:$i::fe" lladdr "$(mac "$i" 1)" nud permanent dev e0
		ip_in $name route add default via "fd00:$i::fe"
	done
	receiver=fd00:200::1
	qdiscs "" "radius 0 from fd00::/16"
	fair "IPv6 over a router" 2
	is "IPv6 over a router: no CNP is refused" "$(refusals)" 0
}

vlan()
{
	local i

	star bridge $N ${RATE}gbit 1500ns
	ip_in r link add link e0 name e0.7 type vlan id 7
	ip_in r link set e0.7 up
	ip_in r addr add 10.7.0.200/24 dev e0.7
	for ((i = 1; i <= N; i++)); do
		ip_in "h$i" link add link e0 name e0.7 type vlan id 7
		ip_in "h$i" link set e0.7 up
		ip_in "h$i" addr add "10.7.0.$i/24" dev e0.7
		ip_in "h$i" neigh replace 10.7.0.200 lladdr "$(mac 200)" nud permanent dev e0.7
	done
	receiver=10.7.0.200
	qdiscs "" ""
	fair "a VLAN" 2
}

tcp()
{
	local i

	star bridge $N ${RATE}gbit 1500ns
	for ((i = 1; i <= N; i++)); do
		neigh r e0 "10.0.0.$i" "$(mac "$i")"
	done
	tcp_flows TCP
}

tcp6()
{
	local i

	star bridge $N ${RATE}gbit 1500ns
	sixth
	for ((i = 1; i <= N; i++)); do
		neigh r e0 "fd00::$i" "$(mac "$i")"
	done
	tcp_flows "TCP over IPv6"
}

tcp_flows() # NAME
{
	local i

	for ((i = 1; i <= N; i++)); do
		in_ns "h$i" sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle'
	done
	qdiscs "" ""
	sink() { in_ns r timeout 60 "$udpflow" tcpsink --expect $N --json >"$work/sink"; }
	flow()
	{
		in_ns "h$1" "$udpflow" tcpsend -d "$receiver" -B 23000000 --id "$1" --at "$2" >"$work/send$1" &
		pids+=($!)
	}
	fair "$1" 10
	is "$1: all bytes arrived" "$(jq -c "[.ok, .wrong]" "$work/sink")" "[$N,0]"
	unset -f sink flow
	sink() { in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink"; }
	flow() { sends "h$1" "$1" "$2" "$3"; }
}

computed()
{
	star bridge $N ${RATE}gbit 1500ns
	qdiscs "compute host" ""
	fair "the host computes" 2
	is "the host computes: no CNP is refused" "$(refusals)" 0
}

# What h1 receives it acknowledges, through a port that h2 and h3 fill: a CNP for its flow quotes an
# acknowledgement, whose sequence number is the next to be sent.
acks()
{
	local start told

	star bridge $N ${RATE}gbit 1500ns
	neigh r e0 10.0.0.1 "$(mac 1)"
	qdiscs "" ""
	sink &
	pids=($!)
	in_ns h1 timeout 60 "$udpflow" tcpsink -p 7100 --expect 1 --json >"$work/tcp" &
	pids+=($!)
	wait_until 5 in_ns h1 sh -c 'ss -Htln | grep -q 7100'
	start=$(($(now) + 20000000))
	sends h2 2 $start 20ms
	sends h3 3 $start 20ms
	in_ns r "$udpflow" tcpsend -d 10.0.0.1 -p 7100 -B 10000000 --at $((start + 2000000)) >"$work/tcpsend" &
	pids+=($!)
	wait "${pids[@]}"
	figures h1 e0 accepted bad_sequence bad_flow
	read -r -a told <<<"$REPLY"
	diag "acknowledgements: accepted, bad_sequence, bad_flow: $REPLY"
	between "acknowledgements: their flow was told" "${told[0]}" 10 10000
	is "acknowledgements: what a CNP quotes of them is in flight" "${told[1]}" 0
	check "acknowledgements: no limiter is left" wait_until 2 all_free
}

# A rate as tc prints it: in the largest unit that leaves a few digits behind the point
in_bits()
{
	awk -v rate="$1" 'BEGIN {
		unit = substr(rate, match(rate, /[KMGT]?bit/), 1)
		printf "%d\n", rate * 1000 ^ index("KMGT", unit == "b" ? "" : unit)
	}'
}

# While the rate climbs the gains matter: the host has to have the one that the switch has, to the kbit/s
# that a CNP says. All are told, with packets in the queue or not; a reading may fall between a tick and
# the CNP.
computed_smooth()
{
	local i start fair rate said same=0

	star bridge $N ${RATE}gbit 1500ns
	qdiscs "compute host tuning smooth table age age 1s" ""
	sink &
	pids=($!)
	start=$(($(now) + 20000000))
	for ((i = 1; i <= N; i++)); do
		flow "$i" "$start" 20ms
	done
	for ((i = 0; i < 20; i++)); do
		sleep_until $((start + 5000000 + i * 110000))
		figures s pr fair_rate
		fair=$REPLY
		limiter h1
		rate=$(in_bits "${REPLY%% *}")
		awk "BEGIN { d = $fair - $rate / 8; exit !(d * d < 1e-7 * $fair * $fair) }" && same=$((same + 1))
		said+=" $fair=$((rate / 8))"
	done
	diag "fair rates, and those of h1 (bytes per second):$said"
	between "the host computes: its rate is the switch's, with smooth gains" $same 17 20
	wait "${pids[@]}"
}

roll()
{
	tc_in s qdisc change dev pr root rocc key2 $KEY2 sign 2
	each_host tc_in HOST qdisc change dev e0 root rocc key1 none
}

signed()
{
	star bridge $N ${RATE}gbit 1500ns
	qdiscs "key1 $KEY1 sign 1" "key1 $KEY1 key2 $KEY2"
	midway=roll
	fair "signed, with a new key meanwhile" 2
	midway=
	is "signed: no CNP is refused" "$(refusals)" 0
}

# A fast host's many flows into a slow port: what each may send is less than a thousandth of the host's
# speed, its floor. Who signs is obeyed all the same.
slow_port()
{
	local start at area reference n=40

	star bridge 1 100gbit 1500ns
	ip_in s link set pr type wire rate 1gbit
	tc_in s qdisc add dev pr root handle 1: rocc limit 64m key1 $KEY1 sign 1 || die "no congestion point"
	tc_in h1 qdisc add dev e0 root handle 1: rocc role host limit 64m key1 $KEY1 || die "no reaction point"
	sink &
	pids=($!)
	start=$(($(now) + 5000000))
	sends h1 1 $start 500ms -f $n
	sleep_until $((start + 400000000))
	figures s pr time backlog_time q_ref
	read -r at area reference <<<"$REPLY"
	sleep_until $((start + 495000000))
	figures s pr time backlog_time drops
	read -r -a now <<<"$REPLY"
	within "a slow port: the queue of $n flows is at its reference" $(((now[1] - area) / (now[0] - at))) "$reference" 15
	is "a slow port: nothing is lost" "${now[2]}" 0
	wait "${pids[@]}"
	check "a slow port: no limiter is left" wait_until 5 no_limiter h1
}

table() # NAME OPTIONS TOLERANCE
{
	star bridge $N ${RATE}gbit 1500ns
	qdiscs "$2" ""
	fair "$1" "$3"
}

age() { table "table age" "table age" 2; }
elephants() { table "table elephants" "table elephants" 5; }

# What a port had counted of its flows when the link went down is nothing that later ones are measured by.
afd()
{
	local i at

	table "table afd" "table afd" 5
	pids=()
	at=$(($(now) + 20000000))
	for ((i = 1; i <= N; i++)); do
		flow "$i" "$at" 30ms
	done
	for ((i = 0; i < 5; i++)); do
		at=$((at + 5000000))
		sleep_until $at
		ip_in s link set pr down
		ip_in s link set pr up
	done
	wait "${pids[@]}"
	wait_until -e 100 10 star_forwards || die "the bridge does not forward"
	check "table afd, a link that was down: no limiter is left" wait_until 2 all_free
	fair "table afd, a link that was down" 5
}

smooth() { table "smooth tuning" "tuning smooth" 2; }

# Seldom told, they share as they can; the way back is not flooded.
bounded()
{
	star bridge $N ${RATE}gbit 1500ns
	qdiscs "cnps 3000" ""
	fair "few CNPs" 10
	# from 20 ms before they start to the end of all
	between "few CNPs: no more than may be" "$(qdisc_stat s pr cnps rocc)" 100 $((3 * 60))
	between "few CNPs: the others were held" "$(qdisc_stat s pr cnps_held rocc)" 100 100000
}

# BFC holds bursts hop by hop; RoCC's rates hold what lasts. For that BFC's threshold has to be
# above RoCC's reference: all of it may stand in one sub-queue.
bfc()
{
	local i

	star bridge $N ${RATE}gbit 1500ns
	qdiscs "" ""
	tc_in s qdisc add dev pr parent 1:1 handle 2: bfc limit 600000 th 120000 || die "no bfc below rocc"
	each_host tc_in HOST qdisc add dev e0 parent 1:1 handle 2: bfc limit 16m
	for ((i = 1; i <= N; i++)); do
		tc_in s qdisc add dev "p$i" root bfc
	done
	tc_in r qdisc add dev e0 root bfc
	wait_until 5 all_tag || die "a port stays plain"
	midway=marks_so_far
	fair "with bfc below" 4
	midway=
	late=$((late_end - late_begin))
	is "with bfc below: nothing was dropped" "$(qdisc_stat s pr drops)" 0
	marks=$(qdisc_stat s pr marks bfc)
	diag "with bfc below: $marks marks, of which $late in the last 10 ms"
	between "with bfc below: it paused" "$marks" 1 1000000
	between "with bfc below: no longer when the rates have settled" "$late" 0 $((marks / 20))
}

marks_so_far() { late_begin=$(qdisc_stat s pr marks bfc); }

all_tag()
{
	local i

	for ((i = 1; i <= N; i++)); do
		port_is "h$i" e0 state tagging || return
	done
}

for way in ${WAYS//,/ }; do
	$way
	leave_spaces
done
rm -r "$work"
finish
