# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of hopmon's options in bash

_hopmon()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local option=$before words

	# bash splits --interface=eth at the sign
	[ "$word" != = ] || word=
	[ "$before" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
	case $option in
	-i|--interface)
		words=$(cd /sys/class/net && echo *) ;;
	-n|--netns)
		words=$(ip netns list 2>/dev/null | cut -d' ' -f1) ;;
	--interval|--count|--max-queues|--max-packets)
		words= ;;
	*)
		if [ "$option" = --histogram ] && [ "$before" = = ]; then
			words="exit interval"
		else
			words="--interface --netns --all --interval --count --queues --histogram
				--json --max-queues --max-packets --verbose --help --usage
				-i -n -a -q -H -j -v"
		fi ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _hopmon hopmon
