#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the programs given as arguments as the cases of one KTAP report: their own reports are
# shown indented. Exits 1 if one failed, or if there was none. A program that ends with status 4
# was skipped.

passed=0 failed=0 skipped=0 number=0

echo "KTAP version 1"
echo "1..$#"
for program; do
	number=$((number + 1))
	name=${program##*/}
	echo "    # Subtest: $name"
	{ "$program" 2>&1; echo "status $?"; } | sed 's/^/    /' > "$program.log"
	sed '$d' "$program.log"
	case $(sed -n '$s/^ *status //p' "$program.log") in
	0)	passed=$((passed + 1)); echo "ok $number $name" ;;
	4)	skipped=$((skipped + 1)); echo "ok $number $name # SKIP" ;;
	*)	failed=$((failed + 1)); echo "not ok $number $name" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
