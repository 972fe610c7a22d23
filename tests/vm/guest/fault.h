/* SPDX-License-Identifier: MIT */
/*
 * fault.h - touches memory in every way, once in a region and once as plain code, and tells the
 * outcome.  Each fault_*.c includes it once.
 */
#ifndef FAULT_H
#define FAULT_H

#include "check.h"
#include <setjmp.h>

#define FAULT_POISON 0x5a5a5a5a5a5a5a5aull

struct outcome {
	int sig; /* 0: no fault */
	int code;
	void *address;
	uint64_t value; /* FAULT_POISON unless something was read */
};

static sigjmp_buf fault_out;
static volatile struct outcome fault_seen;

static void fault_handler(int sig, siginfo_t *si, void *unused)
{
	(void)unused;
	fault_seen.sig = sig;
	fault_seen.code = si->si_code;
	fault_seen.address = si->si_addr;
	siglongjmp(fault_out, 1);
}

static void fault_catch(void)
{
	struct sigaction sa = { .sa_sigaction = fault_handler,
				.sa_flags = SA_SIGINFO | SA_ONSTACK };

	MUST(!sigaction(SIGSEGV, &sa, NULL));
	MUST(!sigaction(SIGBUS, &sa, NULL));
}

/* Defines name_plain(p) and name_region(p), which touch p and return what was read. */
#define FAULT_WAY(name, type, action)                                                              \
	static __attribute__((noinline)) void name##_plain(volatile type *p)                       \
	{                                                                                          \
		uint64_t got = FAULT_POISON;                                                       \
		action;                                                                            \
		fault_seen.value = got;                                                            \
	}                                                                                          \
	static __attribute__((noinline)) void name##_region(volatile type *p)                      \
	{                                                                                          \
		uint64_t got = FAULT_POISON;                                                       \
		COSY_START;                                                                        \
		action;                                                                            \
		COSY_END;                                                                          \
		fault_seen.value = got;                                                            \
	}

FAULT_WAY(read1, uint8_t, got = *p)
FAULT_WAY(read2, uint16_t, got = *p)
FAULT_WAY(read4, uint32_t, got = *p)
FAULT_WAY(read8, uint64_t, got = *p)
FAULT_WAY(reads1, int8_t, got = (uint64_t)(int64_t)*p)
FAULT_WAY(reads4, int32_t, got = (uint64_t)(int64_t)*p)
FAULT_WAY(write1, uint8_t, *p = 1)
FAULT_WAY(write2, uint16_t, *p = 1)
FAULT_WAY(write4, uint32_t, *p = 1)
FAULT_WAY(write8, uint64_t, *p = 1)
FAULT_WAY(add4, uint32_t, __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST))
FAULT_WAY(add8, uint64_t, got = __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST))
FAULT_WAY(xchg8, uint64_t, got = __atomic_exchange_n(p, 1, __ATOMIC_SEQ_CST))
FAULT_WAY(cmpxchg8, uint64_t, got = __sync_val_compare_and_swap(p, 0, 1))
FAULT_WAY(or4, uint32_t, __atomic_fetch_or(p, 1, __ATOMIC_SEQ_CST))

static const struct fault_way {
	const char *name;
	void (*plain)(volatile void *), (*region)(volatile void *);
} fault_ways[] = {
#define WAY(name)                                                                                  \
	{ #name, (void (*)(volatile void *))name##_plain, (void (*)(volatile void *))name##_region }
	WAY(read1),  WAY(read2),  WAY(read4),  WAY(read8),    WAY(reads1),
	WAY(reads4), WAY(write1), WAY(write2), WAY(write4),   WAY(write8),
	WAY(add4),   WAY(add8),	  WAY(xchg8),  WAY(cmpxchg8), WAY(or4),
#undef WAY
};

#define FAULT_WAYS (int)(sizeof(fault_ways) / sizeof(fault_ways[0]))

/* Touches p in this way.  Returns the outcome. */
static struct outcome fault_try(void (*touch)(volatile void *), volatile void *p)
{
	fault_seen.sig = fault_seen.code = 0;
	fault_seen.address = NULL;
	fault_seen.value = FAULT_POISON;
	if (!sigsetjmp(fault_out, 1))
		touch(p);
	return fault_seen;
}

#endif /* FAULT_H */
