#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Blocks of data (kernel/hopctl/blocks.h), by a kind that only tests use (selftests/window): no more than a window of a
# sub-queue is on its way or waits in the next box. That holds while data and control frames are lost; what is lost is
# released; and after every fault, when nothing is sent any more, nothing is outstanding.
#
#	a:p ====100M==== b:q [ bridge ] b:r ----10M---- b:y
#
# What waits at r is counted by r's qdisc, what has passed it by its cable.
#
# Of frames that lie there are a tenth of $SLUICE_FLOOD (200000) each; with fewer than that, half as many looks at blocks, too.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge jq ethtool
need_virtual_time
need_program frames tcmsg hopframe q_window.so
# set by need_program
: "${frames:?}" "${tcmsg:?}" "${hopframe:?}" "${q_window:?}"
load_modules
if [ -n "${SLUICE_MODDIR:-}" ] && module_file sch_window && [ -z "$REPLY" ]; then
	die "there is no sch_window.ko in $SLUICE_MODDIR: make test-modules makes it"
fi
need_module sch_window

FRAME=1000	# bytes, with the Ethernet header
WINDOW=20000	# where nothing else is said
LIMIT=10000000
FRAMES=600	# in each case; one takes 0.8 ms at r
ns a b
a=$NS-a
b=$NS-b
for box in a b; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
ips() { ip -n "$1" -batch - <<<"$2" || die "ip: $2"; }

option() { "$tcmsg" -n "$NS-$1" send "$2" "$3" TCA_KIND=str:window "TCA_OPTIONS{" "$4=u32:$5" "}"; }

# figure BOX DEV NAME: sets REPLY to that of the qdiscs window there, all together
figure()
{
	local qdisc sum=0

	TC_LIB_DIR=${q_window%/*} qdiscs_of "$1" "$2"
	qdiscs_in "$REPLY" window
	[ ${#qdiscs[@]} -gt 0 ] || die "$1 $2 has no qdisc window"
	for qdisc in "${qdiscs[@]}"; do
		figure_in "$qdisc" "$3"
		sum=$((sum + REPLY))
	done
	REPLY=$sum
}
figure_is() { figure "$1" "$2" "$3"; [ "$REPLY" = "$4" ]; }
cable() { in_ns "$1" ethtool -S "$2" | awk -v key="$3:" '$1 == key { print $2 }'; }

# sends N [PORT]: that many frames of one flow from p to y
sends()
{
	"$frames" -l -w 0 "$a/p" "$a/lo" >/dev/null \
		<<<"x n=$1 bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=${2:-1} dport=9 dst=$(mac 2)" || die "frames"
}

# link [WORDS_OF_P [WORDS_OF_Q]]: p and its cable, new, and its port in the bridge
link()
{
	ip_in a link del p 2>/dev/null
	ips "$a" "link add p address $(mac 1) ${1:-} type wire rate 100mbit delay 10us ring 10k peer name q ${2:-} netns $b"
	ips "$b" "link set q master br0 up"
	ip_in a link set p up
}
ips "$b" "link add br0 type bridge mcast_snooping 0
link set br0 up
link add r type wire rate 10mbit ring 0 peer name y
link set r master br0 up
link set y up"
link
bridge -n "$b" fdb replace "$(mac 2)" dev r master static

diag "options"
tc_in a qdisc add dev p root handle 1: window
refused "window 0" "window must be 1 byte to 1 GiB" option a change p 1 0
refused "limit 0" "limit must be 1 byte to 1 GiB" option a change p 2 0
check "window" option a change p 1 $WINDOW
check "limit" option a change p 2 $LIMIT

meets() { figure_is a p valid 1; }
both()
{
	tc_in b qdisc replace dev q root window && tc_in b qdisc replace dev r root window || die "no qdisc window"
}

diag "without a neighbour of the kind"
tc_in b qdisc replace dev r root bfc
sends 100
sleep 0.1
figure a p backlog
is "nothing is limited" "$REPLY" 0
figure a p outstanding
is "and nothing counted" "$REPLY" 0

both
check "they meet" wait_until -e 500 10 meets

# What p has outstanding covers what waits at r, and is no more than a window, in each of SAMPLES looks.
# bounded NAME SAMPLES
bounded()
{
	local at out waits bad='' most=0 seen=0

	for ((at = 0; at < $2; at++)); do
		sleep 0.01
		figure b r backlog
		waits=$REPLY
		figure a p outstanding	# later, so it may have become less
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
rests() { figure_is a p backlog 0 && figure_is a p outstanding 0 && figure_is b r backlog 0; }
# settles NAME
settles()
{
	check "$1: all leaves, and nothing is outstanding" wait_until -e 400 50 rests
	figure a p most
	between "$1: never was more than a window" "$REPLY" 1 $((WINDOW + FRAME))
}
went() { cable b r sent_frames; }

diag "a block that is complete"
heard=$(mktemp)
in_ns b "$hopframe" listen q for=1000 >"$heard" &
listener=$!
for ((i = 0; i < 4; i++)); do
	sleep 0.1
	sends 1
done
wait $listener
mapfile -t ends < <(grep -o ' end block=[0-9]*' "$heard")
between "END comes of each" ${#ends[@]} 4 8
rm "$heard"
is "and is not repeated, since the neighbour answers at once" "$(printf '%s\n' "${ends[@]}" | sort | uniq -d)" ""

diag "a good line"
went_r=$(went)
ahead=$(cable a p control_frames)
figure a p ends
ends=$REPLY
sends $FRAMES
bounded "good" 20
settles "good"
figure a p ends
ends=$((REPLY - ends))
between "blocks have ended" "$ends" 20 100000
between "END was not sent ahead of data, as other control frames are" \
	"$(($(cable a p control_frames) - ahead))" 1 $((ends / 2))
# control frames of r's port go by it, too
between "all of it has passed r" $(($(went) - went_r)) "$FRAMES" $((FRAMES + 100))

set_fault() { ip_in a link set p type wire "$@" && ip_in b link set q type wire "$@" || die "no $*"; }
GOOD="loss_data 0 loss_control 0 duplicate 0 corrupt 0 reorder 0"
for fault in "loss_data 5%" "loss_control 30%" "loss_data 20% loss_control 50%"; do
	diag "$fault"
	# shellcheck disable=SC2086
	set_fault $fault
	sends $FRAMES
	bounded "$fault" 20
	settles "$fault"
	# shellcheck disable=SC2086
	set_fault $GOOD
done
# Frames that come twice, late or as others are counted wrongly, until two more blocks are complete.
for fault in "duplicate 20%" "reorder 20% reorder_delay 1ms" "corrupt 10%" \
	     "loss_data 10% loss_control 30% corrupt 10% duplicate 20% reorder 20%"; do
	diag "$fault"
	# shellcheck disable=SC2086
	set_fault $fault
	sends $FRAMES
	check "$fault: all leaves, and nothing is outstanding" wait_until -e 400 50 rests
	# shellcheck disable=SC2086
	set_fault $GOOD
done

# Whoever has the epochs can say anything of blocks: END to q, of which q is to make balances, BALANCES to p, of which p
# is to make a window. What releases more than was sent is not believed, and what is said truly afterwards puts the rest
# right.
HOSTILE=$((${SLUICE_FLOOD:-200000} / 10))
LOOKS=$((HOSTILE < 20000 ? 10 : 20))
# What was outstanding at most is counted anew.
anew()
{
	tc_in a qdisc replace dev p root pfifo
	tc_in a qdisc replace dev p root window
	check "they meet" wait_until -e 500 10 meets
}
anew
epochs=$(in_ns b "$hopframe" listen q n=1 | sed -n 's/.* mine=\([0-9a-f]*\) yours=\([0-9a-f]*\).*/\1 \2/p')
read -r of_p of_q <<<"$epochs"
# says BOX DEV CONTENT...: from there, as if the port had said so
says()
{
	local mine=$of_p yours=$of_q

	[ "$1" = a ] || { mine=$of_q yours=$of_p; }
	in_ns "$1" "$hopframe" flood "$2" mine="$mine" yours="$yours" "${@:3}" >/dev/null || die "hopframe"
}
# hostile NAME BOX DEV CONTENT...: while traffic is under way
hostile()
{
	diag "$1"
	sends $FRAMES
	sleep 0.05
	says "$2" "$3" "${@:4}"
	settles "$1"
	check "$1: windows are as before" wait_until -e 400 10 meets
	sends 100
	settles "$1, afterwards"
}
control_spacing=/sys/module/hopctl/parameters/state_spacing_ns
usual=$(<$control_spacing)
echo 0 >$control_spacing	# all of them are looked at
for fault in good longer short count range often; do
	hostile "END, $fault" a p n="$HOSTILE" each=$fault content=8
	# of those no number has bounds
	[ $fault = range ] || hostile "BALANCES, $fault" b q n="$HOSTILE" each=$fault content=9
done
# of_blocks NAME BYTES...: of blocks and keys that there are, while they are: what END asks for just then
of_blocks()
{
	local name=$1 said bytes at heard=0

	diag "$name"
	most=0
	sends $((2 * FRAMES))
	sleep 0.05
	for ((at = 0; at < LOOKS; at++)); do
		said=$(in_ns b "$hopframe" listen q for=20 | grep -o ' end block=.* key=[0-9]*' | tail -n 1)
		[[ $said =~ block=([0-9]+).*key=([0-9]+) ]] || continue
		heard=$((heard + 1))
		for bytes in "${@:2}"; do
			says b q n=20 "balances:block=${BASH_REMATCH[1]},key=${BASH_REMATCH[2]},bytes=$bytes"
			says b q n=20 "balances:block=$((BASH_REMATCH[1] + 1)),key=${BASH_REMATCH[2]},bytes=$bytes"
		done
		says a p n=20 "end:block=$((BASH_REMATCH[1] + 1)),lane=0,lanes=1,key=${BASH_REMATCH[2]}"
		sleep 0.01
		figure b r backlog
		most=$((REPLY > most ? REPLY : most))
	done
	between "$name: there were such blocks" $heard $((LOOKS / 4)) $LOOKS
}
of_blocks "more than was sent" 2147483647 100000000 10000000
between "more than was sent: never more than a window at r" $most 1 $((WINDOW + FRAME))
settles "more than was sent"
# That one believes. The truth makes good for it, and then more is outstanding than a window.
of_blocks "more or less than is true" 0 1000 -1000 -2147483648
check "more or less than is true: all leaves, and nothing is outstanding" wait_until -e 400 50 rests
anew
sends $FRAMES
bounded "after it" 10
settles "after it"
echo "$usual" >$control_spacing

diag "all of one direction is lost, not for so long that tags are not trusted any more"
# silent NAME BOX DEV LEAST MOST: bytes that wait at p when nothing of DEV has come for 0.1 s
silent()
{
	ip_in "$2" link set "$3" type wire loss_control 100%
	sends $FRAMES
	sleep 0.1
	figure a p backlog
	between "$1" "$REPLY" "$4" "$5"
	ip_in "$2" link set "$3" type wire loss_control 0%
	check "$2:$3: all leaves, and nothing is outstanding" wait_until -e 400 50 rests
	check "$2:$3: the windows are as before" wait_until -e 400 10 meets
}
silent "without END what leaves r is released all the same" a p 1 $((FRAMES * FRAME - WINDOW - 50 * FRAME))
silent "without an answer nothing is" b q $((FRAMES * FRAME - WINDOW - 2 * FRAME)) $((FRAMES * FRAME))

diag "the neighbour is gone, and comes back"
sends $FRAMES
sleep 0.05
tc_in b qdisc replace dev q root pfifo
plain() { figure_is a p valid 0; }
check "it says so: nothing is limited" wait_until -e 100 10 plain
leaves() { figure_is a p backlog 0; }
check "all leaves" wait_until -e 100 10 leaves
tc_in b qdisc replace dev q root window
check "they meet again" wait_until -e 500 10 meets
check "what was outstanding is not any more" wait_until -e 400 50 rests
sends $FRAMES
bounded "after it" 10
check "and all leaves" wait_until -e 400 50 rests

diag "the sender is gone, and comes back"
sends $FRAMES
sleep 0.05
tc_in a qdisc replace dev p root pfifo
tc_in a qdisc replace dev p root window
check "they meet again" wait_until -e 500 10 meets
sends $FRAMES
bounded "after it" 10
settles "after it"

diag "the other port is gone, with what waits there"
sends $FRAMES
sleep 0.05
tc_in b qdisc replace dev r root window
check "what was dropped there is not outstanding" wait_until -e 400 50 rests

diag "below a parent"
tc_in a qdisc replace dev p root handle 1: tbf rate 50mbit burst 64k limit $LIMIT
tc_in a qdisc replace dev p parent 1:1 handle 2: window
check "they meet" wait_until -e 500 10 meets
sends $FRAMES
bounded "tbf" 10
settles "tbf"
figure a p ends
between "END frames have left" "$REPLY" 2 100000
is "the parent counts what is there" \
	"$(tc_in a -j -s qdisc show dev p root | jq -r '.[0] | "\(.backlog) \(.qlen)"')" "0 0"

# queues NAME WORDS_OF_P WORDS_OF_Q ROOT [SECONDS]
queues()
{
	local i

	diag "$1"
	link "$2" "$3"
	if [ "$4" = mq ]; then
		tc_in a qdisc replace dev p root handle 1: mq
		for i in 1 2 3 4; do
			tc_in a qdisc replace dev p parent 1:$i window
		done
	elif [ "$4" = tbf ]; then
		tc_in a qdisc replace dev p root handle 1: tbf rate 5mbit burst 2k limit $LIMIT
		tc_in a qdisc replace dev p parent 1:1 window
	else
		tc_in a qdisc replace dev p root window
	fi
	both
	all_meet() { figure_is a p valid "$([ "$1" = mq ] && echo 4 || echo 1)"; }
	check "$1: they meet" wait_until -e 500 10 all_meet "$4"
	set_fault loss_data 5% loss_control 20%
	for i in 1 2 3 4 5 6; do
		sends $((FRAMES / 6)) $i
	done
	check "$1: all leaves, and nothing is outstanding" wait_until -e 400 "${5:-50}" rests
	# shellcheck disable=SC2086
	set_fault $GOOD
}
queues "4 transmit queues, one qdisc" "numtxqueues 4" "" root
queues "4 transmit queues, mq" "numtxqueues 4" "" mq
# By all of these END takes 25 ms, of which data takes 1 s: what is lost is not said again so often, nor from the first queue
# on before it has left by the last, that no data leaves.
queues "256 transmit queues, slowly" "numtxqueues 256" "" tbf 3
tc_in a qdisc change dev p root handle 1: tbf rate 1mbit burst 2k limit $LIMIT
for child in pfifo window; do
	tc_in a qdisc replace dev p parent 1:1 $child
done
check "they meet also where END takes 123 ms by all of them" wait_until -e 500 10 meets
sends 100	# 0.8 s
check "and most of the time is left for data" wait_until -e 20 2 rests
link "numtxqueues 256"
tc_in a qdisc replace dev p root window
both
check "256 transmit queues: they meet" wait_until -e 500 10 meets
figure a p ends
ends=$REPLY began=${EPOCHREALTIME/./}
sends $FRAMES
check "256 transmit queues: all leaves, and nothing is outstanding" wait_until -e 20 5 rests
took=$((${EPOCHREALTIME/./} - began))
figure a p ends
diag "$((REPLY - ends)) ENDs, $took us"
# 84 bytes each at 100 Mb/s: 1.72 ms
between "256 transmit queues: END takes a quarter of the line's time at most" $(((REPLY - ends) * 256 * 84 * 8 / took)) 5 26
queues "4 receive queues" "" "numrxqueues 4" root

# What one of a port's qdiscs has counted goes with it.
diag "one of four qdiscs leaves, at either end, while the others stay"
link "numtxqueues 4" "numtxqueues 4"
for port in a:p b:q; do
	tc_in ${port%:*} qdisc replace dev ${port#*:} root handle 1: mq
	for i in 1 2 3 4; do
		tc_in ${port%:*} qdisc replace dev ${port#*:} parent 1:$i window
	done
done
check "they meet" wait_until -e 500 10 figure_is a p valid 4
for port in b:q a:p; do
	for i in 1 2 3 4; do
		sends $((FRAMES / 4)) $i
	done
	sleep 0.02
	tc_in ${port%:*} qdisc replace dev ${port#*:} parent 1:1 pfifo
	check "$port: all leaves then, and nothing is outstanding" wait_until -e 400 50 rests
	sends 100
	check "$port: also of what comes after it" wait_until -e 400 50 rests
done
figure a p valid
is "three still have windows" "$REPLY" 3

# With one receive queue a device may keep data back, too, which END does not wait for: where it puts packets together. A
# veth polls when it does so. Then a block is complete 2 ms after it has come.
veth()
{
	ip_in a link del p
	ips "$a" "link add p address $(mac 1) type veth peer name q netns $b"
	ips "$b" "link set q master br0 up"
	ip_in a link set p up
	in_ns b ethtool -K q gro "$1" >/dev/null || die "ethtool"
	tc_in a qdisc replace dev p root window
	both
	check "gro $1: they meet" wait_until -e 500 10 meets
	figure a p ends
	before=$REPLY
	sends $FRAMES
	check "gro $1: all leaves, and nothing is outstanding" wait_until -e 400 50 rests
	figure a p ends
	ended=$((REPLY - before))
}
diag "a device that may put packets together"
veth off
most=$ended
veth on
between "gro on: blocks end less often" "$ended" 1 $((most * 3 / 4))

# A block that has come to its end, and is to count 2 ms later, is forgotten with the last member.
diag "the neighbour is gone while a block settles, and comes back"
for ((i = 0; i < 20; i++)); do
	sends 100
	sleep 0.02
	tc_in b qdisc replace dev q root pfifo
	tc_in b qdisc replace dev q root window
	wait_until -e 300 10 meets || break
done
is "4 receive queues: they meet again, each time" $i 20
check "4 receive queues: all leaves then" wait_until -e 400 50 rests
tc_in a qdisc del dev p root
tc_in b qdisc del dev q root
tc_in b qdisc del dev r root
nothing_to_inspect "the kind window has no port's figures: nothing waits and nothing is outstanding, see above"
finish
