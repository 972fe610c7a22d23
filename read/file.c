// SPDX-License-Identifier: MIT
/* file.c - see file.h. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "lease.h"
#include "stats.h"
#include "syscall.h"
#include "window.h"

/* Few enough to stay in the cache, enough that one is not used again at once. */
#define FIRST_FILES 32

struct file *file_table[FILES];

static struct file files[FILES];
static unsigned int last_claimed;
static unsigned int epoch; /* how often file_share_begin was called */
static int sharing;

static struct file *file_claim(void)
{
	unsigned int start = __atomic_add_fetch(&last_claimed, 1, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < FILES; i++) {
		struct file *file = &files[i < FIRST_FILES ? (start + i) % FIRST_FILES : i];
		int free = 0;

		if (__atomic_load_n(&file->refs, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&file->refs, &free, 1, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		/* Never used; others were left plain, with a generation that must not come again. */
		if (!file->word)
			file->word = WORD_PLAIN;
		__atomic_store_n(&file->refs, 2, __ATOMIC_RELEASE);
		return file;
	}
	return NULL;
}

unsigned int file_epoch(void)
{
	return __atomic_load_n(&epoch, __ATOMIC_ACQUIRE);
}

bool file_sharing(void)
{
	return __atomic_load_n(&sharing, __ATOMIC_SEQ_CST);
}

void file_opened(int fd, int flags, unsigned int epoch_before)
{
	struct file *file, *old;

	if ((unsigned int)fd >= FILES)
		return;
	if ((flags & (O_ACCMODE | O_DIRECT | O_PATH | O_DIRECTORY | O_TRUNC | O_ASYNC)) != O_RDONLY)
		return;
	file = file_claim();
	if (!file)
		return;
	file->forever = false;
	file->inside = 0;
	file->breaks = 0;
	file->credit = 0;
	file->reads = 0;
	file->fetched = 0;
	stats.opened++;
	/* Something is there only if it was closed behind this library's back. */
	old = __atomic_exchange_n(&file_table[fd], file, __ATOMIC_SEQ_CST);
	if (old)
		file_replaced(fd, old, true);
	if (__atomic_load_n(&epoch, __ATOMIC_SEQ_CST) != epoch_before || file_sharing())
		__atomic_store_n(&file->forever, true, __ATOMIC_SEQ_CST);
}

/* One descriptor less.  `fd` is it while it is still open, or -1. */
static void file_put(struct file *file, int fd)
{
	bool last = __atomic_sub_fetch(&file->refs, 1, __ATOMIC_SEQ_CST) == 1;
	uint64_t word = file_word(file), signals;

	if ((word & WORD_HELD) || !(word & WORD_PLAIN)) {
		word = file_hold(file, &signals);
		if (!(word & WORD_PLAIN) && last) {
			/* An mmap of the file would keep the lease, with nobody to return it. */
			lease_return(fd);
			window_drop(file);
			stats.reads += file->reads;
			word = WORD_PLAIN;
		} else if (!(word & WORD_PLAIN) && file->fd == fd) {
			word = file_unplug(file, word, GUARD_KERNEL_POSITION);
		}
		/* The generation stops reads through `fd` that are under way. */
		file_release(file, word, signals);
	}
	if (last)
		__atomic_store_n(&file->refs, 0, __ATOMIC_RELEASE);
}

static void file_detach(int fd, bool open)
{
	struct file *file = __atomic_exchange_n(&file_table[fd], NULL, __ATOMIC_SEQ_CST);

	if (file)
		file_put(file, open ? fd : -1);
}

void file_closing(int fd)
{
	struct file *file = file_of(fd);

	if (!file)
		return;
	stats_closed(file, fd);
	file_detach(fd, true);
}

struct file *file_replacing(int fd)
{
	struct file *file = file_of(fd);

	if (!file)
		return NULL;
	file_plain(file, GUARD_KERNEL_POSITION, false);
	return __atomic_exchange_n(&file_table[fd], NULL, __ATOMIC_SEQ_CST);
}

void file_replaced(int fd, struct file *file, bool done)
{
	struct file *none = NULL;

	if (!file)
		return;
	if (done || !__atomic_compare_exchange_n(&file_table[fd], &none, file, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		file_put(file, -1);
}

void file_duplicated(int fd, int copy)
{
	struct file *file = file_of(fd), *old;
	int refs;

	if (!file || fd == copy)
		return;
	if ((unsigned int)copy >= FILES) {
		file_plain(file, GUARD_OWN_CALLS, true);
		return;
	}
	refs = __atomic_load_n(&file->refs, __ATOMIC_RELAXED);
	do {
		if (refs < 2)
			return;
	} while (!__atomic_compare_exchange_n(&file->refs, &refs, refs + 1, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	old = __atomic_exchange_n(&file_table[copy], file, __ATOMIC_SEQ_CST);
	if (old)
		file_put(old, -1);
}

void file_wait(void)
{
	cosy_syscall3(SYS_sched_yield, 0, 0, 0);
}

uint64_t file_hold(struct file *file, uint64_t *signals)
{
	uint64_t all = ~0ULL, word;

	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&all, (unsigned long)signals,
		      sizeof(all), 0, 0);
	for (;;) {
		word = file_word(file);
		if (word & WORD_HELD)
			file_wait();
		else if (__atomic_compare_exchange_n(&file->word, &word,
						     word | WORD_HELD | WORD_PLAIN, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return word;
	}
}

void file_release(struct file *file, uint64_t word, uint64_t signals)
{
	uint64_t flags_position = word & (WORD_PLAIN | WORD_POSITION);
	uint64_t generation =
		(file->word + WORD_GENERATION) & ~(WORD_PLAIN | WORD_HELD | WORD_POSITION);

	__atomic_store_n(&file->word, flags_position | generation, __ATOMIC_SEQ_CST);
	signals = lease_signals(signals);
	cosy_syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (unsigned long)&signals, 0, sizeof(signals),
		      0, 0);
}

/* One instruction is enough against signal handlers, as in file_exchange. */
static void file_count_inside(struct file *file, int more)
{
#ifdef __x86_64__
	if (__libc_single_threaded) {
		__asm__ volatile("addl %1, %0" : "+m"(file->inside) : "ri"(more) : "memory", "cc");
		return;
	}
#endif
	__atomic_add_fetch(&file->inside, more, __ATOMIC_SEQ_CST);
}

bool file_enter(struct file *file, uint64_t word)
{
	file_count_inside(file, 1);
	if (__atomic_load_n(&file->word, __ATOMIC_SEQ_CST) == word)
		return true;
	file_leave(file);
	return false;
}

void file_leave(struct file *file)
{
	file_count_inside(file, -1);
}

struct file *file_borrow(int fd, enum guard why)
{
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;

		if (!file)
			return NULL;
		word = file_word(file);
		if (word & WORD_HELD)
			file_wait();
		else if (!(word & WORD_PLAIN))
			file_plain(file, why, false);
		else if (file_enter(file, word))
			return file;
	}
}

uint64_t file_unplug(struct file *file, uint64_t word, enum guard why)
{
	cosy_syscall3(SYS_lseek, file->fd, word & WORD_POSITION, SEEK_SET);
	lease_return(file->fd);
	window_drop(file);
	stats_replugged(file, why);
	file->credit = 0;
	file->fetched = 0;
	return WORD_PLAIN;
}

void file_plain(struct file *file, enum guard why, bool forever)
{
	uint64_t word, signals;

	if (forever)
		__atomic_store_n(&file->forever, true, __ATOMIC_SEQ_CST);
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	/* Whoever is about to specialise it looks at `forever` behind its hold. */
	if ((word & WORD_PLAIN) && !(word & WORD_HELD))
		return;
	word = file_hold(file, &signals);
	if (!(word & WORD_PLAIN))
		word = file_unplug(file, word, why);
	file_release(file, word, signals);
}

void file_plain_fd(int fd, enum guard why, bool forever)
{
	struct file *file = file_of(fd);

	if (file)
		file_plain(file, why, forever);
}

void file_each(void (*visit)(struct file *file))
{
	for (unsigned int i = 0; i < FILES; i++)
		if (__atomic_load_n(&files[i].refs, __ATOMIC_SEQ_CST) > 1)
			visit(&files[i]);
}

void file_plain_all(enum guard why, bool forever)
{
	for (unsigned int i = 0; i < FILES; i++)
		if (__atomic_load_n(&files[i].refs, __ATOMIC_SEQ_CST) > 1)
			file_plain(&files[i], why, forever);
}

void file_share_begin(enum guard why, bool forever)
{
	__atomic_add_fetch(&sharing, 1, __ATOMIC_SEQ_CST);
	if (forever)
		__atomic_add_fetch(&epoch, 1, __ATOMIC_SEQ_CST);
	file_plain_all(why, forever);
}

void file_share_end(void)
{
	__atomic_sub_fetch(&sharing, 1, __ATOMIC_SEQ_CST);
}

void file_share_child(void)
{
	/* Threads that were in the middle of something stayed behind. */
	sharing = 0;
	for (unsigned int i = 0; i < FILES; i++) {
		if (!files[i].refs)
			continue;
		files[i].word = (files[i].word | WORD_PLAIN) & ~(WORD_HELD | WORD_POSITION);
		files[i].inside = 0;
	}
}
