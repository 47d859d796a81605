#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Options of flowsail at random: see bfc_optfuzz.sh. Most are those of a port, which bfc has, too.

SLUICE_FUZZ_INPUTS=${SLUICE_FUZZ_INPUTS:-200000} exec "$(dirname "$0")/bfc_optfuzz.sh" flowsail
