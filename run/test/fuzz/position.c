// SPDX-License-Identifier: MIT
/* position.c - makes other calls that read the file, or use the kernel's idea of the position. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

#include "fuzz.h"

void do_readv(void)
{
	size_t len = some_length();
	struct iovec into_a[2] = {{a, 100}, {a + 100, len}}, into_b[2] = {{b, 100}, {b + 100, len}};

	same_bytes(BOTH(readv(mine, into_a, 2), RAW(readv, theirs, into_b, 2)));
}

/* Offset -1 is the position, for preadv2 alone. */
void do_preadv(void)
{
	size_t len = some_length();
	struct iovec into_a[2] = {{a, 10}, {a + 10, len}}, into_b[2] = {{b, 10}, {b + 10, len}};
	off_t offset = chance(2) ? some_offset() : -1;
	int flags = chance(2) ? 0 : RWF_NOWAIT;

	if (chance(2))
		same_bytes(BOTH(preadv(mine, into_a, 2, offset),
				RAW(preadv, theirs, into_b, 2, offset, 0)));
	else
		same_bytes(BOTH(preadv2(mine, into_a, 2, offset, flags),
				RAW(preadv2, theirs, into_b, 2, offset, 0, flags)));
}

void do_sendfile(void)
{
	int null = RAW(openat, AT_FDCWD, "/dev/null", O_WRONLY);
	off_t from = some_offset(), from_too = from;
	/* The kernel does longer ones in parts, and ends after one when a signal is pending. */
	size_t len = some_length() % 57000;

	if (chance(2)) {
		BOTH(sendfile(null, mine, NULL, len), RAW(sendfile, null, theirs, NULL, len));
	} else {
		BOTH(sendfile(null, mine, &from, len), RAW(sendfile, null, theirs, &from_too, len));
		same(from, from_too, "the offset");
	}
	RAW(close, null);
}

void do_splice(void)
{
	off64_t from = some_offset(), from_too = from;
	bool at = chance(2);
	size_t len = 1 + chance(5000);
	int pipes[2], pipes_too[2];
	long got;

	if (pipe(pipes))
		return;
	if (!pipe(pipes_too)) {
		got = BOTH(splice(mine, at ? &from : NULL, pipes[1], NULL, len, 0),
			   RAW(splice, theirs, at ? &from_too : NULL, pipes_too[1], NULL, len, 0));
		same(from, from_too, "the offset");
		if (got > 0)
			same_bytes(BOTH(read(pipes[0], a, got), RAW(read, pipes_too[0], b, got)));
		close(pipes_too[0]);
		close(pipes_too[1]);
	}
	close(pipes[0]);
	close(pipes[1]);
}

void do_copy_range(void)
{
	int to = RAW(memfd_create, "copy", 0), to_too = RAW(memfd_create, "copy", 0);
	off64_t from = some_offset(), from_too = from;
	bool at = chance(2);
	size_t len = 1 + chance(9000);
	long got;

	/* Some kernels refuse this from one file system to another: on both sides. */
	got = BOTH(copy_file_range(mine, at ? &from : NULL, to, NULL, len, 0),
		   RAW(copy_file_range, theirs, at ? &from_too : NULL, to_too, NULL, len, 0));
	same(from, from_too, "the offset");
	if (got > 0)
		same_bytes(BOTH(pread(to, a, got, 0), RAW(pread64, to_too, b, got, 0)));
	RAW(close, to);
	RAW(close, to_too);
}

void do_map(void)
{
	char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, mine, 0);
	long len = RAW(pread64, theirs, b, 4096, 0);

	if (map == MAP_FAILED)
		return;
	/* Beyond the end there would be a signal. */
	if (len > 0)
		memcpy(a, map, len);
	same_bytes(len);
	munmap(map, 4096);
}

/* Asks how much is left to be read; the kernel counts from its position. */
void do_left(void)
{
	int left = 0, left_too = 0;

	BOTH(ioctl(mine, FIONREAD, &left), RAW(ioctl, theirs, FIONREAD, &left_too));
	same(left, left_too, "what is left");
}

/* Makes one request at a time, at offsets: io_uring does not come through the C library. */
static _Thread_local struct {
	int fd;
	struct io_uring_params params;
	char *ring;
	struct io_uring_sqe *requests;
} uring = {.fd = -1};

static bool uring_start(void)
{
	size_t len;

	if (uring.ring)
		return uring.ring != MAP_FAILED;
	uring.ring = MAP_FAILED;
	uring.fd = RAW(io_uring_setup, 4, &uring.params);
	if (uring.fd < 0 || !(uring.params.features & IORING_FEAT_SINGLE_MMAP))
		return false;
	len = uring.params.cq_off.cqes + uring.params.cq_entries * sizeof(struct io_uring_cqe) +
	      4096;
	uring.requests = mmap(NULL, uring.params.sq_entries * sizeof(*uring.requests),
			      PROT_READ | PROT_WRITE, MAP_SHARED, uring.fd, IORING_OFF_SQES);
	uring.ring =
		mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, uring.fd, IORING_OFF_SQ_RING);
	return uring.requests != MAP_FAILED && uring.ring != MAP_FAILED;
}

static long uring_pread(int fd, void *buf, size_t len, off_t offset)
{
	unsigned int *tail = (unsigned int *)(uring.ring + uring.params.sq_off.tail);
	unsigned int *slots = (unsigned int *)(uring.ring + uring.params.sq_off.array);
	unsigned int *head = (unsigned int *)(uring.ring + uring.params.cq_off.head);
	unsigned int slot = *tail & (uring.params.sq_entries - 1);
	struct io_uring_cqe *done = (struct io_uring_cqe *)(uring.ring + uring.params.cq_off.cqes);
	unsigned int *done_tail = (unsigned int *)(uring.ring + uring.params.cq_off.tail);
	long ret;

	uring.requests[slot] = (struct io_uring_sqe){.opcode = IORING_OP_READ,
						     .fd = fd,
						     .addr = (uintptr_t)buf,
						     .len = len,
						     .off = offset};
	slots[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	RAW(io_uring_enter, uring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	while (__atomic_load_n(done_tail, __ATOMIC_ACQUIRE) == *head)
		RAW(io_uring_enter, uring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	ret = done[*head & (uring.params.cq_entries - 1)].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return ret;
}

void do_ring(void)
{
	size_t len = 1 + chance(5000);
	off_t offset = chance(size);
	long got;

	if (!uring_start())
		return;
	/* A signal may come before the kernel has a thread for the request. */
	do
		got = uring_pread(mine, a, len, offset);
	while (got == -ECANCELED);
	same(got, RAW(pread64, theirs, b, len, offset), "the result");
	same_bytes(RAW(pread64, theirs, b, len, offset));
}
