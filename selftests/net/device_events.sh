#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What may happen to a device, under traffic, for each kind of qdisc: it gets another name, speed or
# MTU, loses its carrier, is the slave of a bond that fails over, comes under a VRF, moves to another
# namespace, gets XDP and classifiers; and the modules are unloaded.
#
#	            e0 --- p1 \                wires of 400 Mb/s, the last one of 40 Mb/s
#	h1: bond0 <             br0 [ sw ] p2 --- e0 h2
#	            e1 --- p3 /
#
# The kind is at the root of all seven devices. h1 sends four flows, a quarter more than p2 carries,
# so a queue stands somewhere while it happens. What must be true then:
#
#	event      of all kinds                      bfc, pfc and flo*        rocc
#	name       counters go on under the new one  sluice and events say it
#	speed      p2 sends at it; nothing is lost   link_rate; th and ql     q_ref, fair_rate, limiters
#	MTU        nothing is lost; long frames pass th, ql: a frame at least
#	carrier    p2 holds nothing                  no pause is left         limiters go
#	bond       flows go by the other slave       no pause on the dead one limited there
#	VRF        forwards within it                handles are honoured     CNPs find their way
#	namespace  p2 comes without its qdisc        no pause is left         limiters go
#	filters    nothing is lost or overtaken      tags stop and come back  CNPs are heard
#	modules    in use: refused; then new ones count from zero
#
# Where the link stays nothing may be lost. Where it goes, what p2 and its card held may be, and what
# was sent until there was a way again; the next packets all arrive. After each event all gauges come
# back to zero.
#
# With floodgate h1 is a switch, since only between switches there are windows: the queue is its VOQ.
#
# $SLUICE_KINDS (bfc,floodgate,flowsail,pfc,rocc,ideal): these kinds only.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"
need_tool ethtool
paths_begin
need_module bonding vrf
BPFPASS=$PATHS_DIR/bpfpass
find_sluice

FLOWS=4
LENGTH=1000
FRAME=$((LENGTH + 42))
RATE=5000000			# of p2, bytes per second
OFFERED=12500000		# bit/s of payload of each flow
HRTT=4000000			# ns: HRTT x rate is 20000 bytes
T=5000000			# ns: 75 % of rate x T are 18750 bytes
MTU=1500
LONG_MTU=9000
from=h1 to=h2 sent=0
WRONG="corrupt|duplicate|reordered"
PORTS="h1/e0 h1/e1 sw/p1 sw/p3 sw/p2 h2/e0"
gateway=$(mac 3 9)

# batch NS LINES: commands of ip, in one process
batch() { ip -n "$NS-$1" -batch - <<<"$2" || fail "$1: $2"; }

build()
{
	local name

	ns h1 sw h2 away
	for name in h1 sw h2 away; do
		in_ns $name sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
	done
	in_ns sw sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
	PATHS_CABLE="rate 400mbit delay 2us"
	paths_cable wire h1 e0 "$(mac 1)" sw p1 "$(mac 3 1)"
	paths_cable wire h1 e1 "$(mac 1 1)" sw p3 "$(mac 3 3)"
	PATHS_CABLE="rate 40mbit delay 2us"
	# The kernel takes a device whose peer has the same number for one that need not be looked at in a hurry.
	ip_in h2 link add other type dummy
	paths_cable wire h2 e0 "$(mac 2)" sw p2 "$(mac 3 2)"
	# ARP is off at p2: what waits for an address there is sent by the process that tells it, and new packets overtake it.
	batch sw "link add br0 address $gateway type bridge mcast_snooping 0
		link set p1 master br0
		link set p3 master br0
		link set br0 up
		addr add 10.0.1.254/24 dev br0
		link set p2 arp off
		addr add 10.0.2.254/24 dev p2"
	batch h1 "link add bond0 address $(mac 1) type bond mode active-backup miimon 20 primary e0
		link set e0 down
		link set e1 down
		link set e0 master bond0
		link set e1 master bond0
		link set bond0 up
		addr add 10.0.1.1/24 dev bond0
		neigh replace 10.0.1.254 lladdr $gateway nud permanent dev bond0
		route add default via 10.0.1.254"
	batch h2 "addr add 10.0.2.1/24 dev e0
		neigh replace 10.0.2.254 lladdr $(mac 3 2) nud permanent dev e0
		route add default via 10.0.2.254"
	know
}

# What a device forgets that was down
know()
{
	batch sw "neigh replace 10.0.2.1 lladdr $(mac 2) nud permanent dev ${1:-p2}
		neigh replace 10.0.1.1 lladdr $(mac 1) nud permanent dev br0"
}

# ---- the kind ----

# options NS/DEV
options()
{
	case $kind/$1 in
	bfc/h*|flowsail/h*) echo "role host" ;;
	bfc/sw/p2|flowsail/sw/p2) echo "hrtt ${HRTT}ns" ;;
	floodgate/h1/*) echo "role switch" ;;
	pfc/h*) echo "role host pool 64m" ;;
	pfc/*) echo "pool 64m pool-pause-alpha 0.03%" ;;	# who has more than 20132 bytes there is paused
	rocc/sw/p2) echo "interval ${T}ns" ;;
	rocc/h*) echo "role host hold 100ms" ;;
	esac
}

# put NS/DEV: a new qdisc of the kind
# shellcheck disable=SC2046
put() { tc_in "${1%/*}" qdisc replace dev "${1#*/}" root handle 1: "$kind" $(options "$1") || fail "$kind at $1"; }

put_all()
{
	local port

	for port in $PORTS; do
		put "$port"
	done
}

figs() { kind_figs "$kind" "$@"; }
PORTED="@([bp]fc|flo*)" PAUSING="@([bp]fc|flowsail)"
# shellcheck disable=SC2053
has_port() { [[ $kind = $PORTED ]]; }
# shellcheck disable=SC2053
has_pauses() { [[ $kind = $PAUSING ]]; }

# figs_of KINDS NS DEV KEY...: the same, but 0 for each KEY that other kinds have not
# shellcheck disable=SC2053
figs_of()
{
	[[ $kind = $1 ]] && figs "${@:2}" || REPLY=$(printf '0 %.0s' "${@:4}")
	REPLY=${REPLY% }
}

# fig_is NS DEV KEY VALUE
fig_is()
{
	figs "$1" "$2" "$3"
	[ "$REPLY" = "$4" ]
}

# comes NAME NS DEV KEY VALUE: waits for it
comes()
{
	paths_wait 5 fig_is "${@:2}"
	is "$1" "$REPLY" "$5"
}

# ends: as many END may leave by p2 meanwhile
ends() { [ $kind = floodgate ] && echo $((total / 8)) || echo 0; }

# state_comes NAME NS DEV STATE: waits until the port is in it
state_comes() { check "$1" paths_wait 10 port_in "$2" "$3" "$4"; }

# Nothing is queued, and no neighbour holds anything
gauges_zero()
{
	local name key qdisc

	_look
	above=$_standing
	for name in h1 sw h2; do
		qdiscs_in "$(tc_in $name -j -s qdisc show)" $kind
		for qdisc in "${qdiscs[@]}"; do
			for key in qlen backlog; do
				figure_in "$qdisc" "$key"
				[ "$REPLY" = 0 ] || above+=" $name/$key:$REPLY"
			done
		done
	done
	[ -z "$above" ]
}

# ready: neighbours know each other, and nothing is left of what was before
ready()
{
	sleep 0.2
	if has_port; then
		paths_wait 10 port_in h1 "${1:-e0}" tagging || fail "$event: h1 tags"
	fi
	paths_wait 10 gauges_zero
	is "$event: all gauges are zero" "$above" ""
}

# ---- traffic ----

# Where a process takes time, so that it is still under way
[ "${SLUICE_HOME:-}" = uml ] && MANY=1 || MANY=4

# flows N: N packets of each flow, in the background
flows()
{
	local n=$(($1 * MANY))

	total=$((FLOWS * n))
	paths_sink sink --expect $total --timeout 10s --idle 1s
	ip netns exec "$NS-h1" "$UDPFLOW" send --dest 10.0.2.1 -f $FLOWS -l $LENGTH \
		--rate $OFFERED --sndbuf 4m -n $n >"$PATHS_TMP/sent" 2>&1 &
	sender=$!
}

# under_way N: flows, and a queue stands
under_way()
{
	flows "$1"
	sleep 0.1
}

# held: packets in the qdiscs of the way, and what the card of p2 may hold
held()
{
	local name qdisc

	is_held=$((65536 / FRAME + 3))
	for name in h1 sw; do
		qdiscs_in "$(tc_in $name -j -s qdisc show)" $kind
		for qdisc in "${qdiscs[@]}"; do
			figure_in "$qdisc" qlen
			is_held=$((is_held + REPLY))
		done
	done
	since=${EPOCHREALTIME/./}
}

# gone: from held() to here there was no way, or none of that kind
gone()
{
	local us=$((${EPOCHREALTIME/./} - since))

	may_lose=$((is_held + us * FLOWS * (OFFERED / 8) / LENGTH / 1000000 + FLOWS))
}

# arrive NAME [MOST]: all of it does, but for so many at most
arrive()
{
	local packets said lost

	wait $sender
	wait $_sink
	said=$(<"$PATHS_TMP/sink")
	figure_in "${said#'{'}" packets		# not those of a flow
	packets=${REPLY:-0}
	lost=$((total - packets))
	echo "# $1: $lost of $total lost${2:+, $2 may be}"
	if [ -z "${2:-}" ]; then
		is "$1: nothing is lost" "$lost" 0
	elif [ "${SLUICE_HOME:-}" = uml ]; then
		between "$1: no more is lost than had no way" "$lost" 0 "$2"
	else
		between "$1: traffic has come back" "$packets" 1 "$total"
	fi
	[[ $said =~ \"($wrong)\":[1-9][0-9]* ]]
	is "$1: nothing is $wrong" "${BASH_REMATCH[0]-}" ""
}

# again NAME: after it was gone all arrives
again()
{
	flows 100
	arrive "$1, afterwards"
	ready
}

# ---- what happens ----

# rename FROM TO: at once, or where the kernel wants that, while the device is down
rename()
{
	ip_in sw link set "$1" name "$2" 2>/dev/null && return
	batch sw "link set $1 down
		link set $1 name $2
		link set $2 up"
	know "$2"
}

event_name()
{
	local before

	under_way 250
	figs sw p2 packets
	before=$REPLY
	held
	rename p2 q2
	gone
	arrive "$event" $may_lose
	figs sw q2 packets
	between "$event: the counters go on" "$REPLY" $((before + 1)) 1000000
	is "$event: there is no old one" "$(tc_in sw qdisc show | grep -c 'dev p2 ')" 0
	if has_port && [ -x "$sluice" ]; then
		is "$event: sluice shows it" \
		   "$("$sluice" -n "$NS-sw" -j show | jq -r '[.[].dev] | unique | join(" ")')" "p1 p3 q2"
		timeout 5 "$sluice" -n "$NS-sw" monitor --count 1 q2 >"$PATHS_TMP/event" 2>&1 &
		monitor=$!
		sleep 0.1
		ip_in sw link set q2 carrier off
		paths_wait 5 port_in sw q2 no_carrier
		ip_in sw link set q2 carrier on
		wait $monitor
		is "$event: its events name it" "$(cut -d' ' -f2 "$PATHS_TMP/event")" q2
	fi
	rename q2 p2
	again "$event"
}

# threshold NAME RATE: th of bfc, or Q_l of flowsail, is HRTT x rate / N_active, and a frame at least
threshold()
{
	local key=th th n want

	[ $kind = bfc ] || key=ql_bytes
	figs sw p2 $key n_active link_rate
	read -r th n rate <<<"$REPLY"
	want=$((HRTT * $2 / 1000000000 / (n ? n : 1)))
	is "$1: $key is of $n sub-queues at $2 bytes/s" "$th $rate" "$((want > MTU + 14 ? want : MTU + 14)) $2"
}

# follows NAME RATE: what goes by the speed of p2 is by this one
follows()
{
	case $kind in
	bfc|flowsail) threshold "$1" "$2" ;;
	floodgate|pfc)
		figs sw p2 link_rate
		is "$1: of its rate control packets have a share" "$REPLY" "$2" ;;
	rocc)
		figs sw p2 q_ref fair_rate
		is "$1: the reference is 75 % of rate x T" "${REPLY% *}" $((T * 75 / 100 * ($2 / 1000) / 1000000))
		between "$1: the fair rate is its rate at most" "${REPLY#* }" 1 "$2" ;;
	esac
}

# recovers RATE: p2 has offered 70 % of its share of this rate, or more
recovers()
{
	figs sw p2 fair_rate
	[ $((REPLY * FLOWS)) -ge $(($1 / 10 * 7)) ]
}

event_speed()
{
	local half=$((RATE / 2)) packets=600 bytes accepted obeyed waited

	follows "$event, before" $RATE
	figs_of "$PAUSING" h1 e0 pauses_obeyed
	obeyed=$REPLY
	figs_of floodgate h1 e0 voq_packets
	waited=$REPLY
	figs_of rocc h1 e0 accepted
	accepted=$REPLY
	# The queue that stands is twice the reference then, for which rocc may take all but the least rate away.
	[ $kind != rocc ] || packets=2400
	under_way $packets
	check "$event: it is set" in_ns sw ethtool -s p2 speed $((half * 8 / 1000000))
	follows "$event, under way" $half
	sleep 0.2
	[ $kind != rocc ] || check "$event: and gives it back" wait_until -e 10 2 recovers $half
	bytes=$(link_stat sw p2 tx_bytes)
	sleep 0.1
	bytes=$(($(link_stat sw p2 tx_bytes) - bytes))
	# what begins before and ends after is counted whole
	[ "${SLUICE_HOME:-}" != uml ] ||
		between "$event: p2 sends at it" $bytes $((half / 10 * 7 / 10)) $((half / 10 + FRAME))
	arrive "$event"
	figs_of "$PAUSING" h1 e0 pauses_obeyed
	! has_pauses || between "$event: h1 is paused for it" $((REPLY - obeyed)) 1 100000
	figs_of floodgate h1 e0 voq_packets
	[ $kind != floodgate ] || between "$event: packets wait at h1 for it" $((REPLY - waited)) 1 $total
	figs_of rocc h1 e0 accepted
	[ $kind != rocc ] || between "$event: flows are limited" $((REPLY - accepted)) 1 100000
	ready
	follows "$event, at rest" $half
	[ $kind != rocc ] || comes "$event, at rest: all of it is offered" sw p2 fair_rate $half
	in_ns sw ethtool -s p2 speed $((RATE * 8 / 1000000))
	follows "$event, as before" $RATE
}

# mtu BYTES: of all
mtu()
{
	batch sw "link set p1 mtu $1
		link set p3 mtu $1
		link set br0 mtu $1
		link set p2 mtu $1"
	batch h2 "link set e0 mtu $1"
	batch h1 "link set bond0 mtu $1"
	MTU=$1
}

event_mtu()
{
	local tagged

	under_way 250
	mtu $LONG_MTU
	arrive "$event, larger"
	ready
	figs_of "$PORTED" h1 e0 tagged
	tagged=$REPLY
	LENGTH=$((LONG_MTU - 28)) flows 40
	arrive "$event: frames of $LONG_MTU bytes"
	ready
	if has_port; then
		figs h1 e0 tagged
		is "$event: they are tagged" $((REPLY - tagged)) $total
	fi
	if [[ $kind = @(bfc|flowsail) ]]; then
		tc_in sw qdisc change dev p2 root $kind hrtt 1ms
		HRTT=1000000 threshold "$event, larger" $RATE
	fi
	under_way 250
	mtu 1500
	arrive "$event, as before"
	ready
	if [[ $kind = @(bfc|flowsail) ]]; then
		HRTT=1000000 threshold "$event, as before" $RATE
		tc_in sw qdisc change dev p2 root $kind hrtt ${HRTT}ns
	fi
}

# nothing_held NAME: of what waits at p2, which is gone, nobody upstream is held any more
nothing_held()
{
	comes "$1: p2 holds nothing" sw p2 qlen 0
	[ $kind != floodgate ] || comes "$1: no credit is owed for what is there" sw p2 queued 0
	has_pauses || return 0
	comes "$1: it pauses nobody" sw p2 marked 0
	comes "$1: nor does p1" sw p1 pausing_queues 0
	comes "$1: h1 is free" h1 e0 paused 0
}

event_carrier()
{
	under_way 600
	held
	ip_in sw link set p2 carrier off
	check "$event: the kernel has seen it" wait_until 5 link_is down
	nothing_held "$event"
	! has_port || state_comes "$event: the port says so" sw p2 no_carrier
	ip_in sw link set p2 carrier on
	check "$event: and that it is back" wait_until 5 link_is up
	gone
	arrive "$event" $may_lose
	again "$event"
}
# Not its carrier, which it has before the kernel acts; "lowerlayerdown" is down, too
link_is() { [[ $(in_ns sw cat /sys/class/net/p2/operstate) == *"$1" ]]; }

active_is() { [ "$(in_ns h1 cat /sys/class/net/bond0/bonding/active_slave)" = "$1" ]; }

event_bond()
{
	local before

	under_way 600
	figs h1 e1 packets
	before=$REPLY
	held
	ip_in sw link set p1 carrier off
	check "$event: the other slave is active" wait_until 5 active_is e1
	gone
	[ $kind != floodgate ] || comes "$event: nothing counts on the dead one" h1 e0 windows 0
	if has_pauses; then
		comes "$event: nothing is paused on the dead one" h1 e0 paused 0
		comes "$event: at its other end neither" sw p1 pausing_queues 0
	fi
	comes "$event: the dead one holds nothing" h1 e0 qlen 0
	arrive "$event" $may_lose
	figs h1 e1 packets
	between "$event: flows go by the other one" $((REPLY - before)) 1 1000000
	ready e1
	wrong="corrupt|duplicate"	# what waits at the other may be overtaken
	under_way 250
	if [ $kind = rocc ]; then
		figs h1 e1 accepted
		between "$event: flows are limited there" "$REPLY" 1 1000000
	fi
	ip_in sw link set p1 carrier on
	check "$event: back to the first" wait_until 5 active_is e0
	arrive "$event, and back"
	wrong=$WRONG
	again "$event"
}

event_vrf()
{
	local before now accepted waited

	under_way 250
	held
	batch sw "link add vrf0 type vrf table 10
		link set vrf0 up
		link set br0 master vrf0
		link set p2 master vrf0"
	know
	gone
	arrive "$event" $may_lose
	ready
	figs_of "@(bfc|flowsail)" sw p2 over_unlabelled
	before=$REPLY
	figs_of "$PAUSING" sw p2 handle_forged marks
	before+=" $REPLY"
	figs_of floodgate h1 e0 voq_packets
	waited=$REPLY
	figs_of rocc h1 e0 accepted
	accepted=$REPLY
	flows 250
	arrive "$event, within"
	case $kind in
	[bp]fc|flowsail)
		figs_of "@(bfc|flowsail)" sw p2 over_unlabelled
		now=$REPLY
		figs sw p2 handle_forged marks
		now+=" $REPLY"
		is "$event: whatever waits is known to have come by p1" "${now% *}" "${before% *}"
		between "$event: and it is paused there" $((${now##* } - ${before##* })) 1 $total ;;
	floodgate)
		figs sw p2 handle_forged
		is "$event: p2 believes where packets came from" "$REPLY" 0
		figs h1 e0 voq_packets
		between "$event: and h1 has its windows" $((REPLY - waited)) 1 $total ;;
	rocc)
		figs_of rocc h1 e0 accepted
		between "$event: h1 hears its CNPs" $((REPLY - accepted)) 1 100000 ;;
	esac
	under_way 250
	held
	batch sw "link set p2 nomaster
		link set br0 nomaster
		link del vrf0"
	know
	gone
	arrive "$event, and out" $may_lose
	again "$event"
}

event_namespace()
{
	under_way 600
	held
	ip_in sw link set p2 netns "$NS-away"
	! has_pauses || {
		comes "$event: p1 pauses nobody" sw p1 pausing_queues 0
		comes "$event: h1 is free" h1 e0 paused 0
	}
	is "$event: it goes without its qdisc" "$(tc_in away qdisc show dev p2 | grep -c " $kind ")" 0
	ip_in away link set p2 netns "$NS-sw"
	batch sw "link set p2 up
		addr replace 10.0.2.254/24 dev p2"
	know
	put sw/p2
	gone
	arrive "$event" $may_lose
	figs sw p2 packets
	# frames that ports say of themselves are none of those that a qdisc sends, but for END
	between "$event: a new qdisc there counts from zero" "$REPLY" 1 $((total + $(ends)))
	again "$event"
}

# filtered NS DEV: clsact with a filter on the way in that lets all pass
filtered()
{
	tc_in "$1" qdisc add dev "$2" clsact && tc_in "$1" filter add dev "$2" ingress matchall action pass ||
		fail "$event: a filter at $1/$2"
}

unfiltered() { tc_in "$1" qdisc del dev "$2" clsact; }

# program NS DEV: XDP that lets all pass, for as long as it runs
program()
{
	ip netns exec "$NS-$1" "$BPFPASS" xdp "$2" >"$PATHS_TMP/xdp" 2>&1 &
	programs+=($!)
	wait_until 5 grep -qx attached "$PATHS_TMP/xdp" || diag "XDP at $1: $(cat "$PATHS_TMP/xdp")"
}

# When clsact comes or goes the kernel empties the qdiscs at the root of the device: p1 holds nothing.
event_filters()
{
	local lost accepted

	programs=()
	under_way 400
	figs_of "$PORTED" sw p1 neighbour_lost
	lost=$REPLY
	figs_of rocc h1 e0 accepted
	accepted=$REPLY
	filtered sw p1
	program sw p1
	program h1 e0
	! has_port || state_comes "$event: h1 stops to tag" h1 e0 no_strip
	arrive "$event, come"
	flows 400
	sleep 0.1
	kill "${programs[@]}"
	wait "${programs[@]}" 2>/dev/null
	unfiltered sw p1
	arrive "$event, go"
	ready
	case $kind in
	[bp]fc|flo*)
		figs sw p1 neighbour_lost tag_errors
		is "$event: the neighbour was heard all the time" "$REPLY" "$lost 0" ;;
	rocc)
		figs_of rocc h1 e0 accepted
		between "$event: CNPs were" $((REPLY - accepted)) 1 100000 ;;
	esac
	under_way 400
	held
	filtered sw p2
	gone
	arrive "$event, where the queue is" $may_lose
	unfiltered sw p2
	again "$event"
}

event_modules()
{
	local port modules=sch_$kind module

	[ $kind != bfc ] || modules="sch_bfc hopctl"
	OFFERED=9000000 under_way 250
	held
	for module in $modules; do
		refused "$event: $module is in use" "$module" rmmod $module
	done
	leave_ports
	for port in $PORTS; do
		tc_in "${port%/*}" qdisc del dev "${port#*/}" root
	done
	for module in $modules; do
		check "$event: $module can be unloaded now" wait_until 5 rmmod $module
	done
	gone
	arrive "$event, without" $may_lose
	flows 200
	held
	# shellcheck disable=SC2086
	need_module $(printf '%s\n' $modules | tac)
	put_all
	gone
	arrive "$event, anew" $may_lose
	ready
	figs sw p2 packets
	between "$event: they count from zero" "$REPLY" 0 $((total + 100 + $(ends)))
	again "$event"
}

build
for kind in $(tr , " " <<<"${SLUICE_KINDS:-bfc,floodgate,flowsail,pfc,rocc,ideal}"); do
	diag "$kind"
	! has_port || need_module hopctl
	need_module sch_$kind
	put_all
	event="$kind: at first"
	ready
	for what in ${SLUICE_EVENTS:-name speed mtu carrier bond vrf namespace filters modules}; do
		event="$kind: $what"
		wrong=$WRONG
		event_$what
	done
	leave_ports
	for port in $PORTS; do
		tc_in "${port%/*}" qdisc del dev "${port#*/}" root
	done
done
finish
