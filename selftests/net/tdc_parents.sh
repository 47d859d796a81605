#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bfc below each qdisc that takes another one, by the kernel's tdc: see tdc.sh, of which this is
# one part: several can run at once.

exec "$(dirname "$0")/tdc.sh" parents
