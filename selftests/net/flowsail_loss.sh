#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What flowsail's flows do when what is said of them is lost, and when the neighbour that holds them goes and comes again: no flow
# is held for longer than a lease after its cause is gone, all that no qdisc or cable has thrown away comes, in order (udpflow.c), and
# at the end nothing is held, paused, marked or in the table of flows.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc bridge jq ethtool
need_program udpflow
: "${udpflow:?}"	# set by need_program
load_modules
need_module sch_flowsail
need_virtual_time

LENGTH=958	# UDP payload, of frames of 1000 bytes
FLOWS=4		# to either host
QL=15000
QH=60000
LEASE=16000	# us
ROUNDS=${SLUICE_LOSS_ROUNDS:-3}
ROUND_US=1000000	# a round takes 20 ms
HOLDS="refresh 2ms lease 16ms"
# lost BOX DEV: control frames that the cable has lost, of those from there
lost() { in_ns "$1" ethtool -S "$2" | awk '$1 == "loss_control:" { print $2 }'; }
# fresh BOX DEV ROLE PEER
fresh() { anew "$@" queues 2 ql $QL qh $QH $HOLDS; }
all_fresh() { sails queues 2 ql $QL qh $QH $HOLDS; }
work=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$work"; _at_exit' EXIT

#	h:p ===1G=== s:q [ bridge ] s:r ===1G=== c:t [ bridge ] c:u --100M-- y:e, of 10.0.0.2
#	                                                        c:v ---1G--- z:e, of 10.0.0.3
ns h s c y z
for box in h s c y z; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6" 2>/dev/null
done
cable 5us h p 1gbit s q
cable 5us s r 1gbit c t
cable 5us c u 100mbit y e
cable 5us c v 1gbit z e
ip_in h addr add 10.0.0.1/24 dev p
for host in y:2 z:3; do
	ip_in ${host%:*} link set dev e address "$(mac ${host#*:})"
	ip_in ${host%:*} addr add 10.0.0.${host#*:}/24 dev e
	neigh h p 10.0.0.${host#*:} "$(mac ${host#*:})"
done
bridged
loses() { local port; for port in h:p s:q s:r c:t; do ip_in ${port%:*} link set dev ${port#*:} type wire loss_control "$1" || die "no loss"; done; }

first=0
# streams PACKETS RATE: flows of so many packets each go to both hosts
streams()
{
	local host

	sent=$((FLOWS * $1))
	for host in y z; do
		in_ns $host "$udpflow" sink --expect $sent --idle 2s --timeout 10s --json >"$work/$host" &
		sinks[${#sinks[@]}]=$!
	done
	for host in 2 3; do
		in_ns h "$udpflow" send --dest 10.0.0.$host --flows $FLOWS --id $first --sport $((5000 + first)) --packets "$1" --length $LENGTH \
			--rate "$2" --sndbuf 100000 >/dev/null &
		first=$((first + FLOWS))
		senders[${#senders[@]}]=$!
	done
}
# came NAME [LEAST]: all of it, or as much at least, and all in order
came()
{
	local host

	wait "${senders[@]}" "${sinks[@]}"
	senders=() sinks=()
	for host in y z; do
		between "$1: what comes to $host" "$(jq .packets "$work/$host")" "${2:-$sent}" "$sent"
		is "$1: out of order, twice, damaged" "$(jq -c '[([.flows[].reordered] | add), ([.flows[].duplicate] | add), .corrupt]' "$work/$host")" "[0,0,0]"
	done
}
senders=() sinks=()
us() { REPLY=${EPOCHREALTIME/./}; }

# held_after: sets `worst` to how long, in us, the neighbour of c:t, or of s:q, went on holding a flow that nothing marked called for
# any more, until all senders are done, nothing waits and nothing is held; `most` to the most flows that were held at s:r. Fails if that
# takes ROUND_US.
held_after()
{
	local now calm_c calm_s end

	us; now=$REPLY calm_c=$now calm_s=$now end=$((now + ROUND_US)) worst=0 most=0
	while :; do
		sleep 0.0005
		us; now=$REPLY
		figs c u marked; [ "$REPLY" = 0 ] || calm_c=$now
		figs s r marked paused; [ "${REPLY% *}" = 0 ] || calm_s=$now
		held=${REPLY#* }
		most=$((held > most ? held : most))
		[ "$held" = 0 ] || worst=$((now - calm_c > worst ? now - calm_c : worst))
		figs h p paused; [ "$REPLY" = 0 ] || worst=$((now - calm_s > worst ? now - calm_s : worst))
		kill -0 "${senders[@]}" 2>/dev/null || ! all_are paused backlog "0 0" || return 0
		[ "$now" -lt $end ] || return 1
	done
}

diag "control frames that are lost"
all_fresh
for case in 10:$((LEASE / 4)) 50:$((LEASE + 500)); do	# of 10 % what says it again is enough, as a rule
	loss=${case%:*}
	loses $loss%
	before=$(($(lost s q) + $(lost c t)))
	worst_of_all=0 rounds=0 late=0
	for ((round = 0; round < ROUNDS; round++)); do
		streams 60 100m
		held_after || late=$((late + 1))
		rounds=$((rounds + (most > 0))) worst_of_all=$((worst > worst_of_all ? worst : worst_of_all))
		came "$loss %, $round"
	done
	is "$loss %: rounds that do not come to an end" $late 0
	is "$loss %: rounds in which flows were held" $rounds "$ROUNDS"
	between "$loss %: so many of what says so were lost" $(($(lost s q) + $(lost c t) - before)) $((7 * ROUNDS)) 100000
	diag "$loss %: the longest hold without a cause took $worst_of_all us"
	between "$loss %: no flow is held for longer than a lease after its cause is gone" $worst_of_all 0 "${case#*:}"
	check "$loss %: nothing is left, and nobody helps" rest
done
loses 0%

# held_again: a flow to y is held at s:r
held_again() { check "a flow is held" wait_until -e 1 2000 figs_are s r paused 1; }
# until_free: sets REPLY to how long, in us, s:r goes on holding flows, as far as one can see each 100 us, and after 20 ms each 5 ms
until_free()
{
	local begin now step=0.0001

	us; begin=$REPLY now=$REPLY
	until figs_are s r paused 0 || [ $((now - begin)) -gt 300000 ]; do
		sleep $step
		us; now=$REPLY
		[ $((now - begin)) -lt 20000 ] || step=0.005
	done
	REPLY=$((now - begin))
}
told() { port_figs flowsail "$NS-c" t resumes_tx; }

# By count one frame is lost, that which lets the flow go. It is repeated when 2 ms of delay and some have brought no answer; a refresh
# would come in half a second, and the lease would end in a second.
diag "the one frame that lets a flow go is lost"
for port in s:r c:t; do
	ip_in ${port%:*} link set dev ${port#*:} type wire delay 1ms rate 20mbit
done
ip_in c link set dev u type wire rate 5mbit
FLOWS=1
HOLDS="refresh 500ms lease 1s"
fresh s r switch switch
fresh c t switch switch
check "s tags" wait_until -e 100 10 tags s r
streams 600 8m
for ((try = 0; try < 20; try++)); do	# the frame may be another one, such as a HELLO
	held_again
	sleep 0.004	# by then the pause has been answered, and is not repeated
	told; before=$REPLY
	lost_before=$(lost c t)
	ip_in c link set dev t type wire loss_control 100%
	while one=$(($(lost c t) - lost_before)) && [ $one = 0 ]; do sleep 0.0001; done
	ip_in c link set dev t type wire loss_control 0%
	told; resumes=$((REPLY - before))
	[ $resumes = 0 ] || break
	check "it is let go" wait_until -e 1 2000 figs_are s r paused 0
done
is "it is let go by one frame, which is lost" "$resumes $one" "1 1"
until_free
diag "the flow is held for $REPLY us more"
between "it is free when that was repeated" "$REPLY" 1000 10000
shows "and no lease has ended" s r lease_expired neighbour_lost "0 0"
came "one frame"
check "nothing is left" wait_until -e 100 20 rest
for port in s:r c:t; do
	ip_in ${port%:*} link set dev ${port#*:} type wire delay 5us rate 1gbit
done

diag "and all that follow it"
ip_in c link set dev u type wire rate 10mbit
HOLDS="refresh 2ms lease 16ms"
all_fresh
streams 200 20m
held_again
ip_in c link set dev t type wire loss_control 100%
until_free
diag "the flow is held for $REPLY us"
between "it is free when the lease ends" "$REPLY" $((LEASE * 7 / 8 - 300)) $((LEASE + 500))
shows "which is one" s r lease_expired neighbour_lost "1 0"
ip_in c link set dev t type wire loss_control 0%
came "a lease"
check "nothing is left" wait_until -e 100 20 rest

FLOWS=4
ip_in c link set dev u type wire rate 100mbit
# whole NAME: as if nothing had been
whole()
{
	know
	check "$1: h tags" wait_until -e 100 10 tags h p
	check "$1: s tags" wait_until -e 100 10 tags s r
	check "$1: nothing is left" wait_until -e 100 20 rest
	streams 200 100m
	check "$1: flows are held again" wait_until -e 1 2000 some_held
	came "$1, then"
	check "$1: and nothing is left again" wait_until -e 100 20 rest
}
some_held() { figs s r paused; [ "$REPLY" -gt 0 ]; }
# holds: flows are under way, and held
holds()
{
	streams 400 100m
	check "flows are held" wait_until -e 1 2000 some_held
}
all_fresh

diag "the neighbour that holds them goes, and comes again"
holds
tc_in c qdisc del dev t root
until_free
between "with its word for it they are free at once" "$REPLY" 0 $((LEASE / 4))
sleep 0.01
fresh c t switch switch
came "who holds is another"
whole "who holds is another"

diag "it goes without a word"
holds
ip_in c link set dev t type wire loss_control 100%
tc_in c qdisc del dev t root
until_free
diag "they are held for $REPLY us"
between "they are free when the lease ends" "$REPLY" $((LEASE / 4)) $((LEASE + 500))
fresh c t switch switch
ip_in c link set dev t type wire loss_control 0%
came "without a word" $((sent / 4))
whole "without a word"

diag "it comes again so soon that nobody knows"
holds
ip_in c link set dev t type wire loss_control 100%
fresh c t switch switch
ip_in c link set dev t type wire loss_control 0%
came "so soon" $((sent / 4))
whole "so soon"

diag "they go who are held, and come again"
holds
fresh s r switch switch
shows "none is held that there was" s r flows isolated paused "0 0 0"
came "who is held is another" $((sent / 4))
whole "who is held is another"

for port in s:r c:t; do
	diag "${port%:*}'s end of the cable is down, and up"
	holds
	ip_in ${port%:*} link set dev ${port#*:} down
	check "and what waits is gone" wait_until -e 1 100 figs_are s r paused backlog "0 0"
	sleep 0.005
	ip_in ${port%:*} link set dev ${port#*:} up
	know
	came "${port%:*}'s end" 20	# of all that comes meanwhile nothing waits
	whole "${port%:*}'s end"
done
finish
