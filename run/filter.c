// SPDX-License-Identifier: MIT
/* filter.c - see filter.h. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "filter.h"
#include "syscall.h"

bool filter_in_status(void)
{
	static const char field[] = "\nSeccomp:\t";
	long fd = cosy_syscall6(SYS_openat, AT_FDCWD, (uintptr_t)"/proc/thread-self/status",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);
	bool found = false, filtered = false;
	unsigned int matched = 0;
	char text[512];
	long size;

	if (fd < 0)
		return true;
	/* Its lines may be as long as there are groups. */
	while (!found && (size = cosy_syscall3(SYS_read, fd, (uintptr_t)text, sizeof(text))) > 0) {
		for (long i = 0; i < size && !found; i++) {
			while (!matched && text[i] != field[0] && i + 1 < size)
				i++;
			found = matched == sizeof(field) - 1;
			if (found)
				filtered = text[i] != '0';
			else if (text[i] == field[matched])
				matched++;
			else
				matched = text[i] == field[0];
		}
	}
	cosy_syscall3(SYS_close, fd, 0, 0);
	/* Kernels without filters do not have the line. */
	return filtered || (!found && size < 0);
}

bool filter_is_there(void)
{
	static enum { UNKNOWN, NONE, INHERITED } state;

	if (__atomic_load_n(&state, __ATOMIC_RELAXED) == UNKNOWN)
		__atomic_store_n(&state, filter_in_status() ? INHERITED : NONE, __ATOMIC_RELAXED);
	return __atomic_load_n(&state, __ATOMIC_RELAXED) == INHERITED ||
	       cosy_syscall3(SYS_prctl, PR_GET_SECCOMP, 0, 0) != 0;
}
