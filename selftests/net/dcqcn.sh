#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowgen's DCQCN over pfc that marks at the port to the one receiver (cc.sh), as the paper's law and its parameters have it.
#
# What must be true: each flow has its share after a while, the line is busy, the queue stays near where marks begin, nobody
# is paused, nothing is lost; with a CNP for each flow each 50 us at most. Without marks the same flows are at line rate all
# the time, and pauses hold them.
#
# $SLUICE_DCQCN_STAGE (80): of that many ms each; below 60 shares, which take so long, are not looked at.

# shellcheck disable=SC2034 # for cc.sh
GBIT=10 DELAY=1us STAGE=${SLUICE_DCQCN_STAGE:-80} FAIR_FROM=60 PAYLOAD=1000 LINE=1082
# shellcheck source=selftests/net/cc.sh
. "$(dirname "$0")/cc.sh"

diag "one to four flows, and back to one"
mark kmin 5k kmax 200k pmax 1%
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
for n in 1 2 3 4; do
	shares $n 88 101 5000 150000
done
is "nothing is lost" "$(count retransmits) $(count gaps)" "0 0"
is "each CNP is heard" "$(count cnps_heard)" "$(count cnps)"
between "fewer than there are marks, and one in 50 us for each flow at most" "$(count cnps)" \
	$((STAGE < 20 ? STAGE * 5 : 100)) \
	$(($(marked) < $(count time_ns) / 50000 * HOSTS ? $(marked) : $(count time_ns) / 50000 * HOSTS))
# of what would have been sent in that time
between "the line was busy, also when flows left" \
	$(($(count packets) * LINE * 100 / ($(count time_ns) / 1000 * (C / 1000000)))) $((STAGE < 60 ? 60 : 88)) 100
is "nobody was paused" "$(pauses)" 0

diag "the same, where nothing is marked"
mark kmin none kmax none
before=$(marked)
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
is "no marks, no CNPs" "$(($(marked) - before)) $(count cnps)" "0 0"
between "pauses hold the flows" "$(pauses)" 1 1000000

diag "the same, without congestion control"
mark kmin 5k kmax 200k pmax 1%
before=$(marked)
check "all complete" run
is "no packet may be marked" "$(($(marked) - before)) $(count cnps)" "0 0"
between "which the queue counts" "$(qdisc_stat sw p5 ecn_not_capable pfc)" 1 10000000

# 1000 packets, one each 1082 bytes of that line; the first one takes what a lone one takes later. No marks: its pace is
# even.
diag "an endpoint with a line rate of its own"
sed 's/^1 .*/& 4000000000/' "$work/ends" >"$work/slow"
printf '%s\n' "# sluice-trace 1" "0 1 5 $((1000 * PAYLOAD))" "10000000 2 5 $PAYLOAD" >"$work/trace"
check "all complete" run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow"
done_at() { awk -F, -v flow="$1" '$1 == flow { print $8 }' "$work/out"; }
is "it is paced at that, to the nanosecond" $(($(done_at 0) - ($(done_at 1) - 10000000))) $((999 * LINE * 2))

# At 1 Mb/s 16 packets take 138 ms, and the time-out is 10 ms: it must not run before the packet is sent that is to be
# acknowledged. Where none of the acknowledgements come back it must.
diag "so slow that an acknowledgement is asked for less often than a time-out comes"
sed 's/^1 .*/& 1000000/' "$work/ends" >"$work/slow"
printf '%s\n' "# sluice-trace 1" "0 1 5 $((40 * PAYLOAD))" >"$work/trace"
check "all complete" run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow" --ack 16 --rto 10ms --limit 2s
is "and no packet is sent twice" "$(count packets) $(count timeouts) $(count retransmits)" "40 0 0"
ip_in h5 link set e type wire loss_data 100%
run --cc dcqcn --rate ${GBIT}gbit --endpoints "$work/slow" --ack 16 --rto 10ms --limit 1s
between "without answers it goes back" "$(count timeouts)" 2 10
ip_in h5 link set e type wire loss_data 0%

diag "IPv6"
ipv6
before=$(marked)
check "all complete" run --cc dcqcn --rate ${GBIT}gbit
between "packets are marked" $(($(marked) - before)) 10 1000000
between "and CNPs heard" "$(count cnps_heard)" 10 1000000

leave_ports
rm -r "$work"
finish
