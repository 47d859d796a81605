#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the tests of a kind's options share: a device v0, ways to give options to its root qdisc, by tc
# or by tcmsg, and to hold what is shown against what was expected. They say kind=KIND and source this
# behind lib.sh.

: "${kind:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ns a
ip_in a link add v0 type veth peer name v1 || skip_all "no veth devices"
ip_in a link set v0 up
ip_in a link set v1 up

# A program built beforehand, or built here.
tcmsg=
for place in "$here" "$here/../../build/selftests" "$here/../../build/net" /tmp; do
	[ ! -x "$place/tcmsg" ] || { tcmsg=$place/tcmsg; break; }
done
if [ -z "$tcmsg" ]; then
	need_tool cc
	tcmsg=$(mktemp -d)/tcmsg
	cc -O1 -o "$tcmsg" "$here/tcmsg.c" || die "tcmsg.c does not compile"
fi

# send OPERATION [TOKEN]...: a message about v0; says nothing if it is taken
ns=$NS-a
send() { "$tcmsg" -n "$ns" send "$1" v0 "TCA_KIND=str:$kind" "${@:2}"; }

# The options as tc's JSON has them, in $got; nothing if v0 has no $kind. There are hundreds of
# comparisons here, so what the shell can do is not left to jq.
options() {
	got=$(tc -n "$ns" -j qdisc show dev v0 root)
	case $got in
	*'"kind":"'$kind'"'*) got=${got#*'"options":'} got=${got%'}]'*} ;;
	*) got= ;;
	esac
}

shown() {	# shown NAME WANTED
	options
	is "$1" "$got" "$2"
}

# A new qdisc in place of what there was
fresh() {
	tc -n "$ns" qdisc del dev v0 root 2>/dev/null
	# shellcheck disable=SC2086
	tc -n "$ns" qdisc add dev v0 root handle 1: $kind $1 || die "cannot add $kind $1"
	options
}

# taken NAME EXPECTED-CHANGE OPERATION [TOKEN]...: taken, and shown; the rest is as it was when
# $got was read
taken() {
	local name=$1 want=$got said

	[ "$2" = . ] || want=$(jq -c "$2" <<<"$got")
	shift 2
	if said=$(send "$@" 2>&1); then
		shown "$name" "$want"
	else
		fail "$name" "$*" "$said"
	fi
}

# kept NAME ATTRIBUTE WORDS OPERATION [TOKEN]...: refused with these words, pointing at this
# attribute, and the configuration as it was when $got was read
kept() {
	local name=$1 attribute=$2 words=$3 before=$got said

	shift 3
	if said=$(send "$@" 2>&1); then
		fail "$name" "$*" "should be refused"
	elif [[ $said != E*": "*"$words"*"[$attribute]" ]]; then
		fail "$name" "$*" "says: $said" "should say: $words [$attribute]"
	else
		shown "$name" "$before"
	fi
}
