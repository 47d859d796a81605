#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What README.md and Documentation show of a terminal is what one sees: their blocks of the console, in order.

. "$(dirname "$0")/lib.sh"
need_virtual_time
top=$(dirname "$0")/../..
[ -f "$top/README.md" ] || skip_all "the documents are not here"
need_tool python3 iperf
load_modules hopctl sch_bfc sch_rocc wire
PATH=$PATH:$top/build/sluice

cd "$top" || exit
count=0
for file in README.md Documentation/*.md; do
	grep -q '^```console' "$file" || continue
	while read -r word rest; do
		case $word in
		ok) count=$((count + 1)); pass "$rest" ;;
		not) count=$((count + 1)); fail "${rest#ok }" ;;
		*) diag "$rest" ;;
		esac
	done < <(python3 "$_here/samples.py" "$file" 2>&1)
done
between "there are some" "$count" 20 1000
nothing_to_inspect "they take away what they make"
finish
