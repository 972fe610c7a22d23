// SPDX-License-Identifier: MIT
/*
 * fast.c - <cosy/fast.h> outside compounds: the functions that a region's native twin calls.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/fast.h>

#include "interp/fast_calls.h"

/* Turns a negative errno into libc's -1 and errno. */
static s64 with_errno(s64 result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

ssize_t cosy_read(int fd, void *buffer, size_t count)
{
	return read(fd, buffer, count);
}

ssize_t cosy_pread(int fd, void *buffer, size_t count, off_t offset)
{
	return pread(fd, buffer, count, offset);
}

ssize_t cosy_write(int fd, const void *buffer, size_t count)
{
	return write(fd, buffer, count);
}

ssize_t cosy_pwrite(int fd, const void *buffer, size_t count, off_t offset)
{
	return pwrite(fd, buffer, count, offset);
}

int cosy_stat(const char *path, struct stat *ret)
{
	return stat(path, ret);
}

int cosy_fstat(int fd, struct stat *ret)
{
	return fstat(fd, ret);
}

int cosy_lstat(const char *path, struct stat *ret)
{
	return lstat(path, ret);
}

int cosy_readc(int fd)
{
	return with_errno(libcosy_do_readc(fd));
}

ssize_t cosy_seek_read(int fd, void *buffer, size_t count, off_t offset, int whence)
{
	return with_errno(libcosy_do_seek_read(fd, buffer, count, offset, whence));
}

ssize_t cosy_seek_write(int fd, const void *buffer, size_t count, off_t offset, int whence)
{
	return with_errno(libcosy_do_seek_write(fd, buffer, count, offset, whence));
}

ssize_t cosy_read_file(int dirfd, const char *path, void *buffer, size_t size, int flags)
{
	return with_errno(libcosy_do_read_file(dirfd, path, buffer, size, flags));
}

ssize_t cosy_write_file(int dirfd, const char *path, const void *buffer, size_t size, int flags)
{
	return with_errno(libcosy_do_write_file(dirfd, path, buffer, size, flags));
}

ssize_t cosy_scan_dir(int fd, void *buffer, size_t size, int flags)
{
	return with_errno(libcosy_do_scan_dir(fd, buffer, size, flags));
}

ssize_t cosy_scan_tree(struct cosy_tree *tree, void *buffer, size_t size)
{
	return with_errno(libcosy_do_scan_tree(NULL, tree, buffer, size));
}

int cosy_epoll_read(int epfd, void *buffer, size_t size, int max, int timeout)
{
	return with_errno(libcosy_do_epoll_read(epfd, (u64)buffer, size, max, timeout));
}

ssize_t cosy_lend(int fd, const void *buffer, size_t count, int flags)
{
	return with_errno(libcosy_do_lend(fd, buffer, count, flags));
}

size_t cosy_count(const void *buffer, size_t count, int byte)
{
	return libcosy_do_count(buffer, count, byte);
}

uint32_t cosy_crc32c(uint32_t crc, const void *buffer, size_t count)
{
	return libcosy_do_crc32c(crc, buffer, count);
}

void cosy_discard(void *buffer, size_t count)
{
	(void)buffer;
	(void)count;
}
