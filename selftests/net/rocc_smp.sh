#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# RoCC on several processors: everything at once.
#
#	h1 ---.
#	h2 --- s --- r			wires of 20 Mb/s; s is a bridge
#	h3 - - (comes and goes)
#
# Two hosts have a processor each to send from, one of them GSO packets, too, so the port to r is a congestion
# point all the while. Options
# of it and of the hosts change, both get new qdiscs, the child is replaced, links flap, forged notifications
# make limiters come and go, everything is dumped, a host is removed with what it holds, the module is unloaded
# and loaded. Rounds are counted, so that the test ends however slow the machine is. Afterwards the port is at
# rest, no limiter is left, and a flow passes whole. The rest is for the kernel to say (selftests/vm/run
# --flavour).
#
# $SLUICE_STRESS (1): so many times as many rounds.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_root
need_tool ip tc jq bridge taskset
CPUS=$(nproc)
[ "$CPUS" -ge "${SLUICE_CPUS:-1}" ] || die "$CPUS processors, where $SLUICE_CPUS should be"
[ "$CPUS" -ge 2 ] || skip_all "needs several processors"
[ -x "$udpflow" ] && [ -x "$cnpsend" ] || skip_all "udpflow or cnpsend is not built"
need_program gsosend
: "${gsosend:?}"	# set by need_program
load_modules hopctl sch_bfc sch_rocc wire
rounds() { awk -v n="$1" -v by="${SLUICE_STRESS:-1}" 'BEGIN { n = int(n * by); print n ? n : 1 }'; }
phase() { diag "$1 ($(cut -d. -f1 /proc/uptime) s)"; }

SWITCH="rocc interval 5ms limit 4m"
HOST="rocc role host limit 4m"
star bridge 2 20mbit 1us

# rocc_at BOX DEV OPTIONS
rocc_at()
{
	tc_in "$1" qdisc del dev "$2" root 2>/dev/null
	# shellcheck disable=SC2086
	tc_in "$1" qdisc add dev "$2" root handle 1: $3
}

rocc_everywhere()
{
	rocc_at s pr "$SWITCH" && rocc_at h1 e0 "$HOST" && rocc_at h2 e0 "$HOST"
}

sends_on() # BOX CPU PROGRAM [ARG...]: until told to stop; fails while the link is down
{
	while [ -e "$work/go" ]; do
		taskset -c $(($2 % CPUS)) ip netns exec "$NS-$1" "${@:3}" >/dev/null 2>&1 ||
			sleep 0.2
	done
}

senders=()
traffic_begins()
{
	: >"$work/go"
	sends_on h1 1 "$udpflow" send -d 10.0.0.200 --sport 5001 -f 8 -n 1000 -l 1400 &
	senders+=($!)
	sends_on h1 1 "$gsosend" 10.0.0.200 20 1000 5001 &
	senders+=($!)
	sends_on h2 2 "$udpflow" send -d 10.0.0.200 --sport 5001 -f 8 -n 1000 -l 1400 &
	senders+=($!)
}

traffic_ends()
{
	rm -f "$work/go"
	wait "${senders[@]}"
	senders=()
}

# changes ROUNDS BOX DEV OPTIONS|OPTIONS...: of a rocc that stays
changes()
{
	local i change lines=

	while read -r -d '|' change; do
		lines+="qdisc change dev $3 root handle 1: rocc $change"$'\n'
	done <<<"$4|"
	for ((i = 0; i < $1; i++)); do
		tc -n "$NS-$2" -batch - <<<"$lines" || return
	done
}
SWITCH_OPTIONS="interval 2ms|tuning smooth|compute host|limit 20k|cnps 100
	|rate 10mbit|qref 8k qmid 16k qmax 20k|tuning steps|qref auto qmid auto qmax auto|rate auto|limit 4m
	|compute switch|cnps auto|interval 5ms|source 192.0.2.1|control-dscp 46|control-dscp none"
HOST_OPTIONS="recovery 100us|hold 1ms|floor 1mbit|radius 0|from 10.0.0.0/8,192.0.0.0/16|limit 20k|recovery auto|hold 20ms
	|rate 10mbit|floor auto|no-split-gso|rate auto|limit 4m|split-gso|from any|radius 8|control-dscp 46|control-dscp none"

anew() # ROUNDS BOX DEV OPTIONS...: by turns
{
	local i

	for ((i = 0; i < $1; i++)); do
		rocc_at "$2" "$3" "${@:4 + i % ($# - 3):1}" || return
		sleep 0.02
	done
}

children() # ROUNDS BOX DEV: below a rocc that stays
{
	local i

	for ((i = 0; i < $1; i++)); do
		tc_in "$2" qdisc replace dev "$3" parent 1:1 handle 2: pfifo limit 100 &&
			tc_in "$2" qdisc replace dev "$3" parent 1:1 handle 3: bfc limit 1m th 120k &&
			tc_in "$2" qdisc del dev "$3" parent 1:1 || return
	done
}

flaps() # ROUNDS BOX DEV
{
	local i

	for ((i = 0; i < $1; i++)); do
		ip_in "$2" link set "$3" down
		ip_in "$2" link set "$3" up
		bridge -n "$NS-s" fdb replace "$(mac "${3#p}")" dev "$3" master static
		sleep 0.05
	done
}

forgeries() # ROUNDS: of flows that h1 sends, and of such as it does not
{
	local i

	for ((i = 0; i < $1; i++)); do
		in_ns h1 "$cnpsend" udp,10.0.0.1,5001,10.0.0.200,7001 from=10.0.0.1 rate=$((i % 2 ? 100 : 20000)) n=64 ports \
			sequence=$i >/dev/null &&
			in_ns h1 "$cnpsend" udp,10.0.0.1,5001,10.0.0.200,7001 n=100 flips raw >/dev/null || return
	done
}

dumps() # ROUNDS
{
	local i name

	for ((i = 0; i < $1; i++)); do
		for name in h1 h2 s; do
			tc_in $name -s qdisc show
			tc_in $name -s class show dev "$([ $name = s ] && echo pr || echo e0)"
		done >/dev/null 2>&1
	done
}

# leaves ROUNDS: h3 comes, sends, is told a rate, and goes with all it holds, or without its cable
leaves()
{
	local i sender

	for ((i = 0; i < $1; i++)); do
		star_box bridge 3 20mbit 1us
		rocc_at h3 e0 "$HOST" || return
		ip netns exec "$NS-h3" "$udpflow" send -d 10.0.0.200 --sport 5001 -f 8 -n 1000 -l 1400 >/dev/null 2>&1 &
		sender=$!
		sleep 0.3
		[ $((i % 2)) = 0 ] || ip_in s link del p3
		kill $sender 2>/dev/null
		wait $sender 2>/dev/null
		del_ns h3 || return
		wait_until 30 no_p3 || return
	done
}
no_p3() { ! ip_in s link show p3 2>/dev/null; }

reloads() # ROUNDS
{
	local i

	for ((i = 0; i < $1; i++)); do
		tc_in s qdisc del dev pr root && tc_in h1 qdisc del dev e0 root && tc_in h2 qdisc del dev e0 root &&
			module_file sch_rocc && rmmod sch_rocc && insmod "$REPLY" &&
			rocc_everywhere || return
		sleep 0.3
	done
}

# together NAME COMMAND...: to be done beside others
names=() jobs=()
together()
{
	"${@:2}" >"$work/said-${#jobs[@]}" 2>&1 &
	names+=("$1")
	jobs+=($!)
}

done_all()
{
	local i

	for i in "${!jobs[@]}"; do
		if wait "${jobs[i]}"; then
			pass "${names[i]}"
		else
			fail "${names[i]}" "$(tail -n 5 "$work/said-$i")"
		fi
	done
	names=() jobs=()
}

rocc_everywhere || die "no rocc"
traffic_begins
told() { [ "$(qdisc_stat s pr cnps rocc)" -gt 100 ] && [ "$(qdisc_stat h1 e0 accepted rocc)" -gt 50 ]; }
check "hosts are told, and obey" wait_until 60 told
cuts() { [ "$(qdisc_stat h1 e0 gso_split rocc)" -gt 0 ]; }
check "and cut GSO packets" wait_until 60 cuts

phase "options, children, flaps, forgeries, removals, dumps"
together "options of the congestion point" changes "$(rounds 20)" s pr "$SWITCH_OPTIONS"
together "options of h1" changes "$(rounds 20)" h1 e0 "$HOST_OPTIONS"
together "its children" children "$(rounds 20)" h1 e0
together "children of the congestion point" children "$(rounds 20)" s pr
together "h2 anew" anew "$(rounds 60)" h2 e0 "$HOST"
together "flaps" flaps "$(rounds 40)" s p2
together "forgeries" forgeries "$(rounds 60)"
together "a host that comes and goes" leaves "$(rounds 6)"
together "dumps" dumps "$(rounds 10)"
done_all
phase "anew"
together "the congestion point anew" anew "$(rounds 60)" s pr "$SWITCH" "$SWITCH table age" \
	"$SWITCH table elephants sample 2" "$SWITCH table afd flows 16"
together "h1 anew" anew "$(rounds 60)" h1 e0 "$HOST" "$HOST limiters 4"
together "dumps" dumps "$(rounds 10)"
done_all
phase "modules"
if [ -n "${SLUICE_MODDIR:-}" ]; then
	together "dumps" dumps "$(rounds 10)"
	together "unloaded and loaded" reloads "$(rounds 8)"
	done_all
fi

phase "quiet again"
traffic_ends
rocc_everywhere
wait_until 30 star_forwards
for i in 1 2; do
	bridge -n "$NS-s" fdb replace "$(mac $i)" dev p$i master static
	neigh r e0 10.0.0.$i "$(mac $i)"
	neigh h$i e0 10.0.0.200 "$(mac 200)"
done
in_ns r "$udpflow" sink --expect=2000 --idle=10s --timeout=120s --json >"$work/sink" &
sink=$!
sink_is_up() { [ "$(in_ns r ss -Huln | wc -l)" -ge 1 ]; }
wait_until 10 sink_is_up
in_ns h1 "$udpflow" send -d 10.0.0.200 --sport 5001 -f 4 -n 250 -l 1400 >/dev/null &
in_ns h2 "$udpflow" send -d 10.0.0.200 --sport 5001 --id 100 -f 4 -n 250 -l 1400 >/dev/null
wait $sink
is "two flows pass whole" "$(jq .packets "$work/sink")" 2000
all_free() { no_limiter h1 && no_limiter h2; }
check "no limiter is left" wait_until 60 all_free
cp_rests() { figures s pr flows_active backlog; [ "$REPLY" = "0 0" ]; }
check "the congestion point is at rest" wait_until 60 cp_rests
rm -r "$work"
finish
