#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of rocc, in the kernel, as tc would not say them: values out of range, wrong lengths,
# damaged nests, options of the other role.
#
#	namespace a:  v0 ---- v1
#
# What tc can say is in tdc_rocc.sh. After each refusal the whole configuration must be what it was.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034
kind=rocc
need_tool tc jq
load_modules sch_rocc
# shellcheck source=selftests/net/options.sh
. "$(dirname "$0")/options.sh"

switch=$(jq -cn '{role: "switch", rate: 0, limit: 8388608, control_share: 5, control_dscp: 0, interval: 0, rate_min: 0,
	qref: 0, qmid: 0, qmax: 0,
	alpha: 0, beta: 0, tuning: "steps", table: "queue", flows: 4096, age: 0, sample: 16, cnps: 0,
	source: "192.0.0.8", compute: "switch", sign: "none", keys: [], version: 1}')
host=$(jq -cn '{role: "host", rate: 0, limit: 8388608, control_share: 5, control_dscp: 0, recovery: 0, hold: 20000000,
	floor: 0, limiters: 4096, split_gso: true,
	radius: 8, from: [], keys: [], version: 1}')

check "a message without TCA_OPTIONS" send add
shown "shows the defaults" "$switch"
tc_in a qdisc del dev v0 root
check "an empty TCA_OPTIONS" send add "TCA_OPTIONS{" "}"
shown "shows the defaults" "$switch"
taken "change without TCA_OPTIONS" . change
taken "change with an empty one" . change "TCA_OPTIONS{" "}"
tc_in a qdisc del dev v0 root
check "a host" send add "TCA_OPTIONS{" TCA_ROCC_ROLE=u8:1 "}"
shown "shows the defaults" "$host"

# The least and the most of each, what is beyond (- is nothing), and whether 0 is auto
while read -r role attribute type name least most below above zero; do
	fresh "role $role"
	scale=1
	case $attribute in ALPHA|BETA) scale=10000 ;; CONTROL_SHARE) scale=100 ;; esac
	for value in $least $most; do
		taken "$role: $name $value" ".$name = ($value / $scale)" change \
		      "TCA_OPTIONS{" "TCA_ROCC_$attribute=$type:$value" "}"
	done
	[ "$zero" != auto ] ||
		taken "$role: $name 0" ".$name = 0" change "TCA_OPTIONS{" "TCA_ROCC_$attribute=$type:0" "}"
	case $type in u32) above+=" 0xffffffff" ;; u8) above+=" 0xff" ;; esac
	for value in ${below#-} $above; do
		kept "$role: $name $value" "TCA_ROCC_$attribute" "${name//_/-} must be" change \
		     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "TCA_ROCC_$attribute=$type:$value" "}"
	done
done <<'END'
switch RATE u64 rate 125 1099511627776 124 1099511627777 auto
switch LIMIT u32 limit 1 1073741824 0 1073741825 no
switch CONTROL_SHARE u32 control_share 1 10000 0 10001 no
switch CONTROL_DSCP u8 control_dscp 1 63 - 64 auto
switch INTERVAL u32 interval 1000 1000000000 999 1000000001 auto
switch RATE_MIN u64 rate_min 125 1099511627776 124 1099511627777 auto
switch ALPHA u32 alpha 1 1000000 - 1000001 auto
switch BETA u32 beta 1 1000000 - 1000001 auto
switch AGE u32 age 1000 1000000000 999 1000000001 auto
switch SAMPLE u32 sample 1 1048576 0 1048577 no
switch CNPS u32 cnps 1 1000000000 - 1000000001 auto
host RATE u64 rate 125 1099511627776 124 1099511627777 auto
host CONTROL_SHARE u32 control_share 1 10000 0 10001 no
host CONTROL_DSCP u8 control_dscp 1 63 - 64 auto
host RECOVERY u32 recovery 1000 1000000000 999 1000000001 auto
host HOLD u32 hold 1000 1000000000 999 1000000001 no
host FLOOR u64 floor 125 1099511627776 124 1099511627777 auto
END

# By number: what the words are, and those that are none
while read -r role attribute name words; do
	fresh "role $role key1 00112233445566778899aabbccddeeff key2 00112233445566778899aabbccddeeff"
	number=0
	for word in ${words//,/ }; do
		taken "$role: $name $number is $word" ".$name = \"$word\"" change \
		      "TCA_OPTIONS{" "TCA_ROCC_$attribute=u8:$number" "}"
		number=$((number + 1))
	done
	for value in $number 255; do
		kept "$role: $name $value" "TCA_ROCC_$attribute" "$name must be" change \
		     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "TCA_ROCC_$attribute=u8:$value" "}"
	done
done <<'END'
switch TUNING tuning steps,smooth
switch COMPUTE compute switch,host
switch SIGN sign none,1,2
END
fresh "role host"
for value in 0 1; do
	taken "split-gso by number: $value" ".split_gso = ($value == 1)" change "TCA_OPTIONS{" TCA_ROCC_SPLIT_GSO=u8:$value "}"
done
for value in 2 255; do
	kept "split-gso $value" TCA_ROCC_SPLIT_GSO "split-gso must be on or off" change \
	     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 TCA_ROCC_SPLIT_GSO=u8:$value "}"
done
kept "radius 255" TCA_ROCC_RADIUS "radius must be 0 to 254" change "TCA_OPTIONS{" TCA_ROCC_RADIUS=u8:255 "}"

# What cannot be changed may be given again, but no other
fresh "table afd flows 8"
for fixed in ROLE=u8:0 TABLE=u8:3 FLOWS=u32:8; do
	taken "the same ${fixed%%=*} again" . change "TCA_OPTIONS{" "TCA_ROCC_$fixed" "}"
done
for fixed in ROLE=u8:1 TABLE=u8:0 FLOWS=u32:12; do
	kept "another ${fixed%%=*}" "TCA_ROCC_${fixed%%=*}" "at creation only" change \
	     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:77 "TCA_ROCC_$fixed" "}"
done
fresh "role host limiters 8"
taken "the same LIMITERS again" . change "TCA_OPTIONS{" TCA_ROCC_LIMITERS=u32:8 "}"
kept "another LIMITERS" TCA_ROCC_LIMITERS "at creation only" change \
     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:77 TCA_ROCC_LIMITERS=u32:9 "}"

# Options of the other role, also with the value that is the default
while read -r role token; do
	fresh "role $role"
	other=host
	[ "$role" = switch ] || other=switch
	kept "$role: ${token%%=*}" "${token%%=*}" "this option is for role $other" change \
	     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:77 "$token" "}"
done <<'END'
host TCA_ROCC_INTERVAL=u32:0
host TCA_ROCC_RATE_MIN=u64:0
host TCA_ROCC_QREF=u32:0
host TCA_ROCC_QMID=u32:0
host TCA_ROCC_QMAX=u32:0
host TCA_ROCC_ALPHA=u32:0
host TCA_ROCC_BETA=u32:0
host TCA_ROCC_TUNING=u8:0
host TCA_ROCC_TABLE=u8:0
host TCA_ROCC_FLOWS=u32:4096
host TCA_ROCC_AGE=u32:0
host TCA_ROCC_SAMPLE=u32:16
host TCA_ROCC_CNPS=u32:1000000
host TCA_ROCC_SOURCE=u32:134217920
host TCA_ROCC_COMPUTE=u8:0
host TCA_ROCC_SIGN=u8:0
switch TCA_ROCC_RECOVERY=u32:0
switch TCA_ROCC_HOLD=u32:20000000
switch TCA_ROCC_FLOOR=u64:0
switch TCA_ROCC_LIMITERS=u32:4096
switch TCA_ROCC_SPLIT_GSO=u8:1
switch TCA_ROCC_RADIUS=u8:8
END
fresh "role switch"
kept "switch: FROM" TCA_ROCC_FROM "this option is for role host" change \
     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:77 "TCA_ROCC_FROM+{" "}" "}"

# Wrong lengths and attributes that are not options; the kernel's own policy speaks.
while read -r role token; do
	fresh "role $role"
	kept "malformed $token" "${token%%=*}" "" change "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "$token" "}"
done <<'END'
switch TCA_ROCC_ROLE=u32:0
switch TCA_ROCC_RATE=u32:1000000
switch TCA_ROCC_LIMIT=hex:01
switch TCA_ROCC_CONTROL_DSCP=u32:46
switch TCA_ROCC_INTERVAL=u64:50000
switch TCA_ROCC_TUNING=hex:
switch TCA_ROCC_SOURCE=hex:0a0000
switch TCA_ROCC_KEY1=hex:00112233445566778899aabbccddee
switch TCA_ROCC_KEY2=hex:00112233445566778899aabbccddeeff00
switch TCA_ROCC_KEYS=u8:1
switch TCA_ROCC_VERSION=u32:1
switch TCA_ROCC_PAD=u32:1
switch 200=u32:1
host TCA_ROCC_RADIUS=u16:1
host TCA_ROCC_SPLIT_GSO=hex:
host TCA_ROCC_FROM=hex:00
END

# Prefixes
prefix() { printf 'TCA_ROCC_FROM_PREFIX=hex:%s' "$1"; }
ten=00000000000000000000ffff0a00000068
fresh "role host"
taken "a prefix" '.from = ["10.0.0.0/8"]' change "TCA_OPTIONS{" "TCA_ROCC_FROM+{" "$(prefix $ten)" "}" "}"
taken "and any" '.from = []' change "TCA_OPTIONS{" "TCA_ROCC_FROM+{" "}" "}"
fresh "role host from fe80::/10"
for bad in 00000000000000000000ffff0a00000168 fe800000000000000000000000000000ff \
	   fe800000000000000000000000000001 fe80000000000000000000000000000181 ff; do
	kept "no prefix: $bad" TCA_ROCC_FROM_PREFIX "from" change \
	     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "TCA_ROCC_FROM+{" "$(prefix $ten)" "$(prefix $bad)" "}" "}"
done
many=()
for ((i = 0; i < 17; i++)); do
	many+=("$(prefix $ten)")
done
taken "16 prefixes" '.from = [range(16) | "10.0.0.0/8"]' change "TCA_OPTIONS{" "TCA_ROCC_FROM+{" "${many[@]:1}" "}" "}"
kept "17 prefixes" TCA_ROCC_FROM_PREFIX "16 prefixes at most" change \
     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "TCA_ROCC_FROM+{" "${many[@]}" "}" "}"
kept "something else among them" "7" "from takes prefixes" change \
     "TCA_OPTIONS{" TCA_ROCC_LIMIT=u32:4711 "TCA_ROCC_FROM+{" "7=hex:$ten" "}" "}"

# Rules that tie options to each other
fresh "qref 10k qmid 20k qmax 30k"
kept "qref as large as qmid" TCA_ROCC_QREF "qref must be below qmid" change "TCA_OPTIONS{" TCA_ROCC_QREF=u32:20480 "}"
kept "qmid above qmax" TCA_ROCC_QMID "qref must be below qmid" change "TCA_OPTIONS{" TCA_ROCC_QMID=u32:30721 "}"
kept "qmax below qmid" TCA_ROCC_QMAX "qref must be below qmid" change "TCA_OPTIONS{" TCA_ROCC_QMAX=u32:20479 "}"
taken "all three" '.qref = 40000 | .qmid = 50000 | .qmax = 50000' change \
      "TCA_OPTIONS{" TCA_ROCC_QREF=u32:40000 TCA_ROCC_QMID=u32:50000 TCA_ROCC_QMAX=u32:50000 "}"
kept "a key that is not there" TCA_ROCC_SIGN "sign needs the key" change "TCA_OPTIONS{" TCA_ROCC_SIGN=u8:2 "}"
leave_ports
tc_in a qdisc del dev v0 root
refused "flows that are no multiple of 4" "multiple of 4 [TCA_ROCC_FLOWS]" send add "TCA_OPTIONS{" TCA_ROCC_FLOWS=u32:6 "}"
shown "leaves no rocc" ""
refused "a role that is none" "role must be switch or host [TCA_ROCC_ROLE]" send add "TCA_OPTIONS{" TCA_ROCC_ROLE=u8:2 "}"
shown "leaves no rocc" ""

finish
