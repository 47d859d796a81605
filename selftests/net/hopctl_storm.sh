#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pauses that never end, on both sides.
#
#	h1 --- p1 +--------+ q1 --- r1	r1: at times a neighbour made by hand, which pauses q1
#	          | sw, a  |
#	h2 --- p2 | bridge | q2 --- r2
#	          +--------+
#
# h1 sends to r1 and to r2, h2 to r2. What goes to r2 must not notice: the same packets arrive in the
# same time, whatever r1 does. One storm is one detection, between the watchdog's time and an eighth
# more, and one restoration. Pauses just below the watchdog's time are none, nor are those that leave
# a tenth of the time in which the line is busy with something else. Then q1's line all but stops: sw
# withdraws the pauses that q1's packets hold, and h1 sends on. At last all four neighbours of sw pause
# for ever, at once.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
need_virtual_time
load_modules

here=$(dirname "$0")
hopframe=$here/hopframe udpflow=$here/udpflow
[ -x "$hopframe" ] && [ -x "$udpflow" ] || die "hopframe and udpflow are not built: make -C selftests"
RATE=40	# packets of 1000 bytes in 10 ms, of each flow to r2
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

# cable NAME NUMBER PORT: a host on a cable to the switch
cable()
{
	ns "$1"
	in_ns "$1" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
	ip_in "$1" link add e0 address "$(mac "$2")" type wire rate 1gbit delay 1us \
		peer name "$3" address "$(mac "$2" 1)" netns "$NS-sw"
	ip_in sw link set "$3" master br0 up
	ip_in "$1" addr add "10.0.0.$2/24" dev e0
	ip_in "$1" link set e0 up
	in_ns sw bridge fdb replace "$(mac "$2")" dev "$3" master static
}

ns sw
in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
cable h1 1 p1
cable h2 2 p2
cable r1 3 q1
cable r2 4 q2
for host in h1 h2; do
	neigh $host e0 10.0.0.3 "$(mac 3)"
	neigh $host e0 10.0.0.4 "$(mac 4)"
	tc_in $host qdisc add dev e0 root bfc role host
done
for port in p1 p2 q1 q2; do
	tc_in sw qdisc add dev $port root bfc
done
tc_in r2 qdisc add dev e0 root bfc

q1() { qdisc_stat sw q1 "$1"; }
p1() { qdisc_stat sw p1 "$1"; }
storm() { tc_in sw -j -s qdisc show dev q1 | jq '.[0].port.storm'; }

# The kernel says when what happened, to the microsecond.
tracing=/sys/kernel/tracing
[ -d $tracing/events/hopctl ] || mount -t tracefs none $tracing || die "no tracefs"
echo mono >$tracing/trace_clock
for event in hop_pause_rx hop_storm hop_pause_count; do
	echo 1 >$tracing/events/hopctl/$event/enable
done

# moments EVENT WORDS: when that was said, in us, one a line
moments()
{
	sed -nE "/: $1: $2/s/.* ([0-9]+)\\.([0-9]{6}): $1: .*/\\1\\2/p" $tracing/trace
}

# since EVENT WORDS EVENT WORDS: us from the first of these to the last of those, -1 if there are none
since()
{
	local from to

	from=$(moments "$1" "$2" | head -n 1)
	to=$(moments "$3" "$4" | tail -n 1)
	if [ -z "$from" ] || [ -z "$to" ]; then
		diag "the trace does not show $1 $2, or $3 $4" >&"$_tap"
		echo -1
		return
	fi
	echo $((10#$to - 10#$from))
}

# traffic MS: three flows for so long; r2's sink writes what it saw to $tmp/r2
traffic()
{
	local ns=$(($("$udpflow" now) + 20000000)) n=$(($1 * RATE / 10))

	ip netns exec "$NS-r2" "$udpflow" sink --ports=2 --expect=$((2 * n)) --idle=2s \
		--json >"$tmp/r2" 2>"$tmp/r2.err" &
	r2_sink=$!
	ip netns exec "$NS-r1" "$udpflow" sink --port=7002 --idle=8s --json >"$tmp/r1" \
		2>"$tmp/r1.err" &
	r1_sink=$!
	ip netns exec "$NS-h1" "$udpflow" send -d 10.0.0.4 -p 7000 --id=1 -n $n -l 958 \
		--rate=$((RATE * 958 * 800)) --at=$ns >/dev/null &
	ip netns exec "$NS-h2" "$udpflow" send -d 10.0.0.4 -p 7001 --id=2 -n $n -l 958 \
		--rate=$((RATE * 958 * 800)) --at=$ns >/dev/null &
	ip netns exec "$NS-h1" "$udpflow" send -d 10.0.0.3 -p 7002 --id=3 -n $((n / 4)) -l 958 \
		--rate=$((RATE * 958 * 200)) --at=$ns >/dev/null &
}

# bystanders NAME: what r2 saw: every packet, in the time that it always takes
bystanders()
{
	local seen

	wait $r2_sink
	seen=$(jq -c '[.packets, ([.flows[].lost] | add)]' "$tmp/r2")
	is "$1: bystanders lose nothing" "$seen" "$2"
	took=$(jq '[.flows[] | .last_ns - .first_ns] | max' "$tmp/r2")
	[ -z "${3:-}" ] ||
		between "$1: and keep their rate within 0.1 %" "$took" $(($3 * 999 / 1000)) $(($3 * 1001 / 1000))
}

# rogue [at=MS CONTENT]...: q1's neighbour by hand
rogue()
{
	ip netns exec "$NS-r1" "$hopframe" peer e0 role=switch queues=64 "$@" >"$tmp/rogue" 2>&1 &
	rogue=$!
	wait_until 5 tags sw q1 || die "q1 does not tag" "$(cat "$tmp/rogue")"
	: >$tracing/trace
}

ALL=ffffffffffffffff+ffffffffffffffff
for host in h1 h2; do
	check "$host tags" wait_until 5 tags $host e0
done

diag "nobody pauses"
rogue for=4000
traffic 2500
bystanders "quiet" "[$((2 * 250 * RATE)),0]"
quiet=$took
is "no storm" "$(q1 storms),$(storm)" 0,false
wait $rogue

diag "r1 pauses for ever: a state each second, with a lease of 2 s, for 3 s"
rogue for=6500 at=1000 state:seq=1,lease=2000000000,words=$ALL \
	at=2000 state:seq=2,lease=2000000000,words=$ALL at=3000 state:seq=3,lease=2000000000,words=$ALL \
	at=4000 state:seq=4,lease=2000000000,words=0+0 \
	at=5000 state:seq=5,lease=100000000,words=1+0
traffic 2500
bystanders "storm" "[$((2 * 250 * RATE)),0]" "$quiet"
between "h1's packets for r1 went on" "$(q1 backlog)" 0 0
is "nothing is paused, for the storm is on" "$(q1 paused_queues),$(q1 paused),$(storm)" 0,0,true
wait $rogue
between "found 200 to 225 ms after the first pause, in us" \
	"$(since hop_pause_rx q1 hop_storm "q1 begins")" 200000 225000
between "over 400 ms after the last, in us" "$(($(since hop_pause_rx "q1 seq=4 " hop_storm "q1 ends")))" \
	400000 400001
is "states not obeyed" "$(q1 storm_rx),$(q1 state_rx)" 3,5
between "the next pause is obeyed, and its lease ends" "$(q1 lease_expired)" 1 1
is "the trace says what a state said and changed" "$(sed -n 's/.*hop_pause_rx: q1 seq=\([15]\) /\1 /p' $tracing/trace | xargs)" \
	"1 words=0+2 lease=2000000000ns changed=3 5 words=0+2 lease=100000000ns changed=1"
wait $rogue
is "one detection, one restoration" "$(q1 storms),$(q1 storm_ends)" 1,1
wait $r1_sink

diag "pauses of 198 ms, with 2 ms in between, ten of them"
actions=()
for ((i = 0; i < 10; i++)); do
	actions+=(at=$((1000 + 200 * i)) "state:seq=$((2 * i + 1)),lease=2000000000,words=$ALL"
		  at=$((1198 + 200 * i)) "state:seq=$((2 * i + 2)),lease=2000000000,words=0+0")
done
before=$(q1 state_rx)
# A flow keeps its sub-queue: with a packet each millisecond it would take another one each time, and one by one
# all of h1's would be paused for it, in the end, with some seeds, those that flows to r2 need.
tc_in h1 qdisc change dev e0 root bfc sticky 10ms
rogue for=4500 mine=2 "${actions[@]}"
traffic 2500
bystanders "long pauses" "[$((2 * 250 * RATE)),0]" "$quiet"
wait $rogue
is "all were obeyed" "$(($(q1 state_rx) - before))" 20
is "none was a storm" "$(q1 storms)" 1
tc_in h1 qdisc change dev e0 root bfc sticky auto
wait $r1_sink

# A sub-queue that waits for the line, while it may send, is not kept back by its pauses.
diag "pauses of 90 ms, with 10 ms in between, 15 of them; a frame takes q1's line 0.4 s"
actions=()
for ((i = 0; i < 15; i++)); do
	actions+=(at=$((1000 + 100 * i)) "state:seq=$((2 * i + 1)),lease=2000000000,words=$ALL"
		  at=$((1090 + 100 * i)) "state:seq=$((2 * i + 2)),lease=2000000000,words=0+0")
done
before=$(q1 state_rx)
rogue for=4000 mine=3 "${actions[@]}"
ip_in sw link set q1 type wire rate 20kbit
traffic 1500
bystanders "busy line" "[$((2 * 150 * RATE)),0]"
between "sub-queues of q1 were kept waiting" "$(q1 backlogged)" 1 128
wait $rogue
is "all were obeyed" "$(($(q1 state_rx) - before))" 30
is "none was a storm" "$(q1 storms)" 1
ip_in sw link set q1 type wire rate 1gbit
emptied() { [ "$(q1 backlog)" = 0 ]; }
check "the line comes back" wait_until 5 emptied
wait $r1_sink

diag "r1 is quiet, and q1's line takes 4 s for a frame"
tc_in r1 qdisc add dev e0 root bfc role switch
check "q1 tags to a real neighbour" wait_until 10 tags sw q1
: >$tracing/trace
ip_in sw link set q1 type wire rate 2kbit
traffic 1500
bystanders "dead line" "[$((2 * 150 * RATE)),0]"
between "h1 was let go after 100 to 200 ms, in us" \
	"$(since hop_pause_count "p1 .*0->1" hop_pause_count "p1 .*1->0")" 100000 199999
between "packets that let go" "$(q1 withdrawn)" 1 100000
is "no storm was seen at h1" "$(qdisc_stat h1 e0 storms)" 0
is "and none is paused anew" "$(p1 pausing_queues),$(q1 marked)" 0,0
ip_in sw link set q1 type wire rate 1gbit
sleep 5
check "the line comes back" wait_until 5 emptied
wait $r1_sink
sleep 0.2
before=$(p1 pauses_tx)
ip_in sw link set q1 type wire rate 1mbit
traffic 100
wait $r2_sink
between "and then pauses are sent again" "$(($(p1 pauses_tx) - before))" 1 1000
ip_in sw link set q1 type wire rate 1gbit
wait $r1_sink

diag "the same, without the watchdog"
tc_in sw qdisc change dev q1 root bfc nowatch
before=$(q1 withdrawn)
ip_in sw link set q1 type wire rate 2kbit
traffic 1500
bystanders "dead line" "[$((2 * 150 * RATE)),0]"
between "h1 stays paused" "$(p1 pausing_queues)" 1 128
is "and nothing is withdrawn" "$(q1 withdrawn)" "$before"
ip_in sw link set q1 type wire rate 1gbit
sleep 5
check "the line comes back" wait_until 5 emptied
wait
is "no counter leaked" "$(p1 counter_leaks)" 0

diag "all neighbours of the switch pause for ever, at once"
tc_in sw qdisc change dev q1 root bfc watch
PORTS="p1 p2 q1 q2"
declare -A host=([p1]=h1 [p2]=h2 [q1]=r1 [q2]=r2) to=([p1]=3 [p2]=4 [q1]=1 [q2]=2)

# ports JQ: something of all ports of sw, in their order
ports() { tc_in sw -j -s qdisc show | jq -c "[.[] | select(.kind == \"bfc\") | {dev, v: ($1)}] | sort_by(.dev) | map(.v)"; }
all_tag() { [ "$(ports .port.state)" = '["tagging","tagging","tagging","tagging"]' ]; }

for port in $PORTS; do
	tc_in "${host[$port]}" qdisc del dev e0 root
	neigh "${host[$port]}" e0 "10.0.0.${to[$port]}" "$(mac "${to[$port]}")"
done
storms=$(ports '[.port.storms, .port.storm_ends]')
before=$(ports '[.packets, .drops, .marks]')
rogues=()
for port in $PORTS; do
	ip netns exec "$NS-${host[$port]}" "$hopframe" peer e0 role=switch flags=d \
		mine=1${to[$port]} for=6500 \
		at=1000 state:seq=1,lease=2000000000,words=$ALL \
		at=2000 state:seq=2,lease=2000000000,words=$ALL \
		at=3000 state:seq=3,lease=2000000000,words=0+0 >"$tmp/rogue-$port" 2>&1 &
	rogues+=($!)
done
check "all tag" wait_until 5 all_tag
: >$tracing/trace
n=$((250 * RATE / 10)) at=$(($("$udpflow" now) + 20000000)) hands=()
for port in $PORTS; do
	ip netns exec "$NS-${host[$port]}" "$udpflow" rawsend --dev e0 --mac "$(mac "${to[$port]}")" \
		--vlan 0x88a8:$((to[$port] + 1)) -n $n -l 986 --rate=$((RATE * 958 * 80)) --at=$at >/dev/null &
	hands+=($!)
done
wait "${hands[@]}"
sleep 0.1	# the last ones arrive
is "all ports are in a storm" "$(ports .port.storm)" "[true,true,true,true]"
is "nothing is paused or waits" "$(ports '[.paused, .port.paused_queues, .backlog]')" \
	"[[0,0,0],[0,0,0],[0,0,0],[0,0,0]]"
is "all packets of all were sent" "$(jq -nc --argjson a "$before" --argjson b "$(ports '[.packets, .drops]')" \
	'[range(4) as $i | [range(2) as $j | $b[$i][$j] - $a[$i][$j]]]')" "[[$n,0],[$n,0],[$n,0],[$n,0]]"
is "some of each held somebody paused" "$(jq -nc --argjson a "$before" --argjson b "$(ports '[.packets, .drops, .marks]')" \
	'[range(4) as $i | $b[$i][2] > $a[$i][2]]')" "[true,true,true,true]"
wait "${rogues[@]}"
for port in $PORTS; do
	between "$port: found 200 to 225 ms after its first pause, in us" \
		"$(since hop_pause_rx $port hop_storm "$port begins")" 200000 225000
	between "$port: over 400 ms after the last, in us" \
		"$(since hop_pause_rx "$port seq=3 " hop_storm "$port ends")" 400000 400001
done
is "one detection and one restoration at each" "$(ports '[.port.storms, .port.storm_ends]')" \
	"$(jq -nc --argjson v "$storms" '$v | map(map(. + 1))')"
is "no port pauses anyone" "$(ports '[.marked, .port.pausing_queues, .port.pause_counters, .port.counter_leaks]')" \
	"[[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]"
for port in $PORTS; do
	tc_in "${host[$port]}" qdisc add dev e0 root bfc role switch
done
check "all tag to real neighbours again" wait_until 5 all_tag
traffic 100
bystanders "afterwards" "[$((2 * 10 * RATE)),0]"
wait
is "without a storm" "$(ports .port.storm)" "[false,false,false,false]"
finish
