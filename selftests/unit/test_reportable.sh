#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# debian/reportable: a release, which is a checkout of its tag, is not packaged before it says where its faults are reported
# and when it was released.

set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# shellcheck source=selftests/unit/report.sh
. "$here/report.sh"

# ends STATUS NAME: debian/reportable 1.2 ends so
ends() {
	"$dir/debian/reportable" 1.2 >"$dir/seen" 2>&1
	[ $? = "$1" ]
	report $? "$2: $1"
}

# A copy, so that its tags are its own
mkdir "$dir/debian" && cp "$root"/debian/{reportable,control} "$dir/debian" || exit 1
sed -i 's/^Maintainer:.*/Maintainer: Sluice <sluice@localhost>/' "$dir/debian/control"
printf '# Changes\n\n## 1.2, not yet released\n\n## 1.1, 2026-01-01\n' >"$dir/CHANGES.md"
ends 0 "no repository"
git -C "$dir" init -q
git -C "$dir" -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m x
ends 0 "no release"
git -C "$dir" tag v1.1
ends 0 "the tag of another version"
git -C "$dir" tag v1.2
ends 1 "a release without an address"
grep -q '^debian/control: Maintainer' "$dir/seen"
report $? "which says what to set"
sed -i 's/^Maintainer:.*/Maintainer: Sluice <faults@sluice.example>/' "$dir/debian/control"
ends 1 "a release that is not yet released"
grep -q '^CHANGES.md: v1.2 is a release' "$dir/seen"
report $? "which says what is missing"
sed -i 's/^## 1.2,.*/## 1.2, 2026-12-01/' "$dir/CHANGES.md"
ends 0 "a release with an address and a date"

echo "1..$number"
echo "$((number - failed)) passed, $failed failed, 0 skipped"
[ $failed = 0 ]
