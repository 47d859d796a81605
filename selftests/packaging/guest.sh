#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# On a machine where the packages are installed: commands load their modules, tc and ip find their
# plugins, the unit puts bfc on ports and takes it away. Run by `check` in a virtual machine; it
# ends with the removal of the tools. Not for a machine that is in use.

. "$(dirname "$0")/../net/lib.sh"
# The plugins are where tc and ip look by themselves.
unset TC_LIB_DIR IP_LIB_DIR
[ -e /etc/systemd/system/guest.service ] || skip_all "not the guest of selftests/packaging/check"

loaded() { for name; do [ -d "/sys/module/$name" ] || return; done; }
none_loaded() { for name in sch_bfc hopctl wire; do [ ! -d "/sys/module/$name" ] || return; done; }
root_of() { tc qdisc show dev "$1" | awk '$4 == "root" { print $2; exit }'; }
has_bfc() { [ "$(root_of "$1")" = bfc ]; }
unit_is() { [ "$(systemctl show -P ActiveState "$1")" = "$2" ]; }
# Two hundred looks, and under emulation one at systemd takes half a second.
soon() { wait_until 2 "$@"; }
options() { tc qdisc show dev "$1"; }

nothing_to_inspect "the ports are outside of namespaces, and removed by what is tested"
check "no module of ours is loaded yet" none_loaded

check "ip link add type wire" ip link add w0 type wire peer name w1 rate 1gbit delay 1us
check "loads the module wire" loaded wire
is "and ip shows its options" "$(ip -d link show w0 | grep -o 'rate 1gbit delay 1us')" \
	"rate 1gbit delay 1us"
check "tc qdisc add bfc queues 64" tc qdisc add dev w0 root bfc queues 64
check "loads the modules sch_bfc and hopctl" loaded sch_bfc hopctl
is "and tc shows its options" "$(options w0 | grep -o 'queues 64')" "queues 64"
tc qdisc del dev w0 root
rmmod sch_bfc

read -r default </proc/sys/net/core/default_qdisc
check "the example for sysctl.d" /lib/systemd/systemd-sysctl \
	/usr/share/doc/sluice-tools/examples/default-qdisc.conf
check "loads the module too" loaded sch_bfc
ip link set w0 up
is "bfc is the default of new interfaces" "$(root_of w0)" bfc
ip link set w0 down
echo "$default" >/proc/sys/net/core/default_qdisc
ip link delete w0
rmmod sch_bfc hopctl wire

# The unit
ip link add w0 type wire peer name to-spine
port='sluice@to\x2dspine'
echo 'OPTIONS="peer switch queues 128"' >/etc/default/sluice-to-spine
check "a unit starts, for a name with a dash" systemctl start "$port"
is "with the options of its file" "$(options to-spine | grep -oE 'queues 128|peer switch' | sort | xargs)" \
	"peer switch queues 128"
check "a unit stops" systemctl stop "$port"
is "and bfc is gone" "$(options to-spine | grep -c bfc)" 0

echo 'OPTIONS="queues 3 classes 2"' >/etc/default/sluice-to-spine
refused "a bad option is refused" "control process exited with error code" systemctl start "$port"
check "with the reason in the journal" grep -q "sluice: no bfc on to-spine" \
	<(journalctl -u "$port" -o cat)
systemctl reset-failed "$port"
rm /etc/default/sluice-to-spine

tc qdisc add dev to-spine root handle 1: prio
refused "a qdisc that somebody has set is not replaced" "tc qdisc del dev to-spine root" \
	/usr/lib/sluice/port start to-spine
check "nor removed" /usr/lib/sluice/port stop to-spine
is "it is still there" "$(root_of to-spine)" prio
tc qdisc del dev to-spine root
refused "an interface that is not there" "there is no interface eth77" \
	/usr/lib/sluice/port start eth77

modprobe -r sch_bfc
echo 'install sch_bfc /bin/false' >/etc/modprobe.d/no-bfc.conf
refused "a module that cannot be loaded is named" "the module sch_bfc cannot be loaded" \
	/usr/lib/sluice/port start to-spine
refused "tc cannot say why" "Error: Specified qdisc kind is unknown." \
	tc qdisc add dev to-spine root bfc queues 64
rm /etc/modprobe.d/no-bfc.conf
ip link delete w0

# What the documents have people type
ip link add eth1 type wire peer name to-spine
count=0
while IFS=$'\t' read -r place command <&5; do
	count=$((count + 1))
	check "$place: $command" sh -c "$command"
done 5</root/samples
between "the documents have commands for it" $count 3 100
check "the ports have bfc" has_bfc to-spine
is "with the options of the file" "$(options eth1 | grep -o 'peer switch')" "peer switch"
ip link delete eth1
rm /etc/default/sluice-eth1

# Hotplug
check "a port can be enabled before it exists" systemctl enable sluice@w2
ip link add w2 type wire peer name w3
check "bfc comes with the device" soon has_bfc w2
check "the unit is active" soon unit_is sluice@w2 active
ip link delete w2
check "the unit ends with the device" soon unit_is sluice@w2 inactive
ip link add w2 type wire peer name w3
check "and starts again with it" soon has_bfc w2

# Removal on a running system
check "the tools can be purged" dpkg --force-unsafe-io --purge sluice-lab sluice-tools
is "ports have the kernel's default again" "$(tc qdisc show dev w2 | grep -c bfc)" 0
is "nothing of the unit is left" "$(find /etc/systemd /lib/systemd -name 'sluice@*')" ""
refused "tc has unlearnt bfc's options" 'Unknown qdisc "bfc"' tc qdisc add dev w2 root bfc queues 64
ip link delete w2
_modules=(sch_bfc hopctl wire)
finish
