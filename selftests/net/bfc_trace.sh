#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What bfc's trace events say, beside what its counters and classes say.
#
#	a:p ---- b:q		wire, 10 Mb/s
#
# Each packet that is queued leaves or is dropped, of the same sub-queue, at the same address; each drop has the
# reason whose counter moved.

. "$(dirname "$0")/lib.sh"
need_tool ip tc awk
need_virtual_time
load_modules hopctl sch_bfc wire

need_program frames udpflow
tracing=/sys/kernel/debug/tracing
[ -d $tracing/events/bfc ] || mount -t debugfs none /sys/kernel/debug || die "no tracing"
[ -d $tracing/events/bfc/bfc_drop ] || die "no tracepoint bfc_drop"

two_boxes rate 10mbit delay 1us ring 1600

# begin OPTIONS [tbf]: a new qdisc, and nothing traced yet. The card takes control packets ahead of its ring:
# they wait below a shaper only.
begin()
{
	local parent=root

	if [ "${2:-}" = tbf ]; then
		tc_in a qdisc replace dev p root handle 9: tbf rate 8mbit burst 20k limit 10m || die "no tbf"
		parent="parent 9:"
	fi
	# shellcheck disable=SC2086
	tc_in a qdisc replace dev p $parent handle 1: bfc $1 || die "no bfc $1"
	: >$tracing/trace
	echo 1 >$tracing/events/bfc/enable
}

# send LINE...: and what is queued has left
send() { printf '%s\n' "$@" | "$frames" -l -w "${ms:-500}" "$NS-a/p" "$NS-b/q" >/dev/null || die "frames"; }

# said EVENT: its lines, from the device on
said() { sed -nE "s/^.* bfc_$1: p (.*)$/\1/p" $tracing/trace; }

# value KEY: of each line
value() { grep -oE "(^| )$1=[^ ]+" | sed 's/.*=//'; }

end()
{
	echo 0 >$tracing/events/bfc/enable
	leave_ports
	tc_in a qdisc del dev p root
}

# dropped: reason, sub-queue and how often
dropped() { said drop | awk '{ n[$2 " " $1]++ } END { for (i in n) print i, n[i] }' | sort | xargs; }

FLOW="from=10.0.0.1 to=10.0.0.2"

begin "role host queues 8 flows 400"
send "a ports=3 n=4 bytes=300 $FLOW"
is "each packet comes and goes" "$(said enqueue | wc -l) $(said dequeue | wc -l) $(said drop | wc -l)" "12 12 0"
is "by the sub-queue that it came to" "$(said enqueue | awk '{ print $NF, $1 }' | sort)" \
	"$(said dequeue | awk '{ print $NF, $1 }' | sort)"
is "those that tc shows" "$(said enqueue | value queue | sort -nu | awk '{ printf "1:%x\n", 4096 + $1 }' | xargs)" \
	"$(tc_in a -s class show dev p | awk '/ parent / { class = $3 } / Sent / && class { print class; class = 0 }' | xargs)"
is "with their bytes, which add up in each" "$(said enqueue | value len | sort -u) $(said enqueue | value backlog | sort -n | xargs)" \
	"300 300 300 300 300 600 600 600 900 900 900 1200 1200"
is "and empty it" "$(said dequeue | value backlog | sort -n | head -n 3 | xargs)" "0 0 0"
is "nobody is marked on a link that nobody paused by" "$(said enqueue | grep -c unmarked)" 12
end

begin "role host queues 1 limit 5000"
send "a n=20 bytes=1000 $FLOW"
is "over the limit: of the one sub-queue" "$(dropped)" "limit queue=0 $(qdisc_stat a p drop_limit bfc)"
end

begin "role host queues 8" tbf
ms=2000 send "a n=1300 prio=7 bytes=100 $FLOW"
is "the control class is full" "$(dropped)" "control queue=65535 $(qdisc_stat a p drop_control bfc)"
# the burst is of 200 of them
between "after 1024 and what has left" "$(qdisc_stat a p drop_control bfc)" 1 76
is "it has a number of its own" "$(said enqueue | value queue | sort -u) $(said dequeue | value queue | sort -u)" "65535 65535"
end

begin "role host queues 8"
tc_in a filter add dev p parent 1: protocol ip matchall action drop || die "no filter"
send "a n=5 $FLOW"
is "a filter's verdict: before there is a sub-queue" "$(dropped)" "filter queue=65534 5"
tc_in a filter del dev p parent 1:
end

begin "role host queues 8 pool 3000 pool-alpha 100%"
send "a n=5 bytes=1000 $FLOW"
is "the pool: before there is one" "$(dropped)" "pool queue=65534 $(qdisc_stat a p drop_pool bfc)"
end

begin "role host queues 1" tbf
ms=1 send "a n=100 bytes=1000 $FLOW" "b n=3 prio=7 bytes=100 $FLOW"
sent=$(said dequeue | wc -l)
tc_in a qdisc del dev p root
is "deleted with packets: all that had not left" "$(dropped)" "reset queue=0 $((103 - sent))"
echo 0 >$tracing/events/bfc/enable

# A line that takes one tag and not two drops a user's frame of 802.1ad.
tc_in b qdisc add dev q root bfc role switch
ip_in b link set q mtu 1496
ip_in a link add v link p type vlan protocol 802.1ad id 33
ip_in a link set v up
begin "role host queues 8"
check "the port tags" wait_until 8 tags a p
sleep 1
: >$tracing/trace
in_ns a "$udpflow" rawsend --dev v --mac "$(mac 2)" --packets 5 --length 1514 >/dev/null
ms=200 send "a n=1 $FLOW"
is "no room for a tag: of its sub-queue, on its way out" "$(dropped) $(qdisc_stat a p drop_tag bfc)" "tag queue=$(
	said enqueue | grep -E "len=15.. " | value queue | sort -u) 5 5"
end
finish
