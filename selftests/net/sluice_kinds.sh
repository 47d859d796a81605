#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command sluice with the kinds rocc, ideal, pfc, floodgate and flowsail: what it shows is what tc shows, also beside ports of bfc, it changes
# their options and no other kind's, and doctor finds each trouble that can be made here.
#
#	h1 ---.
#	       s --- r
#	h2 ---'

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq awk bridge
need_virtual_time
need_sluice
load_modules sch_rocc sch_ideal wire

KEY=000102030405060708090a0b0c0d0e0f

# sluice_in NS WORDS...
sluice_in() { local name=$1; shift; "$sluice" -n "$NS-$name" "$@"; }
ids() { sluice_in "$1" -j doctor | jq -r '[.[].id] | join(" ")'; }
option() { tc_in "$1" -j qdisc show dev "$2" | jq -c ".[] | select(.kind == \"$3\") | .options | [$4]"; }
# fresh BOX DEV WORDS...: another rocc, which has not counted anything
fresh() { tc_in "$1" qdisc del dev "$2" root 2>/dev/null; tc_in "$1" qdisc add dev "$2" root handle 1: rocc "${@:3}"; }

star bridge 2 1gbit 1us
ip_in s addr add 10.0.0.254/24 dev br0
neigh s br0 10.0.0.200 "$(mac 200)"
for box in h1 h2 r; do
	neigh $box e0 10.0.0.254 "$(in_ns s cat /sys/class/net/br0/address)"
done
# a multicast listener's report would be a flow
for box in s h1 h2 r; do
	in_ns $box sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6'
done
fresh s pr
fresh h1 e0 role host
fresh h2 e0 role host
in_ns r "$udpflow" sink --json --idle 5s >"$work/sink" &
sink=$!

diag "show, of an idle network"
sluice_in s show >"$work/table"
is "a line for each qdisc" "$(awk '{ print $1, $2, $3, $4, $6 }' "$work/table" | paste -sd,)" \
	"DEV KIND QDISC ROLE FAIR-RATE,pr rocc 1: switch 1Gbit"
is "a host" "$(sluice_in h1 show | awk 'NR == 2 { print $1, $4, $6, $10 }')" "e0 host - 0"
is "nothing is wrong" "$(ids s) $(ids h1)" " "

diag "set"
check "options of a switch" sluice_in s set pr qref 90k qmid 200k qmax 300k alpha 0.03 interval 500us tuning smooth
is "all of them" "$(option s pr rocc '.qref, .qmid, .qmax, .alpha, .interval, .tuning, .table')" \
	'[92160,204800,307200,0.03,500000,"smooth","queue"]'
check "one of them" sluice_in s set pr interval auto
is "leaves the others alone" "$(option s pr rocc '.qref, .interval, .tuning')" '[92160,0,"smooth"]'
refused "what cannot be changed" "$(tc_in s qdisc change dev pr root rocc table age 2>&1 |
	sed -n 's/^Error: \(.*\)\.$/\1/p')" sluice_in s set pr table age
between "by the kernel's own words" "$(sluice_in s set pr table age 2>&1 | grep -c 'sluice: pr 1: ..*')" 1 1
refused "what belongs to the other role" "$(tc_in s qdisc change dev pr root rocc hold 5ms 2>&1 |
	sed -n 's/^Error: \(.*\)\.$/\1/p')" sluice_in s set pr hold 5ms
check "options of a host" sluice_in h1 set e0 from 10.0.0.0/8,fe80::/10 radius 0 floor 2mbit no-split-gso
is "have come" "$(option h1 e0 rocc '.from, .radius, .floor, .split_gso')" '[["10.0.0.0/8","fe80::/10"],0,250000,false]'
fresh s pr

diag "show, of a congested one"
pids=()
for n in 1 2; do
	sends h$n $n $(($(now) + 1000000)) 220ms
done
sleep 0.2
for box in s h1; do
	sluice_in $box show >"$work/$box"
done
sluice_in h1 show e0 >"$work/e0"
sluice_in h1 -j show >"$work/json"
sluice_in s -j show -s >"$work/s_json"
tc_in s -j -s qdisc show dev pr >"$work/tc_json"
wait "${pids[@]}"
is "two flows are told" "$(awk '$1 == "pr" { print $9 }' "$work/s")" 2
is "less than the link carries" "$(jq '.[0].fair_rate < 125000000 and .[0].fair_rate > 0' "$work/s_json")" true
is "a flow is limited" "$(awk '$1 == "e0" { print $10 }' "$work/h1")" 1
is "that one" "$(sed -n 's/^  limiter: \(.*\) rate .*/\1/p' "$work/e0")" "udp 10.0.0.1:5001 > 10.0.0.200:7000"
is "in JSON" "$(jq -c '.[0] | [.kind, .options.role, .limiters, (.limited[] | .destination, .dport)]' "$work/json")" \
	'["rocc","host",1,"10.0.0.200",7000]'
is "the names of tc's JSON" "$(jq -c '.[0] | del(.dev, .ifindex) | keys' "$work/s_json")" \
	"$(jq -c '.[0] | del(.dev, .root, .refcnt, .bytes, .packets, .drops, .overlimits, .requeues) | keys' "$work/tc_json")"

diag "doctor"
# found NAME BOX ID WORDS...: with these options
found()
{
	local name=$1 box=$2 dev=e0 id=$3

	shift 3
	[ "$box" != s ] || dev=pr
	sluice_in "$box" set $dev "$@"
	is "$id: $name" "$(ids "$box")" "$id"
}
is "nothing is wrong, still" "$(ids s) $(ids h1)" " "
found "more than the link carries" s rocc_rate rate 2gbit
found "less, and nothing shapes to it" s not_bottleneck rate 100mbit
found "no less for anybody than all of the link" s rocc_least_rate rate auto rate-min 1gbit
found "no room for the reference" s rocc_limit rate-min auto limit 60k
found "a key, and no signature" s rocc_sign limit 8m key1 $KEY
found "a signature" s "" sign 1
found "a recovery time beyond hold" h1 rocc_recovery recovery 50ms
found "a floor above the link" h1 rocc_least_rate recovery auto floor 2gbit
fresh s pr
sluice_in h1 set e0 floor auto key1 $KEY
pids=()
for n in 1 2; do
	sends h$n $n $(($(now) + 1000000)) 30ms
done
wait "${pids[@]}"
is "rocc_refused: a host that wants signatures" "$(ids h1)" rocc_refused
is "and says for what" "$(sluice_in h1 -j doctor | jq -r '.[].detail' | grep -c '^bad_tag [1-9]')" 1
fresh h1 e0 role host key1 $KEY
is "rocc_none_obeyed: one that never had another" "$(ids h1)" "rocc_none_obeyed rocc_refused"

check "nobody else sends" wait_until 1 no_limiter h2
fresh s pr
sends s 3 $(($(now) + 1000000)) 40ms
sleep 0.03
sluice_in s -j doctor >"$work/found"
wait $!
is "rocc_silent: flows of the box itself" "$(jq -r '[.[].id] | join(" ")' "$work/found")" rocc_silent

diag "other kinds beside it"
load_modules hopctl sch_bfc sch_floodgate sch_flowsail sch_pfc
tc_in s qdisc add dev pr parent 1:1 handle 2: bfc th 64k
is "rocc_bfc_th: bfc below it" "$(sluice_in s -j doctor pr | jq -r '[.[].id] | join(" ")')" "rocc_bfc_th no_neighbour"
refused "several kinds" "pr has qdiscs of rocc and bfc: say which, as in sluice set pr rocc ..." \
	sluice_in s set pr limit 1m
check "bfc's" sluice_in s set pr bfc th 120k limit 1m
is "has it" "$(option s pr bfc '.th, .limit')" "[122880,1048576]"
is "and rocc does not" "$(option s pr rocc .limit)" "[8388608]"
check "rocc's" sluice_in s set pr rocc limit 2m
is "has it" "$(option s pr rocc .limit) $(option s pr bfc .limit)" "[2097152] [1048576]"
is "doctor is content" "$(sluice_in s -j doctor pr | jq -r '[.[].id] | join(" ")')" no_neighbour
tc_in s qdisc add dev p1 root handle 3: ideal
check "ideal's" sluice_in s set p1 limit 12m control-dscp 46
is "has it" "$(option s p1 ideal '.limit, .control_dscp')" "[12582912,46]"
sluice_in s show >"$work/table"
is "a table for each" "$(awk '{ print $1, NF ? $2 : "" }' "$work/table" | paste -sd,)" \
	"DEV STATE,pr no_neighbour, ,DEV KIND,pr rocc, ,DEV KIND,p1 ideal"
is "all in one JSON" "$(sluice_in s -j show | jq -c 'map([.dev, .kind // "port"])')" \
	'[["pr","port"],["p1","ideal"],["pr","rocc"]]'
is "or those of a device" "$(sluice_in s -j show p1 | jq -c 'map(.kind)')" '["ideal"]'
refused "a device with none" "p2 is no port: tc qdisc replace dev p2 root bfc" sluice_in s show p2
tc_in s qdisc add dev p2 root handle 4: pfc pool 1m
check "pfc's" sluice_in s set p2 kmin 5k kmax 200k
is "has it" "$(option s p2 pfc '.kmin, .kmax, .pmax')" "[5120,204800,1]"
refused "a rule of the kernel's" "p2 4: kmin must not be above kmax" sluice_in s set p2 kmax none
is "it is a port, and in a table of its own" "$(sluice_in s show | awk '$1 == "p2" { print $2, $4 }' | paste -sd,)" \
	"no_neighbour none,pfc 1Mb"
is "both are shown of the device" "$(sluice_in s -j show p2 | jq -c 'map(.kind // "port")')" '["port","pfc"]'
is "its trouble is a port's" "$(sluice_in s -j doctor p2 | jq -r '[.[].id] | join(" ")')" no_neighbour
tc_in s qdisc replace dev p2 root handle 5: floodgate slots 7
check "floodgate's" sluice_in s set p2 window 40k serve through
is "has it" "$(option s p2 floodgate '.window, .serve, .slots')" '[40960,"through",7]'
refused "what cannot be changed" "p2 5: this option can be set at creation only" sluice_in s set p2 slots 8
is "it is a port, and in a table of its own" "$(sluice_in s show | awk '$1 == "p2" { print $2, $4 }' | paste -sd,)" \
	"no_neighbour none,floodgate 40Kb"
is "its trouble is a port's, too" "$(sluice_in s -j doctor p2 | jq -r '[.[].id] | join(" ")')" no_neighbour
check "and a switch of its own" sluice_in s set p2 pause-hosts limit 10
is "has it, too" "$(option s p2 floodgate '.pause_hosts, .limit')" '[true,10]'
ip_in s addr add 10.9.9.1/24 dev p2
neigh s p2 10.9.9.2 "$(mac 9)"
in_ns s bash -c 'echo no room >/dev/udp/10.9.9.2/9'
is "and so has its own" "$(sluice_in s -j doctor p2 | jq -r '[.[] | .id + ":" + .detail] | join(" ")')" "no_neighbour: floodgate_dropped:1 packets"
tc_in s qdisc replace dev p2 root handle 6: flowsail role switch slots 7
check "flowsail's" sluice_in s set p2 ql 40k lone high nopause
is "has it" "$(option s p2 flowsail '.ql, .lone, .pause, .slots')" '[40960,"high",false,7]'
refused "what cannot be changed" "p2 6: this option can be set at creation only" sluice_in s set p2 queues 9
refused "nor what is against the rules" "p2 6: qh must not be below ql" sluice_in s set p2 qh 39k
is "it is a port, and in a table of its own" "$(sluice_in s show | awk '$1 == "p2" { print $2, $4, $6 }' | paste -sd,)" \
	"no_neighbour none -,flowsail 0 40Kb"
is "its trouble is a port's, too" "$(sluice_in s -j doctor p2 | jq -r '[.[].id] | join(" ")')" no_neighbour
check "and room for less than a packet" sluice_in s set p2 limit 10
in_ns s bash -c 'echo no room >/dev/udp/10.9.9.2/9'
is "and it has its own" "$(sluice_in s -j doctor p2 | jq -r '[.[] | .id + ":" + .detail] | join(" ")')" "no_neighbour: flowsail_dropped:1 packets"

diag "by net.core.default_qdisc"
default=/proc/sys/net/core/default_qdisc
before=$(cat $default)
echo rocc >$default
ip link add d0 netns "$NS-s" type wire rate 1gbit peer name d0 netns "$NS-r"
ip_in s link set d0 up
echo "$before" >$default
is "is shown" "$(sluice_in s show d0 | head -n 1)" "d0 rocc 0:"
refused "cannot be changed" "d0: the kernel changes no rocc that net.core.default_qdisc has put there" \
	sluice_in s set d0 rate 1gbit
is "as tc finds" "$(tc_in s qdisc change dev d0 root rocc rate 1gbit 2>&1 | head -n 1 | cut -d. -f1)" "Error: Qdisc not found"
ip_in s link del d0
wait $sink
finish
