#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind bfc, inside stock tc, without a kernel module and without privileges.
#
# Shown: each option becomes the right attribute with the right value, each bad value is refused
# with its option named, every attribute of the uapi headers is printed, under its own name, and
# what is printed as text can be typed in again.

kind=bfc
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

# Each option alone.
takes "" ""
takes "queues 1" "TCA_BFC_QUEUES 2 1"
takes "queues 4094" "TCA_BFC_QUEUES 2 4094"
takes "queues 0x80" "TCA_BFC_QUEUES 2 128"
takes "classes 8" "TCA_BFC_CLASSES 1 8"
takes "flows 12800" "TCA_BFC_FLOWS 4 12800"
takes "flows 4194304" "TCA_BFC_FLOWS 4 4194304"
takes "flows auto" "TCA_BFC_FLOWS 4 0"
takes "flows 0" "TCA_BFC_FLOWS 4 0"
takes "ways 1" "TCA_BFC_WAYS 1 1"
takes "ways 4" "TCA_BFC_WAYS 1 4"
takes "ways 3" "TCA_BFC_WAYS 1 3"	# the kernel alone knows which
takes "assign dynamic" "TCA_BFC_ASSIGN 1 0"
takes "assign stochastic" "TCA_BFC_ASSIGN 1 1"
takes "assign single" "TCA_BFC_ASSIGN 1 2"
takes "reuse sticky" "TCA_BFC_REUSE 1 0"
takes "reuse empty" "TCA_BFC_REUSE 1 1"
takes "share random" "TCA_BFC_SHARE 1 0"
takes "share spare" "TCA_BFC_SHARE 1 1"
takes "limit 1" "TCA_BFC_LIMIT 4 1"
takes "limit 64k" "TCA_BFC_LIMIT 4 65536"
takes "limit 1.5mb" "TCA_BFC_LIMIT 4 1572864"
takes "limit 1g" "TCA_BFC_LIMIT 4 1073741824"
takes "quantum 3000" "TCA_BFC_QUANTUM 4 3000"
takes "quantum auto" "TCA_BFC_QUANTUM 4 0"
takes "priomap 0 1 2 3 4 5 6 7 7 6 5 4 3 2 1 0" \
      "TCA_BFC_PRIOMAP 16 0 1 2 3 4 5 6 7 7 6 5 4 3 2 1 0"
takes "split-gso" "TCA_BFC_SPLIT_GSO 1 1"
takes "no-split-gso" "TCA_BFC_SPLIT_GSO 1 0"
takes "pause" "TCA_BFC_PAUSE 1 1"
takes "nopause" "TCA_BFC_PAUSE 1 0"
takes "tag on" "TCA_BFC_TAG 1 1"
takes "tag off" "TCA_BFC_TAG 1 0"
takes "watch no queues 32" "TCA_BFC_WATCH 1 0; TCA_BFC_QUEUES 2 32"
takes "pause off" "TCA_BFC_PAUSE 1 0"
takes "pause queue" "TCA_BFC_PAUSE 1 1"
takes "pause ingress" "TCA_BFC_PAUSE 1 2"
takes "pause queues 4" "TCA_BFC_PAUSE 1 1; TCA_BFC_QUEUES 2 4"
takes "pool-pause-alpha 12.5%" "TCA_BFC_POOL_PAUSE_ALPHA 4 1250"
takes "rate 10gbit" "TCA_BFC_RATE 8 1250000000"
takes "rate 400gbit" "TCA_BFC_RATE 8 50000000000"
takes "rate 8bit" "TCA_BFC_RATE 8 1"
takes "rate auto" "TCA_BFC_RATE 8 0"
takes "hrtt 500ns" "TCA_BFC_HRTT 4 500"
takes "hrtt 1.5us" "TCA_BFC_HRTT 4 1500"
takes "hrtt 1.001us" "TCA_BFC_HRTT 4 1001"
takes "hrtt 4.035us" "TCA_BFC_HRTT 4 4035"
takes "hrtt 2ms" "TCA_BFC_HRTT 4 2000000"
takes "hrtt 1s" "TCA_BFC_HRTT 4 1000000000"
takes "hrtt 12usec" "TCA_BFC_HRTT 4 12000"
takes "hrtt 4.294967295s" "TCA_BFC_HRTT 4 4294967295"
takes "hrtt 0" "TCA_BFC_HRTT 4 0"
takes "hrtt auto" "TCA_BFC_HRTT 4 0"
takes "hrtt-max 1ms" "TCA_BFC_HRTT_MAX 4 1000000"
takes "th 12500" "TCA_BFC_TH 4 12500"
takes "th 1g" "TCA_BFC_TH 4 1073741824"
takes "th auto" "TCA_BFC_TH 4 0"
takes "th-scale 150" "TCA_BFC_TH_SCALE 4 150"
takes "th-scale 150%" "TCA_BFC_TH_SCALE 4 150"
takes "sticky 20us" "TCA_BFC_STICKY 4 20000"
takes "sticky auto" "TCA_BFC_STICKY 4 0"
takes "role auto" "TCA_BFC_ROLE 1 0"
takes "role host" "TCA_BFC_ROLE 1 1"
takes "role switch" "TCA_BFC_ROLE 1 2"
takes "peer auto" "TCA_BFC_PEER 1 0"
takes "peer host" "TCA_BFC_PEER 1 1"
takes "peer switch" "TCA_BFC_PEER 1 2"
takes "tag" "TCA_BFC_TAG 1 1"
takes "notag" "TCA_BFC_TAG 1 0"
takes "tpid 0x88a8" "TCA_BFC_TPID 2 34984"
takes "tpid 0x8100" "TCA_BFC_TPID 2 33024"
takes "tpid 802.1ad" "TCA_BFC_TPID 2 34984"
takes "tpid 802.1q" "TCA_BFC_TPID 2 33024"
takes "refresh 100us" "TCA_BFC_REFRESH 4 100000"
takes "refresh auto" "TCA_BFC_REFRESH 4 0"
takes "lease 800us" "TCA_BFC_LEASE 4 800000"
takes "lease auto" "TCA_BFC_LEASE 4 0"
takes "nowatch" "TCA_BFC_WATCH 1 0"
takes "watchdog 5ms restore auto" "TCA_BFC_WATCHDOG 4 5000000; TCA_BFC_RESTORE 4 0"
takes "tier up" "TCA_BFC_TIER 1 2"
takes "pool 12m" "TCA_BFC_POOL 4 12582912"
takes "pool 1g" "TCA_BFC_POOL 4 1073741824"
takes "pool none" "TCA_BFC_POOL 4 0"
takes "pool 0" "TCA_BFC_POOL 4 0"
takes "pool-alpha 100%" "TCA_BFC_POOL_ALPHA 4 10000"
takes "pool-alpha 12.5" "TCA_BFC_POOL_ALPHA 4 1250"
takes "pool-alpha 0.01%" "TCA_BFC_POOL_ALPHA 4 1"
takes "pool-alpha 3.125%" "TCA_BFC_POOL_ALPHA 4 313"
takes "pool-alpha 1000" "TCA_BFC_POOL_ALPHA 4 100000"
takes "strip auto" "TCA_BFC_STRIP 1 0"
takes "strip always" "TCA_BFC_STRIP 1 1"
takes "control-share 5%" "TCA_BFC_CONTROL_SHARE 4 500"
takes "control-share 0.01" "TCA_BFC_CONTROL_SHARE 4 1"
takes "control-share 100%" "TCA_BFC_CONTROL_SHARE 4 10000"
takes "control-dscp 1" "TCA_BFC_CONTROL_DSCP 1 1"
takes "control-dscp 0x2e" "TCA_BFC_CONTROL_DSCP 1 46"
takes "control-dscp 63" "TCA_BFC_CONTROL_DSCP 1 63"
takes "control-dscp none" "TCA_BFC_CONTROL_DSCP 1 0"
takes "control-dscp 0" "TCA_BFC_CONTROL_DSCP 1 0"
takes "nopause queues 32 th-scale 50% tpid 802.1q lease 1ms" \
      "TCA_BFC_PAUSE 1 0; TCA_BFC_QUEUES 2 32; TCA_BFC_TH_SCALE 4 50; TCA_BFC_TPID 2 33024; TCA_BFC_LEASE 4 1000000"

# Bad values of each.
for bad in x -1 0 4095 1.5 010x 0x 0xg 65537 18446744073709551617 auto; do
	refuses "queues $bad" "\"queues\" takes a number from 1 to 4094, not \"$bad\""
done
for bad in 0 9 256 257; do
	refuses "classes $bad" "\"classes\" takes a number from 1 to 8, not \"$bad\""
done
for bad in -1 4194305 4294967297 AUTO; do
	refuses "flows $bad" "\"flows\" takes a number from 1 to 4194304 or \"auto\", not \"$bad\""
done
for bad in "" 0 1 dyn Dynamic; do
	[ -n "$bad" ] || continue
	refuses "assign $bad" "\"assign\" takes one of dynamic, stochastic, single, not \"$bad\""
done
for bad in -1 256 auto x 1.5; do
	refuses "ways $bad" "\"ways\" takes a number from 0 to 255, not \"$bad\""
done
for bad in none 0 Spare; do
	refuses "share $bad" "\"share\" takes one of random, spare, not \"$bad\""
done
refuses "reuse never" "\"reuse\" takes one of sticky, empty, not \"never\""
for bad in 0 0.5 -1 nan inf 1025m 5g 64x auto; do
	refuses "limit $bad" "\"limit\" takes a size from 1b to 1Gb, not \"$bad\""
done
for bad in -1 0.5 4g x; do
	refuses "quantum $bad" "\"quantum\" takes a size below 4Gb or \"auto\", not \"$bad\""
done
for bad in -1 8 x 1.5; do
	refuses "priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 $bad" \
		"\"priomap\" takes 16 numbers from 0 to 7, not \"$bad\""
done
refuses "priomap 1 2 3" "\"priomap\" takes 16 numbers, and 3 words follow it"
for bad in -1mbit 10xbit 1bit nan fast; do
	refuses "rate $bad" "\"rate\" takes a rate such as 10gbit or \"auto\", not \"$bad\""
done
for bad in 10 -1us 5s 1e30s 10m us 0.2ns 1.2.3us 0x; do
	refuses "hrtt $bad" "\"hrtt\" takes a time up to 4.294967295s, with its unit (ns, us, ms, s), or \"auto\", not \"$bad\""
done
for bad in -1 0.5 1025m x; do
	refuses "th $bad" "\"th\" takes a size from 1b to 1Gb or \"auto\", not \"$bad\""
done
for bad in 0 10001 % 5%% 1.5 auto; do
	refuses "th-scale $bad" "\"th-scale\" takes a percentage from 1% to 10000%, not \"$bad\""
done
refuses "sticky 1.1s" "\"sticky\" takes a time from 1ns to 1s, with its unit (ns, us, ms, s), or \"auto\", not \"1.1s\""
refuses "role router" "\"role\" takes one of auto, host, switch, not \"router\""
refuses "peer router" "\"peer\" takes one of auto, host, switch, not \"router\""
for bad in 0x9100 34984 802.1x; do
	refuses "tpid $bad" "\"tpid\" takes one of 0x88a8, 0x8100, not \"$bad\""
done
refuses "refresh 10" "\"refresh\" takes a time"
refuses "lease x" "\"lease\" takes a time"
refuses "watchdog x" "\"watchdog\" takes a time"
for bad in -1 1025m x auto; do
	refuses "pool $bad" "\"pool\" takes a size from 1b to 1Gb or \"none\", not \"$bad\""
done
for bad in 0 0.001 1000.01 % 1.2.3 1e2 -1 nan 0x10 auto; do
	refuses "pool-alpha $bad" "\"pool-alpha\" takes a percentage from 0.01% to 1000%, not \"$bad\""
done
refuses "tier top" "\"tier\" takes one of none, down, up, not \"top\""
for option in queues classes flows ways assign reuse share limit quantum rate hrtt hrtt-max th th-scale sticky role \
	      peer tpid refresh lease watchdog restore tier pool pool-alpha pool-pause-alpha \
	      control-share control-dscp strip; do
	refuses "$option" "\"$option\" takes "
done
refuses "queues 4 queues 4" "\"queues\" is given twice"
refuses "pause nopause" "\"pause\" is given twice"
refuses "ecn" "there is no option \"ecn\"; there are: queues classes flows"
refuses "que 4" "there is no option \"que\""
refuses "pause none" "there is no option \"none\""
refuses "notag on" "there is no option \"on\""
refuses "nopause ingress" "there is no option \"ingress\""
refuses "pool-pause-alpha 1000.5" "\"pool-pause-alpha\" takes a percentage from 0.01% to 1000%"
for bad in 0 0.001 100.01 auto; do
	refuses "control-share $bad" "\"control-share\" takes a percentage from 0.01% to 100%, not \"$bad\""
done
for bad in -1 64 256 auto ef 0x40 4.5; do
	refuses "control-dscp $bad" "\"control-dscp\" takes a number from 1 to 63 or \"none\", not \"$bad\""
done
refuses "strip never" "\"strip\" takes one of auto, always, not \"never\""
refuses "no-pause" "there is no option \"no-pause\""

# help
helps bfc.h TCA_BFC_ "TCA_BFC_STATS_|TCA_BFC_CLASS_"

# Every attribute of the headers comes out, each with a value of its own.
operation=add
options=$(tokens bfc.h TCA_BFC_ "TCA_BFC_STATS_|TCA_BFC_CLASS_")
stats=$(tokens bfc.h TCA_BFC_STATS_ "none")
port=$(tokens hopctl.h HOP_A_ "none")
written "TCA_OPTIONS{ $options } TCA_STATS2{ TCA_STATS_APP{ $stats TCA_BFC_STATS_PORT+{ $port } } }"
spied -s -j qdisc show dev lo
named "options" bfc.h TCA_BFC_ "TCA_BFC_STATS_|TCA_BFC_CLASS_"
named "statistics" bfc.h TCA_BFC_STATS_ none
named "port" hopctl.h HOP_A_ none
# One value for one attribute: no row reads another's.
grep -oE '[0-9]+(,|})' "$dir/out" | tr -d ',}' | sort -n | uniq -c | sort -rn >"$dir/seen"
! grep -qE '"(bytes|packets|drops|overlimits|requeues|backlog|qlen)":' "$dir/out"
report $? "no key that tc itself uses"
[ "$(grep -oE '"[a-z_]+":' "$dir/out" | sort | uniq -d | tr -d '\n')" = \
  '"hrtt":"role":"root_id":"sticky":"th":"tier":' ]
report $? "keys repeat only between options, statistics and port"

shows "JSON of options and statistics" "$(cat <<-'END' | tr -d '\n'
	[{"kind":"bfc","handle":"1:","root":true,"refcnt":0,"options":{"queues":1,"classes":2,
	"flows":3,"ways":33,"assign":"4","reuse":"5","share":"34","limit":6,"quantum":7,
	"priomap":[0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0],"split_gso":true,"pause":true,"pause_by":"10","rate":11,
	"hrtt":12,"hrtt_max":32,"th":13,"th_scale":14,"sticky":15,"role":"16","peer":"17","tag":true,"tpid":"19",
	"refresh":20,"lease":21,"watch":true,"watchdog":23,"restore":24,"tier":"25","pool":27,"pool_alpha":0.28,"pool_pause_alpha":0.29,"control_share":0.3,"control_dscp":35,"strip":"31","roots":true,"root_id":37,"version":26},
	"th":1,"n_active":2,"backlogged":3,"paused":4,"marked":5,"link_rate":6,"hrtt":7,"sticky":8,
	"th_max":9,"backlog_max":10,"backlog_time":11,"time":12,"pool_size":34,"pool_used":35,"pool_max":36,"assign_free":13,"assign_early":14,
	"assign_shared":15,"assign_own":40,"assign_sticky":16,"collisions":17,"marks":18,"over_unlabelled":19,
	"elided":31,"withdrawn":32,
	"pauses_obeyed":20,"resumes_obeyed":21,"paused_time":22,"control":23,"spilled":38,"gso_split":29,
	"tagged":30,"drop_limit":24,"drop_control":25,"drop_gso":26,"drop_tag":27,"drop_filter":28,"drop_pool":37,"drop_police":39,
	"port":{"state":"no_neighbour","role":"switch","peer_role":"3","tier":"38",
	"peer_mac":"02:00:00:00:ab:cd","peer_queues":5,"handles":6,"hrtt_raw":7,"hrtt":8,"ring":9,"reaction":48,"reactions":49,"hrtt_capped":50,"root_id":51,"roots_tx":52,"roots_rx":53,"roots_far":54,
	"paused_queues":10,"pausing_queues":11,"pause_counters":12,"ingress_bytes":45,"hello_tx":13,"hello_rx":14,
	"neighbour_up":22,"neighbour_lost":23,"probe_tx":24,"probe_echoed":25,"pauses_tx":19,
	"resumes_tx":20,"state_tx":15,"state_repeats":17,"refresh_tx":18,"state_rx":16,
	"lease_expired":21,"tx_busy":26,"storm":true,"storms":40,"storm_ends":41,"storm_rx":42,
	"counter_leaks":43,"unanswered":56,"rx_malformed":27,"rx_version":28,"rx_epoch":29,
	"rx_stale":30,"rx_range":31,"rx_untrusted":32,"rx_shared":33,"rx_limited":44,"tag_stripped":34,
	"tag_unlabelled":35,"tag_errors":36,"handle_forged":37,"origin_unknown":55,"ingress_filter":true,"tag_unseen":47}}]
	END
	)" "-s -j qdisc show dev lo"
grep -q "^bfc: plugin and module out of step: the plugin speaks version 2, the module 26$" \
	"$dir/err" && [ "$(wc -l <"$dir/err")" = 1 ]
report $? "plugin and module out of step is said, once, on stderr"

operation=class
class=$(tokens bfc.h TCA_BFC_CLASS_ none)
written "TCA_STATS2{ TCA_STATS_APP{ ${class/DEFICIT=s32:3/DEFICIT=s32:-1500} } }"
spied -s -j class show dev lo
if [ "$(head -c 1 "$dir/out")" = "[" ]; then
	named "class" bfc.h TCA_BFC_CLASS_ none
	# newer versions of tc put all statistics of a class into an object of its own
	grep -qF '"paused":true,"flows":2,"deficit":-1500,"backlog_max":4,"pauses":5,"paused_time":6,"marks":7}' \
		"$dir/out"
	report $? "JSON of a class"
else
	number=$((number + 1)) skipped=$((skipped + 1))
	echo "ok $number JSON of a class # SKIP this tc shows classes in text only"
fi
spied -s class show dev lo && [ "$(sed -n 's/^  class:/class:/p' "$dir/out")" = \
	"class: paused yes flows 2 deficit -1500 backlog_max 4b pauses 5 paused_time 6ns marks 7" ]
report $? "text of a class"

operation=add
again "TCA_BFC_QUEUES=u16:4094 TCA_BFC_CLASSES=u8:2 TCA_BFC_FLOWS=u32:0 TCA_BFC_ASSIGN=u8:1
       TCA_BFC_REUSE=u8:1 TCA_BFC_LIMIT=u32:8388607 TCA_BFC_QUANTUM=u32:65536
       TCA_BFC_SPLIT_GSO=u8:0 TCA_BFC_PAUSE=u8:0 TCA_BFC_RATE=u64:1250000001
       TCA_BFC_HRTT=u32:12345 TCA_BFC_TH=u32:0 TCA_BFC_TH_SCALE=u32:150
       TCA_BFC_STICKY=u32:999999999 TCA_BFC_ROLE=u8:2 TCA_BFC_PEER=u8:1 TCA_BFC_TAG=u8:0
       TCA_BFC_TPID=u16:33024 TCA_BFC_REFRESH=u32:0 TCA_BFC_LEASE=u32:1000001 TCA_BFC_WATCH=u8:0
       TCA_BFC_WATCHDOG=u32:1500000 TCA_BFC_RESTORE=u32:0 TCA_BFC_TIER=u8:1 TCA_BFC_POOL=u32:0
       TCA_BFC_POOL_ALPHA=u32:1250 TCA_BFC_POOL_PAUSE_ALPHA=u32:625 TCA_BFC_CONTROL_SHARE=u32:750 TCA_BFC_STRIP=u8:1
       TCA_BFC_HRTT_MAX=u32:2500000 TCA_BFC_WAYS=u8:1 TCA_BFC_SHARE=u8:1 TCA_BFC_CONTROL_DSCP=u8:46"
report $? "printed options can be typed in again"
again "TCA_BFC_ASSIGN=u8:2 TCA_BFC_PAUSE=u8:2 TCA_BFC_RATE=u64:0"
report $? "another way to pause"
again "TCA_BFC_LIMIT=u32:1073741824 TCA_BFC_QUANTUM=u32:1025 TCA_BFC_RATE=u64:50000000000
       TCA_BFC_HRTT=u32:1 TCA_BFC_TH=u32:1048577 TCA_BFC_SPLIT_GSO=u8:1 TCA_BFC_PAUSE=u8:1
       TCA_BFC_STICKY=u32:1000 TCA_BFC_TAG=u8:1 TCA_BFC_TPID=u16:34984 TCA_BFC_POOL=u32:1073741823
       TCA_BFC_POOL_ALPHA=u32:99999 TCA_BFC_CONTROL_DSCP=u8:0"
report $? "and at the edges of the units"

written "TCA_OPTIONS{ TCA_BFC_QUEUES=u16:128 TCA_BFC_FLOWS=u32:0 TCA_BFC_LIMIT=u32:8388608
	 TCA_BFC_PRIOMAP=hex:00000000000000000000000000000001 TCA_BFC_SPLIT_GSO=u8:1
	 TCA_BFC_PAUSE=u8:0 TCA_BFC_RATE=u64:1250000000 TCA_BFC_HRTT=u32:10500 TCA_BFC_TH_SCALE=u32:100
	 TCA_BFC_PEER=u8:2 TCA_BFC_TPID=u16:34984 TCA_BFC_VERSION=u32:2 TCA_BFC_WAYS=u8:4
	 TCA_BFC_SHARE=u8:0 TCA_BFC_CONTROL_DSCP=u8:0 999=u32:1 }"
spied qdisc show dev lo && [ ! -s "$dir/err" ] && [ "$(sed 's/ *$//' "$dir/out")" = \
	"qdisc bfc 1: root refcnt 0 queues 128 flows auto ways 4 share random limit 8Mb priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 split-gso nopause rate 10Gbit hrtt 10.5us th-scale 100% peer switch tpid 0x88a8 control-dscp none version 2" ]
report $? "text of options, an unknown attribute passed over"

# Text of statistics: each state of the port with its explanation.
state=0
for text in tagging no_neighbour no_strip tpid probing probe_size probe_tag shared no_carrier \
	    disabled kind host; do
	written "TCA_STATS2{ TCA_STATS_APP{ TCA_BFC_STATS_TIME=u64:1 TCA_BFC_STATS_PORT{ HOP_A_STATE=u8:$state } } }"
	spied -s qdisc show dev lo && grep -qE "^  port: state $text \(.+\)$" "$dir/out"
	report $? "state $state is $text and explained"
	state=$((state + 1))
done
# An integer is read by the length that it comes with.
written "TCA_STATS2{ TCA_STATS_APP{ TCA_BFC_STATS_TH=u64:99 TCA_BFC_STATS_MARKS=u32:98 TCA_BFC_STATS_TIME=u64:1 } }"
shows "integers of another size" \
      '[{"kind":"bfc","handle":"1:","root":true,"refcnt":0,"options":{},"th":99,"time":1,"marks":98}]' \
      "-s -j qdisc show dev lo"
# A truncated nest prints what is whole.
written "TCA_STATS2{ TCA_STATS_APP{ TCA_BFC_STATS_TIME=u64:1 TCA_BFC_STATS_PORT=hex:ff00 } }"
shows "a damaged nest" \
      '[{"kind":"bfc","handle":"1:","root":true,"refcnt":0,"options":{},"time":1,"port":{}}]' \
      "-s -j qdisc show dev lo"

! spied class add dev lo parent 1: classid 1:1 bfc && grep -q "^bfc: its classes are made by the qdisc and have no options$" "$dir/err"
report $? "classes cannot be added"

finish
