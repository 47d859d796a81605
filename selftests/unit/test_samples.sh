#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# selftests/samples, with documents of its own: what it runs, and that it fails for a sample without a class, for one that is
# not what is printed, and for one that is not run where it is said to be.

set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export KDIR=/nowhere	# none of it builds modules
unset SLUICE_SAMPLES	# these are no part of what takes long
mkdir -p "$dir/Documentation" "$dir/selftests" "$dir/build/made" "$dir/build/kernel"
echo "tree/made.so: tree/made.c" | tee "$dir/build/made/made.d" >"$dir/build/kernel/objects"
echo "# Contributing" >"$dir/CONTRIBUTING.md"
printf 'fine:\n\ttrue\n\nhard: fine\n\tselftests/hard --much\n' >"$dir/Makefile"
printf "STEPS='\nfine\t1 -\t-\n--\nhard\t+ -\tfine\n'\nstep_fine() { true; }\nstep_hard() { selftests/hard --jobs 2; }\n" >"$dir/selftests/steps"

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# samples NAME STATUS LINE [ARGUMENT...]: README.md, from standard input, ends so, with a line that begins so
samples() {
	local name=$1 want=$2 line=$3 status

	shift 3
	cat >"$dir/README.md"
	"$here/../samples" --root "$dir" "$@" >"$dir/seen" 2>&1
	status=$?
	echo "ends with $status" >>"$dir/seen"
	[ $status = "$want" ] && grep -qF -- "$line" "$dir/seen"
	report $? "$name"
}

samples "a document without samples" 0 "ok README.md: each sample has a class" <<<"Text
    that goes on"
samples "a block without a class" 1 "# README.md:3: a block without a class" <<<"Text

    true"
samples "a fence without a class" 1 "# README.md:1: a block without a class" <<<'```
true
```'
samples "a comment that is no class" 1 "# README.md:3: there is no class 'often'" <<<"<!-- often -->

    true"
samples "a comment with a paragraph in between" 1 "# README.md:5: a block without a class" <<<"<!-- here -->

Text

    true"
samples "not run, and no reason" 1 "not run, and no reason why" <<<"<!-- no -->

    true"
samples "fewer classes than commands" 1 "2 classes for 3 commands" <<<"<!-- here, here -->

    true
    true
    true"
samples "a block without an end" 1 "the block of line 1 has no end" <<<'```text
true'
samples "a picture" 0 "4 passed, 0 failed" <<<'```text
a -- b
```'

samples "a command is run" 0 "ok README.md:3: echo made >made" <<<"<!-- here -->

    echo made >made                   # a remark
    # a remark of its own

    test -e made
    false || \\
        true"
samples "what is built is there, and stays as it was" 0 "6 passed, 0 failed" <<<"<!-- here -->

    cat build/kernel/objects
    sed -i s,tree,copy,g build/made/made.d"
grep -q "^tree/made.so: tree/made.c" "$dir/build/made/made.d"
report $? "in the tree itself"
samples "one that fails" 1 "not ok README.md:3: false" <<<"<!-- here -->

    false"
samples "one that ends the shell fails, and the next one gets another" 1 "5 passed, 1 failed" <<<"<!-- here -->

    exit 3
    true"
samples "one that goes on for ever" 0 "ok README.md:3: sleep 77" <<<"<!-- here 1s -->

    sleep 77"
samples "one that ought to" 1 "not ok README.md:3: ! sleep 1" <<<"<!-- here 2s -->

    ! sleep 1"
samples "what comes before" 0 "ok README.md:4: test -e before" <<<"<!-- here
here: touch before -->

    test -e before"
samples "what comes before fails" 1 "# comes before the block, status 1" <<<"<!-- here
here: false
-->

    true"

console='```console here
$ echo one line, 17us; echo end
one line, 4ms
end
# true
```'
samples "a console" 0 "ok README.md:2: echo one line" <<<"$console"
samples "a console whose words differ" 1 "not the like of 'one lane, 4ms'" <<<"${console/one line, 4/one lane, 4}"
samples "a console that has a line too many" 1 "does not print 'end'" <<<"${console/end$'\n'#/end$'\n'end$'\n'#}"
samples "a console that has one too few" 1 "prints 'end', should print nothing more" <<<"${console/$'\n'end$'\n'#/$'\n'#}"
samples "a console with lines left out" 0 "ok README.md:2: seq 9" <<<'```console here
$ seq 9; echo last
...
last
```'
samples "a last line that is not there" 1 "there is no 'lost'" <<<'```console here
$ seq 9; echo last
...
lost
```'

samples "a message" 0 "ok README.md:1: echo it said: no such file" <<<'### `said: no ... file`
<!-- here prints: echo it said: no such file >&2 -->'
samples "a message that is not said" 1 "and nowhere 'said: no file'" <<<'### `said: no file`
<!-- here prints: echo it said: no such file -->'
samples "a message without a class" 1 "# README.md:1: a message without a class" <<<'### `said: no file`

Text'
samples "a block that something prints" 0 "ok README.md:3: seq 2" <<<"<!-- here prints: seq 2 -->

    3
    4"
samples "a block that something reads" 0 "ok README.md:3: grep" <<<"<!-- here takes: grep 'second  line' -->

    first line
    second  line"

samples "a step" 0 "make hard: step hard" <<<"<!-- step hard -->

    make hard"
samples "a step by its name" 0 "selftests/check fine hard: step fine hard" <<<"<!-- step fine hard -->

    selftests/check fine hard"
samples "a step that there is not" 1 "# there is no step soft" <<<"<!-- step soft -->

    make hard"
samples "a step that does something else" 1 "# fine has nothing of make hard selftests/hard" <<<"<!-- step fine -->

    make hard"
printf '<!-- here -->\n\n    echo there\n' >"$dir/Documentation/other.md"
samples "another document's" 0 "ok README.md:3: echo there: as Documentation/other.md" <<<"<!-- as Documentation/other.md -->

    echo there"
samples "another document's that it has not" 1 "# Documentation/other.md does not have it" <<<"<!-- as Documentation/other.md -->

    echo here"
rm "$dir/Documentation/other.md"

samples "a target of make in the text" 0 "ok README.md: commands and files" <<<'Say `make fine`, see `selftests/step*`.'
samples "one that there is not" 1 "# make soft" <<<'Say `make soft`.'
samples "a file that there is not" 1 "# selftests/steps.c" <<<'See `selftests/steps.c`.'

long='<!-- long, here, no: it is dear -->

    echo dear; [ ! -e build ]
    true
    buy'
samples "what takes long is not run" 0 "# long, in steps samples-long-1 to -4: README.md:3: echo dear" <<<"$long"
samples "nor is what is not" 0 "# not run: README.md:5: buy, since it is dear" <<<"$long"
samples "both are listed" 0 "# long, in steps samples-long-1 to -4: README.md:3: echo dear" --list <<<"$long"
samples "what takes long" 0 "ok README.md:3: echo dear" --long <<<"$long"
samples "and that alone" 0 "1 passed, 0 failed" --long <<<"$long"
samples "it is in a part" 0 "1 passed, 0 failed" --long --part 1 <<<"$long"
samples "and not in another" 0 "0 passed, 0 failed" --long --part 3 <<<"$long"
samples "parts are of what takes long" 2 "samples: error: --part is of --long" --part 1 <<<"$long"

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
