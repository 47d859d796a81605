#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of each operation fails once: load a module, add, change, replace, graft, dump and
# delete a bfc, a floodgate, a flowsail, a pfc and a rocc, add, change and delete a wire.
#
#	namespace a:  d0	root bfc		t0	tbf, 1:1 for bfc
#		      m0	mq, 1:1 for bfc		w0 ==== w1
#		      r0	root rocc		f0	root pfc		g0	root floodgate
#		      l0	root flowsail
#
# failnth (failnth.c) lets the first allocation fail, then the second, until there is none left. It
# sees that the operation is refused cleanly, with everything as it was, or taken all the same.
# failload (failload.c) does so with modules: what one has registered by then has to go again, or the
# kernel will call what is no longer there. Of a module's allocations every $SLUICE_NTH_STEP-th (1) fails.
# That nothing is lost is seen at the end, where the kernel looks for leaked memory. Needs
# CONFIG_FAILSLAB (the debug flavour of User-Mode Linux). What needs more than two pages comes from
# the page allocator and is not made to fail.

# shellcheck source=selftests/net/lib.sh
. "$(dirname "$0")/lib.sh"
need_root
need_tool tc ip jq
here=$(cd "$(dirname "$0")" && pwd)
for tool in failnth failload; do
	[ -x "$here/$tool" ] || skip_all "$tool is not built"
done
failslab=/sys/kernel/debug/failslab
{ [ -e /proc/self/fail-nth ] && [ -d $failslab ]; } ||
	skip_all "needs a kernel with CONFIG_FAILSLAB (uml/debug.config)"

# Any allocation, also those that may sleep; not a word and a stack in the log for each
echo N >$failslab/ignore-gfp-wait
echo 0 >$failslab/verbose

# Of the kernel's own code some says with a stack that it found no memory: for a device's directory, a cache
# and its alias, the fields of a tracepoint, a module's place, who holds a reference. That alone is left out of
# the log, and stays away from the console, which is read as well.
kernel_log()
{
	dmesg | awk -v mark="$_mark" '
		/sysctl could not get directory|kmem_cache_create.* failed with error|failload: vmalloc error/ ||
		/cannot create duplicate filename .\/kernel\/slab\// ||
		/WARNING: .* at kernel\/trace\/trace_events\.c/ { ours = 1; next }
		ours && /CPU: |Tainted: |Modules linked in|Stack:|Call Trace:|\] +(\[<|[0-9a-f]+ )|end trace/ { next }
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

# said NAME WORDS: of a program that did its work, that at least one try was refused or taken
said()
{
	local n=${2#failed=}

	between "$1: $2" "${n%% *}" 1 5000
}

# loads NAME: each allocation while it is loaded, then it is
loads()
{
	local words

	module_file "$1"
	if words=$("$here/failload" "$REPLY" "$1" "${SLUICE_NTH_STEP:-1}" 2>&1); then
		said "load $1" "$words"
	else
		fail "load $1" "$words"
	fi
}
for module in hopctl sch_bfc sch_floodgate sch_flowsail sch_ideal sch_pfc sch_rocc wire flowgen; do
	[ -z "${SLUICE_MODDIR:-}" ] || quietly loads $module
	load_modules $module
done
# What the kernel's loader and caches leak when they fail is not ours.
[ ! -w $_kmemleak ] || { _leaks; echo clear >$_kmemleak; } >/dev/null

ns a
# fails [-k KIND] OPERATION DEV [OTHER]: each allocation of it
fails()
{
	local words

	if words=$("$here/failnth" -n "$NS-a" "$@" 2>&1); then
		said "$*" "$words"
	else
		fail "$*" "$words"
	fi
}

bfc="bfc queues 16 classes 2 flows 104 limit 1000000"
ip_in a link add d0 type dummy
ip_in a link add m0 numtxqueues 2 type dummy
ip_in a link add t0 type dummy
ip_in a link add r0 type dummy
for dev in d0 m0 t0 r0; do
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
fails -k pfc graft m0
fails -k floodgate graft m0
fails -k flowsail graft m0
tc_in a qdisc add dev t0 root handle 1: tbf rate 1mbit burst 10k latency 1s
fails graft t0
tc_in a qdisc add dev t0 parent 1:1 handle 11: $bfc
fails qdisc-dump t0

ip_in a link add f0 type dummy
ip_in a link set f0 up
fails -k pfc add f0
tc_in a qdisc add dev f0 root handle 1: pfc limit 1000000 pool 1m
for operation in change replace qdisc-dump class-dump delete; do
	fails -k pfc $operation f0
done

ip_in a link add g0 type dummy
ip_in a link set g0 up
fails -k floodgate add g0
tc_in a qdisc add dev g0 root handle 1: floodgate limit 1000000 slots 16
for operation in change replace qdisc-dump class-dump delete; do
	fails -k floodgate $operation g0
done

ip_in a link add l0 type dummy
ip_in a link set l0 up
fails -k flowsail add l0
tc_in a qdisc add dev l0 root handle 1: flowsail limit 1000000 queues 4 slots 16
for operation in change replace qdisc-dump class-dump delete; do
	fails -k flowsail $operation l0
done

# what the hooks of a namespace's first host come from is given back with its last
for role in switch host; do
	kind=rocc limit="limit 1000000 flows 16"
	[ $role = switch ] || kind=rocc-host limit="limit 1000000 limiters 16"
	fails -k $kind add r0
	# shellcheck disable=SC2086
	tc_in a qdisc add dev r0 root handle 1: rocc role $role $limit
	fails -k $kind change r0
	fails -k $kind replace r0
	fails -k $kind graft r0
	fails -k bfc graft r0
	fails -k $kind qdisc-dump r0
	fails -k $kind class-dump r0
	fails -k $kind delete r0
	tc_in a qdisc del dev r0 root
done

quietly fails wire-add w0 w1
ip_in a link add w0 type wire rate 1gbit seed 1 peer name w1
fails wire-change w0 w1
fails link-dump w0
fails wire-delete w0 w1
finish
