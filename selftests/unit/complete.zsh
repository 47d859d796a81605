#!/usr/bin/zsh -f
# SPDX-License-Identifier: GPL-2.0-only
#
# complete.zsh DIR DUMP LINE - what zsh completes the line to, a word each, with the functions in DIR. Which functions there
# are is kept in DUMP, since reading them all takes a second.

zmodload zsh/zpty || exit 1
zpty z zsh -f -i
# What would be added to the line is printed instead, between two marks.
zpty -w z "PROMPT=; unset zle_bracketed_paste; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -C -d $2"
zpty -w z 'compadd() { builtin compadd -O found "$@"; print -l -r -- $found; builtin compadd "$@" }
	zstyle ":completion:*" list-prompt ""; zstyle ":completion:*" menu no; LISTMAX=0
	first() { print -r -- "<begin>"; }; last() { print -r -- "<end>"; exit }
	compprefuncs=(first) comppostfuncs=(last)
	bindkey "^I" complete-word; print -r -- "<ready>"'
typeset got all
until [[ $all == *'<ready>'$'\r'* ]]; do
	zpty -r z got || exit 1
	all+=$got
done
zpty -n -w z "$3"$'\t'
all=
while zpty -r z got; do
	all+=$got
	[[ $all != *'<end>'* ]] || break
done
all=${${all#*<begin>}%%<end>*}
print -rl -- ${(f)${all//$'\r'/}} | grep . | sort -u
zpty -d z
