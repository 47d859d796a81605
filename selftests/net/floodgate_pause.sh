#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pauses for single destinations: hosts that floodgate pauses beside its windows, floodgate and bfc as the host that obeys, and
# `mode pause`, which has pauses between switches, too.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/pfc_lib.sh
. "$(dirname "$0")/pfc_lib.sh"
need_tool ip tc bridge
need_program frames hopframe
: "${frames:?}" "${hopframe:?}"	# set by need_program
need_virtual_time
load_modules
need_module sch_floodgate

kind=floodgate
WINDOW=20000
PAUSE=15000
RESUME=8000
# What comes between a pause and its effect: what a cable carries in 20 us there and back, one frame on the card, one that is being
# received, and what comes while a frame of pauses waits for its share of the link
LATE=$((8 * FRAME))
# gate BOX DEV ROLE PEER [WORD]...; `anew`: not as a change
gate() { tc_in "$1" qdisc replace dev "$2" root handle 1: floodgate role "$3" peer "$4" "${@:5}" || die "no qdisc floodgate"; }
# host KIND: what h is
host()
{
	tc_in h qdisc del dev p root 2>/dev/null
	if [ "$1" = floodgate ]; then
		gate h p host switch slots 8
	else
		tc_in h qdisc replace dev p root handle 1: bfc role host peer switch || die "no qdisc bfc"
	fi
	kind=$1 check "$1: it meets its switch" wait_until -e 500 10 tags h p
}
anew() { tc_in "$1" qdisc del dev "$2" root 2>/dev/null; gate "$@"; }
gates()
{
	local port

	for port in s:q s:r c:t c:u c:v; do
		tc_in ${port%:*} qdisc del dev ${port#*:} root 2>/dev/null
	done
	gate s q switch host "$@"
	gate s r switch switch "$@"
	gate c t switch switch "$@"
	gate c u switch host "$@"
	gate c v switch host "$@"
}
withdrew() { figs c u withdrawn; [ "$REPLY" -gt 0 ]; }
held() { figs_are h p paused 1; }
rest()
{
	local port

	for port in s:q s:r c:t c:u c:v; do
		figs_are ${port%:*} ${port#*:} queued voqs_used backlog "0 0 0" || return 1
	done
	kind=$host figs_are h p backlog 0 || return 1
	figs_are s r outstanding 0
}
# longest BOX DEV FIGURE: sets `most` to the highest value while y gets 100 more
longest()
{
	local end i

	received c y
	end=$((REPLY + 100))
	most=0
	for ((i = 0; i < 200; i++)); do
		got_all y $end && return
		sleep 0.002
		figs "$@"
		most=$((REPLY > most ? REPLY : most))
	done
}

# ---- hosts are paused, beside windows ----

two_switches
for host in floodgate bfc; do
	diag "a host with $host"
	gates window $WINDOW
	gate s r switch switch window $WINDOW pause-hosts pause-threshold $PAUSE resume-threshold $RESUME
	check "$host: windows hold" wait_until -e 500 10 figs_are s r windows 1
	host $host
	[ $host = floodgate ] && shows "no windows towards a switch" h p windows 0
	z=$(got z)
	from_h "$(to 2 300)"
	longest s r voq_backlog
	between "$host: what is too much waits in the host" "$most" $PAUSE $((PAUSE + LATE))
	if [ $host = floodgate ]; then
		check "the destination is held there" wait_until -e 2 2 held
		figs h p backlog
		between "and most of it waits there" "$REPLY" $((100 * FRAME)) $((290 * FRAME))
		is "it says so of its VOQ" "$(tc_in h -s class show dev p | grep -o 'waits [a-z]*' | sort | uniq -c | xargs)" "1 waits pause"
	fi
	from_h "$(to 3 100)"
	sleep 0.03	# on its way for 9 ms; what is held takes 240
	check "$host: another destination is in nobody's way" got_all z $((z + 100))
	figs s r pauses
	between "$host: pauses are counted" "$REPLY" 1 60
	check "$host: all leaves, and nobody is held" wait_until -e 400 20 rest
	shows "$host: no pause was left over" s q counter_leaks 0
	[ $host = bfc ] || check "held no more" wait_until -e 100 10 figs_are h p paused 0
done
host=floodgate

# 100 frames, and credits each eighth one: a dozen, if there were any
diag "what hosts are not told"
host floodgate
before=$(link_stat s q tx_packets)
from_h "$(to 3 100)"
sleep 0.012
between "credits" $(($(link_stat s q tx_packets) - before)) 0 4

# 0.3 s after the packet of h has left the queue no packet in it came by a handle. Its neighbours look for pauses that nobody holds
# twice in 0.1 s.
diag "packets of others hold a pause, too"
ip_in c link set dev u type wire rate 1mbit
emits s r "$(to 2 45)"
from_h "$(to 2 1)"
check "h is held for them" wait_until -e 2 1 held
emits s r "$(to 2 200)"
sleep 0.7
shows "and all the time" h p paused 1
shows "without a fault" s q counter_leaks 0
figs s r queued voq_backlog
between "though no packet of its is left" "${REPLY% *}" 0 0
between "but many others" "${REPLY#* }" $PAUSE 200000
ip_in c link set dev u type wire rate 10mbit
check "all leaves, and nobody is held" wait_until -e 400 20 rest
check "in the end" wait_until -e 100 10 figs_are h p paused 0

diag "control frames that are lost"
ip_in h link set dev p type wire loss_control 30%
ip_in s link set dev q type wire loss_control 30%
y=$(got y)
from_h "$(to 2 300)"
longest s r voq_backlog
between "no more comes than in a lease" "$most" $((RESUME / 2)) $((PAUSE + LATE + 70 * FRAME))
check "all comes" wait_until -e 400 20 got_all y $((y + 300))
ip_in h link set dev p type wire loss_control 0%
ip_in s link set dev q type wire loss_control 0%
check "all leaves, and nobody is held" wait_until -e 400 20 rest

diag "an end of pauses by a change, and by the end of the qdisc"
from_h "$(to 2 400)"
check "a destination is held" wait_until -e 2 2 held
ip_in c link set dev u type wire rate 10kbit	# nothing leaves the switch meanwhile
tc_in s qdisc change dev r root floodgate no-pause-hosts || fail "change"
check "not any more" wait_until -e 2 1 figs_are h p paused 0
ip_in c link set dev u type wire rate 10mbit
sleep 0.04
shows "for good" h p paused backlog "0 0"
tc_in s qdisc change dev r root floodgate pause-hosts || fail "change"
from_h "$(to 2 200)"
check "held again" wait_until -e 2 2 held
tc_in s qdisc replace dev r root pfifo
check "not when who paused it is gone" wait_until -e 2 1 figs_are h p paused 0
gate s r switch switch window $WINDOW
check "windows hold" wait_until -e 500 10 figs_are s r windows 1
check "all leaves" wait_until -e 400 20 rest

diag "who is taken for a switch"
anew s q switch switch
anew s r switch switch window $WINDOW pause-hosts pause-threshold $PAUSE resume-threshold $RESUME
host floodgate
check "windows hold" wait_until -e 500 10 figs_are s r windows 1
from_h "$(to 2 200)"
longest s r voq_backlog
between "is not paused" "$most" $((PAUSE + LATE + FRAME)) $((200 * FRAME))
shows "nor counted" s r pauses elided "0 0"
check "all leaves" wait_until -e 400 20 rest
anew s q switch host
anew s r switch switch window $WINDOW
host floodgate
check "windows hold" wait_until -e 500 10 figs_are s r windows 1

# h is paused by windows of a switch only if that is asked for
from_h "$(to 2 200)"
longest s r voq_backlog
between "without pause-hosts the switch holds all of it" "$most" $((PAUSE + LATE + FRAME)) $((200 * FRAME))
shows "and nobody is held" h p paused 0
check "all leaves" wait_until -e 400 20 rest

# ---- pauses between switches, too ----

diag "mode pause"
gates mode pause slots 64 pause-threshold $PAUSE resume-threshold $RESUME
host floodgate
check "the switches tag" wait_until -e 500 10 tags s r
refused "a mode is for good" "at creation only" tc_in s qdisc change dev r root floodgate mode window
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
longest c u backlog
between "the last port holds no more than its threshold" "$most" $PAUSE $((PAUSE + LATE))
from_h "$(to 2 100)"
longest s r voq_backlog
between "and neither does the first switch" "$most" $((PAUSE - FRAME)) $((PAUSE + LATE))
from_h "$(to 3 100)"
sleep 0.03
check "another destination is in nobody's way" got_all z $((z + 100))
shows "there are no windows, and no credits to delay" s r windows outstanding delayed "0 0 0"
check "all comes" wait_until -e 400 20 got_all y $((y + 400))
check "all leaves, and nobody is held" wait_until -e 400 20 rest
is "nor is the first switch" "$(figs s r paused; echo "$REPLY")" 0

diag "up and then up again pauses nobody"
anew s q switch host mode pause slots 64 tier up
anew s r switch switch mode pause slots 64 pause-threshold $PAUSE resume-threshold $RESUME tier up
host floodgate
check "the switches tag" wait_until -e 500 10 tags s r
from_h "$(to 2 200)"
longest s r voq_backlog
between "the switch holds what comes" "$most" $((PAUSE + LATE + FRAME)) $((200 * FRAME))
figs s r elided pauses
between "it is counted" "${REPLY% *}" 50 200
is "as no pause" "${REPLY#* }" 0
check "all leaves" wait_until -e 400 20 rest

diag "a device that takes nothing"
gates mode pause slots 64 pause-threshold $PAUSE resume-threshold $RESUME watchdog 40ms
host floodgate
check "the switches tag" wait_until -e 500 10 tags s r
from_h "$(to 2 200)"
check "the first switch is held" wait_until -e 2 2 figs_are s r paused 1
ip_in c link set dev u type wire rate 10kbit	# 0.8 s for a frame
check "pauses are taken back" wait_until -e 20 2 withdrew
check "and all comes to where the device hangs" wait_until -e 20 2 figs_are s r backlog paused "0 0"
ip_in c link set dev u type wire rate 10mbit
check "all leaves" wait_until -e 400 20 rest
leave_spaces

# A neighbour with bfc pauses by slot, too, and credits nothing.
diag "slots towards a bfc"
two_boxes rate 100mbit delay 1us
gate a p switch switch slots 2
tc_in b qdisc add dev q root handle 1: bfc role switch peer switch || die "no qdisc bfc"
check "tags" wait_until -e 10 2 tags a p
for i in 11 12 13 14 15; do
	emits a p "$(to $i 1)"
done
shows "are given away" a p slots_used slots_full outstanding "2 0 0"
leave_spaces

# program RATE MS MS: a's neighbour is a program, which pauses slot 0, of two, from then until then
program()
{
	two_boxes rate "$1" delay 1us
	gate a p host switch slots 2 nowatch
	in_ns b "$hopframe" peer q for=$(($3 + 500)) role=switch queues=8 at="$2" state:seq=1,lease=2000000000,words=1 \
		at="$3" state:seq=2,lease=2000000000,words=0 >/dev/null &
	check "tags" wait_until -e 10 1 tags a p
}

# Paused before there is any destination
diag "a slot that is held and has no destination"
program 10mbit 100 2000
check "and holds it" wait_until -e 10 1 figs_are a p paused 1
emits a p "$(to 11 1)" "$(to 12 1)"
check "others have the other one" wait_until -e 5 1 figs_are a p slots_used backlog "1 0"
diag "a host's packets without a slot"
emits a p "$(to 11 50)" "$(to 12 500)"
sleep 0.1
shows "hold nobody up who has one" a p voqs_used 0
figs a p backlog slots_full
between "and wait themselves" "${REPLY% *}" 350000 470000
between "they are counted" "${REPLY#* }" 500 500
wait
leave_spaces

diag "a slot that is held and has no packets"
program 1gbit 500 1000
emits a p "$(to 11 1)"
shows "the first destination has the first slot" a p slots_used paused backlog "1 0 0"
sleep 0.3
check "and is held" wait_until -e 10 1 figs_are a p paused 1
for i in 12 13 14; do
	emits a p "$(to $i 1)"
done
shows "others get the second one, one after the other" a p slots_used backlog slots_full "2 0 0"
emits a p "$(to 11 1)"
shows "the first destination waits" a p voqs_used backlog "1 $FRAME"
sleep 0.4
check "until the neighbour resumes it" wait_until -e 10 1 figs_are a p paused backlog "0 0"
wait
leave_spaces
finish
