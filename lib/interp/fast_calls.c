// SPDX-License-Identifier: MIT
/* fast_calls.c - see fast_calls.h. */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/move.h>

#include "interp/fast_calls.h"
#include "syscall.h"

/* An argument of a system call, as its register holds it. */
#define ARG(value) ((unsigned long)(value))

static s64 call_kernel(long number, unsigned long a, unsigned long b, unsigned long c)
{
	return cosy_syscall3(number, a, b, c);
}

/* Calls that may wait are libc's functions, in which a thread may be cancelled. */
static s64 call_result(s64 result, int saved)
{
	if (result < 0)
		result = -errno;
	errno = saved;
	return result;
}

s64 libcosy_do_seek(int fd, s64 offset, int whence)
{
	int saved = errno;

	return call_result(lseek(fd, offset, whence), saved);
}

static s64 read_from(int fd, void *buffer, u64 count)
{
	int saved = errno;

	return call_result(read(fd, buffer, count), saved);
}

static s64 write_to(int fd, void *buffer, u64 count)
{
	int saved = errno;

	return call_result(write(fd, buffer, count), saved);
}

s64 libcosy_do_readc(int fd)
{
	u8 byte;
	s64 n = read_from(fd, &byte, 1);

	if (n < 0)
		return n;
	return n ? byte : -ENODATA;
}

s64 libcosy_do_seek_read(int fd, void *buffer, u64 count, s64 offset, int whence)
{
	s64 at = libcosy_do_seek(fd, offset, whence);

	return at < 0 ? at : read_from(fd, buffer, count);
}

s64 libcosy_do_seek_write(int fd, const void *buffer, u64 count, s64 offset, int whence)
{
	s64 at = libcosy_do_seek(fd, offset, whence);

	return at < 0 ? at : write_to(fd, (void *)buffer, count);
}

static void file_close(void *arg)
{
	call_kernel(SYS_close, ARG(*(int *)arg), 0, 0);
}

s64 libcosy_do_file_open(int dirfd, const char *path, int flags, bool writes)
{
	int saved = errno;

	return call_result(openat(dirfd, path, flags, writes ? 0666 : 0), saved);
}

s64 libcosy_do_file_some(int fd, void *buffer, u64 size, bool writes)
{
	s64 n;

	pthread_cleanup_push(file_close, &fd);
	n = writes ? write_to(fd, buffer, size) : read_from(fd, buffer, size);
	pthread_cleanup_pop(0);
	return n;
}

s64 libcosy_do_file_rest(int fd, s64 done, char *buffer, u64 left, bool writes)
{
	s64 n = 1, closed;

	while (n > 0 && left && done >= 0) {
		n = libcosy_do_file_some(fd, buffer, left, writes);
		if (n > 0) {
			buffer += n;
			left -= n;
		}
		done = n < 0 ? n : done + n;
	}
	closed = call_kernel(SYS_close, ARG(fd), 0, 0);
	return done < 0 || closed >= 0 ? done : closed;
}

static s64 whole_file(int dirfd, const char *path, void *buffer, u64 size, int flags, bool writes)
{
	s64 fd = libcosy_do_file_open(dirfd, path, flags, writes);

	return fd < 0 ? fd : libcosy_do_file_rest(fd, 0, buffer, size, writes);
}

s64 libcosy_do_read_file(int dirfd, const char *path, void *buffer, u64 size, int flags)
{
	return whole_file(dirfd, path, buffer, size, flags, false);
}

s64 libcosy_do_write_file(int dirfd, const char *path, const void *buffer, u64 size, int flags)
{
	return whole_file(dirfd, path, (void *)buffer, size, flags, true);
}

s64 libcosy_do_lend(int fd, const void *buffer, u64 count, int flags)
{
	int saved = errno;
	s64 n = call_result(send(fd, buffer, count, flags), saved);

	return n == -ENOTSOCK ? write_to(fd, (void *)buffer, count) : n;
}

s64 libcosy_do_loan(int fd, const void *memory, u64 count, int flags)
{
	int saved = errno;

	return call_result(cosy_loan(fd, memory, count, flags), saved);
}

s64 libcosy_do_transfer(int fd, void *memory, u64 count, int flags)
{
	int saved = errno;

	return call_result(cosy_transfer(fd, memory, count, flags), saved);
}

s64 libcosy_do_pass(int port, u64 at, void *memory, u64 count, int how)
{
	int saved = errno;

	return call_result(cosy_pass(port, at, memory, count, (enum cosy_how)how), saved);
}

s64 libcosy_do_flush(void *memory, u64 count)
{
	int saved = errno;

	return call_result(cosy_flush(memory, count), saved);
}

/* --- Directories --------------------------------------------------------------------- */

/* getdents64's entry; libc's headers do not all have it under one name. */
struct entry {
	u64 ino;
	s64 off;
	u16 reclen;
	u8 type;
	char name[];
};

/* Size of the buffer for getdents64, whose entries grow when they are described. */
#define BATCH 2048

/* Bytes of the smallest entry, and how many more it takes when described: this many or 8 less. */
#define MIN_ENTRY 24
#define GROWTH	  152

_Static_assert(sizeof(struct stat) == sizeof(((struct cosy_dirent *)0)->stat),
	       "struct cosy_dirent has room for a struct stat");

static size_t entry_described_size(const struct entry *entry)
{
	return (sizeof(struct cosy_dirent) + strlen(entry->name) + 1 + 7) & ~7ull;
}

/* Writes one entry at `to`, where there is room, but for its attributes. */
static void entry_describe(const struct entry *from, size_t reclen, struct cosy_dirent *to)
{
	memset(to, 0, reclen);
	to->ino = from->ino;
	to->off = from->off;
	to->reclen = reclen;
	to->type = from->type;
	strcpy(to->name, from->name);
}

/* Writes a batch of entries likewise, which all fit.  Returns how many bytes they take. */
static s64 entries_describe(const char *batch, s64 bytes, char *to)
{
	s64 done, described = 0;

	for (done = 0; done < bytes;) {
		const struct entry *from = (const struct entry *)(batch + done);
		size_t reclen = entry_described_size(from);

		entry_describe(from, reclen, (struct cosy_dirent *)(to + described));
		described += reclen;
		done += from->reclen;
	}
	return described;
}

/*
 * Takes from the directory only what is sure to fit into `room` bytes when described.  It must
 * not take more and seek back: on file systems that read in advance, or that remember when the
 * directory was opened, a second look shows other entries.
 */
static s64 entries_list(int fd, char *batch, u64 room)
{
	u64 size = room / (MIN_ENTRY + GROWTH) * MIN_ENTRY;
	s64 n;

	if (size > BATCH - 8)
		return call_kernel(SYS_getdents64, ARG(fd), ARG(batch), BATCH);
	do {
		n = call_kernel(SYS_getdents64, ARG(fd), ARG(batch), size);
		/* The next entry alone is longer: ask for 8 bytes more, it will be the only one. */
		size += 8;
	} while (n == -EINVAL && size <= BATCH && size + GROWTH <= room);
	return n;
}

/* Takes one entry that may just fit, which depends on its name. */
static s64 entry_list_exactly(int fd, char *batch, u64 room)
{
	s64 at, n;

	if (room < MIN_ENTRY + GROWTH || room > BATCH)
		return -EINVAL;
	at = call_kernel(SYS_lseek, ARG(fd), 0, SEEK_CUR);
	n = call_kernel(SYS_getdents64, ARG(fd), ARG(batch), room - GROWTH + 8);
	if (n <= 0 || entry_described_size((const struct entry *)batch) <= room)
		return n;
	call_kernel(SYS_lseek, ARG(fd), ARG(at), SEEK_SET);
	return -EINVAL;
}

s64 libcosy_do_scan_list(int fd, void *to, u64 room, bool is_first)
{
	_Alignas(struct entry) char batch[BATCH];
	s64 n = entries_list(fd, batch, room);

	if (n == -EINVAL && is_first)
		n = entry_list_exactly(fd, batch, room);
	return n > 0 ? entries_describe(batch, n, to) : n;
}

s64 libcosy_do_scan_examine(int fd, void *entry, u64 left, int flags)
{
	struct cosy_dirent *at = entry;
	u16 size = at->reclen;
	struct stat stat;

	if (size < MIN_ENTRY + GROWTH || size % 8 || size > left)
		return -EINVAL;
	at->error =
		cosy_syscall6(SYS_newfstatat, ARG(fd), ARG(at->name), ARG(&stat), ARG(flags), 0, 0);
	if (at->error)
		memset(at->stat, 0, sizeof(at->stat));
	else
		memcpy(at->stat, &stat, sizeof(stat));
	return size;
}

s64 libcosy_do_scan_rest(int fd, void *entries, u64 left, int flags, u64 before)
{
	u64 done = 0;
	s64 size;

	if (left > COSY_MAX_LISTED)
		return -EINVAL;
	while (done < left) {
		size = libcosy_do_scan_examine(fd, (char *)entries + done, left - done, flags);
		if (size < 0)
			return size;
		done += size;
	}
	return before + left;
}

s64 libcosy_do_scan_dir(int fd, void *buffer, u64 size, int flags)
{
	u64 done = 0;
	s64 n, all;

	do {
		n = libcosy_do_scan_list(fd, (char *)buffer + done, size - done, !done);
		if (n > 0) {
			all = libcosy_do_scan_rest(fd, (char *)buffer + done, n, flags, done);
			if (all < 0)
				return all; /* another thread has changed the entries */
			done = all;
		}
	} while (n > 0 && size - done >= MIN_ENTRY + GROWTH);
	return done ? (s64)done : n;
}

/* --- Passes over memory --------------------------------------------------------------- */

u64 libcosy_do_count(const void *buffer, u64 count, u8 byte)
{
	const u8 *at = buffer;
	u64 found = 0;

	for (u64 i = 0; i < count; i++)
		found += at[i] == byte;
	return found;
}

/* CRC of each nibble, by the polynomial of RFC 3720 with its bits reversed. */
static const u32 crc32c_table[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
	0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
	0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static u32 crc32c_portable(u32 crc, const u8 *at, u64 count)
{
	for (u64 i = 0; i < count; i++) {
		crc ^= at[i];
		crc = crc >> 4 ^ crc32c_table[crc & 15];
		crc = crc >> 4 ^ crc32c_table[crc & 15];
	}
	return crc;
}

__attribute__((target("sse4.2"))) static u32 crc32c_sse42(u32 crc, const u8 *at, u64 count)
{
	u64 wide = crc;

	for (; count >= 8; count -= 8, at += 8) {
		u64 word;

		memcpy(&word, at, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = wide;
	for (; count; count--)
		crc = __builtin_ia32_crc32qi(crc, *at++);
	return crc;
}

/* Asks the processor: __builtin_cpu_supports has each program ask it everything at its start. */
static bool has_sse42(void)
{
	static int answer; /* 1: it has; -1: it has not */
	int known = __atomic_load_n(&answer, __ATOMIC_RELAXED);
	unsigned int a, b, c = 0, d;

	if (!known) {
		known = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2 ? 1 : -1;
		__atomic_store_n(&answer, known, __ATOMIC_RELAXED);
	}
	return known > 0;
}

u32 libcosy_do_crc32c(u32 crc, const void *buffer, u64 count)
{
	/* RFC 3720 complements the CRC before and after, so that leading zeros count. */
	if (has_sse42())
		return ~crc32c_sse42(~crc, buffer, count);
	return ~crc32c_portable(~crc, buffer, count);
}
