#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Two ports and what may happen between them and to them.
#
#	a (bfc on p) --- xa [ m: bridge ] xb --- (bfc on q) b
#
# m's bridge forwards control frames, which a bridge does not do by itself: it stands for the
# cable, on which frames can be dropped by kind, kept and played back.

. "$(dirname "$0")/lib.sh"
need_tool ip tc
load_modules hopctl sch_bfc

hopframe=$(cd "$(dirname "$0")" && pwd)/hopframe
[ -x "$hopframe" ] || skip_all "hopframe is not built"

ns a b m
ip_in m link add br0 type bridge group_fwd_mask 0x4000
ip_in m link set br0 up
cable()
{
	ip_in "$1" link add "$2" numtxqueues 4 numrxqueues 4 address "$(mac "$4")" type veth \
		peer name "$3" netns "$NS-m"
	ip_in m link set "$3" master br0 up
	ip_in "$1" link set "$2" up
}
cable a p xa 1
cable b q xb 2

declare -A port
# look NAME DEV: all figures of its port
look()
{
	port=()
	port_of "$1" "$2" && fields_of "$REPLY" port
}

# has WHAT NAME DEV KEY VALUE: waits for it; what is asked next is of the same moment
has()
{
	comes_to "$1" port "$4" "$5" 6 look "$2" "$3"
}

both_tag()
{
	has "$1: a tags" a p state tagging
	has "$1: b tags" b q state tagging
}

# drop DEV PROTOCOL: m drops what comes in there of that kind
drop()
{
	tc_in m qdisc add dev "$1" clsact
	tc_in m filter add dev "$1" ingress protocol "$2" matchall action drop
}
let_pass() { tc_in m qdisc del dev "$1" clsact; }

kept=$(mktemp)
trap 'rm -f "$kept"; _at_exit' EXIT

diag "up, and anew"
tc_in a qdisc add dev p root bfc queues 64 role switch
tc_in b qdisc add dev q root bfc queues 32 role switch
both_tag "at first"
is "b's neighbour" "${port[peer_mac]},${port[peer_queues]}" "$(mac 1),64"
is "b has come up once" "${port[neighbour_up]}" 1
in_ns m "$hopframe" listen xa for=1000 save="$kept" >/dev/null
tc_in a qdisc del dev p root
has "b loses a at its goodbye" b q neighbour_lost 1
tc_in a qdisc add dev p root bfc queues 64 role switch
both_tag "again"
is "b has come up twice" "${port[neighbour_up]}" 2

diag "what a said under its old epoch is played back to b"
in_ns m "$hopframe" replay xb "$kept" n=3 >/dev/null
look b q
is "b has the same neighbour" "${port[state]},${port[neighbour_up]},${port[neighbour_lost]}" \
	tagging,2,1
between "and drops what is old" "${port[rx_epoch]}" 1 100000
in_ns m "$hopframe" listen xa for=1000 save="$kept" >/dev/null
in_ns m "$hopframe" replay xb "$kept" n=3 >/dev/null
look b q
between "HELLOs of this epoch are not taken twice" "${port[rx_stale]}" 1 100000
is "and b has the same neighbour" "${port[state]},${port[neighbour_up]}" tagging,2

diag "the cable begins to drop"
drop xa 802.1ad
has "tagged frames: a sees it" a p state probe_tag
has "b's still pass" b q state tagging
let_pass xa
both_tag "they pass again"
ip_in m link set xb mtu 1400
has "long frames: a sees it" a p state probe_size
ip_in m link set xb mtu 1500
both_tag "they pass again"
is "b has the same neighbour" "${port[neighbour_up]}" 2
drop xa all
has "everything of a's: b loses it" b q state no_neighbour
has "and a, which still hears b, is told so" a p state no_neighbour
is "but has not lost b" "${port[neighbour_lost]}" 0
let_pass xa
both_tag "it passes again"
is "b has come up once more" "${port[neighbour_up]}" 3

diag "qdiscs come and go on a port that stays"
tc_in a qdisc replace dev p root handle 7: bfc queues 100 role switch
has "b hears of more queues" b q peer_queues 164
tc_in a qdisc replace dev p root handle 8: bfc queues 64 role switch
has "and of less" b q peer_queues 64
both_tag "all the while"
is "b has the same neighbour" "${port[neighbour_up]}" 3
tc_in a qdisc replace dev p root handle 9: mq
for i in 1 2 3 4; do
	tc_in a qdisc replace dev p parent 9:$i handle "1$i:" bfc queues 50 role switch
done
has "each instance under mq has its own range" b q peer_queues 200
both_tag "then"
refused "more than there are" "must not exceed 4094" \
	ip netns exec "$NS-a" tc qdisc replace dev p parent 9:1 handle 21: bfc queues 4000
has "and nothing has changed" b q peer_queues 200
tc_in a qdisc replace dev p root handle 1: bfc queues 64 role switch
has "one again: it came before they left" b q peer_queues 264
tc_in a qdisc replace dev p root handle 2: bfc queues 64 role switch
has "and once more" b q peer_queues 64

diag "the device changes"
ip_in a link set p mtu 1400
both_tag "a smaller MTU"
ip_in a link set p mtu 1500
both_tag "the old MTU"
ip_in a link set p down
has "down: b knows" b q state no_neighbour
ip_in a link set p up
both_tag "up"
# veth has no carrier while its peer is down: that b sees the loss is shown by hopctl.sh
ip_in a link set p netns "$NS-b" name p2
has "moved away: b loses it" b q state no_neighbour
tc_in b qdisc add dev p2 root bfc role switch
ip_in b link set p2 up
has "a port in its new namespace" b p2 state tagging
ip_in b link set p2 netns "$NS-a" name p
ip_in a link set p up

diag "many restarts"
for i in 1 2 3 4 5 6 7 8 9 10; do
	tc_in a qdisc add dev p root bfc role switch
	sleep "0.0$i"
	tc_in b qdisc replace dev q root bfc role switch
	sleep "0.0$((11 - i))"
	tc_in a qdisc del dev p root
done
tc_in a qdisc add dev p root bfc role switch
both_tag "after all that"

diag "how large frames are that say little"
before="$(link_stat m xa rx_packets) $(link_stat m xa rx_bytes)"
tc_in a qdisc del dev p root
sleep 0.5
packets=$(($(link_stat m xa rx_packets) - ${before% *}))
between "a leaves: goodbyes" $packets 1 100
# elsewhere probes come between the commands
short="which are as short as frames may be, but for a word more of some"
if [ "${SLUICE_HOME:-}" = uml ]; then
	between "$short" $(($(link_stat m xa rx_bytes) - ${before#* })) $((60 * packets)) $((65 * packets))
else
	skip "$short" "needs virtual time"
fi
tc_in a qdisc add dev p root bfc role switch
both_tag "and is back"

diag "devices that have no neighbour"
ip_in a link add br1 type bridge
refused "a bridge" "use the ports of the bridge" \
	ip netns exec "$NS-a" tc qdisc add dev br1 root bfc
refused "the loopback device" "not an Ethernet device" \
	ip netns exec "$NS-a" tc qdisc add dev lo root bfc
ip_in a link add bond7 type bond 2>/dev/null &&
	refused "a bond" "use the slaves of the bond" \
		ip netns exec "$NS-a" tc qdisc add dev bond7 root bfc

finish
