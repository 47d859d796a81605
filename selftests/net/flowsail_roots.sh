#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# flowsail with roots: where the congestion began that holds a flow, as it is told from port to port, and isolation by that. Of
# 10.0.0.2 and 10.0.0.4, which are behind one slow port, and 10.0.0.3 behind another, the first two have a root in common.
#
#	h:p ===100M=== s:q [ bridge ] s:r ===100M=== c:t [ bridge ] c:u ---10M--- c:y, of 10.0.0.2 and 10.0.0.4
#	                                                            c:v ---20M--- c:z, of 10.0.0.3

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/flowsail_lib.sh
. "$(dirname "$0")/flowsail_lib.sh"
need_tool ip tc bridge jq
need_virtual_time
need_program frames
: "${frames:?}"	# set by need_program
need_sluice
load_modules
need_module sch_flowsail

FRAME=1000	# bytes, with the Ethernet header
QL=15000
QH=60000
# roots BOX DEV: "ROOT HOPS", each once, for what that port's neighbour holds
roots() { "$sluice" -n "$NS-$1" -j show "$2" | jq -r '.[0].roots // [] | map("\(.root) \(.hops)") | unique | join(", ")'; }
id_of() { "$sluice" -n "$NS-$1" -j show "$2" | jq '.[0].port.root_id'; }

boxes 20mbit
bridge -n "$NS-s" fdb replace "$(mac 4)" dev r master static
bridge -n "$NS-c" fdb replace "$(mac 4)" dev u master static

diag "who waits for whom in isolation"
passes 4 2 isolation 2
between "three destinations have two: z's flow waits for one of y's" "$passed" 50 300
passes 4 3 isolation 3
between "three of three: it waits for z alone" "$passed" 350 420
passes 4 2 isolation 2 roots isolation-by root
between "two roots have two: it waits for z alone" "$passed" 350 420

diag "what is told"
u=$(id_of c u)
sends h p "$(to 2 150 1)"
check "the flow is held by both" wait_until -e 2 2 figs_are h p paused 1
is "at the first switch, for the slow port" "$(roots s r)" "$u 1"
is "and at the host, a hop further" "$(roots h p)" "$u 2"
# It comes behind the first flow, which waits there for y, and is held for that
sends h p "$(to 3 40 3)"
check "another one, which waits behind it, is held at the host" wait_until -e 2 2 figs_are h p paused 2
is "for the same" "$(roots h p)" "$u 2"
check "when nobody is held" wait_until -e 400 20 rest
is "nothing is told" "$(roots s r)$(roots h p)" ""

# Let go when the last packet that holds it has left, it has none in isolation now and then, and the root is not told any more
diag "a flow keeps its sub-queue until it is released"
passes 4 2 isolation 8 roots isolation-by root resume none

diag "what is refused, and what is not told"
is "isolation by root needs roots" \
	"$(tc_in s qdisc replace dev r root handle 9: flowsail isolation-by root 2>&1 | head -n 1)" \
	"Error: isolation-by root needs roots."
passes 4 2 isolation 2 roots isolation-by root
tc_in c qdisc replace dev t root handle 2: flowsail role switch peer switch queues 1 ql $QL qh $QH
check "c tags" wait_until -e 100 10 tags c t
check "s tags" wait_until -e 100 10 tags s r
sends h p "$(to 2 150 1)"
check "a flow is held by a box that tells no roots" wait_until -e 2 2 figs_are s r paused 1
is "the root is not known" "$(roots s r)" ""
check "all comes" wait_until -e 400 20 rest
finish
