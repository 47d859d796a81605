// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcindex - a tc program that writes skb->tc_index
 *
 *	tcindex VALUE PATH	pin it at PATH, for tc filter ... bpf da object-pinned PATH
 *
 * The program lets packets go on to the next filter. It is four instructions long, so that no
 * compiler for BPF is needed. Exit status: 0, 1 if the kernel does not take it, 2 used wrongly.
 */
#include <err.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int main(int argc, char **argv)
{
	struct bpf_insn program[] = {
		/* r2 = VALUE; skb->tc_index = r2; r0 = TC_ACT_UNSPEC; exit */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2 },
		{ .code = BPF_STX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_2,
		  .off = offsetof(struct __sk_buff, tc_index) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)program,
		.insn_cnt = sizeof(program) / sizeof(program[0]),
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr pin = {};

	if (argc != 3)
		errx(2, "usage: tcindex VALUE PATH");
	program[0].imm = strtoul(argv[1], NULL, 0);
	pin.bpf_fd = bpf(BPF_PROG_LOAD, &load);
	if ((int)pin.bpf_fd < 0)
		err(1, "the program is not taken");
	pin.pathname = (uintptr_t)argv[2];
	if (bpf(BPF_OBJ_PIN, &pin))
		err(1, "%s", argv[2]);
	return 0;
}
