#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of flowsail, what it refuses, and flowsail below each qdisc that takes another one, by the kernel's tdc:
# see tdc.sh, of which this is one part.

exec "$(dirname "$0")/tdc.sh" flowsail_options flowsail_parents
