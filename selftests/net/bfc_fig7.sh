#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# BFC, section 6.1: how long queues get, and how full the link is, for thresholds of 0.5 to 4
# HRTT x rate / N_active, with two, three and four greedy flows that meet at one link. Each
# run is held against the bounds of the rules and against a packet-level model of them
# (bfc_model.c) with the rates, delays and HRTT of the links. The HRTT is what the links' rates and
# delays make it, and configured: what is measured while frames wait for each other is another one each
# time. Bounds and model go by these, and by nothing that the kernel says.
#
# star: each flow comes by a link of its own
#
#	h1 ---.
#	h2 --- s2 --- r2	all links alike: RATE, DELAY, one frame at a time on the card
#	h3 ---'
#
# fig6: the paper's Fig. 6; group 2 by way of s1, group 3 by way of s3
#
#	h1 --- s1 ---.
#	h2 ---'       s2 --- r2
#	h3 --- s3 ---'
#	h4 ---'
#
# In the star all flows lock step: whenever they start, the outcome is all but one and the same,
# and so the kernel's has to be. In Fig. 6, where two thresholds stand behind one another, flows
# that meet in another order, or whose sub-queues stand in another order, which the kernel draws
# by lot, may settle in another rhythm for good; so may they if of two events of one nanosecond
# the other comes first. So the model is run for several starts, orders and ties, and the kernel's
# outcome must lie within 2 % of the range of the model's.

. "$(dirname "$0")/lib.sh"

RATE=100	# Gb/s
DELAY=1000	# ns
RING=0		# bytes that a card may hold and take one more frame
# A frame of 1025 bytes on the line takes 82 ns, a control frame of 75 takes 6: with a card that
# holds one frame the line stands still for what a nanosecond is not full of.
MTU=992		# bytes; a frame has 14 more, and on the line 4 of fabric tag
OVERHEAD=15	# bytes of each frame on the line
QUEUES=16
STICKY=10ms	# a flow keeps its sub-queue, as in the model
WARMUP=1	# ms, before the window
WINDOW=3	# ms
SKEW=170	# ns between the starts of two flows
STARTS=48	# of the model: 3 kinds of ties, 16 starts and orders
TOLERANCE=2	# percent

# A part of it, to look closer
SCALES=${SLUICE_SCALES:-50 100 200 400}	# percent
FLOWS=${SLUICE_FLOWS:-2 3 4}
SHAPES=${SLUICE_SHAPES:-star fig6}

FRAME=$((MTU + 14))
PAYLOAD=$((MTU - 28))
CONTROL=60	# bytes of a control frame
HRTT=$((2 * DELAY + 2 * (CONTROL + OVERHEAD) * 8 / RATE))	# ns

need_tool jq awk bridge
need_virtual_time
load_modules

here=$(dirname "$0")
udpflow=$here/udpflow
model=$here/bfc_model
[ -x "$udpflow" ] && [ -x "$model" ] || die "udpflow and bfc_model are not built: make -C selftests"
work=$(mktemp -d) || die "no temporary directory"
spacing=$(</sys/module/hopctl/parameters/state_spacing_ns)

# Each starts what it names: `links` are pairs of boxes, `hosts` are box:switch, `paths` are
# the flows as the model takes them.
star()
{
	local i

	links=() hosts=() paths=() switches=(s2)
	for ((i = 1; i <= $1; i++)); do
		hosts+=("h$i:s2")
		links+=("h$i s2")
		paths+=("h$i,s2,r2")
	done
	links+=("s2 r2")
}

fig6()
{
	local i by

	links=("s1 s2" "s3 s2" "s2 r2") hosts=() paths=() switches=(s1 s3 s2)
	for ((i = 1; i <= $1; i++)); do
		by=s$((i <= $1 / 2 ? 1 : 3))
		hosts+=("h$i:$by")
		links+=("h$i $by")
		paths+=("h$i,$by,s2,r2")
	done
}

# Commands to ip: a cable, whose ends have the name of the box at the other end
cable() # A B NUMBER
{
	echo "link add name $2 netns $NS-$1 address $(mac "$3" 1) mtu $MTU type wire" \
		"rate ${RATE}gbit delay ${DELAY}ns ring $RING overhead $OVERHEAD" \
		"peer name $1 netns $NS-$2 address $(mac "$3" 2) mtu $MTU"
}

# ports BOX: its devices, which have their neighbours' names
ports()
{
	local link

	for link in "${links[@]}"; do
		[ "${link% *}" != "$1" ] || echo "${link#* }"
		[ "${link#* }" != "$1" ] || echo "${link% *}"
	done
}

# switch BOX PORT: a bridge that knows the receiver's port, floods nothing, learns nothing
switch()
{
	local port batch="link add br0 mtu $MTU type bridge ageing_time 0 mcast_snooping 0"

	for port in $(ports "$1"); do
		batch+=$'\n'"link set $port master br0 up"
		batch+=$'\n'"link set $port type bridge_slave learning off flood off mcast_flood off"
	done
	ip_in "$1" -batch - <<<"$batch"$'\nlink set br0 up' || die "no switch $1"
	bridge -n "$NS-$1" fdb replace "$receiver" dev "$2" master static ||
		die "no way from $1 to the receiver"
}

host() # BOX NUMBER DEV
{
	ip_in "$1" -batch - <<-END || die "no host $1"
		link set $3 up
		addr add 10.6.0.$2/24 dev $3
		neigh replace 10.6.0.200 lladdr $receiver nud permanent dev $3
	END
}

build()
{
	local i box batch=

	boxes=(r2 "${switches[@]}" "${hosts[@]%:*}")
	ns "${boxes[@]}"
	for i in "${!links[@]}"; do
		[ "${links[i]}" != "s2 r2" ] || receiver=$(mac $((i + 1)) 2)
		batch+=$(cable ${links[i]} $((i + 1)))$'\n'
	done
	ip -batch - <<<"$batch" || die "no cables"
	for box in "${switches[@]}"; do
		switch "$box" $([ "$box" = s2 ] && echo r2 || echo s2)
	done
	for i in "${!hosts[@]}"; do
		host "${hosts[i]%:*}" $((i + 1)) "${hosts[i]#*:}"
	done
	host r2 200 s2
}

# New qdiscs, so that highest backlogs begin at 0
qdiscs() # SCALE
{
	local box port batch

	for box in "${boxes[@]}"; do
		batch=
		for port in $(ports "$box"); do
			[ -z "$had" ] || batch+="qdisc del dev $port root"$'\n'
			batch+="qdisc add dev $port root bfc queues $QUEUES hrtt ${HRTT}ns th-scale $1% sticky $STICKY"$'\n'
		done
		tc_in "$box" -batch - <<<"$batch" || die "no qdiscs at $box"
	done
	had=yes
}

# The kernel tells a bridge of carriers once a second.
all_forward()
{
	local box

	for box in "${switches[@]}"; do
		! bridge -n "$NS-$box" link | grep -qv "state forwarding" || return 1
	done
}

all_tag()
{
	local box

	for box in "${boxes[@]}"; do
		[ "$(tc_in "$box" -s qdisc show | grep -cE "state (tagging|host)")" = "$(ports "$box" | wc -l)" ] ||
			return 1
	done
}

reading() { tc_in s2 -j -s qdisc show dev r2; }

# Greedy senders, all but together; $work gets what tc and the sink say.
run_kernel()
{
	local i start pids

	in_ns r2 "$udpflow" sink --json --idle 20ms >"$work/sink" &
	pids=($!)
	start=$(($("$udpflow" now) + 20000000))
	for i in "${!hosts[@]}"; do
		in_ns "${hosts[i]%:*}" "$udpflow" send -d 10.6.0.200 --sport $((5000 + i)) --id "$i" \
			-l $PAYLOAD --sndbuf 400000 --at $((start + i * SKEW)) \
			-t $((WARMUP + WINDOW))ms >"$work/send$i" &
		pids+=($!)
	done
	"$udpflow" now --at $((start + WARMUP * 1000000)) >/dev/null
	reading >"$work/before"
	"$udpflow" now --at $((start + (WARMUP + WINDOW) * 1000000)) >/dev/null
	reading >"$work/after"
	wait "${pids[@]}"
	# tc of iproute2 6.1 has no JSON of classes
	tc_in s2 -s class show dev r2 >"$work/classes"
}

# Sets hrtt, th_max, mean, utilisation, peaks from what tc said.
evaluate()
{
	mapfile -t peaks < <(sed -n 's/.*class:.* backlog_max \([1-9][0-9]*\)b .*/\1/p' \
		"$work/classes" | sort -rn)
	read -r hrtt th_max mean utilisation < <(jq -r -n --argjson line $RATE \
		--argjson more $((OVERHEAD + 4)) \
		--slurpfile b "$work/before" --slurpfile a "$work/after" '
		def all(k): [.. | objects | .[k]? | numbers];
		($b[0][0]) as $b | ($a[0][0]) as $a | def d(k): ($a | all(k)[0]) - ($b | all(k)[0]);
		[($a | all("hrtt") | max), ($a | all("th_max")[0]),
		 d("backlog_time") / d("time"),
		 8 * (d("bytes") + $more * d("packets")) / d("time") / $line] |
		"\(.[0]) \(.[1]) \(.[2]) \(.[3])"')
}

run_model() # SCALE; sets the ranges of the model
{
	local i args=()

	for i in "${!paths[@]}"; do
		args+=(--flow "${paths[i]}@$((i * SKEW))")
	done
	read -r u_low u_high m_low m_high < <("$model" --json --port s2,r2 --starts $STARTS \
		--rate ${RATE}000000000 --delay $DELAY --ring $RING --hrtt $HRTT --th-scale "$1" \
		--frame $FRAME --tag 4 --overhead $OVERHEAD --control $CONTROL --spacing "$spacing" \
		--acks --warmup ${WARMUP}000000 --window ${WINDOW}000000 "${args[@]}" |
		jq -r '.ports[0] | (.utilisation_range + .mean_bytes_range) | map(tostring) | join(" ")')
	[ -n "${m_high:-}" ] || die "the model says nothing"
}

# near NAME GOT LOW HIGH: within TOLERANCE percent of the range
near()
{
	if awk "BEGIN { exit !($2 >= $3 * (1 - $TOLERANCE / 100) && $2 <= $4 * (1 + $TOLERANCE / 100)) }"; then
		pass "$1"
	else
		fail "$1" "kernel $2, model $3 to $4"
	fi
}

check_run() # SHAPE FLOWS SCALE
{
	local name="$1, $2 flows, Th x $3 %" th th_one bound bdp

	bdp=$((HRTT * RATE / 8))
	th=$((bdp * $3 / 100 / $2))
	th=$((th > FRAME ? th : FRAME))
	# while all others are paused
	th_one=$((bdp * $3 / 100))
	th_one=$((th_one > FRAME ? th_one : FRAME))
	bound=$((th_one + bdp * ($2 - 1) / $2 + RING + 2 * FRAME))
	diag "$name: hrtt $hrtt, utilisation $utilisation (model $u_low to $u_high), mean queue \
$mean (model $m_low to $m_high), peaks ${peaks[*]} (Th $th to $th_max)"
	is "$name: the HRTT is what the link makes it" "$hrtt" $HRTT
	between "$name: thresholds are from that of one flow to that of all" "$th_max" $th $th_one
	is "$name: one sub-queue for each flow" ${#peaks[@]} "$2"
	between "$name: the longest queue keeps to the bound" "${peaks[0]:-none}" $th $bound
	between "$name: the shortest passes the threshold" "${peaks[-1]:-none}" $th $bound
	near "$name: utilisation is the model's" "$utilisation" "$u_low" "$u_high"
	near "$name: mean queue is the model's" "$mean" "$m_low" "$m_high"
	is "$name: all packets arrive, in order and unharmed" "$(jq -r \
		'"\(.lost) \(.corrupt) \(.flows | map(.reordered) | add) \(.flows | length)"' \
		"$work/sink")" "0 0 0 $2"
}

for shape in $SHAPES; do
	for flows in $FLOWS; do
		$shape "$flows"
		build
		had=
		for scale in $SCALES; do
			qdiscs "$scale"
			wait_until 10 all_forward || die "a bridge does not forward"
			wait_until 10 all_tag || die "a port stays plain"
			run_kernel
			evaluate
			run_model "$scale"
			check_run "$shape" "$flows" "$scale"
		done
		leave_spaces
	done
done
rm -r "$work"
finish
