#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Options of rocc, of both roles, at random: see bfc_optfuzz.sh.

exec "$(dirname "$0")/bfc_optfuzz.sh" rocc rocc-host
