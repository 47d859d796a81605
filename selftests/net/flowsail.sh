#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowsail: single flows are held at the neighbour that they come from and wait in isolation, so that others that share their
# sub-queue do not; with bfc in its place they do. Who is held, for how long, and what ends it.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc bridge jq
need_program frames hopframe
: "${frames:?}" "${hopframe:?}"	# set by need_program
need_sluice
need_virtual_time
load_modules
need_module sch_flowsail

FRAME=1000	# bytes, with the Ethernet header
QL=15000
QH=60000
# What comes between a pause and its effect: what a cable carries in 20 us there and back, one frame on the card, one that is being
# received, and what comes while a frame of pauses waits for its share of the link
LATE=$((8 * FRAME))

#	h:p ===100M=== s:q [ bridge ] s:r ===100M=== c:t [ bridge ] c:u ---10M--- c:y, of 10.0.0.2
#	                                                            c:v --100M--- c:z, of 10.0.0.3
# longest BOX DEV FIGURE: sets `most` to the highest value while y gets 100 more
longest()
{
	local end i

	received c y
	end=$((REPLY + 100))
	most=0
	for ((i = 0; i < 100; i++)); do
		has y $end && return
		sleep 0.004
		figs "$@"
		most=$((REPLY > most ? REPLY : most))
	done
}
# classes BOX DEV ROLE: what sub-queues of that role wait for
classes() { tc_in "$1" -s class show dev "$2" | sed -n "s/.*waits \([a-z]*\) role $3.*/\1/p" | grep -v not | sort | uniq -c | xargs; }

# held BOX DEV: what its classes say of flows
held() { tc_in "$1" -s class show dev "$2" | sed -n '/ parent 1:1 /{N;N;N;s/^class flowsail \(1:4[^ ]*\) .* backlog \([^ ]*\) .*class: \(.*\)/\1 \2 \3/p}'; }

boxes 100mbit
diag "flows that share a sub-queue"
sails queues 1 ql $QL qh $QH
y=$(got y) z=$(got z)
sends h p "$(to 2 200 1)"
longest c u backlog
between "the last port holds no more than Q_l" "$most" $QL $((QL + 2 * LATE))
check "its flow is held at the first switch" wait_until -e 1 1 figs_are s r paused 1
is "whose sub-queue for isolation waits for that" "$(classes s r isolation)" "1 pause"
sends h p "$(to 2 200 1)"
longest s r backlog
between "which holds no more either, in each of its two" "$most" $((QL - FRAME)) $((2 * QL + 2 * LATE))
check "and holds the flow at the host" wait_until -e 1 1 figs_are h p paused 1
held=$(held h p)
is "which can say who it is" "$(sed 's/[0-9]*b/N/g' <<<"$held")" \
	"1:4000 N waits pause role flow source 10.0.0.1 destination 10.0.0.2 protocol 17 source_port 1 destination_port 9 slot 0 normal N apart N"
is "and so can sluice" "$("$sluice" -n "$NS-h" -j show p | jq -c '[.[].held[]? | [.role, .source, .source_port, .destination, .waits]]')" \
	'[["flow","10.0.0.1",1,"10.0.0.2","pause"]]'
sends h p "$(to 3 100 2)"
sleep 0.03	# on its way for 9 ms; what is held takes 320
check "another flow is in nobody's way" has z $((z + 100))
shows "and is not held" s r paused 1
figs s r assign_isolated
between "nor isolated" "$REPLY" 1 100
check "all of the first comes" wait_until -e 400 20 has y $((y + 400))
check "and nobody is held" wait_until -e 400 20 rest
shows "no pause was left over" s q counter_leaks 0
figs s r pauses_obeyed resumes_obeyed
is "each pause ended" "${REPLY% *}" "${REPLY#* }"

diag "the same with bfc"
for port in $PORTS; do
	IFS=: read -r box dev role peer <<<"$port"
	tc_in "$box" qdisc del dev "$dev" root
	tc_in "$box" qdisc add dev "$dev" root handle 1: bfc role "$role" peer "$peer" queues 1 th $QL || die "no bfc"
done
check "s tags" wait_until -e 500 10 tags s r
check "h tags" wait_until -e 500 10 tags h p
y=$(got y) z=$(got z)
sends h p "$(to 2 300 1)"
longest c u backlog
sends h p "$(to 3 100 2)"
sleep 0.03
check "the other flow is held, too" [ "$(got z)" -lt $((z + 100)) ]
check "all comes" wait_until -e 400 20 has y $((y + 300))
check "all comes" wait_until -e 400 20 has z $((z + 100))

diag "order, while a flow goes to isolation"
sails queues 1 ql $QL qh $QH
lines=40
order=$(for ((i = 1; i <= lines; i++)); do
	to 2 $((i % 7 * 5 + 1)) 1 wait=$((i % 5 * 3000000)) | sed "s/^f1/$i/"
done | "$frames" -l -w 2000 "$NS-h/p" "$NS-c/y") || die "frames"
is "none overtakes another" "$(awk '$1 < line || ($1 == line && $2 < n) { wrong++ } { line = $1; n = $2; all++ }
	END { print wrong + 0, all }' <<<"$order")" "0 $(for ((i = 1; i <= lines; i++)); do echo $((i % 7 * 5 + 1)); done | awk '{ n += $1 } END { print n }')"
figs s r assign_isolated pauses_obeyed released
between "it went there" "${REPLY%% *}" 1 400
between "and was held" "$(cut -d' ' -f2 <<<"$REPLY")" 2 400
is "it is not back" "${REPLY##* }" 0
check "when nobody is held" wait_until -e 400 20 rest
sleep 0.1
sends h p "$(to 2 1 1)"
check "it is with its next packet" wait_until -e 2 1 figs_are s r released 1

# The last port sends 1.25 frames in 1 ms, and the second flow a fifth of that
diag "who has no more than its share is not held"
sails queues 1 ql $QL qh $QH
y=$(got y)
{
	to 2 300 1
	for ((i = 0; i < 40; i++)); do
		to 2 1 2 wait=4000000
	done
} | "$frames" -l -w 0 "$NS-h/p" "$NS-h/lo" >/dev/null &
longest s r paused
wait
is "one flow is" "$most" 1
check "all comes" wait_until -e 400 20 has y $((y + 340))
figs c u spared marks marks_high
between "the other is spared" "${REPLY%% *}" 1 400
is "none of it is above Q_h" "${REPLY##* }" 0
check "and nobody is held" wait_until -e 400 20 rest

# Each has two or three frames there before it is held
diag "many flows, none of which has more than its share"
sails queues 1 ql $QL qh 30000
y=$(got y)
for ((i = 1; i <= 8; i++)); do
	to 2 1 1 ports=50
done | "$frames" -l -w 0 "$NS-h/p" "$NS-h/lo" >/dev/null || die "frames"
longest c u backlog
between "they are held above Q_h" "$most" 30000 $((30000 + 3 * 50 * FRAME + LATE))
figs c u marks_high
between "it is counted" "$REPLY" 10 400
check "all comes" wait_until -e 400 20 has y $((y + 400))
check "and nobody is held" wait_until -e 400 20 rest

diag "a flow alone, by Algorithm 1"
sails queues 1 ql $QL qh 30000 lone high
y=$(got y)
sends h p "$(to 2 200 1)"
longest c u backlog
between "is held above Q_h" "$most" 30000 $((30000 + LATE))
check "all comes" wait_until -e 400 20 has y $((y + 200))
check "and nobody is held" wait_until -e 400 20 rest

# Half of Q_l waits before the packet that lets go: to this the queue falls, less what leaves before the flow comes again.
diag "when a flow is let go"
sails queues 1 ql $QL qh $QH
y=$(got y)
sends h p "$(to 2 300 1)"
longest c u backlog
between "above Q_l it is held" "$most" $QL $((QL + 2 * LATE))
least=1000000
for ((i = 0; i < 40; i++)); do
	sleep 0.002
	figs c u backlog
	least=$((REPLY < least ? REPLY : least))
done
between "and let go with that before it" "$least" $((QL / 2 - 3 * FRAME)) $((QL / 2 + 2 * FRAME))
check "all comes" wait_until -e 400 20 has y $((y + 300))
check "and nobody is held" wait_until -e 400 20 rest
least=1000000
sails queues 1 ql $QL qh $QH resume none
y=$(got y)
sends h p "$(to 2 300 1)"
longest c u backlog
for ((i = 0; i < 40; i++)); do
	sleep 0.002
	figs c u backlog
	least=$((REPLY < least ? REPLY : least))
done
between "by the paper, when the last of it leaves" "$least" 0 $((3 * FRAME))
check "all comes" wait_until -e 400 20 has y $((y + 300))
check "and nobody is held" wait_until -e 400 20 rest

diag "flows without a slot"
sails queues 1 ql $QL qh $QH slots 1
y=$(got y) z=$(got z)
sends h p "$(to 2 100 1)" "$(to 3 100 2)"
sleep 0.05
figs h p flows_full
between "are counted" "$REPLY" 1 100
shows "one has it" h p flows_max 1
check "all comes" wait_until -e 400 20 has y $((y + 100))
check "all comes" wait_until -e 400 20 has z $((z + 100))
check "and nobody is held" wait_until -e 400 20 rest

# Of a flow that has a hash like the stray's by 6 bits, packets may be strays, too: one in 64 has.
diag "a flow without a slot keeps no other from having one"
anew h p host switch slots 16
ip_in h link set dev p type wire rate 10mbit
sends h p "$(to 2 1 101 ports=20)" "$(to 2 1000 200)"
check "those with a slot have left" wait_until -e 10 2 figs_are h p flows 0
figs h p flows_full backlog
full=${REPLY% *}
between "the other has none" "$full" 1000 1010
between "and most of it waits" "${REPLY#* }" 500000 1000000
sends h p "$(to 2 1 301 ports=8)"
figs h p flows_full
between "new ones have" $((REPLY - full)) 0 4
ip_in h link set dev p type wire rate 100mbit
check "and nobody is held" wait_until -e 400 20 rest
figs h p flows_full
full=$REPLY
sends h p "$(to 2 3 200)"
shows "and that one when all of it has left" h p flows_full "$full"
check "and nobody is held" wait_until -e 400 20 rest

diag "what is not IP"
ip_in h link set dev p type wire rate 10mbit
for frame in 21:9000 21:9000 22:9000 22:9001 22:9001; do
	echo "x n=1 bytes=$FRAME type=${frame#*:} src=$(mac ${frame%:*}) dst=$(mac 2)"
done | "$frames" -l -w 0 "$NS-h/p" "$NS-h/lo" >/dev/null || die "frames"
sends h p "$(to 2 1 1)"
figs h p flows
is "is a flow by its addresses and EtherType" "$REPLY" 4
ip_in h link set dev p type wire rate 100mbit
check "and nobody is held" wait_until -e 400 20 rest

diag "thresholds"
anew h p host switch rate 100mbit hrtt 10ms ql-scale 150.5% qh-scale 200%
of() { tc_in h -j -s qdisc show dev p | jq -r ".[0].$1"; }	# options have these names, too
is "by rate and HRTT, 125,000 bytes" "$(of ql_bytes) $(of qh_bytes)" "188125 250000"
tc_in h qdisc change dev p root flowsail ql 100000 resume 0.5%
between "a part of Q_l" "$(of resume_bytes)" 499 500
tc_in h qdisc change dev p root flowsail ql auto ql-scale 0.01%
is "not less than a frame" "$(of ql_bytes)" 1514

# Two flows to y, with 10 Mb/s, and one to z, with 20
diag "who waits for whom in isolation"
ip_in c link set dev v type wire rate 20mbit
passes 2 1 isolation 1
between "z's flow waits for y's" "$passed" 50 250
passes 2 2
between "each destination has one: z's flow waits for z alone" "$passed" 350 420
ip_in c link set dev v type wire rate 100mbit

diag "a flow of its own each"
sails queues 1 isolation flow ql $QL qh $QH
y=$(got y)
sends h p "$(to 2 150 1)" "$(to 2 150 2)"
check "both are held" wait_until -e 2 2 figs_are s r paused 2
is "and wait in a sub-queue each" "$(classes s r own)" "2 pause"
check "all comes" wait_until -e 400 20 has y $((y + 300))
check "and nobody is held" wait_until -e 400 20 rest

diag "control frames that are lost"
sails queues 2 ql $QL qh $QH
for port in h:p s:q s:r c:t; do
	ip_in ${port%:*} link set dev ${port#*:} type wire loss_control 30%
done
y=$(got y)
sends h p "$(to 2 300 1)"
longest c u backlog
between "no more comes than in a lease" "$most" $((QL / 2)) $((QL + LATE + 70 * FRAME))
check "all comes" wait_until -e 400 20 has y $((y + 300))
for port in h:p s:q s:r c:t; do
	ip_in ${port%:*} link set dev ${port#*:} type wire loss_control 0%
done
check "and nobody is held" wait_until -e 400 20 rest

diag "ends by a change, and by the end of the qdisc"
sends h p "$(to 2 300 1)"
check "a flow is held" wait_until -e 2 2 figs_are s r paused 1
tc_in c qdisc change dev u root flowsail nopause || fail "change"
check "what is marked lets go as it leaves" wait_until -e 100 2 figs_are s r paused 0
longest c u backlog
between "and all comes that was held" "$most" $((QL + 4 * LATE)) $((300 * FRAME))
check "and nobody is held" wait_until -e 400 20 rest
tc_in c qdisc change dev u root flowsail pause || fail "change"
sends h p "$(to 2 300 1)"
check "held again" wait_until -e 2 2 figs_are s r paused 1
tc_in c qdisc replace dev u root pfifo limit 10000
check "not when who held it is gone" wait_until -e 2 2 figs_are s r paused 0
check "h's packets all leave" wait_until -e 400 20 figs_are h p backlog 0
sails queues 2 ql $QL qh $QH
sends h p "$(to 2 300 1)"
check "held again" wait_until -e 2 2 figs_are s r paused 1
anew s r switch switch queues 2 ql $QL qh $QH
shows "nothing is left of it with a new qdisc" s r backlog flows isolated "0 0 0"
check "and nobody is held" wait_until -e 400 20 rest
refused "queues are for good" "at creation only" tc_in s qdisc change dev r root flowsail queues 3
refused "qh below ql" "qh must not be below ql" tc_in s qdisc change dev r root flowsail ql 20000 qh 10000
refused "too many sub-queues" "together must be at most 4096" tc_in h qdisc replace dev p root handle 9: flowsail queues 8 slots 4090

diag "up and then up again holds nobody"
anew s q switch host queues 1 tier up
anew s r switch switch queues 1 ql $QL qh $QH tier up
check "h tags" wait_until -e 500 10 tags h p
check "s tags" wait_until -e 500 10 tags s r
sends h p "$(to 2 200 1)"
longest s r backlog
between "the switch keeps what comes" "$most" $((QL + LATE + FRAME)) $((200 * FRAME))
figs s r elided marks
between "it is counted" "${REPLY% *}" 50 200
is "as no mark" "${REPLY#* }" 0
check "and nobody is held" wait_until -e 400 20 rest

diag "a device that takes nothing"
sails queues 1 ql $QL qh $QH watchdog 40ms
sends h p "$(to 2 200 1)"
check "the first switch is held" wait_until -e 2 2 figs_are s r paused 1
ip_in c link set dev u type wire rate 10kbit	# 0.8 s for a frame
withdrew() { figs c u withdrawn; [ "$REPLY" -gt 0 ]; }
check "pauses are taken back" wait_until -e 20 2 withdrew
check "and all comes to where the device hangs" wait_until -e 20 2 figs_are s r backlog paused "0 0"
ip_in c link set dev u type wire rate 10mbit
check "and nobody is held" wait_until -e 400 20 rest

diag "between neighbours of another kind"
sails queues 1 ql $QL qh $QH
tc_in s qdisc del dev r root
tc_in s qdisc add dev r root handle 1: bfc role switch peer switch queues 2 th $QL
check "bfc tags" wait_until -e 500 10 tags s r
y=$(got y)
sends h p "$(to 2 300 1)"
longest c u backlog
between "bfc holds a sub-queue for flowsail" "$most" $QL $((QL + 2 * LATE))
kind=bfc figs s r paused backlog
is "which is held" "${REPLY% *}" 1
shows "flowsail holds a flow for bfc" h p paused 1
check "all comes" wait_until -e 400 20 has y $((y + 300))
check "h's packets all leave" wait_until -e 400 20 figs_are h p paused flows "0 0"
leave_spaces

# program RATE MS MS [WORDS SLOTS]: a's neighbour is a program, which pauses slot 0, of two, or others, from then until then
program()
{
	two_boxes rate "$1" delay 1us
	anew a p switch switch queues 1 slots "${5:-2}" nowatch
	in_ns b "$hopframe" peer q for=$(($3 + 500)) role=switch queues=8 at="$2" state:seq=1,lease=2000000000,words="${4:-1}" \
		at="$3" state:seq=2,lease=2000000000,words=0 >/dev/null &
	check "tags" wait_until -e 10 1 tags a p
}
diag "a slot that is held and has no flow"
program 10mbit 100 2000
check "and holds it" wait_until -e 10 1 figs_are a p paused 1
sends a p "$(to 11 1 1)" "$(to 12 1 2)"
check "others have the other one" wait_until -e 5 1 figs_are a p flows backlog "0 0"
shows "one after the other" a p flows_max flows_full "1 0"
sleep 1.5	# of 1.9 that it is held, without a look
check "until it is held no more" wait_until -e 10 3 figs_are a p paused 0
sends a p "$(to 11 80 1)" "$(to 12 80 2)"
shows "then two have one each" a p flows_full 0
wait
leave_spaces

diag "a slot that is held and has no packets"
program 1gbit 500 1000
sends a p "$(to 11 1 1)"
sleep 0.3
check "the first flow has the first slot, and is held" wait_until -e 10 1 figs_are a p paused backlog "1 0"
for i in 12 13 14; do
	sends a p "$(to $i 1 $i)"
done
shows "others get the second one, one after the other" a p backlog flows_full "0 0"
sends a p "$(to 11 1 1)"
shows "the first flow waits" a p isolated backlog "1 $FRAME"
sleep 0.4
check "until the neighbour lets it go" wait_until -e 10 1 figs_are a p paused backlog "0 0"
wait
leave_spaces

diag "what a flow is called"
program 1gbit 500 1000 3f 8
called=(
	"from=fd00::1 to=fd00::2 proto=6 sport=5 dport=6"
	"from=10.0.0.1 to=10.0.0.2 proto=1 icmp=8"
	"from=10.0.0.1 to=10.0.0.2 frag=8192"
	"src=$(mac 21) type=9000"
	"from=10.0.0.1 to=10.0.0.2 proto=50 sport=5 dport=6"
	"from=10.0.0.1 to=10.0.0.2 proto=6 sport=5 dport=6 tag=7"
)
sends a p "${called[@]/#/x n=1 bytes=$FRAME dst=$(mac 11) }"
sleep 0.3
check "six are held" wait_until -e 10 1 figs_are a p paused backlog "6 0"
is "without a packet none has a name" "$(held a p)" "$(for i in {0..5}; do echo "1:400$i 0b waits pause role flow slot $i normal 0b apart 0b"; done)"
sends a p "${called[@]/#/x n=2 bytes=$FRAME dst=$(mac 11) }"
is "then all have" "$(held a p)" \
"1:4000 2000b waits pause role flow source fd00::1 destination fd00::2 protocol 6 source_port 5 destination_port 6 slot 0 normal 0b apart 2000b
1:4001 2000b waits pause role flow source 10.0.0.1 destination 10.0.0.2 protocol 1 slot 1 normal 0b apart 2000b
1:4002 2000b waits pause role flow source 10.0.0.1 destination 10.0.0.2 protocol 17 slot 2 normal 0b apart 2000b
1:4003 2000b waits pause role flow slot 3 normal 0b apart 2000b
1:4004 2000b waits pause role flow source 10.0.0.1 destination 10.0.0.2 protocol 50 slot 4 normal 0b apart 2000b
1:4005 2000b waits pause role flow source 10.0.0.1 destination 10.0.0.2 protocol 6 source_port 5 destination_port 6 slot 5 normal 0b apart 2000b vlan 7"
sleep 0.4
check "until they may go on" wait_until -e 10 1 figs_are a p paused backlog "0 0"
is "and then there is none" "$(held a p)" ""
wait
leave_spaces
program 1mbit 500 1000
sends a p "$(to 11 1 1)" "$(to 12 60 2)" "$(to 11 1 1)"
check "held behind another one's packets" wait_until -e 50 2 figs_are a p paused 1
is "it has its own name all the same" "$(held a p)" \
	"1:4000 1000b waits pause role flow source 10.0.0.1 destination 10.0.0.11 protocol 17 source_port 1 destination_port 9 slot 0 normal 1000b apart 0b"
check "until all has left" wait_until -e 100 3 figs_are a p paused backlog "0 0"
wait
leave_spaces
two_boxes rate 1gbit delay 1us
anew a p switch switch queues 1 slots 2 nowatch
in_ns b "$hopframe" peer q for=1500 role=switch queues=8 at=500 state:seq=1,lease=2000000000,words=3 \
	at=800 state:seq=2,lease=2000000000,words=1 at=1000 state:seq=3,lease=2000000000,words=0 >/dev/null &
check "tags" wait_until -e 10 1 tags a p
sends a p "$(to 11 1 1)" "$(to 11 1 2)"
check "two of one destination are held" wait_until -e 10 1 figs_are a p paused 2
sends a p "$(to 11 1 1)" "$(to 11 1 2)"
second() { held a p | sed -n 's/^1:4001 .* waits \([a-z]*\) .*/\1/p'; }
is "both wait for the neighbour" "$(second)" pause
check "who may go on waits behind the other one" wait_for -e 10 1 others second
check "and then leaves" wait_until -e 10 1 figs_are a p paused backlog "0 0"
wait
leave_spaces
# A device that hangs takes over nothing of what the neighbour says, and nothing is asked but the class.
two_boxes rate 1gbit delay 1us ring 0
anew a p switch switch queues 1 slots 2 nowatch
in_ns b "$hopframe" peer q for=1500 role=switch queues=8 at=500 state:seq=1,lease=2000000000,words=1 \
	at=1200 state:seq=2,lease=2000000000,words=0 >/dev/null &
check "tags" wait_until -e 10 1 tags a p
ip_in a link set dev p type wire rate 1kbit	# 8 s for a frame
sends a p "$(to 11 2 1)"
first() { held a p | sed -n 's/^1:4000 .* waits \([a-z]*\) .*/\1/p'; }
check "where the device hangs, too" wait_for -e 20 1 pause first
ip_in a link set dev p type wire rate 1gbit
check "it goes on" wait_until -e 100 20 figs_are a p paused backlog "0 0"
wait
leave_spaces

# When the flow is let go, some of it is in the normal sub-queue, and what came meanwhile behind it, in isolation.
diag "what waits for order"
two_boxes rate 10mbit delay 1us ring 0
anew a p switch switch queues 1 slots 2 nowatch hrtt 100ms
in_ns b "$hopframe" peer q for=4000 role=switch queues=8 at=500 state:seq=1,lease=2000000000,words=1 \
	at=800 state:seq=2,lease=2000000000,words=0 >/dev/null &
check "tags" wait_until -e 10 1 tags a p
sends a p "$(to 11 1000 1)"
sleep 0.3
check "the flow is held" wait_until -e 10 1 figs_are a p paused 1
sends a p "$(to 11 20 1)"
sleep 0.27
check "and let go" wait_until -e 1 1 figs_are a p paused 0
shows "and waits for itself" a p isolated order_waits "1 1"
is "as its class says" "$(held a p | sed 's/[0-9]*b/N/g')" \
	"1:4000 N waits order role flow source 10.0.0.1 destination 10.0.0.11 protocol 17 source_port 1 destination_port 9 slot 0 normal N apart N"
check "until all has left" wait_until -e 20 2 figs_are a p backlog 0
sends a p "$(to 11 2 1)"
sleep 0.01
figs a p released assign_isolated
between "2 HRTT long it goes to isolation all the same" "${REPLY#* }" 2 4
apart=${REPLY#* }
is "and is not back" "${REPLY% *}" 0
sleep 0.25
sends a p "$(to 11 2 1)"
sleep 0.01
shows "and then no more" a p released assign_isolated "1 $apart"
wait
leave_spaces

# Hundreds of frames of the first flow and one of the second are in a sub-queue when the first one is held; the change leaves the last one.
diag "a limit that lets another packet be the first"
two_boxes rate 10mbit delay 1us ring 0
anew a p switch switch queues 1 slots 2 nowatch
in_ns b "$hopframe" peer q for=3000 role=switch queues=8 at=500 state:seq=1,lease=2000000000,words=1 >/dev/null &	# it holds it for 2 s
check "tags" wait_until -e 10 1 tags a p
sends a p "$(to 11 2000 1)" "$(to 12 1 2)"
sleep 0.3
check "the first flow is held" wait_until -e 10 1 figs_are a p paused 1
sleep 0.02
figs a p backlog
between "and what is behind it waits" "$REPLY" 2000 2001000
tc_in a qdisc change dev p root flowsail limit 1000
check "until the other one is the first" wait_until -e 20 1 figs_are a p backlog 0
wait
leave_spaces
finish
