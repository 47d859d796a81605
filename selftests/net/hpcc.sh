#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowgen's HPCC over pfc that writes telemetry at the port to the one receiver (cc.sh), as the paper's law has it.
#
# What must be true: each flow has its share after a while, together they leave 1 - eta of the line, the queue is next to
# nothing, nobody is paused, nothing is lost or marked. Where no port writes telemetry, flows keep the window that they
# begin with, and what they have beyond the link waits.
#
# $SLUICE_HPCC_STAGE (60): of that many ms each; below 40 shares, which take so long, are not looked at.

# shellcheck disable=SC2034 # for cc.sh
GBIT=10 DELAY=5us STAGE=${SLUICE_HPCC_STAGE:-60} FAIR_FROM=40 PAYLOAD=1000 LINE=1162
# shellcheck source=selftests/net/cc.sh
. "$(dirname "$0")/cc.sh"

# There and back 20 us, and a packet and an acknowledgement on two lines each; B T is 26 packets. W_AI for four flows: with the
# default, for a hundred, what a window loses and gains each RTT is less than what rounding to packets does to it.
RTT=22200ns
PORT=4790	# flowgen's
hpcc() { run --cc hpcc --rate ${GBIT}gbit --hpcc-rtt $RTT --hpcc-add 347 "$@"; }

diag "one to four flows, and back to one"
mark telemetry "$PORT" kmin 5k kmax 200k pmax 1%
check "all complete" hpcc
for n in 1 2 3 4; do
	# eta + n W_AI / (B T)
	shares $n $((95 + n * 5 / 4 - 1)) $((95 + n * 5 / 4 + 1)) 0 3000 95 105
done
is "nothing is lost" "$(count retransmits) $(count gaps)" "0 0"
is "each packet of data has a record of the one port on its way" "$(qdisc_stat sw p5 telemetry pfc)" "$(count packets)"
is "nothing is marked, and there are no CNPs" "$(marked) $(count cnps)" "0 0"
is "nobody was paused" "$(pauses)" 0

diag "half of the line is to be left"
check "all complete" hpcc --hpcc-eta 50
shares 4 54 56 0 100 95 105

diag "the same, where no port says what there is"
mark telemetry none
before=$(qdisc_stat sw p5 telemetry pfc)
check "all complete" hpcc
is "no records" $(($(qdisc_stat sw p5 telemetry pfc) - before)) 0
# three windows of B T too many, 83250 bytes
between "what does not fit on the way waits" "$(queue $((STAGE * 3 + 1)) $((STAGE * 4 - 1)))" 70000 90000

diag "IPv6"
ipv6
mark telemetry "$PORT"
before=$(qdisc_stat sw p5 telemetry pfc)
check "all complete" hpcc
is "each packet has a record" $(($(qdisc_stat sw p5 telemetry pfc) - before)) "$(count packets)"
is "nothing is lost" "$(count retransmits) $(count gaps)" "0 0"

leave_ports
rm -r "$work"
finish
