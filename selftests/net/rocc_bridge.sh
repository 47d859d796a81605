#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rocc asks the bridge module only if it is there: it does without, and holds it no longer than there are
# congestion points. For kernels that have bridges as a module.

. "$(dirname "$0")/lib.sh"
need_tool tc bridge modprobe
load_modules sch_rocc
modinfo -n bridge 2>/dev/null | grep -q / || skip_all "bridges are no module here"
rmmod bridge 2>/dev/null
! _module_loaded bridge || skip_all "somebody needs the bridge module"

held() { [ "$(cat /sys/module/bridge/refcnt)" -gt 0 ]; }
let_go() { ! held; }
bridged() { ip_in a link add br0 type bridge && ip_in a link set v0 master br0; }

ns a
ip_in a link add v0 type veth peer name v1 || skip_all "no veth devices"
tc_in a qdisc add dev v0 root handle 1: rocc || die "no congestion point without the bridge module"
check "nobody has loaded it" test ! -d /sys/module/bridge
check "a bridge comes" bridged
check "the module is held" held
refused "and cannot be taken away" bridge rmmod bridge
tc_in a qdisc add dev v1 root handle 1: rocc
tc_in a qdisc del dev v0 root
check "as long as there is a congestion point" held
tc_in a qdisc del dev v1 root
check "and no longer" let_go
tc_in a qdisc add dev v0 root handle 1: rocc role host
check "a reaction point does not hold it" let_go
tc_in a qdisc replace dev v0 root handle 2: rocc
check "a congestion point that comes later does" held
refused "one that is refused" "sign needs the key" tc_in a qdisc add dev v1 root rocc sign 1
leave_ports
tc_in a qdisc del dev v0 root
check "lets it go, too" let_go
check "it can be taken away" rmmod bridge
finish
