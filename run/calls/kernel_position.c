// SPDX-License-Identifier: MIT
/* kernel_position.c - wraps calls by which the kernel uses or moves a position: KERNEL_POSITION. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "file/file.h"
#include "next.h"
#include "relax/relax.h"

#define BORROWED(fd, call)                                                                         \
	({                                                                                         \
		relax_settle();                                                                    \
		struct file *file_ = file_borrow(fd, GUARD_KERNEL_POSITION);                       \
		__typeof__(call) ret_ = (call);                                                    \
                                                                                                   \
		if (file_)                                                                         \
			file_leave(file_);                                                         \
		ret_;                                                                              \
	})

ssize_t readv(int fd, const struct iovec *parts, int count)
{
	return BORROWED(fd, NEXT(readv)(fd, parts, count));
}

ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
	/* Offset -1 is the position. */
	return BORROWED(fd, NEXT(preadv64v2)(fd, parts, count, offset, flags));
}

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
	__attribute__((alias("preadv64v2")));

ssize_t sendfile64(int out, int in, off64_t *offset, size_t len)
{
	return BORROWED(in, NEXT(sendfile64)(out, in, offset, len));
}

ssize_t sendfile(int out, int in, off_t *offset, size_t len) __attribute__((alias("sendfile64")));

ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t len,
	       unsigned int flags)
{
	return BORROWED(in, NEXT(splice)(in, in_offset, out, out_offset, len, flags));
}

ssize_t copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t len,
			unsigned int flags)
{
	return BORROWED(in, NEXT(copy_file_range)(in, in_offset, out, out_offset, len, flags));
}

/* A lock from the position on. */
int lockf64(int fd, int command, off64_t len)
{
	return BORROWED(fd, NEXT(lockf64)(fd, command, len));
}

int lockf(int fd, int command, off_t len) __attribute__((alias("lockf64")));

/* FIONREAD tells how much is left after the position; FIOASYNC finds a lease's O_ASYNC. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	relax_settle();
	if (request != FIONREAD && request != FIOASYNC)
		return NEXT(ioctl)(fd, request, argument);
	return BORROWED(fd, NEXT(ioctl)(fd, request, argument));
}
