// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpfpass - a BPF program on a device that lets everything pass, for as long as this runs
 *
 *	bpfpass xdp DEV		generic XDP: XDP_PASS
 *	bpfpass tcx DEV		tcx egress (6.6 and newer): TCX_NEXT
 *
 * Prints "attached" when it is, and waits for a signal. Exit status 4: this kernel cannot.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TCX_EGRESS_ATTACH	47	/* BPF_TCX_EGRESS of newer headers */

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int load(int type, int attach_type, int verdict)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = verdict },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {};

	attr.prog_type = type;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(*insns);
	attr.license = (uintptr_t)"GPL";
	attr.expected_attach_type = attach_type;
	return bpf(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	int xdp = argc == 3 && !strcmp(argv[1], "xdp"), prog, link;
	union bpf_attr attr = {};

	if (argc != 3 || (!xdp && strcmp(argv[1], "tcx"))) {
		fprintf(stderr, "usage: bpfpass xdp|tcx DEV\n");
		return 2;
	}
	prog = xdp ? load(BPF_PROG_TYPE_XDP, BPF_XDP, XDP_PASS) :
		     load(BPF_PROG_TYPE_SCHED_CLS, 0, -1);
	if (prog < 0) {
		perror("bpfpass: load");
		return 4;
	}
	attr.link_create.prog_fd = prog;
	attr.link_create.target_ifindex = if_nametoindex(argv[2]);
	attr.link_create.attach_type = xdp ? BPF_XDP : TCX_EGRESS_ATTACH;
	attr.link_create.flags = xdp ? XDP_FLAGS_SKB_MODE : 0;
	link = bpf(BPF_LINK_CREATE, &attr);
	if (link < 0) {
		perror("bpfpass: attach");
		return errno == EINVAL ? 4 : 1;
	}
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}
