// SPDX-License-Identifier: MIT
/* coalesce.c - see coalesce.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "file/copy.h"
#include "file/file.h"
#include "file/policy.h"
#include "direct.h"
#include "next.h"
#include "relax/coalesce.h"
#include "relax/relax_lease.h"
#include "relax/relaxed.h"
#include "stats.h"
#include "syscall.h"
#include "vfork.h"

/* Bytes coalesced at most; the next write that does not fit has them handed over. */
#define CAPACITY 65536

/* Bytes of the longest write that is coalesced: copying a longer one costs what it saves. */
#define MAX_LENGTH 8192

/* Times in a row that a single write was handed over, after which coalescing does not pay. */
#define MAX_LONELY 8

/*
 * Small writes in a row that pay for lease and buffer, at first and at most.  In between it is a
 * matter of experience: a file that was closed before it had saved what it cost doubles it for the
 * next, one that did pay halves it.
 */
#define EARNED	   8
#define MAX_EARNED 240

/* System calls that a file costs which is coalesced: for its flags, lease, signal and kind. */
#define COST 8

static unsigned int price = EARNED;

uint64_t coalesce_word;

static struct {
	int fd;		     /* -1: none; changed with signals blocked */
	unsigned int writes; /* coalesced and not handed over */
	unsigned int lonely; /* times in a row that a single write was handed over */
	int saved;	     /* system calls, by this file so far */
	bool coalesces;	     /* false: for copy loops only */
	bool lent;	     /* an interrupted write may still copy into `buffer` */
	dev_t dev;
	ino_t ino;
	char *buffer;
	struct coalesce_source source; /* NULLs: there was none */
} coalesced = {.fd = -1};

/* For each descriptor 0: no candidate; else 1 + small writes in a row, up to the price. */
static uint8_t candidates[FILES];

static bool candidates_made; /* ever */

void coalesce_candidate(int fd)
{
	if ((unsigned int)fd >= FILES)
		return;
	candidates[fd] = 1;
	candidates_made = true;
}

bool coalesce_may(int fd)
{
	return (unsigned int)fd < FILES && candidates[fd];
}

bool coalesce_has(int fd)
{
	return fd == coalesced.fd;
}

bool coalesce_same(const struct stat *st)
{
	return coalesced.fd >= 0 && st->st_ino == coalesced.ino && st->st_dev == coalesced.dev;
}

/*
 * True if the coalesced file still has its lease.  It has none if the lease was broken, or if the
 * descriptor was closed unseen, by syscall(2) or by stdio, and its number names something else.
 */
static bool lease_is_intact(void)
{
	return cosy_syscall3(SYS_fcntl, coalesced.fd, F_GETLEASE, 0) == F_WRLCK;
}

/*
 * Compares and exchanges coalesce_word by one instruction.  There is one thread, so only handlers
 * come in between, and against them one instruction is enough.
 */
static bool word_exchange(uint64_t old, uint64_t new)
{
#ifdef __x86_64__
	bool same;

	__asm__ volatile("cmpxchg %3, %1"
			 : "=@ccz"(same), "+m"(coalesce_word), "+a"(old)
			 : "r"(new)
			 : "memory");
	return same;
#else
	return __atomic_compare_exchange_n(&coalesce_word, &old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
#endif
}

/*
 * Writes what is coalesced; signals are blocked.  Bytes that the disk has no room for are lost, as
 * with any write that the kernel makes late.
 */
static void coalesce_hand_over(void)
{
	size_t len = coalesce_word & COALESCE_LEN, done = 0;

	while (done < len) {
		long ret = cosy_syscall3(SYS_write, coalesced.fd,
					 (unsigned long)coalesced.buffer + done, len - done);

		if (ret == -EINTR)
			continue;
		if (ret <= 0) {
			relaxed_late_error(coalesced.fd, ret ? ret : -EIO);
			break;
		}
		done += ret;
	}
	if (coalesce_word & COALESCE_REFLINK)
		coalesced.source.hand_over(coalesced.fd);
	if (coalesce_word & COALESCE_BUSY)
		coalesced.lent = true;
	coalesce_word = (coalesce_word & ~(uint64_t)UINT32_MAX) + COALESCE_GENERATION;
	if (!len)
		return;
	stats.coalesce_flushes++;
	coalesced.saved--;
	coalesced.lonely = coalesced.writes > 1 ? 0 : coalesced.lonely + 1;
	coalesced.writes = 0;
}

void coalesce_flush(void)
{
	uint64_t signals;

	if (!coalesce_pending())
		return;
	signals = relaxed_block_signals();
	coalesce_hand_over();
	relaxed_restore_signals(signals);
}

static void coalesce_learn(void)
{
	if (!coalesced.coalesces || environment_get(ENVIRONMENT_EAGER))
		return;
	if (coalesced.saved >= COST)
		price = price / 2 < EARNED ? EARNED : price / 2;
	else
		price = price * 2 > MAX_EARNED ? MAX_EARNED : price * 2;
}

void coalesce_end(void)
{
	uint64_t signals;

	if (coalesced.fd < 0)
		return;
	signals = relaxed_block_signals();
	coalesce_hand_over();
	coalesce_learn();
	if (coalesced.source.end)
		coalesced.source.end();
	relax_lease_return(coalesced.fd);
	if (candidates[coalesced.fd])
		candidates[coalesced.fd] = 1;
	coalesced.fd = -1;
	relaxed_restore_signals(signals);
}

void coalesce_forget(int fd)
{
	if (!coalesce_may(fd))
		return;
	if (coalesce_has(fd))
		coalesce_end();
	candidates[fd] = 0;
}

void coalesce_forget_all(void)
{
	coalesce_end();
	memset(candidates, 0, sizeof(candidates));
}

/*
 * Only descriptors that are duplicates of each other matter: for any other the mapping is another
 * open file, with which the kernel grants no lease.  A candidate whose file is mapped was opened
 * for both reading and writing.
 */
void coalesce_mapped(int fd)
{
	struct stat mapped, st;

	if (!candidates_made || (cosy_syscall3(SYS_fcntl, fd, F_GETFL, 0) & O_ACCMODE) != O_RDWR ||
	    cosy_syscall3(SYS_fstat, fd, (unsigned long)&mapped, 0))
		return;
	for (int i = 0; i < FILES; i++)
		if (candidates[i] && !cosy_syscall3(SYS_fstat, i, (unsigned long)&st, 0) &&
		    st.st_ino == mapped.st_ino && st.st_dev == mapped.st_dev)
			coalesce_forget(i);
}

void coalesce_lease_broken(void)
{
	if (coalesced.source.is_broken && coalesced.source.is_broken())
		coalesce_end();
	if (coalesced.fd >= 0 && !lease_is_intact())
		coalesce_end();
}

void coalesce_from(const struct coalesce_source *source)
{
	coalesced.source = *source;
}

static bool buffer_is_made(void)
{
	long mapping;

	if (coalesced.buffer)
		return true;
	mapping = cosy_syscall6(SYS_mmap, 0, CAPACITY, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0)
		return false;
	coalesced.buffer = (char *)mapping;
	return true;
}

/* True for a regular file whose writes only put bytes into the page cache. */
static bool file_fits(int fd, unsigned int what, struct stat *st)
{
	long flags = cosy_syscall3(SYS_fcntl, fd, F_GETFL, 0);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
	       !(flags & (O_DIRECT | O_SYNC | O_DSYNC | O_ASYNC | O_PATH)) &&
	       !cosy_syscall3(SYS_fstat, fd, (unsigned long)st, 0) && S_ISREG(st->st_mode) &&
	       relaxed_allows(fd, what) && relaxed_local(fd, st->st_dev);
}

bool coalesce_begin(int fd, unsigned int what)
{
	struct stat st;
	uint64_t signals;
	bool taken;

	/* The child of a vfork has its parent's memory, but descriptors of its own. */
	if (coalesced.lent || vfork_in_child() || file_sharing() || !file_fits(fd, what, &st))
		return false;
	coalesce_end();
	signals = relaxed_block_signals();
	taken = buffer_is_made() && relax_lease_take(fd, F_WRLCK, coalesce_lease_broken);
	if (taken) {
		coalesced.dev = st.st_dev;
		coalesced.ino = st.st_ino;
		coalesced.coalesces = relaxed_allows(fd, RELAX_COALESCE);
		coalesced.fd = fd;
		coalesced.saved = 0;
		relaxed_changed();
	}
	relaxed_restore_signals(signals);
	return taken;
}

/* False for NULL and the kernel's addresses, which the kernel refuses, and for long writes. */
static bool write_suits(const void *buf, size_t len)
{
	return len && len <= MAX_LENGTH && (uintptr_t)buf - 65536 < (1ULL << 56);
}

/* Appends the bytes.  False: they do not fit, or must not be coalesced now. */
static bool coalesce_append(int fd, const void *buf, size_t len)
{
	for (;;) {
		uint64_t word = __atomic_load_n(&coalesce_word, __ATOMIC_RELAXED);

		if (!coalesce_has(fd) || !coalesced.coalesces || coalesced.lent ||
		    !write_suits(buf, len) || (word & COALESCE_LEN) + len > CAPACITY)
			return false;
		if (word & COALESCE_REFLINK)
			return false;
		/*
		 * Look if nothing is coalesced.  Else the file is open: calls that may close it
		 * hand over first.
		 */
		if (!(uint32_t)word && !lease_is_intact()) {
			coalesce_forget(fd);
			return false;
		}
		if (word & COALESCE_BUSY) {
			/* A handler runs this: it has interrupted the write that is copying. */
			coalesce_flush();
			return false;
		}
		if (!word_exchange(word, word | COALESCE_BUSY))
			continue;
		copy_bytes(coalesced.buffer + (word & COALESCE_LEN), buf, len);
		if (word_exchange(word | COALESCE_BUSY, word + len)) {
			stats.coalesce++;
			coalesced.saved++;
			coalesced.writes++;
			return true;
		}
		/* The exchange failed because a handler has settled.  No other write copies now. */
		coalesced.lent = false;
	}
}

/* Counts a write.  True: so many small ones came in a row that they are coalesced from now on. */
static bool coalesce_earned(int fd, size_t len)
{
	if (len > MAX_LENGTH) {
		candidates[fd] = 1;
		return false;
	}
	if (candidates[fd] <= price) {
		candidates[fd]++;
		return false;
	}
	if (coalesce_begin(fd, RELAX_COALESCE))
		return true;
	candidates[fd] = 0;
	return false;
}

ssize_t coalesce_write(int fd, const void *buf, size_t len)
{
	int error;

	if (coalesce_has(fd) && coalesced.lonely >= MAX_LONELY) {
		coalesce_forget(fd);
		coalesced.lonely = 0;
	} else if (!coalesce_has(fd) && !coalesce_earned(fd, len))
		return direct_write(fd, buf, len);
	if (coalesce_append(fd, buf, len))
		return len;
	/*
	 * Before a write that is not coalesced, hand over the earlier ones and report their error.
	 */
	coalesce_flush();
	error = relaxed_take_error(fd);
	if (error) {
		errno = error;
		return -1;
	}
	if (coalesce_append(fd, buf, len))
		return len;
	return direct_write(fd, buf, len);
}
