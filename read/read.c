// SPDX-License-Identifier: MIT
/* read.c - read, pread and lseek: the calls that windows are for. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "copy.h"
#include "file.h"
#include "lease.h"
#include "next.h"
#include "relax.h"
#include "stats.h"
#include "syscall.h"
#include "window.h"

#define likely(condition) __builtin_expect(!!(condition), 1)

/* libc's convention. */
static ssize_t result(long ret)
{
	if (ret < 0 && ret >= -4095) {
		errno = -ret;
		return -1;
	}
	return ret;
}

/* NULL and the kernel's addresses, which read answers with EFAULT, are left to the kernel. */
static inline bool plausible(const void *buf)
{
	return (uintptr_t)buf - 65536 < (1ULL << 56);
}

/* So are lengths that it cuts, or refuses for where they would end. */
static inline bool plausible_read(const void *buf, size_t len)
{
	return plausible(buf) && len <= INT_MAX;
}

/*
 * Copies [offset, offset + len) if the window has it.  What is copied is the file's only
 * if the word has not changed since before.
 */
static inline bool window_copy(struct file *file, uint64_t offset, void *buf, size_t len)
{
	struct window *window = __atomic_load_n(&file->window, __ATOMIC_RELAXED);
	uint64_t from = offset - __atomic_load_n(&window->start, __ATOMIC_RELAXED);
	uint64_t have = __atomic_load_n(&window->len, __ATOMIC_RELAXED);

	if (from > have || len > have - from)
		return false;
	copy_bytes(buf, window->data + from, len);
	/* Nothing above may move behind the look at the word. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

/* read and pread are cancellation points even where they do not reach the kernel. */
static inline void cancellation_point(void)
{
	if (!likely(__libc_single_threaded))
		pthread_testcancel();
}

static ssize_t read_ordinary(struct file *file, int fd, void *buf, size_t len)
{
	ssize_t ret = next_read(fd, buf, len);

	file_leave(file);
	relax_read(fd, buf, ret);
	stats.ordinary++;
	return ret;
}

static __attribute__((noinline)) ssize_t read_slowly(int fd, void *buf, size_t len)
{
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word, offset;
		size_t part;
		long ret;

		if (!file)
			return next_read(fd, buf, len);
		word = file_word(file);
		if (word & WORD_HELD) {
			file_wait();
			continue;
		}
		if (word & WORD_PLAIN) {
			if (window_earned(file, fd, len) && window_specialise(file, fd))
				continue;
			/* The generation has moved if the file was held to be specialised. */
			word = file_word(file);
			if ((word & WORD_PLAIN) && !(word & WORD_HELD) && file_enter(file, word))
				return read_ordinary(file, fd, buf, len);
			continue;
		}
		cancellation_point();
		if (!lease_holds(file)) {
			lease_check(file);
			continue;
		}
		offset = word & WORD_POSITION;
		part = file->size - offset;
		if (!plausible_read(buf, len))
			goto direct;
		if (offset >= file->size || !len) {
			if (file_word(file) == word)
				return 0;
			continue;
		}
		if (part > len)
			part = len;
		if (window_copy(file, offset, buf, part)) {
			if (lease_holds(file) && file_exchange(file, word, word + part)) {
				file->reads++;
				return part;
			}
			continue;
		}
		if (window_fetch(file, word, offset, part))
			continue;
direct:
		ret = cosy_syscall6(SYS_pread64, fd, (unsigned long)buf, len, offset, 0, 0);
		if (ret < 0)
			return result(ret);
		if (file_exchange(file, word, word + ret)) {
			stats.direct++;
			return ret;
		}
	}
}

/* A process with several threads takes the slow way, which begins with the same. */
ssize_t read(int fd, void *buf, size_t len)
{
	struct file *file = file_of(fd);
	uint64_t word;

	relax_touch(fd);
	if (!likely(file && __libc_single_threaded))
		return read_slowly(fd, buf, len);
	word = file_word(file);
	if (likely(!(word & WORD_PLAIN)) && likely(plausible(buf)) &&
	    likely(window_copy(file, word & WORD_POSITION, buf, len)) && likely(lease_holds(file)) &&
	    likely(file_exchange(file, word, word + len))) {
		file->reads++;
		return len;
	}
	return read_slowly(fd, buf, len);
}

/* The generation and the flags: what must not have changed around a pread. */
static bool word_same(struct file *file, uint64_t word)
{
	return !((file_word(file) ^ word) & ~WORD_POSITION);
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t offset)
{
	relax_touch(fd);
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;
		size_t part;
		ssize_t ret;

		if (!file || offset < 0)
			return next_pread(fd, buf, len, offset);
		word = file_word(file);
		if (word & WORD_HELD) {
			file_wait();
			continue;
		}
		if (word & WORD_PLAIN) {
			if (window_earned(file, fd, len) && window_specialise(file, fd))
				continue;
			stats.ordinary++;
			return next_pread(fd, buf, len, offset);
		}
		cancellation_point();
		if (!lease_holds(file)) {
			lease_check(file);
			continue;
		}
		if (!plausible_read(buf, len))
			goto direct;
		if ((uint64_t)offset >= file->size || !len) {
			if (word_same(file, word))
				return 0;
			continue;
		}
		part = file->size - offset;
		if (part > len)
			part = len;
		if (window_copy(file, offset, buf, part)) {
			if (lease_holds(file) && word_same(file, word)) {
				file->reads++;
				return part;
			}
			continue;
		}
		if (window_fetch(file, word, offset, part))
			continue;
direct:
		ret = next_pread(fd, buf, len, offset);
		if (ret < 0 || word_same(file, word)) {
			stats.direct++;
			return ret;
		}
	}
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset) __attribute__((alias("pread64")));

/* What _FORTIFY_SOURCE calls; only the calls that it would stop go to libc. */
ssize_t __read_chk(int fd, void *buf, size_t len, size_t buf_len);
ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t offset, size_t buf_len);

ssize_t __read_chk(int fd, void *buf, size_t len, size_t buf_len)
{
	return len > buf_len ? NEXT(__read_chk)(fd, buf, len, buf_len) : read(fd, buf, len);
}

ssize_t __pread64_chk(int fd, void *buf, size_t len, off64_t offset, size_t buf_len)
{
	return len > buf_len ? NEXT(__pread64_chk)(fd, buf, len, offset, buf_len)
			     : pread64(fd, buf, len, offset);
}

ssize_t __pread_chk(int fd, void *buf, size_t len, off_t offset, size_t buf_len)
	__attribute__((alias("__pread64_chk")));

/* Where a specialised file's lseek goes, or -1: let the kernel say. */
static int64_t seek_target(struct file *file, uint64_t word, off64_t offset, int whence)
{
	int64_t from = whence == SEEK_SET   ? 0
		       : whence == SEEK_CUR ? (int64_t)(word & WORD_POSITION)
		       : whence == SEEK_END ? (int64_t)file->size
					    : -1;
	int64_t target;

	if (from < 0 || __builtin_add_overflow(from, offset, &target) ||
	    target > (int64_t)WORD_POSITION)
		return -1;
	return target;
}

/* SEQUENTIAL_ACCESS respecialised: the position is all that changes (Synthetix §3.3). */
off64_t lseek64(int fd, off64_t offset, int whence)
{
	relax_seek(fd, offset, whence);
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;
		int64_t target;

		if (!file)
			return __lseek(fd, offset, whence);
		word = file_word(file);
		if (!(word & WORD_PLAIN) && !lease_holds(file)) {
			lease_check(file);
			continue;
		}
		target = word & WORD_PLAIN ? -1 : seek_target(file, word, offset, whence);
		if (target < 0) {
			off_t ret;

			file = file_borrow(fd, GUARD_KERNEL_POSITION);
			ret = __lseek(fd, offset, whence);
			if (file)
				file_leave(file);
			return ret;
		}
		if (file_exchange(file, word, (word & ~WORD_POSITION) | target))
			return target;
	}
}

off_t lseek(int fd, off_t offset, int whence) __attribute__((alias("lseek64")));
