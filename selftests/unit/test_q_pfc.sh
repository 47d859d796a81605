#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind pfc, inside stock tc, and sluice, without a kernel module and without privileges.

kind=pfc
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

takes "" ""
takes "limit 1.5k" "TCA_PFC_LIMIT 4 1536"
takes "pool 12m" "TCA_PFC_POOL 4 12582912"
takes "pool-alpha 1000%" "TCA_PFC_POOL_ALPHA 4 100000"
takes "pool-pause-alpha 0.05%" "TCA_PFC_POOL_PAUSE_ALPHA 4 5"
takes "kmin 5k kmax 200k pmax 1%" "TCA_PFC_KMIN 4 5120; TCA_PFC_KMAX 4 204800; TCA_PFC_PMAX 4 100"
takes "kmin none kmax none" "TCA_PFC_KMIN 4 0; TCA_PFC_KMAX 4 0"
takes "telemetry 4790" "TCA_PFC_TELEMETRY 2 4790"
takes "telemetry none" "TCA_PFC_TELEMETRY 2 0"
takes "no-split-gso" "TCA_PFC_SPLIT_GSO 1 0"
takes "rate 10gbit" "TCA_PFC_RATE 8 1250000000"
takes "control-share 12.5% control-dscp 46" "TCA_PFC_CONTROL_SHARE 4 1250; TCA_PFC_CONTROL_DSCP 1 46"
takes "role switch peer host" "TCA_PFC_ROLE 1 2; TCA_PFC_PEER 1 1"
takes "notag tpid 802.1q" "TCA_PFC_TAG 1 0; TCA_PFC_TPID 2 33024"
takes "hrtt 10us hrtt-max 1ms" "TCA_PFC_HRTT 4 10000; TCA_PFC_HRTT_MAX 4 1000000"
takes "refresh 100us lease auto" "TCA_PFC_REFRESH 4 100000; TCA_PFC_LEASE 4 0"
takes "nowatch watchdog 50ms restore auto" "TCA_PFC_WATCH 1 0; TCA_PFC_WATCHDOG 4 50000000; TCA_PFC_RESTORE 4 0"
takes "tier down strip always" "TCA_PFC_TIER 1 1; TCA_PFC_STRIP 1 1"

for bad in none 0 1025m x; do
	refuses "pool $bad" "\"pool\" takes a size from 1b to 1Gb, not \"$bad\""
	refuses "limit $bad" "\"limit\" takes a size from 1b to 1Gb, not \"$bad\""
done
for name in kmin kmax; do
	for bad in 1025m auto -1; do
		refuses "$name $bad" "\"$name\" takes a size from 1b to 1Gb or \"none\", not \"$bad\""
	done
done
for bad in 0 100.01 none; do
	refuses "pmax $bad" "\"pmax\" takes a percentage from 0.01% to 100%, not \"$bad\""
done
for bad in 65536 auto -1; do
	refuses "telemetry $bad" "\"telemetry\" takes a number from 1 to 65535 or \"none\", not \"$bad\""
done
refuses "kmin" "\"kmin\" takes a size from 1b to 1Gb or \"none\", and nothing follows it"
refuses "pool 1m pool 2m" "\"pool\" is given twice"
refuses "pause ingress" "there is no option \"pause\""
refuses "queues 8" "there is no option \"queues\""

helps pfc.h TCA_PFC_ "TCA_PFC_STATS_|TCA_PFC_CLASS_"

# Every attribute of the headers comes out, each with a value of its own.
operation=add
options=$(tokens pfc.h TCA_PFC_ "TCA_PFC_STATS_|TCA_PFC_CLASS_")
stats=$(tokens pfc.h TCA_PFC_STATS_ "none")
port=$(tokens hopctl.h HOP_A_ "none")
written "TCA_OPTIONS{ $options } TCA_STATS2{ TCA_STATS_APP{ $stats TCA_PFC_STATS_PORT+{ $port } } }"
spied -s -j qdisc show dev lo
named "options" pfc.h TCA_PFC_ "TCA_PFC_STATS_|TCA_PFC_CLASS_"
named "statistics" pfc.h TCA_PFC_STATS_ none
named "port" hopctl.h HOP_A_ none
! grep -qE '"(bytes|packets|drops|overlimits|requeues|backlog|qlen)":' "$dir/out"
report $? "no key that tc itself uses"
shows "JSON of options and statistics" "$(cat <<-'END' | tr -d '\n'
	[{"kind":"pfc","handle":"1:","root":true,"refcnt":0,"options":{"limit":1,"pool":2,"pool_alpha":0.03,
	"pool_pause_alpha":0.04,"kmin":9,"kmax":10,"pmax":0.11,"telemetry":26,"split_gso":true,"rate":6,"control_share":0.07,
	"control_dscp":8,"role":"12","peer":"13","tag":true,"tpid":"15","hrtt":16,"hrtt_max":17,"refresh":18,
	"lease":19,"watch":true,"watchdog":21,"restore":22,"tier":"23","strip":"24","version":25},
	"paused":1,"marked":2,"link_rate":3,"backlog_max":4,"backlog_time":5,"time":6,"pool_size":10,"pool_used":11,
	"pool_max":12,"marks":7,"elided":8,"withdrawn":9,"pauses_obeyed":13,"resumes_obeyed":14,"paused_time":15,
	"ecn_marked":16,"ecn_not_capable":17,
	"telemetry":29,"telemetry_full":30,"telemetry_failed":31,"control":18,"spilled":19,"gso_split":20,"tagged":21,"drop_limit":22,
	"drop_pool":23,"drop_control":24,"drop_police":25,"drop_gso":26,"drop_tag":27,
	"port":
	END
	)$(grep -o '{"state":"no_neighbour","role":"switch",.*' "$dir/out")" "-s -j qdisc show dev lo"
grep -q "^pfc: plugin and module out of step: the plugin speaks version 1, the module 25$" "$dir/err" &&
	[ "$(wc -l <"$dir/err")" = 1 ]
report $? "plugin and module out of step is said, once, on stderr"

operation=class
written "TCA_STATS2{ TCA_STATS_APP{ $(tokens pfc.h TCA_PFC_CLASS_ none) } }"
spied -s class show dev lo && [ "$(sed -n 's/^  class:/class:/p' "$dir/out")" = \
	"class: paused yes backlog_max 2b pauses 3 paused_time 4ns marks 5 ecn_marked 6" ]
report $? "text of a class"

operation=add
again "TCA_PFC_LIMIT=u32:8388607 TCA_PFC_POOL=u32:1073741823 TCA_PFC_POOL_ALPHA=u32:99999
       TCA_PFC_POOL_PAUSE_ALPHA=u32:5 TCA_PFC_SPLIT_GSO=u8:0 TCA_PFC_RATE=u64:1250000001
       TCA_PFC_CONTROL_SHARE=u32:750 TCA_PFC_CONTROL_DSCP=u8:46 TCA_PFC_KMIN=u32:5120 TCA_PFC_KMAX=u32:204801
       TCA_PFC_PMAX=u32:101 TCA_PFC_TELEMETRY=u16:4790 TCA_PFC_ROLE=u8:2 TCA_PFC_PEER=u8:1 TCA_PFC_TAG=u8:0 TCA_PFC_TPID=u16:33024
       TCA_PFC_HRTT=u32:12345 TCA_PFC_HRTT_MAX=u32:2500000 TCA_PFC_REFRESH=u32:0 TCA_PFC_LEASE=u32:1000001
       TCA_PFC_WATCH=u8:0 TCA_PFC_WATCHDOG=u32:1500000 TCA_PFC_RESTORE=u32:0 TCA_PFC_TIER=u8:1 TCA_PFC_STRIP=u8:1"
report $? "printed options can be typed in again"
again "TCA_PFC_KMIN=u32:0 TCA_PFC_KMAX=u32:0 TCA_PFC_TELEMETRY=u16:0 TCA_PFC_RATE=u64:0 TCA_PFC_CONTROL_DSCP=u8:0 TCA_PFC_SPLIT_GSO=u8:1"
report $? "and those that are none or auto"

written "TCA_OPTIONS{ TCA_PFC_POOL=u32:1048576 TCA_PFC_KMIN=u32:0 TCA_PFC_KMAX=u32:204800 TCA_PFC_VERSION=u32:1 }
	 TCA_STATS2{ TCA_STATS_APP{ TCA_PFC_STATS_POOL_SIZE=u32:1048576 TCA_PFC_STATS_PAUSED=u32:0 TCA_PFC_STATS_POOL_USED=u64:2048
				    TCA_PFC_STATS_MARKS=u64:7 } }"
sluice_agrees
sluice_shows "sluice: a table" "\
DEV  KIND  QDISC  POOL  USED  KMIN  KMAX   QUEUE  PAUSED
lo   pfc   1:     1Mb   2Kb   none  200Kb  0b     0" show

! spied class add dev lo parent 1: classid 1:1 pfc && grep -q "^pfc: its classes are made by the qdisc and have no options$" "$dir/err"
report $? "classes cannot be added"

finish
