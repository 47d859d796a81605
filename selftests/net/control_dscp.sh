#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Packets of one DSCP go ahead of all data, if `control-dscp` names it: acknowledgements, say, which a
# sender waits for.
#
#	a eth0 ---- p1 sw:br0 p2 ---- eth0 b		wire; the link to b is the slow one
#
# Frames of 20 flows wait at p2, one is on the line. Behind them come some that may overtake them, and b
# sees how many they have overtaken.
#
# $SLUICE_KINDS (all): these kinds only.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
need_virtual_time
need_module sch_floodgate sch_flowsail sch_rocc sch_ideal sch_pfc
frames=$PATHS_DIR/frames
[ -x "$frames" ] || skip_all "frames is not built (make -C selftests)"
trap 'rm -rf "$PATHS_TMP"; _at_exit' EXIT

DSCP=46
FLOWS=20	# of data
EACH=3		# frames of each
TO=$(mac 9)

# build KIND: of the cable to b
build()
{
	ns a sw b
	PATHS_CABLE="rate 1gbit delay 1us" paths_cable wire a eth0 "$(mac 1)" sw p1 "$(mac 3 1)"
	PATHS_CABLE="rate 8mbit delay 1us ring 0" paths_cable "$1" sw p2 "$(mac 3 2)" b eth0 "$TO"
	paths_bridge sw br0 p1 p2
	in_ns sw bridge fdb replace "$TO" dev p2 master static
	sleep 3
}

control() { qdisc_stat sw p2 control "$1"; }

# order LINE...: sends these frames behind the data; sets ahead[NAME] to how many frames of data came
# before the last one of the name
declare -A ahead
order()
{
	local name n=0

	printf '%s\n' "data dst=$TO ports=$FLOWS n=$EACH bytes=1000 $addresses" "$@" |
		"$frames" -w 200 "$NS-a/eth0" "$NS-b/eth0" >"$PATHS_TMP/came" || die "frames"
	ahead=()
	while read -r name _; do
		if [ "$name" = data ]; then
			n=$((n + 1))
		else
			ahead[$name]=$n
		fi
	done <"$PATHS_TMP/came"
	is "$what: nothing is lost" "$(wc -l <"$PATHS_TMP/came") $n" "$((FLOWS * EACH + $#)) $((FLOWS * EACH))"
}

# One may be on the line, and with turns each flow has had one before another one has its first.
first() { between "$what: $1 goes first" "${ahead[$2]-none}" 0 1; }
waits() { between "$what: $1 waits" "${ahead[$2]-none}" $FLOWS $((FLOWS * EACH)); }

# line NAME PORT [WORDS]: a frame of a flow of its own
line() { echo "$1 dst=$TO sport=$2 bytes=1000 $addresses ${3:-}"; }

change() { tc_in sw qdisc change dev p2 root handle 1: $kind control-dscp "$1" || die "no control-dscp $1"; }

# overtakes NAME ADDRESSES
overtakes()
{
	local addresses=$2 what before

	what="$options, $1, by default"
	order "$(line marked 9001 "tos=$((DSCP << 2))")"
	waits "DSCP $DSCP" marked

	what="$options, $1, control-dscp $DSCP"
	change $DSCP
	before=$(control $kind)
	order "$(line marked 9001 "tos=$((DSCP << 2))")" "$(line below 9002 "tos=$((DSCP - 1 << 2))")" \
		"$(line above 9003 "tos=$((DSCP + 1 << 2))")" "$(line none 9004)" \
		"$(line ecn 9005 "tos=$((DSCP << 2 | 3))")" "$(line tagged 9001 "tos=$((DSCP << 2)) tag=5")"
	first "DSCP $DSCP" marked
	first "with any ECN" ecn
	first "behind a VLAN tag" tagged
	is "$what: those in their order" "$(grep -oE '^(marked|ecn|tagged)' "$PATHS_TMP/came" | paste -sd' ')" \
		"marked ecn tagged"
	waits "DSCP $((DSCP - 1))" below
	waits "DSCP $((DSCP + 1))" above
	waits "DSCP 0" none
	between "$what: they are counted" $(($(control $kind) - before)) 3 5

	what="$options, $1, another one"
	change 1
	order "$(line marked 9001 "tos=$((DSCP << 2))")" "$(line one 9002 "tos=4")"
	first "DSCP 1" one
	waits "DSCP $DSCP" marked

	what="$options, $1, none again"
	change none
	order "$(line marked 9001 "tos=$((DSCP << 2))")" "$(line one 9002 "tos=4")"
	waits "DSCP $DSCP" marked
	waits "DSCP 1" one
}

# What is no IP has no DSCP, wherever it has those bits; and what is control traffic without one, is so in
# ideal for nobody
others()
{
	local addresses="from=10.0.0.1 to=10.0.0.2" what="$options, others"

	change $DSCP
	order "raw dst=$TO bytes=1000 type=9000" "arp dst=$TO bytes=1000 type=0806" \
		"$(line fragment 9001 "tos=$((DSCP << 2)) frag=100")"
	waits "what is no IP" raw
	first "a fragment with the DSCP" fragment
	if [ $kind = ideal ]; then
		waits "ARP" arp
	else
		first "ARP" arp
	fi
	change 1
	order "raw dst=$TO bytes=1000 type=9000"
	waits "what is no IP, DSCP 1" raw
}

# pieces NAME ADDRESSES: of the IP header nothing is in one piece with the Ethernet header; only of long packets
pieces()
{
	local addresses=$2 what="$options, $1, in pieces" port

	for port in a/eth0 sw/p1 sw/p2 b/eth0; do
		ip_in ${port%/*} link set ${port#*/} mtu 9000 || die "no MTU of 9000"
	done
	change $DSCP
	order "$(line marked 9001 "tos=$((DSCP << 2)) bytes=5000 linear=14")"
	first "DSCP $DSCP" marked
	order "$(line above 9001 "tos=$((DSCP + 1 << 2)) bytes=5000 linear=14")"
	waits "DSCP $((DSCP + 1))" above
	for port in a/eth0 sw/p1 sw/p2 b/eth0; do
		ip_in ${port%/*} link set ${port#*/} mtu 1500
	done
}

build wire
for options in "bfc queues 1" "bfc assign single" "pfc pool 64m" "floodgate" "flowsail queues 1" "flowsail role host" "rocc" "rocc role host" "ideal" "ideal order srf"; do
	kind=${options%% *}
	chosen "$kind" "${SLUICE_KINDS:-}" || continue
	diag "$options"
	# shellcheck disable=SC2086
	tc_in sw qdisc replace dev p2 root handle 1: $options || die "no $options"
	overtakes IPv4 "from=10.0.0.1 to=10.0.0.2"
	overtakes IPv6 "from=fd00::1 to=fd00::2"
	others
	pieces IPv4 "from=10.0.0.1 to=10.0.0.2"
	pieces IPv6 "from=fd00::1 to=fd00::2"
	leave_ports
	tc_in sw qdisc del dev p2 root
done
leave_spaces

# Beyond the share they go with the data, and then all of their flow does until none of it is left there: in
# tbf and on veth nothing overtakes anything, so what is out of order was so in the qdisc.
#
# spills NAME ADDRESSES: ten times 4 flows of 100 frames each with the DSCP, 96 Mb/s, and as much data, by a link of
# 100; then there is time for all to leave
ROUNDS=10 GROUPS_EACH=10
spills()
{
	local round group flow lines=() wait what="$options, $1" control spilled came

	for ((round = 0; round < ROUNDS; round++)); do
		wait=50000000
		for ((group = 0; group < GROUPS_EACH; group++)); do
			lines+=("data wait=$wait dst=$TO n=10 bytes=1514 $2")
			for flow in 1 2 3 4; do
				lines+=("f$flow.$((round * GROUPS_EACH + group)) dst=$TO n=10 bytes=542 sport=$((9000 + flow)) tos=$((DSCP << 2)) $2")
			done
			wait=1500000
		done
	done
	control=$(control $kind) spilled=$(qdisc_stat sw p2 spilled $kind)
	printf '%s\n' "${lines[@]}" | "$frames" -w 300 "$NS-a/eth0" "$NS-b/eth0" >"$PATHS_TMP/came" ||
		die "frames"
	control=$(($(control $kind) - control)) spilled=$(($(qdisc_stat sw p2 spilled $kind) - spilled))
	came=$(grep -c '^f' "$PATHS_TMP/came")
	between "$what: some keep within the share" "$control" $((ROUNDS * 40)) $((ROUNDS * 250))
	between "$what: all are one of both" $((control + spilled)) "$came" $((came + 10))
	is "$what: none is lost" "$came" $((ROUNDS * GROUPS_EACH * 40))
	is "$what: each flow is in order" "$(sed -n 's/^f//p' "$PATHS_TMP/came" | awk '
		{ split($1, name, "."); at = name[2] * 10 + $2 }
		name[1] in last && at <= last[name[1]] { n++ }
		{ last[name[1]] = at }
		END { print n + 0 }')" 0
}

build veth
tc_in sw qdisc add dev p2 root handle 1: tbf rate 100mbit burst 5k limit 10m
for options in "bfc" "bfc ways 1" "bfc assign stochastic" "pfc pool 64m" "floodgate" "flowsail" "flowsail slots 1" "rocc"; do
	kind=${options%% *}
	chosen "$kind" "${SLUICE_KINDS:-}" || continue
	diag "$options: more of them than the share"
	# shellcheck disable=SC2086
	tc_in sw qdisc replace dev p2 parent 1: handle 10: $options rate 100mbit control-dscp $DSCP || die "no $options"
	spills IPv4 "from=10.0.0.1 to=10.0.0.2"
	spills IPv6 "from=fd00::1 to=fd00::2"
	leave_ports
	tc_in sw qdisc replace dev p2 parent 1: handle 20: pfifo
done
finish
