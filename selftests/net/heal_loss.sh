#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Control frames are lost, doubled, late and damaged, and data is lost and damaged, while a switch
# pauses a sender all the time. Whatever is lost, every packet is accounted for, no sub-queue stays
# paused, and the ports tag again when the cable is good again.
#
#	h1 eth0 =====1G===== p1 sw:br0 p2 -----100M----- eth0 h2	wires of 2 us
#	   8 greedy flows -->
#
# Faults are on both cables, in both directions if not said otherwise. They stay until the last
# packet has arrived: what comes through must come through in spite of them.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

need_virtual_time
need_tool ethtool
paths_begin

FLOWS=8
TIME_MS=${SLUICE_HEAL_MS:-500}	# of sending, in each scenario
BYTES=1000		# UDP payload
FRAME=1046		# with headers and the fabric tag; behind the switch, towards the host, without the tag
LIMIT=200000		# bytes in front of the slow line
SLOW=100mbit
SLOW_BPMS=100000	# the same in bits per ms

PATHS_CABLE="rate 1gbit delay 2us ring 3k"
SW_IPV6=0 paths_build wire
for n in h1 h2; do
	in_ns $n sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null
done
BRIDGE="mcast_snooping 0" paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
in_ns sw bridge fdb replace "$h2_mac" dev p2 master static
in_ns sw bridge fdb replace "$h1_mac" dev p1 master static
ip_in sw link set p2 type wire rate $SLOW
for port in $PATHS_PORTS; do
	tc_in "${port%/*}" qdisc replace dev "${port#*/}" root handle 1: bfc limit $LIMIT ||
		die "no bfc"
done
tc_in h1 qdisc change dev eth0 root handle 1: bfc limit 10000000

GOOD="loss 0 loss_control 0 loss_data 0 loss_burst 1 duplicate 0 corrupt 0 reorder 0 reorder_delay 0"

# cables PORT WORDS...: options of both directions (all), or of those towards the sender (back),
# where nothing but control frames go
cables()
{
	local which=$1

	shift
	# shellcheck disable=SC2048,SC2086
	set -- $*
	[ "$which" = back ] ||
		{ ip_in h1 link set eth0 type wire "$@" && ip_in sw link set p2 type wire "$@"; } ||
		die "no $*"
	ip_in sw link set p1 type wire "$@" && ip_in h2 link set eth0 type wire "$@" || die "no $*"
}

# cable NS DEV KEY: what the cable counts of the frames that this end has sent
cable() { in_ns "$1" ethtool -S "$2" | awk -v key="$3:" '$1 == key { print $2 }'; }

# What goes into a cable comes out or is lost by a fault that is counted
books()
{
	local port

	for port in $PATHS_PORTS; do
		is "$port: the cable's books balance" "$(in_ns "${port%/*}" ethtool -S "${port#*/}" |
			awk '/: / { n[$1] = $2 }
			     END { went = n["sent_frames:"] + n["duplicated:"]
				   print went - n["arrived_frames:"] - n["loss_control:"] - n["loss_data:"] }')" 0
	done
}

number=0
# scenario NAME WHICH WORDS...: the flows run over cables with these faults for $TIME_MS. Sets
# $goodput in parts per thousand of the line, $pauses, $repeats, $expired, $dropped
scenario()
{
	local name=$1 which=$2 skip=$((TIME_MS / 10)) unique window

	shift 2
	number=$((number + 1))
	cables "$which" "$@" seed $number
	paths_from h1 h2
	paths_sink sink --idle 300ms --timeout 5s --skip ${skip}ms --window $((TIME_MS - skip))ms
	paths_send send --dest 10.0.0.2 --flows $FLOWS --duration ${TIME_MS}ms -l $BYTES \
		--sndbuf 100000 --id $((number * 100)) --json
	wait "$_sink"
	paths_shot "$PATHS_TMP/now"
	read -r pauses repeats refreshes expired deaths dropped < <(paths_moved '
		[p("sw/p1"; "pauses_tx"), p("sw/p1"; "state_repeats"), p("sw/p1"; "refresh_tx"),
		 p("h1/eth0"; "lease_expired"),
		 p("h1/eth0"; "neighbour_lost") + p("sw/p1"; "neighbour_lost"),
		 d("h1/eth0"; "drop_limit") + d("sw/p2"; "drop_limit")] | map(tostring) | join(" ")')
	sent=$(jq .packets "$PATHS_TMP/sent")
	read -r unique window < <(jq -r '[([.flows[] | .packets - .duplicate] | add),
		([.flows[].window_packets] | add)] | map(tostring) | join(" ")' "$PATHS_TMP/sink")
	goodput=$((window * (FRAME - 4) * 8 * 1000 / (SLOW_BPMS * (TIME_MS - skip))))
	table+=("$(printf "$FORMAT" "$name" $((goodput / 10)).$((goodput % 10)) "$pauses" \
		"$repeats" "$refreshes" "$expired" "$deaths" "$dropped" "$sent")")
	is "$name: sent = received + dropped at the limit" "$sent" $((unique + dropped))
	between "$name: goodput, per mille" "$goodput" 970 1005
	between "$name: pauses" "$pauses" "$LEAST_PAUSES" 100000
	cables all "$GOOD"
	healed "$name"
}

# towards_h2 KEY: of both cables, of what goes to h2, now
towards_h2() { echo $(($(cable h1 eth0 "$1") + $(cable sw p2 "$1"))); }

# flows_over NAME WHICH WORDS...: as scenario, but without its test points; sets $sent, $unique, $dropped, $wrong,
# $pauses
flows_over()
{
	local which=$2

	shift 2
	number=$((number + 1))
	cables "$which" "$@" seed $number
	paths_from h1 h2
	paths_sink sink --idle 300ms --timeout 5s
	paths_send send --dest 10.0.0.2 --flows $FLOWS --duration ${TIME_MS}ms -l $BYTES \
		--sndbuf 100000 --id $((number * 100)) --json
	wait "$_sink"
	paths_shot "$PATHS_TMP/now"
	read -r pauses dropped < <(paths_moved '[p("sw/p1"; "pauses_tx"),
		d("h1/eth0"; "drop_limit") + d("sw/p2"; "drop_limit") + d("sw/p2"; "drop_pool")] |
		map(tostring) | join(" ")')
	sent=$(jq .packets "$PATHS_TMP/sent")
	read -r unique wrong < <(jq -r '"\([.flows[] | .packets - .duplicate] | add) \(.corrupt)"' "$PATHS_TMP/sink")
	cables all "$GOOD"
}

# lost_data NAME: a tenth of all data is lost on either line, and each packet is received, or lost there,
# or dropped at the limit
lost_data()
{
	local before lost share

	before=$(towards_h2 loss_data)
	flows_over "$1" all loss_data 10%
	lost=$(($(towards_h2 loss_data) - before))
	diag "$1: $sent sent, $unique received, $lost lost on the lines, $dropped dropped, $pauses pauses"
	is "$1: sent = received + lost on the lines + dropped at the limit" "$sent" $((unique + lost + dropped))
	# 19 % of what goes by two lines, of some 6000 packets, give or take five standard deviations
	share=$((lost * 1000 / (sent - dropped)))
	between "$1: lost, per mille" $share 160 220
	between "$1: pauses" "$pauses" "$LEAST_PAUSES" 100000
	healed "$1"
}

# everywhere KIND [OPTION]...: a new qdisc at all ports; h1's has room for all that it sends
everywhere()
{
	local port

	for port in $PATHS_PORTS; do
		tc_in "${port%/*}" qdisc del dev "${port#*/}" root
		tc_in "${port%/*}" qdisc add dev "${port#*/}" root handle 1: "$1" limit $LIMIT "${@:2}" || die "no $1"
	done
	# shellcheck disable=SC2046
	tc_in h1 qdisc change dev eth0 root handle 1: "$1" limit 10000000 $([ "$1" = bfc ] || echo pool 10000000)
	check "the ports tag" paths_wait 10 paths_all tagging
}

# causes KEY...: how many frames all ports have refused for these
causes()
{
	local key expression=0

	for key; do
		expression+=" + ([\$now | keys[] as \$k | p(\$k; \"$key\")] | add)"
	done
	paths_moved "$expression"
}

# damage NAME: a tenth of all frames has a bit turned over, in both directions
damage()
{
	local port before=0 after=0 forward

	for port in $PATHS_PORTS; do
		before=$((before + $(cable "${port%/*}" "${port#*/}" corrupted)))
	done
	forward=$(towards_h2 corrupted)
	flows_over "$1" all corrupt 10%
	forward=$(($(towards_h2 corrupted) - forward))
	for port in $PATHS_PORTS; do
		after=$((after + $(cable "${port%/*}" "${port#*/}" corrupted)))
	done
	damaged=$((damaged + after - before))
	form=$((form + $(causes rx_version rx_malformed)))
	epochs=$((epochs + $(causes rx_epoch)))
	sources=$((sources + $(causes rx_shared)))
	refused=$((refused + $(causes rx_version rx_malformed rx_epoch rx_shared rx_range rx_stale)))
	between "$1: received or dropped, of $sent: all but what was damaged" $((unique + dropped)) \
		$((sent - forward)) "$sent"
	# One in a hundred has a bit turned over on either line. If these are at the same place of 16 bits, one up
	# and one down, which is one in 32, UDP's checksum does not see it.
	between "$1: nothing that is damaged once is taken for whole" "$wrong" 0 $((3 + sent / 1000))
	healed "$1"
}

# Nobody helps: the ports tag again, and nothing is held.
healed()
{
	check "$1: the ports tag again" paths_wait 5 paths_all tagging
	if wait_until 2 _all_quiet; then
		pass "$1: nothing is paused or counted"
	else
		fail "$1: nothing is paused or counted" "$(_something_paused)"
	fi
}

# burst N [ARG...]: so many packets of one flow at once, and what the port at h1 saw of it
burst()
{
	paths_from h1 h2
	paths_sink sink --expect "$1" --timeout 5s
	paths_send send --dest 10.0.0.2 --packets "$1" --flows 1 -l $BYTES --sndbuf 1000000 "${@:2}"
	wait "$_sink" || fail "$1 packets arrive" "$(cat "$PATHS_TMP/sink")"
	sleep 0.1
	paths_shot "$PATHS_TMP/now"
}

# One pause to the nanosecond. What p2 does with frames that h1 sends at once, by arithmetic:
# prints how many of them leave h1 before the pause bites, how long it lasts, and how much later
# than the frame that says so it begins, since what is on the line goes on.
#	model THRESHOLD SLOW: p2's, in ns on the line
model()
{
	awk -v th="$1" -v slow="$2" -v frame=$FRAME -v skb=$((FRAME - 4)) 'BEGIN {
		fast = frame * 8
		way = 60 * 8 + 2000		# of a control frame
		for (k = 0; !pause || k * fast < pause; k++) {
			at = (k + 1) * fast + 2000	# frame k comes to p2
			begin[k] = k && begin[k - 1] + slow > at ? begin[k - 1] + slow : at
			held = 1
			for (j = k - 1; j >= 0 && begin[j] > at; j--)
				held++
			if (held * skb > th) {
				last = begin[k]
				if (!pause)
					pause = at + way
			}
		}
		printf "%d %d %d\n", k, last + way - k * fast, k * fast - pause
	}'
}

exact_pauses()
{
	local th slow frames length late

	ip_in h1 link set eth0 type wire ring 0
	ip_in sw link set p2 type wire ring 0
	while read -r th slow; do
		ip_in sw link set p2 type wire rate $(((FRAME - 4) * 8000000000 / slow))
		tc_in sw qdisc change dev p2 root handle 1: bfc limit $LIMIT th "$th"
		sleep 0.05
		read -r frames length late < <(model "$th" "$slow")
		burst "$frames"
		is "threshold $th, $slow ns a frame: $frames frames, one pause of $length ns" \
			"$(paths_moved '"\(d("h1/eth0"; "pauses_obeyed")) \(d("h1/eth0"; "paused_time"))"')" \
			"1 $length"
	done <<-END
		3000 83360
		20000 83360
		3000 40000
		20000 32000
	END
}

# The resume and all later refreshes are lost: the pause lasts for the lease of the last state that
# came. That is the first refresh: there was none for long, so it follows the pause at the
# least distance.
lost_resume()
{
	local lease=20000000 frames length late start spacing

	spacing=$(cat /sys/module/hopctl/parameters/state_spacing_ns)

	tc_in sw qdisc change dev p1 root handle 1: bfc lease ${lease}ns refresh 5ms
	tc_in sw qdisc change dev p2 root handle 1: bfc limit $LIMIT th 3000
	ip_in sw link set p2 type wire rate 1mbit
	sleep 0.05
	read -r frames length late < <(model 3000 8336000)
	start=$(($("$UDPFLOW" now) + 200000000))
	{
		"$UDPFLOW" now --at=$((start + 3000000)) >/dev/null
		ip_in sw link set p1 type wire loss_control 100%
	} &
	burst "$frames" --at=$start
	wait
	is "the resume after $length ns is lost: one pause, until the lease of $lease ns ends" \
		"$(paths_moved '"\(d("h1/eth0"; "pauses_obeyed")) \(d("h1/eth0"; "paused_time")) " +
			"\(p("h1/eth0"; "lease_expired"))"')" "1 $((spacing + lease - late)) 1"
	cables all "$GOOD"
	ip_in sw link set p2 type wire rate $SLOW
	tc_in sw qdisc change dev p1 root handle 1: bfc lease auto refresh auto
	tc_in sw qdisc change dev p2 root handle 1: bfc limit $LIMIT th auto
	ip_in h1 link set eth0 type wire ring 3k
	ip_in sw link set p2 type wire ring 3k
	healed "lost resume"
}

# No control frame passes for longer than a lease, and than the dead interval
outage()
{
	local unique dropped sent before

	ip_in h1 link set eth0 type wire rate 160mbit
	sleep 0.05
	paths_from h1 h2
	paths_sink sink --idle 300ms --timeout 10s
	ip netns exec "$NS-h1" "$UDPFLOW" send --dest 10.0.0.2 --flows $FLOWS \
		--duration 3s -l $BYTES --sndbuf 100000 --json >"$PATHS_TMP/sent" 2>&1 &
	stream=$!
	sleep 0.5
	paths_shot "$PATHS_TMP/now"
	between "outage: p2's congestion pauses h1" "$(paths_moved 'p("sw/p1"; "pauses_tx")')" \
		10 1000000
	cables all loss_control 100%
	sleep 0.1
	paths_shot "$PATHS_TMP/now"
	is "a tenth of a second later: the lease has ended, the neighbour lives" "$(paths_moved '
		"\($now["h1/eth0"].paused) \(p("h1/eth0"; "lease_expired")) " +
		"\(p("h1/eth0"; "neighbour_lost"))"')" "0 1 0"
	sleep 1.2
	paths_shot "$PATHS_TMP/now"
	is "after the dead interval: lost once on either side, and plain" "$(paths_moved '
		"\(p("h1/eth0"; "neighbour_lost")) \(p("sw/p1"; "neighbour_lost")) " +
		"\($now["h1/eth0"].port.state) \($now["sw/p1"].port.state)"')" \
		"1 1 no_neighbour no_neighbour"
	is "nothing is paused" "$(paths_moved '"\($now["h1/eth0"].paused) " +
		"\($now["sw/p1"].port.pausing_queues)"')" "0 0"
	before=$(port_stat sw p1 pauses_tx)
	cables all "$GOOD"
	check "the ports tag again" paths_wait 5 paths_all tagging
	sleep 0.3
	between "and pause as before" "$(($(port_stat sw p1 pauses_tx) - before))" 10 1000000
	wait "$stream" "$_sink"
	paths_shot "$PATHS_TMP/now"
	dropped=$(paths_moved 'd("h1/eth0"; "drop_limit") + d("sw/p2"; "drop_limit")')
	unique=$(jq .packets "$PATHS_TMP/sink")
	sent=$(jq .packets "$PATHS_TMP/sent")
	diag "outage of 1.3 s: $sent sent, $unique received, $dropped dropped at the limit"
	is "outage: sent = received + dropped at the limit" "$sent" $((unique + dropped))
	ip_in h1 link set eth0 type wire rate 1gbit
	healed "outage"
}

# A time stamp that lost a bit far up: the HELLOs behind it must not be old for ever.
damaged_time()
{
	local hand

	ns x y
	ip_in x link add e0 type wire peer name e0 netns "$NS-y" || die "no cable"
	ip_in x link set e0 up
	ip_in y link set e0 up
	tc_in x qdisc replace dev e0 root handle 1: bfc
	in_ns y "$PATHS_DIR/hopframe" peer e0 for=3000 at=500 hello:sent=$((1 << 62)) >/dev/null &
	hand=$!
	sleep 2.8
	is "a damaged time stamp: refused, and the neighbour lives" \
		"$(tc_in x -j -s qdisc show dev e0 | jq -r '.[0].port |
			"\(.rx_range) \(.neighbour_up) \(.neighbour_lost)"')" "1 1 0"
	wait "$hand"
	del_ns x
	del_ns y
	unset "_spaces[-1]" "_spaces[-1]"
}

FORMAT='%-22s %8s %7s %8s %10s %7s %7s %8s %7s'
# shellcheck disable=SC2059
table=("$(printf "$FORMAT" faults goodput% pauses repeats refreshes expired deaths dropped sent)")

check "all four ports tag" paths_tagging

diag "one pause, computed"
exact_pauses
lost_resume
damaged_time

diag "control frames lost"
LEAST_PAUSES=$TIME_MS
scenario "none" all loss_control 0
none=$goodput
is "none: nothing is expired or dropped" "$expired $dropped" "0 0"
between "none: a full-size probe may delay an echo" "$repeats" 0 5
for loss in 0.1 1 5 10; do
	scenario "$loss%" all loss_control $loss%
	is "$loss%: no lease ends, nobody dies, nothing is dropped" "$expired $deaths $dropped" "0 0 0"
	# one in a thousand may be refreshes and echoes only
	between "$loss%: states are repeated" "$repeats" $((${loss%.*} > 0)) "$pauses"
done
LEAST_PAUSES=$((TIME_MS / 20))
scenario "30%" all loss_control 30%
scenario "50%" all loss_control 50%
for loss in 10 30 50; do
	scenario "$loss%, bursts of 10" all loss_control $loss% loss_burst 10
	between "$loss%, bursts of 10: leases end" "$expired" 1 100000
done

diag "control frames doubled, late, damaged"
LEAST_PAUSES=$TIME_MS
scenario "10% twice" all duplicate 10%
is "10% twice: nothing is expired or dropped" "$expired $dropped" "0 0"
stale=$(paths_moved 'p("h1/eth0"; "rx_stale") + p("sw/p1"; "rx_stale")')
between "10% twice: and known as such" "$stale" $((TIME_MS / 10)) 100000
scenario "10% late by 50 us" all reorder 10% reorder_delay 50us
is "10% late: nothing is expired or dropped" "$expired $dropped" "0 0"
stale=$(paths_moved 'p("h1/eth0"; "rx_stale") + p("sw/p1"; "rx_stale")')
between "10% late: and known as such" "$stale" $((TIME_MS / 10)) 100000
# Every other frame from another address makes the link a shared one, which does without pauses.
LEAST_PAUSES=1
TIME_MS=20
damaged=0
for round in 1 2 3 4 5 6; do
	damaged=$((damaged - $(cable sw p1 corrupted)))
	scenario "10% damaged, $round" back corrupt 10%
	damaged=$((damaged + $(cable sw p1 corrupted)))
done
between "frames were damaged" $damaged 50 100000

damaged=0 form=0 epochs=0 sources=0 refused=0
for round in 1 2 3 4; do
	damage "10% damaged both ways, $round"
done
diag "damaged: $damaged, refused: $refused, for their form $form, epoch $epochs, source $sources"
# Of the 60 bytes or so of a control frame 8 are epochs, 6 the source, 4 version, flags and length.
between "both ways: some refused for their form" $form 1 $damaged
between "both ways: some for their epochs" $epochs 1 $damaged
between "both ways: some for their source" $sources 1 $damaged
between "both ways: not more are refused than were damaged" $refused 1 $damaged

diag "data lost"
TIME_MS=${SLUICE_HEAL_MS:-500}
LEAST_PAUSES=1
lost_data "10% of data"
need_module sch_pfc
everywhere pfc pool $LIMIT pool-alpha 800%
lost_data "10% of data, pfc"
# Who pauses by flow or by destination loses control frames, too.
for kind in flowsail "floodgate mode pause"; do
	need_module "sch_${kind%% *}"
	# shellcheck disable=SC2086
	everywhere $kind
	lost_data "10% of data, ${kind%% *}"
	for loss in 10 50; do
		scenario "$loss%, ${kind%% *}" all loss_control $loss%
	done
done
everywhere bfc

diag "no control frames at all"
outage

TIME_MS=${SLUICE_HEAL_MS:-500}
LEAST_PAUSES=$TIME_MS
scenario "none again" all loss_control 0
is "none again: nothing is expired or dropped" "$expired $dropped" "0 0"
between "none again: a full-size probe may delay an echo" "$repeats" 0 5
# To 2 in a thousand; where the time is short, a queue that is full or empty at its ends makes more.
between "none again: goodput as at first" "$goodput" $((none - 2 - 400 / TIME_MS)) \
	$((none + 2 + 400 / TIME_MS))
books
diag "${table[@]}"
finish
