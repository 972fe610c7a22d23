/* SPDX-License-Identifier: MIT */
/*
 * ring.h - sets up one io_uring as its users are told to: registered files and buffers, completions
 * taken in batches.
 */
#ifndef RING_H
#define RING_H

#include <liburing.h>
#include <sys/uio.h>

#include "bench.h"

#define RING_SIZE 256

static struct io_uring ring;
static char *ring_buffer; /* registered, as buffer 0 */

/* Sets up the ring with `files` (-1: a slot for a direct descriptor) and one buffer. */
static inline void ring_begin(const int *files, int count, size_t bytes)
{
	struct iovec whole = {.iov_len = bytes};
	int err = io_uring_queue_init(RING_SIZE, &ring,
				      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (!err)
		err = io_uring_register_files(&ring, files, count);
	if (!err)
		err = posix_memalign((void **)&ring_buffer, 4096, bytes) ? -ENOMEM : 0;
	if (!err) {
		memset(ring_buffer, 0, bytes);
		whole.iov_base = ring_buffer;
		err = io_uring_register_buffers(&ring, &whole, 1);
	}
	if (err) {
		errno = -err;
		bench_fail("io_uring");
	}
}

/*
 * Sets up the ring with `fd` as its one file in the first pass, and gives it another file in later
 * ones.
 */
static inline void ring_use(int fd, size_t bytes)
{
	if (!ring_buffer)
		ring_begin(&fd, 1, bytes);
	else
		io_uring_register_files_update(&ring, 0, &fd, 1);
}

/* Returns the next entry, with flags that the prep functions would clear. */
static inline void ring_flags(struct io_uring_sqe *entry, unsigned int flags)
{
	entry->flags |= IOSQE_FIXED_FILE | flags;
}

static inline void ring_read(int file, void *to, size_t len, off_t at, unsigned int flags)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(&ring);

	io_uring_prep_read_fixed(entry, file, to, len, at, 0);
	ring_flags(entry, flags);
}

static inline void ring_write(int file, const void *from, size_t len, off_t at, unsigned int flags)
{
	struct io_uring_sqe *entry = io_uring_get_sqe(&ring);

	io_uring_prep_write_fixed(entry, file, from, len, at, 0);
	ring_flags(entry, flags);
}

/*
 * Submits what was prepared and waits for `count` results, none of which may fail.  Returns their
 * sum.
 */
static inline long ring_finish(int count)
{
	struct io_uring_cqe *entry;
	unsigned int head, seen = 0;
	long sum = 0;
	int err = io_uring_submit_and_wait(&ring, count);

	if (err < 0) {
		errno = -err;
		bench_fail("io_uring_submit_and_wait");
	}
	io_uring_for_each_cqe(&ring, head, entry) {
		if (entry->res < 0) {
			errno = -entry->res;
			bench_fail("io_uring");
		}
		sum += entry->res;
		seen++;
	}
	io_uring_cq_advance(&ring, seen);
	return sum;
}

#endif /* RING_H */
