#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Signed congestion notification packets that somebody has kept and plays again: as they were, so that
# their tags are right. They change no rate, but for what an earlier start of a congestion point has said
# a minute after it was last heard.
#
#	h1 ---.
#	       s --- r		s signs; what h1 gets of it is kept and sent to it again
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

KEY=000102030405060708090a0b0c0d0e0f
replay=$(dirname "$0")/replay
[ -x "$replay" ] || skip_all "replay is not built"
FLOW=udp,10.0.0.1,5001,10.0.0.200,7000

again() { in_ns s "$replay" send p1 "$work/kept" "$@" >/dev/null; }
count() { qdisc_stat h1 e0 "$1" rocc; }

# keeps FILE: what h1 is told from now on, up to kept()
keeps()
{
	rm -f "$work/$1"
	in_ns h1 "$replay" keep e0 "$work/$1" 2>/dev/null &
	keeper=$!
	wait_until 2 test -s "$work/$1"
}

kept()
{
	pkill -x replay
	wait $keeper
}

# congested FILE: h1 and h2 send more than the link takes for 20 ms, and what h1 is told is kept
congested()
{
	local start

	keeps "$1"
	start=$(($(now) + 5000000))
	pids=()
	sends h1 1 $start 20ms
	sends h2 2 $start 20ms
	wait "${pids[@]}"
	kept
	check "$1: no limiter is left" wait_until 2 no_limiter h1
}

# sending TIME: h1 alone, less than the link takes
sending()
{
	pids=()
	sends h1 1 $(($(now) + 1000000)) "$1" --rate 1g
	sleep 0.002
}

# refused NAME: nothing that was played again since `before` has set a rate
before() { figures h1 e0 accepted stale epoch_back; old=($REPLY); }
since() { figures h1 e0 accepted stale epoch_back; new=($REPLY); REPLY="$((new[0] - old[0])) $((new[1] - old[1])) $((new[2] - old[2]))"; }

star bridge 2 10gbit 1500ns
neigh h2 e0 10.0.0.1 "$(mac 1)"
switch="rocc key1 $KEY sign 1 limit 64m"
# shellcheck disable=SC2086
tc_in s qdisc add dev pr root handle 1: $switch || die "no congestion point"
for box in h1 h2; do
	tc_in $box qdisc add dev e0 root handle 1: rocc role host key1 $KEY || die "no reaction point"
done
in_ns r "$udpflow" sink --json --idle 100s >"$work/sink" &

# signed FILE KEY: how many of its CNPs have the tag that this key makes, not by the kernel's code
signed() { "$cnpsend" show "$work/$1" sign="$2" | grep -c " signed=yes "; }

# ---- what is over ----
congested first
kept=$("$cnpsend" show "$work/first" | wc -l)
between "CNPs were kept" "$kept" 50 1000
is "each has the tag of its key, and of no other" "$(signed first $KEY) $(signed first ${KEY/0f/1f})" "$kept 0"
sending 100ms
before
cp "$work/first" "$work/kept"
again first=-50 gap=100000
since
is "of a congestion that is over: none sets a rate" "${REPLY%% *} $(limiters h1)" "0 0"
is "of a congestion that is over: each is stale" "${REPLY#* }" "50 0"
wait "${pids[@]}"

# ---- the last one, for ever ----
tc_in h1 qdisc change dev e0 root rocc recovery 5ms
congested second
start=$(($(now) + 5000000))
pids=()
keeps kept
sends h1 1 $start 100ms
sends h2 2 $start 20ms
sleep_until $((start + 15000000))
# nobody speaks any more
tc_in s qdisc del dev pr root
kept
before
again first=-1 times=60 gap=1000000
limiter h1
since
is "the last one, for ever: none sets a rate" "${REPLY%% *}" 0
check "the last one, for ever: the flow is free long before" no_limiter h1
wait "${pids[@]}"
tc_in h1 qdisc change dev e0 root rocc recovery auto

# ---- of an earlier start ----
# shellcheck disable=SC2086
tc_in s qdisc add dev pr root handle 1: $switch || die "no congestion point"
congested third
between "a new start of the congestion point speaks" \
	"$("$cnpsend" show "$work/third" 2>/dev/null | wc -l)" 50 1000
# to the second: it is the clock's
epoch=$("$cnpsend" show "$work/third" | sed -nE 's/.* epoch=([0-9a-f]+) .*/\1/p' | tail -n 1)
between "its epoch is the time of its start" $(($(date +%s) - 0x${epoch:-0} / 1000000000)) 0 10
sending 100ms
before
cp "$work/second" "$work/kept"
again first=-50 gap=100000
since
is "of an earlier start: none sets a rate" "${REPLY%% *} $(limiters h1)" "0 0"
wait "${pids[@]}"

# ---- by hand: who has the key says what it likes ----
FLOW3=${FLOW/5001/5003}
HOUR=3600000000000
EPOCH=$((1700000000 * 1000000000))
# say WORDS OPTION...: a signed CNP; WORDS is what it adds to accepted, stale and epoch_back
say()
{
	local name=$1 words=$2

	before
	in_ns h2 "$cnpsend" "${flow:-$FLOW}" key=1 sign=$KEY point=10.0.0.9 "${@:3}" port=7 rate=100000 >/dev/null
	sleep 0.00005
	since
	is "$name" "$REPLY" "$words"
}

pids=()
sends h1 1 $(($(now) + 1000000)) 70s --rate 1m
sends h1 3 $(($(now) + 1000000)) 70s --rate 1m
sleep 0.02
say "a first one" "1 0 0" epoch=$EPOCH sequence=5 interval=2000000
say "with a wrong tag" "0 0 0" epoch=$((EPOCH + 1)) sequence=6 set=60:00
say "the same again" "0 1 0" epoch=$EPOCH sequence=5 interval=2000000
flow=$FLOW3 say "of this interval to another flow" "1 0 0" epoch=$EPOCH sequence=5 interval=2000000
sleep 0.005
check "both are free again" wait_until 2 no_limiter h1
flow=$FLOW3 say "two intervals later it is stale for all" "0 1 0" epoch=$EPOCH sequence=5 interval=2000000
say "the next one is not" "1 0 0" epoch=$EPOCH sequence=6
flow=$FLOW3 say "but the one before is" "0 1 0" epoch=$EPOCH sequence=5
flow=$FLOW3 say "another port is another congestion point" "1 0 0" epoch=$EPOCH sequence=1 port=8
check "both are free again" wait_until 2 no_limiter h1
flow=$FLOW3 say "another queue, too" "1 0 0" epoch=$((EPOCH - HOUR)) sequence=1 queue=1
flow=$FLOW3 say "a new start" "1 0 0" epoch=$((EPOCH + 1)) sequence=1
say "what came before it" "0 1 0" epoch=$EPOCH sequence=7
check "both are free again" wait_until 2 no_limiter h1
# ---- a start with the clock set back ----
say "a clock set back" "0 1 0" epoch=$((EPOCH - HOUR)) sequence=1
sleep 59.5
say "nor a minute later, all but" "0 1 0" epoch=$((EPOCH - HOUR)) sequence=2
sleep 0.6
say "after a minute of silence it is believed" "1 0 1" epoch=$((EPOCH - HOUR)) sequence=3
say "and so is what follows" "1 0 0" epoch=$((EPOCH - HOUR)) sequence=4
say "what came before is stale" "0 1 0" epoch=$((EPOCH - HOUR)) sequence=3
say "but the clock may be right again" "1 0 0" epoch=$((EPOCH + 2)) sequence=1
say "and then all before is stale" "0 1 0" epoch=$((EPOCH - HOUR)) sequence=5
check "both are free again" wait_until 2 no_limiter h1

# ---- the floor, a thousandth of 10 Gb/s, is for who has no key ----
flow=$FLOW3 say "below the floor" "1 0 0" epoch=$((EPOCH + 2)) sequence=2 rate=1000 rate_min=500 gap=10000000
limiter h1
is "below the floor, signed" "${REPLY%% *}" 1Mbit
flow=$FLOW3 say "below its own least" "1 0 0" epoch=$((EPOCH + 2)) sequence=3 rate=400 rate_min=500 gap=10000000
limiter h1
is "below its own least, signed" "${REPLY%% *}" 500Kbit
check "both are free again" wait_until 2 no_limiter h1
tc_in h1 qdisc change dev e0 root rocc key1 none
flow=$FLOW3 say "below the floor" "1 0 0" epoch=$((EPOCH + 2)) sequence=4 rate=1000 rate_min=500 gap=10000000
limiter h1
is "below the floor, with a tag that nobody here can read" "${REPLY%% *}" 10Mbit
pkill -x udpflow
wait "${pids[@]}"
check "no limiter is left" wait_until 2 no_limiter h1

rm -r "$work"
finish
