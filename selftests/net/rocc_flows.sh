#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Which packets are of one flow, at a congestion point and at a reaction point: echo requests, fragments
# and extension headers of IPv6.
#
#	h1 --- s --- r		s remembers flows for a second

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
load_modules sch_rocc wire

frames=$(dirname "$0")/frames
[ -x "$frames" ] || skip_all "frames is not built"

star bridge 2 10gbit 1500ns
neigh h2 e0 10.0.0.1 "$(mac 1)"
ip_in r addr add fd00::c8/64 dev e0 nodad
ip_in h1 addr add fd00::1/64 dev e0 nodad
ip_in h2 addr add fd00::2/64 dev e0 nodad
neigh h1 e0 fd00::c8 "$(mac 200)"
neigh h2 e0 fd00::1 "$(mac 1)"
tc_in h1 qdisc add dev e0 root handle 1: rocc role host || die "no reaction point"

# fresh: a congestion point that has seen nothing
fresh()
{
	tc_in s qdisc del dev pr root 2>/dev/null
	tc_in s qdisc add dev pr root handle 1: rocc table age age 1s || die "no congestion point"
}

# made NAME FLOWS NO_FLOW: what it has made of the packets since fresh
made()
{
	sleep 0.001
	figures s pr flows_active no_flow
	is "$1: flows, and packets of none" "$REPLY" "$2 $3"
}

# pings N [OPTION]...: so many echo requests, each with another checksum
pings()
{
	in_ns h1 "$cnpsend" udp,10.0.0.200,1,10.0.0.1,2 from=10.0.0.1 set=0:0800 steps n="$1" "${@:2}" >/dev/null
}

udp6() { in_ns h1 "$udpflow" send -d fd00::c8 --rate 100m "$@" >/dev/null; }

# accepted NAME WANT FLOW: is a CNP for it believed?
accepted()
{
	local before

	before=$(qdisc_stat h1 e0 accepted rocc)
	in_ns h2 "$cnpsend" "$3" rate=100000 gap=1000000 >/dev/null
	sleep 0.0001
	is "$1" "$(($(qdisc_stat h1 e0 accepted rocc) - before)) $(limiters h1)" "$2"
	check "$1: no limiter is left" wait_until 2 no_limiter h1
}

# what IPv6 says by itself is over
sleep 5
fresh
pings 20
made "echo requests" 1 0
accepted "one of them is quoted as it is" "1 1" 1,10.0.0.1,2048,10.0.0.200,4711
accepted "its type and checksum do not count" "1 1" 1,10.0.0.1,0,10.0.0.200,1

fresh
udp6 --sport 5001 -f 3 -n 5 -l 1000
made "UDP over IPv6" 3 0

# three of each
fresh
udp6 --sport 5001 -n 5 -l 4000
made "fragments of IPv6 are of no flow, as those of IPv4" 0 15
in_ns h1 "$udpflow" send -d 10.0.0.200 --sport 5001 --rate 100m -n 5 -l 4000 >/dev/null
made "nor are those of IPv4" 0 30

fresh
udp6 --sport 6001 -f 3 -n 5 -l 1000 --extensions
made "UDP behind extension headers" 3 0
accepted "and so a CNP quotes it" "1 1" udp,fd00::1,6002,fd00::c8,7000
accepted "but not another port" "0 0" udp,fd00::1,6012,fd00::c8,7000
accepted "nor the extension header" "0 0" 0,fd00::1,0,fd00::c8,0

# A fragment header on a packet that is whole
fresh
in_ns h1 "$frames" -w 1 e0 "$NS-r/e0" >/dev/null <<END || die "frames"
whole dst=$(mac 200) from=fd00::1 to=fd00::c8 sport=6102 ports=3 n=5 frag=0
END
made "UDP in fragments that are whole packets" 3 0
accepted "and so a CNP quotes it" "1 1" udp,fd00::1,6102,fd00::c8,7000
fresh
in_ns h1 "$frames" -w 1 e0 "$NS-r/e0" >/dev/null <<END || die "frames"
first dst=$(mac 200) from=fd00::1 to=fd00::c8 sport=6202 n=5 frag=1
last dst=$(mac 200) from=fd00::1 to=fd00::c8 sport=6202 n=5 frag=8
far dst=$(mac 200) from=fd00::1 to=fd00::c8 sport=6202 n=5 frag=256
END
made "but not in the first part of one, nor in the last" 0 15

rm -r "$work"
finish
