#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowsail's strict-priority classes (FlowSail, section IV-D): who goes first, by the order in which frames come; filters; and that
# each class has isolation of its own.
#
#	a:p ---- b:q		wire of 100 Mb/s, one frame at a time on the card
#
# All frames are given to a's flowsail at one moment, while one that came before, the plug, is on the line.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc awk
need_virtual_time
load_modules
need_module sch_flowsail
need_program frames hopframe
: "${frames:?}" "${hopframe:?}"	# set by need_program
tmp=$(mktemp -d) || die "no temporary directory"
trap 'rm -rf "$tmp"; _at_exit' EXIT

FRAME=1000
MAP="priomap 0 1 2 3 3 3 3 3 3 3 3 3 3 3 3 3"
A="from=10.0.0.1 to=10.0.0.2 dport=9"

two_boxes rate 100mbit delay 1us ring 0

# sends_list [-f]: what the list on stdin says; $tmp/came has what came
sends_list() { "$frames" -l -w 500 "$NS-a/p" "$NS-b/q" >"$tmp/came" || die "frames"; }
# sent OPTIONS: the same, by a new qdisc
sent()
{
	# shellcheck disable=SC2086
	sail a p $1
	sends_list
	leave_ports
	tc_in a qdisc del dev p root
}
# went: packets of each class, as tc says: "1:1 20 1:2 23 "
went() { tc_in a -s class show dev p | awk '/class flowsail 1:[12] / { c = $3 } / Sent / && c != "" { printf "%s %s ", c, $4; c = "" }'; }
# waits: likewise, what waits in each: "1:1 3000b 3p 1:2 0b 0p "
waits() { tc_in a -s class show dev p | awk '/class flowsail 1:[12] / { c = $3 } / backlog / && c != "" { printf "%s %s %s ", c, $2, $3; c = "" }'; }
# Who came one after the other, and how many of them: "a:1 b:4"
runs()
{
	awk '$1 != last { if (n) printf "%s:%d ", last, n; last = $1; n = 0 }
	     { n++ } END { printf "%s:%d\n", last, n }' "$tmp/came"
}

for role in switch host; do
	diag "strict priority, as a $role"
	sent "$role host classes 4 queues 8 $MAP" <<-END
		plug prio=3 bytes=1000 $A sport=1
		fourth prio=3 bytes=1000 n=20 $A sport=2 ports=3
		third prio=2 bytes=1500 n=50
		second prio=1 bytes=60 type=88b6 n=50
		first prio=0 bytes=1500 n=50
		control prio=7 bytes=1500 n=5
	END
	is "each class waits until those above it have nothing left" "$(runs | sed 's/ fourth:.*/ fourth/')" \
		"plug:1 control:5 first:50 second:50 third:50 fourth"
	sent "$role host classes 2 queues 4 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" <<-END
		plug prio=1 bytes=1000 $A sport=1
		below prio=1 bytes=1000 n=40 $A sport=2
		above prio=0 bytes=1000 n=40 $A sport=2
		above wait=2000000 prio=0 bytes=1000 n=40 $A sport=2
	END
	is "what has the same headers in two classes is two flows" "$(runs)" "plug:1 above:80 below:40"
done

# The two slots are of flows of the class below first, and then one of them is of one above.
diag "a slot that goes to another class"
sail a p host host classes 2 queues 2 slots 2 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
sends_list <<-END
	old prio=1 bytes=1000 ports=2 $A sport=1
	plug wait=5000000 prio=1 bytes=1000 $A sport=2
	above prio=0 bytes=1000 n=20 $A sport=3
	below prio=1 bytes=1000 n=20 $A sport=2
END
is "takes its own sub-queue along" "$(runs)" "old:2 plug:1 above:20 below:20"
is "and what has gone by it stays with its class" "$(went)" "1:1 20 1:2 23 "
leave_ports
tc_in a qdisc del dev p root
sent "host host classes 2 queues 2 slots 2 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" <<-END
	old prio=0 bytes=1000 ports=2 $A sport=1
	plug wait=5000000 prio=0 bytes=1000 $A sport=2
	below prio=1 bytes=1000 n=20 $A sport=3
	above prio=0 bytes=1000 n=20 $A sport=2
END
is "also down" "$(runs)" "old:2 plug:1 above:20 below:20"

diag "flows without a slot"
sent "switch host classes 2 queues 4 slots 1 priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" <<-END
	plug prio=1 bytes=1000 $A sport=1
	below prio=1 bytes=1000 n=10 $A sport=2 ports=4
	above prio=0 bytes=1000 n=10 $A sport=6 ports=4
END
is "go with their class" "$(runs)" "plug:1 above:40 below:40"

# With a share of next to nothing, and one frame's worth at once
diag "control packets beyond their share"
sent "switch host classes 2 queues 4 control-dscp 46 control-share 0.01% priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1" <<-END
	plug prio=1 bytes=1000 $A sport=1
	below prio=1 bytes=1000 n=20 $A sport=2
	spills prio=1 bytes=1400 n=200 $A sport=3 tos=184
	above prio=0 bytes=1000 n=20 $A sport=4
END
is "go with the data of their priority" "$(awk '$1 == "below" { below = 1 } $1 == "spills" && below { n++ } END { print (n >= 100) }' "$tmp/came")" 1

diag "filters"
sail a p switch host classes 2 queues 4
tc_in a filter add dev p parent 1: protocol ip flower dst_ip 10.0.0.3 classid 1:1 || die "no filter"
tc_in a filter add dev p parent 1: protocol ip flower dst_ip 10.0.0.4 action drop || die "no filter"
sends_list <<-END
	plug bytes=1000 $A sport=1 prio=1
	below bytes=1000 n=20 $A sport=2 prio=1
	above bytes=1000 n=20 from=10.0.0.1 to=10.0.0.3 sport=3 prio=1
	none bytes=1000 n=20 from=10.0.0.1 to=10.0.0.4 sport=4 prio=1
END
is "choose the class" "$(runs)" "plug:1 above:20 below:20"
shows "or drop, which is counted" a p drop_filter 20
is "classes say what went by them" "$(went)" "1:1 20 1:2 21 "
is "and each sub-queue whose it is" "$(tc_in a class show dev p | awk '/1:1[0-9a-f][0-9a-f][0-9a-f] / { print $5 }' | sort -u | xargs)" "1:1 1:2"
leave_ports
tc_in a qdisc del dev p root

# Slots are given in the order of flows. Both are held and have packets in isolation; the one of the class below stays held.
diag "isolation of each class"
sail a p switch switch classes 2 queues 2 slots 2 nowatch priomap 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
in_ns b "$hopframe" peer q for=4000 role=switch queues=8 at=500 state:seq=1,lease=2000000000,words=3 \
	at=1500 state:seq=2,lease=2000000000,words=1 at=2500 state:seq=3,lease=2000000000,words=0 >/dev/null &
check "tags" wait_until -e 10 1 tags a p
sends_list <<-END
	first prio=1 bytes=$FRAME $A sport=1
	second prio=0 bytes=$FRAME $A sport=2
END
check "both are held" wait_until -e 10 1 figs_are a p paused 2
printf '%s\n' "below prio=1 bytes=$FRAME n=5 $A sport=1" "above prio=0 bytes=$FRAME n=3 $A sport=2" |
	"$frames" -l -w 0 "$NS-a/p" "$NS-a/lo" >/dev/null || die "frames"
shows "and wait in isolation" a p isolated backlog "2 $((8 * FRAME))"
is "classes say what waits in them" "$(waits)" "1:1 $((3 * FRAME))b 3p 1:2 $((5 * FRAME))b 5p "
check "the one above leaves when it is let go" wait_until -e 10 2 figs_are a p paused backlog "1 $((5 * FRAME))"
check "and then the other" wait_until -e 10 2 figs_are a p paused backlog "0 0"
wait
finish
