#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What README.md and Documentation tell people to type works as it stands there, and what they show of a terminal is
# what one sees: their samples of class uml (samples.py), in order.
#
# A box has devices of the names that they use, each with a neighbour:
#
#     box, eth0 eth1 eth2 ==== far, x0 x1 x2, all with bfc
#
# They are made anew for each block. The directory is one like the tree, with the modules in build/host.

. "$(dirname "$0")/lib.sh"
need_virtual_time
top=$(cd "$(dirname "$0")/../.." && pwd)
[ -f "$top/README.md" ] || skip_all "the documents are not here"
need_tool python3 iperf jq tcpdump

tree=$(mktemp -d)
mkdir "$tree/build"
ln -s "$top"/* "$tree" 2>/dev/null
ln -s "$top"/build/* "$tree/build"
ln -sfn "$SLUICE_MODDIR" "$tree/build/host"
PATH=$PATH:$tree/build/sluice:$tree/build/flowgen:$tree/build/trace
cd "$tree" || exit

devices()
{
	load_modules hopctl sch_bfc sch_rocc wire
	ns far
	printf "link add eth%d up type veth peer name x%d netns $NS-far\n" 0 0 1 1 2 2 | ip_in box -batch -
	printf 'link set x%d up\n' 0 1 2 | ip_in far -batch -
	printf 'qdisc add dev x%d root bfc\n' 0 1 2 | tc_in far -batch -
}

# What a document's comment may want before a sample: our modules are installed, so that modprobe finds them, and not loaded
unloaded()
{
	printf 'qdisc del dev x%d root\n' 0 1 2 | tc -n "$FAR" -batch -
	rmmod sch_rocc sch_bfc hopctl wire
	export MODULES MODPROBE_OPTIONS="-d $INSTALLED"
	MODULES=$INSTALLED/lib/modules/$(uname -r)
	rm -rf "$INSTALLED"
	mkdir -p "$MODULES"
	cp -L build/host/*.ko "$MODULES"
	depmod -b "$INSTALLED" 2>/dev/null
}
export -f unloaded
export INSTALLED=/tmp/installed

# What is left of them has come to rest
no_devices()
{
	leave_ports
	in_ns box ls /sys/class/net | sed -n '/^lo$/!s/^/link del /p' | ip_in box -force -batch - 2>/dev/null
	del_ns far
	_spaces=("$NS-box")
}

ns box
devices
FAR=$NS-far
export FAR
count=0 ended=0
documents=()
for file in README.md Documentation/*.md; do
	! grep -qE '^(```console|<!-- .*uml)' "$file" || documents+=("$file")
done
mkfifo "$tree/go-on"
exec {go_on}<>"$tree/go-on"
while read -r word rest; do
	case $word in
	ok) count=$((count + 1)); pass "$rest" ;;
	not) count=$((count + 1)); fail "${rest#ok }" ;;
	rest) no_devices; devices; echo >&"$go_on" ;;
	end) ended=1 ;;
	\#) diag "$rest" ;;
	*) diag "$word $rest" ;;
	esac
done < <(ip netns exec "$NS-box" python3 "$_here/samples.py" "${documents[@]}" <"$tree/go-on" 2>&1)
is "all have been tried" "$ended" 1
between "there are some" "$count" 40 1000
leave_ports
finish
