#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A frame that a parent has looked at stays in the qdisc, with its tag on, until the parent may send it. That
# can be long after the port has stopped tagging: so long the port says TAGS, and the neighbour takes tags off.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	veth; tbf above bfc on h1
#
# The first frame goes at once, the next one half a second later; a card that says nothing about itself is thought empty after 100 ms.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
need_virtual_time
paths_build veth
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"
tc_in h1 qdisc add dev eth0 root handle 1: tbf rate 16kbit burst 2k limit 1m
tc_in h1 qdisc add dev eth0 parent 1: handle 10: bfc rate 16kbit role host nowatch || die "no bfc"
tc_in sw qdisc add dev p1 root handle 1: bfc || die "no bfc"
sleep 3

for words in notag "peer host"; do
	check "$words: h1 tags" paths_wait 10 port_in h1 eth0 tagging
	paths_from h1 h2
	paths_sink sink --expect 5 --timeout 10s --idle 3s
	in_ns h1 "$UDPFLOW" send --dest 10.0.0.2 --packets 5 --length 1400 >"$PATHS_TMP/sent" 2>&1
	# shellcheck disable=SC2086
	tc_in h1 qdisc change dev eth0 parent 1: handle 10: bfc $words
	between "$words: some wait" "$(qdisc_stat h1 eth0 qlen bfc)" 2 4
	paths_arrived "$words: all arrive"
	between "$words: tagged before" "$(qdisc_stat h1 eth0 tagged bfc)" 1 12
	tc_in h1 qdisc change dev eth0 parent 1: handle 10: bfc tag peer auto
	sleep 2	# tbf may send at once again
done

finish
