#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind floodgate, inside stock tc, and sluice, without a kernel module and without privileges.

kind=floodgate
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

takes "" ""
takes "limit 1.5k" "TCA_FLOODGATE_LIMIT 4 1536"
takes "pool 12m pool-alpha 1000%" "TCA_FLOODGATE_POOL 4 12582912; TCA_FLOODGATE_POOL_ALPHA 4 100000"
takes "pool none" "TCA_FLOODGATE_POOL 4 0"
takes "window 100k" "TCA_FLOODGATE_WINDOW 4 102400"
takes "window auto window-factor 150%" "TCA_FLOODGATE_WINDOW 4 0; TCA_FLOODGATE_WINDOW_FACTOR 4 15000"
takes "window-scope port" "TCA_FLOODGATE_WINDOW_SCOPE 1 1"
takes "slots 4094 serve through" "TCA_FLOODGATE_SLOTS 4 4094; TCA_FLOODGATE_SERVE 1 1"
takes "credit-interval 20us" "TCA_FLOODGATE_CREDIT_INTERVAL 4 20000"
takes "credit-threshold 1m" "TCA_FLOODGATE_CREDIT_THRESHOLD 4 1048576"
takes "credit-threshold auto" "TCA_FLOODGATE_CREDIT_THRESHOLD 4 0"
takes "kmin 5k kmax 200k pmax 1%" "TCA_FLOODGATE_KMIN 4 5120; TCA_FLOODGATE_KMAX 4 204800; TCA_FLOODGATE_PMAX 4 100"
takes "kmin none kmax none" "TCA_FLOODGATE_KMIN 4 0; TCA_FLOODGATE_KMAX 4 0"
takes "telemetry 4790" "TCA_FLOODGATE_TELEMETRY 2 4790"
takes "telemetry none" "TCA_FLOODGATE_TELEMETRY 2 0"
takes "no-split-gso" "TCA_FLOODGATE_SPLIT_GSO 1 0"
takes "rate 10gbit" "TCA_FLOODGATE_RATE 8 1250000000"
takes "control-share 12.5% control-dscp 46" "TCA_FLOODGATE_CONTROL_SHARE 4 1250; TCA_FLOODGATE_CONTROL_DSCP 1 46"
takes "role switch peer host" "TCA_FLOODGATE_ROLE 1 2; TCA_FLOODGATE_PEER 1 1"
takes "notag tpid 802.1q" "TCA_FLOODGATE_TAG 1 0; TCA_FLOODGATE_TPID 2 33024"
takes "hrtt 10us hrtt-max 1ms" "TCA_FLOODGATE_HRTT 4 10000; TCA_FLOODGATE_HRTT_MAX 4 1000000"
takes "refresh 100us lease auto" "TCA_FLOODGATE_REFRESH 4 100000; TCA_FLOODGATE_LEASE 4 0"
takes "nowatch watchdog 50ms restore auto" \
	"TCA_FLOODGATE_WATCH 1 0; TCA_FLOODGATE_WATCHDOG 4 50000000; TCA_FLOODGATE_RESTORE 4 0"
takes "tier down strip always" "TCA_FLOODGATE_TIER 1 1; TCA_FLOODGATE_STRIP 1 1"

for bad in 0 1025m none x; do
	refuses "limit $bad" "\"limit\" takes a size from 1b to 1Gb, not \"$bad\""
done
for name in pool kmin kmax; do
	for bad in 1025m auto -1; do
		refuses "$name $bad" "\"$name\" takes a size from 1b to 1Gb or \"none\", not \"$bad\""
	done
done
for name in window credit-threshold; do
	for bad in 1025m none -1; do
		refuses "$name $bad" "\"$name\" takes a size from 1b to 1Gb or \"auto\", not \"$bad\""
	done
done
for bad in 0 1000.01 none; do
	refuses "window-factor $bad" "\"window-factor\" takes a percentage from 0.01% to 1000%, not \"$bad\""
done
for bad in 0 4095 auto; do
	refuses "slots $bad" "\"slots\" takes a number from 1 to 4094, not \"$bad\""
done
refuses "credit-interval 5" "\"credit-interval\" takes a time "
refuses "serve above" "\"serve\" takes one of below, through, not \"above\""
refuses "window-scope fabric" "\"window-scope\" takes one of switch, port, not \"fabric\""
refuses "window" "\"window\" takes a size from 1b to 1Gb or \"auto\", and nothing follows it"
refuses "slots 1 slots 2" "\"slots\" is given twice"
refuses "queues 8" "there is no option \"queues\""

helps floodgate.h TCA_FLOODGATE_ "TCA_FLOODGATE_STATS_|TCA_FLOODGATE_CLASS_"

# Every attribute of the headers comes out, each with a value of its own.
operation=add
options=$(tokens floodgate.h TCA_FLOODGATE_ "TCA_FLOODGATE_STATS_|TCA_FLOODGATE_CLASS_")
stats=$(tokens floodgate.h TCA_FLOODGATE_STATS_ "none")
port=$(tokens hopctl.h HOP_A_ "none")
written "TCA_OPTIONS{ $options } TCA_STATS2{ TCA_STATS_APP{ $stats TCA_FLOODGATE_STATS_PORT+{ $port } } }"
spied -s -j qdisc show dev lo
named "options" floodgate.h TCA_FLOODGATE_ "TCA_FLOODGATE_STATS_|TCA_FLOODGATE_CLASS_"
named "statistics" floodgate.h TCA_FLOODGATE_STATS_ none
named "port" hopctl.h HOP_A_ none
! grep -qE '"(bytes|packets|drops|overlimits|requeues|backlog|qlen)":' "$dir/out"
report $? "no key that tc itself uses"
shows "JSON of options and statistics" "$(cat <<-'END' | tr -d '\n'
	[{"kind":"floodgate","handle":"1:","root":true,"refcnt":0,"options":{"limit":1,"pool":2,"pool_alpha":0.03,
	"window":4,"window_factor":0.05,"window_scope":"6","slots":7,"serve":"8","credit_interval":9,"credit_bytes":10,
	"credit_threshold":11,"kmin":12,"kmax":13,"pmax":0.14,"telemetry":15,"split_gso":true,"rate":17,
	"control_share":0.18,"control_dscp":19,"role":"20","peer":"21","tag":true,"tpid":"23","hrtt":24,
	"hrtt_max":25,"refresh":26,"lease":27,"watch":true,"watchdog":29,"restore":30,"tier":"31","strip":"32",
	"mode":"34","pause_hosts":true,"pause_threshold":36,"resume_threshold":37,"voqs":38,"key":"39","prefix":40,"prefix6":41,
	"pfc":true,"pool_pause_alpha":0.43,"version":33},
	"windows":1,"window_bytes":2,"credit_interval_used":3,"credit_threshold_bytes":4,"slots_used":5,
	"outstanding":6,"queued":7,"voqs_used":8,"voq_backlog":9,"voqs_max":10,"voq_max":11,"voq_packets":12,
	"voq_bytes":13,"slots_full":14,"credits":15,"delayed":16,"link_rate":17,"backlog_max":18,
	"backlog_time":19,"time":20,"pool_size":21,"pool_used":22,"pool_max":23,"ecn_marked":24,
	"ecn_not_capable":25,"telemetry":26,"telemetry_full":27,"telemetry_failed":28,"control":29,"spilled":30,
	"gso_split":31,"tagged":32,"drop_limit":33,"drop_pool":34,"drop_control":35,"drop_police":36,
	"drop_gso":37,"drop_tag":38,"paused":40,"pauses":41,"elided":42,"withdrawn":43,"pause_bytes":44,
	"resume_bytes":45,"voqs_shared":46,"pfc_queued":47,"pfc_sent":48,"pfc_paused":49,"pfc_obeyed":50,"pfc_paused_time":51,
	"port":
	END
	)$(grep -o '{"state":"no_neighbour","role":"switch",.*' "$dir/out")" "-s -j qdisc show dev lo"
grep -q "^floodgate: plugin and module out of step: the plugin speaks version 1, the module 33$" "$dir/err" &&
	[ "$(wc -l <"$dir/err")" = 1 ]
report $? "plugin and module out of step is said, once, on stderr"

operation=class
class=$(tokens floodgate.h TCA_FLOODGATE_CLASS_ none)
written "TCA_STATS2{ TCA_STATS_APP{ $(sed 's/TCA_FLOODGATE_CLASS_MAC=[^ ]*//' <<<"$class") } }"
spied -s class show dev lo && [ "$(sed -n 's/^  destination:/destination:/p' "$dir/out")" = \
	"destination: address 10.0.0.1 prefix 8 vlan 9 waits pause window 4b used 5b outstanding 6b backlog_max 7b" ]
report $? "text of a class"
written "TCA_STATS2{ TCA_STATS_APP{ TCA_FLOODGATE_CLASS_MAC=hex:02000000abcd TCA_FLOODGATE_CLASS_WAITS=u32:2
				    TCA_FLOODGATE_CLASS_WINDOW=u32:2048 } }"
spied -s class show dev lo && [ "$(sed -n 's/^  destination:/destination:/p' "$dir/out")" = \
	"destination: mac 02:00:00:00:ab:cd waits window window 2Kb" ]
report $? "text of a class whose destination has no IP address"

operation=add
again "TCA_FLOODGATE_LIMIT=u32:8388607 TCA_FLOODGATE_POOL=u32:1073741823 TCA_FLOODGATE_POOL_ALPHA=u32:99999
       TCA_FLOODGATE_WINDOW=u32:100001 TCA_FLOODGATE_WINDOW_FACTOR=u32:15001 TCA_FLOODGATE_WINDOW_SCOPE=u8:1
       TCA_FLOODGATE_SLOTS=u32:4093 TCA_FLOODGATE_SERVE=u8:1 TCA_FLOODGATE_CREDIT_INTERVAL=u32:12345
       TCA_FLOODGATE_CREDIT_THRESHOLD=u32:1000001 TCA_FLOODGATE_KMIN=u32:5120 TCA_FLOODGATE_KMAX=u32:204801
       TCA_FLOODGATE_PMAX=u32:101 TCA_FLOODGATE_TELEMETRY=u16:4790 TCA_FLOODGATE_SPLIT_GSO=u8:0
       TCA_FLOODGATE_RATE=u64:1250000001 TCA_FLOODGATE_CONTROL_SHARE=u32:750 TCA_FLOODGATE_CONTROL_DSCP=u8:46
       TCA_FLOODGATE_ROLE=u8:2 TCA_FLOODGATE_PEER=u8:1 TCA_FLOODGATE_TAG=u8:0 TCA_FLOODGATE_TPID=u16:33024
       TCA_FLOODGATE_HRTT=u32:12345 TCA_FLOODGATE_HRTT_MAX=u32:2500000 TCA_FLOODGATE_REFRESH=u32:0
       TCA_FLOODGATE_LEASE=u32:1000001 TCA_FLOODGATE_WATCH=u8:0 TCA_FLOODGATE_WATCHDOG=u32:1500000
       TCA_FLOODGATE_RESTORE=u32:0 TCA_FLOODGATE_TIER=u8:1 TCA_FLOODGATE_STRIP=u8:1
       TCA_FLOODGATE_VOQS=u32:100 TCA_FLOODGATE_KEY=u8:1 TCA_FLOODGATE_PREFIX=u8:24 TCA_FLOODGATE_PREFIX6=u8:64"
report $? "printed options can be typed in again"
again "TCA_FLOODGATE_POOL=u32:0 TCA_FLOODGATE_WINDOW=u32:0 TCA_FLOODGATE_WINDOW_SCOPE=u8:0 TCA_FLOODGATE_SERVE=u8:0
       TCA_FLOODGATE_CREDIT_THRESHOLD=u32:0 TCA_FLOODGATE_KMIN=u32:0 TCA_FLOODGATE_KMAX=u32:0 TCA_FLOODGATE_TELEMETRY=u16:0
       TCA_FLOODGATE_RATE=u64:0 TCA_FLOODGATE_CONTROL_DSCP=u8:0 TCA_FLOODGATE_SPLIT_GSO=u8:1 TCA_FLOODGATE_VOQS=u32:0"
report $? "and those that are none or auto"

written "TCA_OPTIONS{ TCA_FLOODGATE_WINDOW=u32:0 TCA_FLOODGATE_VERSION=u32:1 }
	 TCA_STATS2{ TCA_STATS_APP{ TCA_FLOODGATE_STATS_POOL_SIZE=u32:0 TCA_FLOODGATE_STATS_SLOTS_USED=u32:3
				    TCA_FLOODGATE_STATS_OUTSTANDING=u64:3072 TCA_FLOODGATE_STATS_VOQS_USED=u32:1
				    TCA_FLOODGATE_STATS_VOQ_BACKLOG=u32:2048 TCA_FLOODGATE_STATS_CREDITS=u64:7 } }"
sluice_agrees
sluice_shows "sluice: a table" "\
DEV  KIND       QDISC  WINDOW  VOQS  IN VOQS  ON THE WAY  QUEUE  SLOTS
lo   floodgate  1:     auto    1     2Kb      3Kb         0b     3" show

! spied class add dev lo parent 1: classid 1:1 floodgate &&
	grep -q "^floodgate: its classes are made by the qdisc and have no options$" "$dir/err"
report $? "classes cannot be added"

finish
