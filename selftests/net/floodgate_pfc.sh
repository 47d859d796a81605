#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# floodgate with pfc beneath, between two switches, with windows that are too large, and with such as are not. What is counted
# and obeyed to the frame is in pfc_beneath.sh.
#
#	h:p ===100M=== s:q [ bridge ] s:r ===100M=== c:t [ bridge ] c:u ---10M--- c:y, of 10.0.0.2
#	                                                            c:v --100M--- c:z, of 10.0.0.3

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/pfc_lib.sh
. "$(dirname "$0")/pfc_lib.sh"
need_tool ip tc bridge jq
need_program frames
: "${frames:?}"	# set by need_program
need_virtual_time
load_modules
need_module sch_floodgate
need_module sch_pfc

kind=floodgate
WINDOW=20000
host=
gate() { tc_in "$1" qdisc replace dev "$2" root handle 1: floodgate role "$3" peer "$4" pool-alpha 1000% "${@:5}" || die "no qdisc floodgate"; }
two_switches
# gates POOL WORD...: c's pool is such that 22 kB of a link are too much, s's is POOL
gates()
{
	no_qdiscs
	tc_in h qdisc add dev p root handle 1: ${host:-floodgate pfc slots 8} role host peer switch pool 100m pool-alpha 1000% ||
		die "no qdisc at h"
	gate s q switch host pfc pool "$@"
	gate s r switch switch pfc pool "$@"
	gate c t switch switch pfc pool 200000 "${@:2}"
	gate c u switch host pfc pool 200000 "${@:2}"
	gate c v switch host pfc pool 200000 "${@:2}"
	of=${host%% *}
	kind=${of:-floodgate} check "they tag" wait_until -e 500 10 tags h p
	check "windows hold" wait_until -e 500 10 figs_are s r windows 1
}
rest()
{
	local port

	for port in s:q s:r c:t c:u c:v; do
		figs_are ${port%:*} ${port#*:} pfc_queued queued backlog pausing_queues pfc_paused "0 0 0 0 0" || return 1
	done
	figs_are s r outstanding 0
}
lost()
{
	local port sum=0

	for port in s:q s:r c:t c:u c:v; do
		figs ${port%:*} ${port#*:} drops
		sum=$((sum + REPLY))
	done
	echo $sum
}
held() { figs_are s r pfc_paused 1; }
let_go() { figs_are s r pfc_paused 0; }

diag "windows as they should be"
gates 10m window $WINDOW
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
from_h "$(to 3 100)"
sleep 0.05
check "what goes to another host is in nobody's way" got_all z $((z + 100))
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
figs s r voq_backlog voqs_max
is "the first switch had it in a VOQ" "${REPLY#* }" 1
shows "and nobody was paused where it could be" s r pfc_obeyed 0
shows "nor told to be" c u pfc_sent 0
shows "though it counted" c t pauses_tx 0
check "all leaves" wait_until -e 400 20 rest

diag "windows that are too large"
gates 10m window 1m
y=$(got y) z=$(got z)
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
from_h "$(to 3 100)"
sleep 0.03
between "and what goes to another host with it" $(($(got z) - z)) 0 50
figs c u backlog
between "the last port holds what may come by a link, and what comes in an HRTT" "$REPLY" $((200000 / 9 - 4 * FRAME)) $((200000 / 9 + 8 * FRAME))
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
check "by either way" wait_until -e 100 20 got_all z $((z + 100))
is "nothing is lost" "$(lost)" 0
check "all leaves, and nobody is held" wait_until -e 400 20 rest
figs c u pfc_sent
between "pauses were told" "$REPLY" 1 300
figs s r pfc_obeyed
between "and obeyed" "$REPLY" 1 300
figs c t pauses_tx resumes_tx
is "each has ended" "${REPLY% *}" "${REPLY#* }"
figs s r pfc_paused_time
between "as long as the slow line took, and not longer" "$REPLY" 50000000 260000000

for host in "floodgate pfc slots 8" pfc; do
	diag "back to a host with $host"
	gates 200000 window 1m
	y=$(got y)
	from_h "$(to 2 300)"
	if [ "$host" = pfc ]; then
		kind=pfc check "it is held" wait_until -e 1 2 figs_are h p paused 1
	else
		check "it is held" wait_until -e 1 2 figs_are h p pfc_paused 1
		figs h p backlog
		between "and most waits there" "$REPLY" $((150 * FRAME)) $((290 * FRAME))
	fi
	check "all comes" wait_until -e 100 20 got_all y $((y + 300))
	is "nothing is lost" "$(lost)" 0
	check "all leaves, and nobody is held" wait_until -e 400 20 rest
done
host=

diag "a host's packets when windows hold, and the first switch is full"
gates 200000 window $WINDOW
y=$(got y)
from_h "$(to 2 300)"
check "a switch pauses the host by what is in its VOQ" wait_until -e 1 2 figs_are h p pfc_paused 1
figs s r voq_backlog pfc_obeyed
between "which is about what may be" "${REPLY% *}" $((200000 / 9 - 4 * FRAME)) $((200000 / 9 + 8 * FRAME))
is "and was not paused itself" "${REPLY#* }" 0
check "all comes" wait_until -e 100 20 got_all y $((y + 300))
is "nothing is lost" "$(lost)" 0
check "all leaves" wait_until -e 400 20 rest

diag "control frames that are lost"
gates 10m window 1m
ip_in s link set dev r type wire loss_control 30%
ip_in c link set dev t type wire loss_control 30%
y=$(got y)
from_h "$(to 2 300)"
check "all comes" wait_until -e 400 20 got_all y $((y + 300))
ip_in s link set dev r type wire loss_control 0%
ip_in c link set dev t type wire loss_control 0%
check "all leaves, and nobody is held" wait_until -e 400 20 rest

diag "a resume that is lost"
y=$(got y)
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
figs s r lease_expired neighbour_lost
before=$REPLY
ip_in c link set dev t type wire loss_control 100%
check "the lease ends it" wait_until -e 1 1 let_go
shows "and no more" s r lease_expired neighbour_lost "$((${before% *} + 1)) ${before#* }"
ip_in c link set dev t type wire loss_control 0%
check "all comes" wait_until -e 400 20 got_all y $((y + 300))
check "all leaves, and nobody is held" wait_until -e 400 20 rest

diag "who pauses goes, and so does who is paused"
from_h "$(to 2 300)"
check "the first switch is held" wait_until -e 1 2 held
tc_in c qdisc replace dev t root pfifo
check "not when its neighbour's qdisc is gone" wait_until -e 2 1 let_go
gate c t switch switch pfc pool 200000
check "windows hold" wait_until -e 500 10 figs_are s r windows 1
check "all leaves" wait_until -e 400 20 rest
from_h "$(to 2 300)"
check "held again" wait_until -e 1 2 held
tc_in s qdisc replace dev r root handle 2: floodgate role switch peer switch pool 10m pool-alpha 1000% pfc window 1m ||
	die "no qdisc floodgate"
check "another one in its place, and all leaves" wait_until -e 400 20 rest
leave_spaces
finish
