/* SPDX-License-Identifier: GPL-2.0 */
/*
 * filter.h - the observers of a compound's calls: tracers, auditors, and seccomp filters.
 *
 * All of them act in the entry code of system calls, which a compound's calls bypass.  The module
 * queries filters as that code does first: the newest filter has a bitmap of the calls that all of
 * the thread's filters allow whatever the arguments are.  Such a call is made in the kernel.  For
 * any other call the compound leaves, and the filters see the call when libcosy makes it.
 *
 * Filters only become stricter, and live as long as their thread: a filter that another thread adds
 * (TSYNC) comes before the older ones.  So current's filters are read without a lock, as in the
 * entry code.
 */
#ifndef COSY_FILTER_H
#define COSY_FILTER_H

#include <linux/sched.h>
#include <linux/thread_info.h>
#include "run/activation.h"

/*
 * Bits of syscall_work of the observers of calls.  The entry of RUN handles an audit context
 * that records: see run.c.
 */
#define COSY_TRACED (~SYSCALL_WORK_SYSCALL_AUDIT)

/*
 * The number of calls that the bitmap has, and its offset in struct seccomp_filter.  0 calls: this
 * kernel's filters are not known, and no compound makes calls under one.  For call.S.
 */
extern u32 cosy_filter_call_cnt;
extern unsigned long cosy_filter_bitmap_offset;

/*
 * Of each call that a compound may make, its number XOR that of the call that libc's function may
 * make in its place (COSY_ALSO): 0 for most.  For call.S.
 */
#define COSY_MAX_CALLS 512
extern const u16 cosy_filter_also[COSY_MAX_CALLS];

/* Finds the bitmap; a line in the log where it cannot. */
void cosy_filter_init(void);

/*
 * Returns whether all filters of the calling thread allow system call `number`, whatever its
 * arguments, by that number alone.
 */
bool cosy_filter_allows(u32 number);

/*
 * Returns whether an observer must see the call or operation of `word`, insn << 16 | (number -
 * `base`), so that the compound has to leave before it.  Then run->status is set.  Called by
 * call.S.
 */
bool cosy_leave_watched(struct cosy_activation *run, u32 word, u32 base);

/* Turns a leave's status into COSY_LEFT_TRACED where filters may refuse the next RUN. */
void cosy_leave_filtered(struct cosy_activation *run);

/* Returns whether there is any observer; cosy_leave_watched decides about each call. */
static __always_inline bool cosy_is_watched(const struct cosy_activation *run)
{
	return READ_ONCE(task_thread_info(run->task)->syscall_work) & COSY_TRACED;
}

/*
 * Writes, for read(2), a bit for each system call that the caller's filters allow.  Returns
 * bytes, or -EFAULT.  The caller's accounts do not show it.
 */
ssize_t cosy_filter_read(struct kiocb *call, struct iov_iter *to);

#endif /* COSY_FILTER_H */
