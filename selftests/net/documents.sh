#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What README.md and the manual page tell people to type works as it stands there: each of
# their commands to tc and ip, block by block, on devices of the names that they use.

. "$(dirname "$0")/lib.sh"
top=$(dirname "$0")/../..
readme=$top/README.md manual=$top/Documentation/man/tc-bfc.8
[ -f "$readme" ] && [ -f "$manual" ] || skip_all "the documents are not here"
need_tool jq
load_modules

ns box
for dev in eth1 eth2 eth7 v0; do
	ip_in box link add "$dev" type veth peer name "x$dev"
	ip_in box link set "$dev" up
done

# Commands of the blocks, an empty line behind each block
of_readme() { sed -nE 's/^    ((tc|ip) .*)/\1/p; t; /^    /!s/.*//p' "$readme"; }
of_manual() { sed -nE '/^\.EX/,/^\.EE/{ s/\\-/-/g; s/^# ((tc|ip) .*)/\1/p; t; s/^\.EE//p }' "$manual"; }

# try NAME: the commands on standard input
try()
{
	local line dev count=0
	while read -r line <&6; do
		if [ -n "$line" ]; then
			count=$((count + 1))
			check "$1: $line" in_ns box sh -c "$line"
			continue
		fi
		for dev in eth1 eth2 eth7 v0; do
			tc_in box qdisc del dev "$dev" root 2>/dev/null
		done
	done 6<&0
	between "$1 has commands" $count 5 1000
}

try "README" < <(of_readme)
try "manual" < <(of_manual)
finish
