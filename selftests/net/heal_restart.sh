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
# every packet is accounted for: what the generator sent = what was received + what the kernel
# threw away, one by one, by its own word (the tracepoint skb:kfree_skb). Most of these losses have
# no counter (a qdisc that is deleted, a device that goes down). So filters in front of and behind
# each place count, too: their difference has to be the number of packets thrown away there.
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
	filter_stat "$1" "$2" egress packets
}

waiting()
{
	local name

	for name in "${_spaces[@]}"; do
		tc -n "$name" -j -s qdisc show
	done | jq -s 'map(.[].qlen) | if all(. != null) then add else error("a qdisc shows no qlen") end'
}

# Packets that are thrown away: the kernel says which, and where in its code. That is not enough for
# what was in a qdisc, whose packets are freed together when RTNL is unlocked; but it says before
# which qdisc it has reset. Control frames of hopctl are left out.
tracing=/sys/kernel/tracing
[ -d $tracing/events/skb ] || mount -t tracefs none $tracing || die "no tracefs"
echo 32768 >$tracing/buffer_size_kb
echo 'protocol != 0x88b5' >$tracing/events/skb/kfree_skb/filter
echo 1 | tee $tracing/events/skb/kfree_skb/enable >$tracing/events/qdisc/qdisc_reset/enable

# As "COUNT PLACE", where PLACE is reset:KIND:DEVICE, or a function of the kernel. Read twice, as what
# is not hashed loses its strings.
drops_list()
{
	echo 0 >$tracing/tracing_on
	cp $tracing/trace "$PATHS_TMP/names"
	echo 0 >$tracing/options/hash-ptr
	cp $tracing/trace "$PATHS_TMP/places"
	echo 1 >$tracing/options/hash-ptr
	echo 1 >$tracing/tracing_on
	paste -d '\n' "$PATHS_TMP/names" "$PATHS_TMP/places" | awk '
		NR % 2 && /: qdisc_reset: .* kind=(bfc|pfifo_fast) / {
			split($0, word, / (dev|kind|parent)=/)
			qdisc = word[3] ":" word[2]
		}
		!(NR % 2) && /: kfree_skb: / {
			split($0, word, / (location|reason)[=:]/)
			sub(/[+ ].*/, "", word[2])
			n[word[2] " " qdisc]++
		}
		END { for (place in n) print n[place], place }' >"$PATHS_TMP/freed"
	[ -s "$PATHS_TMP/freed" ] || return
	# Newer kernels say the name of the function. Addresses are compared as words.
	awk 'NR == FNR { line[NR] = $0; name[NR] = $2; if ($2 ~ /^[0-9a-f]+$/) at[NR] = $2 ""; next }
		$2 ~ /^[tT]$/ {
			for (i in at)
				if ($1 "" <= at[i] && $1 "" > best[i] "") {
					best[i] = $1 ""
					name[i] = $3
				}
		}
		END { for (i in line) {
			split(line[i], word)
			if (name[i] ~ /rtnl_unlock|rtnl_kfree|reset/)
				name[i] = "reset:" word[3]
			print word[1], name[i]
		} }' "$PATHS_TMP/freed" /proc/kallsyms
}

# drops: reads what was thrown away since the trace was cleared
declare -A dropped
drops()
{
	local n place

	dropped=()
	while read -r n place; do
		dropped[$place]=$((${dropped[$place]:-0} + n))
	done < <(drops_list)
	is "$1: the kernel's trace is whole" \
		"$(awk '/entries-written:/ { split($3, n, "/"); print n[1] == n[2] }' $tracing/trace)" 1
}

# thrown PATTERN: how many there, all by default
thrown()
{
	local place sum=0

	for place in "${!dropped[@]}"; do
		# shellcheck disable=SC2053
		[[ $place != ${1:-*} ]] || sum=$((sum + dropped[$place]))
	done
	echo $sum
}

# accounted NAME: the sum, and what it is made of
accounted()
{
	local place

	for place in "${!dropped[@]}"; do
		diag "thrown away: ${dropped[$place]} $place"
	done
	is "$1: what was sent = received + thrown away" "$sent" $((received + $(thrown)))
	is "$1: the flows miss what was thrown away, and nothing else" "$missing" "$(thrown)"
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
	: >$tracing/trace
	paths_sink sink --idle 2s --timeout 20s
	ip netns exec "$NS-h1" "$UDPFLOW" send --dest 10.0.0.2 --flows $FLOWS --rate "$1" \
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
	drops "$1"
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
	churns "restarts" "$n" --every=30000 --down=3000 qdisc "$NS-sw/p1"
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
	accounted "restarts"
	stuck "restarts"
}

gone() { ! ip_in "$1" link show "$2"; }

# h3 comes up, with its end of the cable and bfc on both
h3_comes()
{
	local name

	name=$NS-h3
	ip netns add "$name"
	ip -n "$NS-sw" -batch - <<-END || die "no p3"
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
	_spaces+=("$NS-h3")
	for ((i = 0; i < n; i++)); do
		h3_comes
		ip netns exec "$NS-h3" "$UDPFLOW" send --dest 10.0.0.2 --flows 4 \
			--rate 8m --duration 100s --id 5000 >/dev/null 2>&1 &
		hand=$!
		# Until it is paused, and then some random time
		paths_wait 3 port_in h3 eth0 tagging
		sleep 0.0$((RANDOM % 90 + 10))
		[ "$(qdisc_stat h3 eth0 paused bfc)" = 0 ] || paused=$((paused + 1))
		kill -9 "$hand"
		wait "$hand" 2>/dev/null
		del_ns h3
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
# one that went down, and those on the cable, from counters before and behind each place. Both ends of
# a cable are reset at once.
lost()
{
	diag "$1: $2 met a port that was down, $3 were in the qdisc of one that went down," \
		"$4 on the cable (which counts $5 with control frames)"
	is "$1: met a port that was down" "$2" "$(thrown "br_*")"
	is "$1: in the qdisc" "$3" "$(thrown "reset:*")"
	is "$1: on the cable" "$4" "$(thrown "wire_*")"
	between "$1: no more than it knows" "$4" 0 "$5"
	between "$1: ports and qdiscs lost some" $(($2 < $3 ? $2 : $3)) 1 "$sent"
	between "$1: most came through" "$received" $((sent / 2)) "$sent"
	accounted "$1"
}

# What waits behind the cable is unmarked at h1, and marked at p2
flaps_h1()
{
	local n=$1 left

	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	churns "flaps at h1" "$n" --every=20000 --down=2000 flap "$NS-h1/eth0" "$NS-sw/p1"
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
	churns "flaps at h2" "$n" --every=20000 --down=2000 flap "$NS-sw/p2" "$NS-h2/eth0"
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

# Packets that came to h2 with a tag when it had no port to take it off: not for this host, says the kernel. ip
# does not show the figure while it is 0.
not_for_h2()
{
	ip_in h2 -s -s -j link show eth0 | jq '.[0].stats64.rx.otherhost // 0'
}

reloads()
{
	local n=$1 ports=() port tagged

	for port in $PATHS_PORTS; do
		ports+=("$NS-${port%/*}/${port#*/}")
	done
	ip_in sw link set p2 type wire rate 20mbit
	traffic 3m
	tagged=$(not_for_h2)
	churns "reloads" "$n" --every=20000 --down=2000 --modules="$SLUICE_MODDIR" reload "${ports[@]}"
	sleep 0.1
	quiet "reloads"
	tagged=$(($(not_for_h2) - tagged))
	is "reloads: no port was down" $((bridged - into_h1)) 0
	is "reloads: no cable was" $((down1 + down2)) 0
	is "reloads: lost at h1 = in its qdiscs when they went" $((into_h1 - into_p2)) \
		"$(thrown "reset:*:eth0")"
	is "reloads: lost at p2 = in its qdiscs, or came to h2 with a tag when it had no port" \
		$((into_p2 - received)) $(($(thrown "reset:*:p2") + tagged))
	between "reloads: in bfc at p2" "$(thrown reset:bfc:p2)" "$n" "$sent"
	between "reloads: in what stood there between" "$(thrown reset:pfifo_fast:p2)" 1 "$sent"
	between "reloads: with a tag" "$tagged" 1 "$sent"
	between "reloads: some came through" "$received" $((sent / 10)) "$sent"
	accounted "reloads"
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
