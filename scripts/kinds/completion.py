# SPDX-License-Identifier: GPL-2.0-only
"""Completion in bash, zsh and fish: of the words of tc for our kinds, and of our programs, whose words are in
userspace/completion/programs.yaml."""
import os
import re

import yaml

from .out import MADE, File
from .spec import TOP, Wrong, lower

WORDS = "userspace/completion/programs.yaml"
HEAD = f"""# SPDX-License-Identifier: GPL-2.0-only
# {MADE} {{}}: do not edit
"""
OF_KINDS = "Documentation/netlink/specs"
OF_PROGRAMS = f"{WORDS} and {OF_KINDS}"


class Choice:
    """An option of a program: "-s --long=ARGUMENT: what it is"; ARGUMENT with a ? in front may be left out"""

    def __init__(self, text):
        match = re.fullmatch(r"(?:-(\S) )?--([a-z-]+)(?:=(\??)(\S+))?: (.*)", text)
        if not match:
            raise Wrong(f"{WORDS}: no option: {text}")
        self.short, self.long, may, self.argument, self.text = match.groups()
        self.must = bool(self.argument) and not may
        self.names = ([f"-{self.short}"] if self.short else []) + [f"--{self.long}"]


class Verb:
    def __init__(self, name, row, common=()):
        self.name, self.text = name, row.get("text", "")
        self.options = [*common, *map(Choice, row.get("options", []))]
        self.words = row.get("words", [])


class Program:
    def __init__(self, name, row):
        self.name, self.text = name, row["text"]
        self.function = "_" + lower(name)
        everywhere = [Choice(text) for text in row.get("options", [])]
        self.options = everywhere + [Choice(text) for text in row.get("options-first", [])]
        self.verbs = [Verb(verb, more, everywhere) for verb, more in row.get("verbs", {}).items()]


def option_values(o):
    """What can be typed behind an option of a kind, as far as it is words"""
    if o.negated and o.words:
        return [word for word, value, _, _ in o.words if value]
    if o.negated:
        return ["on", "off"]
    if o.words:
        return [word for word, _, _, _ in o.words]
    if o.values:
        return [str(value) for value, _ in o.values]
    return [o.zero] if o.zero else []


def takes_value(o):
    return not o.negated


# ---- bash ----

def bash_kinds(kinds, prefix):
    """Functions: the options of kinds, and what may follow one of these; - if that is no word"""
    out = [f"{prefix}_options()\n{{\n\tcase $1 in"]
    for kind in kinds:
        out.append(f'\t{kind.name}) echo "{" ".join(o.name for o in kind.typed)}" ;;')
    out.append(f"\tesac\n}}\n\n{prefix}_values()\n{{\n\tcase $1:$2 in")
    for kind in kinds:
        for o in kind.typed:
            values = " ".join(option_values(o)) or "-"
            out.append(f'\t{kind.name}:{o.name}) echo "{values}" ;;')
    return "\n".join([*out, "\tesac", "}"]) + "\n"


BASH = """
# {f}_reply SORT: words of a sort, of which N and such have none
{f}_reply()
{{
	local words=''

	case $1 in
	DEVICE) words=$(ls /sys/class/net 2>/dev/null) ;;
	NETNS) words=$(ls /run/netns 2>/dev/null) ;;
	LAW) words=$(sluice-trace laws 2>/dev/null | sed '1d; s/ .*//') ;;
	*"|"*) words=${{1//|/ }} ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	case $1 in
	FILE | LAW)
		compopt -o filenames 2>/dev/null
		mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current") ;;
	esac
}}

# {f}_argument VERB OPTION: the sort of what must follow it, or nothing
{f}_argument()
{{
	case $1:$2 in
{arguments}	esac
}}

{f}()
{{
	local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} equals=''
	local verb='' given=() sort i

	# bash splits --option=value at the sign
	if [ "$current" = = ]; then
		current='' equals==
	elif [ "$previous" = = ]; then
		previous=${{COMP_WORDS[COMP_CWORD - 2]}} equals==
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${{COMP_WORDS[i]}} in
		-*)
			if [ "${{COMP_WORDS[i + 1]}}" = = ]; then
				i=$((i + 2))
			elif [ -n "$({f}_argument "$verb" "${{COMP_WORDS[i]}}")" ]; then
				i=$((i + 1))
			fi ;;
		*)
			if [ -z "$verb" ]; then
				verb=${{COMP_WORDS[i]}}
			else
				given+=("${{COMP_WORDS[i]}}")
			fi ;;
		esac
	done
	sort=$({f}_argument "$verb" "$previous")
	[ -z "$equals" ] || sort=${{sort:-none}}
{optional}	if [ -z "$sort" ] && [[ $current == -* ]]; then
		case $verb in
{options}		*) sort="{first}" ;;
		esac
	fi
	[ -n "$sort" ] || case $verb:${{#given[@]}} in
	:*) sort="{start}" ;;
{words}	esac
	[ -z "$sort" ] || {f}_reply "$sort"
}}

complete -F {f} {name}
"""


def sort_of(words):
    """Words as a sort"""
    return "|".join(words) + ("|" if len(words) == 1 else "")


def bash_program(program, kinds):
    f = program.function
    of_kinds = any("OPTIONS" in verb.words for verb in program.verbs)
    verbs = sort_of([v.name for v in program.verbs])
    arguments, words = [], []
    for verb in program.verbs:
        arguments += [(verb.name, o) for o in verb.options if o not in program.options]
        for n, word in enumerate(verb.words):
            where = f'\t{verb.name}:{"*" if n == len(verb.words) - 1 else n})'
            words.append(f"{where} {f}_set ;;" if word == "OPTIONS" else
                         f'{where} sort="{verbs if word == "VERB" else word}" ;;')
    arguments += [("*", o) for o in program.options]
    text = BASH.format(
        f=f, name=program.name, start=verbs or sort_of([n for o in program.options for n in o.names]), words="".join(line + "\n" for line in words),
        arguments="".join("\t" + " | ".join(f"{verb}:{name}" for name in o.names) + f') echo "{o.argument}" ;;\n'
                          for verb, o in arguments if o.must),
        optional="".join(f'\t[ "$previous$equals" != --{o.long}= ] || sort="{o.argument}"\n'
                         for _, o in arguments if o.argument and not o.must),
        options="".join(f'\t\t{v.name}) sort="{sort_of([n for o in v.options for n in o.names])}" ;;\n'
                        for v in program.verbs),
        first=sort_of([n for o in program.options for n in o.names]))
    head = HEAD.format(OF_PROGRAMS if of_kinds else WORDS) + f"# shellcheck shell=bash\n#\n# Completion of {program.name}'s " \
        "words for bash\n"
    return head + ("\n" + bash_kinds(kinds, f) + bash_set(f, kinds) if of_kinds else "") + text


def bash_set(f, kinds):
    """Options of a kind; without one, of all, and the kinds"""
    return f"""
{f}_set()
{{
	local kinds='{" ".join(k.name for k in kinds)}' words='' i

	case ${{given[1]:-}} in
	{" | ".join(k.name for k in kinds)}) kinds=${{given[1]}} ;;
	esac
	((${{#given[@]}} < 2)) || for i in $kinds; do
		words+=" $({f}_values "$i" "$previous")"
	done
	if [ -z "${{words// /}}" ]; then
		((${{#given[@]}} > 1)) || words=$kinds
		for i in $kinds; do
			words+=" $({f}_options "$i")"
		done
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(tr ' ' '\\n' <<<"$words" | grep -vx -e - | sort -u)" -- "$current")
}}
"""


BASH_TC = """
# What tc completes by itself, by the completion that comes with it
_sluice_tc_other()
{
	declare -F _tc >/dev/null ||
		{ declare -F _comp_load >/dev/null && _comp_load tc; } ||
		{ declare -F __load_completion >/dev/null && __load_completion tc; }
	# that has taken the place of this one
	complete -F _sluice_tc tc
	! declare -F _tc >/dev/null || _tc "$@"
}

_sluice_tc()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} kind='' words='' verb='' i

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		add | change | replace | link) [ "${COMP_WORDS[i - 1]:0:1}" != q ] || verb=$i ;;
		KINDS) [ -z "$verb" ] || [ "${COMP_WORDS[i - 1]}" = dev ] || kind=${kind:-${COMP_WORDS[i]}} ;;
		esac
	done
	if [ -z "$kind" ]; then
		_sluice_tc_other "$@"
		case $verb:$previous in
		:* | *:dev | *:parent | *:handle) ;;
		*) ((COMP_CWORD < verb + 3)) || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "NAMES" -- "$current") ;;
		esac
		return
	fi
	words=$(_sluice_tc_values "$kind" "$previous")
	[ -n "$words" ] && [ "$previous" != "$kind" ] || words="$(_sluice_tc_options "$kind") help"
	[ "$words" != - ] || words=''
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}

complete -F _sluice_tc tc
"""


def bash_tc(kinds):
    text = BASH_TC.replace("KINDS", " | ".join(k.name for k in kinds)).replace("NAMES", " ".join(k.name for k in kinds))
    return (HEAD.format(OF_KINDS) + "# shellcheck shell=bash\n#\n# Completion of tc's words for our kinds of qdisc, beside "
            "those that come with tc\n\n" + bash_kinds(kinds, "_sluice_tc") + text)


# ---- zsh ----

ZSH_SORTS = {"DEVICE": "device:_sluice_devices", "NETNS": "network namespace:_sluice_spaces", "FILE": "file:_files",
             "LAW": "law:_sluice_laws"}
ZSH_SAY = """
(( $+functions[_sluice_devices] )) || _sluice_devices() { compadd -- /sys/class/net/*(N:t) }
(( $+functions[_sluice_spaces] )) || _sluice_spaces() { compadd -- /run/netns/*(N:t) }
(( $+functions[_sluice_laws] )) || _sluice_laws() { compadd -- ${${(f)"$(sluice-trace laws 2>/dev/null)"}[2,-1]%% *}; _files }
"""


def zsh_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_text(text):
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_sort(argument):
    if "|" in argument:
        return f"word:({argument.replace('|', ' ')})"
    return ZSH_SORTS.get(argument, f"{argument.lower()}:")


def zsh_option(o):
    names = " ".join(o.names)
    text = f"[{zsh_text(o.text)}]"
    # a value that must be there may stand apart; one that may be left out stands behind the sign
    value = "" if not o.argument else (":" if o.must else "::") + zsh_sort(o.argument)
    signs = {"-": ("+" if o.must else "-") if o.argument else "", "=": ("=" if o.must else "=-") if o.argument else ""}
    return [zsh_quoted(f"({names})-{o.short}{signs['-']}{text}{value}")] * bool(o.short) + [
        zsh_quoted(f"({names})--{o.long}{signs['=']}{text}{value}")]


def zsh_kinds(kinds, prefix):
    """A function for the words behind a kind: options, and what may follow one"""
    out = [f"{prefix}_kind() # KIND PREVIOUS\n{{\n\tlocal -a options values\n\n\tcase $1 in"]
    for kind in kinds:
        rows = " ".join(zsh_quoted(f"{o.name}:{zsh_text(o.doc)} ({zsh_text(o.default_doc())})".replace("\\[", "[").replace(
            "\\]", "]")) for o in kind.typed)
        out.append(f"\t{kind.name}) options=({rows}) ;;")
    out.append("\tesac\n\tcase $1:$2 in")
    for kind in kinds:
        for o in kind.typed:
            values = " ".join(option_values(o))
            out.append(f"\t{kind.name}:{o.name}) values=({values or '-'}) ;;")
    return "\n".join(out) + """
	esac
	if [[ $values = - ]]; then
		_message value
	elif (( $#values )); then
		compadd -- $values
	else
		_describe option options
	fi
}
"""


def zsh_program(program, kinds):
    f = program.function
    of_kinds = any("OPTIONS" in verb.words for verb in program.verbs)
    out = [f"#compdef {program.name}\n" + HEAD.format(OF_PROGRAMS if of_kinds else WORDS), ZSH_SAY.lstrip("\n")]
    if of_kinds:
        out.append(zsh_kinds(kinds, f))
    body = [f"{f}()", "{", "\tlocal curcontext=$curcontext state line", "\ttypeset -A opt_args", ""]
    options = [text for o in program.options for text in zsh_option(o)]
    if not program.verbs:
        body += ["\t_arguments " + " \\\n\t\t".join(options), "}", "", f'{f} "$@"', ""]
        return "\n".join([*out, *body])
    body += ["\t_arguments -C " + " \\\n\t\t".join([*options, "'1: :->verb'", "'*:: :->words'"]), "\tcase $state in",
             "\tverb)", "\t\tlocal -a verbs=(" + " ".join(zsh_quoted(f"{v.name}:{zsh_text(v.text)}") for v in program.verbs) +
             ")", "\t\t_describe verb verbs ;;", "\twords)", "\t\tcase $words[1] in"]
    for v in program.verbs:
        words = []
        for n, word in enumerate(v.words):
            last = n == len(v.words) - 1
            sort = ("verb:(" + " ".join(x.name for x in program.verbs) + ")" if word == "VERB" else
                    f"option:{f}_set" if word == "OPTIONS" else zsh_sort(word))
            words.append(zsh_quoted(("*:" if last else f"{n + 1}:") + sort))
        given = [*(text for o in v.options for text in zsh_option(o)), *words]
        if given:
            body.append(f"\t\t{v.name}) _arguments " + " \\\n\t\t\t".join(given) + " ;;")
    body += ["\t\tesac ;;", "\tesac", "}", ""]
    if of_kinds:
        body = [f"{f}_set()", "{", "\tlocal kind", "",
                f"\tkind=${{${{words[(r)({'|'.join(k.name for k in kinds)})]}}:-}}",
                "\tif [[ -n $kind ]]; then", f"\t\t{f}_kind $kind ${{words[CURRENT - 1]}}", "\telse",
                f"\t\tcompadd -- {' '.join(k.name for k in kinds)}",
                f"\t\tfor kind in {' '.join(k.name for k in kinds)}; do", f"\t\t\t{f}_kind $kind ${{words[CURRENT - 1]}}",
                "\t\tdone", "\tfi", "}", "", *body]
    return "\n".join([*out, *body, f'{f} "$@"', ""])


def zsh_tc(kinds):
    names = "|".join(k.name for k in kinds)
    return "#compdef tc\n" + HEAD.format(OF_KINDS) + "\n" + ZSH_SAY.lstrip("\n").split("\n")[0] + "\n\n" + zsh_kinds(
        kinds, "_sluice_tc") + f"""
# zsh completes no words of tc by itself: these are those that lead to our kinds.
_sluice_tc()
{{
	local kind=${{words[(r)({names})]}}

	if [[ -n $kind && $words[CURRENT] != $kind ]]; then
		_sluice_tc_kind $kind ${{words[CURRENT - 1]:#$kind}}
	elif (( CURRENT == 2 )); then
		compadd -- qdisc class filter chain action monitor
	elif (( CURRENT == 3 )); then
		compadd -- add change replace delete show
	elif [[ $words[CURRENT-1] == dev ]]; then
		_sluice_devices
	elif [[ $words[2] == q* ]]; then
		compadd -- dev root parent handle {names.replace("|", " ")}
	fi
}}

_sluice_tc "$@"
"""


# ---- fish ----

FISH_SORTS = {"DEVICE": "(path basename /sys/class/net/*)", "NETNS": "(path basename /run/netns/*)",
              "LAW": "(sluice-trace laws 2>/dev/null | string replace -r ' .*' '')"}


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_words(argument):
    return argument.replace("|", " ") if "|" in argument else FISH_SORTS.get(argument)


FISH_WHERE = """
# The verb, and how many words are behind it; options and what they take are none.
function {f}_where
    set -l words (commandline -opc)[2..]
    set -l verb
    set -l count 0
    while set -q words[1]
        switch "$verb $words[1]"
{takes}            case '* -*'
            case ' *'
                set verb $words[1]
            case '*'
                set count (math $count + 1)
        end
        set -e words[1]
    end
    echo $verb
    echo $count
end

# {f}_at VERB [COUNT]...: are we behind it, and so many words? COUNT- is that or more.
function {f}_at
    set -l where ({f}_where)
    test "$where[1]" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    string match -q '*-' -- $argv[2]; and test $where[2] -ge (string replace -- - '' $argv[2]); and return 0
    test $where[2] = $argv[2]
end
"""


def fish_option(program, o, condition):
    text = f"complete -c {program} {condition}" + (f" -s {fish_quoted(o.short)}" if o.short else "") + f" -l {o.long}"
    words = fish_words(o.argument) if o.argument else None
    if o.argument == "FILE":
        text += " -rF"
    elif o.argument and o.must:
        text += " -x" + (f" -a {fish_quoted(words)}" if words else "")
    elif o.argument:
        text += f" -f -a {fish_quoted(words)}" if words else ""
    return f"{text} -d {fish_quoted(o.text)}"


def fish_kinds(kinds, program, condition):
    """Options of kinds, and what may follow one"""
    for kind in kinds:
        for o in kind.typed:
            values = " ".join(option_values(o))
            yield (f"complete -c {program} -n '{condition} {kind.name}' -a {o.name} -d "
                   f"{fish_quoted(f'{o.doc} ({o.default_doc()})')}")
            if values or takes_value(o):
                yield f"complete -c {program} -n '{condition} {kind.name} {o.name}' -a {fish_quoted(values)}"


FISH_KIND = """
# {f}_kind KIND: are we behind it, where an option may stand? {f}_kind KIND OPTION: behind that option?
function {f}_kind
    set -l words (commandline -opc)
    {where}
    contains -- $argv[1] $words; or {else}
    if set -q argv[2]
        test "$words[-1]" = "$argv[2]"
    else
        not contains -- "$argv[1]:$words[-1]" {valued}
    end
end
"""


def fish_kind(f, kinds, where, other):
    valued = " ".join(f"{k.name}:{o.name}" for k in kinds for o in k.typed if takes_value(o) or option_values(o))
    return FISH_KIND.format(f=f, where=where, valued=valued, **{"else": other})


def fish_program(program, kinds):
    name, f = program.name, f"_{program.function}"
    of_kinds = any("OPTIONS" in verb.words for verb in program.verbs)
    out = [HEAD.format(OF_PROGRAMS if of_kinds else WORDS), f"# Completion of {name}'s words for fish"]
    takes = "".join(
        f"            case {' '.join(fish_quoted(f'{verb} {n}') for n in o.names)}\n                set -e words[1]\n"
        for verb, options in [("*", program.options)] + [(v.name, v.options) for v in program.verbs]
        for o in options if o.must and (verb == "*" or o not in program.options))
    if program.verbs:
        out.append(FISH_WHERE.format(f=f, takes=takes).rstrip("\n"))
    if of_kinds:
        one = " ".join(k.name for k in kinds)
        out.append(fish_kind(f, kinds, f"{f}_at set; or return 1\n    test ({f}_where)[2] -ge 1; or return 1",
                             f"begin\n        for kind in {one}\n            not contains -- $kind $words; or return 1\n"
                             "        end\n    end").rstrip("\n"))
    out += ["", f"complete -c {name} -f"]
    at_start = f"-n '{f}_at \"\"'" if program.verbs else ""
    out += [fish_option(name, o, at_start).replace("  ", " ") for o in program.options]
    for v in program.verbs:
        out.append(f"complete -c {name} -n '{f}_at \"\"' -a {v.name} -d {fish_quoted(v.text)}")
        out += [fish_option(name, o, f"-n '{f}_at {v.name}'") for o in v.options]
        for n, word in enumerate(v.words):
            where = f"{f}_at {v.name} {n}" + ("-" if n == len(v.words) - 1 else "")
            if word == "FILE":
                out.append(f"complete -c {name} -n '{where}' -F")
            elif word == "OPTIONS":
                out.append(f"complete -c {name} -n '{f}_at {v.name} 1' -a '{' '.join(k.name for k in kinds)}'")
                out += fish_kinds(kinds, name, f"{f}_kind")
            else:
                words = " ".join(x.name for x in program.verbs) if word == "VERB" else fish_words(word)
                out.append(f"complete -c {name} -n '{where}' -a {fish_quoted(words)}")
    return "\n".join(out) + "\n"


def fish_tc(kinds):
    names = " ".join(k.name for k in kinds)
    return "\n".join([
        HEAD.format(OF_KINDS), "# Completion of tc's words for our kinds of qdisc. fish completes no words of tc by itself: "
        "these are\n# those that lead to them." + fish_kind("__sluice_tc", kinds, "", "return 1").rstrip("\n"), f"""
function __sluice_tc_before
    set -l words (commandline -opc)
    for kind in {names}
        not contains -- $kind $words[4..]; or return 1
    end
    switch (count $words)
        case 1
            test $argv[1] = object
        case 2
            test $argv[1] = verb
        case '*'
            string match -q 'q*' -- $words[2]; or return 1
            if test "$words[-1]" = dev
                test $argv[1] = device
            else
                test $argv[1] = kind
            end
    end
end

complete -c tc -f
complete -c tc -n '__sluice_tc_before object' -a 'qdisc class filter chain action monitor'
complete -c tc -n '__sluice_tc_before verb' -a 'add change replace delete show'
complete -c tc -n '__sluice_tc_before device' -a '(path basename /sys/class/net/*)'
complete -c tc -n '__sluice_tc_before kind' -a 'dev root parent handle {names}'""",
        *fish_kinds(kinds, "tc", "__sluice_tc_kind")]) + "\n"


def make(kinds):
    with open(os.path.join(TOP, WORDS), encoding="utf-8") as f:
        programs = [Program(name, row) for name, row in yaml.safe_load(f).items()]
    folder = "userspace/completion"
    for program in programs:
        yield File(f"{folder}/bash/{program.name}", bash_program(program, kinds))
        yield File(f"{folder}/zsh/_{program.name}", zsh_program(program, kinds))
        yield File(f"{folder}/fish/{program.name}.fish", fish_program(program, kinds))
    yield File(f"{folder}/bash/tc", bash_tc(kinds))
    yield File(f"{folder}/zsh/_tc", zsh_tc(kinds))
    yield File(f"{folder}/fish/tc.fish", fish_tc(kinds))
