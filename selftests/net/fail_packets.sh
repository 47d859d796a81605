#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# One in ten of the allocations that packets need fails: copies on the wire, packets and flows of flowgen,
# control frames, congestion notification packets, limiters, flows of ideal. What could not be made is counted,
# what was given up is said, everything else arrives, and then all is as if nothing had been.
#
#	a === s === b		10 Gb/s to a switch, 1 Gb/s from there; the kind in turn
#
# Needs CONFIG_FAILSLAB (the debug flavour of User-Mode Linux).

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool tc ip jq ethtool
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
failslab=/sys/kernel/debug/failslab
[ -d $failslab ] || skip_all "needs a kernel with CONFIG_FAILSLAB (uml/debug.config)"
load_modules hopctl sch_bfc sch_floodgate sch_flowsail sch_pfc sch_rocc sch_ideal wire flowgen
work=$(mktemp -d) || die "no temporary directory"

FLOWS=60
PACKETS=15

# Those that must not sleep, as all in a packet's path; nothing in the log for each
echo Y >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose
echo -1 >$failslab/times
failing() { echo "$1" >$failslab/probability; }

ns a s b
for box in a s b; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
ip_in a link add e address "$(mac 1)" type wire rate 10gbit delay 1us ring 0 seed 1 \
	peer name left address "$(mac 1 1)" netns "$NS-s" || die "no wire"
ip_in b link add e address "$(mac 2)" type wire rate 1gbit delay 1us ring 0 seed 2 \
	peer name right address "$(mac 2 1)" netns "$NS-s" || die "no wire"
# box, device, its address, the other's, its Ethernet address
while read -r box dev own other at; do
	ip_in "$box" -batch - <<-END || die "no $box"
		addr add $own/24 dev $dev
		link set $dev up
		neigh replace $other lladdr $at nud permanent dev $dev
	END
done <<-END
	a e 10.0.1.1 10.0.1.2 $(mac 1 1)
	s left 10.0.1.2 10.0.1.1 $(mac 1)
	s right 10.0.2.2 10.0.2.1 $(mac 2)
	b e 10.0.2.1 10.0.2.2 $(mac 2 1)
END
ip_in a route add default via 10.0.1.2
ip_in b route add default via 10.0.2.2
printf '%s\n' "0 $NS-a 10.0.1.1" "1 $NS-b 10.0.2.1" >"$work/ends"

# run OPTION...: the flows, from 100 ms on
run()
{
	"$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" --json --seed 1 "$@" \
		>"$work/json" 2>"$work/err"
}
count()
{
	[[ $(<"$work/json") =~ \"$1\":\ *([0-9]+) ]] || die "flowgen does not say $1"
	echo "${BASH_REMATCH[1]}"
}
wire_count() { in_ns "$1" ethtool -S "$2" | awk -v k="$3:" '$1 == k { print $2; found = 1 } END { exit !found }'; }

# without_memory NAME OPTION...: a run whose allocations fail, and the same with all of them
without_memory()
{
	local name=$1 status

	shift
	run "$@" &
	sleep 0.05
	failing 10
	wait $!
	status=$?
	failing 0
	diag "$name: completed $(count completed), given up $(count given_up), no memory $(count no_memory)"
	between "$name: some allocations failed" "$(count no_memory)" 1 10000
	between "$name: some flows were given up, not all" "$(count given_up)" 1 $((FLOWS * 3 / 4))
	is "$name: all others complete, as the run says" \
		"$status $(($(count completed) + $(count given_up)))" "3 $FLOWS"
	check "$name: with memory all complete" run "$@"
	is "$name: and none was wanting" "$(count completed) $(count given_up) $(count no_memory)" "$FLOWS 0 0"
}

{
	echo "# sluice-trace 1"
	for ((i = 0; i < FLOWS; i++)); do
		echo "$((100000000 + i / 20 * 1000000)) 0 1 $((PACKETS * 1000))"
	done
} >"$work/trace"

# both_are STATE: the switch's ports
both_are()
{
	local dev

	for dev in left right; do
		qdiscs_of s $dev
		[[ $REPLY == *"\"state\":\"$1\""* ]] || return
	done
}

for kind in bfc floodgate flowsail pfc rocc ideal; do
	case $kind in
	bfc|flowsail|pfc)
		# 20 flows of 15 packets come at once, and of pfc 1/8 of its pool may stay
		words=$kind
		[ $kind != pfc ] || words="pfc pool 600k pool-alpha 1000%"
		for at in "a e" "s left" "s right" "b e"; do
			# shellcheck disable=SC2086
			tc_in "${at% *}" qdisc add dev "${at#* }" root $words || die "no $kind"
		done
		wait_until -e 200 5 both_are tagging || die "$kind: s knows nobody" ;;
	floodgate)
		for at in "a e" "s left" "s right" "b e"; do
			tc_in "${at% *}" qdisc add dev "${at#* }" root floodgate role switch || die "no floodgate"
		done
		wait_until -e 200 5 both_are tagging || die "floodgate: s knows nobody" ;;
	rocc)
		tc_in a qdisc add dev e root rocc role host radius 1 limiters 16
		tc_in s qdisc add dev right root rocc ;;
	ideal)
		tc_in s qdisc add dev right root ideal ;;
	esac
	ip_in a link set e type wire duplicate 10% corrupt 2%
	before=$(wire_count a e no_memory)
	without_memory "$kind, gbn" --rto 10ms
	between "$kind: copies were wanting on the wire, not all" $(($(wire_count a e no_memory) - before)) 1 \
		"$(wire_count a e duplicated)"
	# and so do those that the kernel could not make ready for it
	between "$kind: they count as dropped" "$(link_stat a e tx_dropped)" \
		"$(in_ns a ethtool -S e | awk '$1 ~ /^(control_overflow|no_memory|runt|down):/ { n += $2 } END { print n }')" 1000
	ip_in a link set e type wire duplicate 0% corrupt 0%
	without_memory "$kind, tcp" --transport tcp
	if [ $kind = ideal ]; then
		between "ideal: packets whose flow could not be made were dropped" \
			"$(qdisc_stat s right drop_memory ideal)" 1 10000
	fi
	if [[ $kind = @(flowsail|pfc) ]]; then
		between "$kind: who sends is paused" "$(qdisc_stat s left pauses_tx $kind)" 1 100000
	fi
	if [ $kind = floodgate ]; then
		between "floodgate: what s has no room for waits at a" "$(qdisc_stat a e voq_packets floodgate)" 1 100000
	fi
	if [ $kind = rocc ]; then
		between "rocc: some notifications came" "$(qdisc_stat a e accepted rocc)" 1 100000
		check "rocc: no limiter is left" wait_for 2 0 qdisc_stat a e limiters rocc
	fi
	leave_ports
done

rm -r "$work"
finish
