#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Telemetry of pfc (or KIND: floodgate, flowsail), as flowgen's HPCC asks for it, on a way over six switches.
#
#	telemetry.sh [KIND]
#
#	h1 -- s1 -- s2 -- s3 -- s4 -- s5 -- s6 -- h2		wires of 10 Gb/s, KIND at all ports, telemetry at those to h2
#
# What must be true: each switch writes once into each packet to the port that was given, the first five of them, and none
# into what goes back; UDP's checksum is right then, also if it was before. The line is the one that there is when a packet
# leaves; where nobody knows how fast it is nothing is written.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool tc ip jq awk ethtool
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
kind=${1:-pfc}
load_modules hopctl sch_$kind wire flowgen
work=$(mktemp -d) || die "no temporary directory"
SWITCHES=6

# link NS DEV NS DEV
link()
{
	ip_in "$1" link add "$2" type wire rate 10gbit delay 1us ring 20k peer name "$4" netns "$NS-$3" || die "no wire"
	ip_in "$1" link set "$2" up
	ip_in "$3" link set "$4" up
}

ns h1 h2
for i in 1 2; do
	in_ns h$i sh -c "echo 0 >/proc/sys/net/ipv6/conf/default/router_solicitations" 2>/dev/null
done
for ((i = 1; i <= SWITCHES; i++)); do
	ns s$i
	# A bridge's own packets are control, for which a port looks at its line, too; so are a host's solicitations
	in_ns s$i sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
	ip_in s$i link add br0 up type bridge mcast_snooping 0
	[ $i = 1 ] && link h1 e s1 back || link s$((i - 1)) on s$i back
done
link s$SWITCHES on h2 e
for ((i = 1; i <= SWITCHES; i++)); do
	ip_in s$i link set on master br0
	ip_in s$i link set back master br0
done
for i in 1 2; do
	ip_in h$i addr add 10.0.0.$i/24 dev e
	ip_in h$i addr add fd00::$i/64 dev e nodad
	tc_in h$i qdisc add dev e root $kind role host pool 64m || die "no $kind"
done
for ((i = 1; i <= SWITCHES; i++)); do
	tc_in s$i qdisc add dev back root $kind pool 12m || die "no $kind"
	tc_in s$i qdisc add dev on root $kind pool 12m || die "no $kind"
done
for ip in 10.0.0. fd00::; do
	ip_in h1 neigh replace ${ip}2 lladdr "$(ip_in h2 -j link show e | jq -r '.[0].address')" nud permanent dev e
	ip_in h2 neigh replace ${ip}1 lladdr "$(ip_in h1 -j link show e | jq -r '.[0].address')" nud permanent dev e
done
printf '%s\n' "1 $NS-h1 10.0.0.1" "2 $NS-h2 10.0.0.2" >"$work/4"
printf '%s\n' "1 $NS-h1 fd00::1" "2 $NS-h2 fd00::2" >"$work/6"
printf '%s\n' "# sluice-trace 1" "0 1 2 1000000" >"$work/trace"

# hpcc FAMILY [OPTION...]: 1000 packets, and as many acknowledgements
hpcc()
{
	"$FLOWGEN" run --endpoints "$work/$1" --trace "$work/trace" --out "$work/out" --json --cc hpcc --rate 10gbit \
		--hpcc-rtt 30us --limit 1s "${@:2}" >"$work/json" 2>"$work/err"
}
# counts DEV COUNTER: at each switch
counts()
{
	local i

	for ((i = 1; i <= SWITCHES; i++)); do
		qdisc_stat s$i "$1" "$2" $kind
	done | paste -sd ' '
}
# now SWITCHES FULL FAILED: what switches have written since the last time, in thousands of packets, at that many ports from the
# first on; and packets that had no room, or no line, at all ports
now()
{
	local i what now names=(telemetry telemetry_full telemetry_failed) got=()

	for what in "${names[@]}"; do
		now=0
		for i in $(counts on $what); do
			now=$((now + i))
		done
		got+=($((now - ${last[$what]:-0})))
		last[$what]=$now
	done
	is "$1" "${got[*]}" "$2 $3 $4"
}
declare -A last
telemetry() { for ((i = 1; i <= SWITCHES; i++)); do tc_in s$i qdisc change dev on root $kind telemetry "$1" || die "no telemetry"; done; }
wrong_sums() { in_ns h2 awk '/^Udp: [0-9]/ { print $6 }' /proc/net/snmp; in_ns h2 awk '/^Udp6InCsumErrors/ { print $2 }' /proc/net/snmp6; }

check "no telemetry" hpcc 4
now "none is written" 0 0 0
telemetry 4791
check "that of another port" hpcc 4
now "none is written" 0 0 0
telemetry 4790
check "that port" hpcc 4
now "the first five write, once into each packet of data" 5000 1000 0
is "the sixth does not" "$(counts on telemetry)" "1000 1000 1000 1000 1000 0"
is "nor does who sees acknowledgements" "$(counts back telemetry)" "0 0 0 0 0 0"
check "who sees them may write, too" tc_in s2 qdisc change dev back root $kind telemetry 4790
check "acknowledgements" hpcc 4
is "but not into them, and they do not ask" "$(counts back telemetry) $(counts back telemetry_full)" "0 0 0 0 0 0 0 0 0 0 0 0"
now "the same again" 5000 1000 0
check "IPv6" hpcc 6
now "likewise" 5000 1000 0
check "data that does not ask" "$FLOWGEN" run --endpoints "$work/4" --trace "$work/trace" --out "$work/out" --limit 1s
now "is left alone" 0 0 0

diag "checksums that the sender has filled in"
check "no offload" in_ns h1 ethtool -K e tx off
for family in 4 6; do
	check "IPv$family" hpcc $family
	now "is written into" 5000 1000 0
done
is "all of it arrived" "$(jq .received "$work/json")" 1000
is "no checksum was wrong" "$(wrong_sums | paste -sd ' ')" "0 0"

diag "a line of 1 Gb/s"
control=$(counts on control)
for end in "s3 on" "s4 back"; do
	# shellcheck disable=SC2086
	check "$end" ip_in ${end% *} link set dev ${end#* } type wire rate 1gbit
done
longest() { qdisc_stat s3 on backlog_max $kind; }
check "the flow's window follows" hpcc 4
is "nothing but data has come since" "$(counts on control)" "$control"
now "what switches say" 5000 1000 0
# flowsail holds the flow in the switch before as soon as more than Q_l waits
bounds=(10000 38000)
[ $kind = flowsail ] && bounds=(2000 10000)
between "the first window waits, less what is on the way, and no more" "$(longest)" "${bounds[@]}"
# A wire takes no time between frames, which telemetry reckons with: 24 bytes each
used() { echo $((1138 * 1000 * 8 * 1000 / $(jq .time_ns "$work/json"))); }
between "95 % of the line are used, less the gaps, and more at first, Mb/s" "$(used)" 900 970
check "a rate that is not the line's" tc_in s3 qdisc change dev on root $kind rate 10gbit
check "is what it says then" hpcc 4
now "what switches say" 5000 1000 0
# but for what floodgate says of itself among data
between "and the line is full, Mb/s" "$(used)" "$([ $kind = pfc ] && echo 985 || echo 980)" 1000

diag "a line of which nobody knows how fast it is"
check "no rate" tc_in s3 qdisc change dev on root $kind rate auto
for end in "s3 on" "s4 back"; do
	# shellcheck disable=SC2086
	check "$end" ip_in ${end% *} link set dev ${end#* } type wire rate 0
done
check "data" hpcc 4
now "four write, and the fifth and the sixth find room" 5000 0 1000

leave_ports
rm -r "$work"
finish
