#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Windows of floodgate after a fault: the first credits of a destination are lost, all of them, for a while; half of all control
# frames on a cable are, at random, alone and with a fifth of the data; a route changes, upstream of a window, behind it, and at the box that holds it.
#
#	x ---1G--- a:i [ bridge ] a:p ===100M=== b:q [ bridge ] b:r ---10M--- y
#	                          a:o ===100M=== b:n            b:s ---10M--- z
#
# A window is full again when another one's worth has left a's VOQ. What is outstanding at the end, and held, is nothing.
#
# $SLUICE_CREDITS_MS (30,100,300,450): for so long, below a second, the first credits are lost. $SLUICE_CREDITS_SEEDS (1,2,3): of the
# loss at random.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc bridge jq ethtool
need_program frames
need_virtual_time
load_modules
need_module sch_floodgate

FRAME=1000	# bytes, with the Ethernet header; one takes 0.8 ms at r
WINDOW=20000
FRAMES=600
CREDITS_MS=${SLUICE_CREDITS_MS:-30,100,300,450}
SEEDS=${SLUICE_CREDITS_SEEDS:-1,2,3}
SOON=20	# ms: END is said again after 1 ms at the latest, and a window takes 16 at r
# burst: FRAMES, which x's cable takes 8 us for, each
burst()
{
	sends x x "y n=$FRAMES bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2)"
	sleep 0.006
}
# went DEV: data frames that have left b there
went() { in_ns b ethtool -S "$1" | awk '$1 == "sent_frames:" { n += $2 } $1 == "control_frames:" { n -= $2 } END { print n }'; }
set_fault() { ip_in a link set p type wire "$@" && ip_in b link set q type wire "$@" || die "no $*"; }
# to BOX DEV: the way to y
to() { bridge -n "$NS-$1" fdb replace "$(mac 2)" dev "$2" master static; }

ns x a b
for box in x a b; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
for box in a b; do
	ip_in $box link add br0 type bridge mcast_snooping 0
	ip_in $box link set br0 up
done
cable x x 1gbit a i
cable a p 100mbit b q
cable a o 100mbit b n
cable b r 10mbit b y
cable b s 10mbit b z
for port in a:i a:p a:o b:q b:n b:r b:s; do
	ip_in ${port%:*} link set dev ${port#*:} master br0
done

# anew: qdiscs that know nothing
anew()
{
	local dev

	for dev in p o; do
		tc_in a qdisc del dev $dev root 2>/dev/null
		tc_in a qdisc add dev $dev root handle 1: floodgate role switch peer switch window $WINDOW || die "no qdisc floodgate"
	done
	for dev in q:switch n:switch r:host s:host; do
		tc_in b qdisc replace dev ${dev%:*} root floodgate role switch peer ${dev#*:} || die "no qdisc floodgate"
	done
	to a p
	to b r
	check "$1: they meet" wait_until -e 500 10 both_meet
	first=$(went r) second=$(went s)
}
both_meet() { figs_are a p windows 1 && figs_are a o windows 1; }
rests()
{
	local port

	for port in "a p" "a o" "b r" "b s"; do
		# shellcheck disable=SC2086
		figs_are $port backlog outstanding queued voqs_used "0 0 0 0" || return
	done
}
# comes NAME SECONDS FRAMES: all leaves within this time, and it is so many
comes()
{
	check "$1: all leaves, and nothing is outstanding" wait_until -e 20 "$2" rests
	sleep 0.001	# the last one may be on its way to y
	is "$1: and none is missing" "$(($(went r) - first + $(went s) - second))" "$3"
}
# resumes NAME DEV LIMIT: how long it takes in ms until another window has left the VOQ
resumes()
{
	local since=${EPOCHREALTIME/./} before

	figs a "$2" voq_backlog
	before=$REPLY
	less() { figs a "$1" voq_backlog; [ "$REPLY" -le $((before - WINDOW)) ]; }
	check "$1: another window leaves" wait_until -e 1 2 less "$2"
	since=$(((${EPOCHREALTIME/./} - since) / 1000))
	diag "$1: of $before, after $since ms"
	between "$1: within so many ms" $since 0 "$3"
}

for ms in ${CREDITS_MS//,/ }; do
	anew "first credits, $ms ms"
	set_fault loss_control 100%
	burst
	sleep "0.$(printf %03d $ms)"
	shows "first credits, $ms ms: all of a window is on its way" a p outstanding $WINDOW
	shows "first credits, $ms ms: of which nothing is left" b r backlog 0
	set_fault loss_control 0
	resumes "first credits, $ms ms" p $SOON
	comes "first credits, $ms ms" 5 $FRAMES
done

for seed in ${SEEDS//,/ }; do
	anew "half of all control frames, seed $seed"
	set_fault loss_control 50% seed $seed
	burst
	sleep 0.05
	resumes "half of all control frames, seed $seed" p $SOON
	comes "half of all control frames, seed $seed" 5 $FRAMES
	set_fault loss_control 0
done

# r stands still at no time: it has a frame each 0.8 ms
for seed in 1 4 20; do
	anew "a fifth of the data, half of all control frames, seed $seed"
	set_fault loss_data 20% loss_control 50% seed $seed
	began=${EPOCHREALTIME/./}
	burst
	check "a fifth of the data, half of all control frames, seed $seed: all leaves" wait_until -e 1 2 figs_are a p voq_backlog 0
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	gone=$(($(went r) - first))
	between "a fifth of the data, half of all control frames, seed $seed: as fast as r sends" $took 0 $((gone * 8 / 10 + SOON))
	set_fault loss_data 0 loss_control 0
	check "a fifth of the data, half of all control frames, seed $seed: nothing is outstanding" wait_until -e 20 1 rests
done

anew "the way behind the next box"
burst
sleep 0.05
to b s
resumes "the way behind the next box" p $SOON
comes "the way behind the next box" 5 $FRAMES
between "the way behind the next box: by r before, by s then" $(($(went r) - first)) 50 120

anew "the way to the next box"
burst
sleep 0.05
to a o
burst
# two windows share r
resumes "the way to the next box, what came before" p $((2 * SOON))
resumes "the way to the next box, what came then" o $((2 * SOON))
comes "the way to the next box" 5 $((2 * FRAMES))

anew "a cut cable"
burst
sleep 0.05
shows "a cut cable: nothing is on it" b r backlog $WINDOW
figs a p backlog
held=$((REPLY / FRAME))
between "a cut cable: most waits for it" $held $((FRAMES / 2)) $FRAMES
ip_in b link set q down
check "a cut cable: what waited is lost with it" wait_until -e 1 1 figs_are a p backlog voqs_used "0 0"
to a o
burst
# r has what came by the cable
resumes "a cut cable, by the other one" o $((2 * SOON))
check "a cut cable: all leaves by the other one" wait_until -e 20 5 figs_are a o backlog outstanding voqs_used "0 0 0"
ip_in b link set q up
comes "a cut cable" 5 $((2 * FRAMES - held))
finish
