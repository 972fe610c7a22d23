/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - makes raw system calls.  libc's wrappers change errno, truncate results
 * to int and are cancellation points; a compound's calls and RUN must do none of
 * that (cancel.h does the last for them).
 */
#ifndef COSY_LIB_SYSCALL_H
#define COSY_LIB_SYSCALL_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Returns the result or a negative errno; errno is untouched. */
static inline long cosy_syscall6(long number, unsigned long a, unsigned long b, unsigned long c,
				 unsigned long d, unsigned long e, unsigned long f)
{
	register unsigned long r10 __asm__("r10") = d;
	register unsigned long r8 __asm__("r8") = e;
	register unsigned long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/*
 * Maps memory as mmap does at no address, or returns NULL.  On a path that many processes take
 * once: the dynamic linker would have to look mmap up in each.
 */
static inline void *cosy_map(unsigned long size, int flags, int fd)
{
	long ret = cosy_syscall6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags,
				 (unsigned long)fd, 0);

	return ret < 0 && ret >= -4095 ? NULL : (void *)ret;
}

static inline long cosy_syscall3(long number, unsigned long a, unsigned long b, unsigned long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Returns 0 or a negative errno. */
static inline long cosy_limit_get(int resource, struct rlimit *limit)
{
	return cosy_syscall6(SYS_prlimit64, 0, (unsigned long)resource, 0, (unsigned long)limit, 0,
			     0);
}

#endif /* COSY_LIB_SYSCALL_H */
