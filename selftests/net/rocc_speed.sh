#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rocc follows the speed of its link: what the cable says when the qdisc is made and whenever that
# changes, unless `rate` is given. A driver sleeps when it is asked, and wire says so in the kernel's
# log if it is asked where nobody may: that log is looked at in the end.
#
#	a: e0 ---- e1

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/rocc.sh"
need_tool jq
load_modules sch_rocc wire

ns a
ip_in a link add e0 type wire rate 10gbit peer name e1
ip_in a link set e1 up

# T is what the link needs for 125000 bytes
interval() { figures a e0 interval; echo "$REPLY"; }
fair_rate() { figures a e0 fair_rate; echo "$REPLY"; }

tc_in a qdisc add dev e0 root handle 1: rocc
ip_in a link set e0 up
is "10 Gb/s" "$(interval) $(fair_rate)" "100000 1250000000"
ip_in a link set e0 type wire rate 1gbit
is "the cable has 1 Gb/s now" "$(interval) $(fair_rate)" "1000000 125000000"
tc_in a qdisc change dev e0 root rocc rate 2gbit
is "rate 2gbit" "$(interval) $(fair_rate)" "500000 250000000"
ip_in a link set e0 type wire rate 4gbit
is "does not follow the cable" "$(interval)" 500000
tc_in a qdisc change dev e0 root rocc rate auto
is "rate auto: 4 Gb/s" "$(interval)" 250000
tc_in a qdisc change dev e0 root rocc limit 1m
is "and stays when something else is changed" "$(interval)" 250000
ip_in a link set e0 type wire rate 0
is "no speed is taken for 1 Gb/s" "$(interval)" 1000000

tc_in a qdisc replace dev e0 root handle 2: rocc role host
check "a host is changed" tc_in a qdisc change dev e0 root rocc radius 3
check "and its link" ip_in a link set e0 type wire rate 10gbit
rm -r "$work"
finish
