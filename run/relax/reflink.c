// SPDX-License-Identifier: MIT
/* reflink.c - see reflink.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "file/file.h"
#include "file/policy.h"
#include "next.h"
#include "relax/coalesce.h"
#include "relax/reflink.h"
#include "relax/relax_lease.h"
#include "relax/relaxed.h"
#include "relax/trunc.h"
#include "stats.h"
#include "syscall.h"

/* Blocks that are shared begin and end at multiples of this. */
#define BLOCK 4096

/* Bytes that one call shares at most. */
#define MAX_PENDING (8 << 20)

/* Bytes of the largest source, all of which is mapped, to be compared with. */
#define MAX_SIZE (1ULL << 32)

/* Failed attempts in a row, after which no more are made. */
#define MAX_FAILURES 32

struct reflink_read reflink_read = {.fd = -1};

/* Changed with signals blocked. */
static struct {
	int from; /* -1: none */
	const char *map;
	uint64_t size;	/* of the source; the lease keeps it, and the bytes, from changing */
	uint64_t start; /* offset, in the source, of what is pending */
	uint64_t pending;
} reflink = {.from = -1};

static int failures;

static bool reflink_from(int fd)
{
	return fd >= 0 && fd == reflink.from;
}

static bool reflink_is_broken(void)
{
	return reflink.from >= 0 &&
	       cosy_syscall3(SYS_fcntl, reflink.from, F_GETLEASE, 0) != F_RDLCK;
}

static void reflink_end(void)
{
	if (reflink.from < 0)
		return;
	cosy_syscall3(SYS_munmap, (unsigned long)reflink.map, reflink.size, 0);
	relax_lease_return(reflink.from);
	reflink.from = -1;
}

void reflink_release(int fd)
{
	if (reflink_from(fd))
		coalesce_end();
	coalesce_forget(fd);
	trunc_cut(fd);
	if ((unsigned int)fd < FILES)
		relaxed_compared[fd] = 0;
}

/* True for two files of one file system that can share blocks; fills *from_st. */
static bool files_share_blocks(int from, int to, struct stat *from_st)
{
	struct stat to_st;
	struct statfs fs;
	long flags = cosy_syscall3(SYS_fcntl, to, F_GETFL, 0);

	return flags >= 0 && !(flags & O_APPEND) &&
	       !cosy_syscall3(SYS_fstat, from, (unsigned long)from_st, 0) &&
	       !cosy_syscall3(SYS_fstat, to, (unsigned long)&to_st, 0) &&
	       S_ISREG(from_st->st_mode) && from_st->st_dev == to_st.st_dev &&
	       !cosy_syscall3(SYS_fstatfs, to, (unsigned long)&fs, 0) &&
	       ((uint32_t)fs.f_type == 0x9123683e /* btrfs */ || fs.f_type == 0x58465342 /* xfs */);
}

/* Asks the kernel to share what is pending.  Returns the bytes that it has shared. */
static uint64_t reflink_share(int to)
{
	bool at_end = reflink.start + reflink.pending == reflink.size;
	long position = cosy_syscall3(SYS_lseek, to, 0, SEEK_CUR);
	struct file_clone_range range = {
		.src_fd = reflink.from,
		.src_offset = reflink.start,
		.src_length = at_end ? reflink.pending : reflink.pending / BLOCK * BLOCK,
		.dest_offset = position,
	};

	if (position < 0 || !range.src_length ||
	    cosy_syscall3(SYS_ioctl, to, FICLONERANGE, (unsigned long)&range))
		return 0;
	cosy_syscall3(SYS_lseek, to, position + range.src_length, SEEK_SET);
	stats.reflink += range.src_length;
	return range.src_length;
}

static void reflink_hand_over(int to)
{
	uint64_t done = reflink_share(to);

	failures = done ? 0 : failures + 1;
	while (done < reflink.pending) {
		long ret = cosy_syscall3(SYS_write, to,
					 (unsigned long)reflink.map + reflink.start + done,
					 reflink.pending - done);

		if (ret == -EINTR)
			continue;
		if (ret <= 0) {
			relaxed_late_error(to, ret ? ret : -EIO);
			break;
		}
		done += ret;
	}
	reflink.pending = 0;
}

/* Begins to share: takes a lease on the source, and on the destination unless that has one. */
static bool reflink_begin(int from, int to)
{
	struct stat st;
	const struct coalesce_source source = {reflink_hand_over, reflink_end, reflink_is_broken};
	uint64_t signals;
	long map;

	if (!relaxed_allows(to, RELAX_REFLINK) || !files_share_blocks(from, to, &st))
		return false;
	/* Take the file from windows, which would return its lease. */
	reflink_release(from);
	file_unspecialise_fd(from, GUARD_OWN_CALLS, UNTIL_CLOSED);
	if (!coalesce_has(to) && !coalesce_begin(to, RELAX_REFLINK))
		return false;
	signals = relaxed_block_signals();
	coalesce_flush();
	reflink_end();
	if (relax_lease_take(from, F_RDLCK, coalesce_lease_broken)) {
		map = -1;
		/* Ask for the size again: with the lease it cannot change any more. */
		if (!cosy_syscall3(SYS_fstat, from, (unsigned long)&st, 0) && st.st_size > 0 &&
		    (uint64_t)st.st_size <= MAX_SIZE)
			map = cosy_syscall6(SYS_mmap, 0, st.st_size, PROT_READ, MAP_SHARED, from,
					    0);
		if (map > 0 || map < -4095) {
			reflink.map = (const char *)map;
			reflink.size = st.st_size;
			reflink.from = from;
			coalesce_from(&source);
		} else {
			relax_lease_return(from);
		}
	}
	relaxed_restore_signals(signals);
	return reflink.from == from;
}

static bool reflink_is_aligned(int to, uint64_t offset)
{
	return !(offset % BLOCK) && !(cosy_syscall3(SYS_lseek, to, 0, SEEK_CUR) % BLOCK);
}

bool reflink_write(int fd, const void *buf, size_t len)
{
	int from = reflink_read.fd;
	uint64_t signals, word, offset;
	bool done = false;

	reflink_read.buf = NULL;
	if (failures >= MAX_FAILURES)
		return false;
	if ((!reflink_from(from) || !coalesce_has(fd)) && !reflink_begin(from, fd)) {
		failures++;
		return false;
	}
	offset = cosy_syscall3(SYS_lseek, from, 0, SEEK_CUR) - len;
	if (offset > reflink.size || len > reflink.size - offset)
		return false;
	word = coalesce_word;
	if ((word & COALESCE_LEN) ||
	    (reflink.pending && offset != reflink.start + reflink.pending)) {
		coalesce_flush();
		word = coalesce_word;
	}
	if (!reflink.pending && !reflink_is_aligned(fd, offset))
		return false;
	if (NEXT(memcmp)(buf, reflink.map + offset, len))
		return false;
	signals = relaxed_block_signals();
	/* Look again: a handler may have settled, or ended coalescing. */
	if (coalesce_word == word && coalesce_has(fd) && reflink_from(from)) {
		if (!reflink.pending)
			reflink.start = offset;
		reflink.pending += len;
		coalesce_word |= COALESCE_REFLINK;
		done = true;
	}
	relaxed_restore_signals(signals);
	if (done && reflink.pending >= MAX_PENDING)
		coalesce_flush();
	return done;
}
