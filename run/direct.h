/* SPDX-License-Identifier: MIT */
/*
 * direct.h - makes short calls by the kernel directly where nothing but libc's function is passed
 * over.
 */
#ifndef COSY_RUN_DIRECT_H
#define COSY_RUN_DIRECT_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "alone.h"
#include "next.h"
#include "syscall.h"

/*
 * Calls that cost little more than the crossing.  Some processors forget, for safety's sake,
 * where calls return to whenever the kernel is entered, which makes one more function between
 * program and kernel dear.  So with one thread these go to the kernel directly; libc's functions
 * would only add the end of a thread that another one has cancelled.  Where another library's
 * functions come before libc's there are no files of this library's (file.c), and those
 * functions are called.
 */
extern struct file_space *file_space __attribute__((visibility("hidden")));

static inline bool direct_is_allowed(void)
{
	return likely(alone()) && (likely(file_space) || next_is_libc());
}

static inline int direct_open(const char *path, int flags, mode_t mode)
{
	if (!direct_is_allowed())
		return NEXT(open64)(path, flags, mode);
	return next_result(
		cosy_syscall6(SYS_openat, AT_FDCWD, (unsigned long)path, flags, mode, 0, 0));
}

static inline int direct_close(int fd)
{
	if (!direct_is_allowed())
		return NEXT(close)(fd);
	return next_result(cosy_syscall3(SYS_close, fd, 0, 0));
}

static inline ssize_t direct_write(int fd, const void *buf, size_t len)
{
	if (!direct_is_allowed())
		return NEXT(write)(fd, buf, len);
	return next_result(cosy_syscall3(SYS_write, fd, (unsigned long)buf, len));
}

static inline off_t direct_lseek(int fd, off_t offset, int whence)
{
	if (unlikely(!file_space) && !next_is_libc())
		return NEXT(lseek64)(fd, offset, whence);
	return next_result(cosy_syscall3(SYS_lseek, fd, offset, whence));
}

static inline ssize_t direct_read(int fd, void *buf, size_t len)
{
	if (!direct_is_allowed())
		return NEXT(read)(fd, buf, len);
	return next_result(cosy_syscall3(SYS_read, fd, (unsigned long)buf, len));
}

static inline ssize_t direct_pread(int fd, void *buf, size_t len, off_t offset)
{
	if (!direct_is_allowed())
		return NEXT(pread64)(fd, buf, len, offset);
	return next_result(cosy_syscall6(SYS_pread64, fd, (unsigned long)buf, len, offset, 0, 0));
}

#endif /* COSY_RUN_DIRECT_H */
