// SPDX-License-Identifier: GPL-2.0
/* filter.c - see filter.h. */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/uio.h>
#include <linux/unistd.h>
#include <asm/unistd.h>
#include "kernel/types.h"
#include "run/filter.h"

u32 cosy_filter_call_cnt __ro_after_init;
unsigned long cosy_filter_bitmap_offset __ro_after_init;

/* --- The place of the bitmap ------------------------------------------------------------- */

/*
 * Returns the bitmap's offset, or an error.  struct seccomp_filter is private to the kernel, so
 * this checks everything that it relies on: the structure, its member `cache`, the member
 * `allow_native` of that, and that it has a bit for each native call.
 */
static long __init bitmap_find(void)
{
	const struct btf_type *cache, *bitmap, *word;
	long outer, inner;

	outer = cosy_kernel_member(cosy_kernel_struct("seccomp_filter"), "cache", &cache);
	if (outer < 0)
		return outer;
	if (!btf_type_is_struct(cache))
		return -EINVAL;
	inner = cosy_kernel_member(cache, "allow_native", &bitmap);
	if (inner < 0)
		return inner;
	if (BTF_INFO_KIND(bitmap->info) != BTF_KIND_ARRAY)
		return -EINVAL;
	word = cosy_kernel_type(btf_array(bitmap)->type);
	if (!word || !btf_type_is_int(word) || word->size != sizeof(long) ||
	    btf_array(bitmap)->nelems != BITS_TO_LONGS(NR_syscalls))
		return -EINVAL;
	return outer + inner;
}

void __init cosy_filter_init(void)
{
	long offset = bitmap_find();

	if (!IS_ENABLED(CONFIG_SECCOMP_FILTER))
		return;
	if (offset < 0) {
		pr_info("cosy: this kernel does not tell where its seccomp filters have their "
			"bitmap (%ld): threads with a filter run natively\n",
			offset);
		return;
	}
	cosy_filter_bitmap_offset = offset;
	cosy_filter_call_cnt = NR_syscalls;
}

/* --- Asking the bitmap ------------------------------------------------------------------- */

/* Returns the bitmap of the thread's newest filter.  NULL: no call is let through. */
static const unsigned long *allowed_calls(void)
{
#ifdef CONFIG_SECCOMP_FILTER
	const void *filter = READ_ONCE(current->seccomp.filter);

	if (filter && cosy_filter_call_cnt)
		return filter + cosy_filter_bitmap_offset;
#endif
	return NULL;
}

bool cosy_filter_allows(u32 number)
{
	const unsigned long *allowed = allowed_calls();

	return allowed && number < cosy_filter_call_cnt && test_bit(number, allowed);
}

/* The system calls that each composite makes.  No other operation is looked up here. */
#define NUMBER_OF(call) COSY_NR_##call
static const u16 operation_calls[][COSY_COMPOSITE_CALLS] = {
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	[number] = { COSY_COMPOSITE_EACH(NUMBER_OF, __VA_ARGS__) },
#include "ops.def"
};

const u16 cosy_filter_also[COSY_MAX_CALLS] = {
#define COSY_ALSO(call, other) [COSY_NR_##call] = COSY_NR_##call ^ COSY_NR_##other,
#include "ops.def"
};

/*
 * Returns whether filters let the call through by its number and by the one that a native program
 * would make it by, which they are written for.
 */
static bool call_is_allowed(u32 number)
{
	BUILD_BUG_ON(NR_syscalls > COSY_MAX_CALLS);
	return cosy_filter_allows(number) && cosy_filter_allows(number ^ cosy_filter_also[number]);
}

/* Returns the call of `number`, a call or a composite, that is not let through.  -1: all are. */
static s64 refused_call(u32 number)
{
	u32 i, op = number - COSY_OP_BASE;

	if (number < COSY_OP_BASE)
		return call_is_allowed(number) ? -1 : (s64)number;
	for (i = 0; i < COSY_COMPOSITE_CALLS; i++) {
		if (!cosy_filter_allows(operation_calls[op][i]))
			return operation_calls[op][i];
	}
	return -1;
}

bool cosy_leave_watched(struct cosy_activation *run, u32 word, u32 base)
{
	u64 work = READ_ONCE(current_thread_info()->syscall_work);
	u32 insn = word >> 16;
	s64 refused;

	if (!(work & COSY_TRACED))
		return false;
	/*
	 * Filters that may refuse RUN could refuse the one after this leave, so the interpreter
	 * goes on to the end.
	 */
	if ((work & COSY_TRACED) != SYSCALL_WORK_SECCOMP || !cosy_filter_allows(__NR_ioctl)) {
		cosy_leave_at(run, COSY_LEFT_TRACED, insn, work);
		return true;
	}
	refused = refused_call(base + (word & 0xffff));
	if (refused < 0)
		return false;
	cosy_leave_at(run, COSY_LEFT_FILTERED, insn, refused);
	return true;
}

void cosy_leave_filtered(struct cosy_activation *run)
{
	u64 work = READ_ONCE(current_thread_info()->syscall_work);

	if (likely(!(work & SYSCALL_WORK_SECCOMP)) || cosy_filter_allows(__NR_ioctl))
		return;
	switch (run->status) {
	case COSY_LEFT_WORK:
	case COSY_LEFT_FAULT:
	case COSY_LEFT_FILTERED:
	case COSY_LEFT_NATIVE:
		run->status = COSY_LEFT_TRACED;
		run->detail = work;
	}
}

/*
 * Takes back in advance the charge that read(2) is about to make, because libcosy asks and not the
 * program.  Other ways to read (io_uring, aio) are charged for no call.
 */
static void read_uncharge(struct kiocb *call, size_t size)
{
#ifdef CONFIG_TASK_XACCT
	if (is_sync_kiocb(call)) {
		current->ioac.rchar -= size;
		current->ioac.syscr--;
	}
#endif
}

ssize_t cosy_filter_read(struct kiocb *call, struct iov_iter *to)
{
	DECLARE_BITMAP(calls, NR_syscalls);
	const unsigned long *allowed = allowed_calls();
	size_t size = min(iov_iter_count(to), sizeof(calls));

	bitmap_zero(calls, NR_syscalls);
	if (!(READ_ONCE(current_thread_info()->syscall_work) & SYSCALL_WORK_SECCOMP))
		bitmap_set(calls, 0, NR_syscalls);
	else if (allowed)
		bitmap_copy_clear_tail(calls, allowed, NR_syscalls);
	if (copy_to_iter(calls, size, to) < size)
		return -EFAULT;
	read_uncharge(call, size);
	return size;
}
