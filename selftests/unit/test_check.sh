#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# selftests/check, with steps of its own: what it counts, what waits for what, what is left out and what is kept. And what
# selftests/lab/check-claims runs, with a lab that says so.

set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && outside=$(mktemp -d) || exit 1
trap 'rm -rf "$dir" "$outside"' EXIT
mkdir "$dir/selftests"
cp "$here/../check" "$dir/selftests/"
echo "# Seconds" >"$dir/selftests/times"

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

program=selftests/check
# says NAME STATUS LINE ARGUMENT...: the program ends so, and a line of its output is this, apart from blanks
says() {
	local name=$1 want=$2 line=$3 status

	shift 3
	"$dir/$program" "$@" >"$dir/seen" 2>&1
	status=$?
	echo "ends with $status" >>"$dir/seen"
	[ $status = "$want" ] && sed -E 's/ +/ /g' "$dir/seen" | grep -qxE -- "$line"
	report $? "$name"
}

# also NAME LINE: this line, too
also() {
	sed -E 's/ +/ /g' "$dir/seen" | grep -qxE -- "$2"
	report $? "$1"
}

# ran NAME FILE LINES: that file holds these
ran() {
	[ "$(paste -sd' ' "$dir/$2" 2>/dev/null)" = "$3" ]
	report $? "$1"
}

steps() { cat >"$dir/selftests/steps"; }

echo "TAP version 13"

for skipped in 0 7 8 9 10 18 100; do
	steps <<-END
		STEPS='
		one	1 -	-
		--
		'
		step_one() { echo "# 3 passed, 0 failed, $skipped skipped"; echo "2 passed, 0 failed"; }
	END
	says "$skipped skipped" 0 "5 passed, 0 failed, $skipped skipped"
	also "... and in the table" "one passed 5 0 $skipped [0-9]+"
done

steps <<'END'
STEPS='
plain		1 -	-
closes		1 -	-
failing		1 -	-
silent		1 -	-
hiding		1 -	-
after		1 -	silent
later		1 6.1	after
--
further		1 -	-
'
step_plain()	{ echo built; }
step_closes()	{ echo "4 passed, 0 failed, 1 skipped"; }
step_failing()	{ echo "FAIL this_test (6.1, 1 s), from a log:"; echo "     not ok 7 its point"; echo "6 passed, 2 failed, 0 skipped"; return 1; }
step_silent()	{ return 3; }
step_hiding()	{ echo "1 passed, 1 failed"; }
step_after()	{ echo after >>ran; }
step_later()	{ echo later >>ran; }
step_further()	{ echo further >>ran; }
END
says "a step without a count is one test" 0 "1 passed, 0 failed, 0 skipped" plain
says "counts of steps are added" 0 "5 passed, 0 failed, 1 skipped" plain closes
says "a step that fails" 1 "Steps that failed: failing" plain failing
also "... is counted by what it says" "7 passed, 2 failed, 0 skipped"
tail -n 6 "$dir/seen" | grep -c "^failing: *FAIL this_test\|^failing: *not ok 7 its point" | grep -qx 2
report $? "... and what failed in it is named at the end"
says "a step that fails without a count is a failure" 1 "0 passed, 1 failed, 0 skipped" silent
says "a step that counts a failure and ends well has failed" 1 "Steps that failed: hiding" hiding
says "all steps" 1 "Steps that failed: failing silent hiding after later"
also "... of which what needs a failed one is not run" "== later: not run, since a step that it needs has failed"
ran "... nor what is behind the line" ran ""
says "a step that there is not" 2 "check: there is no step lost, but: plain closes failing silent hiding after later further" lost
mkdir -p "$dir/check-results" && echo "not ok 1 of another day" >"$dir/check-results/later.log"
says "all steps again" 1 "Steps that failed: failing silent hiding after later"
! grep -q "another day" "$dir/seen"
report $? "... with no failure of another day"
says "a plan" 0 "about 0 minutes on [0-9]+ CPUs, not counting further; .*" --plan further
ran "... runs nothing" ran ""
says "what is behind the line, by its name" 0 "1 passed, 0 failed, 0 skipped" further
ran "... runs" ran further
says "--again without a repository" 0 "[0-9]+ s, commit none\+" --again further
ran "... runs what has passed, since nothing says what was changed" ran "further further"

# What waits for what, and what is run for another
steps <<'END'
STEPS='
first		1 -	-
middle		1 -	first
last		1 -	middle
--
'
step_first()	{ sleep 1; echo first >>ran; }
step_middle()	{ echo middle >>ran; }
step_last()	{ echo last >>ran; }
END
rm "$dir/ran"
says "steps in a row" 0 "3 passed, 0 failed, 0 skipped"
ran "... one after another" ran "first middle last"
rm "$dir/ran"
says "the last by its name" 0 "3 passed, 0 failed, 0 skipped" last
ran "... with what it needs, and what that needs" ran "first middle last"
rm "$dir/ran"
says "the one between" 0 "2 passed, 0 failed, 0 skipped" middle
ran "... without what needs it" ran "first middle"

# What has passed at this commit is left out, unless something was changed since
steps <<'END'
STEPS='
good		1 -	-
bad		1 -	-
--
slow		1 6.1,6.12	-
'
step_good()	{ echo good >>ran; echo "2 passed, 0 failed, 9 skipped"; }
step_slow()	{ echo "2 passed, 0 failed, 9 skipped"; }
step_bad()	{ echo bad >>ran; [ -e mended ]; }
END
rm -r "$dir/check-results"
printf '%s\n' check-results ran seen mended >"$dir/.gitignore"
git -C "${dir:?}" init -q && git -C "${dir:?}" add -A &&
	git -C "${dir:?}" -c user.name=x -c user.email=x@example.org commit -qm x || exit 1
rm "$dir/ran"
says "one of two" 1 "2 passed, 1 failed, 9 skipped" good bad
touch "$dir/mended"
rm "$dir/ran"
says "--again" 0 "3 passed, 0 failed, 9 skipped" --again
ran "... runs what failed" ran bad

# The page of --all: a step that was not run stays as it was, if there still is one of that name. Days are the test's
date() { echo "$day"; }
export -f date
export day=2026-01-02
page=Documentation/check-all.md
row() { grep -qE "^\| $2 \| 2 \| 0 \| 9 \| [0-9]+ \|\$" "$dir/$page"; report $? "$1"; }
commit=$(git -C "$dir" rev-parse --short HEAD)
now="\`$commit\`, 2026-01-02"
mkdir "$dir/Documentation"
says "--table without a page" 0 "ends with 0" --table $page good
row "... makes it, with what was run" "good \| $now"
! grep -q slow "$dir/$page" && ! grep -q "No such file" "$dir/seen"
report $? "... and nothing of what was not"
echo '| good | `0123456`, 2026-01-01 | 0 | 7 | 0 | 60 |' >"$dir/$page"
says "--table with a page that does not have the last step" 0 "ends with 0" --table $page good
row "... has what was run" "good \| $now"
printf '| %s | `0123456`, 2026-01-01 | 2 | 0 | 9 | 60 |\n' "good" "slow, 6.1 and 6.12" "gone" >"$dir/$page"
says "--table" 0 "ends with 0" --again --table $page
row "... has what each counted, and at which commit, which its own file does not change" "good \| $now"
row "... what was not run, as it was" 'slow, 6.1 and 6.12 \| `0123456`, 2026-01-01'
! grep -q gone "$dir/$page"
report $? "... and no step that there is not"
says "--table of what is behind the line" 0 "ends with 0" --table $page slow
row "... has its kernels" "slow, 6.1 and 6.12 \| $now"
row "... and the other as it was" "good \| $now"
day=2026-01-03
rm "$dir/ran"
says "--again on the next day" 0 "ends with 0" --again --table $page good
ran "... does not run it" ran ""
row "... nor say that it was run on that day" "good \| $now"
says "--table of an absolute path" 0 "[0-9]+ s, commit $commit" --table "$dir/$page" good
rm "$dir/$page"
other=../${outside##*/}/page.md
says "--table outside of the tree" 0 "[0-9]+ s, commit $commit" --table "$other" good
grep -qF "| good | \`$commit\`, 2026-01-03 |" "$outside/page.md" 2>>"$dir/seen"
report $? "... has what was run"
echo "# changed" >>"$dir/selftests/steps"
rm "$dir/ran"
says "--again after a change" 0 "3 passed, 0 failed, 9 skipped" --again
sort -o "$dir/ran" "$dir/ran"
ran "... runs all" ran "bad good"
says "--table outside of the tree after a change" 0 "[0-9]+ s, commit $commit\+" --table "$other" good
git -C "$dir" checkout -q selftests/steps
rm -f "$dir/ran"
says "--again without the change" 0 "[0-9]+ s, commit $commit" --again --table $page good
ran "... believes nothing that passed with it" ran good
echo broken >"$outside/index"
GIT_INDEX_FILE=$outside/index says "a tree that git cannot read counts as changed" 0 "[0-9]+ s, commit $commit\+" --table $page good
says "--table that cannot be written" 1 "ends with 1" --again --table gone/page.md good
also "... is told" "check: gone/page.md is not written"

says "--times" 0 "ends with 0" --times
grep -qE '^good +- +[0-9]+$' "$dir/selftests/times" && head -n 1 "$dir/selftests/times" | grep -qx "# Seconds"
report $? "... keeps the seconds"

# Each name that check-claims gets has to be one
program=selftests/lab/check-claims
mkdir -p "$dir/selftests/lab" "$dir/userspace/lab"
cp "$here/../lab/check-claims" "$dir/selftests/lab/"
printf '#!/bin/sh\n' >"$dir/selftests/lab/claims"
printf '#!/bin/bash\nbasename "${@: -1}" .lab >>"%s/ran"\n' "$dir" >"$dir/userspace/lab/sluice-lab"
chmod +x "$dir/selftests/lab/claims" "$dir/userspace/lab/sluice-lab"
rm "$dir/ran"
says "a claim, an experiment and a pattern" 0 "4 passed, 0 failed, 0 skipped" fig30 floodgate-theorem3 'rocc-*'
ran "... run theirs" ran "bfc-fig30 floodgate-theorem3 rocc-fig12a rocc-fig12b"
rm "$dir/ran"
for name in fig03 'roc-*' ''; do
	says "'$name' beside a claim" 2 "check-claims: there is no claim or experiment '${name/\*/\\*}'" fig30 "$name"
done
ran "... runs nothing" ran ""

echo "1..$number"
echo "# $((number - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
