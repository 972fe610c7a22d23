// SPDX-License-Identifier: MIT
/* libc_calls.c - see libc_calls.h. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "interp/libc_calls.h"

#define P(n) ((void *)r[n])
#define I(n) ((int)r[n])
#define U(n) ((unsigned int)r[n])

/* Returns false for a call that libc makes by its number. */
static bool libc_makes(u32 number, const u64 *r, long *ret)
{
	switch (number) {
	case SYS_open:
		*ret = open(P(1), I(2), U(3));
		return true;
	case SYS_stat:
		*ret = stat(P(1), P(2));
		return true;
	case SYS_fstat:
		*ret = fstat(I(1), P(2));
		return true;
	case SYS_lstat:
		*ret = lstat(P(1), P(2));
		return true;
	case SYS_statx:
		*ret = statx(I(1), P(2), I(3), U(4), P(5));
		return true;
	case SYS_faccessat2:
		*ret = faccessat(I(1), P(2), I(3), I(4));
		return true;
	case SYS_preadv2:
		*ret = preadv2(I(1), P(2), I(3), (off_t)r[4], I(0));
		return true;
	case SYS_pwritev2:
		*ret = pwritev2(I(1), P(2), I(3), (off_t)r[4], I(0));
		return true;
	case SYS_renameat2:
		*ret = renameat2(I(1), P(2), I(3), P(4), U(5));
		return true;
	case SYS_pipe:
		*ret = pipe(P(1));
		return true;
	case SYS_select:
		*ret = select(I(1), P(2), P(3), P(4), P(5));
		return true;
	case SYS_semop:
		*ret = semop(I(1), P(2), r[3]);
		return true;
	case SYS_mlock2:
		*ret = mlock2(P(1), r[2], U(3));
		return true;
	case SYS_getrlimit:
		*ret = getrlimit(I(1), P(2));
		return true;
	case SYS_setrlimit:
		*ret = setrlimit(I(1), P(2));
		return true;
	case SYS_clock_gettime:
		*ret = clock_gettime(I(1), P(2));
		return true;
	case SYS_gettimeofday:
		*ret = gettimeofday(P(1), P(2));
		return true;
	case SYS_getcpu:
		*ret = getcpu(P(1), P(2));
		return true;
	default:
		return false;
	}
}

bool libcosy_libc_call(u32 number, u64 *r)
{
	int saved = errno;
	long ret;

	/* It has no errors, and -1 is a time. */
	if (number == SYS_time) {
		r[0] = time(P(1));
		return true;
	}
	if (!libc_makes(number, r, &ret))
		return false;
	r[0] = ret == -1 ? -errno : ret;
	errno = saved;
	return true;
}
