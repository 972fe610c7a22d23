// SPDX-License-Identifier: MIT
/* cancel.c - see cancel.h. */
#include <fcntl.h>
#include <sys/syscall.h>

#include "region/cancel.h"
#include "region/program.h"
#include "process/refer.h"
#include "syscall.h"

/*
 * libc's own name of pthread_cancel, which only a statically linked program can see.  Hidden, so
 * that no other has the dynamic linker look for it.
 */
extern void __pthread_cancel(void) __attribute__((weak, visibility("hidden")));

bool libcosy_cancel_used(void)
{
	static uint64_t objects_seen; /* of those loaded so far */
	static bool used;
	uint64_t seen = __atomic_load_n(&objects_seen, __ATOMIC_RELAXED);
	const char *name = "pthread_cancel";

	if (__atomic_load_n(&used, __ATOMIC_RELAXED))
		return true;
	if (!__pthread_cancel && libcosy_any_refers_to(&name, 1, &seen) != COSY_REFERRED) {
		__atomic_store_n(&objects_seen, seen, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&used, true, __ATOMIC_RELAXED);
	return true;
}

bool libcosy_is_cancellation_point(u32 number, const u64 *r)
{
	const struct cosy_call *call = cosy_call_find(number);

	if (number == SYS_fcntl)
		return r[2] == F_SETLKW || r[2] == F_OFD_SETLKW;
	return call && call->flags & COSY_CALL_CANCELS;
}

bool libcosy_has_cancellation_points(const struct cosy_program *program)
{
	for (u32 i = 0; i < program->insn_cnt; i++) {
		const struct cosy_call *call = libcosy_program_call(program, i);

		if (call && call->flags & COSY_CALL_CANCELS)
			return true;
	}
	return false;
}

long libcosy_cancellable_call(u32 number, const u64 *r)
{
	long result;
	int type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	result = cosy_syscall6(number, r[1], r[2], r[3], r[4], r[5], r[0]);
	pthread_setcanceltype(type, NULL);
	return result;
}
