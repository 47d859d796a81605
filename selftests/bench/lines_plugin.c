// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines_plugin.c - a plugin of QEMU that writes down what the guest touches between two marks
 *
 *	qemu-system-x86_64 -plugin lines_plugin.so,out=FILE ...
 *
 * FILE gets a line of text for each mark of sch_lines.c that the guest executes, "MARK ADDRESS",
 * where the address is the mark's own or, of P and S, that of the access behind it. Between B and E
 * it also gets, in the order of execution,
 *
 *	X ADDRESS		an instruction in another line of the cache than the one before it
 *	R ADDRESS SIZE BY	a load, and the address of the instruction
 *	W ADDRESS SIZE BY	a store
 *
 * Only code in the kernel's half of the addresses is looked at. One CPU.
 *
 * The distribution has no header for plugins, but its emulator exports the functions. Declared here
 * is what is needed of version 1 of that interface; an emulator that no longer has it says so and
 * does not load this.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT		__attribute__((visibility("default")))
#define LINE		64
#define MARK_WORD	0x534c5500	/* as in sch_lines.c */
#define TOP		56	/* from this bit on: ones in an address, a mark's letter */

enum { NO_REGISTERS };
enum { LOADS_AND_STORES = 3 };

typedef uint64_t plugin_id;
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*fn)(plugin_id, void *block));
void qemu_plugin_register_vcpu_insn_exec_cb(void *insn, void (*fn)(unsigned int cpu, void *data),
					    int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(void *insn, void (*fn)(unsigned int cpu, uint32_t info,
							     uint64_t address, void *data),
				      int flags, int which, void *data);
size_t qemu_plugin_tb_n_insns(const void *block);
void *qemu_plugin_tb_get_insn(const void *block, size_t index);
const void *qemu_plugin_insn_data(const void *insn);
size_t qemu_plugin_insn_size(const void *insn);
uint64_t qemu_plugin_insn_vaddr(const void *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

EXPORT int qemu_plugin_version = 1;

static FILE *out;
static bool counts;	/* between B and E */
static char pending;	/* the mark whose address is that of the next access, or 0 */
static uint64_t code;	/* the line of the last instruction */

static void on_mark(unsigned int cpu, void *data)
{
	char mark = (uint64_t)data >> TOP;

	(void)cpu;
	pending = mark == 'P' || mark == 'S' ? mark : 0;
	if (pending)
		return;
	counts = mark == 'B';
	code = 0;
	fprintf(out, "%c %lx\n", mark, (uint64_t)data | 0xffUL << TOP);
	if (mark == 'D')
		fflush(out);
}

static void on_execute(unsigned int cpu, void *data)
{
	uint64_t line = (uint64_t)data / LINE;

	(void)cpu;
	if (!counts || line == code)
		return;
	code = line;
	fprintf(out, "X %lx\n", (uint64_t)data);
}

static void on_memory(unsigned int cpu, uint32_t info, uint64_t address, void *data)
{
	(void)cpu;
	if (pending)
		fprintf(out, "%c %lx\n", pending, address);
	else if (counts)
		fprintf(out, "%c %lx %u %lx\n", qemu_plugin_mem_is_store(info) ? 'W' : 'R',
			address, 1U << qemu_plugin_mem_size_shift(info), (uint64_t)data);
	pending = 0;
}

/* The letter of the mark that an instruction is, or 0 */
static char mark_of(const void *insn)
{
	static const uint8_t nopl[] = { 0x0f, 0x1f, 0x80 };
	const uint8_t *data = qemu_plugin_insn_data(insn);
	uint32_t word;

	if (qemu_plugin_insn_size(insn) != sizeof(nopl) + sizeof(word) ||
	    memcmp(data, nopl, sizeof(nopl)))
		return 0;
	memcpy(&word, data + sizeof(nopl), sizeof(word));
	return (word & ~0xff) == MARK_WORD ? word : 0;
}

static void watch(void *insn)
{
	uint64_t first = qemu_plugin_insn_vaddr(insn);
	uint64_t last = first + qemu_plugin_insn_size(insn) - 1;

	qemu_plugin_register_vcpu_insn_exec_cb(insn, on_execute, NO_REGISTERS, (void *)first);
	if (first / LINE != last / LINE)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_execute, NO_REGISTERS,
						       (void *)last);
	qemu_plugin_register_vcpu_mem_cb(insn, on_memory, NO_REGISTERS, LOADS_AND_STORES,
					 (void *)first);
}

static void on_translate(plugin_id id, void *block)
{
	size_t i, n = qemu_plugin_tb_n_insns(block);

	(void)id;
	for (i = 0; i < n; i++) {
		void *insn = qemu_plugin_tb_get_insn(block, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		uint64_t mark = mark_of(insn);

		if (!(address >> 63))
			return;
		address = (address & ~(0xffUL << TOP)) | mark << TOP;
		if (mark)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, NO_REGISTERS,
							       (void *)address);
		else
			watch(insn);
	}
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	out = argc == 1 && !strncmp(argv[0], "out=", 4) ? fopen(argv[0] + 4, "w") : NULL;
	if (!out) {
		fprintf(stderr, "lines_plugin: out=FILE is needed, a file that can be written\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	return 0;
}
