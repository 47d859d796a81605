#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The qdisc floodgate: windows per destination between two switches, VOQs, credits.
#
#	a:p ====100M==== b:q [ bridge ] b:r ---10M--- y
#	                                b:s --100M--- z
#
# What waits at r is counted by r's qdisc, what has left it by the cable, and the order of what comes to y by `frames`,
# which numbers them.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/floodgate_lib.sh
. "$(dirname "$0")/floodgate_lib.sh"
need_tool ip tc bridge jq ethtool
need_program frames tcmsg
# set by need_program
: "${frames:?}" "${tcmsg:?}"
load_modules
need_module sch_floodgate

FRAME=1000	# bytes, with the Ethernet header
WINDOW=20000	# where nothing else is said
FRAMES=600	# one takes 0.8 ms at r
ns a b
a=$NS-a
b=$NS-b
for box in a b; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
counted() { in_ns "$1" ethtool -S "$2" | awk -v key="$3:" '$1 == key { print $2 }'; }

# link [WORDS_OF_P [WORDS_OF_Q]]: p and its cable, new, and its port in the bridge
link()
{
	ip_in a link del p 2>/dev/null
	ips a "link add p address $(mac 1) ${1:-} type wire rate 100mbit delay 10us ring 10k peer name q ${2:-} netns $b"
	ips b "link set q master br0 up"
	ip_in a link set p up
}
ips b "link add br0 type bridge mcast_snooping 0
link set br0 up
link add r type wire rate 10mbit ring 0 peer name y
link add s type wire rate 100mbit ring 0 peer name z
link set r master br0 up
link set s master br0 up
link set y up
link set z up"
link
for port in 2:r 3:s 4:r 5:s; do
	bridge -n "$b" fdb replace "$(mac ${port%:*})" dev ${port#*:} master static
done

# p [WORD]...: p's qdisc, new
p()
{
	tc_in a qdisc del dev p root 2>/dev/null
	tc_in a qdisc add dev p root handle 1: floodgate role switch peer switch "$@" || die "no qdisc floodgate"
}
switch_b()
{
	tc_in b qdisc replace dev q root floodgate role switch peer switch &&
		tc_in b qdisc replace dev r root floodgate role switch peer host &&
		tc_in b qdisc replace dev s root floodgate role switch peer host || die "no qdisc floodgate"
}
meets() { figs_are a p windows 1; }

# to N y|z [WORD]...: a line for `frames`: so many to a host there
to()
{
	local n=2

	[ "$2" = y ] || n=3
	echo "$2 n=$1 bytes=$FRAME from=10.0.0.1 to=10.0.0.$n sport=1 dport=9 dst=$(mac $n) ${*:3}"
}
rests() { figs_are a p backlog outstanding queued voqs_used "0 0 0 0" && figs_are b r backlog queued "0 0"; }

# ---- options ----

diag "options"
p window $WINDOW
options() { tc_in a -j qdisc show dev p | jq -c '.[] | select(.kind == "floodgate").options'; }
before=$(options)
refused "a window of 0 by netlink is auto, one of 2 GiB is none" "window must be auto or 1 byte to 1 GiB" \
	"$tcmsg" -n "$a" send change p TCA_KIND=str:floodgate "TCA_OPTIONS{" TCA_FLOODGATE_WINDOW=u32:2147483648 "}"
refused "slots are for good" "this option can be set at creation only" tc_in a qdisc change dev p root floodgate slots 8
refused "kmin above kmax" "kmin must not be above kmax" tc_in a qdisc change dev p root floodgate kmin 20000 kmax 10000
refused "a credit interval below 1 us" "credit-interval must be" \
	"$tcmsg" -n "$a" send change p TCA_KIND=str:floodgate "TCA_OPTIONS{" TCA_FLOODGATE_CREDIT_INTERVAL=u32:999 "}"
is "what is refused changes nothing" "$(options)" "$before"
check "all that can be changed" tc_in a qdisc change dev p root floodgate window 30000 window-factor 150% \
	window-scope port serve through credit-interval 20us credit-threshold 100000 limit 10m pool 10m
is "and is shown" "$(options | jq -c '[.window, .window_factor, .window_scope, .serve, .credit_interval, .credit_threshold, .limit, .pool]')" \
	'[30000,150,"port","through",20000,100000,10485760,10485760]'

# The window that follows from link and interval: 100 Mb/s, 10 us each way
diag "the window by itself"
p hrtt 100us
figs a p window_bytes credit_interval_used credit_threshold_bytes
# 8 frames of 1514 bytes take 968.96 us; BDP 1250 bytes; C T 12112; two frames 3028
is "BDP + C T + 2 frames, T of eight frames, ten BDP" "$REPLY" "16390 968960 12500"

# ---- without a neighbour of the kind ----

diag "without a neighbour of the kind"
p window $WINDOW
tc_in b qdisc replace dev q root pfifo
tc_in b qdisc replace dev r root bfc
sends a p "$(to 100 y)"
sleep 0.1
shows "nothing waits, nothing is counted" a p windows backlog voq_packets outstanding "0 0 0 0"
switch_b
check "they meet" wait_until -e 500 10 meets

# ---- an incast, and what else there is ----

# bounded NAME SAMPLES: never more than a window is on the way, and so never more at r. Nearly so much is there, and mostly
# something.
bounded()
{
	local at out bad='' most=0 seen=0

	for ((at = 0; at < $2; at++)); do
		sleep 0.01
		figs b r backlog
		waits=$REPLY
		figs a p outstanding	# later, so it may have become less
		out=$REPLY
		[ "$waits" -le $((WINDOW + FRAME)) ] || bad+=" $waits wait"
		[ "$out" -le $((WINDOW + FRAME)) ] || bad+=" $out outstanding"
		most=$((waits > most ? waits : most))
		[ "$waits" -eq 0 ] || seen=$((seen + 1))
	done
	is "$1: never more than a window at r" "$bad" ""
	between "$1: but nearly so much" "$most" $((WINDOW / 4)) $((WINDOW + FRAME))
	between "$1: and mostly something" "$seen" $(($2 / 2)) "$2"
}
settles() { check "$1: all leaves, and nothing is outstanding" wait_until -e 400 50 rests; }

diag "an incast: a host takes a tenth of what it is sent"
went=$(counted b r sent_frames)
sends a p "$(to $FRAMES y)"
bounded "incast" 10
figs a p voqs_used voq_backlog backlog
read -r voqs_used in_voqs all <<<"$REPLY"
is "one VOQ has it" "$voqs_used" 1
# two figures of one port are not of the same moment
between "and nearly all of it" "$in_voqs" $((all - 2 * FRAME)) $((all + 2 * FRAME))
text=$(tc_in a -s class show dev p)
is "its class says whose it is, and what it waits for" \
	"$(grep -o 'address 10.0.0.2 waits [a-z]* window [0-9]*b' <<<"$text")" "address 10.0.0.2 waits window window ${WINDOW}b"

# Frames to z are in nobody's way: 50 of them take 4 ms of the cable
z=$(counted b s sent_frames)
sends a p "$(to 50 z)"
sleep 0.02
between "others pass: all have left s" "$(($(counted b s sent_frames) - z))" 50 60
figs a p voqs_used
is "while the incast waits" "$REPLY" 1
figs a p voq_packets
incast=$REPLY
settles "incast"
figs a p voq_packets
is "none of the others was in a VOQ" "$REPLY" "$incast"
sends a p "$(to 5 y)"
settles "a few more"
figs a p voq_packets
is "and what comes later is not in one either" "$REPLY" "$incast"
between "all of them have passed r" "$(($(counted b r sent_frames) - went))" $FRAMES $((FRAMES + 100))

# A flow that the next box passes on as it comes never sees its window: that of auto is as large as needed
diag "no incast: a flow at the full rate"
p
check "they meet" wait_until -e 500 10 meets
lines=()
line=$(to 1 z wait=82000)	# 1024 bytes with gap and checksum take 81.92 us
for ((i = 0; i < 600; i++)); do
	lines+=("$line")
done
sends a p "${lines[@]}"
settles "no incast"
shows "was in no VOQ" a p voq_packets voqs_max "0 0"
between "and had credits" "$(figs a p credits; echo "$REPLY")" 10 1000

# ---- order ----

# order NAME LINE...: all of them come to y, in their order
order()
{
	local got

	sleep 0.005	# the last one of before is perhaps still on the cable to y
	got=$(printf '%s\n' "${@:2}" | "$frames" -l -w 800 "$a/p" "$b/y" | awk '
		{ is = substr($1, 2) * 10 + $2 }
		/^y/ && is != n++ { bad++ }
		END { printf "%d %d\n", n, bad }')
	is "$1: all come, in order" "$got" "$FRAMES 0"
	settles "$1"
}
for serve in below through; do
	diag "order, served $serve"
	p window $WINDOW serve $serve
	check "they meet" wait_until -e 500 10 meets
	order "$serve" "$(to $FRAMES y)"
	# more of it comes whenever something has left: it never goes ahead of what is in the VOQ
	lines=()
	line=$(to 10 y wait=3000000)
	for ((i = 0; i < 60; i++)); do
		lines+=("y$i${line#y}")
	done
	order "$serve, a bit at a time" "${lines[@]}"
	figs a p voq_packets
	between "$serve: most were in a VOQ" "$REPLY" $FRAMES $((3 * FRAMES))
done

# ---- faults ----

set_fault() { ip_in a link set p type wire "$@" && ip_in b link set q type wire "$@" || die "no $*"; }
GOOD="loss_data 0 loss_control 0 duplicate 0 corrupt 0 reorder 0"
p window $WINDOW
check "they meet" wait_until -e 500 10 meets
for fault in "loss_data 5%" "loss_control 30%" "loss_data 20% loss_control 50%"; do
	diag "$fault"
	# shellcheck disable=SC2086
	set_fault $fault
	sends a p "$(to $FRAMES y)"
	bounded "$fault" 10
	settles "$fault"
	# shellcheck disable=SC2086
	set_fault $GOOD
done
for fault in "duplicate 20%" "reorder 20% reorder_delay 1ms" "corrupt 10%"; do
	diag "$fault"
	# shellcheck disable=SC2086
	set_fault $fault
	sends a p "$(to $FRAMES y)"
	settles "$fault"
	# shellcheck disable=SC2086
	set_fault $GOOD
done

# Floodgate, Fig. 12, with a sender that no acknowledgement holds back, at 95 % of the link: losses of data and of credits use
# up windows, and what arrives meanwhile is what was not lost.
for loss in 5:98 10:95; do
	diag "${loss%:*} % of all frames are lost, 95 % load"
	p
	check "they meet" wait_until -e 500 10 meets
	set_fault loss_data "${loss%:*}%" loss_control "${loss%:*}%"
	lines=()
	line=$(to 1 z wait=86200)
	for ((i = 0; i < 1000; i++)); do
		lines+=("$line")
	done
	came=$(counted b s sent_frames) lost=$(counted a p loss_data)
	sends a p "${lines[@]}"
	came=$(($(counted b s sent_frames) - came)) lost=$(($(counted a p loss_data) - lost))
	diag "1000 sent, $lost lost, $came came"
	between "${loss%:*} %: so many came in time" $((came * 1000 / (1000 - lost))) $((${loss#*:} * 10)) 1050
	# shellcheck disable=SC2086
	set_fault $GOOD
	settles "${loss%:*} %"
done

diag "the neighbour is gone, and comes back"
sends a p "$(to $FRAMES y)"
sleep 0.05
tc_in b qdisc replace dev q root pfifo
plain() { figs_are a p windows 0; }
check "it says so" wait_until -e 100 10 plain
check "all leaves" wait_until -e 100 10 figs_are a p backlog voqs_used "0 0"
tc_in b qdisc replace dev q root floodgate role switch peer switch
check "they meet again" wait_until -e 500 10 meets
settles "the neighbour"
sends a p "$(to $FRAMES y)"
bounded "after it" 5
settles "after it"

diag "the sender is gone, and comes back"
sends a p "$(to $FRAMES y)"
sleep 0.05
tc_in a qdisc replace dev p root pfifo
p window $WINDOW
check "they meet again" wait_until -e 500 10 meets
sends a p "$(to $FRAMES y)"
bounded "after it" 5
settles "after it"

diag "the other port is gone, with what waits there"
sends a p "$(to $FRAMES y)"
sleep 0.05
tc_in b qdisc replace dev r root floodgate role switch peer host
settles "the other port"

diag "the device goes down with a VOQ, and comes up"
sends a p "$(to $FRAMES y)"
sleep 0.05
ip_in a link set p down
shows "nothing is queued" a p backlog voqs_used voq_backlog "0 0 0"
ip_in a link set p up
check "they meet again" wait_until -e 500 10 meets
sends a p "$(to 100 y)"
settles "down and up"

# ---- slots ----

diag "two slots, three destinations"
p window $WINDOW slots 2
check "they meet" wait_until -e 500 10 meets
# when those to z come, all of the second one have left p, and some of them r
sends a p "$(to 100 y)" "$(to 10 y to=10.0.0.4)" "$(to 20 z wait=21000000)"
shows "who finds none free goes without a window" a p slots_full slots_used "20 2"
settles "slots"
for ((i = 1; i < 30; i++)); do
	sends a p "$(to 3 z to=10.0.1.$i)"
	sleep 0.005
done
figs a p slots_full
full=$REPLY
sends a p "$(to 3 z to=10.0.2.1)"
settles "slots, afterwards"
shows "one that nothing is on its way of is given away" a p slots_full slots_used "$full 2"

# ---- a window larger or smaller while packets wait ----

diag "a change of the window"
p window $WINDOW
check "they meet" wait_until -e 500 10 meets
sends a p "$(to $FRAMES y)"
sleep 0.02
tc_in a qdisc change dev p root floodgate window 1000000
check "a larger one lets all go" wait_until -e 20 1 figs_are a p voqs_used 0
settles "a change"
tc_in a qdisc change dev p root floodgate window $WINDOW
lines=()
line=$(to 10 y)
for ((i = 0; i < 60; i++)); do
	lines+=("y$i${line#y}$([ $i != 30 ] || echo wait=30000000)")
done
{ sleep 0.02; tc_in a qdisc change dev p root floodgate window 1000000; } &
order "a larger one, and more of it comes while the VOQ empties" "${lines[@]}"
wait $!
tc_in a qdisc change dev p root floodgate window $WINDOW
sends a p "$(to $FRAMES y)"
bounded "a smaller one" 5
settles "a smaller one"

for scope in port switch; do
	sends a p "$(to 100 y)"
	sleep 0.02
	tc_in a qdisc change dev p root floodgate window-scope $scope
	check "scope $scope, while packets wait: all leaves" wait_until -e 100 3 rests
done

# ---- hosts ----

diag "a host that counts as well"
tc_in b qdisc replace dev r root floodgate role switch peer auto
tc_in b qdisc add dev y root floodgate role host peer switch || die "no qdisc floodgate"
b_serves() { [[ $(tc_in b -s qdisc show dev "$1") == *" state tagging "* || $(tc_in b -s qdisc show dev "$1") == *" state host "* ]]; }
check "it is there" wait_until -e 500 10 eval 'b_serves y && b_serves r'
sleep 1
shows "towards a host there is no window" b r windows 0
shows "nor from it" b y windows 0
tc_in b qdisc del dev y root
tc_in b qdisc replace dev r root floodgate role switch peer host

# ---- below parents, mq, devices that put packets together ----

diag "below a parent"
tc_in a qdisc replace dev p root handle 2: tbf rate 50mbit burst 64k limit 10000000
tc_in a qdisc replace dev p parent 2:1 handle 3: floodgate role switch peer switch window $WINDOW
check "they meet" wait_until -e 500 10 meets
sends a p "$(to $FRAMES y)"
bounded "tbf" 5
settles "tbf"
is "the parent counts what is there" \
	"$(tc_in a -j -s qdisc show dev p root | jq -r '.[0] | "\(.backlog) \(.qlen)"')" "0 0"

# One is on the line, which takes hours for it. Beyond 20 frames all are marked that can be.
diag "marks of ECN"
ips a "link add e type wire rate 1bit ring 0 peer name ee
link set ee up
link set e up"
tc_in a qdisc add dev e root floodgate kmin $((20 * FRAME)) kmax $((20 * FRAME)) || die "no qdisc floodgate"
comes() { to "$@" | "$frames" -l -w 0 "$a/e" "$a/lo" >/dev/null || die "frames"; }
comes 22 y tos=2
shows "at 20 frames none" a e backlog ecn_marked ecn_not_capable "21000 0 0"
comes 5 y tos=2
shows "beyond that each" a e ecn_marked ecn_not_capable "5 0"
comes 3 y
shows "but for those that know no ECN, which are counted" a e ecn_marked ecn_not_capable "5 3"
ip_in a link del e

# 3.8 kB of BDP, 12.5 kB for the interval and two frames; with the 100 us that are reckoned with before an HRTT is measured it would
# be 140 kB. Nobody looks at the qdisc before the packets come, which would compute it anew.
diag "the first window knows the HRTT that was measured meanwhile"
tc_in a qdisc del dev p root
link
ips a "link set p type wire rate 10gbit delay 1us"
ips b "link set q type wire rate 10gbit delay 1us"
switch_b
p
sleep 2
sends a p "$(to 100 y)"
figs a p voq_packets
if [ "${SLUICE_HOME:-}" = uml ]; then
	between "most of what comes at once has no window" "$REPLY" 70 95
else
	skip "most of what comes at once has no window" "needs virtual time"
fi
check "all leaves" wait_until -e 400 20 rests

finish
