// SPDX-License-Identifier: GPL-2.0-only
/*
 * fpstate: whether registers that the kernel does not use itself outlive what it does.
 *
 *	fpstate
 *
 * Gives vector registers, MXCSR, the x87 control word and the base of %fs a value, has the kernel
 * do something, and compares: after a fork on both sides, a vfork, a signal whose handler changes
 * them, page faults of all kinds, and in threads that take turns. A program that is started finds
 * MXCSR and the control word as the ABI has them. Prints "NAME is right" or what differs. For the
 * self-test: the home's kernel leaves these registers where they are as long as it can.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE		4096
#define AREA		(256 * PAGE)
#define MXCSR		0x1f80		/* what a program starts with */
#define CONTROL		0x37f

/* struct state - the lowest and highest vector register, and what controls them */
struct state {
	uint64_t	low[2];
	uint64_t	high[2];
	uint32_t	mxcsr;
	uint16_t	control;
};

static struct state state_of(int n)
{
	return (struct state){
		.low = { n, ~n }, .high = { n << 8, n * 7 },
		.mxcsr = MXCSR | (n & 3) << 13, .control = CONTROL | (n & 3) << 10,
	};
}

static inline __attribute__((always_inline)) void load(const struct state *s)
{
	asm volatile("movdqu %0, %%xmm0\n\tmovdqu %1, %%xmm15\n\tldmxcsr %2\n\tfldcw %3"
		     :: "m"(s->low), "m"(s->high), "m"(s->mxcsr), "m"(s->control)
		     : "xmm0", "xmm15");
}

/* So that the compiler's own code finds what it expects */
static inline __attribute__((always_inline)) struct state store(void)
{
	const uint32_t mxcsr = MXCSR;
	const uint16_t control = CONTROL;
	struct state s;

	asm volatile("movdqu %%xmm0, %0\n\tmovdqu %%xmm15, %1\n\tstmxcsr %2\n\tfnstcw %3"
		     : "=m"(s.low), "=m"(s.high), "=m"(s.mxcsr), "=m"(s.control));
	asm volatile("ldmxcsr %0\n\tfldcw %1" :: "m"(mxcsr), "m"(control));
	return s;
}

/* A system call that touches no register but those of system calls */
static inline __attribute__((always_inline)) long call(long n, long a, long b, long c)
{
	long result;

	asm volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c)
		     : "rcx", "r11", "memory");
	return result;
}

static bool same(const struct state *a, const struct state *b)
{
	return !memcmp(a->low, b->low, sizeof(a->low)) &&
	       !memcmp(a->high, b->high, sizeof(a->high)) &&
	       a->mxcsr == b->mxcsr && a->control == b->control;
}

static bool after_fork(int n)
{
	struct state want = state_of(n), got;
	int status;
	long child;

	load(&want);
	child = call(SYS_fork, 0, 0, 0);
	call(SYS_sched_yield, 0, 0, 0);
	got = store();
	if (!child)
		_exit(!same(&got, &want));
	return waitpid(child, &status, 0) == child && !status && same(&got, &want);
}

/* The child, which has our memory, changes them and ends. */
static bool after_vfork(int n)
{
	struct state want = state_of(n), other = state_of(n + 1), got;
	long child;

	load(&want);
	child = call(SYS_vfork, 0, 0, 0);
	if (!child) {
		load(&other);
		call(SYS_getppid, 0, 0, 0);
		call(SYS_exit_group, 0, 0, 0);
	}
	got = store();
	return waitpid(child, NULL, 0) == child && same(&got, &want);
}

static void handler(int n)
{
	struct state other = state_of(n + 1);

	load(&other);
	call(SYS_getppid, 0, 0, 0);
}

static bool after_signal(int n)
{
	struct state want = state_of(n), got;
	pid_t self = getpid();

	signal(SIGUSR1, handler);
	load(&want);
	call(SYS_kill, self, SIGUSR1, 0);
	got = store();
	return same(&got, &want);
}

static bool after_faults(int n)
{
	volatile char *private = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile char *shared = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct state want = state_of(n), got;
	int at;

	if (private == MAP_FAILED || shared == MAP_FAILED)
		return false;
	load(&want);
	for (at = 0; at < AREA; at += 40 * PAGE) {
		(void)shared[at];
		shared[at] = 1;
		private[at] = 1;
	}
	call(SYS_mprotect, (long)private, AREA, PROT_READ);
	(void)private[0];
	call(SYS_mprotect, (long)private, AREA, PROT_READ | PROT_WRITE);
	private[0] = 2;
	got = store();
	munmap((void *)private, AREA);
	munmap((void *)shared, AREA);
	return same(&got, &want);
}

/* struct turn - a thread, the base of %fs that it has, and whether all stayed as it was */
struct turn {
	pthread_t	thread;
	int		n;
	unsigned long	base;
	bool		right;
};

static void *thread(void *argument)
{
	struct turn *t = argument;
	struct state want = state_of(t->n), got;
	unsigned long now = 0;
	int i;

	call(SYS_arch_prctl, ARCH_GET_FS, (long)&t->base, 0);
	t->right = true;
	for (i = 0; i < 50; i++) {
		load(&want);
		call(SYS_sched_yield, 0, 0, 0);
		call(SYS_sched_yield, 0, 0, 0);
		got = store();
		call(SYS_arch_prctl, ARCH_GET_FS, (long)&now, 0);
		t->right = t->right && same(&got, &want) && now == t->base;
	}
	return NULL;
}

/* The library puts what it knows a thread by at the base that it asks for. */
static bool in_threads(int n)
{
	struct turn turns[4] = { { .thread = pthread_self(), .n = n } };
	bool right = true;
	int i;

	for (i = 1; i < 4; i++) {
		turns[i].n = n + i;
		if (pthread_create(&turns[i].thread, NULL, thread, &turns[i]))
			return false;
	}
	thread(&turns[0]);
	for (i = 0; i < 4; i++) {
		if (i)
			pthread_join(turns[i].thread, NULL);
		right = right && turns[i].right && turns[i].base == turns[i].thread;
	}
	return right && after_fork(n);
}

static const struct {
	const char	*name;
	bool		(*right)(int n);
} checks[] = {
	{ "fork", after_fork }, { "vfork", after_vfork }, { "signal", after_signal },
	{ "fault", after_faults }, { "thread", in_threads },
};

/* Starts this program again, with another word. */
static void start_again(char *self)
{
	char *arguments[] = { self, "again", NULL };
	struct state other = state_of(3);

	fflush(stdout);
	load(&other);
	call(SYS_execve, (long)self, (long)arguments, (long)environ);
	store();
	perror("fpstate: exec");
}

int main(int argc, char **argv)
{
	size_t i;
	int n;

	if (argc > 1) {
		struct state got = store();

		if (got.mxcsr == MXCSR && got.control == CONTROL)
			printf("exec is right\n");
		else
			printf("exec: MXCSR %#x, control word %#x\n", got.mxcsr, got.control);
		return 0;
	}
	for (i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		for (n = 1; n < 20 && checks[i].right(n); n++)
			;
		printf(n == 20 ? "%s is right\n" : "%s: other registers\n", checks[i].name);
	}
	start_again(argv[0]);
	return 1;
}
