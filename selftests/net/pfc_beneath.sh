#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pfc beneath floodgate and flowsail: links are paused by what came by them, and such pauses are obeyed.
#
# By hand, to the frame, what is counted and who is told, without pauses of single flows:
#
#	u (hopframe) --- p0 [ sw: bridge ] p1, p2	wires on which a frame takes 10 s
#
# and what is obeyed, with u as who pauses. Then FlowSail's section IV-D: switches with flowsail below, with pfc above.
# That is between two switches; see pfc_lib.sh.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/pfc_lib.sh
. "$(dirname "$0")/pfc_lib.sh"
need_tool ip tc bridge jq
need_program hopframe frames
: "${hopframe:?}" "${frames:?}"	# set by need_program
load_modules
need_module sch_floodgate
need_module sch_flowsail
need_module sch_pfc

work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT
no_ipv6() { in_ns "$1" sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null; }

# by_hand KIND WORD...: of a qdisc with these options besides
by_hand()
{
	kind=$1
	diag "$*"

	# ---- options ----

	ns sw u
	no_ipv6 sw
	no_ipv6 u
	ip_in sw link add o type wire peer name oo || die "no wire"
	ip_in sw link set o up
	refused "pfc without a pool" "pfc needs a pool" tc_in sw qdisc add dev o root "$kind" pfc
	check "with one" tc_in sw qdisc add dev o root handle 1: "$kind" pfc pool 1m
	option() { tc_in sw -j qdisc show dev o | jq -c '.[0].options | [.pfc, .pool_pause_alpha]'; }
	is "what it shows" "$(option)" "[true,12.5]"
	refused "and no more without it" "pfc needs a pool" tc_in sw qdisc change dev o root "$kind" pool none
	refused "nor not any more" "at creation only" tc_in sw qdisc change dev o root "$kind" no-pfc
	check "a share" tc_in sw qdisc change dev o root "$kind" pool-pause-alpha 40%
	is "is shown" "$(option)" "[true,40]"
	check "without pfc" tc_in sw qdisc replace dev o root handle 2: "$kind"
	is "it is off" "$(option)" "[false,12.5]"
	leave_ports
	ip_in sw link del o

	# ---- by hand: who counts, and who is told ----

	# Over 1/8 of what is free is too much: 10 frames are not, for (90 - 10) / 8 = 10, 11 are, for 79 / 8 < 11.
	POOL=$((90 * FRAME))
	ALL=ffffffffffffffff
	gate="$* slots 64 limit 1m pool $POOL pool-alpha 800% pfc refresh 1s"
	ips sw "link add br0 type bridge mcast_snooping 0
	link set br0 up
	link add p0 type veth peer name x address $(mac 1) netns $NS-u
	link set p0 master br0 up
	$(for i in 1 2; do
		echo "link add p$i type wire rate 800bit ring 0 peer name y$i"
		echo "link set y$i up"
		echo "link set p$i master br0 up"
	done)"
	ip_in u link set x up
	for i in 1 2; do
		bridge -n "$NS-sw" fdb replace "$(mac 2 $i)" dev p$i master static
	done
	tcs sw "qdisc add dev p0 root handle 1: $gate nowatch
	qdisc add dev p1 root handle 1: $gate nowatch
	qdisc add dev p2 root handle 1: $gate nowatch"
	u_comes kinds=2 queues=64 flags=5
	has "p0 knows u's sub-queues" sw p0 handles 64
	# sends PORT N [vid=V]: frames of u that leave by this port
	sends() { ip netns exec "$NS-u" "$hopframe" data x dst="$(mac 2 "$1")" n="$2" pad=$((FRAME - 14)) "${@:3}"; }
	# ten NAME: ten frames are as many as may be, and whatever came by the link counts: sub-queues 4 and 9, and no tag
	ten()
	{
		sends 1 4 vid=5
		sends 1 4 vid=10
		sends 1 2
		has "$1: ten frames count" sw p1 pfc_queued backlog "10 10000"
		shows "$1: and pause nobody" sw p0 pausing_queues 0
	}
	eleven()
	{
		ten "$1"
		sends 1 1 vid=5
		has "$1: an eleventh: all of the link is paused" sw p0 pausing_queues 64
		shows "$1: by no single counter" sw p0 pause_counters 0
	}
	anew()
	{
		tcs sw "qdisc del dev p1 root
	qdisc add dev p1 root handle $((++handle)): $gate ${1:-nowatch}"
		has "nothing is held" sw p0 pausing_queues 0
	}
	handle=1
	sends 1 1 vid=5
	sends 2 1 vid=5
	has "what is on the line counts no more" sw p1 pfc_queued qlen "0 0"
	eleven "first"
	u_is "u was told so" $ALL
	shows "once" sw p0 pauses_tx resumes_tx "1 0"
	shows "by whom" sw p1 pfc_sent 1
	sends 1 3 vid=10
	has "more change nothing" sw p1 pfc_queued pfc_sent "14 1"
	ip_in sw link set p1 type wire rate 1gbit
	sleep 10
	has "nothing counts when they have left by the line" sw p1 pfc_queued qlen pool_used "0 0 0"
	has "and nothing is paused" sw p0 pausing_queues "0"
	shows "said once" sw p0 pauses_tx resumes_tx "1 1"
	u_is "u is resumed" 0

	# From here on nothing leaves by the lines: a bit takes a second, and HELLOs go first.
	ips sw "link set p1 type wire rate 1bit
	link set p2 type wire rate 1bit"
	sends 1 2
	sends 2 2
	anew
	tcs sw "qdisc del dev p2 root
	qdisc add dev p2 root handle 7: $gate nowatch"
	ten "two ports"
	sends 2 1
	has "two ports: one more at either" sw p0 pausing_queues 64
	shows "two ports: that one says it" sw p2 pfc_queued pfc_sent "1 1"
	ip_in sw link set p2 down
	has "two ports: it goes down: ten are left, and xon is two frames below" sw p0 pausing_queues 64
	tcs sw "qdisc del dev p1 root"
	has "two ports: the other goes: xon" sw p0 pausing_queues 0
	u_is "two ports: u is resumed" 0
	tcs sw "qdisc del dev p2 root
	qdisc add dev p1 root handle $((++handle)): $gate nowatch"

	# leaves NAME COMMAND...: xoff; then it happens
	leaves()
	{
		anew
		eleven "$1"
		"${@:2}" || fail "$1" "${*:2}"
		has "$1: xon" sw p0 pausing_queues 0
		u_is "$1: u is resumed" 0
	}
	# shellcheck disable=SC2086
	leaves "replaced by its kind" tc -n "$NS-sw" qdisc replace dev p1 root handle 99: $gate nowatch
	# floodgate keeps what it has
	if [ "$kind" = flowsail ]; then
		leaves "a lower limit" tc -n "$NS-sw" qdisc change dev p1 root flowsail limit $((5 * FRAME))
		shows "a lower limit: what was dropped counts no more" sw p1 pfc_queued qlen "5 5"
	fi
	leaves "reset" sh -c "ip -n $NS-sw link set p1 down; ip -n $NS-sw link set p1 up"
	sends 1 2	# on the line again
	restart_u()
	{
		local queues up=1

		# more than a word of a message tells
		for queues in 136 64; do
			u_goes
			u_comes kinds=2 queues=$queues flags=5
			has "u restarts with $queues sub-queues: it is known" sw p0 handles neighbour_up "$queues $((++up))"
			has "u restarts with $queues sub-queues: it is paused again" sw p0 pausing_queues $queues
			[ $queues = 64 ] || u_is "u restarts with $queues sub-queues: it is told so" $ALL+$ALL+ff
		done
		tcs sw "qdisc del dev p1 root
	qdisc add dev p1 root handle $((++handle)): $gate nowatch"
	}
	leaves "u restarts" restart_u
	anew
	eleven "another kind"
	u_goes
	u_comes kinds=1 queues=64 flags=5
	has "another kind: it is known" sw p0 neighbour_up 4
	has "another kind: it is not paused" sw p0 pausing_queues 0
	anew
	ten "another kind"
	sends 1 5
	has "another kind: it counts" sw p1 pfc_queued 15
	sleep 0.3
	shows "another kind: and is not paused" sw p0 pausing_queues 0
	shows "another kind: nor is that said to be" sw p1 pfc_sent 0
	u_goes
	u_comes kinds=2 queues=64 flags=5
	has "one of its kind is, when it comes" sw p0 pausing_queues 64
	u_is "and told so" $ALL

	diag "a line on which nothing leaves for 10 s"
	ips sw "link set p1 down
	link set p1 type wire rate 800bit
	link set p1 up"
	anew "watch watchdog 200ms"
	sends 1 1
	eleven "a device that hangs"
	has "a device that hangs: after half of the watchdog's time nobody is paused" sw p0 pausing_queues 0
	shows "a device that hangs: nothing counts, and all is here" sw p1 withdrawn pfc_queued qlen "1 0 11"
	sends 1 12
	has "a device that hangs: nor does what comes meanwhile" sw p1 pfc_queued qlen "0 23"
	ip_in sw link set p1 type wire rate 1gbit
	sleep 10
	has "they leave when it goes again" sw p1 qlen 0
	u_goes

	# ---- by hand: what is obeyed ----

	diag "pauses that it obeys"
	tcs sw "qdisc del dev p0 root
	qdisc del dev p1 root
	qdisc add dev p0 root handle 1: $gate nowatch"
	ips sw "link set p1 type wire rate 1gbit
	link set y1 type wire rate 1gbit"
	bridge -n "$NS-sw" fdb replace "$(mac 9)" dev p0 master static
	comes() { printf '%s\n' "f dst=$(mac 9) n=3 bytes=$FRAME" | "$frames" -w 100 "$NS-sw/y1" "$NS-u/x" >"$work/came"; }
	u_comes kinds=2 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=fffffffffffffffe \
		at=1500 state:seq=2,lease=2000000000,words=$ALL at=3500 state:seq=3,lease=2000000000,words=fffffffffffffffe at=4500 state:seq=4,words=0
	has "all but one slot" sw p0 paused pfc_paused pfc_obeyed "63 0 0"
	comes
	shows "that one goes" sw p0 qlen 0
	has "all: the link" sw p0 pfc_paused pfc_obeyed paused_queues "1 1 64"
	comes
	shows "what comes waits" sw p0 qlen backlog "3 $((3 * FRAME))"
	figs sw p0 control
	before=$REPLY
	in_ns sw "$hopframe" data y1 dst="$(mac 9)" type=806 n=2 pad=46
	has "control packets go" sw p0 control qlen "$((before + 2)) 3"
	has "all but one again: what waited goes" sw p0 pfc_paused qlen paused "0 0 63"
	figs sw p0 pfc_paused_time
	between "after as long as that" "$REPLY" 1600000000 2200000000
	has "then it is resumed" sw p0 paused pfc_paused pfc_obeyed "0 0 1"
	u_goes

	diag "a pause that never ends"
	tcs sw "qdisc change dev p0 root $kind watch watchdog 1s restore 1s"
	u_comes kinds=2 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=$ALL at=2500 state:seq=2,words=0
	has "the link is paused again" sw p0 pfc_paused 1
	comes
	shows "what comes waits" sw p0 qlen storms "3 0"
	for ((i = 0; i < 6; i++)); do
		in_ns sw "$hopframe" data y1 dst="$(mac 9)" type=806 n=1 pad=46
		sleep 0.2
	done
	has "for as long as the watchdog says, though control packets go" sw p0 qlen pfc_paused storms "0 0 1"
	u_goes

	diag "without pfc"
	tcs sw "qdisc del dev p0 root
	qdisc add dev p0 root handle 2: $kind slots 64 nowatch"
	u_comes kinds=1 role=switch queues=1 at=300 state:seq=1,lease=2000000000,words=$ALL at=1500 state:seq=2,words=0
	has "all slots are held" sw p0 paused "64"
	shows "is not the link" sw p0 pfc_paused 0
	has "then they are resumed" sw p0 paused 0
	u_goes
	leave_spaces
}

by_hand floodgate
by_hand flowsail nopause

# ---- FlowSail, section IV-D: flowsail below, pfc above ----

two_switches
SAIL="flowsail pfc hrtt 20us"
# above POOL KIND WORD...: at h and s, with flowsail at c, of whose pool a ninth is too much for a link
above()
{
	local pool=$1

	shift
	kind=$1
	no_qdiscs
	tcs h "qdisc add dev p root handle 1: $* role host peer switch pool 100m pool-alpha 1000%"
	tcs s "qdisc add dev q root handle 1: $* role switch peer host pool 10m pool-alpha 1000%
qdisc add dev r root handle 1: $* role switch peer switch pool 10m pool-alpha 1000%"
	tcs c "qdisc add dev t root handle 1: $SAIL role switch peer switch pool $pool pool-alpha 1000%
qdisc add dev u root handle 1: $SAIL role switch peer host pool $pool pool-alpha 1000%
qdisc add dev v root handle 1: $SAIL role switch peer host pool $pool pool-alpha 1000%"
	check "they tag" wait_until -e 500 10 tags h p
	check "and further on" wait_until -e 500 10 tags s r
}
lost()
{
	local port sum=0

	for port in s:q s:r c:t c:u c:v; do
		[ ${port%:*} = s ] || local kind=flowsail
		figs ${port%:*} ${port#*:} drops
		sum=$((sum + REPLY))
	done
	echo $sum
}
rest()
{
	local port

	for port in s:q s:r; do
		figs_are ${port%:*} ${port#*:} paused backlog "0 0" || return 1
	done
	local kind=flowsail
	for port in c:t c:u c:v; do
		figs_are ${port%:*} ${port#*:} pfc_queued marked backlog pausing_queues "0 0 0 0" || return 1
	done
}

rest_but_v()
{
	figs_are s r paused backlog "0 0" && kind=flowsail figs_are c u backlog marked "0 0" && figs_are c v backlog marked "0 0"
}

diag "pfc above"
above 200000 pfc
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
check "the switch above is held" wait_until -e 1 2 figs_are s r paused 1
from_h "$(to 3 100)"
sleep 0.03
between "and what goes to another host with it" $(($(got z) - z)) 0 50
kind=flowsail figs c u backlog
between "the last port holds what may come by a link, and what comes in an HRTT" "$REPLY" $((200000 / 9 - 4 * FRAME)) $((200000 / 9 + 8 * FRAME))
kind=flowsail figs c t pausing_queues
is "by its link" "$REPLY" 1
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
check "by either way" wait_until -e 100 20 got_all z $((z + 100))
is "nothing is lost" "$(lost)" 0
check "all leaves, and nobody is held" wait_until -e 400 20 rest
kind=flowsail figs c u pfc_sent
between "pauses were told" "$REPLY" 1 300

diag "pfc above, and a pool that has room for all"
above 40m pfc
y=$(got y)
from_h "$(to 2 300)"
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
kind=flowsail figs c u marks
between "packets would have held their flow" "$REPLY" 100 300
shows "and held no link" s r pauses_obeyed 0
check "all leaves" wait_until -e 400 20 rest

# At c:v is pfc, whose pauses are of the one sub-queue that the neighbour has, as those of flows at c:u would be.
diag "pfc beside flowsail in a box"
above 40m pfc
tcs c "qdisc replace dev v root handle 2: pfc role switch peer host pool 40m pool-alpha 1000% pool-pause-alpha 0.03% nowatch"
ip_in c link set dev v type wire rate 1mbit
from_h "$(to 2 60)"
sleep 0.01
kind=flowsail figs c u marks
between "packets would have held their flow" "$REPLY" 10 60
shows "and do not" s r paused 0
from_h "$(to 3 40)"
check "those of the pfc hold the link" wait_until -e 1 2 figs_are s r paused 1
ip_in c link set dev v type wire rate 1gbit
check "until they have left" wait_until -e 1 2 figs_are s r paused 0
kind=flowsail figs c u backlog
if [ "${SLUICE_HOME:-}" = uml ]; then
	between "whatever waits elsewhere" "$REPLY" $FRAME $((60 * FRAME))
else
	skip "whatever waits elsewhere" "needs virtual time"
fi
check "all leaves" wait_until -e 400 20 rest_but_v

diag "flowsail above"
# a slow line spaces pauses, and meanwhile frames come
above 2m $SAIL
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
check "the flow is held" wait_until -e 1 2 figs_are s r paused 1
from_h "$(to 3 100)"
sleep 0.05
check "what goes to another host is in nobody's way" got_all z $((z + 100))
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
is "nothing is lost" "$(lost)" 0
check "all leaves, and nobody is held" wait_until -e 400 20 rest
shows "no link was paused" c u pfc_sent 0
shows "nor held" s r pfc_obeyed pfc_paused "0 0"
leave_spaces
finish
