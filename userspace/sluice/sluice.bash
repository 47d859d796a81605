# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of sluice's words for bash.

_sluice_devices()
{
	local dev

	for dev in /sys/class/net/*; do
		[ -e "$dev" ] && echo "${dev##*/}"
	done
}

_sluice_spaces()
{
	local space

	for space in /run/netns/*; do
		[ -e "$space" ] && echo "${space##*/}"
	done
}

# What can be set is what `sluice set DEV KIND help` says, with a line for each option:
# name, and what it takes. $1: number of words up to DEV; $2: the kind, or nothing: all kinds
_sluice_help()
{
	local kind

	for kind in ${2:-bfc rocc ideal}; do
		"${COMP_WORDS[@]:0:$1}" "$kind" help 2>&1 | sed -n 's/^  \([a-z]\)/\1/p'
	done
}

_sluice_options() { awk '{ sub(/[|].*/, "", $1); print $1 }' | sort -u; }

# _sluice_values OPTION: words that may follow it
_sluice_values()
{
	awk -v option="$1" 'index($1, option "|") == 1 { print "on|off" }
		$1 == option && $2 ~ /[|]/ { sub("[|]no" option, "", $2); print $2 }' |
		tr '[]|' '\n' | grep -x '[a-z0-9][a-z0-9.]*' | sort -u
}

_sluice()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs="show monitor set graph pair doctor help"
	local verb='' first=0 words='' kind='' help i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-n | --netns) i=$((i + 1)) ;;
		-*) ;;
		*)
			verb=${COMP_WORDS[i]} first=$i
			break ;;
		esac
	done
	case $previous in
	-n | --netns) words=$(_sluice_spaces) ;;
	esac
	if [ -z "$words" ]; then
		case $verb:$((COMP_CWORD - first)) in
		:*) words="$verbs --json --netns --version --help" ;;
		help:1) words=$verbs ;;
		show:*) words="$(_sluice_devices) --statistics --json --netns" ;;
		monitor:*) words="$(_sluice_devices) --count --json --netns" ;;
		doctor:*) words="$(_sluice_devices) --list --json --netns" ;;
		set:1) words=$(_sluice_devices) ;;
		set:*)
			case ${COMP_WORDS[first + 2]} in
			bfc | rocc | ideal) ((COMP_CWORD == first + 2)) || kind=${COMP_WORDS[first + 2]} ;;
			esac
			help=$(_sluice_help $((first + 2)) "$kind")
			words=$(_sluice_values "$previous" <<<"$help")
			[ -n "$words" ] || words=$(_sluice_options <<<"$help")
			((COMP_CWORD > first + 2)) || words+=" bfc rocc ideal" ;;
		pair:1) words="add del list" ;;
		pair:*) words=$(_sluice_devices) ;;
		graph:*)
			words="--all-paths --apply --switch --dot --json"
			# shellcheck disable=SC2207
			[[ $current == -* ]] || { COMPREPLY=($(compgen -f -- "$current")); return; } ;;
		esac
	fi
	# shellcheck disable=SC2207
	COMPREPLY=($(compgen -W "$words" -- "$current"))
}

complete -F _sluice sluice
