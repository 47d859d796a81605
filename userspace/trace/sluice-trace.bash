# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of sluice-trace's words for bash.

_sluice_trace_laws()
{
	sluice-trace laws 2>/dev/null | sed '1d; s/ .*//'
}

_sluice_trace()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs="make convert check stat laws help"
	local verb='' words='' files='' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		*)
			verb=${COMP_WORDS[i]}
			break ;;
		esac
	done
	case $verb:$previous in
	make:--law) words=$(_sluice_trace_laws) files=too ;;
	make:--arrivals) words="poisson lognormal even" ;;
	make:--on) words="edge core" ;;
	*:-o | *:--output) files=only ;;
	convert:--from) words="sluice hpcc floodgate bfc-log" ;;
	convert:--to) words="sluice hpcc floodgate" ;;
	make:--*) [[ $current == -* ]] || return ;;
	esac
	if [ -z "$words$files" ]; then
		case $verb in
		"") words="$verbs --version --help" ;;
		help) words=$verbs ;;
		make)
			words="--hosts --racks --per-rack --rate --uplinks --payload --header
				--min-frame --load --on --law --arrivals --sigma --locality --pairs
				--flows --start --class --classes --label --incast --long --duration --seed
				--output" ;;
		convert) words="--from --to --shift --from-zero --group --port --output" files=too ;;
		check) words="--hosts --quiet" files=too ;;
		stat)
			words="--json --each --hosts --per-rack --rate --uplinks --payload --header --min-frame
				--duration --label --degree --within" files=too ;;
		laws) words="$(_sluice_trace_laws) --json --points" files=too ;;
		esac
		[[ $current == -* ]] && files=''
	fi
	# shellcheck disable=SC2207
	COMPREPLY=($(compgen -W "$words" -- "$current"))
	# shellcheck disable=SC2207
	[ -z "$files" ] || COMPREPLY+=($(compgen -f -- "$current"))
}

complete -F _sluice_trace sluice-trace
