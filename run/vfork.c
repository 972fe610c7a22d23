// SPDX-License-Identifier: MIT
/* vfork.c - see vfork.h. */
#include <sys/syscall.h>

#include "alone.h"
#include "syscall.h"
#include "vfork.h"

pid_t vfork_parent;
pid_t vfork_process;

COLD bool vfork_in_child_slow(void)
{
	if (cosy_syscall3(SYS_getpid, 0, 0, 0) != vfork_parent)
		return true;
	/* The only thread runs again, so the child is gone. */
	if (alone())
		vfork_parent = 0;
	return false;
}
