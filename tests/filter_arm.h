/* SPDX-License-Identifier: MIT */
/*
 * filter_arm.h - arms a seccomp filter that answers one call, for tests and benchmarks anywhere.
 *
 * All other calls go through.  The functions set no_new_privs and return what seccomp(2) does: 0, a
 * descriptor (SECCOMP_FILTER_FLAG_NEW_LISTENER), a thread that TSYNC could not reach, or -1 and
 * errno.
 */
#ifndef COSY_TESTS_FILTER_ARM_H
#define COSY_TESTS_FILTER_ARM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int filter_install(struct sock_filter *filter, size_t count, unsigned int flags)
{
	struct sock_fprog program = {(unsigned short)count, filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/* Answers each call of this number with `action`: SECCOMP_RET_*, its data or-ed in. */
static inline int filter_arm(long number, uint32_t action, unsigned int flags)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return filter_install(filter, sizeof(filter) / sizeof(*filter), flags);
}

/* Answers calls of that number whose first argument has `argument` as its lower 32 bits. */
#define FILTER_OF_ARGUMENT(number, argument, action)                                               \
	{                                                                                          \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),             \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 3),                     \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),           \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(argument), 0, 1),                   \
		BPF_STMT(BPF_RET | BPF_K, action),                                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                                      \
	}

/* The argument decides, so the kernel cannot note that the call is always let through. */
static inline int filter_arm_argument(long number, uint32_t argument, uint32_t action,
				      unsigned int flags)
{
	struct sock_filter filter[] = FILTER_OF_ARGUMENT(number, argument, action);

	return filter_install(filter, sizeof(filter) / sizeof(*filter), flags);
}

#endif /* COSY_TESTS_FILTER_ARM_H */
