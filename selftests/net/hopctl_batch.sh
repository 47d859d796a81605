#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How early a pause leaves when many frames come in one go: with the next frame, not when all have been taken. By
# the order of trace events, which does not depend on a clock.
#
#	h e --- p s q === r e		a veth pair, and 1 Gb/s from there; all frames of a flow at once
#
# The first frame over the threshold is marked when it is queued at q; then p says so.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_virtual_time
need_tool tc ip awk
FLOWGEN=$(readlink -f "$(dirname "$0")/../../build/flowgen/flowgen")
[ -x "$FLOWGEN" ] || skip_all "flowgen is not built (make programs)"
load_modules hopctl sch_bfc wire flowgen
work=$(mktemp -d) || die "no temporary directory"
tracing=/sys/kernel/debug/tracing
[ -d $tracing/events/hopctl ] || mount -t debugfs none /sys/kernel/debug || die "no tracing"

BURST=60

ns h s r
for box in h s r; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward
		echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
ip_in s link add p address "$(mac 1 1)" type veth peer name e address "$(mac 1)" netns "$NS-h" || die "no veth"
ip_in s link add q address "$(mac 2 1)" type wire rate 1gbit delay 1us ring 0 \
	peer name e address "$(mac 2)" netns "$NS-r" || die "no wire"
# box, device, its address, the other's, its Ethernet address
while read -r box dev own other at; do
	ip_in "$box" -batch - <<-END || die "no $box"
		addr add $own/24 dev $dev
		link set $dev up
		neigh replace $other lladdr $at nud permanent dev $dev
	END
done <<-END
	h e 10.0.1.1 10.0.1.2 $(mac 1 1)
	s p 10.0.1.2 10.0.1.1 $(mac 1)
	s q 10.0.2.2 10.0.2.1 $(mac 2)
	r e 10.0.2.1 10.0.2.2 $(mac 2 1)
END
ip_in h route add default via 10.0.1.2
ip_in r route add default via 10.0.2.2
# h's by hash, for one flow after the other would get the same sub-queue each time
for at in "h e assign stochastic" "s p" "s q" "r e"; do
	read -r box dev words <<<"$at"
	# shellcheck disable=SC2086
	tc_in "$box" qdisc add dev "$dev" root bfc role switch nowatch $words || die "no bfc"
done
all_tag() { [ "$(for at in h s r; do tc_in $at -s qdisc show; done | grep -c "state tagging")" = 4 ]; }
check "all ports tag" wait_until -e 200 5 all_tag

printf '%s\n' "0 $NS-h 10.0.1.1" "1 $NS-r 10.0.2.1" >"$work/ends"
{
	echo "# sluice-trace 1"
	for ((i = 0; i < 20; i++)); do
		echo "$((100000000 + i * 10000000)) 0 1 $((BURST * 1000))"
	done
} >"$work/trace"
: >$tracing/trace
echo 1 | tee $tracing/events/bfc/bfc_enqueue/enable $tracing/events/hopctl/hop_pause_{count,tx}/enable >/dev/null
check "all flows complete" "$FLOWGEN" run --endpoints "$work/ends" --trace "$work/trace" --out "$work/out" \
	--local $BURST --json
echo 0 | tee $tracing/events/bfc/enable $tracing/events/hopctl/enable >/dev/null

# most frames of one go, how many pauses began, and the frames until the frame that says so, least and most
read -r goes began least most < <(awk '
	/hop_pause_count: p .* 0->1/ && !open { open = 1; frames = 0; began++ }
	/bfc_enqueue: q / { row++; if (row > goes) goes = row; if (open) frames++ }
	/hop_pause_tx: p / && open {
		open = 0
		if (began == 1 || frames < least) least = frames
		if (frames > most) most = frames
	}
	/bfc_enqueue: [^q]/ { row = 0 }
	END { print goes + 0, began + 0, least + 0, most + 0 }' $tracing/trace)
between "frames come in one go" "$goes" $((BURST / 2)) $BURST
between "each burst begins a pause" "$began" 20 2000
# the one that is marked is queued after its mark
is "which leaves with the next frame" "$least $most" "1 1"

# what is sent next has the word of the queue
read -r low high others < <(awk '
	/hop_pause_count: p .* 0->1/ { sub(/.* queue=/, ""); word = int($1 / 64); waits = 1 }
	/hop_pause_tx: p / && waits {
		sub(/.* words=/, "")
		split($1, words, "+")
		words[1] > word || words[1] + words[2] <= word ? others++ : word ? high++ : low++
		waits = 0
	}
	END { print low + 0, high + 0, others + 0 }' $tracing/trace)
between "pauses of queues up to 63, as the trace says" "$low" 1 2000
between "and above" "$high" 1 2000
is "with other words" "$others" 0

rm -r "$work"
finish
