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

_sluice()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local options="assign classes control-dscp control-share flows hrtt hrtt-max lease limit pause peer pool
		pool-alpha pool-pause-alpha quantum queues rate refresh restore reuse role share split-gso sticky
		strip tag th th-scale tier tpid watch watchdog ways"
	local verbs="show monitor set graph pair doctor help"
	local verb='' first=0 words='' i

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
	-n | --netns)
		words=$(_sluice_spaces) ;;
	role | peer)
		words="auto host switch" ;;
	tier)
		words="none down up" ;;
	tag | pause | watch | split-gso)
		[ "$verb" != set ] || words="on off" ;;
	tpid)
		words="0x88a8 0x8100" ;;
	assign)
		words="dynamic stochastic single" ;;
	reuse)
		words="sticky empty" ;;
	share)
		words="random spare" ;;
	ways)
		words="1 4" ;;
	control-dscp)
		words="none" ;;
	esac
	if [ -z "$words" ]; then
		case $verb:$((COMP_CWORD - first)) in
		:*) words="$verbs --json --netns --version --help" ;;
		help:1) words=$verbs ;;
		show:*) words="$(_sluice_devices) --statistics --json --netns" ;;
		monitor:*) words="$(_sluice_devices) --count --json --netns" ;;
		doctor:*) words="$(_sluice_devices) --list --json --netns" ;;
		set:1) words=$(_sluice_devices) ;;
		set:*) words=$options ;;
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
