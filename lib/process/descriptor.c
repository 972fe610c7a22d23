// SPDX-License-Identifier: MIT
/* descriptor.c - see descriptor.h. */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>

#include "process/descriptor.h"
#include "process/life.h"
#include "syscall.h"

#define FIRST_FD 200
/*
 * With threads a table of descriptors grows only after a grace period of RCU, milliseconds
 * during which this thread waits, so the number is one of the 64 that every table has.
 */
#define THREADS_FIRST_FD 40
#define THREADS_FDS	 20

/*
 * Gives each context's descriptor another number, so that a RUN meant for a context that is gone
 * does not reach a later one, where its handle may be another program's.
 */
int libcosy_move_fd(int fd)
{
	int first = FIRST_FD + libcosy_last_generation % FIRST_FD;
	struct rlimit limit;
	long high;

	if (!__libc_single_threaded)
		first = THREADS_FIRST_FD + libcosy_last_generation % THREADS_FDS;
	if (!cosy_limit_get(RLIMIT_NOFILE, &limit) && limit.rlim_cur <= (rlim_t)first + 16)
		first = (int)limit.rlim_cur / 2;
	high = cosy_syscall3(SYS_fcntl, (unsigned int)fd, F_DUPFD_CLOEXEC, (unsigned long)first);
	if (high < 0)
		return fd;
	cosy_syscall3(SYS_close, (unsigned int)fd, 0, 0);
	return (int)high;
}
