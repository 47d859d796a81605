// SPDX-License-Identifier: GPL-2.0-only
/*
 * skbfield - a tc program that writes, or looks at, one field of a packet's metadata
 *
 *	skbfield write FIELD VALUE PATH
 *	skbfield drop FIELD VALUE PATH	drops packets with this value
 *	skbfield keep FIELD VALUE PATH	drops packets with another one
 *
 * The program is pinned at PATH, for tc filter ... bpf da object-pinned PATH. It lets other
 * packets go on to the next filter. It is a few instructions long, so that no compiler for BPF is
 * needed. FIELD is mark, priority, tc_index, queue_mapping, hash, tstamp or cb (its first word).
 * Exit status: 0, 1 if the kernel does not take it, 2 used wrongly.
 */
#include <err.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#define NEXT	-1	/* TC_ACT_UNSPEC */
#define SHOT	2	/* TC_ACT_SHOT */

#define FIELD(_name, _member) { _name, offsetof(struct __sk_buff, _member), \
				sizeof(((struct __sk_buff *)0)->_member) == 8 ? BPF_DW : BPF_W }

static const struct field {
	const char *name;
	int16_t at;
	uint8_t size;
} fields[] = {
	FIELD("mark", mark),
	FIELD("priority", priority),
	FIELD("tc_index", tc_index),
	FIELD("queue_mapping", queue_mapping),
	FIELD("hash", hash),
	FIELD("tstamp", tstamp),
	FIELD("cb", cb[0]),
};

static const struct field *field_of(const char *name)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	errx(2, "no field %s", name);
}

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* r2 = VALUE; FIELD = r2 */
static int write_to(struct bpf_insn *p, const struct field *f, int value)
{
	p[0] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = value };
	p[1] = (struct bpf_insn){ .code = BPF_STX | BPF_MEM | f->size, .dst_reg = 1, .src_reg = 2,
				  .off = f->at };
	if (!strcmp(f->name, "hash"))
		p[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_set_hash };
	return 2;
}

/* r2 = FIELD; if it is VALUE (or is not, to keep): r0 = SHOT; exit */
static int look_at(struct bpf_insn *p, const struct field *f, int value, int keep)
{
	p[0] = (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | f->size, .dst_reg = 2, .src_reg = 1,
				  .off = f->at };
	p[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_K | (keep ? BPF_JEQ : BPF_JNE),
				  .dst_reg = 2, .imm = value, .off = 2 };
	p[2] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = SHOT };
	p[3] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return 4;
}

int main(int argc, char **argv)
{
	struct bpf_insn program[8];
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)program,
		.license = (uintptr_t)"GPL",
	};
	union bpf_attr pin = {};
	int n, write, keep;

	if (argc != 5)
		errx(2, "usage: skbfield write|drop|keep FIELD VALUE PATH");
	write = !strcmp(argv[1], "write");
	keep = !strcmp(argv[1], "keep");
	if (!write && !keep && strcmp(argv[1], "drop"))
		errx(2, "no verb %s", argv[1]);
	n = write ? write_to(program, field_of(argv[2]), strtoul(argv[3], NULL, 0)) :
		    look_at(program, field_of(argv[2]), strtoul(argv[3], NULL, 0), keep);
	/* r0 = NEXT; exit */
	program[n++] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = NEXT };
	program[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	load.insn_cnt = n;
	pin.bpf_fd = bpf(BPF_PROG_LOAD, &load);
	if ((int)pin.bpf_fd < 0)
		err(1, "the program is not taken");
	pin.pathname = (uintptr_t)argv[4];
	if (bpf(BPF_OBJ_PIN, &pin))
		err(1, "%s", argv[4]);
	return 0;
}
