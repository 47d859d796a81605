#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A link that drops tagged frames, or frames over the plain MTU, without a word. The probe has to
# find it, the port to stay plain and say why, and data to flow all the while.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	the link from h1 to sw is the bad one
#
# Frames are dropped at sw by tc filters, which stand before the receive hook, or by the line.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
paths_build wire
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"
tc_in sw qdisc add dev p1 clsact || skip_all "no clsact qdisc"

state_is() { port_in h1 eth0 "$1"; }

# bad FILTER...: what is dropped from now on
bad() { tc_in sw filter add dev p1 ingress pref 1 "$@" || die "tc filter $*"; }
good() { tc_in sw filter del dev p1 ingress pref 1; }

dropped()
{
	tc_in sw -j -s filter show dev p1 ingress | jq '
		[.[] | .options?.actions?[0]?.stats? // empty | .drops, .overlimits] | max'
}

text() { tc_in h1 -s qdisc show dev eth0 | grep -c "$1"; }

plain() {
	paths_from h1 h2
	paths_udp "$1: data" 200 10.0.0.2
	paths_udp "$1: full-size frames" 200 10.0.0.2 --length 1472
	paths_shot "$PATHS_TMP/now"
	is "$1: goes without a tag" \
	   "$(paths_moved '[d("h1/eth0"; "tagged"), p("sw/p1"; "tag_stripped")]')" "[0,0]"
	is "$1: and with one on the next link" "$(paths_moved 'd("sw/p2"; "tagged") >= 400')" true
	is "$1: and with one back" "$(port_stat sw p1 state)" tagging
}

tagged()
{
	paths_from h1 h2
	paths_udp "$1: data" 200 10.0.0.2
	paths_udp "$1: full-size frames" 200 10.0.0.2 --length 1472
	paths_labels "$1"
}

# size of a full frame without its tag as the policer counts it, and one byte less
tagged_full="protocol 802.1ad matchall action police rate 100gbit burst 100m mtu 1513 conform-exceed drop/pipe"

diag "bad from the start"
for fault in probe_tag probe_size; do
	if [ $fault = probe_tag ]; then
		bad protocol 802.1ad matchall action drop
		words="untagged frames pass, tagged ones do not"
	else
		# shellcheck disable=SC2086
		bad $tagged_full
		words="tagged frames pass, but not of full size"
	fi
	paths_bfc "" "strip always"
	check "$fault: is found" paths_wait 10 state_is $fault
	paths_wait 10 port_in sw p1 tagging
	is "$fault: the reason is shown" "$(text "$words")" 1
	between "$fault: probes that did not pass" "$(dropped)" 3 1000
	plain "$fault"
	sleep 5
	is "$fault: and that stays so" "$(port_stat h1 eth0 state)" $fault
	good
	check "$fault: heals when the link does" paths_wait 10 paths_all tagging
	tagged "$fault: healed"
	for port in $PATHS_PORTS; do
		tc_in "${port%/*}" qdisc del dev "${port#*/}" root
	done
	sleep 1.5
done

diag "a card that takes no more than its MTU and eight bytes"
ip_in sw link set p1 mtu 1494
paths_bfc "" "strip always"
check "mtu: is found" paths_wait 10 state_is probe_size
paths_wait 10 port_in sw p1 tagging
plain "mtu"
between "mtu: frames that the card has refused" \
	"$(in_ns h1 ethtool -S eth0 | awk '$1 == "oversize:" { print $2 }')" 3 1000
ip_in sw link set p1 mtu 1500
check "mtu: heals" paths_wait 10 paths_all tagging

# goes_bad NAME STATE FILTER...: while frames go, tagged; what is lost is lost before the state
goes_bad()
{
	local name=$1 state=$2 lost

	shift 2
	paths_from h1 h2
	paths_sink sink --expect 3000 --timeout 20s
	paths_send send --dest 10.0.0.2 --packets 3000 --length 1472 --rate 11776k &
	stream=$!
	sleep 0.5
	bad "$@"
	check "$name: is found" paths_wait 10 state_is "$state"
	wait "$stream"
	wait "$_sink"
	lost=$(jq .lost "$PATHS_TMP/sink")
	diag "$name: lost $lost of 3000 frames, one a millisecond"
	is "$name: nothing arrives harmed" "$(jq .corrupt "$PATHS_TMP/sink")" 0
	# three rounds of a HELLO interval each have to go without an answer
	between "$name: frames lost before it was found" "$lost" 1 600
	plain "$name"
	paths_tcp "$name: TCP" 100000 10.0.0.2
	good
	check "$name: heals" paths_wait 10 paths_all tagging
	tagged "$name: healed"
}

diag "good, then bad"
goes_bad "tags" probe_tag protocol 802.1ad matchall action drop
# shellcheck disable=SC2086
goes_bad "size" probe_size $tagged_full

diag "one VLAN id that does not pass: the last, and one that the probe comes to later"
for vid in 128 50; do
	bad protocol 802.1ad flower vlan_id $vid action drop
	sleep 10	# the probe goes around 128 ids in 12.8 s
	check "VLAN id $vid: is found" paths_wait 30 state_is probe_tag
	paths_from h1 h2
	paths_sink sink --expect 2000 --timeout 20s
	paths_send send --dest 10.0.0.2 --packets 10 --flows 200 --rate 8k
	paths_arrived "VLAN id $vid: two hundred flows for twenty seconds"
	is "VLAN id $vid: not forgotten" "$(port_stat h1 eth0 state)" probe_tag
	good
	check "VLAN id $vid: heals" paths_wait 10 paths_all tagging
done
tagged "at the end"
between "probes that came back" "$(port_stat h1 eth0 probe_echoed)" 10 100000

# One of full size and one of a tag more: small ones are for rounds that are not answered at once.
probes() { tc_in h1 -j -s qdisc show dev eth0 | jq -r '.[0].port | "\(.probe_tx) \(.probe_echoed)"'; }
ms() { awk '{ print int(1000 * $1) }' /proc/uptime; }
began=$(ms)
read -r sent echoed < <(probes)
sleep 5
read -r sent_now echoed_now < <(probes)
between "rounds in five seconds, all answered at once" $((echoed_now - echoed)) 45 $((($(ms) - began) / 100 + 1))
is "two probes each" $((sent_now - sent)) $((2 * (echoed_now - echoed)))

diag "the longest frames that there are: a probe says how long it is in 16 bits"
ns a b
two_ports()
{
	ip_in a link add p mtu 65535 address "$(mac 1)" type veth peer name q mtu 65535 address "$(mac 2)" netns "$NS-b"
	ip_in a link set p up
	ip_in b link set q up
	tc_in a qdisc add dev p root bfc role switch
	tc_in b qdisc add dev q root bfc role switch
}
two_ports
both_tag() { [ "$(port_stat a p state) $(port_stat b q state)" = "tagging tagging" ]; }
check "ports of an MTU of 65535 tag" wait_until 10 both_tag

finish
