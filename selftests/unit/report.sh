# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A point of a shell test; what was last seen, in $dir/seen, goes to the log of one that failed.

number=0 failed=0

report() {	# report STATUS NAME
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number $2"
	else
		failed=$((failed + 1))
		echo "not ok $number $2"
		sed 's/^/# /' "$dir/seen"
	fi
}
