#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command sluice-trace as it is called: words, exit statuses, files, installation,
# the examples of its manual page. Needs neither a kernel module nor privileges.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
trace=${SLUICE_TRACE:-$root/build/trace/sluice-trace}
page=$root/Documentation/man/sluice-trace.8
export LC_ALL=C

if [ ! -x "$trace" ]; then
	echo "1..0 # SKIP no $trace: make tools"
	exit 4
fi
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# ends STATUS WORDS COMMAND...: sluice-trace ends so, and its output has these words
ends() {
	local want=$1 words=$2 status

	shift 2
	"$trace" "$@" >"$dir/seen" 2>&1 <"${input:-/dev/null}"
	status=$?
	echo "ends with $status" >>"$dir/seen"
	[ $status = "$want" ] && grep -qF -- "$words" "$dir/seen"
	report $? "sluice-trace $*: $want, ${words:-anything}"
}

# same NAME GOT WANT
same() {
	printf 'is %s\nshould be %s\n' "$2" "$3" >"$dir/seen"
	[ "$2" = "$3" ]
	report $? "$1"
}

echo "TAP version 13"

ends 2 "Usage: sluice-trace"
ends 0 "Usage: sluice-trace" help
ends 0 "Usage: sluice-trace" --help
ends 0 "sluice-trace " --version
ends 2 'no verb "mkae"; there are: make convert check stat laws help' mkae
for verb in make convert check stat laws; do
	ends 0 "Usage: sluice-trace $verb" help "$verb"
	ends 2 "unrecognized option" "$verb" --nonsense
done
for verb in convert check stat; do
	ends 2 "which file?" "$verb"
	ends 1 "$dir/none: No such file" "$verb" "$dir/none"
done
ends 2 '"x" is no option' make x
ends 2 "nothing to make: --load, --incast or --long" make --hosts 8
ends 2 'there is no law "no"; there are: alistorage2019' \
	make --hosts 8 --rate 1gbit --load 0.5 --law no --duration 1ms
ends 2 'there is no format "x"; there are: sluice hpcc floodgate bfc-log' convert --from x y
ends 2 "bfc-log can only be read" convert --to bfc-log y
ends 2 "--shift takes a time such as 2s or -2s" convert --shift 2 y
ends 2 "--group takes a number up to 7" convert --group 8 y
ends 2 "--port takes a number up to 65535" convert --port 65536 y
ends 2 "--hosts takes a number from 1" check --hosts 0 y
ends 2 "--degree takes a number from 2" stat --degree 1 y
ends 2 "--within takes a time such as 1us" stat --within 1 y
ends 2 '"x" is no value for --rate' stat --rate x y
ends 2 'one file, not also "z"' stat y z
ends 2 "--points takes one law" laws --points
ends 1 'there is no law "no"' laws no

# Traces: two hosts of two racks, an incast of five
{
	echo "# sluice-trace 1"
	printf '# %s\n' "per-rack 2" "rate 1000000000" "uplinks 2000000000" "duration-ns 1000000" \
		"payload 1000" "header 100" "min-frame 200"
	echo "0 0 1 2500"
	echo "10 1 2 50 0 short"
	for src in 0 1 3 4 5; do
		echo "1000 $src 2 1000 3 incast"
	done
} >"$dir/good"
ends 0 "$dir/good: 7 flows" check "$dir/good"
ends 0 "$dir/good: 7 flows" check --hosts 6 "$dir/good"
ends 1 "$dir/good: flow 6 is of host 5, and there are 5" check --hosts 5 "$dir/good"
input=$dir/good ends 0 "standard input: 7 flows" check -
same "check --quiet" "$("$trace" check -q "$dir/good")" ""
sed '10s/10 1/-10 1/' "$dir/good" >"$dir/bad"
ends 1 "$dir/bad:10: \"-10\" is no time in ns" check "$dir/bad"
ends 1 "$dir/good: 7 flows" check "$dir/bad" "$dir/good"
ends 1 "$dir/bad:10: " stat "$dir/bad"
ends 1 "$dir/bad:10: " convert "$dir/bad"
head -c -3 "$dir/good" >"$dir/bad"
ends 1 "$dir/bad:15: the last line has no end" check "$dir/bad"
ends 1 "Is a directory" check "$dir"

# 2500 bytes are 2 x 1100 + 600 on the line, 50 are 200, 1000 are 1100; 1 ms has 125000 bytes
same "stat: flows, bytes, sizes" "$("$trace" stat -j "$dir/good" | jq -c '[.flows, .bytes,
	.line_bytes, .hosts, .racks, .within_racks, .sizes.p50, .sizes.min, .sizes.max,
	.sizes.p99, .duration_ns, .last_ns]')" "[7,7550,8500,6,3,2,1000,50,2500,2500,1000000,1000]"
{ echo "# sluice-trace 1"; for size in 3 1 10 2 9 4 8 5 7 6; do echo "0 0 1 $size"; done; } >"$dir/ten"
same "stat: percentiles are nearest ranks" "$("$trace" stat -j "$dir/ten" |
	jq -c '.sizes | [.p10, .p50, .p90, .p99]')" "[1,5,9,10]"
same "stat: loads" "$("$trace" stat -j "$dir/good" | jq -c '.loads |
	[(.host_sent.each, .host_received.each, .rack_up.each, .rack_down.each) |
	map(. * 12500000 | round / 100)]')" \
	"[[3900,1300,0,1100,1100,1100],[0,2800,5700,0,0,0],[1200,0,1100],[0,2300,0]]"
same "stat: largest load" "$("$trace" stat -j "$dir/good" |
	jq -c '.loads.host_received | [.max, .mean | . * 12500000 | round / 100]')" "[5700,1416.67]"
same "stat: incasts" "$("$trace" stat -j "$dir/good" | jq -c .incasts)" \
	'{"count":1,"flows":5,"bytes":5000,"degree":5}'
same "stat: incasts within a time" "$("$trace" stat -j --within 990ns "$dir/good" |
	jq -c .incasts.flows)" 6
same "stat: incasts of a degree" "$("$trace" stat -j --degree 6 "$dir/good" | jq .incasts.count)" 0
same "stat: labels" "$("$trace" stat -j "$dir/good" | jq -c .labels.incast)" \
	'{"flows":5,"bytes":5000}'
same "stat: of one label" "$("$trace" stat -j --label short "$dir/good" | jq .bytes)" 50
same "stat: options before comments" "$("$trace" stat -j --rate 2gbit --per-rack 3 "$dir/good" |
	jq -c '[.racks, (.loads.host_sent.max * 25000000 | round / 100)]')" "[2,3900]"
ends 1 "host 5 is not below --hosts" stat --hosts 5 "$dir/good"
ends 0 "load          hosts, received mean   1.13 %, largest   4.56 %" stat "$dir/good"
same "stat: each host and rack" "$("$trace" stat --each "$dir/good" |
	sed -n '/^host 2/p; /^rack 0/p' | paste -sd,)" \
	"host 2        sent   0.00 %, received   4.56 %,rack 0        up   0.96 %, down   0.00 %"
sed 's/^# rate.*/# rate fast/' "$dir/good" >"$dir/bad"
ends 1 'its comment says "rate fast", which cannot be' stat "$dir/bad"
echo "# sluice-trace 1" >"$dir/empty"
ends 0 "flows         0" stat "$dir/empty"
ends 0 '"flows": 0' stat --json "$dir/empty"

# Made: what stat says of it is what was asked for
made=(--racks 4 --per-rack 8 --rate 10gbit --uplinks 4x10gbit --law fb_keyvalue --load 0.6
	--on core --duration 20ms --seed 3)
"$trace" make "${made[@]}" -o "$dir/made" >"$dir/seen" 2>&1
report $? "make -o"
same "make: to standard output, the same bytes" "$("$trace" make "${made[@]}" | cksum)" \
	"$(cksum <"$dir/made")"
same "make: the file says how it was made" \
	"$(sed -n 's/^# option //p' "$dir/made" | xargs)" "${made[*]}"
same "make: also what was not asked for" "$(grep -cxE '# (arrivals poisson|payload 1000|header 62)' \
	"$dir/made")" 3
same "make: checks" "$("$trace" check -q --hosts 32 "$dir/made")" ""
same "make: its load on the core" "$("$trace" stat -j "$dir/made" |
	jq '.loads.rack_up.mean | . > 0.59 and . < 0.61')" true
same "make: --hosts-per-rack" "$("$trace" make --racks 2 --hosts-per-rack 2 --incast 2:2:0 |
	grep -c incast$)" 2
ends 1 "$dir/no/such.new: No such file" make "${made[@]}" -o "$dir/no/such"
ends 1 "No space left on device" make "${made[@]}" -o /dev/full
"$trace" make "${made[@]}" >/dev/full 2>"$dir/seen"
same "make: a full disk is told" "$?" 1

# An output that fails half way leaves what was there
echo before >"$dir/kept"
(ulimit -f 16; trap '' XFSZ; "$trace" make "${made[@]}" -o "$dir/kept") >"$dir/seen" 2>&1
same "make: a file that does not fit" "$? $(cat "$dir/kept") $(find "$dir" -name '*.new')" \
	"1 before "

# Converted
"$trace" convert --to hpcc --group 2 "$dir/good" >"$dir/hpcc"
same "convert: to hpcc" "$(sed -n '1p;2p;8p' "$dir/hpcc" | paste -sd,)" \
	"7,0 1 2 100 2500 0.000000000,5 2 5 100 1000 0.000001000"
same "convert: and back" "$("$trace" convert --from hpcc --group 2 "$dir/hpcc" | tail -n 1)" \
	"1000 5 2 1000 3"
same "convert: shifted" "$("$trace" convert --to floodgate --shift 2s "$dir/good" | sed -n 1,3p |
	paste -sd,)" "7 0,0 1 2500 2.000000000,1 2 50 2.000000010"
"$trace" convert --to floodgate --shift 2s "$dir/good" >"$dir/floodgate"
same "convert: from zero" "$("$trace" convert --from floodgate --from-zero --shift 1us \
	"$dir/floodgate" | tail -n 1)" "2000 5 2 1000"
ends 1 "with --shift flow 0 begins before 0" convert --shift -1ns "$dir/good"
same "convert: files into one" "$("$trace" convert "$dir/good" "$dir/good" |
	grep -v '^#' | cut -d' ' -f 1 | paste -sd' ')" \
	"0 0 10 10 1000 1000 1000 1000 1000 1000 1000 1000 1000 1000"
same "convert: a trace is as it was" "$("$trace" convert "$dir/made" | cksum)" "$(cksum <"$dir/made")"
sed -i '3s/ 100 / many /' "$dir/hpcc"
ends 1 "$dir/hpcc:3: \"many\" is no port" convert --from hpcc "$dir/hpcc"

# Laws
same "laws: all that are shipped" "$("$trace" laws | sed '1d; s/ .*//' | paste -sd' ')" \
	"$(find "$root/userspace/lab/workloads" -name '*.txt' | sed 's,.*/,,; s/.txt$//' | sort | paste -sd' ')"
for law in "$root"/userspace/lab/workloads/*.txt; do
	name=$(basename "$law" .txt)
	"$trace" laws --points "$name" >"$dir/points"
	"$trace" laws --points "$law" | cmp -s - "$dir/points" && "$trace" laws -j "$dir/./points" |
		jq -e '.[0].mean > 1' >"$dir/seen"
	report $? "laws: $name by its name, by its file, by its points"
	grep -qF "| $name.txt |" "$root/userspace/lab/workloads/README.md"
	report $? "laws: $name is in the list"
done
same "laws: mean and percentiles" "$("$trace" laws -j fixed:77 uniform:10:20 |
	jq -c '[.[] | (.mean, .p50, .max) | round]')" "[77,77,77,15,15,20]"

# The examples of the manual page, and that it has each option
sed -n '/^\.SH EXAMPLES/,/^\.SH SEE/p' "$page" | sed -n '/^\.EX/,/^\.EE/{/^\./d;p}' |
	sed 's/\\e$/\\/; s/\\-/-/g' >"$dir/examples"
cp "$dir/hpcc" "$dir/flow.txt"
sed -i '3s/ many / 100 /' "$dir/flow.txt"
mkdir "$dir/bin" && ln -s "$trace" "$dir/bin/sluice-trace"
(cd "$dir" && PATH=$dir/bin:$PATH bash -e ./examples) >"$dir/seen" 2>&1
report $? "the manual page's examples"
same "the examples' files" "$("$trace" check "$dir"/{web.txt,mix.txt,flow.trace} | wc -l)" 3
for verb in make convert check stat laws; do
	for option in $("$trace" "$verb" --help | grep -oE -- '--[a-z-]+' |
			grep -vxE -- '--(help|usage|version|output)' | sort -u); do
		sed 's/\\//g' "$page" | grep -qE -- "$option([^a-z-]|$)" || echo "$verb: $option"
	done
done >"$dir/seen"
same "the manual page has each option" "$(cat "$dir/seen")" ""

# Installation, into a directory of our own
make -s -C "$root/userspace/trace" install DESTDIR="$dir/root" PREFIX=/usr >"$dir/seen" 2>&1
report $? "install"
same "what is installed" "$(cd "$dir/root" && find . -type f | sort | xargs)" \
	"./usr/sbin/sluice-trace ./usr/share/man/man8/sluice-trace.8"
make -s -C "$root/userspace/trace" uninstall DESTDIR="$dir/root" PREFIX=/usr >"$dir/seen" 2>&1
report $? "uninstall"
same "nothing is left" "$(find "$dir/root" -type f)" ""
PKG_CONFIG_LIBDIR=$dir make -s -C "$root/userspace/trace" MAYBE=1 OUT="$dir/out" >"$dir/seen" 2>&1
same "without its libraries" "$(tail -n 1 "$dir/seen")" \
	"sluice-trace is left out: it needs pkg-config, libgsl-dev and libjansson-dev"

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
