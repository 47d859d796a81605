#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of floodgate, what it refuses, and floodgate below each qdisc that takes another one, by the kernel's tdc:
# see tdc.sh, of which this is one part.

exec "$(dirname "$0")/tdc.sh" floodgate_options floodgate_parents
