#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rocc, in both roles, below each qdisc that takes another one, by the kernel's tdc: see tdc.sh, of
# which this is one part.

exec "$(dirname "$0")/tdc.sh" rocc_parents
