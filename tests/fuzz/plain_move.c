// SPDX-License-Identifier: MIT
/*
 * plain_move.c - calls of <cosy/move.h> on memory that does not move, for random_real, which has
 * the interpreter without the rest of libcosy.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <cosy/move.h>

ssize_t cosy_loan(int fd, const void *memory, size_t count, int flags)
{
	(void)flags;
	return write(fd, memory, count);
}

ssize_t cosy_transfer(int fd, void *memory, size_t count, int flags)
{
	(void)flags;
	return read(fd, memory, count);
}

ssize_t cosy_pass(int port, size_t at, void *memory, size_t count, enum cosy_how how)
{
	(void)how;
	return pwrite(port, memory, count, (off_t)at);
}

int cosy_flush(void *memory, size_t count)
{
	return madvise(memory, count, MADV_DONTNEED);
}
