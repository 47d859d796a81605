#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of bfc, in the kernel: defaults, each option alone, each bad value, change,
# replace, delete, class show, and the shapes a qdisc can stand in.
#
#	namespace a:  v0 ---- v1
#
# tc says what users say; tcmsg (built from tcmsg.c) says what tc would not let through. After
# each refusal the whole configuration must be what it was.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
kind=bfc
need_tool tc jq
load_modules hopctl sch_bfc
# shellcheck source=selftests/net/options.sh
. "$(dirname "$0")/options.sh"

# Defaults, as the header has them

defaults=$(jq -cn '{queues: 128, classes: 1, flows: 0, ways: 4, assign: "dynamic", reuse: "sticky", share: "spare",
	limit: 8388608, quantum: 0, priomap: [range(16) | 0], split_gso: true, pause: true, pause_by: "queue", rate: 0,
	hrtt: 0, hrtt_max: 1000000, th: 0, th_scale: 100, sticky: 0, role: "auto", peer: "auto", tag: true,
	tpid: "0x88a8", refresh: 0, lease: 0, watch: true, watchdog: 0, restore: 0,
	tier: "none", pool: 0, pool_alpha: 100, pool_pause_alpha: 12.5, control_share: 5, control_dscp: 0, strip: "auto",
	roots: false, root_id: 0, version: 2}')
header=$here/../../kernel/uapi/bfc.h
defined() {
	sed -nE "s/^#define $1[[:space:]]+\(?([0-9]+)U?( << ([0-9]+)\))?.*/\1 \3/p" "$header" |
	while read -r value shift; do echo $((value << ${shift:-0})); done
}
if [ -e "$header" ]; then
	is "the defaults expected are the header's" \
	   "$(defined BFC_QUEUES_DEFAULT) $(defined BFC_LIMIT_DEFAULT) $(defined BFC_TH_SCALE_DEFAULT) $(defined BFC_WAYS_DEFAULT) $(defined BFC_VERSION)" \
	   "$(jq -r '"\(.queues) \(.limit) \(.th_scale) \(.ways) \(.version)"' <<<"$defaults")"
else
	skip "the defaults expected are the header's" "no header here"
fi

check "a message without TCA_OPTIONS" send add
shown "shows the defaults" "$defaults"
tc_in a qdisc del dev v0 root
check "an empty TCA_OPTIONS" send add "TCA_OPTIONS{" "}"
shown "shows the defaults" "$defaults"
tc_in a qdisc del dev v0 root
check "an empty TCA_OPTIONS that says it is a nest" send add "TCA_OPTIONS+{" "}"
shown "shows the defaults" "$defaults"
taken "change without TCA_OPTIONS" . change
taken "change with an empty one" . change "TCA_OPTIONS{" "}"
fresh ""
shown "tc without an option" "$defaults"

# Each option alone, as the user types it

while IFS='|' read -r words change; do
	fresh "$words"
	is "bfc $words" "$got" "$(jq -c "$change" <<<"$defaults")"
done <<'END'
queues 1|.queues = 1
queues 4094|.queues = 4094
classes 2|.classes = 2 | .priomap = [1,1,1,1,1,1,0,0,1,1,1,1,1,1,1,1]
classes 4|.classes = 4 | .priomap = [1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1]
classes 8|.classes = 8 | .priomap = [1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1]
flows 1000|.flows = 1000
flows 1 ways 1|.flows = 1 | .ways = 1
classes 4 flows 16|.classes = 4 | .flows = 16 | .priomap = [1,2,2,2,1,2,0,0,1,1,1,1,1,1,1,1]
ways 1|.ways = 1
ways 4|.
flows auto|.
assign stochastic|.assign = "stochastic"
assign single|.assign = "single"
reuse empty|.reuse = "empty"
share random|.share = "random"
share spare|.
limit 64k|.limit = 65536
limit 1g|.limit = 1073741824
quantum 256|.quantum = 256
quantum 1g|.quantum = 1073741824
priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0|.
classes 8 priomap 0 1 2 3 4 5 6 7 7 6 5 4 3 2 1 0|.classes = 8 | .priomap = [0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0]
no-split-gso|.split_gso = false
nopause|.pause = false | .pause_by = "none"
pause queue|.
pool-pause-alpha 3.12%|.pool_pause_alpha = 3.12
rate 10gbit|.rate = 1250000000
rate 1kbit|.rate = 125
rate 8tbit|.rate = 1000000000000
hrtt 100ns|.hrtt = 100
hrtt 100ms|.hrtt = 100000000
hrtt-max 100ns|.hrtt_max = 100
hrtt-max 100ms|.hrtt_max = 100000000
th 12500|.th = 12500
th-scale 150%|.th_scale = 150
th-scale 10000|.th_scale = 10000
sticky 1ns|.sticky = 1
sticky 1s|.sticky = 1000000000
role host|.role = "host"
role switch|.role = "switch"
peer host|.peer = "host"
peer switch|.peer = "switch"
notag|.tag = false
tpid 0x8100|.tpid = "0x8100"
tpid 802.1ad|.
refresh 10us|.refresh = 10000
refresh 1s|.refresh = 1000000000
lease 10us|.lease = 10000
lease 2s|.lease = 2000000000
nowatch|.watch = false
watchdog 1ms|.watchdog = 1000000
watchdog 1s|.watchdog = 1000000000
restore 1ms|.restore = 1000000
restore 1s|.restore = 1000000000
tier down|.tier = "down"
tier up|.tier = "up"
pool 1|.pool = 1
pool 1g|.pool = 1073741824
pool none|.
pool-alpha 12.5%|.pool_alpha = 12.5
pool-alpha 0.01|.pool_alpha = 0.01
pool-alpha 1000|.pool_alpha = 1000
strip always|.strip = "always"
roots|.roots = true
noroots|.
root-id 1|.root_id = 1
root-id 65535|.root_id = 65535
root-id auto|.
control-share 0.01|.control_share = 0.01
control-share 100%|.control_share = 100
control-dscp 1|.control_dscp = 1
control-dscp 63|.control_dscp = 63
control-dscp none|.
pool 64k pool-alpha 6.25%|.pool = 65536 | .pool_alpha = 6.25
END

# Change: what is not named stays

fresh "limit 1m th 9000 nopause"
taken "change reuse" '.reuse = "empty"' change "TCA_OPTIONS{" TCA_BFC_REUSE=u8:1 "}"
taken "change limit" '.limit = 1' change "TCA_OPTIONS{" TCA_BFC_LIMIT=u32:1 "}"
taken "change quantum" '.quantum = 9000' change "TCA_OPTIONS{" TCA_BFC_QUANTUM=u32:9000 "}"
taken "change split-gso" '.split_gso = false' change "TCA_OPTIONS{" TCA_BFC_SPLIT_GSO=u8:0 "}"
taken "change pause" '.pause = true | .pause_by = "queue"' change "TCA_OPTIONS{" TCA_BFC_PAUSE=u8:1 "}"
taken "change rate" '.rate = 1099511627776' change \
      "TCA_OPTIONS{" TCA_BFC_RATE=u64:1099511627776 "}"
taken "change hrtt" '.hrtt = 12345' change "TCA_OPTIONS{" TCA_BFC_HRTT=u32:12345 "}"
taken "change th to auto" '.th = 0' change "TCA_OPTIONS{" TCA_BFC_TH=u32:0 "}"
taken "change th-scale" '.th_scale = 1' change "TCA_OPTIONS{" TCA_BFC_TH_SCALE=u32:1 "}"
taken "change sticky" '.sticky = 5' change "TCA_OPTIONS{" TCA_BFC_STICKY=u32:5 "}"
taken "change role" '.role = "host"' change "TCA_OPTIONS{" TCA_BFC_ROLE=u8:1 "}"
taken "change peer" '.peer = "switch"' change "TCA_OPTIONS{" TCA_BFC_PEER=u8:2 "}"
taken "change tag" '.tag = false' change "TCA_OPTIONS{" TCA_BFC_TAG=u8:0 "}"
taken "change tpid" '.tpid = "0x8100"' change "TCA_OPTIONS{" TCA_BFC_TPID=u16:0x8100 "}"
taken "change refresh" '.refresh = 50000' change "TCA_OPTIONS{" TCA_BFC_REFRESH=u32:50000 "}"
taken "change lease" '.lease = 100000' change "TCA_OPTIONS{" TCA_BFC_LEASE=u32:100000 "}"
taken "change watch" '.watch = false' change "TCA_OPTIONS{" TCA_BFC_WATCH=u8:0 "}"
taken "change watchdog" '.watchdog = 1000000' change \
      "TCA_OPTIONS{" TCA_BFC_WATCHDOG=u32:1000000 "}"
taken "change restore" '.restore = 3000000' change \
      "TCA_OPTIONS{" TCA_BFC_RESTORE=u32:3000000 "}"
taken "change tier" '.tier = "up"' change "TCA_OPTIONS{" TCA_BFC_TIER=u8:2 "}"
taken "change pool" '.pool = 70000' change "TCA_OPTIONS{" TCA_BFC_POOL=u32:70000 "}"
taken "change pool's size" '.pool = 80000' change "TCA_OPTIONS{" TCA_BFC_POOL=u32:80000 "}"
taken "change pool to none" '.pool = 0' change "TCA_OPTIONS{" TCA_BFC_POOL=u32:0 "}"
taken "change pool-alpha" '.pool_alpha = 800' change "TCA_OPTIONS{" TCA_BFC_POOL_ALPHA=u32:80000 "}"
taken "change strip" '.strip = "always"' change "TCA_OPTIONS{" TCA_BFC_STRIP=u8:1 "}"
taken "change roots" '.roots = true' change "TCA_OPTIONS{" TCA_BFC_ROOTS=u8:1 "}"
taken "change root-id" '.root_id = 4711' change "TCA_OPTIONS{" TCA_BFC_ROOT_ID=u16:4711 "}"
taken "change control-share" '.control_share = 80' change "TCA_OPTIONS{" TCA_BFC_CONTROL_SHARE=u32:8000 "}"
taken "change share" '.share = "random"' change "TCA_OPTIONS{" TCA_BFC_SHARE=u8:0 "}"
taken "change control-dscp" '.control_dscp = 46' change "TCA_OPTIONS{" TCA_BFC_CONTROL_DSCP=u8:46 "}"
taken "change control-dscp to none" '.control_dscp = 0' change "TCA_OPTIONS{" TCA_BFC_CONTROL_DSCP=u8:0 "}"
taken "change priomap to the same" . change \
      "TCA_OPTIONS{" TCA_BFC_PRIOMAP=hex:00000000000000000000000000000000 "}"
taken "change two at once" '.limit = 70000 | .reuse = "sticky"' change \
      "TCA_OPTIONS{" TCA_BFC_LIMIT=u32:70000 TCA_BFC_REUSE=u8:0 "}"
check "change through tc" tc_in a qdisc change dev v0 root handle 1: bfc peer host hrtt auto
options
is "shows it" "$(jq -c '[.peer, .hrtt, .limit]' <<<"$got")" '["host",0,70000]'

# What can be set at creation only may be given again with the value that it has.
fresh "queues 64 classes 2 flows 500 ways 1 assign stochastic"
for fixed in "QUEUES=u16:64" "CLASSES=u8:2" "FLOWS=u32:500" "WAYS=u8:1" "ASSIGN=u8:1"; do
	taken "the same ${fixed%%=*} again" . change "TCA_OPTIONS{" "TCA_BFC_$fixed" "}"
done
for fixed in "QUEUES=u16:128" "CLASSES=u8:1" "FLOWS=u32:0" "WAYS=u8:4" "ASSIGN=u8:0"; do
	kept "another ${fixed%%=*}" "TCA_BFC_${fixed%%=*}" "at creation only" change \
	     "TCA_OPTIONS{" TCA_BFC_LIMIT=u32:77 "TCA_BFC_$fixed" TCA_BFC_TH=u32:77 "}"
done

# Bad values: at a change, with good ones around; and at creation, where no qdisc may stay

fresh "queues 64 classes 2"
while read -r attribute type words values; do
	for value in $values; do
		kept "change $attribute to $value" "TCA_BFC_$attribute" "${words//_/ }" change \
		     "TCA_OPTIONS{" TCA_BFC_PAUSE=u8:0 TCA_BFC_STICKY=u32:4711 \
		     "TCA_BFC_$attribute=$type:$value" "}"
	done
done <<'END'
QUEUES u16 queues_must_be 0 4095 65535
CLASSES u8 classes_must_be 0 9 255
FLOWS u32 flows_must_be 4194305 0x80000000 0xffffffff
ASSIGN u8 assign_must_be 3 255
WAYS u8 ways_must_be 0 5 255
REUSE u8 reuse_must_be 2 255
SHARE u8 share_must_be 2 255
CONTROL_DSCP u8 control-dscp_must_be_none_or_1_to_63 64 255
LIMIT u32 limit_must_be 0 0x40000001 0x80000000 0xffffffff
QUANTUM u32 quantum_must_be 1 255 0x40000001 0xffffffff
SPLIT_GSO u8 split-gso_must_be 2 255
PAUSE u8 pause_must_be 3 255
RATE u64 rate_must_be 1 124 0x10000000001 0xffffffffffffffff
HRTT u32 hrtt_must_be 1 99 100000001 0xffffffff
HRTT_MAX u32 hrtt-max_must_be 0 99 100000001 0xffffffff
TH u32 th_must_be 0x40000001 0xffffffff
TH_SCALE u32 th-scale_must_be 0 10001 0xffffffff
STICKY u32 sticky_must_be 1000000001 0xffffffff
ROLE u8 role_must_be 3 255
PEER u8 peer_must_be 3 255
TAG u8 tag_must_be 2 255
TPID u16 tpid_must_be 0 0x800 0x9100 0xa888
REFRESH u32 refresh_must_be 1 9999 1000000001 0xffffffff
LEASE u32 lease_must_be 1 9999 2000000001 0xffffffff
WATCH u8 watch_must_be 2 255
WATCHDOG u32 watchdog_must_be 1 999999 1000000001 0xffffffff
RESTORE u32 restore_must_be 1 999999 1000000001 0xffffffff
TIER u8 tier_must_be 3 255
POOL u32 pool_must_be 0x40000001 0xffffffff
POOL_ALPHA u32 pool-alpha_must_be 0 100001 0xffffffff
POOL_PAUSE_ALPHA u32 pool-pause-alpha_must_be 0 100001 0xffffffff
STRIP u8 strip_must_be 2 255
ROOTS u8 roots_must_be 2 255
CONTROL_SHARE u32 control-share_must_be 0 10001 0xffffffff
PAUSE u8 pause_ingress_is_a_qdisc_of_its_own_now:_pfc 2
PRIOMAP hex priomap_names_a_class 02000000000000000000000000000000 000000000000000000000000000000ff
END

# Wrong lengths, attributes that are not options, damaged nests. The kernel's own policy speaks.
while read -r token; do
	kept "malformed $token" "${token%%=*}" "" change \
	     "TCA_OPTIONS{" TCA_BFC_LIMIT=u32:4711 "$token" "}"
done <<'END'
TCA_BFC_QUEUES=u8:64
TCA_BFC_QUEUES=u32:64
TCA_BFC_CONTROL_DSCP=u32:46
TCA_BFC_LIMIT=hex:01
TCA_BFC_LIMIT=u64:1
TCA_BFC_RATE=u32:1000000
TCA_BFC_PAUSE=u16:1
TCA_BFC_PAUSE=hex:
TCA_BFC_PRIOMAP=hex:00
TCA_BFC_PRIOMAP=hex:0000000000000000000000000000000000
TCA_BFC_VERSION=u32:1
TCA_BFC_PAD=u32:1
200=u32:1
END

# Rules that tie options to each other
kept "lease of one refresh" TCA_BFC_LEASE "lease must be at least 2 refreshes" change \
     "TCA_OPTIONS{" TCA_BFC_REFRESH=u32:50000 TCA_BFC_LEASE=u32:99999 "}"
tc_in a qdisc del dev v0 root
while read -r attribute words tokens; do
	# shellcheck disable=SC2086
	refused "add with $tokens" "${words//_/ } [TCA_BFC_$attribute]" \
		send add "TCA_OPTIONS{" $tokens "}"
	shown "leaves no bfc" ""
done <<'END'
CLASSES queues_must_be_a_multiple_of_classes TCA_BFC_CLASSES=u8:3
CLASSES queues_must_be_a_multiple_of_classes TCA_BFC_CLASSES=u8:2 TCA_BFC_QUEUES=u16:4093
CLASSES queues_must_be_a_multiple_of_classes TCA_BFC_CLASSES=u8:2 TCA_BFC_QUEUES=u16:1
QUEUES queues_must_be_1_to_4094 TCA_BFC_CLASSES=u8:1 TCA_BFC_QUEUES=u16:0
FLOWS flows_must_be_a_multiple_of_classes_x_ways TCA_BFC_CLASSES=u8:8 TCA_BFC_FLOWS=u32:16
FLOWS flows_must_be_a_multiple_of_classes_x_ways TCA_BFC_FLOWS=u32:1
FLOWS flows_must_be_a_multiple_of_classes_x_ways TCA_BFC_WAYS=u8:1 TCA_BFC_CLASSES=u8:2 TCA_BFC_FLOWS=u32:7
WAYS ways_must_be_1_or_4 TCA_BFC_WAYS=u8:2
WAYS ways_must_be_1_or_4 TCA_BFC_WAYS=u8:3
TH_SCALE th-scale_must_be_1_to_10000_percent TCA_BFC_TH_SCALE=u32:0
PAUSE pause_ingress_is_a_qdisc_of_its_own_now:_pfc TCA_BFC_PAUSE=u8:2
PAUSE pause_ingress_is_a_qdisc_of_its_own_now:_pfc TCA_BFC_PAUSE=u8:2 TCA_BFC_ASSIGN=u8:2 TCA_BFC_POOL=u32:100000
END

# A pool has one size, whoever comes second; what is refused leaves it as it was
tc_in a qdisc add dev v1 root handle 1: bfc pool 50000
fresh "pool 50000"
kept "another size for the second" TCA_BFC_POOL "another size, and other users" change \
     "TCA_OPTIONS{" TCA_BFC_TH=u32:77 TCA_BFC_POOL=u32:50001 TCA_BFC_LIMIT=u32:77 "}"
tc_in a qdisc del dev v0 root
refused "another size to begin with" "other users [TCA_BFC_POOL]" \
	send add "TCA_OPTIONS{" TCA_BFC_POOL=u32:50001 "}"
shown "leaves no bfc" ""
is "and the first as it was" "$(tc_in a -j -s qdisc show dev v1 |
	jq -c '.[0] | [.options.pool, .pool_size, .pool_used]')" "[50000,50000,0]"
tc_in a qdisc del dev v1 root

# The user sees the kernel's reason
refused "tc passes it on" "hrtt must be auto or 100 ns to 100 ms" \
	tc_in a qdisc add dev v0 root bfc hrtt 50ns

# Replace and delete

fresh "limit 1m"
check "replace by itself" tc_in a qdisc replace dev v0 root handle 1: bfc th 5000
options
is "changes what is named" "$(jq -c '[.limit, .th]' <<<"$got")" "[1048576,5000]"
check "replace by a second bfc" tc_in a qdisc replace dev v0 root handle 2: bfc th 6000
options
is "starts from the defaults" "$(jq -c '[.limit, .th]' <<<"$got")" "[8388608,6000]"
check "replace by another kind" tc_in a qdisc replace dev v0 root handle 3: pfifo
shown "is gone" ""
check "replace another kind" tc_in a qdisc replace dev v0 root handle 4: bfc
shown "is there" "$defaults"
check "delete" tc_in a qdisc del dev v0 root
shown "is gone" ""
for _ in 1 2 3 4 5 6 7 8; do
	tc_in a qdisc add dev v0 root bfc queues 4094 || break
	tc_in a qdisc del dev v0 root || break
done
shown "eight times added and deleted" ""

# Classes: strict-priority ones and the control class, from the start

fresh "classes 4"
is "class show" "$(tc_in a class show dev v0 | awk '{print $3}' | sort | paste -sd' ')" \
   "1:1 1:2 1:3 1:4 1:fff"
check "class show with statistics" tc_in a -s class show dev v0
refused "no class is added" "" send class
refused "no class is deleted" "" tc_in a class del dev v0 classid 1:1
refused "no qdisc below a class" "" tc_in a qdisc add dev v0 parent 1:1 pfifo
refused "no class options" "made by the qdisc" tc_in a class add dev v0 parent 1: classid 1:7 bfc
is "class show as before" "$(tc_in a class show dev v0 | wc -l)" 5

# Statistics are there, whole, and each name once for each place
tc_in a -s -j qdisc show dev v0 root | jq -cS '.[0]' >/tmp/stats.$$
is "clock, threshold, port" \
   "$(jq -c '[(.time > 0), (.th > 0), (.port | type), (.port.state | type)]' /tmp/stats.$$)" \
   '[true,true,"object","string"]'
is "no attribute without a value" "$(jq -c '[.. | select(. == null)] | length' /tmp/stats.$$)" 0
is "counters start at zero" "$(jq -c '[.marks, .pauses_obeyed, .drop_limit, .paused]' \
	/tmp/stats.$$)" "[0,0,0,0]"
rm -f /tmp/stats.$$

# Shapes: each transmit queue under mq, a leaf below tbf, devices that are not for it

tc_in a qdisc del dev v0 root
check "below tbf" sh -c "tc -n $NS-a qdisc add dev v0 root handle 1: tbf rate 1gbit \
	burst 100k limit 1m && tc -n $NS-a qdisc add dev v0 parent 1:1 handle 2: bfc limit 1m"
is "shows its options there" "$(tc_in a -j qdisc show dev v0 |
	jq -c '.[] | select(.kind == "bfc") | [.parent, .options.limit]')" '["1:1",1048576]'
check "is deleted with its parent" tc_in a qdisc del dev v0 root

ip_in a link add m0 numtxqueues 4 numrxqueues 4 type veth peer name m1
ip_in a link set m0 up
check "mq" tc_in a qdisc add dev m0 root handle 1: mq
for i in 1 2 3 4; do
	tc_in a qdisc add dev m0 parent 1:$i bfc queues 1000 || fail "bfc below mq, queue $i"
done
is "four instances" "$(tc_in a -j qdisc show dev m0 |
	jq -c '[.[] | select(.kind == "bfc") | .options.queues]')" "[1000,1000,1000,1000]"
refused "more queues than a port has numbers" "" \
	tc_in a qdisc replace dev m0 parent 1:4 handle 9: bfc queues 1095
is "leaves what was there" "$(tc_in a -j qdisc show dev m0 |
	jq -c '[.[] | select(.kind == "bfc") | .options.queues]')" "[1000,1000,1000,1000]"
leave_ports
check "mq is deleted" tc_in a qdisc del dev m0 root

refused "not Ethernet" "Error" tc_in a qdisc add dev lo root bfc
is "leaves no bfc" "$(tc_in a -j qdisc show dev lo | jq -c '[.[] | select(.kind == "bfc")]')" "[]"
if ip_in a link add br0 type bridge 2>/dev/null; then
	refused "a master" "Error" tc_in a qdisc add dev br0 root bfc
else
	skip "a master" "no bridge devices"
fi

finish
