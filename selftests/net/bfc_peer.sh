#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A neighbour without the modules never gets a tagged frame, and nothing breaks: one that never had
# them, one that takes its qdisc away, one whose control frames are lost, one that is cut off. And
# whose pauses a port obeys.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	over wire; p2's line is the slow one
#
# h2 counts what comes in by a tc filter for each EtherType, which stands before every hook.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
hopframe=$PATHS_DIR/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built (make -C selftests)"

paths_build wire
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"
ip_in sw link set p2 type wire rate 100mbit

h2_counts=(802.1ad 802.1Q 0x88b5 ip)
tc_in h2 qdisc add dev eth0 clsact || skip_all "no clsact qdisc"
for i in 0 1 2 3; do
	tc_in h2 filter add dev eth0 ingress pref $((i + 1)) protocol "${h2_counts[i]}" \
		matchall action pass || skip_all "no tc filters"
done

# came PREF: how many frames have come in to h2 by then: 1 tagged, 2 by 802.1Q, 3 control, 4 IPv4
came()
{
	filter_stat h2 eth0 ingress packets "$1"
}

state_is() { port_in sw p2 "$1"; }
# p2 takes it for a switch, or it would not tag; and tags are to be taken off behind the filters
bfc_on_h2() { tc_in h2 qdisc replace dev eth0 root handle 1: bfc role host strip always; }

# From h1 to h2, a frame each millisecond for so many of them
stream_begins()
{
	paths_from h1 h2
	paths_sink sink --expect "$1" --timeout 20s --idle 3s
	# not by a function: a signal to a shell does not reach its child
	ip netns exec "$NS-h1" "$UDPFLOW" send --dest 10.0.0.2 --packets "$1" --rate 8m \
		>"$PATHS_TMP/sent" 2>&1 &
	stream=$!
}

stream_ends()
{
	wait "$stream"
	paths_arrived "$1: no frame is lost"
}

# Nothing tagged comes to h2 from now on: for a second of the stream
plain_from_here()
{
	local tagged all

	sleep 0.1	# what was on its way has come
	tagged=$(came 1)
	all=$(came 4)
	sleep 1
	is "$1: no tagged frame comes" "$(($(came 1) - tagged))" 0
	between "$1: but others" "$(($(came 4) - all))" 100 10000
}

diag "a neighbour that never had the modules"
for port in h1/eth0 sw/p1 sw/p2; do
	peer=auto
	[ "$port" != sw/p2 ] || peer=switch
	tc_in "${port%/*}" qdisc replace dev "${port#*/}" root handle 1: bfc th 1 peer $peer || die "no bfc"
done
check "the link beside it tags" paths_wait 10 port_in h1 eth0 tagging
is "its own does not" "$(port_stat sw p2 state)" no_neighbour
tmp=$PATHS_TMP
PATHS_TMP=$tmp/back
mkdir "$PATHS_TMP"
paths_from h2 h1
paths_sink sink --expect 2000 --timeout 20s
back=$_sink
PATHS_TMP=$tmp
paths_from h1 h2
paths_sink sink --expect 2000 --timeout 20s
in_ns h2 "$UDPFLOW" send --dest 10.0.0.1 --packets 2000 --rate 80m \
	>"$tmp/back/sent" 2>&1 &
paths_send send --dest 10.0.0.2 --packets 2000 --flows 1 --sndbuf 8000000
paths_arrived "2000 frames to it, from a faster link"
PATHS_TMP=$tmp/back _sink=$back paths_arrived "2000 frames from it"
is "it got no tagged frame" "$(came 1),$(came 2)" 0,0
between "it got HELLOs" "$(came 3)" 1 100000
is "and all the data" "$(came 4)" 2000
between "which was tagged one link before" "$(qdisc_stat h1 eth0 tagged bfc)" 2000 10000
between "and paused there" "$(qdisc_stat h1 eth0 pauses_obeyed bfc)" 1 1000000
between "by what queued here" "$(qdisc_stat sw p2 marks bfc)" 1 1000000
is "and nothing was dropped" "$(qdisc_stat sw p2 drop_limit bfc)" 0

diag "one that takes its qdisc away"
bfc_on_h2
check "with bfc it gets tagged frames" paths_wait 10 state_is tagging
before=$(came 1)
stream_begins 4000
sleep 1
between "a frame each millisecond" "$(($(came 1) - before))" 500 2000
tc_in h2 qdisc del dev eth0 root
sleep 0.5	# silence alone would take a second
check "its goodbye is heard" state_is no_neighbour
plain_from_here "goodbye"
stream_ends "goodbye"

diag "one whose control frames are lost"
bfc_on_h2
check "it is back" paths_wait 10 state_is tagging
stream_begins 5000
sleep 1
lost=$(port_stat sw p2 neighbour_lost)
ip_in h2 link set eth0 type wire loss_control 100%
check "it counts as dead" paths_wait 3 state_is no_neighbour
is "once" "$(($(port_stat sw p2 neighbour_lost) - lost))" 1
plain_from_here "dead"
ip_in h2 link set eth0 type wire loss_control 0
check "it is heard again, and gets tags" paths_wait 3 state_is tagging
stream_ends "dead"

diag "one that is cut off while it loses its qdisc"
stream_begins 4000
sleep 0.5
ip_in h2 link set eth0 type wire loss_control 100%
tc_in h2 qdisc del dev eth0 root
check "it counts as dead" paths_wait 3 state_is no_neighbour
plain_from_here "cut off"
stream_ends "cut off"
ip_in h2 link set eth0 type wire loss_control 0

diag "tags that are not wanted"
sleep 1.5
bfc_on_h2
check "it is back" paths_wait 10 state_is tagging
stream_begins 8000
tc_in sw qdisc change dev p2 root handle 1: bfc notag
is "notag" "$(port_stat sw p2 state)" disabled
plain_from_here "notag"
tc_in sw qdisc change dev p2 root handle 1: bfc tag
check "tags again" paths_wait 10 state_is tagging
tc_in sw qdisc change dev p2 root handle 1: bfc tpid 0x8100
is "another TPID" "$(port_stat sw p2 state)" tpid
plain_from_here "another TPID"
tc_in sw qdisc change dev p2 root handle 1: bfc tpid 0x88a8
check "tags with the same one" paths_wait 10 state_is tagging
ip_in h2 link set eth0 down
check "no carrier" paths_wait 1 state_is no_carrier
ip_in h2 link set eth0 up
check "tags after the carrier is back" paths_wait 10 state_is tagging
kill "$stream" "$_sink" 2>/dev/null
wait "$stream" "$_sink" 2>/dev/null

diag "whom h1 obeys: sw, which is a switch and holds back what is for the slow line"
# obeys ROLE: 500 frames of h1, to which sw is that; sets $obeyed, $untrusted and $paused
obeys()
{
	tc_in h1 qdisc change dev eth0 root handle 1: bfc peer "$1" || fail "peer $1"
	sleep 0.5
	paths_from h1 h2
	paths_udp "peer $1: data arrives" 500 10.0.0.2
	sleep 0.1
	paths_shot "$PATHS_TMP/now"
	obeyed=$(paths_moved 'd("h1/eth0"; "pauses_obeyed")')
	untrusted=$(paths_moved 'p("h1/eth0"; "rx_untrusted")')
	paused=$(paths_moved 'p("sw/p1"; "pauses_tx")')
}

obeys auto
between "peer auto: sw has paused" "$paused" 1 1000000
between "peer auto: obeyed" "$obeyed" 1 1000000
is "peer auto: nothing ignored" "$untrusted" 0
obeys switch
between "peer switch: sw has paused" "$paused" 1 1000000
between "peer switch: obeyed" "$obeyed" 1 1000000
is "peer switch: nothing ignored" "$untrusted" 0
obeys host
is "peer host: nothing obeyed" "$obeyed" 0
is "peer host: nor paused, as it gets no tags" "$paused,$untrusted" 0,0

tc_in h2 qdisc del dev eth0 root
sleep 1.5
tagged=$(came 1)
diag "whom p2 obeys: h2 has no module, and a program that claims what it likes and pauses all"
# claims ROLE PEER: a neighbour that says that it is ROLE, and is taken for PEER
epoch=10
claims()
{
	local hand state=no_strip

	[ "$2" != host ] && [ "$1 $2" != "host auto" ] || state=host
	epoch=$((epoch + 1))
	tc_in sw qdisc replace dev p2 root handle 2: bfc peer "$2"
	tc_in sw qdisc replace dev p2 root handle 1: bfc peer "$2"
	untrusted=$(port_stat sw p2 rx_untrusted)
	in_ns h2 "$hopframe" peer eth0 mine=$epoch role="$1" flags=0 for=1500 at=200 \
		state:seq=1,lease=500000000,words=ffffffffffffffff+ffffffffffffffff >/dev/null &
	hand=$!
	check "$1 as $2: is a neighbour" paths_wait 3 state_is $state
	sleep 0.4
	paths_from h1 h2
	paths_udp "$1 as $2: data arrives" 200 10.0.0.2
	obeyed=$(qdisc_stat sw p2 pauses_obeyed bfc)
	untrusted=$(($(port_stat sw p2 rx_untrusted) - untrusted))
	wait "$hand"
}

for claim in "host auto" "host host" "switch host"; do
	# shellcheck disable=SC2086
	claims $claim
	is "${claim/ / as }: nothing obeyed" "$obeyed" 0
	is "${claim/ / as }: ignored" "$untrusted" 1
done
for claim in "switch auto" "host switch"; do
	# shellcheck disable=SC2086
	claims $claim
	is "${claim/ / as }: obeyed, every sub-queue" "$obeyed" 128
	is "${claim/ / as }: nothing ignored" "$untrusted" 0
done
is "none of them got a tagged frame" "$(came 1)" "$tagged"

finish
