#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Pauses that leave where the next frame comes in, of devices and of VLAN devices above them, each of which has a
# bfc: those of a VLAN device go through the qdisc of the device, in the middle of what that one receives.
#
#	u e0   === p0   sw p1   === d e0	one end faster than the other, in turn
#	  e0.5     p0.5    p1.5       e0.5
#
# Nothing is lost, and no lock is taken in two orders: in the debug flavour lockdep sees to that.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_tool tc ip jq
need_program udpflow
need_virtual_time	# one end is to be faster than 1 Gbit/s
load_modules hopctl sch_bfc wire
work=$(mktemp -d) || die "no temporary directory"

ns u sw d
for box in u sw d; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
		echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6'
done
ip_in sw link add p0 address "$(mac 1 1)" type wire rate 10gbit delay 1us \
	peer name e0 address "$(mac 1)" netns "$NS-u" || die "no wire"
ip_in sw link add p1 address "$(mac 2 1)" type wire rate 1gbit delay 1us \
	peer name e0 address "$(mac 2)" netns "$NS-d" || die "no wire"
PORTS=("u e0" "sw p0" "sw p1" "d e0")
for at in "${PORTS[@]}"; do
	ip_in "${at% *}" link set "${at#* }" up
	ip_in "${at% *}" link add link "${at#* }" name "${at#* }.5" type vlan id 5 || skip_all "no VLAN devices"
	ip_in "${at% *}" link set "${at#* }.5" up
done
# box, device, its address, the other's, its Ethernet address
while read -r box dev own other at; do
	ip_in "$box" addr add "$own/24" dev "$dev"
	neigh "$box" "$dev" "$other" "$at"
done <<-END
	u e0 10.0.0.1 10.0.0.254 $(mac 1 1)
	u e0.5 10.0.5.1 10.0.5.254 $(mac 1 1)
	sw p0 10.0.0.254 10.0.0.1 $(mac 1)
	sw p0.5 10.0.5.254 10.0.5.1 $(mac 1)
	sw p1 10.1.0.254 10.1.0.1 $(mac 2)
	sw p1.5 10.1.5.254 10.1.5.1 $(mac 2)
	d e0 10.1.0.1 10.1.0.254 $(mac 2 1)
	d e0.5 10.1.5.1 10.1.5.254 $(mac 2 1)
END
# to the other's addresses by the device and by the VLAN
ip_in u route add 10.1.0.0/24 via 10.0.0.254
ip_in u route add 10.1.5.0/24 via 10.0.5.254
ip_in d route add 10.0.0.0/24 via 10.1.0.254
ip_in d route add 10.0.5.0/24 via 10.1.5.254

for at in "${PORTS[@]}"; do
	for dev in "${at#* }" "${at#* }.5"; do
		tc_in "${at% *}" qdisc add dev "$dev" root bfc role switch nowatch || die "no bfc"
	done
done
all_tag() { [ "$(for at in u sw d; do tc_in $at -s qdisc show; done | grep -c "state tagging")" = 8 ]; }
check "all ports tag" wait_until -e 200 5 all_tag

# crosses FROM NET TO IN OUT: from a box to the addresses of a net, by these ports of the switch
crosses()
{
	local from=$1 net=$2 to=$3 in=$4 out=$5 at

	in_ns "$to" "$udpflow" sink --json --idle 2s >"$work/sink" &
	# what e0.5 lets go waits in e0, where its pauses do not reach it, were it more than its part there
	for at in "0 0" "5 2g"; do
		in_ns "$from" "$udpflow" send -d "$net.${at% *}.1" --sport "500${at% *}" --id "${at% *}" -l 1000 \
			--sndbuf 400000 -t 20ms --rate "${at#* }" >/dev/null &
	done
	wait
	for at in "$from e0" "$from e0.5" "sw $in" "sw $in.5" "sw $out" "sw $out.5"; do
		# shellcheck disable=SC2086
		is "from $from: nothing is dropped at ${at/ /\'s }" "$(qdisc_stat $at drops)" 0
	done
	for at in "$in" "$in.5"; do
		between "from $from: $at has paused" "$(qdisc_stat sw "$at" pauses_tx)" 1 1000000
	done
	for at in e0 e0.5; do
		between "from $from: $at has obeyed" "$(qdisc_stat "$from" "$at" pauses_obeyed)" 1 1000000
	done
	is "from $from: nothing is lost on the way" "$(jq .lost "$work/sink")" 0
	between "from $from: much has come" "$(jq .packets "$work/sink")" 1000 100000
}

crosses u 10.1 d p0 p1
ip_in sw link set p0 type wire rate 1gbit
ip_in u link set e0 type wire rate 1gbit
ip_in sw link set p1 type wire rate 10gbit
ip_in d link set e0 type wire rate 10gbit
crosses d 10.0 u p1 p0

rm -r "$work"
finish
