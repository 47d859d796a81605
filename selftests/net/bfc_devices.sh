#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bfc on every kind of device: where somebody puts it, and where net.core.default_qdisc does.
#
#	a:x ---- b:x		x is a device of the kind, above a pair of veth if it needs one
#
# A device that has a neighbour is a port: both ends tag. One that has none is refused by name to
# who asks for it, and nobody else may suffer: a default qdisc becomes a fair queue without a port.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

paths_begin
tunpair=$PATHS_DIR/tunpair
tcmsg=$PATHS_DIR/tcmsg
[ -x "$tunpair" ] && [ -x "$tcmsg" ] || skip_all "tunpair or tcmsg is not built (make -C selftests)"
default=/proc/sys/net/core/default_qdisc
was=$(cat $default)
[ -e /dev/net/tun ] || modprobe -q tun
pair=
trap '[ -z "$pair" ] || kill "$pair" 2>/dev/null; echo "$was" >$default; _at_exit' EXIT

# A process is what costs here, so devices say nothing of their own from the start, and commands
# go in batches.
ns a b
for box in a b; do	# towards a host nobody tags
	in_ns $box sh -c "echo 1 >/proc/sys/net/ipv4/ip_forward"
done
for end in a b; do
	in_ns $end sh -c "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6" 2>/dev/null
done
from=a to=b sent=0

# batch NS LINES: commands of ip, until one fails
batch() { ip -n "$NS-$1" -batch - <<<"$2" 2>"$PATHS_TMP/refusal"; }

# end NS MAC PEERMAC NUMBER PEERNUMBER: what KIND is made of in one namespace, above u
made_of()
{
	local tunnel="local 10.9.0.$2 remote 10.9.0.$3"

	case $1 in
	vlan) echo "link add x link u type vlan id 10" ;;
	macvlan) echo "link add x link u type macvlan mode bridge" ;;
	ipvlan) echo "link add x link u type ipvlan mode l2" ;;
	bridge) echo "link add x type bridge"; echo "link set u master x" ;;
	bond)
		echo "link add x type bond mode active-backup"
		echo "link set u down"
		echo "link set u master x" ;;
	team) echo "link add x type team" ;;
	vrf) echo "link add x type vrf table 10" ;;
	gre) echo "link add x type gre $tunnel" ;;
	gretap)
		echo "link add x type gretap $tunnel"
		echo "link set x mtu 1400" ;;	# with the tag, too, it has to fit u's frames
	vxlan) echo "link add x type vxlan id 10 dstport 4789 $tunnel" ;;
	dummy) echo "link add x type dummy" ;;
	ifb) echo "link add x numtxqueues 1 type ifb" ;;
	esac
}

make()
{
	local there

	there=$NS-b
	case $1 in
	veth) batch a "link add x type veth peer name x netns $there" ;;
	veth-queues)
		batch a "link add x numtxqueues 4 numrxqueues 4 type veth peer name x numtxqueues 4 numrxqueues 4 netns $there" ;;
	wire)
		batch a "link add x type wire $PATHS_CABLE peer name xb
			 link set xb netns $there name x" ;;
	tun*|tap*)
		# shellcheck disable=SC2046
		"$tunpair" "${1%-queues}" "$NS-a" x "$there" x \
			$([ "$1" = "${1%-queues}" ] || echo queues) 2>"$PATHS_TMP/refusal" &
		pair=$!
		paths_wait 2 ip_in b link show x ;;
	*)
		batch a "link add u type veth peer name u netns $there
			 link set u up
			 addr add 10.9.0.1/24 dev u
			 $(made_of "$1" 1 2)" &&
		batch b "link set u up
			 addr add 10.9.0.2/24 dev u
			 $(made_of "$1" 2 1)" ;;
	esac
}

# up NS NUMBER PEERNUMBER
up()
{
	local lines

	lines="link set x up
		addr add 10.0.0.$2/24 dev x"
	[ ! -e "$PATHS_TMP/ethernet" ] || lines="link set x address $(mac "$2")
		$lines
		neigh replace 10.0.0.$3 lladdr $(mac "$3") nud permanent dev x"
	batch "$1" "$lines" || diag "$(cat "$PATHS_TMP/refusal")"
}

# begin KIND: makes it, or says why not
begin()
{
	if ! make "$1"; then
		skip "$1" "no such devices: $(head -n 1 "$PATHS_TMP/refusal")"
		gone
		return 1
	fi
	case $1 in
	tun*|gre|ipvlan|ifb) rm -f "$PATHS_TMP/ethernet" ;;
	*) : >"$PATHS_TMP/ethernet" ;;
	esac
	up a 1 2
	up b 2 1
}

gone()
{
	leave_ports
	[ -z "$pair" ] || { kill "$pair" 2>/dev/null; wait "$pair" 2>/dev/null; }
	pair=
	printf 'link del x\nlink del u\n' | ip -n "$NS-a" -force -batch - 2>/dev/null
	! ip_in b link show x >/dev/null 2>&1 || ip_in b link del x
}

pass_on() { paths_udp "$1: traffic passes" 200 10.0.0.2; }

seen() { tc_in "$1" -j -s qdisc show dev x; }
kinds() { seen a | jq -r 'map(.kind) | unique | join(",")'; }
states() { { seen a; seen b; } | jq -rs 'map([.[].port.state? // empty][0] // "none") | join(",")'; }
ends_tag() { [[ $(seen a) == *'"state":"tagging"'* && $(seen b) == *'"state":"tagging"'* ]]; }

both_tag()
{
	paths_wait 8 ends_tag
	is "$1: both ends tag" "$(states)" tagging,tagging
}

# port KIND [STATE]: bfc works on it, and is a port
port()
{
	begin "$1" || return
	check "$1: bfc" tc_in a qdisc add dev x root bfc
	if [ -n "${2:-}" ]; then
		sleep 1
		is "$1: nobody answers" "$(states)" "$2,none"
	else
		check "$1: at the other end" tc_in b qdisc add dev x root bfc
		both_tag "$1"
		pass_on "$1"
		between "$1: tagged" "$(qdisc_stat a x tagged bfc)" 190 1000
	fi
	gone
}

# refuse KIND WORDS: it is refused, saying what to use instead, and what there was stays
refuse()
{
	begin "$1" || return
	refused "$1 is refused" "$2" tc_in a qdisc add dev x root bfc
	refused "$1: as not supported" "EOPNOTSUPP" "$tcmsg" -n "$NS-a" send add x TCA_KIND=str:bfc
	is "$1 has what it had" "$(kinds)" noqueue
	gone
}

diag "asked for"
port veth
port veth-queues
port wire
port vlan
port tap
port tap-queues
port macvlan
port ipvlan
port gretap
port vxlan
port dummy no_neighbour
port ifb no_neighbour
begin veth
tc_in a qdisc add dev x root bfc
is "a card that filters by address lets control frames in" \
   "$(ip_in a maddr show dev x | grep -c 01:80:c2:00:00:0e)" 1
tc_in a qdisc del dev x root
paths_wait 5 sh -c "! ip -n $NS-a maddr show dev x | grep 01:80:c2:00:00:0e"
is "as long as there is a port" "$(ip_in a maddr show dev x | grep -c 01:80:c2:00:00:0e)" 0
gone
if command -v ethtool >/dev/null && begin tap; then
	# Neither tap nor the cards of virtual machines tell the kernel when somebody sets their speed.
	in_ns a ethtool -s x speed 1000
	tc_in a qdisc add dev x root handle 1: bfc
	bfc_figs "$NS-a" x link_rate
	is "a new bfc asks for the speed" "$REPLY" 125000000
	in_ns a ethtool -s x speed 2500
	tc_in a qdisc change dev x root bfc
	bfc_figs "$NS-a" x link_rate
	is "so does one that is changed" "$REPLY" 312500000
	in_ns a ethtool -s x speed 4000
	tc_in a qdisc replace dev x root handle 2: bfc
	bfc_figs "$NS-a" x link_rate
	is "and one in its place" "$REPLY" 500000000
	gone
fi
refuse bridge "use the ports of the bridge"
refuse bond "use the slaves of the bond"
refuse team "use the ports of the team"
refuse vrf "use the lower devices of the VRF"
begin tun && refused "tun is refused" "not an Ethernet device" tc_in a qdisc add dev x root bfc
gone
refuse gre "not an Ethernet device"
refused "lo is refused" "not an Ethernet device" tc_in a qdisc add dev lo root bfc

diag "by net.core.default_qdisc"
echo bfc >$default
is "bfc is the default" "$(cat $default)" bfc
refused "its module cannot be unloaded meanwhile" "sch_bfc" rmmod sch_bfc

# plain: how many of a's qdiscs are bfc, and of them, how many without a port
plain()
{
	seen a | jq -r '[.[] | select(.kind == "bfc")] |
		"\(length) \(map(select(.port == null and .options.pause == false and
				       .options.tag == false)) | length)"'
}

# by_default KIND QDISCS PLAIN [STATE]
by_default()
{
	begin "$1" || return 1
	is "$1 has" "$(kinds)" "$2"
	is "$1: bfc, and bfc without a port" "$(plain)" "$3"
}

for kind in veth veth-queues vlan macvlan ipvlan gre vxlan dummy bridge bond team vrf; do
	by_default $kind noqueue "0 0" || continue
	case $kind in
	bridge|bond|vlan|gre|vxlan) pass_on $kind ;;
	esac
	gone
done
by_default wire bfc "1 0"
pass_on "wire, at first"
both_tag wire
pass_on "wire, tagging"
gone
by_default tap bfc "1 0"
both_tag tap
gone
if by_default gretap bfc "1 0"; then
	pass_on gretap
	gone
fi
by_default tun bfc "1 1"
pass_on tun
between "tun: bfc took the packets" "$(seen a | jq '.[0].packets')" 200 300
refused "tun: it cannot be asked for" "not an Ethernet device" \
	tc_in a qdisc replace dev x root bfc
is "tun: so what there was stays" "$(plain)" "1 1"
batch a "link set x down
	 link set x up
	 addr replace 10.0.0.1/24 dev x"
pass_on "tun, down and up"
gone

diag "one for each transmit queue"
queues() { seen a | jq -c '[.[] | select(.kind == "bfc").options.queues] | unique'; }
by_default tap-queues bfc,mq "1 0"
is "those of 256 transmit queues fit the port" "$(queues)" "[7]"
both_tag tap-queues
pass_on "tap-queues, tagging"
check "one for all beside them" tc_in a qdisc replace dev x root handle 1: bfc
is "of the usual size" "$(queues)" "[128]"
check "it goes" tc_in a qdisc del dev x root
is "and there they are again" "$(queues)" "[7]"
gone
by_default tun-queues bfc,mq "1 1"
gone

diag "mq asked for, on what has no neighbour"
begin bond
check "mq on a bond" tc_in a qdisc add dev x root handle 1: mq
is "its children" "$(kinds)" bfc,mq
is "are all without a port" "$(plain)" "16 16"
pass_on "bond with mq"
refused "no child is asked for" "use the slaves of the bond" \
	tc_in a qdisc replace dev x parent 1:1 handle 2: bfc
is "what there was stays" "$(plain)" "16 16"
check "mq goes" tc_in a qdisc del dev x root
gone

diag "a shaper on the way in"
by_default ifb bfc "1 0"
tc_in b qdisc add dev u clsact
tc_in b filter add dev u ingress matchall action mirred egress redirect dev x
paths_sink sink --expect 200 --timeout 5s
paths_send send --dest 10.9.0.2 --packets 200 --rate 400m
paths_arrived "ifb: redirected packets arrive"
between "ifb: by bfc" "$(seen b | jq '.[0].packets')" 200 300
gone

echo "$was" >$default
is "no default qdisc was given up" "$(kernel_log | grep 'default qdisc')" ""

finish
