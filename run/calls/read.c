// SPDX-License-Identifier: MIT
/* read.c - wraps read and pread, the calls that windows serve. */
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#include "file/copy.h"
#include "file/file.h"
#include "file/lease.h"
#include "file/map.h"
#include "file/window.h"
#include "direct.h"
#include "next.h"
#include "relax/relax.h"
#include "stats.h"

/* False for NULL and the kernel's addresses: the kernel answers those reads with EFAULT. */
static inline bool buffer_is_plausible(const void *buf)
{
	return (uintptr_t)buf - 65536 < (1ULL << 56);
}

/* False, too, for lengths that the kernel cuts, or refuses for where they would end. */
static inline bool read_is_plausible(const void *buf, size_t len)
{
	return buffer_is_plausible(buf) && len <= INT_MAX;
}

/*
 * Copies [offset, offset + len) if the window has it.  The bytes are the file's only if the word
 * does not change meanwhile.
 */
static inline bool window_copy(struct file *file, uint64_t offset, void *buf, size_t len)
{
	struct window *window = __atomic_load_n(&file->window, __ATOMIC_RELAXED);
	uint64_t from = offset - __atomic_load_n(&window->start, __ATOMIC_RELAXED);
	uint64_t have = __atomic_load_n(&window->len, __ATOMIC_RELAXED);

	if (from > have || len > have - from)
		return false;
	copy_bytes(buf, window->data + from, len);
	/* The copy must not be delayed until after the next look at the word. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return true;
}

/* read and pread are cancellation points even where they do not reach the kernel. */
static inline void read_cancellation_point(void)
{
	if (!likely(alone()))
		NEXT(pthread_testcancel)();
}

/* Ways to make a read. */
enum way {
	ORDINARY, /* the program's own call */
	DIRECT,	  /* a pread, which leaves the kernel's position alone */
	SERVED,	  /* the bytes are copied, and count if the word stays */
	AGAIN,	  /* something has changed */
};

/*
 * Waits, specialises and copies, for read and pread of [offset, offset + len) in the file, whose
 * word is `word`.  If the read is SERVED, *served is the number of bytes.
 */
static enum way read_way(struct file *file, int fd, uint64_t word, uint64_t offset, void *buf,
			 size_t len, size_t *served)
{
	uint64_t size;

	if (word & WORD_LOCKED) {
		file_wait(file, word);
		return AGAIN;
	}
	if ((word & WORD_PLAIN) || !file->leased) {
		if (window_earned(file, fd, len) && window_specialise(file, fd))
			return AGAIN;
		return word & WORD_PLAIN ? ORDINARY : DIRECT;
	}
	read_cancellation_point();
	if (!lease_holds(file)) {
		lease_check(file);
		return AGAIN;
	}
	if (!read_is_plausible(buf, len))
		return DIRECT;
	size = file->size;
	*served = 0;
	/* The kernel refuses a read that would end beyond the last offset. */
	if (offset >= size || !len)
		return offset + len > INT64_MAX ? DIRECT : SERVED;
	*served = len < size - offset ? len : size - offset;
	if (window_copy(file, offset, buf, *served) || map_copy(file, word, offset, buf, *served))
		return lease_holds(file) ? SERVED : AGAIN;
	return window_fetch(file, word, offset, *served) ? AGAIN : DIRECT;
}

static ssize_t read_ordinary(struct file *file, int fd, void *buf, size_t len)
{
	ssize_t ret = direct_read(fd, buf, len);

	file_leave(file);
	relax_read(fd, buf, ret);
	stats.ordinary++;
	return ret;
}

static __attribute__((noinline)) ssize_t read_slow(int fd, void *buf, size_t len)
{
	for (;;) {
		struct file *file = file_of(fd);
		unsigned long *count = &stats.direct;
		uint64_t word, offset;
		size_t served;
		ssize_t ret = -1;

		if (!file)
			return direct_read(fd, buf, len);
		word = file_word(file);
		offset = word & WORD_POSITION;
		switch (read_way(file, fd, word, offset, buf, len, &served)) {
		case AGAIN:
			continue;
		case ORDINARY:
			if (file_enter(file, word))
				return read_ordinary(file, fd, buf, len);
			continue;
		case DIRECT:
			ret = direct_pread(fd, buf, len, offset);
			if (ret < 0)
				return ret;
			if (offset + ret > WORD_POSITION) {
				file_unspecialise(file, GUARD_KERNEL_POSITION, UNTIL_CLOSED);
				continue;
			}
			break;
		case SERVED:
			count = &file->reads;
			ret = served;
			break;
		}
		if (file_exchange(file, word, word + ret)) {
			++*count;
			return ret;
		}
	}
}

/* Reads from a plain file that is far from earning a window, in a process with one thread. */
static __attribute__((noinline)) ssize_t read_plain(struct file *file, int fd, void *buf,
						    size_t len, uint64_t word)
{
	if (unlikely(word & WORD_LOCKED) || unlikely(!window_far(file, len)) ||
	    unlikely(!file_enter(file, word)))
		return read_slow(fd, buf, len);
	return read_ordinary(file, fd, buf, len);
}

/* A process with several threads takes the slow path, which begins in the same way. */
ssize_t read(int fd, void *buf, size_t len)
{
	struct file *file = file_of(fd);
	uint64_t word;

	relax_touch(fd);
	if (unlikely(!alone()))
		return read_slow(fd, buf, len);
	if (!file)
		return direct_read(fd, buf, len);
	word = file_word(file);
	if (word & WORD_PLAIN)
		return read_plain(file, fd, buf, len, word);
	if (likely(buffer_is_plausible(buf)) &&
	    likely(window_copy(file, word & WORD_POSITION, buf, len)) &&
	    likely(lease_holds(file)) && likely(file_exchange(file, word, word + len))) {
		file->reads++;
		return len;
	}
	return read_slow(fd, buf, len);
}

/* True if generation and flags are as they were: neither may change during a pread. */
static bool word_is_same(struct file *file, uint64_t word)
{
	return !((file_word(file) ^ word) & ~WORD_POSITION);
}

ssize_t pread64(int fd, void *buf, size_t len, off64_t offset)
{
	relax_touch(fd);
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;
		size_t served;

		if (!file || offset < 0)
			return direct_pread(fd, buf, len, offset);
		word = file_word(file);
		switch (read_way(file, fd, word, offset, buf, len, &served)) {
		case AGAIN:
			continue;
		case ORDINARY:
			stats.ordinary++;
			return direct_pread(fd, buf, len, offset);
		case DIRECT:
			stats.direct++;
			return direct_pread(fd, buf, len, offset);
		case SERVED:
			if (!word_is_same(file, word))
				continue;
			file->reads++;
			return served;
		}
	}
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset) __attribute__((alias("pread64")));

/* Other names of libc's. */
OTHER_NAME(__read, read);
OTHER_NAME(__pread64, pread64);

/* Called by _FORTIFY_SOURCE; only the calls that it would stop go to libc. */
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
