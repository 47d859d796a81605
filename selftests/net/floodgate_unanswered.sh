#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A neighbour of a floodgate that lives, as its HELLOs say, and does not say what has left it: for a while, which is a window that is used up,
# and for good. Then windows end, until it answers again. What a qdisc was not asked for is no question.
#
#	a:p ===100M=== b:q, a program

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc jq
need_program frames hopframe
: "${hopframe:?}"	# set by need_program
load_modules
need_module sch_floodgate
need_virtual_time

FRAME=1000	# bytes, with the Ethernet header
WINDOW=20000
to() { echo "f n=$1 bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=1 dport=9 dst=$(mac 2)"; }
# when MS: of the neighbour's clock
when()
{
	local us=$((began + $1 * 1000 - ${EPOCHREALTIME/./}))

	[ $us -gt 0 ] || die "too late for $1 ms"
	sleep "$(printf '%d.%06d' $((us / 1000000)) $((us % 1000000)))"
}
# asked MS: sets REPLY to how often END came meanwhile
asked() { REPLY=$(in_ns b "$hopframe" listen q for="$1" | grep -c ' end block='); }
# said BLOCK [KEY=0]: END of it has come, and what is in front of it has left
said() { echo "balances:block=$1${2:+,key=$2,bytes=0}"; }

two_boxes rate 100mbit delay 10us ring 0
# control frames go past both
shaper() { tc_in a qdisc "$1" dev p root handle 1: tbf burst 1600 latency 10s "${@:2}" || die "no tbf"; }
shaper add rate 100mbit
tc_in a qdisc add dev p parent 1: handle 2: floodgate role switch peer switch slots 8 window $WINDOW rate 100mbit || die "no qdisc floodgate"
began=${EPOCHREALTIME/./}
in_ns b "$hopframe" peer q for=24000 role=switch queues=8 kinds=4 \
	at=1000 "$(said 0)" at=1100 "$(said 1)" \
	at=3300 "$(said 2)" at=3400 "$(said 3 0)" \
	at=14000 "$(said 4)" at=14100 "$(said 5 0)" \
	at=21400 "$(said 6)" at=21500 "$(said 7 0)" >/dev/null &

diag "no answer for 1.9 s"
when 1400
shows "windows hold" a p windows unanswered "1 0"
sends a p "$(to 100)"
asked 500
between "END each millisecond" "$REPLY" 490 510
when 3290
shows "a window is on its way, and the rest waits" a p windows outstanding unanswered "1 $WINDOW 0"
figs a p voq_backlog
is "all of it" "$REPLY" $((100 * FRAME - WINDOW))
when 3500
figs a p outstanding voq_backlog
read -r out waits <<<"$REPLY"
between "one that tells lets go more" "$((100 * FRAME - waits))" $((2 * WINDOW)) $((2 * WINDOW))
is "and no more" "$out" $WINDOW

diag "none any more"
when 5350
shows "1.9 s later it is as before" a p windows voq_backlog unanswered "1 $waits 0"
check "then windows end, which is counted" wait_until -e 2 2 figs_are a p windows unanswered "0 1"
between "after 2 s" $(((${EPOCHREALTIME/./} - began) / 1000 - 3400)) 2000 2020
check "and all leaves" wait_until -e 20 1 figs_are a p backlog 0
sends a p "$(to 100)"
check "and what comes then" wait_until -e 20 1 figs_are a p backlog 0
sleep 0.3	# it becomes rarer
asked 2000
between "END each 100 ms" "$REPLY" 19 21
when 13990
shows "it is counted once, and nothing counts as on its way" a p windows unanswered outstanding "0 1 0"
when 14090
shows "an answer is not two" a p windows 0
when 14200
shows "two are: nothing is on its way, and windows hold" a p windows outstanding unanswered "1 0 1"

diag "what is above the qdisc takes a frame each four seconds"
shaper change rate 2kbit
sends a p "$(to 30)"
when 20900
shows "so little was asked" a p windows unanswered "1 1"
shaper change rate 100mbit
asked 400
# it is looked after, and that has room for what it took: 100 ms each
between "what has left at last is asked for again, and then each millisecond" "$REPLY" 100 400
wait
finish
