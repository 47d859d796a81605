#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whom a reaction point believes. h1 sends to r; h2 forges congestion notification packets in the name
# of a switch. What is wrong with each is counted under its cause, and changes no rate.
#
#	h1 ---.
#	       s --- r
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

FORGED=${SLUICE_ROCC_FORGED:-1000000}
KEY1=000102030405060708090a0b0c0d0e0f
KEY2=f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff

FLOW=udp,10.0.0.1,5001,10.0.0.200,7000

forge() { in_ns h2 "$cnpsend" "$FLOW" "$@" >/dev/null; }
count() { qdisc_stat h1 e0 "$1" rocc; }

# refused_as NAME CAUSE OPTION...: this CNP is counted under that cause, and nothing else happens
refused_as()
{
	local name=$1 cause=$2 before accepted after

	shift 2
	before=$(count "$cause") accepted=$(count accepted)
	forge "$@"
	sleep 0.001
	after=$(count "$cause")
	is "$name" "$((after - before)) $(($(count accepted) - accepted)) $(limiters h1)" "1 0 0"
}

# accepted_as NAME OPTION...: this one is believed; the limiter is gone a little later
accepted_as()
{
	local name=$1 before

	shift
	before=$(count accepted)
	forge "$@"
	sleep 0.00005
	is "$name" "$(($(count accepted) - before))" 1
	check "$name, for a moment" wait_until 1 no_limiter h1
}

# sending_for TIME: h1 sends to r for so long
sending_for()
{
	pids=()
	sends h1 1 $(($(now) + 1000000)) "$1"
	sleep 0.002
}

star bridge 2 1gbit 1us
for box in h2 r; do
	neigh $box e0 10.0.0.1 "$(mac 1)"
done
in_ns r "$udpflow" sink --json --idle 3s >"$work/sink" &

# ---- off until it is configured ----
sending_for 100ms
sent=$(link_stat h1 e0 tx_bytes)
forge rate=1000 n=100
sleep 0.01
within "a host without the qdisc goes on at full speed" "$((($(link_stat h1 e0 tx_bytes) - sent) * 8 / 10000000))" 1 5
wait "${pids[@]}"
tc_in h1 qdisc add dev e0 root handle 1: rocc
sending_for 100ms
forge rate=1000 n=100
sleep 0.001
is "so does one with role switch" "$(tc_in h1 -s class show dev e0 | grep -c limiter)" 0
wait "${pids[@]}"
tc_in h1 qdisc del dev e0 root

# ---- what it says ----
tc_in h1 qdisc add dev e0 root handle 1: rocc role host radius 1
sending_for 60s
accepted_as "a good one" rate=100000
refused_as "a wrong checksum" bad_checksum sum=bad
refused_as "cut short" bad_frame cut=40
refused_as "cut in what it quotes" bad_frame cut=79
refused_as "too long" bad_frame pad=300
accepted_as "with a router's padding" rate=100000 pad=8
refused_as "another version" bad_version version=1
refused_as "no rate" bad_range rate=0
refused_as "no epoch" bad_range epoch=0
refused_as "a third key" bad_range key=3
refused_as "from two routers away" bad_ttl ttl=253
accepted_as "from one router away" rate=100000 ttl=254
accepted_as "that says to come once in 4 s" rate=100000 interval=4000000000

# ---- of whom ----
FLOW=udp,10.0.0.1,5002,10.0.0.200,7000 refused_as "another port" bad_flow
FLOW=udp,10.0.0.1,5001,10.0.0.201,7000 refused_as "another receiver" bad_flow
FLOW=17,10.0.0.1,5001,10.0.0.200,7001 refused_as "another port there" bad_flow
FLOW=132,10.0.0.1,5001,10.0.0.200,7000 refused_as "another protocol" bad_flow
FLOW=tcp,10.0.0.1,5001,10.0.0.200,7000 refused_as "TCP, which it does not speak" bad_flow
ip_in h1 addr add 10.0.0.101/24 dev e0
neigh h2 e0 10.0.0.101 "$(mac 1)"
refused_as "sent to another address of the host" bad_flow to=10.0.0.101

# ---- TCP: only what is in flight ----
in_ns r timeout 30 "$udpflow" tcpsink -p 7100 --expect 1 --json >"$work/tcp" &
tcp=($!)
wait_until 5 in_ns r sh -c 'ss -Htln | grep -q 7100'
in_ns h1 "$udpflow" tcpsend -d "$receiver" -p 7100 -B 6000000 >"$work/tcpsend" &
tcp+=($!)
sleep 0.03
port=$(in_ns h1 ss -Htn state established dst "$receiver" | awk '{ sub(/.*:/, "", $3); print $3; exit }')
for sequence in 0 0x40000000 0x80000000 0xc0000000; do
	# one of them at most can be in flight by chance
	FLOW=tcp,10.0.0.1,$port,10.0.0.200,7100,$sequence forge rate=1000
done
sleep 0.0001
between "TCP sequences that are not in flight" "$(count bad_sequence)" 3 4
FLOW=tcp,10.0.0.1,$((port ^ 1)),10.0.0.200,7100 refused_as "a connection that is not there" bad_flow
wait "${tcp[@]}"
check "no limiter is left of it" wait_until 1 no_limiter h1

# ---- by whom ----
tc_in h1 qdisc change dev e0 root rocc from 10.1.0.0/16,192.0.0.8
refused_as "from another network" bad_source from=10.2.0.1
accepted_as "from one that is named" rate=100000 from=10.1.2.3
accepted_as "from an address that is named" rate=100000
tc_in h1 qdisc change dev e0 root rocc from any key1 $KEY1
refused_as "without a tag" bad_tag
refused_as "with a wrong one" bad_tag key=1 tag=0x1234
refused_as "with a key that is not there" bad_tag key=2
# another device would send any flow, and sends none: what e0 finds out of this one comes after that
ip_in h1 link add d1 up type dummy
tc_in h1 qdisc add dev d1 root rocc role host radius 1
refused_as "with a wrong one, asked of two devices" bad_tag key=1 tag=0x1234
FLOW=udp,10.0.0.1,5002,10.0.0.200,7000 refused_as "of a flow that neither sends" bad_flow key=1 tag=0x1234
ip_in h1 link del d1
tc_in h1 qdisc change dev e0 root rocc key1 none
accepted_as "without keys again" rate=100000

# ---- order ----
forge rate=100000 sequence=10 interval=10000000
forge rate=200000 sequence=9 interval=10000000
sleep 0.00005
limiter h1
is "an older one of the same congestion point is stale" "$(count stale) ${REPLY%% *}" "1 100Mbit"
forge rate=200000 sequence=9 epoch=2 interval=10000000
sleep 0.00005
limiter h1
is "but after a restart of it all is new" "$(count stale) ${REPLY%% *}" "1 200Mbit"
forge rate=300000 from=10.0.0.9 sequence=1 interval=10000000
sleep 0.00005
limiter h1
is "a higher rate of another congestion point does not count" "$(count higher) ${REPLY%% *}" "1 200Mbit"
forge rate=150000 from=10.0.0.9 sequence=1 interval=10000000
sleep 0.00005
limiter h1
is "a lower one does" "${REPLY%% *}" "150Mbit"
forge rate=400000 from=10.0.0.9 sequence=2 interval=10000000
sleep 0.00005
limiter h1
is "and its rate may rise then" "${REPLY%% *}" "400Mbit"
forge rate=1 from=10.0.0.9 sequence=3
sleep 0.00005
limiter h1
is "none goes below the floor" "${REPLY%% *}" "1Mbit"
check "all of it passes" wait_until 1 no_limiter h1

# ---- very many ----
before=$(count accepted)
in_ns h2 "$cnpsend" udp,10.0.0.1,1,10.0.0.200,7001 ports n="$FORGED" rate=1 >"$work/forged"
sleep 0.01
is "$FORGED of flows that it does not send: no limiter, none accepted" \
	"$(cat "$work/forged") $(($(count accepted) - before)) $(qdisc_stat h1 e0 limiters_max rocc)" "$FORGED 0 1"
refusals=0
for cause in frame checksum version range ttl source tag flow sequence; do
	refusals=$((refusals + $(count bad_$cause)))
done
between "and each is counted" "$refusals" "$FORGED" $((FORGED + 100))

# A flow is held at the floor by one forgery in each recovery time, and by no fewer.
tc_in h1 qdisc change dev e0 root rocc recovery 100us
sleep 0.01
for gap in 90 1000; do
	forge rate=1 n=$((40000 / gap)) sleep=${gap}000 steps &
	# what was in the queue before has to leave first
	sleep 0.01
	sent=$(link_stat h1 e0 tx_bytes)
	sleep 0.02
	rate=$((($(link_stat h1 e0 tx_bytes) - sent) * 8 / 20000))	# Mbit/s
	diag "a forgery each $gap us, with recovery 100us: $rate Mbit/s"
	if [ $gap = 90 ]; then
		between "one each 90 us holds the flow at the floor" $rate 0 4
	else
		between "one each 1000 us does not" $rate 30 500
	fi
	wait $!
	check "and then it recovers" wait_until 1 no_limiter h1
done

# ---- flipped bits ----
before=$(count bad_checksum)
forge n=600 rate=500000 flips raw
sleep 0.001
between "one bit flipped: the checksum finds it" "$(($(count bad_checksum) - before))" 590 600
forge n=2000 rate=500000 flips
check "flipped before the checksum: no harm" wait_until 1 no_limiter h1

in_ns h1 pkill udpflow
in_ns r pkill udpflow
wait
rm -r "$work"
finish
