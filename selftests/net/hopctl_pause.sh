#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A switch between two neighbours made by hand: what it tells the one whose packets the other
# one holds back, also when somebody or something disappears meanwhile.
#
#	u (hopframe) --- p0 [ sw: bridge ] p1 --- d (hopframe)
#	                 p2 |
#	w (stranger) -------+
#
# u tags its frames with sub-queue 4. d pauses everything and resumes it later, so what u sends
# is held in p1 and marked: all frames but the first are over the threshold.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
load_modules hopctl sch_bfc wire

hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"
wireprobe=$(dirname "$hopframe")/wireprobe
[ -x "$wireprobe" ] || skip_all "wireprobe is not built"

FRAMES=10
ALL=ffffffffffffffff+ffffffffffffffff

ns sw u d w
ip_in sw link add br0 type bridge
ip_in sw link set br0 up
attach()
{
	ip_in sw link add "$1" type veth peer name x address "$(mac "$3")" netns "$NS-$2"
	ip_in sw link set "$1" master br0 up
	ip_in "$2" link set x up
}
attach p0 u 1
attach p1 d 2
attach p2 w 3
in_ns sw bridge fdb replace "$(mac 2)" dev p1 master static

# Reminders 10 ms apart, not 100 us: u's program has to read them all.
qdisc() { tc_in sw qdisc replace dev "$1" root bfc queues 128 th 2000 refresh 10ms nowatch; }

declare -A port
# look DEV: all figures of its qdisc and port
look()
{
	local outside

	port=()
	qdiscs_of sw "$1"
	object_in "$REPLY" port || return
	fields_of "${outside:2:-2}" port
	fields_of "$REPLY" port
}

# has NAME DEV KEY VALUE: waits for it; what is asked next is of the same moment
has()
{
	comes_to "$1" port "$3" "$4" 4 look "$2"
}

u_said=$(mktemp)
u_comes() { in_ns u "$hopframe" peer x queues=64 flags=5 "$@" >"$u_said" 2>&1 & u_hand=$!; }
u_ends() { wait "$u_hand"; }
d_comes() { in_ns d "$hopframe" peer x role=switch queues=64 "$@" >/dev/null 2>&1 & d_hand=$!; }
d_ends() { wait "$d_hand"; }
u_sends() { in_ns u "$hopframe" data x vid=5 dst="$(mac 2)" n=$FRAMES pad=1000; }
last_state() { sed -n 's/.* state seq=.* words=\([0-9a-f+]*\).*/\1/p' "$u_said" | tail -n 1; }
trap 'rm -f "$u_said"; _at_exit' EXIT

# begin FOR_U FOR_D AT: new ports, d pauses p1 at once and resumes it at AT, u's packets are held.
# With $RENEWED it says nothing after that time, and its last lease of two seconds runs out.
begin()
{
	local u=$1 d=$2 at=$3 seq=0 time states=()

	shift 3
	for ((time = 0; time < ${RENEWED:-$at}; time += 1000)); do
		seq=$((seq + 1))
		states+=("at=$time" "state:seq=$seq,lease=2000000000,words=$ALL")
	done
	[ -n "${RENEWED:-}" ] || states+=("at=$at" "state:seq=$((seq + 1)),lease=2000000000,words=0+0")
	tc_in sw qdisc del dev p0 root 2>/dev/null
	tc_in sw qdisc del dev p1 root 2>/dev/null
	sleep 1.5
	qdisc p0
	qdisc p1
	u_comes for="$u" "$@"
	d_comes for="$d" "${states[@]}"
	has "p1 is paused" p1 paused_queues 128
	has "p0 has handles for u's queues" p0 handles 64
	u_sends
	has "all of u's frames but one are marked" p0 pause_counters $((FRAMES - 1))
	is "for one queue" "${port[pausing_queues]}" 1
}

# drained NAME: p1 has sent everything, and no counter is left
drained()
{
	has "$1" p1 qlen 0
	has "no counter is left" p0 pause_counters 0
	is "nor anything paused" "${port[pausing_queues]}" 0
}

diag "pause, hold, resume"
begin 3500 3500 2500
is "p0's role" "${port[role]}" switch
is "paused once" "${port[pauses_tx]},${port[resumes_tx]}" 1,0
is "u was told so" "$(last_state)" 10
# of the sub-queue that u's frames wait in: whether it is paused, and for how many us
class_of()
{
	tc_in sw -s class show dev p1 | awk '$1 == "class:" && $5 == 1 {
		for (i = 1; $i != "paused_time"; i++)
			;
		print $3, int($(i + 1) * ($(i + 1) ~ /ms$/ ? 1000 : 1000000)) }'
}
read -r paused before < <(class_of)
is "its class says that it is paused" "$paused" yes
kind_figs bfc sw p1 marks
is "and all of them how many packets were marked" \
	"$(tc_in sw -s class show dev p1 | awk '$1 == "class:" {
		for (i = 1; i < NF; i++)
			if ($i == "marks")
				n += $(i + 1)
	} END { print n }')" "$REPLY"
between "which are some" "$REPLY" 1 1000
sleep 0.1
read -r paused after < <(class_of)
between "for as long as it is" $((after - before)) 100000 1500000
# all of them together, by the clock of the same reading
kind_figs bfc sw p1 paused_time time
read -r before then <<<"$REPLY"
sleep 0.1
kind_figs bfc sw p1 paused_time time
read -r after now <<<"$REPLY"
is "p1's count of it goes on while they last" $((after - before)) $((128 * (now - then)))
drained "d resumes"
is "resumed once" "${port[pauses_tx]},${port[resumes_tx]}" 1,1
is "u was told so" "$(last_state)" 0
between "and meanwhile reminded, each 10 ms" "${port[refresh_tx]}" 10 400
look p1
is "p1 obeyed" "${port[pauses_obeyed]},${port[resumes_obeyed]}" 128,128
between "none was lost" "$(link_stat sw p1 tx_dropped)" 0 0
u_ends
d_ends

diag "several states in one frame: each counts by itself"
tc_in sw qdisc del dev p1 root
sleep 1.5
qdisc p1
in_ns d "$hopframe" peer x role=switch queues=64 for=2000 at=500 state:seq=1,lease=2000000000,words=f \
	state:seq=2,lease=2000000000,first=1,words=ff state:seq=2,lease=2000000000,words=ffff \
	state:seq=3,lease=2000000000,words=3 at=1500 state:seq=4,words=0 state:seq=5,first=1,words=0 >"$u_said" 2>&1 &
d_hand=$!
has "the last of each word is in force" p1 paused_queues 10
is "taken, and one played again" "${port[state_rx]},${port[rx_stale]}" 3,1
d_ends
has "all are over by the next two" p1 paused_queues 0
is "the newest of each frame is acknowledged, and no other" \
	"$(sed -n 's/.* ack seq=\([0-9]*\).*/\1/p' "$u_said" | paste -sd' ')" "3 5"

diag "no acknowledgement"
begin 3500 3500 2500 noack
drained "d resumes"
between "it was said again" "${port[state_repeats]}" 2 100000
u_ends
d_ends

diag "u is lost and found: its packets are still here"
RENEWED=4500 begin 1500 8000 - mine=1
u_ends
has "lost" p0 neighbour_lost 1
is "nothing is told" "${port[pausing_queues]}" 0
is "but the packets are counted" "${port[pause_counters]}" $((FRAMES - 1))
u_comes mine=1 for=5500
has "found" p0 pausing_queues 1
is "u was told" "$(last_state)" 10
look p1
is "p1's lease lasts" "${port[lease_expired]}" 0
drained "the lease ends"
look p1
is "once" "${port[lease_expired]}" 1
is "u was told" "$(last_state)" 0
u_ends
d_ends

diag "u starts anew: another epoch has nothing to do with the packets of before"
begin 1500 6000 2600 mine=1
u_ends
u_comes mine=2 for=3000
has "the second one" p0 neighbour_up 2
is "is told nothing" "${port[pausing_queues]}" 0
is "and has handles of its own" "${port[handles]},${port[pause_counters]}" 64,0
drained "d resumes"
u_ends
d_ends

diag "p0 leaves and comes back while its packets are held"
begin 4000 4000 2600
tc_in sw qdisc del dev p0 root
qdisc p0
has "p0 is a port again" p0 handles 64
drained "d resumes"
u_ends
d_ends

diag "p1's qdisc is deleted with the packets in it"
begin 3000 3000 2900
tc_in sw qdisc del dev p1 root
has "no counter is left" p0 pause_counters 0
is "resumed" "${port[resumes_tx]},${port[pausing_queues]}" 1,0
u_ends
is "u was told so" "$(last_state)" 0
d_ends

diag "a handle that somebody else has set"
begin 3000 3000 2900
tc_in sw qdisc add dev p2 clsact
tc_in sw filter add dev p2 ingress matchall classid 1:8000
in_ns w "$hopframe" data x dst="$(mac 2)" n=5 pad=1000
look p1
# 4 if the frames got a sub-queue of their own, 5 if they share that of u's
between "is counted, not honoured" "${port[handle_forged]}" 4 5
has "p0's counters" p0 pause_counters $((FRAMES - 1))
drained "d resumes"
u_ends
d_ends

diag "p1 is removed with the packets in it"
begin 3000 3000 2900
ip_in sw link del p1
has "no counter is left" p0 pause_counters 0
is "resumed" "${port[resumes_tx]}" 1
u_ends
d_ends

# u's cable becomes a wire of 100 Mb/s whose transmit queue is stopped, by 4096 frames past the qdisc, for as
# long as half of them need: 164 ms. Reminders are a second apart, so they do not help out.
full_device()
{
	ip_in sw link del p0
	ip_in sw link add p0 type wire rate 100mbit peer name x address "$(mac 1)" netns "$NS-u"
	ip_in sw link set p0 master br0 up
	ip_in u link set x up
	attach p1 d 2
	in_ns sw bridge fdb replace "$(mac 2)" dev p1 master static
	begin 9000 9000 8000
	is "p0 has paused u" "${port[pauses_tx]}" 1
	between "the device has taken nothing for a while" "${port[tx_busy]}" 1 100000
	is "in which u has not heard of it" "$early" ""
	is "but as soon as there was room" "$later" 10
	fill
	tc_in sw qdisc del dev p1 root
	sleep 0.05
	is "nor of the end, while the device is full again" "$(last_state)" 10
	sleep 0.3
	is "which is told then" "$(last_state)" 0
	look p0
	is "once each, and u was never lost" "${port[pauses_tx]},${port[resumes_tx]},${port[neighbour_lost]}" 1,1,0
	u_ends
	d_ends
}

diag "a full device: what it does not take is said when it can be"
if [ "${SLUICE_HOME:-}" = uml ]; then
	qdisc() { tc_in sw qdisc replace dev "$1" root bfc queues 128 th 2000 refresh 1s nowatch; }
	fill() { in_ns sw "$wireprobe" -w 1 p0 "$NS-u/x" count=4200,size=1000,direct,drop >/dev/null; }
	u_sends()
	{
		fill
		in_ns u "$hopframe" data x vid=5 dst="$(mac 2)" n=$FRAMES pad=1000
		sleep 0.05
		early=$(last_state)
		sleep 0.2
		later=$(last_state)
	}
	full_device
else
	skip "a full device" "needs virtual time"
fi

finish
