#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The yardstick: who goes next, exactly.
#
#	a: e0 ==== wire ==== e0 :b	100 ms for a frame of 1000 bytes while something is shown
#
# A first frame is on the line, all others wait behind it and leave in the order that the qdisc
# chooses, in which b gets them.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool ip tc jq awk
sized=$(cd "$(dirname "$0")" && pwd)/sized
[ -x "$sized" ] || skip_all "sized is not built"
udpflow=$(dirname "$sized")/udpflow tcmsg=$(dirname "$sized")/tcmsg
[ -x "$udpflow" ] && [ -x "$tcmsg" ] || skip_all "udpflow or tcmsg is not built"
load_modules sch_ideal wire

SLOW=80kbit
MTU=1500
HEAD=42		# of a frame, before the payload

ns a b
for name in a b; do
	in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
ip_in a link add e0 address "$(mac 1)" type wire rate $SLOW ring 0 \
	peer name e0 address "$(mac 2)" netns "$NS-b"
ip_in b link set e0 up
ip_in b addr add 10.0.0.2/24 dev e0
neigh b e0 10.0.0.1 "$(mac 1)"	# else b asks, as nobody is there for some packets, and a's answer is a packet more
up()
{
	ip_in a link set e0 up
	ip_in a addr replace 10.0.0.1/24 dev e0
	neigh a e0 10.0.0.2 "$(mac 2)"
}
up
space=$NS-a
work=$(mktemp -d)
trap 'rm -rf "$work"; _at_exit' EXIT

sends() { in_ns a "$sized" send 10.0.0.2 "$@" || die "sized send $*"; }

# figs KEY...: figures of the qdisc, of one moment
figs()
{
	local json key said=

	json=$(tc -n "$space" -j -s qdisc show dev e0)
	for key; do
		[[ $json =~ \"$key\":([0-9]+) ]] || die "there is no $key"
		said+=" ${BASH_REMATCH[1]}"
	done
	echo "${said# }"
}

sink_is_ready() { [ -n "$(in_ns b cat /proc/net/raw | sed 1d)" ]; }

# order OPTIONS N WORD...: a new qdisc; these words are sent in one go behind a first frame, and leave at RATE. The
# N frames behind that are in $work/got, FLOW BYTES each, in order of arrival.
RATE=$SLOW
order()
{
	local options=$1 wanted=$2

	shift 2
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev e0 root handle 1: ideal $options || die "no ideal $options"
	in_ns b "$sized" sink $((wanted + 1)) 20000 >"$work/all" &
	wait_until 5 sink_is_ready || die "no sink"
	sends 999:958:0 "$@"
	ip_in a link set e0 type wire rate $RATE
	wait $! || diag "the sink waits in vain"
	sed 1d "$work/all" >"$work/got"
	leave_ports
	tc_in a qdisc del dev e0 root
	ip_in a link set e0 type wire rate $SLOW
}

flows() { awk '{ printf "%s%s", (NR > 1 ? " " : ""), $1 }' "$work/got"; }

diag "options"
tc_in a qdisc add dev e0 root handle 1: ideal
is "fq without a limit is the default" "$(tc_in a -j qdisc show dev e0 | jq -c '.[0].options')" \
	'{"order":"fq","limit":0,"control_dscp":0,"version":1}'
is "as text" "$(tc_in a qdisc show dev e0 | sed 's/.*refcnt [0-9]* //')" "order fq limit none control-dscp none version 1 "
check "a limit" tc_in a qdisc change dev e0 root ideal limit 12m
is "is shown" "$(tc_in a qdisc show dev e0 | sed 's/.*refcnt [0-9]* //')" "order fq limit 12Mb control-dscp none version 1 "
check "none again" tc_in a qdisc change dev e0 root ideal limit none
check "a DSCP" tc_in a qdisc change dev e0 root ideal control-dscp 46
is "is shown" "$(tc_in a -j qdisc show dev e0 | jq -c '.[0].options')" \
	'{"order":"fq","limit":0,"control_dscp":46,"version":1}'
# what tc does not let through: TCA_IDEAL_CONTROL_DSCP is 5
for value in u8:64 u8:255; do
	refused "no DSCP of $value" "control-dscp must be none or 1 to 63 [5]" \
		"$tcmsg" -n "$space" send change e0 TCA_KIND=str:ideal "TCA_OPTIONS{" 5=$value "}"
done
is "all stays" "$(tc_in a qdisc show dev e0 | sed 's/.*refcnt [0-9]* //')" "order fq limit none control-dscp 46 version 1 "
check "none again" tc_in a qdisc change dev e0 root ideal control-dscp none
refused "no other order later" "at creation only" tc_in a qdisc change dev e0 root ideal order srf
refused "no order of that name" 'takes one of fq, srf, not "lifo"' tc_in a qdisc replace dev e0 root ideal order lifo
refused "no limit of that size" 'takes a size' tc_in a qdisc replace dev e0 root ideal limit 5g
refused "no option of that name" 'there are: order limit control-dscp' tc_in a qdisc replace dev e0 root ideal pause
refused "no DSCP that large" 'takes a number from 1 to 63 or "none", not "64"' \
	tc_in a qdisc replace dev e0 root ideal control-dscp 64
refused "nothing follows" 'nothing follows' tc_in a qdisc replace dev e0 root ideal limit
tc_in a qdisc del dev e0 root

diag "order fq"
full=$((MTU - 28))
order "" 12 "6*1001:$full:1" "4*1002:$full:1" "2*1003:$full:1"
is "frames of one length take turns" "$(flows)" \
	"1001 1002 1003 1001 1002 1003 1001 1002 1001 1002 1001 1001"
# Quantum 1514, frames of 800 bytes: two in a turn, and 86 or 772 bytes less to begin the next
# with. The same number of bytes within two quanta, at each moment while all have some.
RATE=8mbit order "" 270 "90*1001:$((800 - HEAD)):1" "120*1002:$((300 - HEAD)):1" "60*1003:$full:1"
read -r spread least < <(awk -v head=$HEAD '
	{ sent[$1] += $2 + head; left[$1]-- }
	BEGIN { left[1001] = 90; left[1002] = 120; left[1003] = 60 }
	!over { max = min = sent[1001] + 0
		for (f in left) { if (sent[f] > max) max = sent[f]; if (sent[f] + 0 < min) min = sent[f] + 0 }
		if (max - min > spread) spread = max - min
		for (f in left) if (!left[f]) { over = 1; least = min } }
	END { print spread, least }' "$work/got")
between "frames of all lengths have equal shares, within two quanta" "$spread" 1 $((2 * (MTU + 14)))
between "for as long as all had some" "$least" 30000 36000

diag "order srf"
order "order srf" 7 1001:500:9000 1002:500:700 1003:500:8000 1004:500:- 1005:500:4294967295 \
	1006:500:1 1001:500:8500
is "who has least left goes first, who does not say it last" "$(flows)" \
	"1006 1002 1003 1001 1001 1005 1004"
order "order srf" 9 "3*1001:900:3000" "3*1002:900:2000" "3*1003:900:2500"
is "one after the other, once it has begun" "$(flows)" "1002 1002 1002 1003 1003 1003 1001 1001 1001"
order "order srf" 6 "2*1001:900:-" "2*1002:900:-" "2*1003:900:-"
is "those that do not say it take turns" "$(flows)" "1001 1002 1003 1001 1002 1003"
order "order srf" 5 1001:500:100 1001:500:90000 1002:500:50000 1003:500:60000 1001:500:40
is "nobody overtakes his own: the packet at the head counts" "$(flows)" "1001 1002 1003 1001 1001"

diag "control-dscp"
words=("3*1001:$full:1" "1002:$full:1:46" "2*1003:$full:1" "1001:$full:1:46" "1004:$full:1:45")
order "" 8 "${words[@]}"
is "none is the default: all take turns" "$(flows)" "1001 1002 1003 1004 1001 1003 1001 1001"
order "control-dscp 46" 8 "${words[@]}"
is "order fq: packets with it go first, as they came, and others in turn" "$(flows)" \
	"1002 1001 1001 1003 1004 1001 1003 1001"
order "control-dscp 46 order srf" 6 1001:500:1 1002:500:9000:46 1003:500:-:46 1004:500:700:40 1003:500:30 1002:500:2
is "order srf: so they do, however much they have left" "$(flows)" "1002 1003 1001 1002 1003 1004"
for options in "order fq" "order srf"; do
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev e0 root handle 1: ideal $options limit 5000 control-dscp 46
	sends 999:958:0 1001:958:1 "2*1002:958:-:46" 1001:958:1 1003:958:1:46 1001:958:1:46
	is "$options: they count to the backlog and against the limit, and are no flows" \
		"$(figs flows qlen backlog control unsized drop_limit drops)" "1 5 5000 3 0 1 1"
	tc_in a qdisc change dev e0 root ideal control-dscp 7
	sends 1004:58:1:46
	is "$options: another DSCP, and a limit that holds" "$(figs flows qlen backlog control drop_limit)" "1 5 5000 3 2"
	check "$options: all leave" wait_for 2 "0 0 0" figs flows qlen backlog
	sleep 0.2	# the last one has passed the line
	sends 999:958:0 1004:58:1:46 1004:58:1:7
	is "$options: and then it is the new one" "$(figs flows qlen control)" "1 2 4"
	sleep 0.3
	tc_in a qdisc del dev e0 root
done

diag "figures"
tc_in a qdisc replace dev e0 root handle 1: ideal order srf
read -r before start < <(figs flows_time time)
sends 999:958:0 1001:958:1 1002:958:2 1003:958:- 1003:958:-
is "three flows, four packets" "$(figs flows qlen backlog unsized)" "3 4 4000 2"
sleep 0.6
read -r after end flows most high < <(figs flows_time time flows flows_max backlog_max)
is "at most three, and none is left" "$flows $most $high" "0 3 4000"
# The line is free each 100 ms: 3, 2, 1 and 1 flows wait meanwhile.
if [ "${SLUICE_HOME:-}" = uml ]; then
	between "700 ms of flows, in all" $((after - before)) 699000000 700000000
else
	skip "700 ms of flows, in all" "needs virtual time"
fi
between "of more time than that" $((end - start)) 500000000 $((1 << 40))
tc_in a qdisc change dev e0 root ideal limit 2500
sends 999:958:0 1001:958:1 1001:958:2 1002:958:3 1003:158:4
is "over the limit the one that comes is dropped" "$(figs qlen backlog drop_limit drops)" "3 2200 1 1"
tc_in a qdisc change dev e0 root ideal limit 1
is "a lower one drops nothing" "$(figs qlen drop_limit)" "3 1"
tc_in a qdisc del dev e0 root

diag "many flows"
FLOWS=5000
sleep 0.5
tc_in a qdisc add dev e0 root handle 1: ideal
in_ns b "$sized" sink $((2 * FLOWS + 1)) 20000 >"$work/all" &
wait_until 5 sink_is_ready || die "no sink"
ip_in a link set e0 type wire rate 8kbit	# a first frame is on it for as long as the others take to come
sends 999:1400:0
in_ns a "$sized" many 10.0.0.2 $FLOWS 2
between "each has a queue" "$(figs flows)" $((FLOWS - 5)) $FLOWS
ip_in a link set e0 type wire rate 8mbit
wait
is "all arrived" "$(wc -l <"$work/all")" $((2 * FLOWS + 1))
# Two small frames go in one turn: so they are neighbours, unless another flow is in between.
between "and each has it alone" "$(sed 1d "$work/all" | uniq -c | awk '$1 == 2' | wc -l)" \
	$((FLOWS - 5)) $FLOWS
is "and nothing is left" "$(figs flows qlen backlog drops)" "0 0 0 0"
tc_in a qdisc del dev e0 root
ip_in a link set e0 type wire rate $SLOW

diag "IPv6"
in_ns a sh -c "echo 0 >/proc/sys/net/ipv6/conf/e0/disable_ipv6"
ip_in a addr add fd00::1/64 dev e0 nodad
neigh a e0 fd00::2 "$(mac 2)"
neigh a e0 fd00::3 "$(mac 2)"
sleep 2
tc_in a qdisc add dev e0 root handle 1: ideal
sends 999:958:0
sends6() { in_ns a "$udpflow" send -d "$1" -l 500 --sport=1001 --sndbuf=16m -n 2 >/dev/null; }
sends6 fd00::2
is "a flow" "$(figs flows qlen)" "1 2"
sends6 fd00::3
is "one to another address, between the same ports, has its own queue" "$(figs flows qlen)" "2 4"
sends6 fd00::2
is "and its next packets go there" "$(figs flows qlen)" "2 6"
tc_in a qdisc del dev e0 root
in_ns a sh -c "echo 1 >/proc/sys/net/ipv6/conf/e0/disable_ipv6"

diag "it goes while packets wait"
for options in "order fq" "order srf" "order fq control-dscp 46" "order srf control-dscp 46"; do
	# shellcheck disable=SC2086
	tc_in a qdisc add dev e0 root handle 1: ideal $options
	in_ns a "$sized" many 10.0.0.2 200 2
	sends "3*1001:500:1:46"
	between "$options: packets wait" "$(figs flows)" 190 201
	ip_in a link set e0 down
	is "$options: link down" "$(figs flows qlen backlog)" "0 0 0"
	up
	sends 1001:500:1 1001:500:1:46
	sleep 0.2
	is "$options: link up: what comes now leaves, and nothing else" "$(figs flows qlen backlog)" "0 0 0"
	in_ns a "$sized" many 10.0.0.2 200 2
	sends "3*1001:500:1:46"
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev e0 root handle 2: ideal $options
	is "$options: replaced" "$(figs flows qlen backlog)" "0 0 0"
	in_ns a "$sized" many 10.0.0.2 200 2
	sends "3*1001:500:1:46"
	check "$options: deleted" tc_in a qdisc del dev e0 root
done
tc_in a qdisc add dev e0 root handle 1: tbf rate 80kbit burst 2k limit 10m
tc_in a qdisc add dev e0 parent 1: handle 2: ideal order srf control-dscp 46
in_ns a "$sized" many 10.0.0.2 200 2
sends "3*1001:500:1:46"
is "below tbf: as many packets" "$(tc_in a -j -s qdisc show dev e0 | jq -r '[.[] | .qlen] | .[0] == .[1]')" true
check "and deleted with it" tc_in a qdisc del dev e0 root
tc_in a qdisc add dev e0 root handle 1: ideal
in_ns a "$sized" many 10.0.0.2 300 1
check "the device goes" ip_in a link del e0
finish
