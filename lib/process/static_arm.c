// SPDX-License-Identifier: MIT
/*
 * static_arm.c - checks whether a statically linked program could arm a seccomp filter.
 *
 * Such a program has no relocations to look through, as refer.c does.  But a weak reference takes
 * no member out of libc's archive, so it is NULL unless something else needed that member.  cosycc
 * links this file into static programs only: in a dynamic one the references would count as the
 * program's own, and the dynamic linker would look them up.
 */
#include <sys/prctl.h>
#include <unistd.h>

#include "process/arming.h"

#pragma weak prctl
#pragma weak syscall

bool libcosy_static_arms(void)
{
	return prctl || syscall;
}
