#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The tc plugin of kind ideal, inside stock tc, and sluice, without a kernel module and without privileges.

kind=ideal
# shellcheck source=selftests/unit/q_lib.sh
. "$(dirname "$0")/q_lib.sh"

takes "" ""
takes "order fq" "TCA_IDEAL_ORDER 1 0"
takes "order srf" "TCA_IDEAL_ORDER 1 1"
takes "limit 12m" "TCA_IDEAL_LIMIT 4 12582912"
takes "limit none" "TCA_IDEAL_LIMIT 4 0"
takes "limit 1.5k" "TCA_IDEAL_LIMIT 4 1536"
takes "limit 8kbit" "TCA_IDEAL_LIMIT 4 1024"
takes "control-dscp 46" "TCA_IDEAL_CONTROL_DSCP 1 46"
takes "control-dscp none limit 64k" "TCA_IDEAL_CONTROL_DSCP 1 0; TCA_IDEAL_LIMIT 4 65536"
refuses "order lifo" "\"order\" takes one of fq, srf, not \"lifo\""
for bad in -1 4g x auto; do
	refuses "limit $bad" "\"limit\" takes a size below 4Gb or \"none\", not \"$bad\""
done
for bad in 64 -1 ef auto; do
	refuses "control-dscp $bad" "\"control-dscp\" takes a number from 1 to 63 or \"none\", not \"$bad\""
done
refuses "limit" "\"limit\" takes a size below 4Gb or \"none\", and nothing follows it"
refuses "limit 1k limit 2k" "\"limit\" is given twice"
refuses "rate 1mbit" "there is no option \"rate\""
operation=add
again "TCA_IDEAL_ORDER=u8:1 TCA_IDEAL_LIMIT=u32:65536 TCA_IDEAL_CONTROL_DSCP=u8:46"
report $? "options that were shown can be typed in again"
written "TCA_OPTIONS{ $(tokens ideal.h TCA_IDEAL_ TCA_IDEAL_STATS_) }
	 TCA_STATS2{ TCA_STATS_APP{ $(tokens ideal.h TCA_IDEAL_STATS_ none) } }"
sluice_agrees
sluice_shows "sluice: a table" "\
DEV  KIND   QDISC  ORDER  LIMIT  QUEUE  FLOWS
lo   ideal  1:     srf    2b     0b     1" show
finish
