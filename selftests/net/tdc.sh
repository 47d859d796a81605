#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel's own test driver for tc (tdc) on bfc, floodgate, flowsail, pfc and rocc: their options, the places where they can
# stand, and what is known to go wrong between a qdisc and its parents.
#
#	tdc.sh [FILE]... [ID]...	options; or options, shapes, parents, floodgate_options, floodgate_parents,
#					flowsail_options, flowsail_parents, pfc_options, pfc_parents, rocc_options, rocc_parents; or of a file the
#					cases with these digits
#
# SLUICE_TDC_EVERY=N: only each N-th case, where others run them all.
#
# tdc.py is that of the kernel's source, in $SLUICE_KSRC. The cases are made by ../tdc/generate,
# which says what they are; each becomes a test point. One that this kernel lacks a
# parent for is skipped by name, and one that tdc gave up on, or never came to, has failed.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

python=/usr/bin/python3
driver=${SLUICE_KSRC:-}/tools/testing/selftests/tc-testing/tdc.py
[ -x $python ] || skip_all "there is no $python"
[ -n "${SLUICE_KSRC:-}" ] || skip_all "needs a kernel source, SLUICE_KSRC=DIR"
[ -e "$driver" ] || skip_all "there is no $driver"
need_tool tc ip jq
for cases in "$here/../tdc" "$here/tdc"; do
	[ ! -e "$cases/generate" ] || break
done
cd "$cases" || skip_all "the cases are not there"
for tool in udpflow gsosend; do
	[ -x "$here/$tool" ] || skip_all "$tool is not built (make -C selftests)"
done
export TDC_TOOLS=$here PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1
load_modules hopctl sch_bfc sch_floodgate sch_flowsail sch_pfc sch_rocc

work=$(mktemp -d)
zcat /proc/config.gz >"$work/config" 2>/dev/null ||
	cat "/boot/config-$(uname -r)" >"$work/config" 2>/dev/null ||
	skip_all "the kernel does not say how it is configured"
./generate --config "$work/config" "$work" || die "no cases"

nothing_to_inspect "each case takes away the qdiscs that it adds"
files=() chosen=()
for word; do
	if [ -e "$work/$word.json" ]; then files+=("$word"); else chosen+=("$word"); fi
done
[ ${#files[@]} -gt 0 ] || files=(options)

# outcome KIND NAME REASON LINES: one case, as tdc says it
outcome()
{
	case $1 in
	ok) pass "$2" ;;
	skip) skip "$2" "needs $3" ;;
	*) fail "$2" "$3" "$4" ;;
	esac
}

# Reads tdc's TAP into the arrays kind, why and said, by the case's digits. A skip is one
# of ours only if the case is marked so. tdc ends at a case that cannot be set up.
read_tap()
{
	local line id=

	while IFS= read -r line; do
		if [[ $line =~ ^(not\ )?ok\ [0-9]+\ ([0-9a-f]{4})\ -\ (.*) ]]; then
			id=${BASH_REMATCH[2]}
			kind[$id]=${BASH_REMATCH[1]:+fail}
			kind[$id]=${kind[$id]:-ok}
			said[$id]=
			[[ $line != *" # skipped - "* ]] || {
				kind[$id]=skip
				why[$id]=${line##* # skipped - }
			}
		elif [ -n "$id" ] && [ -n "$line" ]; then
			said[$id]+=$line$'\n'
		fi
	done <"$1"
}

declare -A kind why said name needs
for file in "${files[@]}"; do
	left=() number=0
	while IFS=$'\t' read -r id title want; do
		number=$((number + 1))
		[ $((number % ${SLUICE_TDC_EVERY:-1})) = 0 ] || continue
		[ ${#chosen[@]} -eq 0 ] || [[ " ${chosen[*]} " = *" $id "* ]] || continue
		name[$id]=$title needs[$id]=$want
		left+=("$id")
	done < <(jq -r '.[] | [.id, .name,
			if .skip then (.needs | map("CONFIG_" + .) | join(", ")) else "" end]
			| @tsv' "$work/$file.json")
	while [ ${#left[@]} -gt 0 ]; do
		kind=() why=() said=()
		rm -f "$work/tap"
		$python "$driver" -f "$work/$file.json" -e "${left[@]}" --outfile "$work/tap" \
			>"$work/out" 2>&1
		[ -s "$work/tap" ] || die "tdc has no results for $file" "$(tail -n 20 "$work/out")"
		read_tap "$work/tap"
		for at in "${!left[@]}"; do
			id=${left[$at]} reason=
			case ${kind[$id]:-none}${needs[$id]} in
			skipCONFIG*) reason=${needs[$id]} ;;
			ok) ;;
			fail) ;;
			*) kind[$id]=fail reason="tdc: ${why[$id]:-has no result}"
			   said[$id]=$(grep -m 1 -A 12 'Could not execute' "$work/out") ;;
			esac
			outcome "${kind[$id]}" "$file $id: ${name[$id]}" "$reason" "${said[$id]:-}"
			[[ $reason != tdc:* ]] || break
		done
		left=("${left[@]:at + 1}")
	done
done
rm -rf "$work"
finish
