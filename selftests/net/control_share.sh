#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The control class goes ahead of all data and is never paused; so what others send in it and the box
# only forwards has a share of the link, and what the box sends itself has none to keep to.
#
#	f1   eth0 --- p1 sw:br0 p2 --- eth0 to		wire of 100 Mb/s
#	f2   eth0 --- p4
#	data eth0 --- p3
#
# Frames of 60 bytes are 84 on the line, those of 1514 1538: with `overhead 24` wire counts as the share
# does. Of $SLUICE_SHARE_KINDS (bfc,floodgate,flowsail,pfc,rocc) only.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
need_virtual_time
need_module sch_floodgate sch_flowsail sch_pfc sch_rocc

RATE=100	# Mbit/s of each link
PATHS_CABLE="rate ${RATE}mbit delay 1us overhead 24"
to_mac=$(mac 9)

# host NAME NUMBER PORT
host()
{
	paths_cable wire "$1" eth0 "$(mac "$2")" sw "$3" "$(mac 3 "$2")"
	ip_in "$1" addr add "10.0.0.$2/24" dev eth0
}

build()
{
	ns flood data sw to
	host flood 1 p1
	host to 9 p2
	host data 2 p3
	paths_bridge sw br0 p1 p2 p3
	in_ns sw bridge fdb replace "$to_mac" dev p2 master static
	neigh data eth0 10.0.0.9 "$to_mac"
	neigh to eth0 10.0.0.1 "$(mac 1)"
	sleep 3
}

# counts KIND KEY...: of p2, in one line
counts()
{
	local key said=

	for key in "${@:2}"; do
		said+=" $(qdisc_stat sw p2 "$key" "$1")"
	done
	echo "${said# }"
}

# A filter counts what comes to `to`
counted()
{
	tc_in to qdisc add dev eth0 clsact || skip_all "no clsact qdisc"
	tc_in to filter add dev eth0 ingress pref 1 protocol ip flower ip_proto udp action pass ||
		skip_all "no tc filters"
	tc_in to filter add dev eth0 ingress pref 2 protocol all matchall action pass ||
		skip_all "no tc filters"
}

# came PREF: frames that have come to `to`: 1 data, 2 others
came()
{
	filter_stat to eth0 ingress packets "$1"
}

starts() # WHO ARG...: udpflow there, in the background
{
	ip netns exec "$NS-$1" "$UDPFLOW" "${@:2}" >"$PATHS_TMP/$1" 2>&1 &
	pids+=($!)
}

# shares BYTES: thousandths of p2's line that data and the others take in half a second, to $data and $others.
# The others are BYTES long on the line.
shares()
{
	local d o

	sleep 0.1	# the depth of the bucket is used up
	d=$(came 1) o=$(came 2)
	sleep 0.5
	data=$((($(came 1) - d) * 1538 * 8 / (RATE * 500)))
	others=$((($(came 2) - o) * "$1" * 8 / (RATE * 500)))
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	pids=()
}
pids=()

stream() { starts data send --dest 10.0.0.9 --packets 1000000 --length 1472 --sndbuf 400000; }
arps() { starts flood rawsend --dev eth0 --mac "$to_mac" --ethertype 0x0806 --length 60 --packets 1000000; }

# shares_of KIND OPTIONS...: with this qdisc on p2
shares_of()
{
	local kind=$1

	build
	counted
	tc_in sw qdisc replace dev p2 root handle 1: "$@" || die "no $kind"
	diag "$*: ARP at line rate, and data at line rate from another port"
	stream
	arps
	shares 84
	between "$*: data has the rest of the link" "$data" 948 953
	between "$*: the others have their share" "$others" 47 51
	read -r control dropped spilled < <(counts "$kind" control drop_police spilled)
	between "$*: what is beyond is dropped and counted" "$dropped" 10000 1000000
	is "$*: none of it is data" "$spilled" 0
	tc_in sw qdisc replace dev p2 root handle 2: "$@" control-share 10%
	stream
	arps
	shares 84
	between "$*, 10 %: data has the rest" "$data" 898 903
	between "$*, 10 %: the others have their share" "$others" 97 101
	tc_in sw qdisc change dev p2 root "$@" control-share 0.5%
	stream
	arps
	shares 84
	between "$*, 0.5 %: data has the rest" "$data" 993 999
	between "$*, 0.5 %: the others have their share" "$others" 2 6
	leave_spaces
}

# Packets of UDP flows that come by p1 are control packets here. In tbf and on veth nothing overtakes
# anything, so what is out of order was so in the qdisc.
mixed_of() # KIND OPTIONS...
{
	local kind=$1 spilled control sent

	ns flood data sw to
	host flood 1 p1
	host data 2 p3
	paths_cable veth to eth0 "$to_mac" sw p2 "$(mac 3 9)"
	ip_in to addr add 10.0.0.9/24 dev eth0
	paths_bridge sw br0 p1 p2 p3
	in_ns sw bridge fdb replace "$to_mac" dev p2 master static
	neigh flood eth0 10.0.0.9 "$to_mac"
	neigh to eth0 10.0.0.1 "$(mac 1)"
	neigh sw br0 10.0.0.9 "$to_mac"
	ip_in sw addr add 10.0.0.3/24 dev br0
	tc_in sw qdisc add dev p1 clsact || skip_all "no clsact qdisc"
	tc_in sw filter add dev p1 ingress pref 1 protocol ip matchall action skbedit priority 7 ||
		skip_all "no skbedit action"
	tc_in sw qdisc add dev p2 root handle 1: tbf rate ${RATE}mbit burst 5k limit 10m
	tc_in sw qdisc add dev p2 parent 1: handle 10: "$@" rate ${RATE}mbit limit 60k || die "no $kind"
	sleep 3

	diag "$*: control packets of IP flows, at the link's rate, and data"
	to=to
	paths_sink sink --expect 0 --ports 4 --idle 300ms
	starts data rawsend --dev eth0 --mac "$to_mac" --packets 1000000 --length 1514
	sleep 0.1
	in_ns flood "$UDPFLOW" send --dest 10.0.0.9 --ports 4 --flows 4 --packets 1000 --length 500 \
		--rate 24m >/dev/null
	sleep 0.1	# the last ones are on their way
	read -r control spilled dropped < <(counts "$kind" control spilled drop_police)
	wait $_sink
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	pids=()
	between "$*: some keep within the share" "$control" 150 1000
	between "$*: the others go with the data" "$spilled" 3000 3850
	is "$*: all are one of both" $((control + spilled)) 4000
	is "$*: none is dropped for it" "$dropped" 0
	between "$*: they arrive" "$(jq .packets "$PATHS_TMP/sink")" 1000 4000
	is "$*: in the order of each flow" "$(jq '[.flows[].reordered] | add' "$PATHS_TMP/sink")" 0

	diag "$*: what the box sends itself"
	in_ns sw "$UDPFLOW" send --dest 10.0.0.9 --packets 500 --length 500 --priority 7 >/dev/null
	read -r now spilled2 < <(counts "$kind" control spilled)
	between "$*: all of it is control, however much" $((now - control)) 500 510
	is "$*: and none goes with the data" "$spilled2" "$spilled"
	leave_spaces
}

# cnps NAME MIN MAX FLOW OPTION...: of ten such messages so many are control packets
cnps()
{
	local before

	before=$(counts "$kind" control)
	in_ns flood "$(dirname "$0")/cnpsend" "$4" n=10 "${@:5}" >/dev/null || fail "cnpsend ${*:4}"
	sleep 0.01
	between "$kind: $1" $(($(counts "$kind" control) - before)) "$2" "$3"
}

# Congestion notifications go ahead, for they are useless when late. But only what is one, and within the
# share: nobody shall send data in their place.
notified_of() # KIND OPTIONS...
{
	local kind=$1 flow=udp,10.0.0.9,5001,10.0.0.1,7000 from=from=10.0.0.1 control spilled
	local six=udp,fd00::9,5001,fd00::1,7000 from6=from=fd00::1

	build
	ip_in flood addr add fd00::1/64 dev eth0 nodad
	neigh flood eth0 10.0.0.9 "$to_mac"
	neigh flood eth0 fd00::9 "$to_mac"
	tc_in sw qdisc replace dev p2 root handle 1: "$@" || die "no $kind"
	diag "$kind: ten messages each"
	cnps "congestion notifications are control packets" 10 10 $flow $from
	cnps "so are those for the host to compute from" 10 10 $flow $from state=1,2,3,4,5,6,7,8,9
	cnps "with padding" 10 10 $flow $from pad=100
	cnps "of IPv6" 10 10 $six $from6
	cnps "the bare type is none" 0 0 $flow $from cut=8
	cnps "nor with a packet of full size behind it" 0 0 $flow $from pad=1300
	cnps "nor another version" 0 0 $flow $from version=200
	cnps "an unknown code" 0 0 $flow $from set=1:07
	cnps "no rate" 0 0 $flow $from rate=0
	cnps "no epoch" 0 0 $flow $from epoch=0
	cnps "a third key" 0 0 $flow $from key=3
	cnps "cut in what it quotes" 0 0 $flow $from cut=79
	cnps "to another one than it is for" 0 0 udp,10.0.0.8,5001,10.0.0.1,7000 $from to=10.0.0.9
	cnps "of IPv6, the bare type" 0 0 $six $from6 cut=8
	cnps "of IPv6, with a packet of full size behind it" 0 0 $six $from6 pad=1300
	cnps "of IPv6, to another one" 0 0 udp,fd00::8,5001,fd00::1,7000 $from6 to=fd00::9

	diag "$kind: at line rate, beside data"
	stream
	control=$(counts "$kind" control) spilled=$(counts "$kind" spilled)
	in_ns flood "$(dirname "$0")/cnpsend" $flow $from n=5000 gap=10000 >/dev/null
	sleep 0.1
	control=$(($(counts "$kind" control) - control)) spilled=$(($(counts "$kind" spilled) - spilled))
	kill "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	pids=()
	# what may come at once is 64 frames of full size, 700 of these, and 50 ms are 5 % of 4500
	between "$kind: congestion notifications have a share, too" "$control" 64 1000
	between "$kind: beyond it they go with the data" $((control + spilled)) 5000 5010
	leave_spaces
}

# What may come at once is 64 frames of full size, which is what the MTU says now.
burst_of() # KIND OPTIONS...
{
	local kind=$1

	build
	tc_in sw qdisc replace dev p2 root handle 1: "$@" || die "no $kind"
	burst "$1: of 200 frames those beyond 64 and 5 %, which is 10, are dropped" 124 128
	ip_in sw link set p2 mtu 9000
	burst "$1: 64 frames of an MTU of 9000 are more than 200" 0 0
	ip_in sw link set p2 mtu 1500
	burst "$1: and of one of 1500 again 64" 124 128
	leave_spaces
}

burst() # NAME LEAST MOST
{
	local before

	sleep 2		# all is paid
	before=$(counts "$kind" drop_police)
	in_ns flood "$UDPFLOW" rawsend --dev eth0 --mac "$to_mac" --ethertype 0x0806 --length 1514 --packets 200 \
		>/dev/null
	sleep 0.1
	between "$1" $(($(counts "$kind" drop_police) - before)) "$2" "$3"
}

# a pool is all that pfc has to be told
pfc="pfc pool 64m"
# shellcheck disable=SC2086
for words in bfc floodgate flowsail "$pfc" rocc; do
	chosen "${words%% *}" "${SLUICE_SHARE_KINDS:-}" || continue
	burst_of $words
	shares_of $words
	notified_of $words
	mixed_of $words
done
mixed_of bfc assign stochastic
finish
