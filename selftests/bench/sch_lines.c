// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_lines.c - sch_hold with marks, by which `lines` sees where a packet's way begins and ends
 *
 * A mark is a no-op with a number in it. Executed it does nothing, but lines_plugin.c, which looks
 * at the machine from outside, knows it. The number's last byte is a letter:
 *
 *	N	a new row: a qdisc, or the known function
 *	P	behind it first the first, then the last byte of a part of the packet is read
 *	S	behind it the stack is read
 *	B	what is counted begins
 *	E	and ends
 *	D	the packet has been enqueued, another dequeued, and that is all of it
 *
 * The parameter `marks` is for how many packets there are marks. A number written to `touch` runs a
 * function that touches a known number of lines, so many times, as a row of its own.
 *
 * For measurements only.
 */
#include <linux/module.h>
#include <linux/linkage.h>
#include <net/pkt_sched.h>

#define MARK_WORD 0x534c5500	/* as in lines_plugin.c */

static unsigned int marks;
module_param(marks, uint, 0644);
MODULE_PARM_DESC(marks, "how many packets more are marked");

#define mark(letter) \
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long %c0" : : "i" (MARK_WORD | (letter)) : "memory")

#define mark_address(letter, address)							\
	asm volatile(".byte 0x0f, 0x1f, 0x80; .long %c0; testb $0, (%1)"		\
		     : : "i" (MARK_WORD | (letter)), "r" (address) : "memory", "cc")

static noinline void mark_part(const void *part, size_t len)
{
	mark_address('P', part);
	mark_address('P', part + len - 1);
}

static noinline void mark_packet(const struct sk_buff *skb)
{
	mark_part(skb, sizeof(*skb));
	mark_part(skb->head, skb_end_offset(skb) + sizeof(struct skb_shared_info));
	mark_address('S', __builtin_frame_address(0));
}

#define marks_enqueue(skb) do { if (marks) { mark_packet(skb); mark('B'); } } while (0)
#define marks_enqueued() do { if (marks) mark('E'); } while (0)
#define marks_dequeue() do { if (marks) mark('B'); } while (0)
#define marks_dequeued(skb) do {							\
	if (marks) {									\
		mark('E');								\
		if (skb)								\
			mark_packet(skb);						\
		mark('D');							\
		marks--;								\
	}										\
} while (0)
#define marks_init() mark('N')

/*
 * Lines of its argument: 0 to 3, the packet, are read; 4 to 6 are read, 6 to 8 written; and a word
 * is read that is half in 9, half in 10. Its own code fills two lines and has its end in a third.
 */
asmlinkage void touch_known_lines(u8 *lines);
asm(".text\n"
    ".balign 64\n"
    ".type touch_known_lines, @function\n"
    "touch_known_lines:\n"
    ".irp line, 0, 1, 2, 3, 4, 5, 6\n"
    "	movb \\line * 64(%rdi), %al\n"
    ".endr\n"
    ".irp line, 6, 7, 8\n"
    "	movb %al, \\line * 64(%rdi)\n"
    ".endr\n"
    "	movl 9 * 64 + 62(%rdi), %eax\n"
    ".org touch_known_lines + 128, 0x90\n"
    ASM_RET
    ".size touch_known_lines, . - touch_known_lines\n");

static u8 known[11 * 64] __aligned(64);

static int touch(const char *value, const struct kernel_param *param)
{
	unsigned int times;
	int err = kstrtouint(value, 0, &times);

	if (err)
		return err;
	mark('N');
	while (times--) {
		mark_part(known, 4 * 64);
		mark_address('S', __builtin_frame_address(0));
		mark('B');
		touch_known_lines(known);
		mark('E');
		mark('D');
	}
	return 0;
}

static const struct kernel_param_ops touch_ops = { .set = touch };
module_param_cb(touch, &touch_ops, NULL, 0200);
MODULE_PARM_DESC(touch, "touches lines whose number is known, so many times");

#include "sch_hold.c"
