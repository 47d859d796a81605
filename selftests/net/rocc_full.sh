#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC where there is no room: flow tables, limiters and a child qdisc that are full. What finds none is
# counted, all else goes on, and nothing stays.
#
#	h1 ---.
#	       s --- r
#	h2 ---'
#
# $SLUICE_MANY (30000): so many limiters at once.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

FLOWS=12	# of each host

# full SWITCH-OPTIONS HOST-OPTIONS
full()
{
	leave_spaces
	star bridge 2 10gbit 1500ns
	# shellcheck disable=SC2086
	tc_in s qdisc add dev pr root handle 1: rocc $1 || die "no congestion point"
	for box in h1 h2; do
		# shellcheck disable=SC2086
		tc_in $box qdisc add dev e0 root handle 1: rocc role host $2 || die "no reaction point"
	done
	in_ns r "$udpflow" sink --json --idle 50ms >"$work/sink" &
	pids=($!)
	start=$(($(now) + 5000000))
}

all_free() { no_limiter h1 && no_limiter h2; }
at() { sleep_until $((start + $1 * 1000000)); }

over() # NAME
{
	wait "${pids[@]}"
	check "$1: no limiter is left" wait_until 2 all_free
	is "$1: and nothing waits" "$(qdisc_stat s pr backlog) $(qdisc_stat h1 e0 backlog) $(qdisc_stat h2 e0 backlog)" "0 0 0"
}

# hears NUMBER: h1 counts the CNPs that have this number of a queue, as protocol.md has it, of which heard says how many
hears()
{
	tc_in h1 qdisc add dev e0 clsact && tc_in h1 filter add dev e0 ingress pref 1 protocol ip u32 match ip protocol 1 0xff \
		match u8 253 0xff at 20 match u16 "$1" 0xffff at 30 action pass || die "no filter"
}
heard() { tc_in h1 -j -s filter show dev e0 ingress | jq '[.[].options?.actions?[0]?.stats?.packets // empty] | add'; }

# ---- a flow table: who is first has a place until none of it is queued ----
for table in queue age; do
	full "limit 4m flows 4 table $table" ""
	sends h1 1 $start 20ms -f $FLOWS
	sends h2 101 $start 20ms -f $FLOWS
	at 19
	figures s pr flows_active untracked cnps
	read -r active untracked cnps <<<"$REPLY"
	between "table $table, too small: so many flows are known" "$active" 1 4
	between "table $table, too small: others are not, and counted" "$untracked" 1000 1000000
	between "table $table, too small: who is known is told" "$cnps" 100 $((4 * 20000 / 40))
	over "table $table, too small"
done

# ---- of elephants, who is seen least makes room: small flows, there first, do not keep out a greedy one ----
full "limit 4m flows 4 table elephants sample 4" ""
hears 0
sends h2 101 $start 30ms -f 4 --rate 250m
sends h1 1 $((start + 5000000)) 25ms
at 20
before=$(link_stat h1 e0 tx_bytes) told=$(qdisc_stat h1 e0 accepted rocc)
at 29
rate=$((($(link_stat h1 e0 tx_bytes) - before) * 8 / 9000))
figures s pr untracked flows_active
diag "a greedy flow and small ones: $rate Mbit/s; untracked, active: $REPLY"
between "a greedy flow among small ones has most of what they leave" $rate 7000 9100
between "and is told" "$(($(qdisc_stat h1 e0 accepted rocc) - told))" 20 1000
between "the table stays as small as it is" "${REPLY##* }" 1 4
over "a greedy flow and small ones"
is "all CNPs of a qdisc at the root have 0 as its queue" "$(heard)" "$(qdisc_stat h1 e0 accepted rocc)"

# ---- and an elephant is who was found twice ----
leave_spaces
star bridge 2 10gbit 1500ns
tc_in s qdisc add dev pr root handle 2: tbf rate 10mbit burst 2000 limit 4m
tc_in s qdisc add dev pr parent 2:1 handle 1: rocc table elephants sample 1 interval 1ms qref 4k qmid 8k qmax 16k ||
	die "no congestion point"
tc_in h1 qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"
hears 1
# packets of each: the many make the queue
for packets in 1 2 20; do
	in_ns h1 "$udpflow" send -d "$receiver" --sport $((5000 + packets)) -l 1000 -n $packets >/dev/null
done
sleep 0.005
is "each packet found: flows of 2 and of 20 packets are told, a flow of one is not" "$(limiters h1)" 2
between "their CNPs" "$(heard)" 2 1000
is "all of them have the number of its class above" "$(heard)" "$(qdisc_stat h1 e0 accepted rocc)"

# ---- limiters ----
full "limit 64m" "limiters 4"
sends h1 1 $start 20ms -f $FLOWS
sends h2 101 $start 20ms -f $FLOWS
at 19
for box in h1 h2; do
	figures $box e0 limiters limiters_max full
	read -r limiters most refused <<<"$REPLY"
	is "four limiters, $box: no more than that" "$limiters $most" "4 4"
	between "four limiters, $box: CNPs that find none are counted" "$refused" 100 1000000
done
class=$(tc_in h1 class show dev e0 | awk '$2 == "rocc" && $3 != "1:1" { print $3; exit }')
is "four limiters: one of them takes no qdisc" \
	"$(tc_in h1 qdisc add dev e0 parent "$class" handle 2: pfifo 2>&1 | head -n 1)" "Error: a limiter takes no qdisc."
over "four limiters"

# ---- a CNP that says that there is no need ----
full "" ""
neigh h2 e0 10.0.0.1 "$(mac 1)"
sends h1 1 $start 20ms --rate 1g
at 10
in_ns h2 "$cnpsend" udp,10.0.0.1,5001,10.0.0.200,7000 rate=10000000 >/dev/null
sleep 0.0001
figures h1 e0 not_needed accepted limiters
is "the full rate: no limiter is made for it" "$REPLY" "1 0 0"
over "the full rate"

# ---- as many flows as there may be limiters: each is known that has sent, but for some that share a place ----
full "" "limiters 32768"
modprobe -q pktgen || [ -d /proc/net/pktgen ] || die "no pktgen"
flows=${SLUICE_MANY:-30000}
neigh h2 e0 10.0.0.1 "$(mac 1)"
pktgen() { in_ns h1 sh -c "echo '$2' >/proc/net/pktgen/$1" || die "pktgen: $2"; }
pktgen kpktgend_0 "add_device e0"
for word in "xmit_mode queue_xmit" "count $flows" "pkt_size 60" "delay 0" "src_min 10.0.0.1" "src_max 10.0.0.1" \
	    "dst 10.0.0.200" "dst_mac $(mac 200)" "udp_src_min 10000" "udp_src_max 40000" "udp_dst_min 7000" \
	    "udp_dst_max 7000"; do
	pktgen e0 "$word"
done
pktgen pgctrl start
before=$(qdisc_stat h1 e0 bad_flow rocc)
in_ns h2 "$cnpsend" udp,10.0.0.1,10000,10.0.0.200,7000 ports n=$flows sleep=1000 rate=1000000 gap=15000000 >/dev/null
sleep 0.005
figures h1 e0 accepted limiters_max
diag "very many flows: accepted, most limiters: $REPLY; not known: $(($(qdisc_stat h1 e0 bad_flow rocc) - before))"
between "very many flows: CNPs for them are believed" "${REPLY%% *}" $((flows * 85 / 100)) $flows
between "very many flows: they have limiters" "${REPLY##* }" $((flows * 85 / 100)) $flows
pktgen kpktgend_0 rem_device_all
wait "${pids[@]}"
check "very many flows: no limiter is left" wait_until 5 all_free

# ---- a child that takes one packet: what limiters let go at once does not all fit ----
full "limit 64m" "limit 16m"
sends h1 1 $start 25ms -f $FLOWS --rate 1500m
sends h2 101 $start 25ms -f $FLOWS --rate 1500m
at 20
for box in h1 h2; do
	is "a child of one packet, $box: each flow is limited" "$(limiters $box) $(qdisc_stat $box e0 drops)" "$FLOWS 0"
	tc_in $box qdisc add dev e0 parent 1:1 handle 2: pfifo limit 1
done
at 24
for box in h1 h2; do
	between "a child of one packet, $box: what it does not take is dropped" \
		"$(qdisc_stat $box e0 drops rocc)" 10 1000000
done
over "a child of one packet"

rm -r "$work"
finish
