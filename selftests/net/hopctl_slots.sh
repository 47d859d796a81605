#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Watchdogs where the neighbour pauses single flows or destinations, by their slots, or sub-queues: of flowsail, floodgate and bfc. A device that
# hangs holds nobody for long, whichever slots are held; while all are, and so nothing hangs, nothing is withdrawn, but it is when they are let
# go, of pfc, too. A slot that is held for too long is a storm, whatever the others do; one that sends a packet now and then is none.
# $SLUICE_SLOTS_KINDS (bfc,floodgate,flowsail,pfc): these kinds only.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge
need_program frames hopframe
: "${frames:?}" "${hopframe:?}"	# set by need_program
load_modules
need_module sch_flowsail
need_module sch_floodgate
need_module sch_pfc
need_virtual_time

FRAME=1000	# bytes, with the Ethernet header
figs() { port_figs "$kind" "$NS-$1" "${@:2}"; }
figs_are() { figs "${@:1:$#-1}"; [ "$REPLY" = "${*: -1}" ]; }
shows() { figs "${@:2:$#-2}"; is "$kind: $1" "$REPLY" "${*: -1}"; }
cable() { ip_in "$1" link add "$2" type wire rate "$3" delay 10us ring 0 peer name "$5" netns "$NS-$4" && ip_in "$1" link set dev "$2" up && ip_in "$4" link set dev "$5" up || die "no wire"; }
# slots BOX DEV ROLE PEER [WORD]...
slots() { tc_in "$1" qdisc replace dev "$2" root handle 1: $kind role "$3" peer "$4" "${@:5}" || die "no qdisc $kind"; }
# sends BOX DEV MAC N FLOW: to a destination of its own
sends()
{
	echo "f n=$4 bytes=$FRAME from=10.0.0.1 to=10.0.0.1$5 sport=$5 dport=9 dst=$3" |
		"$frames" -l -w 0 "$NS-$1/$2" "$NS-$1/lo" >/dev/null || die "frames"
}
# neighbour BOX DEV MS WORD...: a program, which at these times says that these slots are held. `when MS` waits for such a time.
neighbour()
{
	local actions=() seq=0 last=0

	for word in "${@:3}"; do
		actions+=("at=${word%:*}" "state:seq=$((++seq)),lease=2000000000,words=${word#*:}")
		last=${word%:*}
	done
	began=${EPOCHREALTIME/./}
	in_ns "$1" "$hopframe" peer "$2" for=$((last + 1000)) role=switch queues=8 kinds=3 "${actions[@]}" >/dev/null &
}
when()
{
	local us=$((began + $1 * 1000 - ${EPOCHREALTIME/./}))

	[ $us -gt 0 ] || die "too late for $1 ms"
	sleep "$(printf '%d.%06d' $((us / 1000000)) $((us % 1000000)))"
}

# ---- a device that hangs ----

#	h:p ===100M=== c:t [ bridge ] c:u ---10M--- y:q, a program
hang()
{
	local port

	ns h c y
	for port in h c y; do
		in_ns $port sh -c 'echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
	done
	ip_in c link add br0 type bridge mcast_snooping 0
	ip_in c link set br0 up
	cable h p 100mbit c t
	cable c u 10mbit y q
	for port in t u; do
		ip_in c link set dev $port master br0
		bridge -n "$NS-c" link set dev $port flood off mcast_flood off
	done
	bridge -n "$NS-c" fdb replace "$(mac 2)" dev u master static
	case $kind in
	flowsail)
		slots h p host switch ${watch:-watchdog 1s}
		slots c t switch host
		slots c u switch switch slots 2 ql 15000 qh 60000 watchdog 1s
		;;
	floodgate)
		slots h p host switch slots 8 ${watch:-watchdog 1s}
		slots c t switch host mode pause slots 2
		slots c u switch switch mode pause slots 2 pause-threshold 15000 resume-threshold 8000 watchdog 1s
		;;
	bfc)
		slots h p host switch queues 8 ${watch:-watchdog 1s}
		slots c t switch host queues 8
		slots c u switch switch queues 2 watchdog 1s
		;;
	pfc)
		slots h p host switch pool 1m ${watch:-watchdog 1s}
		slots c t switch host pool 1m
		slots c u switch switch pool 1m pool-pause-alpha 2 watchdog 1s
		;;
	esac
	neighbour y q "$@"
	check "$kind: h tags" wait_until -e 20 1 tags h p
	check "$kind: c tags" wait_until -e 20 1 tags c u
	sends h p "$(mac 2)" 1 1
	sends h p "$(mac 2)" 1 2
	check "$kind: both slots have been used" wait_until -e 20 1 figs_are c u backlog 0
}
is_held() { figs h p paused; [ "$REPLY" -gt 0 ]; }
ends()
{
	ip_in c link set dev u type wire rate 10mbit
	check "$kind: all leaves" wait_until -e 100 10 figs_are c u backlog 0
	check "$kind: and h is let go" wait_until -e 100 2 figs_are h p paused backlog "0 0"
	wait
	leave_spaces
}

for kind in flowsail floodgate bfc; do
	chosen $kind "${SLUICE_SLOTS_KINDS:-}" || continue
	diag "$kind: a device hangs while one slot is held, of two"
	hang 1000:1 2000:0
	when 1010
	shows "the neighbour holds it" c u paused 1
	sends h p "$(mac 2)" 150 1
	sends h p "$(mac 2)" 150 2
	check "$kind: h is held" wait_until -e 2 1 is_held
	ip_in c link set dev u type wire rate 10kbit	# 0.8 s for a frame
	sleep 0.4
	shows "not for half of the watchdog's time: nothing is withdrawn" c u withdrawn 0
	sleep 0.25
	figs c u withdrawn
	between "$kind: then it is" "$REPLY" 1 300
	shows "the slot is held as before, which is no storm" c u paused storms "1 0"
	shows "and h sends on, for which it was none either" h p paused backlog storms "0 0 0"
	ends

	diag "$kind: nothing hangs while both are held"
	hang 1000:3 1800:0
	when 1010
	sends h p "$(mac 2)" 150 1
	sends h p "$(mac 2)" 150 2
	when 1790
	shows "they are" c u paused 2
	check "$kind: and h is" is_held
	when 1900
	shows "nothing is withdrawn" c u withdrawn storms "0 0"
	ends
done

# lets_go [WORD]...: what is held is let go while a device hangs, on a packet of h, or on one that went past the qdisc before
lets_go()
{
	watch=nowatch hang 1000:3 1800:0 3600:0	# h is held for all that time
	when 950
	sends h p "$(mac 2)" 150 1
	sends h p "$(mac 2)" 150 2
	check "$kind: h is held" wait_until -e 2 1 is_held
	when 1010
	ip_in c link set dev u type wire rate 2kbit	# 4 s for a frame
	[ $# -eq 0 ] || in_ns c "$hopframe" flood u n=1 "$@" >/dev/null || die "hopframe"
	when 1790
	shows "nothing is withdrawn while they are" c u withdrawn storms "0 0"
	if [ $# -eq 0 ]; then	# who looks at the qdisc has it hear what was said
		when 2250
		shows "nor for half of the watchdog's time after that" c u withdrawn 0
	fi
	when 2500
	figs c u withdrawn
	between "$kind: then it is" "$REPLY" 1 300
	shows "and h sends on" h p paused backlog storms "0 0 0"
	ends
}

# what is in floodgate's FIFO waits for no slot
for kind in flowsail bfc pfc; do
	chosen $kind "${SLUICE_SLOTS_KINDS:-}" || continue
	diag "$kind: a device hangs, both are held, and let go"
	lets_go
	diag "$kind: the same, when it hangs already, and so nobody asks the qdisc"
	lets_go data pad=$FRAME
done

# ---- a slot that is held ----

# held ROLE MS:WORD...: a:p with such a neighbour at b:q, and a flow that had the first slot
held()
{
	two_boxes rate 10mbit delay 1us ring 0
	slots a p "$1" switch slots 2
	neighbour b q "${@:2}"
	check "$kind: a tags" wait_until -e 20 1 tags a p
	sends a p "$(mac 2)" 1 1
	check "$kind: the first slot has been used" wait_until -e 20 1 figs_are a p backlog 0
}

for kind in flowsail floodgate; do
	chosen $kind "${SLUICE_SLOTS_KINDS:-}" || continue
	for role in switch host; do
		diag "$kind, $role: one slot is held, and packets of the other one leave"
		held $role 1000:1 2000:0
		when 1010
		sends a p "$(mac 2)" 10 1
		sends a p "$(mac 2)" 500 2
		when 1195
		shows "no storm" a p storms 0
		figs a p backlog
		between "$kind: packets leave" "$REPLY" $((11 * FRAME)) $((509 * FRAME))
		when 1240
		shows "then there is" a p storms paused "1 0"
		check "$kind: and all leave" wait_until -e 20 1 figs_are a p backlog 0
		wait
		leave_spaces

		diag "$kind, $role: a slot is held all the time, but for a packet now and then"
		words=(1000:1)
		for at in 1150 1300 1450 1600 1750; do
			words+=($at:0 $((at + 1)):1)
		done
		held $role "${words[@]}" 1900:0
		when 1010
		sends a p "$(mac 2)" 200 1
		when 1890
		figs a p backlog
		between "$kind: some have left" "$REPLY" $((180 * FRAME)) $((195 * FRAME))
		shows "that is no storm" a p storms 0
		check "$kind: all leave" wait_until -e 100 2 figs_are a p backlog 0
		wait
		leave_spaces
	done
done
finish
