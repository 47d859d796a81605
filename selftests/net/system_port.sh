#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the systemd unit runs for a port: which kind, with what options, one for each transmit queue; and what it
# does not touch. The unit itself is tested where systemd is, in selftests/packaging.

. "$(dirname "$0")/lib.sh"
need_tool ip tc awk
port=$(readlink -f "$(dirname "$0")/../../userspace/system/port")
[ -x "$port" ] || skip_all "userspace/system is not here"
load_modules hopctl sch_bfc sch_rocc sch_floodgate sch_flowsail

ns a
ip_in a link add one type veth peer name x1
ip_in a link add many numtxqueues 12 type veth peer name x2
for dev in one many; do ip_in a link set $dev up; done

# run [VARIABLE=VALUE]... start|stop DEV
run()
{
	local words=()

	while [[ $1 = *=* ]]; do words+=("$1"); shift; done
	in_ns a env "${words[@]}" "$port" "$@"
}

# qdiscs DEV: kinds and parents, and how many of each
qdiscs() { tc_in a qdisc show dev "$1" | awk '{ print $2, $4 == "root" ? "root" : "below" }' | sort | uniq -c | xargs; }
handles() { tc_in a qdisc show dev "$1" | awk '$4 == "parent" { print $5 }' | sort | xargs; }

check "a port starts" run start one
is "with bfc" "$(qdiscs one)" "1 bfc root"
check "again, with options" run OPTIONS="peer switch limit 2m" start one
is "these are there" "$(tc_in a qdisc show dev one | grep -oE 'limit 2Mb|peer switch' | sort | xargs)" "limit 2Mb peer switch"
refused "one that is set at creation only" "no bfc on one" run OPTIONS="queues 64" start one
is "which changes nothing" "$(tc_in a qdisc show dev one | grep -c "queues 128 .*peer switch")" 1
check "it stops" run stop one
is "and there is no bfc" "$(tc_in a qdisc show dev one | grep -c bfc)" 0

check "with several transmit queues" run OPTIONS="queues 16" start many
is "each has one" "$(qdiscs many)" "12 bfc below 1 mq root"
is "from the first to the last" "$(handles many)" "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9 1:a 1:b 1:c"
check "again, with other options" run OPTIONS="queues 16 limit 2m" start many
is "each has them" "$(tc_in a qdisc show dev many | grep -c 'limit 2Mb')" 12
check "without mq" run MQ=no start many
is "one is at the root" "$(qdiscs many)" "1 bfc root"
check "back below mq" run OPTIONS="queues 32" start many
is "there they are" "$(qdiscs many)" "12 bfc below 1 mq root"
check "it stops, too" run stop many
is "and none is left" "$(tc_in a qdisc show dev many | grep -c bfc)" 0

for kind in rocc floodgate flowsail; do
	for dev in one many; do
		n=1 where="1 $kind root"
		[ $dev = one ] || [ $kind = rocc ] || n=12 where="12 $kind below 1 mq root"
		check "$dev: $kind" run KIND=$kind OPTIONS="role host" start $dev
		is "$dev: $where" "$(qdiscs $dev)" "$where"
		is "$dev: with its options" "$(tc_in a qdisc show dev $dev | grep -c "role host")" $n
		check "$dev: it stops" run stop $dev
		is "$dev: and is gone" "$(tc_in a qdisc show dev $dev | grep -c $kind)" 0
	done
done

refused "another kind" "KIND is bfc, floodgate, flowsail or rocc, not fq" run KIND=fq start one
refused "another way" "MQ is auto or no, not maybe" run MQ=maybe start many
refused "a bad option" "no bfc on one" run OPTIONS="queues 3 classes 2" start one
is "which leaves what there was" "$(tc_in a qdisc show dev one | grep -c bfc)" 0
refused "nor with several transmit queues" "no bfc on many" run OPTIONS="queues 3 classes 2" start many
is "where nothing is left of it" "$(tc_in a qdisc show dev many | grep -c "mq 1:\|bfc")" 0
check "and a good one is taken then" run OPTIONS="queues 16" start many
refused "a bad one after that" "no bfc on many" run OPTIONS="queues 17" start many
is "leaves what there was" "$(qdiscs many)" "12 bfc below 1 mq root"
check "which stops" run stop many
refused "no interface" "there is no interface eth77" run start eth77

tc_in a qdisc add dev one root handle 1: prio
tc_in a qdisc replace dev many root handle 1: mq
tc_in a qdisc replace dev many parent 1:2 pfifo
for dev in one many; do
	before=$(tc_in a qdisc show dev $dev)
	refused "$dev: a qdisc that somebody has set is not replaced" "tc qdisc del dev $dev root" run start $dev
	check "$dev: nor removed" run stop $dev
	is "$dev: it is still there" "$(tc_in a qdisc show dev $dev)" "$before"
done
nothing_to_inspect "its qdiscs are gone, and carried nothing"
finish
