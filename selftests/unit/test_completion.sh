#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion in bash, zsh and fish: each knows the verbs and options that the programs say they have, the options that
# tc's plugins do, and what may follow them; and where it is installed. Needs neither a module nor privileges.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
made=$root/userspace/completion
export LC_ALL=C TC_LIB_DIR=$root/build/tc
export PATH=$root/build/sluice:$root/build/trace:$root/build/flowgen:$root/build/hopmon:$root/userspace/lab:$PATH:/usr/sbin
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# same NAME GOT WANT
same() {
	printf 'is %s\nshould be %s\n' "$2" "$3" >"$dir/seen"
	[ "$2" = "$3" ]
	report $? "$1"
}

# by_SHELL PROGRAM WORD...: what the last word can become
by_bash() {
	bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); "$(complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/")"
		printf "%s\n" "${COMPREPLY[@]}"' - "$made/bash/$1" "$@" | sort -u
}
by_zsh() { "$here/complete.zsh" "$made/zsh" "$dir/functions" "$*"; }
by_fish() {
	fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$made/fish/$1.fish" "$*" | cut -f1 | sed 's/=$//' | sort -u
}

# options_of PROGRAM [VERB]: long ones, as it says
line() { paste -sd' '; }
options_of() { "$@" --help 2>&1 | grep -oE '^ *(-[^ ]+, )?--[a-z-]+|, --[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
verbs_of() { "$1" --help 2>&1 | sed -nE 's/^ {2,4}([a-z]+) {2,}.*/\1/p' | sort -u; }

shells=
for shell in bash zsh fish; do
	if command -v $shell >/dev/null; then
		shells+=" $shell"
	else
		echo "# there is no $shell"
	fi
done

for shell in $shells; do
	for program in sluice sluice-trace sluice-lab; do
		same "$shell: verbs of $program" "$(by_$shell $program "" | grep -v '^-' | grep -vx help | line)" \
			"$(verbs_of $program | grep -vx help | line)"
		for verb in $(verbs_of $program | grep -vx help); do
			same "$shell: options of $program $verb" "$(by_$shell $program $verb -- | grep '^--' | line)" \
				"$(options_of $program $verb | line)"
		done
	done
	for program in hopmon flowgen; do
		same "$shell: options of $program" "$(by_$shell $program -- | grep '^--' | line)" "$(options_of $program | line)"
	done
	same "$shell: the verb of flowgen" "$(by_$shell flowgen "" | grep -v '^-' | line)" run

	for kind in bfc floodgate flowsail rocc ideal pfc; do
		options=$(tc qdisc add dev lo root $kind help 2>&1 | sed -nE 's/^  ([a-z][a-z0-9-]*)[ |].*/\1/p' | sort -u | line)
		same "$shell: tc: options of $kind" "$(by_$shell tc qdisc add dev lo root handle 1: $kind "" | grep -vx help | line)" "$options"
		same "$shell: sluice: options of $kind" "$(by_$shell sluice set lo $kind "" | line)" "$options"
		same "$shell: tc: options of $kind again" "$(by_$shell tc qdisc change dev lo root $kind control-dscp 7 con | line)" \
			"$(tr ' ' '\n' <<<"$options" | grep '^con' | line)"
	done
	while IFS='|' read -r words want; do
		# shellcheck disable=SC2086
		same "$shell: $words" "$(by_$shell $words "" | line)" "$want"
	done <<-'END'
		sluice set lo bfc peer|auto host switch
		sluice set lo rocc table|afd age elephants queue
		sluice set lo bfc tag|off on
		sluice set lo bfc pause|queue
		sluice set lo bfc ways|1 4
		sluice set lo rocc from|any
		sluice set lo bfc queues|
		sluice pair|add del list
		tc qdisc replace dev lo root bfc assign|dynamic single stochastic
		tc qdisc replace dev lo root bfc hrtt 5us role|auto host switch
		tc qdisc replace dev lo root rocc sign|1 2 none
		tc qdisc add dev lo parent 1: ideal order|fq srf
		tc qdisc add dev lo root ideal limit|none
		tc qdisc add dev lo root bfc limit|
		sluice-trace convert --to|floodgate hpcc sluice
		sluice-trace make --law x --arrivals|even lognormal poisson
		sluice-lab run --mode|virtual vm
		flowgen --transport|gbn tcp
	END
	same "$shell: a verb behind options" "$(by_$shell sluice -j -n x mo)" monitor
	same "$shell: kinds, for sluice" "$(by_$shell sluice set lo ro | line)" "rocc role root-id roots"
	same "$shell: options without a kind" "$(by_$shell sluice set lo watch | line)" "watch watchdog"
	same "$shell: values without a kind" "$(by_$shell sluice set lo peer sw)" switch
	same "$shell: an option behind a value" "$(by_$shell sluice set lo peer switch tier u)" up
	same "$shell: devices" "$(by_$shell sluice show l | grep -x lo)" lo
	same "$shell: a device behind a verb of pairs" "$(by_$shell sluice pair add lo l | grep -x lo)" lo
	same "$shell: hopmon's device" "$(by_$shell hopmon -i l | grep -x lo)" lo
	same "$shell: kinds, for tc" "$(by_$shell tc qdisc add dev lo root "" | grep -xE 'bfc|floodgate|flowsail|rocc|ideal|pfc' | line)" "bfc floodgate flowsail ideal pfc rocc"
	same "$shell: laws" "$(by_$shell sluice-trace make --law fb_h)" fb_hadoop
	touch "$dir/a.trace"
	same "$shell: files" "$(by_$shell sluice-trace check "$dir/a.t" | grep -o 'a\.trace$')" a.trace
done

# What other words of tc become is for the completion that comes with it.
cat >"$dir/tc" <<'END'
_tc() { COMPREPLY=(theirs); }
complete -F _tc tc
END
same "bash: tc's own completion is asked for the rest" "$(bash -c '
	. "$1"; __load_completion() { . "$2"; }; _load="$2"; __load_completion() { . "$_load"; }
	COMP_WORDS=(tc filter "") COMP_CWORD=2; _sluice_tc
	echo "${COMPREPLY[@]}" "$(complete -p tc)"' - "$made/bash/tc" "$dir/tc")" "theirs complete -F _sluice_tc tc"

# Installation, into a directory of our own
for prefix in /usr /usr/local; do
	make -s -C "$made" install DESTDIR="$dir/root" PREFIX=$prefix >"$dir/seen" 2>&1
	report $? "install, below $prefix"
	same "all is installed" "$(find "$dir/root" -type f | wc -l)" "$(find "$made" -path '*/*/*' -type f | grep -cE '/(bash|zsh|fish)/')"
	same "nothing takes the place of tc's own" "$(find "$dir/root" -path '*/bash-completion/*/tc')" ""
	make -s -C "$made" uninstall DESTDIR="$dir/root" PREFIX=$prefix >"$dir/seen" 2>&1
	report $? "uninstall"
	same "nothing is left" "$(find "$dir/root" -type f)" ""
done

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
