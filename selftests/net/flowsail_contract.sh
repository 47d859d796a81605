#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What flowsail owes to its parents and to the kernel: see bfc_contract.sh.

exec "$(dirname "$0")/bfc_contract.sh" flowsail
