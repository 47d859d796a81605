#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Telemetry of flowsail: see telemetry.sh.

exec "$(dirname "$0")/telemetry.sh" flowsail
