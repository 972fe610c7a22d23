// SPDX-License-Identifier: MIT
/* Does grep.h by io_uring: for 8 files at once open, two reads and close, each file's linked. */
#include "grep.h"
#include "ring.h"

#define BATCH 8

static void whole_file(int slot, const char *name)
{
	char *at = ring_buffer + slot * FILE_SIZE;
	struct io_uring_sqe *entry = io_uring_get_sqe(&ring);

	io_uring_prep_openat_direct(entry, AT_FDCWD, name, O_RDONLY, 0, slot);
	entry->flags |= IOSQE_IO_LINK;
	ring_read(slot, at, CHUNK, 0, IOSQE_IO_LINK);
	ring_read(slot, at + CHUNK, CHUNK, CHUNK, IOSQE_IO_LINK);
	io_uring_prep_close_direct(io_uring_get_sqe(&ring), slot);
}

static long grep_files(long count)
{
	char name[BATCH][11];
	long lines = 0;

	if (!ring_buffer)
		ring_begin((int[BATCH]){-1, -1, -1, -1, -1, -1, -1, -1}, BATCH, BATCH * FILE_SIZE);
	for (long i = 0; i < count;) {
		int slot;

		for (slot = 0; slot < BATCH && i < count; slot++, i++) {
			grep_name(name[slot], i);
			whole_file(slot, name[slot]);
		}
		ring_finish(4 * slot);
		for (int chunk = 0; chunk < 2 * slot; chunk++)
			lines += matching_lines(ring_buffer + chunk * CHUNK, CHUNK);
	}
	return lines;
}
