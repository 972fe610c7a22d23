// SPDX-License-Identifier: MIT
/* reads.c - makes the calls that windows serve. */
#include <limits.h>
#include <stdint.h>

#include "fuzz.h"

/* Called by _FORTIFY_SOURCE in their place. */
ssize_t __read_chk(int fd, void *buf, size_t len, size_t buf_len);
ssize_t __pread_chk(int fd, void *buf, size_t len, off_t offset, size_t buf_len);

size_t some_length(void)
{
	switch (chance(8)) {
	case 0:
		return chance(MAX_LENGTH);
	case 1:
	case 2:
		return chance(5000);
	default:
		return chance(64);
	}
}

/* Returns an offset, mostly inside the file. */
off_t some_offset(void)
{
	return (off_t)chance(size + size / 5) - 20;
}

void do_read(void)
{
	size_t len = some_length();

	if (chance(20))
		same_bytes(BOTH(read(mine, a, len), RAW(read, theirs, b, len)));
	else
		same_bytes(BOTH(__read_chk(mine, a, len, ROOM), RAW(read, theirs, b, len)));
}

/* Makes many small reads: without them nothing is ever specialised. */
void do_reads(void)
{
	size_t len = 1 + chance(chance(4) ? 40 : 4096);

	for (int i = 40 + chance(40); i; i--) {
		long got = BOTH(read(mine, a, len), RAW(read, theirs, b, len));

		same_bytes(got);
		if (got <= 0)
			return;
	}
}

void do_pread(void)
{
	size_t len = some_length();
	off_t offset = some_offset();

	for (int i = chance(2) ? 1 : 30; i; i--) {
		if (chance(20))
			same_bytes(BOTH(pread(mine, a, len, offset),
					RAW(pread64, theirs, b, len, offset)));
		else
			same_bytes(BOTH(__pread_chk(mine, a, len, offset, ROOM),
					RAW(pread64, theirs, b, len, offset)));
		offset += chance(100);
	}
}

void do_seek(void)
{
	static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 17};
	int whence = whences[chance(10) ? chance(3) : chance(6)];
	off_t offset = whence == SEEK_CUR   ? (off_t)chance(4000) - 2000
		       : whence == SEEK_END ? 100 - (off_t)chance(8000)
					    : chance(size + size / 10);

	if (!chance(50))
		offset = chance(2) ? INT64_MAX - chance(9) : -(off_t)chance(9);
	BOTH(lseek(mine, offset, whence), RAW(lseek, theirs, offset, whence));
}

void do_rewind(void)
{
	BOTH(lseek(mine, 0, SEEK_SET), RAW(lseek, theirs, 0, SEEK_SET));
}

/* Looks records up, as programs do. */
void do_records(void)
{
	size_t len = chance(2) ? 1 + chance(500) : 4096;

	for (int i = 30; i; i--) {
		off_t offset = chance(size);

		BOTH(lseek(mine, offset, SEEK_SET), RAW(lseek, theirs, offset, SEEK_SET));
		same_bytes(BOTH(read(mine, a, len), RAW(read, theirs, b, len)));
	}
}

/* Reads with addresses and lengths that no program means. */
void do_odd_read(void)
{
	static const uintptr_t addresses[] = {0, 1, 4096, 1UL << 63, -4096UL};
	static const size_t lengths[] = {0, 1, INT_MAX, UINT_MAX, SSIZE_MAX, 1UL << 63, SIZE_MAX};
	void *nowhere = (void *)addresses[chance(5)];
	size_t len = lengths[chance(7)];
	off_t offset = some_offset();

	switch (chance(4)) {
	case 0:
		BOTH(read(mine, nowhere, 10), RAW(read, theirs, nowhere, 10));
		BOTH(pread(mine, nowhere, 10, offset), RAW(pread64, theirs, nowhere, 10, offset));
		break;
	case 1:
		same_bytes(BOTH(read(mine, a, 0), RAW(read, theirs, b, 0)));
		same_bytes(BOTH(pread(mine, a, 0, offset), RAW(pread64, theirs, b, 0, offset)));
		break;
	case 2:
		same_bytes(BOTH(pread(mine, a, len, offset), RAW(pread64, theirs, b, len, offset)));
		break;
	default:
		same_bytes(BOTH(read(mine, a, len), RAW(read, theirs, b, len)));
	}
	BOTH(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR));
}
