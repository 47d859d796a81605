// SPDX-License-Identifier: GPL-2.0-only
/*
 * planted.c - faults of the kinds that the debug flavour has to find
 *
 * Loading it with fault=NAME commits that one. Only for kernels that are thrown away after it.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "leak, inversion, context, use_after_free, overflow, rcu, timer, index, shift, memory, hang, race");

static DEFINE_SPINLOCK(planted_a);
static DEFINE_SPINLOCK(planted_b);
static LIST_HEAD(planted_list);
static volatile int planted_table[4];
static int planted_shared;

struct planted_timed {
	struct timer_list	timer;
	char			pad[64];
};

/* The compiler must not see where a pointer comes from, or it refuses to build some of these. */
static void *planted_hide(void *p)
{
	OPTIMIZER_HIDE_VAR(p);
	return p;
}

static void planted_leak(void)
{
	int i;

	/* some, since a stale copy of a pointer on a stack hides one */
	for (i = 0; i < 16; i++)
		planted_hide(kzalloc(300, GFP_KERNEL));
}

static void planted_inversion(void)
{
	spin_lock(&planted_a);
	spin_lock(&planted_b);
	spin_unlock(&planted_b);
	spin_unlock(&planted_a);

	spin_lock(&planted_b);
	spin_lock(&planted_a);
	spin_unlock(&planted_a);
	spin_unlock(&planted_b);
}

static void planted_in_timer(struct timer_list *timer)
{
	spin_lock(&planted_a);
	spin_unlock(&planted_a);
}

/* A lock that a timer takes, too, held with the timer's interrupt allowed */
static void planted_context(void)
{
	static DEFINE_TIMER(timer, planted_in_timer);

	mod_timer(&timer, jiffies + 1);
	msleep(100);
	spin_lock(&planted_a);
	spin_unlock(&planted_a);
	del_timer_sync(&timer);
}

static void planted_use_after_free(void)
{
	char *p = planted_hide(kzalloc(100, GFP_KERNEL));

	kfree(p);
	WRITE_ONCE(*(char *)planted_hide(p), 1);
}

static void planted_overflow(void)
{
	char *p = planted_hide(kzalloc(100, GFP_KERNEL));

	WRITE_ONCE(*(char *)planted_hide(p + 100), 1);
	kfree(p);
}

static void planted_rcu(void)
{
	struct list_head *at;

	list_for_each_rcu(at, &planted_list)
		;
	rcu_dereference(planted_list.next);
}

static void planted_nothing(struct timer_list *timer)
{
}

static void planted_timer(void)
{
	struct planted_timed *t = kzalloc(sizeof(*t), GFP_KERNEL);

	timer_setup(&t->timer, planted_nothing, 0);
	mod_timer(&t->timer, jiffies + 1000 * HZ);
	kfree(t);
}

static void planted_index(void)
{
	int i = 5;

	OPTIMIZER_HIDE_VAR(i);
	planted_table[i] = 1;
}

static void planted_shift(void)
{
	int i = 40;

	OPTIMIZER_HIDE_VAR(i);
	planted_table[0] = 1 << i;
}

/* All blocks of that size, until there is none: the allocator says so with what it has left. */
static void planted_memory(void)
{
	const unsigned int order = 10;
	struct page *page, *next, *last = NULL;

	while ((page = alloc_pages(GFP_KERNEL | __GFP_NORETRY, order))) {
		set_page_private(page, (unsigned long)last);
		last = page;
	}
	for (page = last; page; page = next) {
		next = (struct page *)page_private(page);
		set_page_private(page, 0);
		__free_pages(page, order);
	}
}

/* Asleep, and not to be woken, for longer than the kernel takes for sound */
static void planted_hang(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(300 * HZ);
}

static void planted_count(void)
{
	planted_shared++;
	barrier();
	cond_resched();
}

static int planted_racer(void *unused)
{
	while (!kthread_should_stop())
		planted_count();
	return 0;
}

/* Two tasks count with one variable. For kernels of several CPUs that look for it. */
static void planted_race(void)
{
	struct task_struct *task = kthread_run(planted_racer, NULL, "planted");
	unsigned long end = jiffies + 3 * HZ;

	if (IS_ERR(task))
		return;
	while (time_before(jiffies, end))
		planted_count();
	kthread_stop(task);
}

static const struct {
	const char	*name;
	void		(*commit)(void);
} planted[] = {
	{ "leak",		planted_leak },
	{ "inversion",		planted_inversion },
	{ "context",		planted_context },
	{ "use_after_free",	planted_use_after_free },
	{ "overflow",		planted_overflow },
	{ "rcu",		planted_rcu },
	{ "timer",		planted_timer },
	{ "index",		planted_index },
	{ "shift",		planted_shift },
	{ "memory",		planted_memory },
	{ "hang",		planted_hang },
	{ "race",		planted_race },
};

static int __init planted_init(void)
{
	int i;

	if (!strcmp(fault, "none"))
		return 0;
	for (i = 0; i < ARRAY_SIZE(planted); i++) {
		if (strcmp(planted[i].name, fault))
			continue;
		planted[i].commit();
		return 0;
	}
	return -EINVAL;
}

static void __exit planted_exit(void)
{
}

module_init(planted_init)
module_exit(planted_exit)
MODULE_DESCRIPTION("Faults for the tests of the tests");
MODULE_LICENSE("GPL");
