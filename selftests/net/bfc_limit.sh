#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two flows that wait: their sub-queues, the threshold, and whom the limit costs what.
#
#	a: v0 ---- v1	tbf of a kilobyte a second above bfc, so all but the first frames wait
#
# A long and a short flow wait, and the limit cuts them back: as packets arrive, and when it is
# lowered. Only the long one may lose, and tbf has to have as many packets as bfc, or it would wait
# for some that are gone. Many that are short lose as well as a long one. A flow keeps its sub-queue while it waits, and for its sticky time.

. "$(dirname "$0")/lib.sh"
need_tool ip tc jq
udpflow=$(dirname "$0")/udpflow
[ -x "$udpflow" ] || skip_all "udpflow is not built (make -C selftests)"
load_modules hopctl sch_bfc

ns a
ip_in a link add v0 address "$(mac 1)" type veth peer name v1 address "$(mac 2)"
ip_in a link set v0 addrgenmode none
ip_in a link set v1 up
ip_in a link set v0 up
ip_in a addr add 10.0.0.1/24 dev v0
neigh a v0 10.0.0.2 "$(mac 2)"
tc_in a qdisc replace dev v0 root handle 1: tbf rate 8kbit burst 2k limit 10m
tc_in a qdisc replace dev v0 parent 1: handle 10: bfc limit 30000 rate 1gbit hrtt 100us sticky 1s

change() { tc_in a qdisc change dev v0 parent 1: handle 10: bfc "$@"; }

# sends N [ARG...]: a flow of its own
sends() { in_ns a "$udpflow" send -d 10.0.0.2 -l 958 --sndbuf=16m -n "$@" >/dev/null; }

# figures KEY: of tbf, then of bfc
figures() { tc_in a -j -s qdisc show dev v0 | jq -r '[.[] | .'"$1"'] | join(" ")'; }

# held WORDS LOW HIGH: bfc has that many bytes, and tbf has the same packets
held()
{
	local above below

	read -r above below < <(figures backlog)
	between "$1: what waits is within the limit" "$below" "$2" "$3"
	is "$1: tbf has as many bytes" "$above" "$below"
	read -r above below < <(figures qlen)
	is "$1: and packets" "$above" "$below"
}

figure() { qdisc_stat a v0 "$1" bfc; }
empty() { [ "$(figure qlen)" = 0 ]; }

is "the threshold is a delay times the rate" "$(figure th)" 12500
sends 5
change sticky 1us
sends 60 --rate 1m
is "two flows wait: half of it for each" "$(figure n_active),$(figure th)" 2,6250
is "and each was assigned once" "$(figure assign_free)" 2
held "packets arrive" 20000 30000
between "some were dropped" "$(figure drop_limit)" 30 60
check "the limit is lowered" change limit 15000
held "it is lowered" 5000 15000
losers=$(tc_in a -s class show dev v0 | grep -A 1 ' parent ' | grep -c 'dropped [1-9]')
is "one sub-queue lost them all" "$losers" 1

tc_in a qdisc change dev v0 root handle 1: tbf rate 1gbit burst 64k limit 10m
change sticky 1s
sends 10 --rate 1m
check "all leave" wait_until 5 empty
is "a flow that comes back has the sub-queue that it had" "$(figure assign_free)" 3

# A frame each, of which none is the longest
tc_in a qdisc change dev v0 root handle 1: tbf rate 8kbit burst 2k limit 10m
change limit 10000
for ((i = 0; i < 16; i++)); do
	sends 1
done
held "flows of a frame arrive" 9001 10000
is "their frames are of one size" "$(figure backlog)" 10000
# waiting: the sub-queues that something waits in
waiting()
{
	tc_in a -s class show dev v0 | awk '
		/^class/ { queue = / parent 10:/ ? $3 : "" }
		/ backlog/ && queue && $2 + 0 { print queue }' | xargs
}
before=$(waiting)
check "a limit of just what waits" change limit 10000
sends 1
is "costs none that waits" "$(figure backlog) $(waiting)" "10000 $before"
check "their limit is lowered" change limit 4500
held "it is lowered to less than they are" 3501 4500

leave_ports
tc_in a qdisc del dev v0 root
finish
