#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind flowsail, inside stock tc, and sluice, without a kernel module and without privileges.

kind=flowsail
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

takes "" ""
takes "queues 2" "TCA_FLOWSAIL_QUEUES 2 2"
takes "isolation flow" "TCA_FLOWSAIL_ISOLATION 2 0"
takes "isolation 64 slots 4094" "TCA_FLOWSAIL_ISOLATION 2 64; TCA_FLOWSAIL_SLOTS 4 4094"
takes "nopause" "TCA_FLOWSAIL_PAUSE 1 0"
takes "classes 8" "TCA_FLOWSAIL_CLASSES 1 8"
takes "telemetry 4790" "TCA_FLOWSAIL_TELEMETRY 2 4790"
takes "telemetry none" "TCA_FLOWSAIL_TELEMETRY 2 0"
takes "ql 16k qh 64k" "TCA_FLOWSAIL_QL 4 16384; TCA_FLOWSAIL_QH 4 65536"
takes "ql auto qh auto" "TCA_FLOWSAIL_QL 4 0; TCA_FLOWSAIL_QH 4 0"
takes "ql-scale 50% qh-scale 150.5%" "TCA_FLOWSAIL_QL_SCALE 4 5000; TCA_FLOWSAIL_QH_SCALE 4 15050"
takes "lone high" "TCA_FLOWSAIL_LONE 1 1"
takes "lone low" "TCA_FLOWSAIL_LONE 1 0"
takes "quantum 3000" "TCA_FLOWSAIL_QUANTUM 4 3000"
takes "limit 1.5k" "TCA_FLOWSAIL_LIMIT 4 1536"
takes "pool 12m pool-alpha 1000%" "TCA_FLOWSAIL_POOL 4 12582912; TCA_FLOWSAIL_POOL_ALPHA 4 100000"
takes "pool none" "TCA_FLOWSAIL_POOL 4 0"
takes "pool-pause-alpha 11.11% pfc" "TCA_FLOWSAIL_POOL_PAUSE_ALPHA 4 1111; TCA_FLOWSAIL_PFC 1 1"
takes "no-pfc" "TCA_FLOWSAIL_PFC 1 0"
takes "kmin 5k kmax 200k pmax 1%" "TCA_FLOWSAIL_KMIN 4 5120; TCA_FLOWSAIL_KMAX 4 204800; TCA_FLOWSAIL_PMAX 4 100"
takes "kmin none kmax none" "TCA_FLOWSAIL_KMIN 4 0; TCA_FLOWSAIL_KMAX 4 0"
takes "no-split-gso" "TCA_FLOWSAIL_SPLIT_GSO 1 0"
takes "rate 10gbit" "TCA_FLOWSAIL_RATE 8 1250000000"
takes "control-share 12.5% control-dscp 46" "TCA_FLOWSAIL_CONTROL_SHARE 4 1250; TCA_FLOWSAIL_CONTROL_DSCP 1 46"
takes "role switch peer host" "TCA_FLOWSAIL_ROLE 1 2; TCA_FLOWSAIL_PEER 1 1"
takes "notag tpid 802.1q" "TCA_FLOWSAIL_TAG 1 0; TCA_FLOWSAIL_TPID 2 33024"
takes "hrtt 10us hrtt-max 1ms" "TCA_FLOWSAIL_HRTT 4 10000; TCA_FLOWSAIL_HRTT_MAX 4 1000000"
takes "refresh 100us lease auto" "TCA_FLOWSAIL_REFRESH 4 100000; TCA_FLOWSAIL_LEASE 4 0"
takes "nowatch watchdog 50ms restore auto" \
	"TCA_FLOWSAIL_WATCH 1 0; TCA_FLOWSAIL_WATCHDOG 4 50000000; TCA_FLOWSAIL_RESTORE 4 0"
takes "tier down strip always" "TCA_FLOWSAIL_TIER 1 1; TCA_FLOWSAIL_STRIP 1 1"

for bad in 0 1025m none x; do
	refuses "limit $bad" "\"limit\" takes a size from 1b to 1Gb, not \"$bad\""
done
for name in pool kmin kmax; do
	for bad in 1025m auto -1; do
		refuses "$name $bad" "\"$name\" takes a size from 1b to 1Gb or \"none\", not \"$bad\""
	done
done
for name in ql qh; do
	for bad in 1025m none -1; do
		refuses "$name $bad" "\"$name\" takes a size from 1b to 1Gb or \"auto\", not \"$bad\""
	done
done
for name in ql-scale qh-scale; do
	for bad in 0 1000.01 none; do
		refuses "$name $bad" "\"$name\" takes a percentage from 0.01% to 1000%, not \"$bad\""
	done
done
for bad in 0 4095 auto; do
	refuses "slots $bad" "\"slots\" takes a number from 1 to 4094, not \"$bad\""
done
for bad in 0 2049 auto; do
	refuses "queues $bad" "\"queues\" takes a number from 1 to 2048, not \"$bad\""
done
for bad in 65 none -1; do
	refuses "isolation $bad" "\"isolation\" takes a number from 1 to 64 or \"flow\", not \"$bad\""
done
refuses "lone both" "\"lone\" takes one of low, high, not \"both\""
refuses "ql" "\"ql\" takes a size from 1b to 1Gb or \"auto\", and nothing follows it"
refuses "slots 1 slots 2" "\"slots\" is given twice"
refuses "nopause pause" "\"pause\" is given twice"
refuses "th 1k" "there is no option \"th\""
refuses "window 1k" "there is no option \"window\""

helps flowsail.h TCA_FLOWSAIL_ "TCA_FLOWSAIL_STATS_|TCA_FLOWSAIL_CLASS_"

# Every attribute of the headers comes out, each with a value of its own.
operation=add
options=$(tokens flowsail.h TCA_FLOWSAIL_ "TCA_FLOWSAIL_STATS_|TCA_FLOWSAIL_CLASS_")
stats=$(tokens flowsail.h TCA_FLOWSAIL_STATS_ "none")
port=$(tokens hopctl.h HOP_A_ "none")
written "TCA_OPTIONS{ $options } TCA_STATS2{ TCA_STATS_APP{ $stats TCA_FLOWSAIL_STATS_PORT+{ $port } } }"
spied -s -j qdisc show dev lo
named "options" flowsail.h TCA_FLOWSAIL_ "TCA_FLOWSAIL_STATS_|TCA_FLOWSAIL_CLASS_"
named "statistics" flowsail.h TCA_FLOWSAIL_STATS_ none
named "port" hopctl.h HOP_A_ none
! grep -qE '"(bytes|packets|drops|overlimits|requeues|backlog|qlen)":' "$dir/out"
report $? "no key that tc itself uses"
shows "JSON of options and statistics" "$(cat <<-'END' | tr -d '\n'
	[{"kind":"flowsail","handle":"1:","root":true,"refcnt":0,"options":{"queues":1,"isolation":2,"isolation_by":"41","slots":3,
	"classes":36,"pause":true,"ql":5,"qh":6,"ql_scale":0.07,"qh_scale":0.08,"resume":0.09,"lone":"10","quantum":11,
	"priomap":[0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0],"limit":12,"pool":13,
	"pool_alpha":0.14,"kmin":15,"kmax":16,"pmax":0.17,"telemetry":38,"split_gso":true,"rate":19,"control_share":0.2,
	"control_dscp":21,"role":"22","peer":"23","tag":true,"tpid":"25","hrtt":26,"hrtt_max":27,"refresh":28,
	"lease":29,"watch":true,"watchdog":31,"restore":32,"tier":"33","strip":"34","roots":true,"root_id":40,"pfc":true,"pool_pause_alpha":0.43,"version":35},
	"ql_bytes":1,"qh_bytes":2,"resume_bytes":3,"n_active":4,"backlogged":5,"flows":6,"isolated":7,"paused":8,"marked":9,"link_rate":10,
	"hrtt":11,"flows_max":12,"backlog_max":13,"backlog_time":14,"time":15,"pool_size":16,"pool_used":17,
	"pool_max":18,"assign_free":19,"assign_shared":20,"assign_isolated":21,"released":22,"flows_early":23,
	"flows_full":24,"marks":25,"marks_high":26,"spared":27,"over_unlabelled":28,"elided":29,"withdrawn":30,
	"pauses_obeyed":31,"resumes_obeyed":32,"paused_time":33,"order_waits":34,"ecn_marked":35,
	"ecn_not_capable":36,"telemetry":49,"telemetry_full":50,"telemetry_failed":51,"control":37,"spilled":38,"gso_split":39,"tagged":40,"drop_limit":41,"drop_pool":42,
	"drop_control":43,"drop_police":44,"drop_gso":45,"drop_tag":46,"drop_filter":48,
	"pfc_queued":52,"pfc_sent":53,"pfc_paused":54,"pfc_obeyed":55,"pfc_paused_time":56,
	"port":
	END
	)$(grep -o '{"state":"no_neighbour","role":"switch",.*' "$dir/out")" "-s -j qdisc show dev lo"
grep -q "^flowsail: plugin and module out of step: the plugin speaks version 1, the module 35$" "$dir/err" &&
	[ "$(wc -l <"$dir/err")" = 1 ]
report $? "plugin and module out of step is said, once, on stderr"

operation=class
written "TCA_STATS2{ TCA_STATS_APP{ TCA_FLOWSAIL_CLASS_WAITS=u32:3 TCA_FLOWSAIL_CLASS_ROLE=u32:1
				    TCA_FLOWSAIL_CLASS_FLOWS=u32:3 TCA_FLOWSAIL_CLASS_DEFICIT=s32:-4
				    TCA_FLOWSAIL_CLASS_BACKLOG_MAX=u32:5120 TCA_FLOWSAIL_CLASS_PAUSES=u64:6
				    TCA_FLOWSAIL_CLASS_PAUSED_TIME=u64:7000 TCA_FLOWSAIL_CLASS_MARKS=u64:8 } }"
spied -s class show dev lo && [ "$(sed -n 's/^  class:/class:/p' "$dir/out")" = \
	"class: waits order role isolation flows 3 deficit -4 backlog_max 5Kb pauses 6 paused_time 7us marks 8" ]
report $? "text of a class"

operation=add
again "TCA_FLOWSAIL_QUEUES=u16:2047 TCA_FLOWSAIL_ISOLATION=u16:63 TCA_FLOWSAIL_SLOTS=u32:1983 TCA_FLOWSAIL_PAUSE=u8:0
       TCA_FLOWSAIL_QL=u32:100001 TCA_FLOWSAIL_QH=u32:100002 TCA_FLOWSAIL_QL_SCALE=u32:10001
       TCA_FLOWSAIL_QH_SCALE=u32:30001 TCA_FLOWSAIL_RESUME=u32:4999 TCA_FLOWSAIL_LONE=u8:1 TCA_FLOWSAIL_QUANTUM=u32:1519
       TCA_FLOWSAIL_LIMIT=u32:8388607 TCA_FLOWSAIL_POOL=u32:1073741823 TCA_FLOWSAIL_POOL_ALPHA=u32:99999
       TCA_FLOWSAIL_KMIN=u32:5120 TCA_FLOWSAIL_KMAX=u32:204801 TCA_FLOWSAIL_PMAX=u32:101 TCA_FLOWSAIL_SPLIT_GSO=u8:0
       TCA_FLOWSAIL_RATE=u64:1250000001 TCA_FLOWSAIL_CONTROL_SHARE=u32:750 TCA_FLOWSAIL_CONTROL_DSCP=u8:46
       TCA_FLOWSAIL_ROLE=u8:2 TCA_FLOWSAIL_PEER=u8:1 TCA_FLOWSAIL_TAG=u8:0 TCA_FLOWSAIL_TPID=u16:33024
       TCA_FLOWSAIL_HRTT=u32:12345 TCA_FLOWSAIL_HRTT_MAX=u32:2500000 TCA_FLOWSAIL_REFRESH=u32:0
       TCA_FLOWSAIL_LEASE=u32:1000001 TCA_FLOWSAIL_WATCH=u8:0 TCA_FLOWSAIL_WATCHDOG=u32:1500000
       TCA_FLOWSAIL_RESTORE=u32:0 TCA_FLOWSAIL_TIER=u8:1 TCA_FLOWSAIL_STRIP=u8:1
       TCA_FLOWSAIL_PFC=u8:1 TCA_FLOWSAIL_POOL_PAUSE_ALPHA=u32:1111"
report $? "printed options can be typed in again"
again "TCA_FLOWSAIL_ISOLATION=u16:0 TCA_FLOWSAIL_PAUSE=u8:1 TCA_FLOWSAIL_QL=u32:0 TCA_FLOWSAIL_QH=u32:0
       TCA_FLOWSAIL_LONE=u8:0 TCA_FLOWSAIL_QUANTUM=u32:0 TCA_FLOWSAIL_POOL=u32:0 TCA_FLOWSAIL_KMIN=u32:0
       TCA_FLOWSAIL_KMAX=u32:0 TCA_FLOWSAIL_RATE=u64:0 TCA_FLOWSAIL_CONTROL_DSCP=u8:0 TCA_FLOWSAIL_SPLIT_GSO=u8:1"
report $? "and those that are none, auto or flow"

written "TCA_OPTIONS{ TCA_FLOWSAIL_QUEUES=u16:8 TCA_FLOWSAIL_VERSION=u32:1 }
	 TCA_STATS2{ TCA_STATS_APP{ TCA_FLOWSAIL_STATS_QL_BYTES=u32:2048 TCA_FLOWSAIL_STATS_N_ACTIVE=u32:4
				    TCA_FLOWSAIL_STATS_FLOWS=u32:5 TCA_FLOWSAIL_STATS_PAUSED=u32:3
				    TCA_FLOWSAIL_STATS_MARKED=u32:7 TCA_FLOWSAIL_STATS_PFC_QUEUED=u32:0 } }"
sluice_agrees
sluice_shows "sluice: a table" "\
DEV  KIND      QDISC  PAUSED  FLOWS  QL   ACTIVE  QUEUE  PAUSING
lo   flowsail  1:     3       5      2Kb  4       0b     7" show

! spied class add dev lo parent 1: classid 1:1 flowsail &&
	grep -q "^flowsail: its classes are made by the qdisc and have no options$" "$dir/err"
report $? "classes cannot be added"

finish
