// SPDX-License-Identifier: MIT
/*
 * Does serve.h by io_uring: all files of a burst in one chain of linked requests, since they
 * go to one socket in their order: open, read, send, close, or with HELD read and send.
 */
#include "serve.h"

#include "ring.h"

static void serve_begin(void)
{
	int files[FILES + 1];
	char name[8];

	files[FILES] = sender;
	for (int i = 0; i < FILES; i++) {
		files[i] = -1;
#ifdef HELD
		serve_name(name, i);
		files[i] = BENCH_TRY(open(name, O_RDONLY));
#else
		(void)name;
#endif
	}
	ring_begin(files, FILES + 1, FILES * MAX_SIZE);
}

static long serve_files(int to, long count, long len)
{
	char names[FILES][8];

	(void)to;
	for (long i = 0; i < count; i++) {
		char *buf = ring_buffer + i * len;
		struct io_uring_sqe *entry;

#ifndef HELD
		serve_name(names[i], i);
		entry = io_uring_get_sqe(&ring);
		io_uring_prep_openat_direct(entry, AT_FDCWD, names[i], O_RDONLY, 0, i);
		entry->flags |= IOSQE_IO_LINK;
#else
		(void)names;
#endif
		ring_read(i, buf, len, 0, IOSQE_IO_LINK);
		entry = io_uring_get_sqe(&ring);
		io_uring_prep_send(entry, FILES, buf, len, MSG_WAITALL);
		ring_flags(entry, IOSQE_IO_LINK);
#ifndef HELD
		entry = io_uring_get_sqe(&ring);
		io_uring_prep_close_direct(entry, i);
		entry->flags |= IOSQE_IO_LINK;
#endif
	}
#ifdef HELD
	return ring_finish(2 * count) / 2;
#else
	return ring_finish(4 * count) / 2;
#endif
}
