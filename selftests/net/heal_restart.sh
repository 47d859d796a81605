#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Restarts, flaps and reloads at random instants, under traffic that is paused most of the time.
#
#	h1 br0 - eth0 =====1G===== p1 sw:br0 p2 -----slow----- eth0 h2	wires of 2 us
#	h3       eth0 =====1G===== p3           (comes and goes, with its cable)
#
#	100 restarts	of p1's qdisc: a new epoch each time, while its neighbour is paused
#	20 removals	of h3's namespace and cable, with its packets in p2
#	500 flaps	of a random end of the cable between h1 and sw: its packets wait at h1
#	500 flaps	of the one between sw and h2: they wait in p2, marked, with pauses under way
#	1000 reloads	of both modules
#
# Afterwards nothing is stuck: a flow passes whole, no packet waits, no gauge is above zero. And
# every packet is accounted for. Where packets are thrown away without a counter of their own
# (a qdisc that is deleted, a device that goes down), filters in front of and behind that place
# have counted: their difference is what was lost there, and it has to fit to what the
# generator, the receiver and the cable know.
#
# $SLUICE_HEAL_SCALE (1): so many times as often; 0.1 for a short run.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

need_virtual_time
need_tool ethtool awk
paths_begin
churn=$PATHS_DIR/churn
[ -x "$churn" ] || skip_all "churn is not built (make -C selftests)"

FLOWS=8
PATHS_CABLE="rate 1gbit delay 2us ring 3k"
seed=${SLUICE_SEED:-1}

# times N: by the scale
times() { awk -v n="$1" -v by="${SLUICE_HEAL_SCALE:-1}" 'BEGIN { n = int(n * by); print n ? n : 1 }'; }

SW_IPV6=0 paths_build wire
in_ns h2 sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
in_ns h1 sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
paths_bridge sw br0 p1 p2
paths_bridged_host h1
# A second port: without any carrier br0 itself would throw packets away.
ip_in h1 link add v0 type veth peer name v1 && ip_in h1 link set v0 master br0 up &&
	ip_in h1 link set v1 up || die "no second port"
ip_in h1 addr add 10.0.0.1/24 dev br0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 br0 10.0.0.2 "$h2_mac"

# A port that was down has forgotten who is behind it.
know()
{
	in_ns h1 bridge fdb replace "$h2_mac" dev eth0 master static
	in_ns sw bridge fdb replace "$h2_mac" dev p2 master static
	in_ns sw bridge fdb replace "$h1_mac" dev p1 master static
}
know
# "pass" would overwrite tc_index, and with it where a packet came from.
for port in h1/eth0 sw/p2; do
	tc_in "${port%/*}" qdisc add dev "${port#*/}" clsact
	tc_in "${port%/*}" filter add dev "${port#*/}" egress matchall action continue ||
		skip_all "no clsact"
done
for port in $PATHS_PORTS; do
	tc_in "${port%/*}" qdisc replace dev "${port#*/}" root handle 1: bfc || die "no bfc"
done

# entered NS DEV: packets that were given to the device's qdisc, whichever it was
entered()
{
	tc_in "$1" -j -s filter show dev "$2" egress |
		jq '[.[] | .options?.actions?[0]?.stats?.packets // empty] | add'
}

waiting()
{
	local name

	for name in "${_spaces[@]}"; do
		tc -n "$name" -j -s qdisc show
	done | jq -s '[.[][] | .qlen // 0] | add'
}

# traffic RATE: flows of that many bit/s each, until `quiet`
traffic()
{
	know
	part_flow=$((${part_flow:-0} + 100))
	paths_from h1 h2
	bridged=$(link_stat h1 br0 tx_packets)
	into_h1=$(entered h1 eth0)
	into_p2=$(entered sw p2)
	down1=$(cable_down h1 eth0 sw p1)
	down2=$(cable_down sw p2 h2 eth0)
	paths_sink sink --idle 2s --timeout 20s
	ip netns exec "$(ns_name h1)" "$UDPFLOW" send --dest 10.0.0.2 --flows $FLOWS --rate "$1" \
		--duration 100000s --id $part_flow --json >"$PATHS_TMP/sent" 2>&1 &
	stream=$!
	sleep 0.2
}

# cable_down NS DEV NS DEV: frames that both ends of a cable lost by going down
cable_down()
{
	{ in_ns "$1" ethtool -S "$2"; in_ns "$3" ethtool -S "$4"; } |
		awk '$1 == "down:" { n += $2 } END { print n + 0 }'
}

# quiet NAME: the flows end; what has become of their packets. Sets $sent, $refused, $received and
# differences of the counters in between
quiet()
{
	kill -TERM "$stream"
	wait "$stream" "$_sink"
	paths_shot "$PATHS_TMP/now"
	read -r sent refused < <(jq -r '"\(.packets) \(.refused)"' "$PATHS_TMP/sent")
	read -r received missing < <(jq -r --argjson first $part_flow '[.flows[] |
		select(.flow >= $first and .flow < $first + 50)] |
		"\([.[].packets] | add) \([.[].lost] | add)"' "$PATHS_TMP/sink")
	bridged=$(($(link_stat h1 br0 tx_packets) - bridged))
	into_h1=$(($(entered h1 eth0) - into_h1))
	into_p2=$(($(entered sw p2) - into_p2))
	down1=$(($(cable_down h1 eth0 sw p1) - down1))
	down2=$(($(cable_down sw p2 h2 eth0) - down2))
	diag "$1: $sent sent, $received received"
	is "$1: the sender was refused nothing" "$refused" 0
	is "$1: the bridge at h1 got what was sent" "$bridged" "$sent"
}

# stuck NAME: is anything?
stuck()
{
	know
	check "$1: the ports tag again" paths_wait 10 paths_all tagging
	paths_from h1 h2
	paths_udp "$1: a flow passes whole" 500 10.0.0.2
	sleep 0.5
	is "$1: no packet waits anywhere" "$(waiting)" 0
	if wait_until 2 _all_quiet; then
		pass "$1: nothing is paused or counted"
	else
		fail "$1: nothing is paused or counted" "$(_something_paused)"
	fi
}

# churns NAME COUNT ACT [ARG]...: and it must have been done so often
churns()
{
	local name=$1 count=$2 said

	shift 2
	said=$("$churn" --count="$count" --seed="$seed" "$@" 2>&1) || diag "$said"
	diag "$name: $said"
	is "$name: done" "${said%% *}" "$count"
}

restarts()
{
	local n=$1

	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	churns "restarts" "$n" --every=30000 --down=3000 qdisc "$(ns_name sw)/p1"
	sleep 0.1
	quiet "restarts"
	# one that comes within the time of a few HELLOs after another is not noticed
	between "restarts: as many new epochs of p1 at h1" \
		"$(paths_moved 'p("h1/eth0"; "neighbour_up")')" $((n * 9 / 10)) "$n"
	between "restarts: h1 was paused again and again" \
		"$(paths_moved 'd("h1/eth0"; "pauses_obeyed")')" "$n" 10000000
	is "restarts: what was sent = received + dropped at the limits" "$sent" \
		$((received + $(paths_moved 'd("h1/eth0"; "drop_limit") + d("sw/p2"; "drop_limit")')))
	is "restarts: nothing is missing in the flows" "$missing" 0
	stuck "restarts"
}

gone() { ! ip_in "$1" link show "$2"; }

# h3 comes up, with its end of the cable and bfc on both
h3_comes()
{
	local name

	name=$(ns_name h3)
	ip netns add "$name"
	ip -n "$(ns_name sw)" -batch - <<-END || die "no p3"
		link add p3 type wire $PATHS_CABLE peer name eth0 netns $name
		link set p3 addrgenmode none
		link set p3 master br0 up
	END
	ip -n "$name" -batch - <<-END || die "no h3"
		link set eth0 addrgenmode none
		link set eth0 up
		addr add 10.0.0.3/24 dev eth0
		neigh replace 10.0.0.2 lladdr $h2_mac nud permanent dev eth0
	END
	tc_in sw qdisc replace dev p3 root handle 1: bfc
	tc_in h3 qdisc replace dev eth0 root handle 1: bfc
}

removals()
{
	local n=$1 i hand paused=0

	ip_in sw link set p2 type wire rate 20mbit
	traffic 1m
	_spaces+=("$(ns_name h3)")
	for ((i = 0; i < n; i++)); do
		h3_comes
		ip netns exec "$(ns_name h3)" "$UDPFLOW" send --dest 10.0.0.2 --flows 4 \
			--rate 8m --duration 100s --id 5000 >/dev/null 2>&1 &
		hand=$!
		# Until it is paused, and then some random time
		paths_wait 3 port_in h3 eth0 tagging
		sleep 0.0$((RANDOM % 90 + 10))
		[ "$(qdisc_stat h3 eth0 paused bfc)" = 0 ] || paused=$((paused + 1))
		kill -9 "$hand"
		wait "$hand" 2>/dev/null
		ip netns del "$(ns_name h3)"
		wait_until 5 gone sw p3
	done
	unset "_spaces[-1]"
	sleep 0.3
	diag "removals: $n, $paused of them with sub-queues of h3 paused"
	between "removals: with sub-queues paused" "$paused" $((n / 2)) "$n"
	quiet "removals"
	is "removals: p3 went with h3" "$(ip_in sw -br link show type wire | wc -l)" 2
	is "removals: what h1 sent = received" "$sent" "$received"
	is "removals: nothing is missing in its flows" "$missing" 0
	is "removals: nothing was dropped at p2" "$(paths_moved 'd("sw/p2"; "drop_limit")')" 0
	stuck "removals"
}

# lost NAME BEFORE BETWEEN BEHIND DOWN: packets that met a port that was down, those in the qdisc of
# one that went down, and those on the cable, from counters before and behind each place
lost()
{
	diag "$1: $2 met a port that was down, $3 were in the qdisc of one that went down," \
		"$4 on the cable (which counts $5 with control frames)"
	between "$1: met a port that was down" "$2" 1 "$sent"
	between "$1: in the qdisc" "$3" 1 "$sent"
	between "$1: on the cable, no more than it knows" "$4" 0 "$5"
	between "$1: most came through" "$received" $((sent / 2)) "$sent"
	is "$1: the flows miss what was lost, and nothing else" "$missing" $((sent - received))
}

# What waits behind the cable is unmarked at h1, and marked at p2
flaps_h1()
{
	local n=$1 left

	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	churns "flaps at h1" "$n" --every=20000 --down=2000 flap "$(ns_name h1)/eth0" "$(ns_name sw)/p1"
	sleep 0.1
	quiet "flaps at h1"
	left=$(paths_moved 'd("h1/eth0"; "packets")')
	lost "flaps at h1" $((bridged - into_h1)) $((into_h1 - left)) $((left - into_p2)) $down1
	is "flaps at h1: what came to p2 = received + dropped at its limit" "$into_p2" \
		$((received + $(paths_moved 'd("sw/p2"; "drop_limit")')))
	between "flaps at h1: its neighbour was lost" \
		"$(paths_moved 'p("h1/eth0"; "neighbour_lost")')" $((n / 2)) "$n"
	stuck "flaps at h1"
}

flaps_h2()
{
	local n=$1 left

	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	churns "flaps at h2" "$n" --every=20000 --down=2000 flap "$(ns_name sw)/p2" "$(ns_name h2)/eth0"
	sleep 0.1
	quiet "flaps at h2"
	is "flaps at h2: all packets left h1" "$(paths_moved 'd("h1/eth0"; "packets")')" "$sent"
	left=$(paths_moved 'd("sw/p2"; "packets")')
	lost "flaps at h2" $((sent - into_p2)) \
		$((into_p2 - left - $(paths_moved 'd("sw/p2"; "drop_limit")'))) \
		$((left - received)) $down2
	between "flaps at h2: h1 was paused" "$(paths_moved 'd("h1/eth0"; "pauses_obeyed")')" \
		"$n" 10000000
	stuck "flaps at h2"
}

reloads()
{
	local n=$1 ports=() port

	for port in $PATHS_PORTS; do
		ports+=("$(ns_name "${port%/*}")/${port#*/}")
	done
	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	churns "reloads" "$n" --every=20000 --down=2000 --modules="$SLUICE_MODDIR" reload "${ports[@]}"
	sleep 0.1
	quiet "reloads"
	diag "reloads: $((into_h1 - into_p2)) were in h1's qdisc or on its cable," \
		"$((into_p2 - received)) in p2's or on its cable"
	is "reloads: no port was down" $((bridged - into_h1)) 0
	between "reloads: lost at h1" $((into_h1 - into_p2)) 0 "$sent"
	between "reloads: lost at p2" $((into_p2 - received)) 0 "$sent"
	between "reloads: some came through" "$received" $((sent / 10)) "$sent"
	stuck "reloads"
}

check "the ports tag" paths_tagging
for part in ${SLUICE_HEAL_PARTS:-restarts removals flaps_h1 flaps_h2 reloads}; do
	case $part in
	restarts) restarts "$(times 100)" ;;
	removals) removals "$(times 20)" ;;
	flaps_h1) flaps_h1 "$(times 500)" ;;
	flaps_h2) flaps_h2 "$(times 500)" ;;
	reloads) reloads "$(times 1000)" ;;
	esac
done
finish
