#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The smallest kind (selftests/example), which Documentation/new-kind.md explains: its option, what it owes to
# its parents, and that it obeys a bfc that pauses it.
#
# Alone, on a wire on which nothing leaves:
#
#	a:o ---- a:oo
#
# Beside a switch with bfc, whose port r is slow:
#
#	a:p ---- b:q [ bridge ] b:r ---- b:y		p has it below tbf
#	                        b:s ---- b:z

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc bridge
need_program frames tcmsg q_example.so
# set by need_program
: "${frames:?}" "${tcmsg:?}" "${q_example:?}"
load_modules
if [ -n "${SLUICE_MODDIR:-}" ] && module_file sch_example && [ -z "$REPLY" ]; then
	die "there is no sch_example.ko in $SLUICE_MODDIR: make test-modules makes it"
fi
need_module sch_example

FRAME=1000	# bytes, with the Ethernet header
TOLD=10mbit	# of the link on which what waits is told: it is looked at meanwhile, in less than a tenth of 300 frames
[ "${SLUICE_HOME:-}" = uml ] || TOLD=1mbit	# where processes take time
ns a b
a=$NS-a
b=$NS-b
for box in a b; do
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
tcs() { tc -n "$1" -batch - <<<"$2" || die "tc: $2"; }
ips() { ip -n "$1" -batch - <<<"$2" || die "ip: $2"; }

# tc knows no plugin for it, so there is no JSON of it, and options go by themselves.
# option add|change DEV LIMIT
option() { "$tcmsg" -n "$a" send "$1" "$2" TCA_KIND=str:example "TCA_OPTIONS{" "1=u32:$3" "}"; }

# counts TEXT: packets sent, dropped, waiting, and bytes waiting, of all in tc's text
counts()
{
	local word sent=0 drops=0 waits=0 bytes=0
	local line

	while read -r -a line; do
		case ${line[0]-} in
		Sent) sent=$((sent + line[3])) drops=$((drops + ${line[6]%,})) ;;
		backlog)
			word=${line[1]%b}
			[[ $word =~ ^[0-9]+$ ]] || die "no bytes: $word"
			bytes=$((bytes + word)) waits=$((waits + ${line[2]%p})) ;;
		esac
	done <<<"$1"
	REPLY="$sent $drops $waits $bytes"
}
# qdisc_is NAME DEV SENT DROPPED PACKETS BYTES [PARENT]: so has the qdisc there, or the child of PARENT
qdisc_is()
{
	counts "$(tc_in a -s qdisc show dev "$2" ${7:+parent "$7"})"
	is "$1" "$REPLY" "${*:3:4}"
}
# classes_are: so have the classes of an example, all together
classes_are()
{
	counts "$(tc_in a -s class show dev "$2" | grep -A 3 '^class example')"
	is "$1" "$REPLY" "${*:3:4}"
}
classes() { tc_in a class show dev "$1" | grep -c '^class example'; }

# sends DEV N PORT [WORD]...: that many frames of one flow. Nobody waits for them.
sends()
{
	"$frames" -l -w 0 "$a/$1" "$a/lo" >/dev/null \
		<<<"x n=$2 bytes=$FRAME from=10.0.0.1 to=10.0.0.2 sport=$3 dport=9 dst=$(mac 2) ${*:4}" ||
		die "frames"
}

# ---- alone ----

# alone: a new wire, with a frame on it for ever
alone()
{
	ip_in a link del o 2>/dev/null
	ips "$a" "link add o address $(mac 1) type wire rate 1bit ring 0 peer name oo
link set o up
link set oo up"
	sends o 1 1
}
alone
check "no option is needed" tc_in a qdisc add dev o root handle 1: example
is "it is there" "$(tc_in a qdisc show dev o | cut -d' ' -f2,3)" "example 1:"
is "without classes as long as nothing was sent" "$(tc_in a class show dev o)" ""
refused "limit 0" "limit must be 1 byte to 1 GiB" option change o 0
refused "limit beyond" "limit must be 1 byte to 1 GiB" option change o 0x40000001
refused "an attribute that it does not have" "EINVAL" \
	"$tcmsg" -n "$a" send change o TCA_KIND=str:example "TCA_OPTIONS{" 2=u32:1 "}"
refused "lo" "not an Ethernet device" tc_in a qdisc replace dev lo root example
check "limit" option change o 5000
refused "limit 0 again" "limit must be 1 byte to 1 GiB" option change o 0
sends o 10 1
qdisc_is "five frames wait, five find no room" o 0 5 5 5000
classes_are "their sub-queue says so" o 0 5 5 5000
is "which is one" "$(classes o)" 1
check "a higher limit" option change o 7000
sends o 3 1
qdisc_is "two more wait" o 0 6 7 7000
sends o 1 2 ports=30
between "30 flows more have sub-queues of their own, or nearly so" "$(classes o)" 15 31
counts "$(tc_in a -s qdisc show dev o)"
classes_are "which have what the qdisc has" o "$REPLY"
ips "$a" "link set o down
link set o up"
counts "$(tc_in a -s qdisc show dev o)"
is "nothing waits after a reset" "${REPLY#* * }" "0 0"
counts "$(tc_in a -s class show dev o)"
is "nor in a sub-queue" "${REPLY#* * }" "0 0"
alone
was=$(tc_in a qdisc show dev o)
refused "init that fails" "limit must be 1 byte to 1 GiB" option add o 0
is "leaves what was there" "$(tc_in a qdisc show dev o)" "$was"
refused "so does one that joins no port" "not an Ethernet device" tc_in a qdisc add dev lo root example

default=/proc/sys/net/core/default_qdisc
was=$(cat $default)
echo example >$default
alone
echo "$was" >$default
is "as default qdisc" "$(tc_in a qdisc show dev o | cut -d' ' -f2,3)" "example 0:"

# parent KIND WORDS [CLASS]: the example below it
parent()
{
	diag "below $1"
	tc_in a qdisc del dev o root 2>/dev/null
	tcs "$a" "qdisc add dev o root handle 1: $1 $2
${3:+class add dev o parent 1: classid 1:1 $1 $3}"
	"$tcmsg" -n "$a" send graft o TCA_KIND=str:example "TCA_OPTIONS{" 1=u32:5000 "}" || die "no limit"
	sends o 8 1 prio=$((0x10001))
	qdisc_is "$1: five wait, three are dropped" o 0 3 5 5000 1:1
	counts "$(tc_in a -s qdisc show dev o root)"
	is "$1: its parent counts the same" "${REPLY#* * }" "5 5000"
	tcs "$a" "qdisc replace dev o parent 1:1 handle 3: pfifo"
	counts "$(tc_in a -s qdisc show dev o)"
	is "$1: nothing waits when it is gone" "${REPLY#* * }" "0 0"
}
parent prio ""
parent tbf "rate 1gbit burst 64k latency 10s"
parent drr "" "quantum 1514"
parent hfsc "default 1" "ls rate 1gbit"
ip_in a link del o

# ---- paused ----

ips "$a" "link add p address $(mac 1) type wire rate 100mbit delay 10us ring 0 peer name q netns $b"
ips "$b" "link add br0 type bridge mcast_snooping 0
link set br0 up
link set q master br0 up
link add r type wire rate 400kbit ring 0 peer name y
link set r master br0 up
link set y up
link add s type wire rate 100mbit peer name z
link set s master br0 up
link set z up"
ip_in a link set p up
ip_in b link set q mtu 1496	# see below
bridge -n "$b" fdb replace "$(mac 2)" dev r master static
bridge -n "$b" fdb replace "$(mac 3)" dev s master static
for dev in q r s; do
	tc_in b qdisc add dev $dev root bfc th $((3 * FRAME))
done
tc_in a qdisc add dev p root handle 1: tbf rate 1gbit burst 64k latency 10s
check "on a port, below a parent" tc_in a qdisc add dev p parent 1: handle 2: example
is_tagged() { sends p 1 1 "dst=$(mac 3)"; port_figs bfc "$b" q tag_stripped; [ "$REPLY" -gt 0 ]; }
check "its packets are tagged" wait_until -e 200 10 is_tagged
port_figs bfc "$b" q handles peer_queues
is "with 64 sub-queues" "$REPLY" "64 64"

N=100
counts "$(tc_in a -s qdisc show dev p parent 1:)"
sent=${REPLY%% *}
have_passed() { port_figs bfc "$b" s packets; [ "$REPLY" = "$sent" ]; }
check "they pass" wait_until -e 200 10 have_passed
sends p $N 1 # to r, where a frame takes 20 ms
sends p 1 100 "dst=$(mac 3) ports=32" # to s
sleep 0.5
counts "$(tc_in a -s qdisc show dev p parent 1:)"
read -r _ drops waits _ <<<"$REPLY"
between "what goes to the slow port waits here" "$waits" $((N / 2)) $((N - 20))
is "and is not lost" "$drops" 0
classes_are "in one sub-queue" p "$REPLY"
port_figs bfc "$b" q pauses_tx
between "which is paused" "$REPLY" 1 $N
port_figs bfc "$b" r qlen backlog_max
read -r waits most <<<"$REPLY"
between "few wait at r" "$waits" 1 20
between "and never many did" "$most" $FRAME $((20 * FRAME))
# Flows that share the sub-queue wait, too: each with a chance of one in 64, eight of them once in 10^7 times
port_figs bfc "$b" s packets
between "flows to the other port have passed" $((REPLY - sent)) 25 32

arrived() { port_figs bfc "$b" r packets; [ "$REPLY" = $N ]; }
check "all arrives in the end" wait_until -e 200 10 arrived
qdisc_is "as many as were sent have left" p $((sent + N + 32)) 0 0 0 1:
classes_are "and of all sub-queues together" p $((sent + N + 32)) 0 0 0
is_over() { port_figs bfc "$b" q pausing_queues pause_counters; [ "$REPLY" = "0 0" ]; }
check "nothing is paused any more" wait_until -e 100 5 is_over
port_figs bfc "$b" q pauses_tx resumes_tx
is "each pause has ended" "${REPLY% *}" "${REPLY#* }"

diag "a frame that cannot be tagged"
# The link takes no second tag, and the neighbour would take the user's for the fabric's.
ips "$a" "link add v link p type vlan protocol 802.1ad id 33
link set v up"
"$frames" -l -w 0 "$a/v" "$a/lo" >/dev/null <<<"x n=3 bytes=1514 dst=$(mac 3)"
qdisc_is "is dropped" p $((sent + N + 32)) 3 0 0 1:
counts "$(tc_in a -s qdisc show dev p root)"
is "and its parent knows" "${REPLY#* * }" "0 0"

check "it leaves its port" tc_in a qdisc del dev p root
has_left() { port_figs bfc "$b" q neighbour_lost; [ "$REPLY" = 1 ]; }
check "and says so" wait_until -e 100 5 has_left

# ---- a told state ----

ips "$a" "link add e1 address $(mac 4) type wire rate $TOLD delay 10us ring 0 peer name e2 netns $b"
ip_in a link set e1 up
ip_in b link set e2 up
check "at both ends of a link" tc_in a qdisc add dev e1 root example
check "at both ends of a link" tc_in b qdisc add dev e2 root example

figure() { REPLY=$(TC_LIB_DIR=${q_example%/*} tc_in "$1" -j -s qdisc show dev "$2" root | jq ".[0].$3"); }
waits() { figure a e1 backlog; }
heard() { figure b e2 neighbour_backlog; } # bytes that wait at e1, as e2 has been told
hears() { heard; [ "$REPLY" = "$1" ]; }
nothing_waits() { waits; [ "$REPLY" = 0 ]; }
hears_any() { heard; [ "$REPLY" -gt 0 ]; }
have_met() { sends e1 20 1 "dst=$(mac 9)"; sleep 0.005; hears_any; }
check "they meet" wait_until -e 100 50 have_met
check "what has waited has left" wait_until -e 100 50 hears 0

# fill: 300 frames; a state takes as long as half a frame, of 1 % of the time
fill()
{
	local port

	for port in 1 2 3 4 5 6; do
		sends e1 50 $port "dst=$(mac 9)"
	done
}

# told NAME: that something waits is told, and then that nothing does
told()
{
	local most=0 fills

	# 1 % of the time lets a state pass each 130 frames, and some are lost: until one has come
	for ((fills = 0; fills < 10 && most < 20 * FRAME; fills++)); do
		fill
		while waits; [ "$REPLY" -gt $((150 * FRAME)) ]; do
			sleep 0.02
			heard
			most=$((REPLY > most ? REPLY : most))
		done
	done
	between "$1: what waits is told" "$most" $((20 * FRAME)) $((450 * FRAME))
	waits
	between "$1: some still waits" "$REPLY" $((20 * FRAME)) $((150 * FRAME))
	heals "$1"
}

heals()
{
	check "$1: and when nothing waits any more" wait_until -e 100 30 hears 0
	waits
	is "$1: which is true" "$REPLY" 0
}

told "a good line"
for fault in "loss_control 50%" "duplicate 50%" "reorder 50% reorder_delay 1ms"; do
	# shellcheck disable=SC2086
	ip_in a link set e1 type wire $fault || die "no $fault"
	told "$fault"
	ip_in a link set e1 type wire loss_control 0% duplicate 0% reorder 0%
done
# no FCS tells that bytes are wrong: the next state puts them right
for fault in "corrupt 20%" "loss_control 30% corrupt 10% duplicate 30% reorder 30%"; do
	# shellcheck disable=SC2086
	ip_in a link set e1 type wire $fault || die "no $fault"
	fill
	check "$fault: all leaves" wait_until -e 100 30 nothing_waits
	heals "$fault"
	ip_in a link set e1 type wire loss_control 0% corrupt 0% duplicate 0% reorder 0%
done

diag "who does not speak"
for _ in 1 2 3 4 5 6; do
	fill
done
check "something waits" wait_until -e 100 5 hears_any
ip_in a link set e1 type wire loss_control 100%
check "is forgotten with the lease" wait_until -e 10 20 hears 0
waits
between "though it waits" "$REPLY" $((20 * FRAME)) $((1800 * FRAME))
sleep 0.1
hears_any && check "and not heard" false || check "and not heard" true
ip_in a link set e1 type wire loss_control 0%
speaks() { sends e1 20 1 "dst=$(mac 9)"; sleep 0.005; hears_any; }
check "until it speaks again" wait_until -e 100 100 speaks
check "its qdisc goes" tc_in a qdisc replace dev e1 root pfifo
check "and nothing is told any more" wait_until -e 100 20 hears 0
check "it comes back" tc_in a qdisc replace dev e1 root example
check "and they meet again" wait_until -e 500 40 hears 0
tc_in a qdisc del dev e1 root
tc_in b qdisc del dev e2 root
finish
