#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command sluice as it is called: words, exit statuses, files of fabrics, installation. Needs neither a kernel module nor privileges.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sluice=${SLUICE:-$root/build/sluice/sluice}
export LC_ALL=C

if [ ! -x "$sluice" ]; then
	echo "1..0 # SKIP no $sluice: make tools"
	exit 4
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# ends STATUS WORDS COMMAND...: sluice ends so, and its output has these words
ends() {
	local want=$1 words=$2 status

	shift 2
	"$sluice" "$@" >"$dir/seen" 2>&1 <"${input:-/dev/null}"
	status=$?
	echo "ends with $status" >>"$dir/seen"
	[ $status = "$want" ] && grep -qF -- "$words" "$dir/seen"
	report $? "sluice $*: $want, ${words:-anything}"
}

# same NAME GOT WANT
same() {
	printf 'is %s\nshould be %s\n' "$2" "$3" >"$dir/seen"
	[ "$2" = "$3" ]
	report $? "$1"
}

echo "TAP version 13"

ends 2 "Usage: sluice"
ends 0 "Usage: sluice" help
ends 0 "Usage: sluice" --help
ends 0 "sluice " --version
ends 0 "sluice " show --version
ends 2 'no verb "shwo"; there are: show monitor set graph pair doctor help' shwo
for verb in show monitor set graph pair doctor; do
	ends 0 "Usage: sluice $verb" help "$verb"
	ends 2 "unrecognized option" "$verb" --nonsense
done
ends 2 "option requires an argument" -n
ends 2 'one device, not also "b"' show a b
ends 2 "--count takes a number from 1" monitor --count 0
ends 2 "--count takes a number from 1" monitor --count -1
ends 2 "--count takes a number from 1" monitor --count 1x
ends 2 "a device, then options" set
ends 2 "options for lo" set lo
ends 2 "options for lo" set lo rocc
ends 2 'bfc: there is no option "speed"; there are: queues' set lo bfc speed 1
ends 2 'bfc: "peer" is given twice' set lo bfc peer host peer host
ends 2 'rocc: "hold" takes a time from 1ns to 4.294967295s, with its unit (ns, us, ms, s), not "5"' set lo rocc hold 5
ends 2 'ideal: "control-dscp" takes a number from 1 to 63 or "none", not "64"' set lo ideal control-dscp 64
ends 2 "Usage: ... rocc [OPTION [VALUE]] ..." set lo rocc help
ends 2 "add, del or list?" pair
ends 2 'add, del or list, not "drop"' pair drop a b
ends 2 "add takes two devices" pair add a
ends 2 "list takes no devices" pair list a
ends 2 "a file that describes the fabric" graph
ends 2 "--apply needs --switch NAME" graph --apply x
ends 1 'no network namespace "no-such-one"' -n no-such-one show
ends 1 'no network namespace "no-such-one"' show -n no-such-one
ends 1 'there is no device "no-such-one"' show no-such-one
ends 1 'there is no device "no-such-one"' set no-such-one peer host
ends 1 "lo has no qdisc of bfc, floodgate, flowsail, rocc, ideal or pfc: tc qdisc replace dev lo root bfc" set lo peer host
ends 1 "lo has no rocc qdisc: tc qdisc replace dev lo root rocc" set lo rocc hold 5ms
if [ ! -d /sys/module/hopctl ]; then
	for verb in show monitor "pair list"; do
		# shellcheck disable=SC2086
		ends 1 "modprobe sch_bfc; the first bfc qdisc of a device then makes it a port" $verb
	done
	ends 3 "[module_hopctl]" doctor
	ends 3 '"id": "module_bfc"' -j doctor
fi
same "findings have ids of their own" "$("$sluice" doctor --list | cut -f1 | sort | uniq -d)" ""

# Fabrics: the example of the manual page, which has circles
sed -n '/^A ring of four/,/^.EE/{/^\./d;/^A ring/d;p}' "$root/Documentation/man/sluice.8" >"$dir/ring"
ends 3 "cyclic: backpressure can lock up" graph "$dir/ring"
ends 3 "acyclic without 2 pairs, and with no fewer:" graph "$dir/ring"
"$sluice" graph "$dir/ring" | grep '^elide' >"$dir/remedy"
same "a line for each pair" "$(wc -l <"$dir/remedy")" 2
cat "$dir/ring" "$dir/remedy" >"$dir/mended"
ends 0 "acyclic: backpressure cannot lock up" graph "$dir/mended"
head -n 1 "$dir/remedy" | cat "$dir/ring" - >"$dir/half"
ends 3 "acyclic without 1 pairs, and with no fewer:" graph "$dir/half"
input=$dir/ring ends 3 "cyclic" graph -
ends 3 "digraph backpressure {" graph --dot "$dir/ring"
same "dot: an edge for each" "$("$sluice" graph --dot "$dir/ring" | grep -c -- '->')" \
	"$("$sluice" -j graph "$dir/ring" | jq .edges)"
same "JSON" "$("$sluice" graph -j "$dir/ring" | jq -c '[.cyclic, (.parts | length),
	.parts[0].cycle, (.elide.pairs | length), .elide.proven, .tier_rule.pairs]')" \
	'[true,2,["a.right","d.right","c.right","b.right"],2,true,[]]'
ends 1 "$dir/none: No such file" graph "$dir/none"
ends 1 "Is a directory" graph "$dir"
printf 'switch a\nhost h\nlink a.1 x.1\n' >"$dir/bad"
ends 1 "$dir/bad:3: there is no switch or host \"x\"" graph "$dir/bad"
printf 'switch a\nswitch b\0c\n' >"$dir/bad"
ends 1 "$dir/bad:2: this is no text" graph "$dir/bad"
ends 1 'there is no switch "ha"' graph --switch ha "$dir/ring"
ends 1 'there is no switch "z"' graph --switch z --apply "$dir/ring"

# The unit test, made again for each of its sources: some are included, some linked
unit() { make -s -C "$here" "$@" OUT="$dir/unit" "$dir/unit/test_sluice"; }
unit >"$dir/seen" 2>&1
report $? "the unit test is built"
cd "$here" || exit 1
for file in ../../userspace/sluice/{attr,doctor_judge,doctor_rocc,doctor_rules,kind,nl,port,qdisc,show,tc}.c ../../userspace/sluice/doctor.h \
	    ../../tc-plugin/{options.c,options.h,port.h,q_bfc.c,q_floodgate.c,q_flowsail.c,q_pfc.c,q_rocc.c,q_ideal.c} ../../kernel/uapi/rocc.h unit.h; do
	same "$file: made again" "$(unit -n -W "$file" | grep -c 'test_sluice\.c')" 1
done

# Installation, into a directory of our own
make -s -C "$root/userspace/sluice" install DESTDIR="$dir/root" PREFIX=/usr >"$dir/seen" 2>&1
report $? "install"
same "what is installed" "$(cd "$dir/root" && find . -type f | sort | xargs)" \
	"./usr/sbin/sluice ./usr/share/man/man8/sluice.8"
make -s -C "$root/userspace/sluice" uninstall DESTDIR="$dir/root" PREFIX=/usr >"$dir/seen" 2>&1
report $? "uninstall"
same "nothing is left" "$(find "$dir/root" -type f)" ""

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
