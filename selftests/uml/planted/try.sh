#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A test that commits the fault $1, in a guest, and does not look for it: `finish` has to.

. "$(dirname "$0")/../../net/lib.sh"
insmod "$SLUICE_MODDIR/planted.ko" fault="$1" || die "no planted.ko"
rmmod planted
nothing_to_inspect "it is about the kernel's log"
pass "$1 has been committed"
finish
