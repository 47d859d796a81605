#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Options of ideal at random: see bfc_optfuzz.sh. They are few.

SLUICE_FUZZ_INPUTS=${SLUICE_FUZZ_INPUTS:-60000} exec "$(dirname "$0")/bfc_optfuzz.sh" ideal
