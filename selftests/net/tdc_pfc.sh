#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of pfc, what it refuses, and pfc below each qdisc that takes another one, by the kernel's tdc: see tdc.sh,
# of which this is one part.

exec "$(dirname "$0")/tdc.sh" pfc_options pfc_parents
