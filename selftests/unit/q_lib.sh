# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests of a tc plugin inside stock tc, without a kernel module and without privileges. Sourced
# with the kind's name in $kind; `finish` ends the test.
#
#   tc + q_KIND.so --request--> tcspy (preloaded): prints the attributes, sends nothing
#   tc + q_KIND.so <--answer--- tcspy: messages made by tcmsg
#
# What is typed to tc is typed to sluice, too, which has to take it, or refuse it, in the same way.

set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export TC_LIB_DIR=${TC_LIB_DIR:-$root/build/tc}
TC=${TC:-$(command -v tc || echo /usr/sbin/tc)}
sluice=${SLUICE:-$root/build/sluice/sluice}
export LC_ALL=C

skip() {
	echo "1..0 # SKIP $*"
	exit 4
}

[ -x "$TC" ] || skip "no tc here"
[ -e "$TC_LIB_DIR/q_$kind.so" ] || skip "no $TC_LIB_DIR/q_$kind.so: make plugins"
[ -x "$sluice" ] || skip "no $sluice: make tools"
command -v "${CC:=cc}" >/dev/null || skip "no compiler here"
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$CC" -O1 -Wall -Wextra -Werror -o "$dir/tcmsg" "$root/selftests/net/tcmsg.c" &&
"$CC" -O1 -Wall -Wextra -Werror -shared -fPIC -o "$dir/tcspy.so" "$here/tcspy.c" -ldl || exit 1

skipped=0
# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

spied() {
	LD_PRELOAD="$dir/tcspy.so" TCSPY_DUMP="$dir/dump" "$TC" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	cat "$dir/out" "$dir/err" >"$dir/seen"
	return $status
}

# The same words to sluice: the same attributes, or the same refusal.
by_sluice() {	# by_sluice WORDS
	cat "$dir/out" "$dir/err" >"$dir/by_tc"
	# shellcheck disable=SC2086 # words
	LD_PRELOAD="$dir/tcspy.so" TCSPY_DUMP="$dir/one" "$sluice" set -- lo $1 >"$dir/seen" 2>&1
	cmp -s "$dir/seen" "$dir/by_tc"
	report $? "sluice: '$1'"
}

# The given words become exactly these attributes, separated by "; ".
takes() {	# takes WORDS ATTRIBUTES
	# shellcheck disable=SC2086 # words
	spied qdisc add dev lo root "$kind" $1 && [ ! -s "$dir/err" ] &&
	[ "$(sed 1d "$dir/out" | paste -sd';' | sed 's/;/; /g')" = "$2" ] &&
	[ "$(sed -n 1p "$dir/out")" = options ]
	report $? "takes '$1'"
	[ -z "$1" ] || by_sluice "$1"
}

# Refused by the plugin, in one line on stderr that starts like this, and nothing sent.
refuses() {	# refuses WORDS MESSAGE
	# shellcheck disable=SC2086
	! spied qdisc add dev lo root "$kind" $1 && [ ! -s "$dir/out" ] &&
	[ "$(wc -l <"$dir/err")" = 1 ] &&
	case $(cat "$dir/err") in "$kind: $2"*) ;; *) false ;; esac
	report $? "refuses '$1'"
	by_sluice "$1"
}

written() {	# written TOKENS: what tc will be told
	# shellcheck disable=SC2086
	"$dir/tcmsg" write "$operation" lo TCA_KIND=str:"$kind" $1 >"$dir/dump"
}

shows() {	# shows NAME EXPECTED TC-WORDS
	# shellcheck disable=SC2086
	spied $3 && [ "$(cat "$dir/out")" = "$2" ]
	report $? "$1"
	[ "$(cat "$dir/out")" = "$2" ] || printf '%s\n' "$2" | sed 's/^/# wanted: /'
}

# NAME TYPE of each attribute with this prefix, from a header's comments: "@NAME: TYPE, ...", perhaps
# with a role and a semicolon in front of the type. Enumerators that no comment types come out with
# type "none", which no table below knows.
attributes() {	# attributes HEADER PREFIX NOT-PREFIX
	local name type='' last types

	types='(16 x )?u8|u16|u32|u64|s32|6 bytes|nest|ROCC_KEY_BYTES|IPv4 or IPv6 address|IPv6 address|the same'
	grep -oE "^	$2[A-Z0-9_]+" "$root/kernel/uapi/$1" | tr -d '	' |
	grep -vE "^($3)|_(UNSPEC|PAD)$" | while read -r name; do
		last=$type
		type=$(sed -nE "s/^ \* @$name: ((switch|host)[^;]*; )?($types).*/\3/p" "$root/kernel/uapi/$1")
		[ "$type" != "the same" ] || type=$last
		echo "$name ${type:-none}"
	done
}

# Help is no request, and names each option of the header.
helps() {	# helps HEADER PREFIX NOT-PREFIX
	local missing='' name type

	! spied qdisc add dev lo root "$kind" help && [ ! -s "$dir/out" ]
	report $? "help is no request"
	while read -r name type; do
		name=${name#"$2"} name=${name,,} name=${name//_/-}
		[ "$name" = version ] || grep -q "^  ${name}[ |]" "$dir/err" || missing="$missing $name"
	done < <(attributes "$@")
	[ -z "$missing" ]
	report $? "help names every option$missing"
}

tokens() {	# tokens HEADER PREFIX NOT-PREFIX: one token for each, values 1, 2, 3 ...
	local value=0 name type

	attributes "$@" | while read -r name type; do
		value=$((value + 1))
		case $type in
		"16 x u8")	echo "$name=hex:00010203040506070706050403020100" ;;
		"6 bytes")	echo "$name=hex:02000000abcd" ;;
		ROCC_KEY_BYTES)	echo "$name=hex:5ec5ec5ec5ec5ec5ec5ec5ec5ec5ec5e" ;;
		"IPv4 or"*)	printf '%s=hex:0a0000%02x\n' "$name" $value ;;
		"IPv6 "*)	printf '%s=hex:fe8000000000000000000000000000%02x\n' "$name" $value ;;
		nest)		;;
		*)		echo "$name=$type:$value" ;;
		esac
	done | paste -sd' '
}

# What was written, by sluice: options and figures as tc has them.
sluice_shows() {	# sluice_shows NAME EXPECTED WORDS
	# shellcheck disable=SC2086
	LD_PRELOAD="$dir/tcspy.so" TCSPY_DUMP="$dir/dump" "$sluice" $3 2>"$dir/err" | sed 's/ *$//' >"$dir/seen"
	[ "$(cat "$dir/seen")" = "$2" ]
	report $? "$1"
}
sluice_agrees() {
	spied -s -j qdisc show dev lo
	jq -S '.[0] | del(.root, .refcnt)' "$dir/out" >"$dir/by_tc"
	LD_PRELOAD="$dir/tcspy.so" TCSPY_DUMP="$dir/dump" "$sluice" -j show -s lo >"$dir/by_sluice" 2>/dev/null
	jq -S '.[0] | del(.dev, .ifindex, .backlog, .qlen, .limited) | del(.held | arrays)' "$dir/by_sluice" >"$dir/seen"
	cmp -s "$dir/by_tc" "$dir/seen" && [ -s "$dir/seen" ]
	report $? "sluice shows what tc shows"
}

# Every attribute is a key of this JSON, named as the attribute.
named() {	# named TITLE HEADER PREFIX NOT-PREFIX
	local missing='' name type count=0

	while read -r name type; do
		count=$((count + 1))
		name=${name#"$3"}
		grep -qF "\"${name,,}\":" "$dir/out" || missing="$missing ${name,,}"
	done < <(attributes "$2" "$3" "$4")
	echo "missing:$missing of $count" >>"$dir/seen"
	[ -z "$missing" ] && [ "$count" -gt 6 ]
	report $? "$1: every attribute is printed under its own name"
}

# Text of options, and back: what was printed is typed in and gives the same attributes.
again() {	# again TOKENS: values of all options
	local want

	written "TCA_OPTIONS{ $1 }"
	want=$(for token in $1; do echo "${token%%=*} ${token##*:}"; done | sort)
	spied qdisc show dev lo || return 1
	# shellcheck disable=SC2046
	spied qdisc add dev lo root "$kind" $(sed 's/.* refcnt 0 //' "$dir/out") || return 1
	[ "$(sed 1d "$dir/out" | awk '{print $1, $3}' | sort)" = "$want" ]
}

# The report, behind its plan
finish() {
	exec >&3
	echo "KTAP version 1"
	echo "1..$number"
	cat "$dir/report"
	echo "# Totals: pass:$((number - failed - skipped)) fail:$failed xfail:0 xpass:0 skip:$skipped error:0"
	[ "$failed" = 0 ]
}

"$dir/tcmsg" write add lo TCA_KIND=str:"$kind" >"$dir/one" || exit 1

# KTAP wants the plan first, and the number is known last.
exec 3>&1 >"$dir/report"
