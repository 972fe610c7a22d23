/* SPDX-License-Identifier: MIT */
/*
 * next.h - the C library's own functions, which this library's stand before.  They are looked up
 * when they are first called, by next_find and not by the dynamic linker: its lazy binding saves
 * all vector registers on the caller's stack, which may be a small one.
 */
#ifndef COSY_RUN_NEXT_H
#define COSY_RUN_NEXT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "alone.h"
#include "syscall.h"

#pragma GCC visibility push(hidden)

/*
 * Finds the function of this name that would be called if this library were not there; one that
 * fails with ENOSYS if there is none.  Takes no lock: it may be called in any thread, signal
 * handler or child.
 */
void *next_find(const char *name);

/* Finds a variable of libc's, wherever the program has it; NULL if there is none. */
void *next_variable(const char *name);

/*
 * True if the functions that open, read, move and close files are this library's to the program,
 * and libc's to this library: neither the program nor another library has its own.
 */
COLD bool next_is_libc(void);

/*
 * Returns this library's function in the place of `found`, which the dynamic linker has found by
 * `name`, if that is libc's function and this library wraps it; or else `found`.
 */
COLD void *next_instead(const char *name, void *found);

/* Sets errno from a raw call's result; returns -1. */
COLD long next_error(long ret);

#pragma GCC visibility pop

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		__typeof__(&name) found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);              \
                                                                                                   \
		if (unlikely(!found_)) {                                                           \
			found_ = (__typeof__(&name))next_find(#name);                              \
			__atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
		}                                                                                  \
		found_;                                                                            \
	})

/* Gives a function of this file another name, which libc has but its headers have not. */
#define OTHER_NAME(name, function)                                                                 \
	__asm__(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #function)

/* Turns a raw call's result into libc's -1 and errno. */
static inline long next_result(long ret)
{
	return unlikely(ret < 0 && ret >= -4095) ? next_error(ret) : ret;
}

/*
 * Calls that cost little more than the crossing.  Some processors forget, for safety's sake,
 * where calls return to whenever the kernel is entered, which makes one more function between
 * program and kernel dear.  So with one thread these go to the kernel directly; libc's functions
 * would only add the end of a thread that another one has cancelled.  Where another library's
 * functions come before libc's there are no files of this library's (file.c), and those
 * functions are called.
 */
extern struct file_space *file_space __attribute__((visibility("hidden")));

static inline bool next_is_kernel(void)
{
	return likely(alone()) && (likely(file_space) || next_is_libc());
}

static inline int next_open(const char *path, int flags, mode_t mode)
{
	if (!next_is_kernel())
		return NEXT(open64)(path, flags, mode);
	return next_result(
		cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)path, flags, mode, 0, 0));
}

static inline int next_close(int fd)
{
	if (!next_is_kernel())
		return NEXT(close)(fd);
	return next_result(cosy_syscall3(SYS_close, fd, 0, 0));
}

static inline ssize_t next_write(int fd, const void *buf, size_t len)
{
	if (!next_is_kernel())
		return NEXT(write)(fd, buf, len);
	return next_result(cosy_syscall3(SYS_write, fd, (unsigned long)buf, len));
}

static inline off_t next_lseek(int fd, off_t offset, int whence)
{
	if (unlikely(!file_space) && !next_is_libc())
		return NEXT(lseek64)(fd, offset, whence);
	return next_result(cosy_syscall3(SYS_lseek, fd, offset, whence));
}

static inline ssize_t next_read(int fd, void *buf, size_t len)
{
	if (!next_is_kernel())
		return NEXT(read)(fd, buf, len);
	return next_result(cosy_syscall3(SYS_read, fd, (unsigned long)buf, len));
}

static inline ssize_t next_pread(int fd, void *buf, size_t len, off_t offset)
{
	if (!next_is_kernel())
		return NEXT(pread64)(fd, buf, len, offset);
	return next_result(cosy_syscall6(SYS_pread64, fd, (unsigned long)buf, len, offset, 0, 0));
}

#endif /* COSY_RUN_NEXT_H */
