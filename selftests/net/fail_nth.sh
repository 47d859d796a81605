#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of each operation fails once: add, change, replace, graft, dump and delete a
# bfc, add, change and delete a wire.
#
#	namespace a:  d0	root bfc		t0	tbf, 1:1 for bfc
#		      m0	mq, 1:1 for bfc		w0 ==== w1
#
# failnth (failnth.c) lets the first allocation fail, then the second, until there is none left. It
# sees that the operation is refused cleanly, with everything as it was, or taken all the same.
# That nothing is lost is seen at the end, where the kernel looks for leaked memory. Needs
# CONFIG_FAILSLAB (the debug flavour of User-Mode Linux). What needs more than two pages comes from
# the page allocator and is not made to fail.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_tool tc ip jq
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$here/failnth" ] || skip_all "failnth is not built"
failslab=/sys/kernel/debug/failslab
{ [ -e /proc/self/fail-nth ] && [ -d $failslab ]; } ||
	skip_all "needs a kernel with CONFIG_FAILSLAB (uml/debug.config)"
load_modules

# Any allocation, also those that may sleep; not a word and a stack in the log for each
echo N >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose

# The kernel's own sysctl code says with a stack that it found no memory for a device's directory.
# That alone is left out of the log, and stays away from the console, which is read as well.
kernel_log()
{
	dmesg | awk -v mark="$_mark" '
		/sysctl could not get directory/ { ours = 1; next }
		ours && /CPU: |Stack:|Call Trace:|\] +(\[<|[0-9a-f]+ )/ { next }
		{ ours = 0 }
		found { print }
		index($0, mark) { found = 1 }'
}
quietly()
{
	local level

	read -r level _ </proc/sys/kernel/printk
	echo 1 >/proc/sys/kernel/printk
	"$@"
	echo "$level" >/proc/sys/kernel/printk
}

ns a
# fails OPERATION DEV [OTHER]: each allocation of it
fails()
{
	local said n

	if said=$("$here/failnth" -n "$(ns_name a)" "$@" 2>&1); then
		n=${said#failed=}
		n=${n%% *}
		between "$1 $2: $said" "$n" 1 1000
	else
		fail "$1 $2" "$said"
	fi
}

bfc="bfc queues 16 classes 2 flows 100 limit 1000000"
ip_in a link add d0 type dummy
ip_in a link add m0 numtxqueues 2 type dummy
ip_in a link add t0 type dummy
for dev in d0 m0 t0; do
	ip_in a link set $dev up
done

fails add d0
# shellcheck disable=SC2086
tc_in a qdisc add dev d0 root handle 1: $bfc
fails change d0
fails replace d0
fails qdisc-dump d0
fails class-dump d0
fails delete d0

tc_in a qdisc add dev m0 root handle 1: mq
# what comes with mq does not come back
tc_in a qdisc add dev m0 parent 1:1 handle 11: pfifo
tc_in a qdisc del dev m0 parent 1:1
fails graft m0
tc_in a qdisc add dev t0 root handle 1: tbf rate 1mbit burst 10k latency 1s
fails graft t0
tc_in a qdisc add dev t0 parent 1:1 handle 11: $bfc
fails qdisc-dump t0

quietly fails wire-add w0 w1
ip_in a link add w0 type wire rate 1gbit seed 1 peer name w1
fails wire-change w0 w1
fails link-dump w0
fails wire-delete w0 w1
finish
