#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The options of rocc, what can be below it and what it refuses, by the kernel's tdc: see tdc.sh, of
# which this is one part.

exec "$(dirname "$0")/tdc.sh" rocc_options
