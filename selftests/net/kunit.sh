#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suites (selftests/kunit): loads their module, which runs them, and reads the results
# from where the kernel keeps them. Each of their cases is a test point here.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"

SUITES="sluice_flow sluice_options sluice_tag sluice_frame sluice_pause sluice_peer sluice_replay sluice_telemetry sluice_watch sluice_wire"
RESULTS=/sys/kernel/debug/kunit

need_root
[ -d $RESULTS ] || skip_all "the kernel has no KUnit"
if [ -n "${SLUICE_MODDIR:-}" ] && module_file sluice_kunit && [ -z "$REPLY" ]; then
	die "there is no sluice_kunit.ko in $SLUICE_MODDIR: selftests/kunit/build makes it"
fi
need_module sluice_kunit

# suite NAME: its cases are indented by four blanks, parameters of a case by eight; what a case has
# to say comes before its result. Of too much of that the kernel keeps the beginning: then cases
# are missing here, which is a failure, too, and the rest is in the kernel's log.
suite()
{
	local line said=() cases=0 planned=

	while IFS= read -r line; do
		if [[ $line =~ ^\ {4}1\.\.([0-9]+)$ ]]; then
			planned=${BASH_REMATCH[1]}
		elif [[ $line =~ ^\ {4}(not\ )?ok\ [0-9]+\ (-\ )?([a-z_0-9]+)(.*)$ ]]; then
			cases=$((cases + 1))
			if [ -n "${BASH_REMATCH[1]}" ]; then
				fail "$1: ${BASH_REMATCH[3]}" "${said[@]}"
			elif [[ ${BASH_REMATCH[4]} == *SKIP* ]]; then
				skip "$1: ${BASH_REMATCH[3]}" "${BASH_REMATCH[4]##*SKIP }"
			else
				pass "$1: ${BASH_REMATCH[3]}"
			fi
			said=()
		else
			said+=("$line")
		fi
	done < <(cat "$RESULTS/$1/results" 2>&1)
	if [ "$cases" = 0 ] || [ "$cases" != "$planned" ]; then
		fail "$1: runs" "cases: $cases, planned: ${planned:-none}" "${said[@]}"
	fi
}

nothing_to_inspect "the suites run inside the kernel"
for name in $SUITES; do
	suite "$name"
done
is "no other suite" "$(cd $RESULTS && echo sluice_*)" \
	"$(tr ' ' '\n' <<<"$SUITES" | sort | paste -sd ' ')"

finish
