/* SPDX-License-Identifier: MIT */
/*
 * file.h - open files that may be specialised, and the descriptors that name them.
 *
 * One `struct file` stands for one open file description that this process opened for
 * reading; duplicates of a descriptor share it.  Its `word` is guard and position in
 * one:
 *
 *	 63    62    61 .. 40     39 .. 0
 *	PLAIN LOCKED generation   position
 *
 * PLAIN: calls go to the kernel, and the kernel's position counts.  Otherwise the
 * position is the word's, and the kernel's is stale.  Either that is all (the position is
 * *kept*: lseek is a change of the word, read a pread; see seek.c), or the file is
 * *specialised*: it also has a lease, a window and its size.  LOCKED, always with PLAIN:
 * somebody is changing the file; everyone else waits ("the holding tank", Synthetix §3.4).
 * The generation changes whenever window, lease or meaning of the file do.
 *
 * So a specialised read is: load the word, copy from the window, exchange the word for
 * one with the new position.  If anything happened meanwhile - another thread read, a
 * signal handler did, the lease broke, the window was refilled, the descriptor was
 * closed and the structure serves another file - the exchange fails and nothing has
 * been read.  Structures and windows are never unmapped, so that a reader who comes too
 * late copies rubbish and then finds out.  (A mapped window counts its readers: map.h.)
 */
#ifndef COSY_RUN_FILE_H
#define COSY_RUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "atomic.h"
#include "file/guards.h"

#pragma GCC visibility push(hidden)

#define FILES 1024 /* descriptors from here on are left to the kernel */

/* After so many leases that were broken or refused a file stays plain. */
#define MAX_BREAKS 6

#define WORD_PLAIN	(1ULL << 63)
#define WORD_LOCKED	(1ULL << 62)
#define WORD_GENERATION (1ULL << 40)
#define WORD_POSITION	(WORD_GENERATION - 1)

struct window {
	uint64_t start;	   /* file offset of data[0] */
	uint64_t len;	   /* bytes of the file in it; never above capacity */
	uint64_t capacity; /* fixed */
	struct window *next;
	unsigned char data[] __attribute__((aligned(64)));
};

struct file {
	/* This cache line is all that a file needs that is opened, read a few times and closed. */
	uint64_t word;
	int refs;	  /* 1 + descriptors that name it; 0: free */
	int inside;	  /* threads in an ordinary call that uses the kernel's position */
	bool stays_plain; /* until it is closed */
	bool async;	  /* O_ASYNC is the program's, not a lease's */
	bool distant;	  /* its lease would be the daemon's, which has to be earned */
	bool unleased;	  /* never specialised until it is closed */
	bool leased;	  /* unless PLAIN: specialised */
	uint8_t breaks;	  /* leases broken so far */
	uint16_t seeks;	  /* while plain: made; while the position is kept: saved */
	int64_t credit;	  /* ns that a window would have saved; when it has one, a mapped one */
	uint64_t fetched; /* bytes by long reads; while specialised: for the window or past it */
	uint64_t next;	  /* where a sequential read would go on; while plain: a number of bytes */
	unsigned long reads; /* by the window since it was specialised; low when threads race */
	uint16_t price;	     /* seeks to earn before the position is kept */
	uint16_t noted;	     /* of reads, when somebody last wanted its window */
	uint32_t direct;     /* reads not by the window since it was specialised */

	/*
	 * Changes under LOCKED.  A late reader may see any of its values: all are safe to follow.
	 */
	struct window *window;
	struct mapping *map; /* NULL: none */
	uint64_t size;	     /* of the file while there is a lease; else the kernel seeks so far */

	/*
	 * lease_holds() in lease.h.  NULL: the lease, if there is one, is this process's own, and
	 * not over.
	 */
	const uint64_t *guard;
	uint64_t guard_value;
	const uint32_t *keeper;

	int fd;	       /* unless PLAIN: a descriptor that names it */
	uint32_t ramp; /* bytes of the next fill */
	uint64_t most; /* bytes of its window, by the policy (policy.h) */
} __attribute__((aligned(128)));

_Static_assert(offsetof(struct file, window) == 64 && sizeof(struct file) == 128,
	       "a file takes two cache lines, of which the first one is enough for most");

/*
 * Mapped when the first file is opened: each exec pays for static memory beyond the one page that
 * the dynamic linker writes to in any case.
 */
struct file_space {
	/* So that the first names and the first files are in one page: each costs a page fault. */
	char unused[2048];
	struct file all[FILES];	   /* the last one has number 0 */
	struct file *table[FILES]; /* what descriptors name; NULL: nothing */
};

_Static_assert(offsetof(struct file_space, table) % 4096 == 2048, "half a page of each");

extern struct file_space *file_space;

static inline struct file *file_of(int fd)
{
	struct file_space *space = __atomic_load_n(&file_space, __ATOMIC_ACQUIRE);

	if ((unsigned int)fd >= FILES || !space)
		return NULL;
	return __atomic_load_n(&space->table[fd], __ATOMIC_ACQUIRE);
}

static inline unsigned int file_number(const struct file *file)
{
	return file_space->all + FILES - 1 - file;
}

static inline struct file *file_numbered(struct file_space *space, unsigned int number)
{
	return &space->all[FILES - 1 - number];
}

static inline uint64_t file_word(struct file *file)
{
	return __atomic_load_n(&file->word, __ATOMIC_ACQUIRE);
}

static inline bool file_exchange(struct file *file, uint64_t old, uint64_t new)
{
	return ATOMIC_EXCHANGE(&file->word, old, new);
}

/*
 * Makes a file of a descriptor that was opened with `flags`, if a window could ever help.
 * `epoch` is file_epoch() before the open: a fork in between shares the descriptor.
 */
void file_opened(int fd, int flags, unsigned int epoch);

/* Counts calls of file_share_begin with UNTIL_CLOSED. */
extern unsigned int file_epochs;

static inline unsigned int file_epoch(void)
{
	return __atomic_load_n(&file_epochs, __ATOMIC_ACQUIRE);
}

/*
 * Surround a call that makes another descriptor of `fd`: `copy`, or an error below 0.  The second
 * takes the first's result, since another thread may have `fd` name something else meanwhile.
 */
struct file *file_duplicating(int fd);
void file_duplicated(int fd, int copy, struct file *file);

/*
 * To be called before close(fd).  Returns a file that others still have by other names, entered, so
 * that it stays plain: file_closed is to be called with it, also where it is NULL.
 */
struct file *file_closing(int fd);

/* Called after the close; or before it, with `early`, where no call of ours comes after it. */
void file_closed(struct file *held, bool early);

/*
 * Surround a call that makes `fd` name something else, unless it fails.  The second takes the
 * file that the first returned.
 */
struct file *file_replacing(int fd);
void file_replaced(int fd, struct file *file, bool done);

/*
 * Locks the file: blocks every signal, makes other threads wait.  Returns the word as it was.
 * Not to be used while user memory is touched, or another file is locked: see file_try_lock.
 */
uint64_t file_lock(struct file *file, uint64_t *signals);

/* Unlocks the file and stores `word` with the next generation. */
void file_unlock(struct file *file, uint64_t word, uint64_t signals);

/*
 * Locks a file for a caller that has blocked all signals already and may have locked another one:
 * never waits.  False: its word is no longer `word`, which was not plain.  The second unlocks it.
 */
bool file_try_lock(struct file *file, uint64_t word);
void file_drop_lock(struct file *file, uint64_t word);

/* Sleeps until the file's word is no longer `word`, which was LOCKED, or for a shorter time. */
void file_wait(const struct file *file, uint64_t word);

/*
 * Surround an ordinary call that uses the kernel's position.  False: the word is no longer
 * `word`, which was plain; look again.
 */
static inline void file_leave(struct file *file)
{
	ATOMIC_ADD(&file->inside, -1);
}

static inline bool file_enter(struct file *file, uint64_t word)
{
	ATOMIC_ADD(&file->inside, 1);
	if (likely(__atomic_load_n(&file->word, __ATOMIC_SEQ_CST) == word))
		return true;
	file_leave(file);
	return false;
}

/* Enters for a descriptor in any state: replugs its file first.  NULL if it names no file. */
struct file *file_borrow(int fd, enum guard why);

/*
 * Replugs a file that is not plain, under LOCKED: gives the kernel its position, returns lease and
 * window.  Returns the word to release the file with.
 */
uint64_t file_replug(struct file *file, uint64_t word, enum guard why);

/*
 * True if the position of the file, which `fd` names and whose word was `word`, may become this
 * library's: no ordinary read of another thread is moving it.  Under LOCKED.
 */
bool file_may_change(const struct file *file, int fd, uint64_t word);

/* The time that an unspecialised file stays plain. */
enum how_long {
	FOR_NOW, /* until reads earn a window again */
	UNTIL_CLOSED,
};

/* Locks the file, replugs it if it is not plain, unlocks it. */
void file_unspecialise(struct file *file, enum guard why, enum how_long how_long);
void file_unspecialise_fd(int fd, enum guard why, enum how_long how_long);
void file_unspecialise_all(enum guard why, enum how_long how_long);

/*
 * Surround fork, exec and their like: the first replugs everything, and nothing is specialised
 * until the second.  UNTIL_CLOSED: others share the files that are open then.  They nest.
 */
void file_share_begin(enum guard why, enum how_long how_long);
void file_share_end(void);
/* To be called in the child of a fork. */
void file_share_child(void);
bool file_sharing(void);

/* Has nothing be specialised any more, for as long as this process and its children live. */
void file_forbid(enum guard why);

/* Returns the number from which on files have never been used. */
unsigned int file_used(void);

/* Adds the reads of all files to the statistics. */
void file_count_reads(void);

/*
 * Returns a specialised file's lease, which `fd` names or nothing does any more (-1), and its
 * window; under LOCKED.  window.c sets it before it specialises the first file.
 */
extern void (*file_give_back)(struct file *file, int fd);

#pragma GCC visibility pop

#endif /* COSY_RUN_FILE_H */
