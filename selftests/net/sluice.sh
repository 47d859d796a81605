#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command sluice with the real kernel: what it shows is what tc shows, it sees events, changes
# qdiscs wherever they hang, elides pairs, and finds each trouble that can be made here.
#
#	h1 eth0 --- p1 sw:br0 p2 --- eth0 h2	over wire

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/net/paths.sh
. "$(dirname "$0")/paths.sh"

need_root
need_tool tc ip jq
need_sluice
hopframe=$(dirname "$0")/hopframe
bpfpass=$(dirname "$0")/bpfpass
[ -x "$hopframe" ] && [ -x "$bpfpass" ] || skip_all "tools are not built (make -C selftests)"

# sluice_in NS WORDS...
sluice_in() { local name=$1; shift; "$sluice" -n "$NS-$name" "$@"; }
state_is() { port_in sw p2 "$1"; }

if ! _module_loaded hopctl; then
	diag "without the modules"
	refused "show says what is missing" "modprobe sch_bfc" "$sluice" show
	is "doctor says so" "$("$sluice" -j doctor | jq -c '[.[].id | select(startswith("module"))]')" \
		'["module_hopctl","module_bfc"]'
fi

paths_begin
paths_build wire
paths_bridge sw br0 p1 p2
ip_in h1 addr add 10.0.0.1/24 dev eth0
ip_in h2 addr add 10.0.0.2/24 dev eth0
neigh h1 eth0 10.0.0.2 "$h2_mac"
neigh h2 eth0 10.0.0.1 "$h1_mac"

is "a namespace without ports" "$(sluice_in sw show 2>&1)" \
	"sluice: no ports here: the first bfc, floodgate, flowsail or pfc qdisc of a device makes it one"
refused "a device that is none" "p1 is no port: tc qdisc replace dev p1 root bfc" sluice_in sw show p1
paths_bfc
check "all four ports tag" paths_tagging

diag "show"
sluice_in sw show >"$PATHS_TMP/table"
is "a line for each port" "$(awk '{ print $1 }' "$PATHS_TMP/table" | xargs)" "DEV p1 p2"
# A column begins where its title does, with a blank before it, in each line.
lined_up()
{
	awk 'NR == 1 { n = 0; for (i = 1; i <= length($0); i++)
			if (substr($0, i, 1) != " " && (i == 1 || substr($0, i - 1, 1) == " "))
				at[++n] = i }
	     { for (c = 1; c <= n; c++)
			if (substr($0, at[c], 1) == " " || (c > 1 && substr($0, at[c] - 1, 1) != " "))
				exit 1 }' "$PATHS_TMP/table"
}
check "its columns line up" lined_up

# The port's object by tc before and after, and by sluice between: the same keys, and each value
# is that of before or after, or a number between them.
agree()
{
	local before after ours

	before=$(tc_in "$1" -j -s qdisc show dev "$2" | jq '.[0].port')
	ours=$(sluice_in "$1" -j show -s "$2" | jq '.[0].port')
	after=$(tc_in "$1" -j -s qdisc show dev "$2" | jq '.[0].port')
	jq -rn --argjson a "$before" --argjson o "$ours" --argjson b "$after" '
		if ($a | keys) != ($o | keys) then
			"keys: only of tc \(($a | keys) - ($o | keys)), only of sluice \(($o | keys) - ($a | keys))"
		else $o | keys[] | . as $k
		| if $o[$k] == $a[$k] or $o[$k] == $b[$k] then empty
		  elif ([$a[$k], $o[$k], $b[$k]] | all(type == "number")) and $a[$k] <= $o[$k]
			and $o[$k] <= $b[$k] then empty
		  else "\($k): \($a[$k]) \($o[$k]) \($b[$k])" end end'
}

agreed() { said=$(agree "$@"); [ -z "$said" ]; }

paths_from h1 h2
paths_udp "data" 300 10.0.0.2
for port in $PATHS_PORTS; do
	# what is measured goes up and down where time goes by
	agreed "${port%/*}" "${port#*/}" || [ "${SLUICE_HOME:-}" = uml ] || wait_until -e 100 5 agreed "${port%/*}" "${port#*/}"
	is "$port: the same names and values as tc's" "$said" ""
done
between "and not of nothing" "$(sluice_in sw -j show -s p2 | jq '.[0].port | length')" 40 100
is "without -s no counters" "$(sluice_in sw -j show p2 | jq '.[0].port | has("hello_tx")')" false
tc_in sw qdisc change dev p2 root handle 1: bfc hrtt 77us
measured=$(port_stat sw p2 hrtt_raw)
is "hrtt as used, not as measured" "$(sluice_in sw -j show p2 | jq -c '.[0].port | [.hrtt_raw, .hrtt]')" \
	"[$measured,77000]"
is "also in text" "$(sluice_in sw show p2 | awk '$1 == "hrtt" { print $2 }')" 77us
tc_in sw qdisc change dev p2 root handle 1: bfc hrtt auto
is "speed" "$(sluice_in sw show | awk '$1 == "p2" { print $10 }')" 1Gbit

diag "set"
check "options" sluice_in sw set p2 peer host watchdog 50ms restore 80ms nowatch th 64k th-scale 50% tier up
options='[.peer, .watchdog, .restore, .watch, .th, .th_scale, .tier, .tag]'
is "all of them" "$(tc_in sw -j qdisc show dev p2 | jq -c ".[0].options | $options")" \
	'["host",50000000,80000000,false,65536,50,"up",true]'
check "one of them" sluice_in sw set p2 tag off
is "leaves the others alone" "$(tc_in sw -j qdisc show dev p2 | jq -c ".[0].options | $options")" \
	'["host",50000000,80000000,false,65536,50,"up",false]'
check "back" sluice_in sw set p2 peer auto watchdog auto restore auto watch on th 1 th-scale 100 tier none tag on
sluice_in sw set p2 peer switch	# towards a host nobody tags
refused "what cannot be changed" "$(tc_in sw qdisc change dev p2 root bfc queues 64 2>&1 |
	sed -n 's/^Error: \(.*\)\.$/\1/p')" sluice_in sw set p2 queues 64
between "by the kernel's own words" "$(sluice_in sw set p2 queues 64 2>&1 | grep -c 'sluice: p2 1: ..*')" 1 1
refused "no device" 'no device "p9"' sluice_in sw set p9 peer host
refused "no qdisc of ours" "br0 has no qdisc of bfc, floodgate, flowsail, rocc, ideal or pfc" sluice_in sw set br0 peer host
refused "no rocc" "p2 has no rocc qdisc: tc qdisc replace dev p2 root rocc" sluice_in sw set p2 rocc rate 1gbit

ip_in sw link add v0 numtxqueues 3 type veth peer name v1 numtxqueues 3 numrxqueues 3
ip_in sw link set v0 up
ip_in sw link set v1 up
tc_in sw qdisc replace dev v0 root handle 8: mq
for i in 1 2 3; do
	tc_in sw qdisc replace dev v0 parent 8:$i handle 8$i: bfc queues 32
done
# shellcheck disable=SC2016
is "below mq: all" "$(sluice_in sw -j set v0 limit 1m | jq .changed)" 3
is "have it" "$(tc_in sw -j qdisc show dev v0 | jq -c '[.[] | select(.kind == "bfc") | .options.limit]')" \
	"[1048576,1048576,1048576]"
tc_in sw qdisc replace dev v1 root handle 1: tbf rate 1mbit burst 64k latency 10s
tc_in sw qdisc replace dev v1 parent 1: handle 11: bfc
check "below tbf" sluice_in sw set v1 rate 1mbit
is "has it" "$(tc_in sw -j qdisc show dev v1 | jq -c '[.[] | select(.kind == "bfc") | .options.rate]')" \
	"[125000]"

diag "monitor"
# By itself, not through a function: a signal to a shell does not reach its child.
listens() { in_ns sw awk -v pid="$monitor" '$2 == 16 && $3 == pid && $4 != "00000000" { found = 1 }
	END { exit !found }' /proc/net/netlink; }
watch()
{
	"$sluice" -n "$NS-sw" "$@" >"$PATHS_TMP/events" 2>&1 &
	monitor=$!
	wait_until 10 listens || fail "monitor listens" "$(cat "$PATHS_TMP/events")"
}
seen() { jq -se --arg word "$1" 'any(.[]; .events | index($word))' "$PATHS_TMP/events"; }

watch -j monitor p2
ip_in h2 link set eth0 down
check "the neighbour's loss is seen" paths_wait 5 seen neighbour_lost
ip_in h2 link set eth0 up
check "and its return" paths_wait 10 seen neighbour_up
check "tags again" paths_wait 10 state_is tagging
kill -INT "$monitor"
wait "$monitor"
is "SIGINT ends it well" $? 0
is "each line is an event of that port" "$(jq -r '.dev' "$PATHS_TMP/events" | sort -u)" p2
is "with its time, in order" "$(jq -s 'map(.time) | . == sort and all(. > 0)' "$PATHS_TMP/events")" true
is "and with what the port is then" "$(jq -rs 'first(.[] | select(.port.state == "no_carrier")) | .port.state' \
	"$PATHS_TMP/events")" no_carrier
watch monitor --count 2
tc_in sw qdisc del dev v1 root
tc_in sw qdisc replace dev v1 root bfc
wait_until 10 test ! -e "/proc/$monitor" || kill "$monitor"
wait "$monitor"
is "--count ends it" $? 0
is "after so many" "$(wc -l <"$PATHS_TMP/events")" 2
is "text: time, device, what" "$(awk '$1 ~ /^[0-9]+\.[0-9]+$/ { print $2 }' "$PATHS_TMP/events" | sort -u | xargs)" v1

diag "pairs"
is "none" "$(sluice_in sw pair list)" ""
check "one" sluice_in sw pair add p1 p2
is "is there" "$(sluice_in sw pair list)" "p1 p2"
is "in JSON" "$(sluice_in sw -j pair list | jq -c .)" '[{"ingress":"p1","egress":"p2"}]'
refused "not twice" "p1 p2: is elided already" sluice_in sw pair add p1 p2
refused "no device" 'no device "p9"' sluice_in sw pair add p1 p9
before=$(qdisc_stat sw p2 marks bfc)
paths_from h1 h2
paths_udp "data while elided" 300 10.0.0.2
is "pauses nobody" "$(($(qdisc_stat sw p2 marks bfc) - before))" 0
between "and is counted" "$(qdisc_stat sw p2 elided bfc)" 100 1000
check "no longer" sluice_in sw pair del p1 p2
is "is not there" "$(sluice_in sw pair list)" ""
refused "not twice" "p1 p2: is not elided" sluice_in sw pair del p1 p2
ip_in sw link add e1 type dummy
sluice_in sw pair add p1 p2
sluice_in sw pair add e1 p2
sluice_in sw pair add p2 e1
is "of a device, both ways" "$(sluice_in sw pair list | sort | xargs)" "e1 p2 p1 p2 p2 e1"
ip_in sw link del e1
is "they go with it" "$(sluice_in sw pair list)" "p1 p2"
ip_in sw link add e1 type dummy
is "and another one of its name has none" "$(sluice_in sw pair list)" "p1 p2"
ip_in sw link del e1
sluice_in sw pair del p1 p2

diag "graph"
cat >"$PATHS_TMP/ring" <<-END
	switch sw
	switch b
	switch c
	switch d
	host h
	host i
	host j
	host k
	link sw.v0 h.0
	link b.v0 i.0
	link c.v0 j.0
	link d.v0 k.0
	link sw.p2 b.l
	link b.r c.l
	link c.r d.l
	link d.r sw.p1
END
sluice_in sw graph "$PATHS_TMP/ring" >"$PATHS_TMP/verdict"
is "a ring is cyclic" $? 3
sluice_in sw -j graph --apply --switch sw "$PATHS_TMP/ring" >"$PATHS_TMP/verdict" 2>"$PATHS_TMP/said"
is "--apply" $? 0
is "elides this box's pairs" "$(sluice_in sw pair list | sort)" \
	"$(jq -r '.elide.pairs[] | select(.switch == "sw") | "\(.ingress) \(.egress)"' "$PATHS_TMP/verdict" | sort)"
between "of which there are some" "$(sluice_in sw pair list | wc -l)" 1 2
pairs=$(sluice_in sw pair list | wc -l)
is "again: they are there" "$(sluice_in sw graph --apply --switch sw "$PATHS_TMP/ring" 2>&1 >/dev/null)" \
	"sluice: sw: 0 pairs added, $pairs were elided already"
sluice_in sw pair list | while read -r in out; do sluice_in sw pair del "$in" "$out"; done
sed 's/sw\.p1/sw.p7/' "$PATHS_TMP/ring" >"$PATHS_TMP/wrong"
refused "a device that is not there" 'no device "p7"' sluice_in sw graph --apply --switch sw "$PATHS_TMP/wrong"
is "nothing was done" "$(sluice_in sw pair list)" ""

diag "doctor"
# found NAME DEV ID: doctor finds this of the device, and says so by its exit status
ids() { sluice_in sw -j doctor "$@" | jq -r '[.[].id] | join(" ")'; }
found()
{
	local ids status

	ids=$(ids "$2")
	sluice_in sw doctor "$2" >/dev/null
	status=$?
	if [[ " $ids " = *" $3 "* ]] && [ $status = 3 ]; then
		pass "$3: $1"
	else
		fail "$3: $1" "finds: $ids" "exit status $status"
	fi
}
well()
{
	is "$1 again: nothing" "$(ids "$2")" ""
}

for dev in v0 v1; do
	tc_in sw qdisc del dev $dev root
done
# The state may be one of before.
sleep 1.5
is "nothing is wrong" "$(sluice_in sw doctor; echo $?)" 0
is "in JSON" "$(sluice_in sw -j doctor | jq -c .)" "[]"
is "nor on a host" "$(sluice_in h1 doctor; echo $?)" 0
found "a device without bfc" br0 no_port
refused "no such device" 'no device "p9"' sluice_in sw doctor p9

sluice_in sw set p2 tag off
found "tag off" p2 disabled
is "p1 is as before" "$(ids p1)" ""
sluice_in sw set p2 tag on tpid 802.1q
found "another TPID" p2 tpid
sluice_in sw set p2 tpid 802.1ad
check "tags again" paths_wait 10 state_is tagging
ip_in h2 link set eth0 down
found "the other end is down" p2 no_carrier
ip_in h2 link set eth0 up
check "tags again" paths_wait 10 state_is tagging
well "all of that" p2

sluice_in sw set p2 rate 100mbit
found "a rate below the link's" p2 not_bottleneck
tc_in sw qdisc replace dev p2 root handle 2: tbf rate 100mbit burst 64k latency 10s
tc_in sw qdisc replace dev p2 parent 2: handle 11: bfc rate 100mbit peer switch
check "tags again" paths_wait 10 state_is tagging
well "below a tbf" p2
sluice_in sw set p2 rate auto
found "a tbf below the link's speed" p2 rate_not_shaper
tc_in sw qdisc replace dev p2 root handle 1: bfc th 1 peer switch
check "tags again" paths_wait 10 state_is tagging
ip_in sw link set p2 type wire rate 0
ip_in sw link set p2 down
ip_in sw link set p2 up
found "a cable without a rate" p2 speed_unknown
ip_in sw link set p2 type wire rate 1gbit
ip_in sw link set p2 down
ip_in sw link set p2 up
check "tags again" paths_wait 10 state_is tagging
well "with a rate" p2

tc_in sw qdisc replace dev v0 root bfc
found "one bfc for three queues" v0 one_lock
found "nobody there" v0 no_neighbour
tc_in sw qdisc replace dev v0 root handle 8: mq
tc_in sw qdisc replace dev v0 parent 8:1 bfc
found "one queue of three" v0 mq_part
tc_in sw qdisc del dev v0 root

ip_in sw link set br0 type bridge group_fwd_mask 0x4000
found "the bridge forwards control frames" p2 group_fwd_mask
ip_in sw link set br0 type bridge group_fwd_mask 0
if tc_in sw qdisc add dev p2 clsact 2>/dev/null; then
	well "clsact without filters" p2
	tc_in sw filter add dev p2 ingress matchall action ok
	sleep 0.5
	found "a filter on the way in" p2 ingress_filter
	tc_in sw filter del dev p2 ingress
	sleep 0.5
	well "none" p2
	tc_in sw filter add dev p2 egress matchall classid 1:fff0 action ok
	found "a filter on the way out" p2 egress_filter
	paths_from h1 h2
	paths_udp "data through the filter" 50 10.0.0.2
	found "it has written tc_index" p2 handle_forged
	tc_in sw qdisc del dev p2 clsact
else
	skip "egress_filter" "no clsact qdisc"
fi

# attached KIND ID: with a program of this kind on p1
attached()
{
	local program status

	: >"$PATHS_TMP/bpf"
	ip netns exec "$NS-sw" "$bpfpass" "$1" p1 >"$PATHS_TMP/bpf" 2>&1 &
	program=$!
	wait_until 5 test -s "$PATHS_TMP/bpf"
	if grep -q '^attached' "$PATHS_TMP/bpf"; then
		found "a program is attached" p1 "$2"
		kill $program
		wait $program 2>/dev/null
		sleep 0.1
		well "without it" p1
		return
	fi
	wait $program
	status=$?
	if [ $status = 4 ]; then
		skip "$2" "this kernel cannot: $(cat "$PATHS_TMP/bpf")"
	else
		fail "$2" "$(cat "$PATHS_TMP/bpf")"
	fi
}
attached xdp xdp
attached tcx tcx_egress

if command -v setpriv >/dev/null; then
	found_as() { setpriv --bounding-set -net_admin --inh-caps -net_admin "$sluice" \
		-n "$NS-sw" "$@"; }
	is "no_admin" "$(found_as -j doctor p1 | jq -r '[.[].id] | join(" ")')" no_admin
	refused "set without CAP_NET_ADMIN" "needs CAP_NET_ADMIN" found_as set p1 th 2
else
	skip "no_admin" "no setpriv here"
fi

diag "troubles of the link, by a neighbour made by hand"
tc_in h2 qdisc del dev eth0 root
# A qdisc that took the place of another has other sub-queues than the first ones.
tc_in sw qdisc del dev p2 root
tc_in sw qdisc add dev p2 root handle 1: bfc th 1
sleep 1.5
found "nobody there" p2 no_neighbour
# neighbour STATE WORDS...: in the background, until p2 has that state; ends with `leaves`
neighbour()
{
	local state=$1

	shift
	epoch=$((${epoch:-100} + 1))
	ip netns exec "$NS-h2" "$hopframe" peer eth0 mine=$epoch for=60000 "$@" >/dev/null &
	hand=$!
	check "a neighbour, which makes it $state" paths_wait 10 state_is "$state"
}
leaves()
{
	kill $hand
	wait $hand 2>/dev/null
	check "it is gone" paths_wait 10 state_is no_neighbour
}

neighbour no_strip role=switch flags=0
found "strips no tags" p2 no_strip
leaves
neighbour kind role=switch kinds=8000 at=200 state:seq=1,words=ff
found "has another kind" p2 kind
is "tc says so, too" "$(tc_in sw -s qdisc show dev p2 | grep -c 'port: state kind (the neighbour has another kind')" 1
leaves
neighbour probe_tag role=switch noecho
found "echoes no probe" p2 probe_tag
leaves
neighbour probe_size role=switch small
found "echoes small probes only" p2 probe_size
is "the MTU is said" "$(sluice_in sw -j doctor p2 | jq -r '.[] | select(.id == "probe_size").detail')" \
	"MTU 1500: with the tag 1504"
leaves
neighbour host role=host at=200 state:seq=1,lease=500000000,words=ff
check "its pauses come" paths_wait 5 sh -c "[ \"\$('$sluice' -n '$NS-sw' -j show p2 -s |
	jq '.[0].port.rx_untrusted')\" -gt 0 ]"
found "a host that pauses" p2 untrusted
leaves

# 3, 4, 5 and 64; then all, for ever: data that waits makes it a storm
sluice_in sw set p2 watchdog 100ms restore 1s
neighbour tagging role=switch at=200 state:seq=1,lease=1000000000,words=38+1
paused_is() { [ "$(sluice_in sw -j show p2 | jq -c '.[0].paused')" = "$1" ]; }
check "which sub-queues are paused" paths_wait 2 paused_is "[3,4,5,64]"
leaves
words=$(printf 'ffffffffffffffff+%.0s' {1..2})
again=()
for at in {1..40}; do
	again+=("at=$((100 + at * 100))" "state:seq=$at,lease=500000000,words=${words%+}")
done
neighbour tagging role=switch "${again[@]}"
check "all 128 are paused" paths_wait 3 paused_is "$(jq -nc '[range(128)]')"
is "text: a run" "$(sluice_in sw show | awk '$1 == "p2" { print $12 }')" 0-127
watch -j monitor p2
in_ns h1 "$UDPFLOW" send --dest 10.0.0.2 --packets 5 --rate 10m >/dev/null 2>&1
check "a storm is seen" paths_wait 5 seen storm
found "a neighbour that never lets go" p2 storm
is "in the table" "$(sluice_in sw show | awk '$1 == "p2" { print $14 }')" yes
kill "$monitor"
wait "$monitor"
leaves

diag "too many sub-queues"
# Handles are 32768, up to 4096 for a neighbour, all in a row; the small ones fill what is left
ns many
for i in {1..14}; do
	ip_in sw link add m$i type veth peer name x$i
	ip_in sw link set x$i netns "$NS-many"
	ip_in sw link set m$i up
	ip_in many link set x$i up
	tc_in many qdisc replace dev x$i root bfc queues $((i > 9 ? 64 : 4094)) flows 4096 role switch
	tc_in sw qdisc replace dev m$i root bfc queues 16 role switch
done
check "handles are used up" paths_wait 20 sh -c \
	"'$sluice' -n '$NS-sw' -j doctor | jq -e 'any(.[]; .id == \"handles_out\")'"
is "and one neighbour has too few" "$(sluice_in sw -j doctor |
	jq '[.[] | select(.id == "handles_short")] | length > 0')" true
finish
