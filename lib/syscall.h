/* SPDX-License-Identifier: MIT */
/*
 * syscall.h - makes raw system calls.  libc's wrappers change errno, truncate results
 * to int and are cancellation points; a compound's calls and RUN must do none of
 * that (cancel.h does the last for them).
 */
#ifndef COSY_LIB_SYSCALL_H
#define COSY_LIB_SYSCALL_H

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

static inline long cosy_syscall3(long number, unsigned long a, unsigned long b, unsigned long c)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif /* COSY_LIB_SYSCALL_H */
