#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the manual pages tell people to type works as it stands there: each of their commands to tc and ip, block by
# block, on devices of the names that they use. Of README.md and Documentation/*.md see samples.sh.

. "$(dirname "$0")/lib.sh"
top=$(dirname "$0")/../..
manuals=$top/Documentation/man
[ -d "$manuals" ] || skip_all "the documents are not here"
need_tool jq
load_modules hopctl sch_bfc sch_rocc wire
devices="eth0 eth1 eth2 eth7 v0"

ns box
for dev in $devices; do
	ip_in box link add "$dev" type veth peer name "x$dev"
	ip_in box link set "$dev" up
done

# Commands of the blocks, an empty line behind each block
of_manual()	# without those of keys, which follow others
{
	sed -nE '/^\.EX/,/^\.EE/{ s/\\-/-/g; s/^# ((tc|ip) .*)/\1/p; t; s/^\.EE//p }' "$manuals/$1.8" |
		grep -v -e ' key[12] ' -e /etc/
}

# try NAME: the commands on standard input
try()
{
	local line dev count=0 used=
	while read -r line <&6; do
		if [ -n "$line" ]; then
			count=$((count + 1)) used=1
			check "$1: $line" in_ns box sh -c "$line"
			continue
		fi
		[ -n "$used" ] || continue
		used=
		leave_ports
		for dev in $devices; do
			tc_in box qdisc del dev "$dev" root 2>/dev/null
		done
	done 6<&0
	between "$1 has commands" $count 4 1000
}

try "tc-bfc(8)" < <(of_manual tc-bfc)
try "tc-rocc(8)" < <(of_manual tc-rocc)
finish
