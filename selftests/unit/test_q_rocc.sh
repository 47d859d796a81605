#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind rocc, inside stock tc, without a kernel module and without privileges.
#
# Shown: each option becomes the right attribute with the right value, each bad value is refused
# with its option named, every attribute of the uapi header is printed, under its own name, but for
# keys, which never are, and what is printed as text can be typed in again; a limiter is told from a
# qdisc.

kind=rocc
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

not_options="TCA_ROCC_STATS_|TCA_ROCC_LIMITER_|TCA_ROCC_FROM_"
key=00112233445566778899aabbccddeeFF
key_bytes="16 0 17 34 51 68 85 102 119 136 153 170 187 204 221 238 255"
v4="0 0 0 0 0 0 0 0 0 0 255 255"

# Each option alone.
takes "" ""
takes "role switch" "TCA_ROCC_ROLE 1 0"
takes "role host" "TCA_ROCC_ROLE 1 1"
takes "rate 10gbit" "TCA_ROCC_RATE 8 1250000000"
takes "rate auto" "TCA_ROCC_RATE 8 0"
takes "limit 64k" "TCA_ROCC_LIMIT 4 65536"
takes "key1 $key" "TCA_ROCC_KEY1 $key_bytes"
takes "key2 $key" "TCA_ROCC_KEY2 $key_bytes"
takes "key1 none" "TCA_ROCC_KEY1 16 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
takes "key2 00000000000000000000000000000000" "TCA_ROCC_KEY2 16 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
takes "interval 40us" "TCA_ROCC_INTERVAL 4 40000"
takes "interval auto" "TCA_ROCC_INTERVAL 4 0"
takes "rate-min 100mbit" "TCA_ROCC_RATE_MIN 8 12500000"
takes "rate-min 0" "TCA_ROCC_RATE_MIN 8 0"
takes "qref 150k" "TCA_ROCC_QREF 4 153600"
takes "qmid 300000" "TCA_ROCC_QMID 4 300000"
takes "qmax 360000" "TCA_ROCC_QMAX 4 360000"
takes "qref auto qmid 0 qmax auto" "TCA_ROCC_QREF 4 0; TCA_ROCC_QMID 4 0; TCA_ROCC_QMAX 4 0"
takes "alpha 0.3" "TCA_ROCC_ALPHA 4 3000"
takes "alpha 0.0001" "TCA_ROCC_ALPHA 4 1"
takes "alpha 12" "TCA_ROCC_ALPHA 4 120000"
takes "alpha 429496.7295" "TCA_ROCC_ALPHA 4 4294967295"
takes "alpha auto" "TCA_ROCC_ALPHA 4 0"
takes "beta 1.5" "TCA_ROCC_BETA 4 15000"
takes "beta 1.2345" "TCA_ROCC_BETA 4 12345"
takes "beta 0.0" "TCA_ROCC_BETA 4 0"
takes "tuning steps" "TCA_ROCC_TUNING 1 0"
takes "tuning smooth" "TCA_ROCC_TUNING 1 1"
takes "table queue" "TCA_ROCC_TABLE 1 0"
takes "table age" "TCA_ROCC_TABLE 1 1"
takes "table elephants" "TCA_ROCC_TABLE 1 2"
takes "table afd" "TCA_ROCC_TABLE 1 3"
takes "flows 65536" "TCA_ROCC_FLOWS 4 65536"
takes "age 160us" "TCA_ROCC_AGE 4 160000"
takes "age auto" "TCA_ROCC_AGE 4 0"
takes "sample 16" "TCA_ROCC_SAMPLE 4 16"
takes "cnps 1000" "TCA_ROCC_CNPS 4 1000"
takes "source 10.0.0.1" "TCA_ROCC_SOURCE 4 16777226"
takes "source 192.0.0.8" "TCA_ROCC_SOURCE 4 134217920"
takes "compute switch" "TCA_ROCC_COMPUTE 1 0"
takes "compute host" "TCA_ROCC_COMPUTE 1 1"
takes "sign none" "TCA_ROCC_SIGN 1 0"
takes "sign 1" "TCA_ROCC_SIGN 1 1"
takes "sign 2" "TCA_ROCC_SIGN 1 2"
takes "control-share 7.5%" "TCA_ROCC_CONTROL_SHARE 4 750"
takes "control-dscp 63" "TCA_ROCC_CONTROL_DSCP 1 63"
takes "control-dscp none" "TCA_ROCC_CONTROL_DSCP 1 0"
takes "role host control-dscp 1" "TCA_ROCC_ROLE 1 1; TCA_ROCC_CONTROL_DSCP 1 1"
takes "recovery 55us" "TCA_ROCC_RECOVERY 4 55000"
takes "recovery auto" "TCA_ROCC_RECOVERY 4 0"
takes "hold 20ms" "TCA_ROCC_HOLD 4 20000000"
takes "floor 10mbit" "TCA_ROCC_FLOOR 8 1250000"
takes "floor auto" "TCA_ROCC_FLOOR 8 0"
takes "limiters 32768" "TCA_ROCC_LIMITERS 4 32768"
takes "split-gso" "TCA_ROCC_SPLIT_GSO 1 1"
takes "no-split-gso" "TCA_ROCC_SPLIT_GSO 1 0"
takes "radius 0" "TCA_ROCC_RADIUS 1 0"
takes "radius 254" "TCA_ROCC_RADIUS 1 254"
takes "from any" "TCA_ROCC_FROM { }"
takes "from 10.0.0.0/8" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 $v4 10 0 0 0 104 }"
takes "from 10.0.0.1" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 $v4 10 0 0 1 128 }"
takes "from 0.0.0.0/0" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 $v4 0 0 0 0 96 }"
takes "from ::ffff:10.0.0.0/104" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 $v4 10 0 0 0 104 }"
takes "from ::/0" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 }"
takes "from fe80::/10" "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 254 128 0 0 0 0 0 0 0 0 0 0 0 0 0 0 10 }"
takes "from fe80::1,10.1.0.0/16" \
      "TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 254 128 0 0 0 0 0 0 0 0 0 0 0 0 0 1 128 TCA_ROCC_FROM_PREFIX 17 $v4 10 1 0 0 112 }"
ten=10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,10.0.0.5,10.0.0.6,10.0.0.7,10.0.0.8,10.0.0.9,10.0.0.10
spied qdisc add dev lo root rocc from $ten,::1,::2,::3,::4,::5,::6 &&
	[ "$(grep -o TCA_ROCC_FROM_PREFIX "$dir/out" | wc -l)" = 16 ]
report $? "takes 16 prefixes"
long=ffff:ffff:ffff:ffff:ffff:ffff:255.255.255
longs=$(for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo "$long.$i/128"; done | paste -sd,)
spied qdisc add dev lo root rocc from "$longs" &&
	[ "$(grep -o TCA_ROCC_FROM_PREFIX "$dir/out" | wc -l)" = 16 ]
report $? "takes 16 of the longest prefixes"
takes "role host limit 1m key1 $key from 10.0.0.1 radius 2 hold 1ms" \
      "TCA_ROCC_ROLE 1 1; TCA_ROCC_LIMIT 4 1048576; TCA_ROCC_KEY1 $key_bytes; TCA_ROCC_FROM { TCA_ROCC_FROM_PREFIX 17 $v4 10 0 0 1 128 }; TCA_ROCC_RADIUS 1 2; TCA_ROCC_HOLD 4 1000000"

# Bad values of each.
refuses "role router" "\"role\" takes one of switch, host, not \"router\""
for bad in -1mbit 10xbit 1bit nan fast; do
	for option in rate rate-min floor; do
		refuses "$option $bad" "\"$option\" takes a rate such as 10gbit or \"auto\", not \"$bad\""
	done
done
for bad in 0 0.5 -1 nan 4g 64x auto; do
	refuses "limit $bad" "\"limit\" takes a size from 1b to 4294967295b, not \"$bad\""
done
for option in qref qmid qmax; do
	for bad in -1 0.5 4g x; do
		refuses "$option $bad" "\"$option\" takes a size below 4Gb or \"auto\", not \"$bad\""
	done
done
for option in key1 key2; do
	for bad in 0 auto "${key}0" "${key%?}" "${key%?}g" "0x${key%??}" "-${key%?}"; do
		refuses "$option $bad" "\"$option\" takes 32 hexadecimal digits or \"none\""
		! grep -qF -- "$bad\"" "$dir/err"
		report $? "and does not repeat it"
	done
done
for option in interval age recovery; do
	for bad in 10 -1us 5s us 0.2ns; do
		refuses "$option $bad" "\"$option\" takes a time up to 4.294967295s, with its unit (ns, us, ms, s), or \"auto\", not \"$bad\""
	done
done
for bad in 10 0 5s auto; do
	refuses "hold $bad" "\"hold\" takes a time from 1ns to 4.294967295s, with its unit (ns, us, ms, s), not \"$bad\""
done
for option in alpha beta; do
	for bad in -1 .5 5. 1e2 0x1 0.00001 1.23456 1.2.3 0.3x nan 429496.7296 99999999999 %; do
		refuses "$option $bad" "\"$option\" takes a number from 0.0001 to 429496.7295 or \"auto\", not \"$bad\""
	done
done
refuses "tuning none" "\"tuning\" takes one of steps, smooth, not \"none\""
refuses "table all" "\"table\" takes one of queue, age, elephants, afd, not \"all\""
for bad in 0 3 65537 -4 auto; do
	refuses "flows $bad" "\"flows\" takes a number from 4 to 65536, not \"$bad\""
done
for bad in 0 -1 4294967296 auto; do
	refuses "sample $bad" "\"sample\" takes a number from 1 to 4294967295, not \"$bad\""
done
for bad in 10.0.0 10.0.0.1/32 10.0.0.256 fe80::1 1 auto; do
	refuses "source $bad" "\"source\" takes an IPv4 address, not \"$bad\""
done
refuses "compute nobody" "\"compute\" takes one of switch, host, not \"nobody\""
for bad in 0 3 key1; do
	refuses "sign $bad" "\"sign\" takes one of none, 1, 2, not \"$bad\""
done
for bad in 0 100.01 auto; do
	refuses "control-share $bad" "\"control-share\" takes a percentage from 0.01% to 100%, not \"$bad\""
done
for bad in -1 64 auto ef; do
	refuses "control-dscp $bad" "\"control-dscp\" takes a number from 1 to 63 or \"none\", not \"$bad\""
done
for bad in 0 32769; do
	refuses "limiters $bad" "\"limiters\" takes a number from 1 to 32768, not \"$bad\""
done
for bad in -1 255 256 any; do
	refuses "radius $bad" "\"radius\" takes a number from 0 to 254, not \"$bad\""
done
for bad in 10.0.0.1/8 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/ 10.0.0.0/+8 10.0.0.0/8/8 10.0.0.0/0000 10.0.0 \
	   10.0.0.0/8,any ,10.0.0.1 '10.0.0.1,' fe80::1/64 fe80::/129 fe80::%lo ::1/127 0.0.0.1/0 none \
	   $ten,::1,::2,::3,::4,::5,::6,::7 "$longs,::1"; do
	refuses "from $bad" "\"from\" takes up to 16 prefixes, such as 10.0.0.0/8,fe80::/64, with no bits set behind them, or \"any\", not \"$bad\""
done
for option in role rate limit key1 key2 interval rate-min qref qmid qmax alpha beta tuning table flows age \
	      sample cnps source compute sign recovery hold floor limiters radius from \
	      control-share control-dscp; do
	refuses "$option" "\"$option\" takes "
done
refuses "key1 none key1 none" "\"key1\" is given twice"
refuses "keys 1" "there is no option \"keys\"; there are: role rate limit control-share control-dscp key1 key2"
refuses "version 1" "there is no option \"version\""

# help
! spied qdisc add dev lo root rocc help && [ ! -s "$dir/out" ]
report $? "help is no request"
missing=
while read -r name type; do
	name=${name#TCA_ROCC_} name=${name,,} name=${name//_/-}
	grep -qE "^  ${name}(\|no-${name}| [^ ])" "$dir/err" || missing="$missing $name"
done < <(attributes rocc.h TCA_ROCC_ "$not_options|TCA_ROCC_KEYS|TCA_ROCC_VERSION")
[ -z "$missing" ]
report $? "help names every option$missing"

# Every attribute of the header comes out, each with a value of its own.
operation=add
options=$(tokens rocc.h TCA_ROCC_ "$not_options")
stats=$(tokens rocc.h TCA_ROCC_STATS_ none)
from="TCA_ROCC_FROM_PREFIX=hex:00000000000000000000ffff0a00000068 TCA_ROCC_FROM_PREFIX=hex:fe8000000000000000000000000000000a"
written "TCA_OPTIONS{ $options TCA_ROCC_FROM+{ $from } } TCA_STATS2{ TCA_STATS_APP{ $stats } }"
spied -s -j qdisc show dev lo
named "options" rocc.h TCA_ROCC_ "$not_options|TCA_ROCC_KEY[12]"
named "statistics" rocc.h TCA_ROCC_STATS_ none
! grep -qE '"(bytes|packets|drops|overlimits|requeues|backlog|qlen)":' "$dir/out"
report $? "no key that tc itself uses"
[ "$(grep -oE '"[a-z_]+":' "$dir/out" | sort | uniq -d | tr -d '\n')" = '"cnps":"interval":"limiters":' ]
report $? "keys repeat only between options and statistics"
! grep -qiE '5ec5|key[12]|94, *197' "$dir/out"
report $? "keys are not shown, even if the module says them"
shows "JSON of options and statistics" "$(cat <<-'END' | tr -d '\n'
	[{"kind":"rocc","handle":"1:","root":true,"refcnt":0,"options":{"role":"host","rate":2,"limit":3,"control_share":0.3,"control_dscp":31,
	"interval":6,"rate_min":7,"qref":8,"qmid":9,"qmax":10,"alpha":0.0011,"beta":0.0012,"tuning":"13",
	"table":"14","flows":15,"age":16,"sample":17,"cnps":18,"source":"19.0.0.0","compute":"20",
	"sign":"21","recovery":22,"hold":23,"floor":24,"limiters":25,"split_gso":true,"radius":26,
	"from":["10.0.0.0/8","fe80::/10"],"keys":[3,4,5],"version":29},
	"fair_rate":7,"q_ref":8,"interval":9,"flows_active":10,"limiters":17,"held":19,
	"backlog_max":1,"backlog_time":2,"time":3,"limiters_max":18,"control":4,"spilled":38,"no_flow":6,
	"untracked":16,"ticks":11,"cuts":12,"cnps":13,"cnps_held":14,"cnps_failed":15,"cnps_vlan":40,
	"accepted":21,"higher":22,"not_needed":23,"stale":24,"full":25,"epoch_back":41,"delayed":20,"gso_split":42,"raised":26,
	"removed":27,"bad_frame":29,"bad_checksum":30,"bad_version":31,"bad_range":32,"bad_ttl":33,
	"bad_source":34,"bad_tag":35,"bad_flow":36,"bad_sequence":37,"drop_limit":28,"drop_gso":43,"drop_control":5,"drop_police":39}]
	END
	)" "-s -j qdisc show dev lo"
grep -q "^rocc: plugin and module out of step: the plugin speaks version 1, the module 29$" "$dir/err" &&
	[ "$(wc -l <"$dir/err")" = 1 ]
report $? "plugin and module out of step is said, once, on stderr"
spied -s qdisc show dev lo && ! grep -qiE '5ec5|key[12]' "$dir/out"
report $? "nor shown as text"

sluice_agrees

# Switches and hosts side by side, and what a host limits
figures="TCA_ROCC_STATS_FAIR_RATE=u64:125000000 TCA_ROCC_STATS_Q_REF=u32:93750 TCA_ROCC_STATS_FLOWS_ACTIVE=u32:3
	 TCA_ROCC_STATS_CNPS=u64:7"
written "TCA_OPTIONS{ TCA_ROCC_ROLE=u8:0 TCA_ROCC_RATE=u64:0 TCA_ROCC_VERSION=u32:1 } TCA_STATS2{ TCA_STATS_APP{ $figures } }"
mv "$dir/dump" "$dir/switch"
figures="TCA_ROCC_STATS_LIMITERS=u32:2 TCA_ROCC_STATS_HELD=u64:3028 TCA_ROCC_STATS_ACCEPTED=u64:9"
written "TCA_OPTIONS{ TCA_ROCC_ROLE=u8:1 TCA_ROCC_RATE=u64:1250000000 TCA_ROCC_LIMITERS=u32:4096 TCA_ROCC_VERSION=u32:1 }
	 TCA_STATS2{ TCA_STATS_APP{ $figures } }"
mv "$dir/dump" "$dir/host"
operation=class
written "TCA_STATS2{ TCA_STATS_APP{ TCA_ROCC_LIMITER_PROTOCOL=u8:6 TCA_ROCC_LIMITER_SOURCE=hex:0a000001
	 TCA_ROCC_LIMITER_DESTINATION=hex:0a000002 TCA_ROCC_LIMITER_SPORT=u16:5001 TCA_ROCC_LIMITER_DPORT=u16:80
	 TCA_ROCC_LIMITER_RATE=u64:150000000 } }"
mv "$dir/dump" "$dir/class"
operation=add
cat "$dir/switch" "$dir/host" >"$dir/dump"
sluice_shows "sluice: a table of both roles" "\
DEV  KIND  QDISC  ROLE    RATE    FAIR-RATE  Q-REF   QUEUE  FLOWS  LIMITERS  HELD
lo   rocc  1:     switch  auto    1Gbit      93750b  0b     3      -         -
lo   rocc  1:     host    10Gbit  -          -       0b     -      2         3028b" show
cat "$dir/host" "$dir/class" >"$dir/dump"
sluice_shows "sluice: what a host limits" "\
lo rocc 1:
  role host rate 10Gbit limiters 4096 version 1
  backlog 0b 0p
  now: limiters 2 held 3028b
  limiter: tcp 10.0.0.1:5001 > 10.0.0.2:80 rate 1.2Gbit" "show lo"
sluice_shows "sluice: with counters" "\
lo rocc 1:
  role host rate 10Gbit limiters 4096 version 1
  backlog 0b 0p
  now: limiters 2 held 3028b
  cnps: accepted 9
  limiter: tcp 10.0.0.1:5001 > 10.0.0.2:80 rate 1.2Gbit" "show -s lo"
[ "$(LD_PRELOAD="$dir/tcspy.so" TCSPY_DUMP="$dir/dump" "$sluice" -j show |
	jq -c '.[0] | [.dev, .kind, .options.role, .limiters, .limited[0].sport, .accepted]')" = '["lo","rocc","host",2,5001,null]' ]
report $? "sluice: JSON of a host"

# A limiter
operation=class
limiter=$(tokens rocc.h TCA_ROCC_LIMITER_ none)
written "TCA_STATS2{ TCA_STATS_APP{ $limiter } }"
spied -s -j class show dev lo
if [ "$(head -c 1 "$dir/out")" = "[" ]; then
	named "limiter" rocc.h TCA_ROCC_LIMITER_ none
	grep -qF '"protocol":"icmp","source":"10.0.0.2","destination":"10.0.0.3","sport":4,"dport":5,"rate":6,"point":"fe80::7","point_port":8,"point_queue":9,"age":10,"quiet":11,"accepted":12,"raised":13}' \
		"$dir/out"
	report $? "JSON of a limiter"
else
	number=$((number + 1)) skipped=$((skipped + 1))
	echo "ok $number JSON of a limiter # SKIP this tc shows classes in text only"
fi
limiter() {	# limiter TOKENS TEXT
	written "TCA_STATS2{ TCA_STATS_APP{ $1 } }"
	spied -s class show dev lo && [ "$(sed -n 's/^  limiter:/limiter:/p' "$dir/out")" = "$2" ]
	report $? "text: $2"
}
limiter "TCA_ROCC_LIMITER_PROTOCOL=u8:6 TCA_ROCC_LIMITER_SOURCE=hex:0a000001
	 TCA_ROCC_LIMITER_DESTINATION=hex:0a000002 TCA_ROCC_LIMITER_SPORT=u16:5001
	 TCA_ROCC_LIMITER_DPORT=u16:80 TCA_ROCC_LIMITER_RATE=u64:150000000
	 TCA_ROCC_LIMITER_POINT=hex:fe800000000000000000000000000001
	 TCA_ROCC_LIMITER_POINT_PORT=u32:3 TCA_ROCC_LIMITER_POINT_QUEUE=u16:0
	 TCA_ROCC_LIMITER_AGE=u64:1200000 TCA_ROCC_LIMITER_QUIET=u64:20000
	 TCA_ROCC_LIMITER_ACCEPTED=u64:7 TCA_ROCC_LIMITER_RAISED=u64:0" \
	"limiter: tcp 10.0.0.1:5001 > 10.0.0.2:80 rate 1.2Gbit point fe80::1 point_port 3 point_queue 0 age 1.2ms quiet 20us accepted 7 raised 0"
limiter "TCA_ROCC_LIMITER_PROTOCOL=u8:17
	 TCA_ROCC_LIMITER_SOURCE=hex:fd000000000000000000000000000001
	 TCA_ROCC_LIMITER_DESTINATION=hex:fd000000000000000000000000000002
	 TCA_ROCC_LIMITER_SPORT=u16:49152 TCA_ROCC_LIMITER_DPORT=u16:4791
	 TCA_ROCC_LIMITER_POINT=hex:00000000000000000000ffff0a000001" \
	"limiter: udp [fd00::1]:49152 > [fd00::2]:4791 point 10.0.0.1"
limiter "TCA_ROCC_LIMITER_PROTOCOL=u8:200 TCA_ROCC_LIMITER_SOURCE=hex:0a000001" "limiter: 200 10.0.0.1 > ?"
operation=add

# Text of options, and back: what was printed is typed in and gives the same attributes.
again "TCA_ROCC_ROLE=u8:0 TCA_ROCC_RATE=u64:1250000001 TCA_ROCC_LIMIT=u32:8388607
       TCA_ROCC_INTERVAL=u32:12345 TCA_ROCC_RATE_MIN=u64:31250 TCA_ROCC_QREF=u32:150000
       TCA_ROCC_QMID=u32:307200 TCA_ROCC_QMAX=u32:4294967295 TCA_ROCC_ALPHA=u32:3000
       TCA_ROCC_BETA=u32:15001 TCA_ROCC_TUNING=u8:1 TCA_ROCC_TABLE=u8:2 TCA_ROCC_FLOWS=u32:4096
       TCA_ROCC_AGE=u32:160000 TCA_ROCC_SAMPLE=u32:16 TCA_ROCC_CNPS=u32:1000000
       TCA_ROCC_SOURCE=u32:134217920 TCA_ROCC_COMPUTE=u8:1 TCA_ROCC_SIGN=u8:2"
report $? "printed options of a switch can be typed in again"
again "TCA_ROCC_RATE=u64:0 TCA_ROCC_INTERVAL=u32:0 TCA_ROCC_RATE_MIN=u64:0 TCA_ROCC_QREF=u32:0
       TCA_ROCC_QMID=u32:0 TCA_ROCC_QMAX=u32:0 TCA_ROCC_ALPHA=u32:0 TCA_ROCC_BETA=u32:0
       TCA_ROCC_AGE=u32:0 TCA_ROCC_SIGN=u8:0 TCA_ROCC_TABLE=u8:3 TCA_ROCC_TUNING=u8:0
       TCA_ROCC_CONTROL_DSCP=u8:0"
report $? "and where all is auto"
again "TCA_ROCC_ROLE=u8:1 TCA_ROCC_RATE=u64:50000000000 TCA_ROCC_LIMIT=u32:1073741824
       TCA_ROCC_RECOVERY=u32:0 TCA_ROCC_HOLD=u32:20000000 TCA_ROCC_FLOOR=u64:0
       TCA_ROCC_LIMITERS=u32:4096 TCA_ROCC_RADIUS=u8:0 TCA_ROCC_CONTROL_SHARE=u32:1
       TCA_ROCC_CONTROL_DSCP=u8:63"
report $? "and those of a host"
again "TCA_ROCC_ALPHA=u32:1 TCA_ROCC_BETA=u32:4294967295 TCA_ROCC_RECOVERY=u32:4294967295
       TCA_ROCC_HOLD=u32:1 TCA_ROCC_FLOOR=u64:1 TCA_ROCC_RADIUS=u8:254 TCA_ROCC_SOURCE=u32:4294967295"
report $? "and at the edges"
for from in "10.0.0.0/8,fe80::/10" "0.0.0.0/0" "::/0" "::ffc0:0:0/90" "10.0.0.1/32,::1/128" any; do
	spied qdisc add dev lo root rocc from "$from"
	hex=$(sed -n 's/.*{ \(.*\)}/\1/p' "$dir/out" | sed 's/TCA_ROCC_FROM_PREFIX 17/\n/g' | while read -r bytes; do
		# shellcheck disable=SC2046,SC2086
		[ -z "$bytes" ] || echo "TCA_ROCC_FROM_PREFIX=hex:$(printf %02x $bytes)"
	done)
	written "TCA_OPTIONS{ TCA_ROCC_FROM+{ $hex } }"
	spied qdisc show dev lo && [ "$(sed 's/.* refcnt 0 //; s/ *$//' "$dir/out")" = "from $from" ]
	report $? "from $from is printed as it was typed"
done

written "TCA_OPTIONS{ TCA_ROCC_ROLE=u8:1 TCA_ROCC_RATE=u64:0 TCA_ROCC_LIMIT=u32:8388608
	 TCA_ROCC_RECOVERY=u32:0 TCA_ROCC_HOLD=u32:20000000 TCA_ROCC_FLOOR=u64:0
	 TCA_ROCC_LIMITERS=u32:4096 TCA_ROCC_SPLIT_GSO=u8:1 TCA_ROCC_RADIUS=u8:8 TCA_ROCC_FROM+{ } TCA_ROCC_KEYS=u8:3
	 TCA_ROCC_VERSION=u32:1 999=u32:1 }"
spied qdisc show dev lo && [ ! -s "$dir/err" ] && [ "$(sed 's/ *$//' "$dir/out")" = \
	"qdisc rocc 1: root refcnt 0 role host rate auto limit 8Mb recovery auto hold 20ms floor auto limiters 4096 split-gso radius 8 from any keys 1,2 version 1" ]
report $? "text of options, an unknown attribute passed over"
for bits in 0:none 1:1 2:2 3:1,2; do
	written "TCA_OPTIONS{ TCA_ROCC_KEYS=u8:${bits%:*} }"
	spied qdisc show dev lo && [ "$(sed 's/ *$//' "$dir/out")" = "qdisc rocc 1: root refcnt 0 keys ${bits#*:}" ]
	report $? "keys ${bits#*:}"
done

# Statistics in text, of a role
written "TCA_STATS2{ TCA_STATS_APP{ TCA_ROCC_STATS_BACKLOG_MAX=u64:3000 TCA_ROCC_STATS_TIME=u64:1
	 TCA_ROCC_STATS_DROP_CONTROL=u64:0 TCA_ROCC_STATS_LIMITERS=u32:4 TCA_ROCC_STATS_DELAYED=u64:5
	 TCA_ROCC_STATS_BAD_TTL=u64:6 } }"
spied -s qdisc show dev lo && [ "$(sed -n '/^  [a-z]*:/p' "$dir/out")" = "  now: limiters 4
  highest: backlog_max 3000b time 1ns
  limiters: delayed 5
  refused: bad_ttl 6
  lost: drop_control 0" ]
report $? "text of statistics"
# An integer is read by the length that it comes with.
written "TCA_STATS2{ TCA_STATS_APP{ TCA_ROCC_STATS_BACKLOG_MAX=u32:99 TCA_ROCC_STATS_TIME=u64:1 TCA_ROCC_STATS_Q_REF=u64:98 } }"
shows "integers of another size" \
      '[{"kind":"rocc","handle":"1:","root":true,"refcnt":0,"options":{},"q_ref":98,"backlog_max":99,"time":1}]' \
      "-s -j qdisc show dev lo"
# A truncated nest prints what is whole.
written "TCA_OPTIONS{ TCA_ROCC_FROM=hex:ff00 TCA_ROCC_RADIUS=u8:1 }"
shows "a damaged nest" \
      '[{"kind":"rocc","handle":"1:","root":true,"refcnt":0,"options":{"radius":1,"from":[]}}]' \
      "-s -j qdisc show dev lo"

! spied class add dev lo parent 1: classid 1:1 rocc && grep -q "^rocc: its classes are made by the qdisc and have no options$" "$dir/err"
report $? "classes cannot be added"

# Two plugins in one tc
written "TCA_OPTIONS{ TCA_ROCC_ROLE=u8:1 }"
cp "$dir/dump" "$dir/first"
kind=bfc written "TCA_OPTIONS{ TCA_BFC_ROLE=u8:1 TCA_BFC_QUEUES=u16:1 }"
cat "$dir/first" >>"$dir/dump"
if [ -e "$TC_LIB_DIR/q_bfc.so" ]; then
	shows "beside another kind" \
	      '[{"kind":"bfc","handle":"1:","root":true,"refcnt":0,"options":{"queues":1,"role":"host"}},{"kind":"rocc","handle":"1:","root":true,"refcnt":0,"options":{"role":"host"}}]' \
	      "-j qdisc show dev lo"
fi

finish
