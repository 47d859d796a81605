#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a forged CNP costs: no look-up of a TCP socket while there is anything else against it. Look-ups
# are counted by a probe, so this is for a kernel that has them (selftests/vm/check).
#
#	h1 ---.
#	       s --- r
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_root
need_tool jq awk bridge
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
[ -w /sys/kernel/tracing/kprobe_events ] || skip_all "the kernel has no kprobe events"
load_modules sch_rocc wire

N=1000
LOOKUP=__inet_lookup_established
tracing=/sys/kernel/tracing
lookups() { awk '$1 == "sluice_lookup" { print $2 }' $tracing/kprobe_profile; }

# costs NAME CAUSE LOW HIGH OPTION...: N CNPs of a TCP flow are refused for that, with so many look-ups
costs()
{
	local before refused found

	before=$(lookups) refused=$(qdisc_stat h1 e0 "$2" rocc)
	in_ns h2 "$cnpsend" "tcp,10.0.0.1,5001,10.0.0.200,7000" "${@:5}" n=$N >/dev/null
	refused_all() { [ $(($(qdisc_stat h1 e0 "$2" rocc) - refused)) = $N ]; }
	check "$1: all are refused" wait_until 10 refused_all "" "$2"
	found=$(($(lookups) - before))
	between "$1: look-ups of sockets" $found "$3" "$4"
}

star bridge 2 1gbit 1us
neigh h2 e0 10.0.0.1 "$(mac 1)"
neigh r e0 10.0.0.1 "$(mac 1)"
tc_in h1 qdisc add dev e0 root handle 1: rocc role host radius 1 from 192.0.0.8
echo "p:sluice_lookup $LOOKUP" >$tracing/kprobe_events || die "no probe"
echo 1 >$tracing/events/kprobes/sluice_lookup/enable

costs "a flow that is not there" bad_flow 0 0
costs "from far away" bad_ttl 0 0 ttl=200
costs "from somebody else" bad_source 0 0 from=10.9.9.9

# that the probe counts
before=$(lookups)
in_ns r timeout 30 "$udpflow" tcpsink -p 7100 --expect 1 >/dev/null &
sink=$!
listens() { in_ns r grep -qi ':1BBC ' /proc/net/tcp; }
wait_until 5 listens
in_ns h1 "$udpflow" tcpsend -d "$receiver" -p 7100 -B 100000 >/dev/null
wait $sink
between "a connection makes look-ups" "$(($(lookups) - before))" 1 100000

echo 0 >$tracing/events/kprobes/sluice_lookup/enable
echo >$tracing/kprobe_events
rm -r "$work"
finish
