// SPDX-License-Identifier: MIT
/* file.c - see file.h. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/file.h"
#include "file/seeks.h"
#include "lock.h"
#include "mask.h"
#include "next.h"
#include "stats.h"
#include "syscall.h"
#include "vfork.h"

struct file_space *file_space;

unsigned int file_epochs;
static int sharing;
static int waiting;		      /* threads in file_wait */
static enum guard forbidden = GUARDS; /* by this one */

static unsigned int used_numbers; /* files from this one on were never used, nor touched */

static COLD bool file_map(void)
{
	size_t len = sizeof(struct file_space);
	long mapping;

	if (!next_is_libc())
		return false;
	mapping = cosy_syscall6(SYS_mmap, 0, len, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0)
		return false;
	vfork_process = cosy_syscall3(SYS_getpid, 0, 0, 0);
	/* An emulated processor's exchange would read first: two faults. */
	*(volatile char *)((struct file_space *)mapping)->table = 0;
	if (!ATOMIC_EXCHANGE(&file_space, NULL, (struct file_space *)mapping))
		cosy_syscall3(SYS_munmap, mapping, len, 0);
	return true;
}

static COLD void file_use(unsigned int number)
{
	unsigned int used;

	do
		used = __atomic_load_n(&used_numbers, __ATOMIC_RELAXED);
	while (number >= used && !ATOMIC_EXCHANGE(&used_numbers, used, number + 1));
}

static inline struct file *file_claim_one(struct file_space *space, unsigned int number)
{
	struct file *file = file_numbered(space, number);

	/* Do not look before: a page that is read and then written is faulted in twice. */
	if (unlikely(!ATOMIC_EXCHANGE(&file->refs, 0, 1)))
		return NULL;
	if (unlikely(number >= __atomic_load_n(&used_numbers, __ATOMIC_RELAXED)))
		file_use(number);
	return file;
}

/* Finds a file that is not in use. */
static COLD struct file *file_claim_any(struct file_space *space)
{
	struct file *file = NULL;

	for (unsigned int number = 0; number < FILES && !file; number++)
		if (!__atomic_load_n(&file_numbered(space, number)->refs, __ATOMIC_RELAXED))
			file = file_claim_one(space, number);
	return file;
}

/* Takes the file of the descriptor's own number, unless a duplicate has it. */
static inline struct file *file_claim(int fd)
{
	struct file *file;

	if (unlikely(!file_space) && !file_map())
		return NULL;
	file = file_claim_one(file_space, fd);
	return likely(file) ? file : file_claim_any(file_space);
}

bool file_sharing(void)
{
	return __atomic_load_n(&sharing, __ATOMIC_SEQ_CST) ||
	       __atomic_load_n(&forbidden, __ATOMIC_SEQ_CST) != GUARDS;
}

/* Makes `fd` name the file.  Returns what it named before, most likely `expected`. */
static struct file *file_name(int fd, struct file *expected, struct file *file)
{
	while (unlikely(!ATOMIC_EXCHANGE(&file_space->table[fd], expected, file)))
		expected = __atomic_load_n(&file_space->table[fd], __ATOMIC_RELAXED);
	return expected;
}

/* Notes that a descriptor that was opened gets no file. */
static COLD void file_refused(int fd)
{
	if (next_is_libc())
		return;
	stats.opened++;
	stats_declined(NULL, fd, GUARD_LIBC_NEXT);
}

void (*file_give_back)(struct file *file, int fd);

/* Gives back lease and window; under LOCKED. */
static void file_unlease(struct file *file, int fd)
{
	file_give_back(file, fd);
	file->leased = false;
}

/* Ends what the last descriptor had; under LOCKED. */
static void file_end(struct file *file, int fd)
{
	/* An mmap of the file would keep the lease, with nobody to return it. */
	if (file->leased)
		file_unlease(file, fd);
	stats.reads += file->reads;
}

/* Waits for who has locked it; gives them back where no descriptor is left: `last`. */
static COLD void file_put_locked(struct file *file, bool last)
{
	uint64_t signals, word = file_lock(file, &signals);

	if (!(word & WORD_PLAIN) && last) {
		file_end(file, -1);
		word = WORD_PLAIN;
	}
	/* The generation stops reads that are under way. */
	file_unlock(file, word, signals);
}

/* Counts one descriptor less.  True: it was the last. */
static inline bool file_drop(struct file *file)
{
	bool last = ATOMIC_ADD(&file->refs, -1) == 1;

	if (unlikely((file_word(file) & (WORD_PLAIN | WORD_LOCKED)) != WORD_PLAIN))
		file_put_locked(file, last);
	return last;
}

/* Lets the next file have the place. */
static inline void file_free(struct file *file)
{
	__atomic_store_n(&file->refs, 0, __ATOMIC_RELEASE);
}

static inline void file_put(struct file *file)
{
	if (likely(file_drop(file)))
		file_free(file);
}

/* Leaves a file plain that was opened while nothing may be specialised. */
static COLD void file_leave_plain(struct file *file, int fd)
{
	__atomic_store_n(&file->stays_plain, true, __ATOMIC_SEQ_CST);
	if (forbidden != GUARDS)
		stats_declined(file, fd, forbidden);
}

void file_opened(int fd, int flags, unsigned int epoch_before)
{
	struct file *file, *old;

	if ((unsigned int)fd >= FILES)
		return;
	if ((flags & (O_ACCMODE | O_DIRECT | O_PATH | O_DIRECTORY | O_TRUNC | O_ASYNC)) !=
	    O_RDONLY) {
		stats_passed_over(fd, flags);
		return;
	}
	file = file_claim(fd);
	if (unlikely(!file)) {
		file_refused(fd);
		return;
	}
	/* A reader that still has the last word must not take this for the former file. */
	file->word = ((file->word + WORD_GENERATION) & ~(WORD_LOCKED | WORD_POSITION)) | WORD_PLAIN;
	/* Calls by what had this place before have been cancelled, or leave later. */
	file->stays_plain = __atomic_load_n(&file->inside, __ATOMIC_RELAXED) != 0;
	file->async = false;
	file->distant = false;
	file->unleased = false;
	file->leased = false;
	file->breaks = 0;
	file->seeks = 0;
	file->credit = 0;
	file->fetched = 0;
	file->next = 0;
	file->reads = 0;
	file->price = 0;
	stats.opened++;
	__atomic_store_n(&file->refs, 2, __ATOMIC_RELEASE);
	/* A file is there only if its descriptor was closed without this library's notice. */
	old = file_name(fd, NULL, file);
	if (unlikely(old))
		file_put(old);
	if (unlikely(__atomic_load_n(&file_epochs, __ATOMIC_SEQ_CST) != epoch_before ||
		     file_sharing()))
		file_leave_plain(file, fd);
}

/* Has the kernel know the position of a file that is not plain, or is locked. */
static COLD void file_settle(struct file *file, int fd)
{
	uint64_t signals, word = file_lock(file, &signals);

	/* Another thread may have closed or replaced the number meanwhile. */
	if (file_of(fd) != file || (word & WORD_PLAIN)) {
		file_unlock(file, word, signals);
		return;
	}
	if (__atomic_load_n(&file->refs, __ATOMIC_RELAXED) == 2) {
		cosy_syscall3(SYS_lseek, fd, word & WORD_POSITION, SEEK_SET);
		file->stays_plain = true;
		file_end(file, fd);
		word = WORD_PLAIN;
	} else {
		word = file_replug(file, word, GUARD_KERNEL_POSITION);
	}
	file_unlock(file, word, signals);
}

/*
 * Takes the name `fd` away.  Returns the file it was, plain and entered; NULL: it was none.
 *
 * Another thread or a handler may read by the number, and ordinarily, until the kernel has closed
 * it, and may have made a copy of it at any time before its name is gone.  So the file is entered
 * before that, whether it has other names or not: nobody specialises it.
 */
static inline struct file *file_unname(int fd)
{
	struct file *file;

	while ((file = file_of(fd))) {
		uint64_t word = file_word(file);

		if (unlikely((word & (WORD_PLAIN | WORD_LOCKED)) != WORD_PLAIN)) {
			file_settle(file, fd);
		} else if (likely(file_enter(file, word))) {
			if (likely(ATOMIC_EXCHANGE(&file_space->table[fd], file, NULL)))
				break;
			file_leave(file);
		}
	}
	return file;
}

struct file *file_closing(int fd)
{
	struct file *file = file_unname(fd);

	if (!file)
		return NULL;
	stats_closed(file, fd);
	if (unlikely(!file_drop(file)))
		return file;
	/* Without another name it cannot be specialised any more. */
	file_leave(file);
	file_free(file);
	return NULL;
}

void file_closed(struct file *held, bool early)
{
	if (likely(!held))
		return;
	if (early && !alone())
		__atomic_store_n(&held->stays_plain, true, __ATOMIC_SEQ_CST);
	file_leave(held);
}

/* Returns flags and position of `word`, unlocked, in the generation after that of `former`. */
static uint64_t word_of_next(uint64_t word, uint64_t former)
{
	return (word & (WORD_PLAIN | WORD_POSITION)) |
	       ((former + WORD_GENERATION) & ~(WORD_PLAIN | WORD_LOCKED | WORD_POSITION));
}

/* Has calls look again that have seen what the number named and have not entered yet. */
static void file_renew(struct file *file)
{
	for (;;) {
		uint64_t word = file_word(file);

		if (word & WORD_LOCKED)
			file_wait(file, word);
		else if (file_exchange(file, word, word_of_next(word, word)))
			return;
	}
}

struct file *file_replacing(int fd)
{
	struct file *file;

	/* Nobody specialises a file that is entered. */
	while ((file = file_borrow(fd, GUARD_KERNEL_POSITION)) &&
	       !ATOMIC_EXCHANGE(&file_space->table[fd], file, NULL))
		file_leave(file);
	if (file)
		file_renew(file);
	return file;
}

void file_replaced(int fd, struct file *file, bool done)
{
	bool gone;

	if (!file)
		return;
	gone = done || !ATOMIC_EXCHANGE(&file_space->table[fd], NULL, file);
	file_leave(file);
	if (gone)
		file_put(file);
}

struct file *file_duplicating(int fd)
{
	struct file *file = file_of(fd);
	int refs;

	if (!file)
		return NULL;
	do {
		refs = __atomic_load_n(&file->refs, __ATOMIC_RELAXED);
		if (refs < 2)
			return NULL;
	} while (!ATOMIC_EXCHANGE(&file->refs, refs, refs + 1));
	return file;
}

void file_duplicated(int fd, int copy, struct file *file)
{
	struct file *now = file_of(fd);

	if (copy >= 0 && fd != copy && (now != file || (unsigned int)copy >= FILES)) {
		/* The copy is without a name here, and shares a position with one of these. */
		if (file)
			file_unspecialise(file, GUARD_OWN_CALLS, UNTIL_CLOSED);
		if (now)
			file_unspecialise(now, GUARD_OWN_CALLS, UNTIL_CLOSED);
	} else if (copy >= 0 && fd != copy && file) {
		/* The name takes the reference. */
		file = file_name(copy, NULL, file);
	}
	if (file)
		file_put(file);
}

/* Returns the half of the word that has flags and generation; each release changes one of them. */
static const uint32_t *word_half(const struct file *file)
{
	return (const uint32_t *)&file->word + 1;
}

void file_wait(const struct file *file, uint64_t word)
{
	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	futex_wait(word_half(file), word >> 32);
	__atomic_sub_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
}

uint64_t file_lock(struct file *file, uint64_t *signals)
{
	uint64_t word;

	*signals = mask_block_all();
	for (;;) {
		word = file_word(file);
		if (word & WORD_LOCKED)
			file_wait(file, word);
		else if (__atomic_compare_exchange_n(&file->word, &word,
						     word | WORD_LOCKED | WORD_PLAIN, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return word;
	}
}

bool file_try_lock(struct file *file, uint64_t word)
{
	return __atomic_compare_exchange_n(&file->word, &word, word | WORD_LOCKED | WORD_PLAIN,
					   false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void file_drop_lock(struct file *file, uint64_t word)
{
	__atomic_store_n(&file->word, word_of_next(word, file->word), __ATOMIC_SEQ_CST);
	/* A thread that begins to wait from here on sees that the word has changed. */
	if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
		futex_wake(word_half(file), INT_MAX);
}

void file_unlock(struct file *file, uint64_t word, uint64_t signals)
{
	file_drop_lock(file, word);
	mask_restore(signals);
}

struct file *file_borrow(int fd, enum guard why)
{
	for (;;) {
		struct file *file = file_of(fd);
		uint64_t word;

		if (!file)
			return NULL;
		word = file_word(file);
		if (word & WORD_LOCKED)
			file_wait(file, word);
		else if (!(word & WORD_PLAIN))
			file_unspecialise(file, why, FOR_NOW);
		else if (file_enter(file, word))
			return file;
	}
}

uint64_t file_replug(struct file *file, uint64_t word, enum guard why)
{
	cosy_syscall3(SYS_lseek, file->fd, word & WORD_POSITION, SEEK_SET);
	seeks_learn(file);
	if (file->leased) {
		file_unlease(file, file->fd);
		stats_replugged(file, why);
		file->credit = 0;
		file->fetched = 0;
		file->next = 0;
	}
	return WORD_PLAIN;
}

bool file_may_change(const struct file *file, int fd, uint64_t word)
{
	if (file->stays_plain || file_sharing() || file_of(fd) != file)
		return false;
	return !(word & WORD_PLAIN) || !file->inside;
}

void file_unspecialise(struct file *file, enum guard why, enum how_long how_long)
{
	uint64_t word, signals;

	if (how_long == UNTIL_CLOSED)
		__atomic_store_n(&file->stays_plain, true, __ATOMIC_SEQ_CST);
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	/* A thread about to specialise it looks at `stays_plain` once it has the lock. */
	if ((word & WORD_PLAIN) && !(word & WORD_LOCKED))
		return;
	word = file_lock(file, &signals);
	if (!(word & WORD_PLAIN))
		word = file_replug(file, word, why);
	file_unlock(file, word, signals);
}

void file_unspecialise_fd(int fd, enum guard why, enum how_long how_long)
{
	struct file *file = file_of(fd);

	if (file)
		file_unspecialise(file, why, how_long);
}

unsigned int file_used(void)
{
	return __atomic_load_n(&used_numbers, __ATOMIC_RELAXED);
}

/* Returns the next file in use from *number on, and passes it; NULL: none is left. */
static struct file *file_next_used(unsigned int *number)
{
	while (*number < used_numbers) {
		struct file *file = file_numbered(file_space, (*number)++);

		if (__atomic_load_n(&file->refs, __ATOMIC_SEQ_CST) > 1)
			return file;
	}
	return NULL;
}

void file_count_reads(void)
{
	unsigned int number = 0;
	struct file *file;

	while ((file = file_next_used(&number))) {
		if (!(file_word(file) & WORD_PLAIN) && file->leased)
			stats.reads += file->reads;
		file->reads = 0;
	}
}

void file_unspecialise_all(enum guard why, enum how_long how_long)
{
	unsigned int number = 0;
	struct file *file;

	while ((file = file_next_used(&number)))
		file_unspecialise(file, why, how_long);
}

void file_share_begin(enum guard why, enum how_long how_long)
{
	__atomic_add_fetch(&sharing, 1, __ATOMIC_SEQ_CST);
	if (how_long == UNTIL_CLOSED)
		__atomic_add_fetch(&file_epochs, 1, __ATOMIC_SEQ_CST);
	file_unspecialise_all(why, how_long);
}

void file_share_end(void)
{
	__atomic_sub_fetch(&sharing, 1, __ATOMIC_SEQ_CST);
}

void file_forbid(enum guard why)
{
	__atomic_store_n(&forbidden, why, __ATOMIC_SEQ_CST);
}

void file_share_child(void)
{
	/* Threads that were in the middle of something are not in the child. */
	sharing = 0;
	waiting = 0;
	for (unsigned int number = 0; number < used_numbers; number++) {
		struct file *file = file_numbered(file_space, number);

		if (!file->refs)
			continue;
		file->word = (file->word | WORD_PLAIN) & ~(WORD_LOCKED | WORD_POSITION);
		file->leased = false;
		file->guard = NULL;
		file->guard_value = 0;
		file->inside = 0;
	}
}
