#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What all programs have in common: who uses one wrongly, or one of its verbs, gets status 2 and a line that says how to
# go on, and nothing on standard output; each says its version, and its manual page has both. Needs neither a module nor
# privileges.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export LC_ALL=C
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# wrong PROGRAM NAME WORD...
wrong() {
	local program=$1 name=$2 status

	shift 2
	"$program" "$@" >"$dir/out" 2>"$dir/seen" </dev/null
	status=$?
	echo "ends with $status" >>"$dir/seen"
	[ $status = 2 ] && [ ! -s "$dir/out" ] &&
		grep -q "^\([^ ]*/\)\?$name\( ${1:-}\)\?: \|^[Uu]sage: $name " "$dir/seen"
	report $? "$name $*: 2, and its name on standard error"
}

version=$(cat "$root/VERSION")
programs="build/sluice/sluice build/hopmon/hopmon build/flowgen/flowgen build/trace/sluice-trace userspace/lab/sluice-lab"
declare -A verbs=(
	[sluice]="show monitor set graph pair doctor" [flowgen]=run [sluice-trace]="make convert check stat laws"
	[sluice-lab]="run report plan topo schemes up down"
)

# Pages of plugins have no status of their own
(cd "$root/Documentation/man" && printf '%s\n' *.8) | grep -vE '^(tc|ip-link)-' |
	diff - <(printf '%s.8\n' $programs | sed 's,.*/,,' | sort) >"$dir/seen"
report $? "each program that has a manual page is here"
for program in $programs; do
	name=${program##*/} page=$root/Documentation/man/${program##*/}.8
	wrong "$root/$program" "$name" --nonsense
	wrong "$root/$program" "$name" nonsense
	# hopmon has something to do without a word
	[ "$name" = hopmon ] || wrong "$root/$program" "$name"
	for verb in ${verbs[$name]:-}; do
		wrong "$root/$program" "$name" "$verb" --nonsense
		sed 's/\\-/-/g; /^\.SH DESC/,$d' "$page" | grep -qw "$verb" >"$dir/seen"
		report $? "$name.8: its synopsis has $verb"
	done
	"$root/$program" --version >"$dir/seen" 2>&1
	[ "$(cat "$dir/seen")" = "$name $version" ]
	report $? "$name --version: its name and the version"
	sed -n '/^\.SH EXIT STATUS/,/^\.SH [^E]/p' "$page" >"$dir/seen"
	grep -qE '^\.B 2$|2: ' "$dir/seen"
	report $? "$name.8: status 2"
	echo "${page##*/} does not have it" >"$dir/seen"
	sed 's/\\-/-/g' "$page" | grep -q -e '--version'
	report $? "$name.8: --version"
done

# Those without a page: how each is used wrongly, the name it calls itself and the words
while read -r program name words; do
	# shellcheck disable=SC2086
	wrong "$root/$program" "$name" $words
done <<'END'
build/lab/loadgen loadgen --nonsense
build/lab/portwatch portwatch --nonsense
debian/reportable reportable
scripts/generate generate --nonsense
selftests/bench/bench bench --nonsense
selftests/bench/bench bench --only
selftests/bench/cores cores --nonsense
selftests/bench/guest guest nonsense
selftests/bench/guest-cores guest-cores
selftests/bench/guest-lines guest-lines
selftests/bench/lines lines --nonsense
selftests/bench/profile profile --nonsense
selftests/bench/report report --nonsense
selftests/check selftests/check --nonsense
selftests/coverage/check check --nonsense
selftests/kunit/build build --nonsense
selftests/kunit/build build --config
selftests/lab/check-claims check-claims --nonsense
selftests/lab/soak soak --nonsense
selftests/model/check check --nonsense
selftests/mutations/check check --nonsense
selftests/mutations/operators operators --nonsense
selftests/packaging/check check --nonsense
selftests/packaging/check check --version
selftests/samples samples --nonsense
selftests/skips/judge judge
selftests/tdc/generate generate
selftests/uml/build build --nonsense
selftests/uml/build uml-build --arch nonsense
selftests/uml/check check --nonsense
selftests/uml/run run --nonsense
selftests/uml/selftest selftest --nonsense
selftests/vm/accel accel
selftests/vm/check check --version
selftests/vm/check run --version 6.1 --nonsense -- net/smoke.sh
selftests/vm/fetch fetch --nonsense
selftests/vm/mkroot mkroot
selftests/vm/planted planted
selftests/vm/run run
selftests/vm/run run --nonsense
selftests/vm/run run --version
selftests/vm/run run --seed nonsense net/smoke.sh
selftests/vm/selftest selftest --nonsense
userspace/lab/demo demo --nonsense
userspace/lab/demo demo --set nonsense
userspace/lab/demo demo --out
userspace/lab/lab-build lab-build
userspace/lab/lab-build lab-build nonsense
userspace/lab/lab-rack lab-rack
userspace/lab/lab-rack lab-rack nonsense /
userspace/lab/report report
userspace/lab/report report --nonsense
userspace/lab/rack.sh rack.sh
userspace/lab/rack.sh rack.sh nonsense
userspace/lab/rack.sh rack.sh scheme
userspace/system/port sluice
userspace/system/port sluice nonsense lo
END
# A setting that is wrong is no better than a word
KIND=fq wrong "$root/userspace/system/port" sluice start lo
SLUICE_ACCEL=maybe wrong "$root/selftests/vm/accel" accel /nonsense

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
