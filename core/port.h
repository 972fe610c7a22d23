/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * port.h - needs of core where it is compiled: types, struct bpf_insn,
 * zeroed memory, formatted text, and a place to be preempted.
 */
#ifndef COSY_PORT_H
#define COSY_PORT_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/limits.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/filter.h>

/* Zeroed memory, charged to the caller; NULL when there is none. */
static inline void *core_alloc(size_t size)
{
	return kvzalloc(size, GFP_KERNEL_ACCOUNT);
}

static inline void core_free(const void *memory)
{
	kvfree(memory);
}

/* Called now and then in loops over a whole program. */
static inline void core_yield(void)
{
	cond_resched();
}

#else /* !__KERNEL__ */

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#ifndef __printf
#define __printf(format, first) __attribute__((__format__(__printf__, format, first)))
#endif

#ifdef COSY_OWN_MEMORY
/* libcosy makes programs in signal handlers too, where malloc may not be called. */
void *core_alloc(size_t size);
void core_free(const void *memory);
#else
static inline void *core_alloc(size_t size)
{
	return calloc(1, size ? size : 1);
}

static inline void core_free(const void *memory)
{
	free((void *)memory);
}
#endif

static inline void core_yield(void) {}

#endif /* __KERNEL__ */

/* RFC 9669 as of cpu v4, which headers before Linux 6.6 do not name. */
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80
#endif
#ifndef BPF_ATOMIC
#define BPF_ATOMIC 0xc0
#endif
/* Linux 6.9: relative to a register of the JIT's own. */
#ifndef BPF_PROBE_MEM32
#define BPF_PROBE_MEM32 0xa0
#endif
#ifndef BPF_JCOND
#define BPF_JCOND 0xe0
#endif

#endif /* COSY_PORT_H */
