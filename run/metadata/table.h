/* SPDX-License-Identifier: MIT */
/*
 * table.h - tables of directories' entries, and the fast path that nearly all calls take: a name of
 * the directory that was queried last, mostly its next name.  The fast path is inlined into each
 * function that programs call; the rest is in table.c and metadata.c.
 *
 * A *table* has entries of one directory, which is named by a descriptor or by the part of the
 * paths before the last slash.  An entry is valid as long as three words, which the kernel writes,
 * have the values that they had when the entry was read.  A table is made when the program has
 * queried a few names of a directory.  It begins with few entries, and gets more if those were
 * queried.  A directory has several tables if the program goes through several parts of it at once,
 * as ninja does through objects and sources.
 *
 * Tables are in sets.  A call that finds its set taken makes the system call: nobody ever waits.
 * The set is taken by another thread, or by the call that a signal handler interrupted.  In a
 * process with one thread all calls use the first set.  Otherwise each thread has its own set, as
 * long as there are enough.  If two threads shared a set, and one of them waited for the processor
 * with the set taken, the other would make thousands of system calls meanwhile.
 */
#ifndef COSY_RUN_TABLE_H
#define COSY_RUN_TABLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "../../include/uapi/linux/cosy_watch.h"
#include "alone.h"
#include "metadata/budget.h"
#include "metadata/metadata.h"
#include "metadata/watcher.h"
#include "stats.h"
#include "vfork.h"

#pragma GCC visibility push(hidden)

enum {
	SETS = 32,	 /* a power of 2 */
	PROBES = 16,	 /* sets that a thread tries to find its own */
	TABLES = 8,	 /* in a set */
	RECENT = 8,	 /* a power of 2 */
	PREFIX = 248,	 /* bytes of a path before the last component */
	ROOM = 7 * 4096, /* bytes of a table */
	HEAD = 816,	 /* bytes of it before the entries */
	FEWEST = 8,	 /* entries of a READ */
	PATIENCE = 2,	 /* names of a directory that are queried before a READ, at first */
	MAX_PATIENCE = 64,
	STREAMS = 4, /* tables of one directory */
	ORDERLY = 4, /* names queried in order before a READ relies on the order */
	NOWHERE = 4 * COSY_WATCH_COUNT, /* no entry */
	NEAR = 16,			/* entries that are searched without an index of names */
	MORE = 8,    /* READs that query permissions, or absent attributes, after such a call */
	CHAINS = 64, /* of an index of names */
};

/* Flags of fstatat(2) and statx(2) with which calls are served. */
#define FLAGS_SERVED (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)

/* Addresses of a program's objects are between these. */
#define LOWEST	(1ul << 16)
#define HIGHEST (1ul << 47)

struct table {
	int dirfd;	      /* or AT_FDCWD; -1: the table is not in use */
	unsigned int prefix;  /* bytes of the prefix, with its last slash */
	unsigned int used;    /* when, for replacement */
	unsigned int asked;   /* names queried in vain since the last READ */
	unsigned int served;  /* since the last READ */
	unsigned int count;   /* entries; 0: nothing has been read */
	unsigned int next;    /* the entry that is expected to be queried next */
	unsigned int step;    /* 1 or -1: from that entry to the one expected after it */
	unsigned int learnt;  /* how often the step was right since it was last wrong */
	unsigned int size;    /* entries of the next READ */
	unsigned int counted; /* part of `served` that the budget has counted */
	unsigned int turn;    /* metadata_turns of the descriptor, before the last READ */
	/* Another table, of the same directory unless it was reused since; or NULL. */
	struct table *twin;
	uint64_t way, numbers, dir_value;
	uint32_t dir_word;
	uint32_t stx_mask;
	uint64_t stx_attributes_mask, stx_mnt_id;
	int mode;		/* of access(2), for COSY_WATCH_PERMITTED; -1: none */
	bool counted_times;	/* COSY_WATCH_COUNTED_TIMES */
	bool missed;		/* table_jump did not find the name: not to be searched again */
	bool indexed;		/* the next three are filled in */
	uint8_t chains[CHAINS]; /* the first entry of a chain, from 1 on */
	uint8_t links[COSY_WATCH_COUNT]; /* the next entry of the chain, from 1 on */
	uint16_t at[COSY_WATCH_COUNT];	 /* offsets of entries, in units of 8 bytes */
	char text[PREFIX + 8];		 /* the prefix, with room to compare whole words */
	/*
	 * The entries.  A table of few entries fits into one page, because the first touch of a
	 * page costs as much as two calls.
	 */
	_Alignas(8) char bytes[ROOM - HEAD];
};

_Static_assert(offsetof(struct table, bytes) == HEAD && sizeof(struct table) == ROOM,
	       "tables begin at the same place in their pages");

struct set {
	bool taken;
	const void *owner; /* the thread that made it, by its thread pointer */
	struct budget budget;
	unsigned int clock, patience, size;
	unsigned int absent;	  /* READs that query which extended attributes are absent */
	unsigned int permissions; /* READs that query permissions */
	int mode;		  /* of access(2), for these */
	unsigned int step;	  /* of the last table that learnt one */
	unsigned int made; /* tables: each is made, with its pages, when it is first needed */
	struct table *last;
	struct table *recent[RECENT]; /* the table used last, by the descriptor's low bits */
	struct table tables[TABLES];
};

extern struct set *sets[SETS];
extern uint64_t accounted; /* changes of NUMBERS that no table needs to heed */

/* False for addresses that no program's objects have, where the kernel's answer is EFAULT. */
static inline bool is_address(const void *at)
{
	return (uintptr_t)at - LOWEST < HIGHEST - LOWEST;
}

/*
 * Returns the place of the calling thread's set, which may not be made yet.  If all places that it
 * tries have sets of other threads, the thread shares the first.  A set of a thread that has ended
 * goes to the thread that gets its pointer next, because libc reuses these.
 */
static inline struct set **set_place(void)
{
	/* Differs for all threads that libc made.  Others may share a pointer, and so a set. */
	const void *self = __builtin_thread_pointer();
	unsigned int first = ((uintptr_t)self * 0x9e3779b97f4a7c15ull) >> 32;

	for (unsigned int i = 0; i < PROBES; i++) {
		struct set **place = &sets[(first + i) % SETS];
		const struct set *set = __atomic_load_n(place, __ATOMIC_ACQUIRE);

		if (!set || set->owner == self)
			return place;
	}
	return &sets[first % SETS];
}

/* Takes a set of a process with one thread, so that a signal handler finds it taken. */
static inline void set_take_alone(struct set *set)
{
	*(volatile bool *)&set->taken = true;
	__asm__ volatile("" ::: "memory");
}

/*
 * Returns the place of the table to try first.  A program that goes down a tree uses the tables of
 * several directories alternately, whose descriptors follow each other.
 */
static inline struct table **set_recent(struct set *set, int dirfd)
{
	return &set->recent[(unsigned int)dirfd % RECENT];
}

static inline void set_leave(struct set *set)
{
	__atomic_store_n(&set->taken, false, __ATOMIC_RELEASE);
}

static inline const struct cosy_watch_entry *table_entry(const struct table *table, unsigned int i)
{
	return (const struct cosy_watch_entry *)(table->bytes + table->at[i] * 8ul);
}

static inline bool table_holds(const struct table *table)
{
	return watcher_words[COSY_WATCH_WAY] == table->way &&
	       watcher_words[table->dir_word] == table->dir_value &&
	       (table->dirfd == AT_FDCWD ||
		(watcher_words[COSY_WATCH_NUMBERS] -
				 __atomic_load_n(&accounted, __ATOMIC_ACQUIRE) ==
			 table->numbers &&
		 __atomic_load_n(&metadata_turns[table->dirfd], __ATOMIC_ACQUIRE) == table->turn));
}

/* True if whole words of a name may be read, also beyond its end: its page has room. */
static inline bool name_has_room(const char *name)
{
	return ((uintptr_t)name & 4095) <= 4096 - 264;
}

/* True if the string, which has room, is the entry's name, which is padded with zeros to words. */
static __attribute__((always_inline)) inline bool entry_matches(
	const struct cosy_watch_entry *entry, const char *name)
{
	const uint64_t *own = (const uint64_t *)(entry + 1);
	unsigned int left = entry->name_length;
	uint64_t word;

	for (; left >= 8; left -= 8, name += 8) {
		__builtin_memcpy(&word, name, 8);
		if (word != *own++)
			return false;
	}
	/* With its NUL. */
	__builtin_memcpy(&word, name, 8);
	return !((word ^ *own) << (56 - 8 * left));
}

static inline bool entry_is(const struct cosy_watch_entry *entry, const char *name)
{
	return likely(name_has_room(name)) ? entry_matches(entry, name)
					   : !strcmp((const char *)(entry + 1), name);
}

/* True if words may be read up to the longest prefix's end: the path's page has room. */
static inline bool path_has_room(const char *path)
{
	return ((uintptr_t)path & 4095) <= 4096 - PREFIX - 8;
}

/* True if the path begins with the table's prefix; false also if its page has no room. */
static __attribute__((always_inline)) inline bool path_has_prefix(const char *path,
								  const struct table *table)
{
	unsigned int left = table->prefix;
	const char *text = table->text;
	uint64_t word, own;

	if (!left)
		return true;
	if (!path_has_room(path))
		return false;
	for (; left >= 8; left -= 8, path += 8, text += 8) {
		__builtin_memcpy(&word, path, 8);
		__builtin_memcpy(&own, text, 8);
		if (word != own)
			return false;
	}
	__builtin_memcpy(&word, path, 8);
	__builtin_memcpy(&own, text, 8);
	return !left || !((word ^ own) << (64 - 8 * left));
}

static inline void stat_copy(struct stat *to, const struct cosy_watch_entry *entry)
{
	typedef long long pair __attribute__((vector_size(16), aligned(8), may_alias));
	const pair *from = (const pair *)entry->stat;
	pair *at = (pair *)to;

	_Static_assert(sizeof(*to) == 144 && sizeof(entry->stat) == 120, "struct stat");
#pragma GCC unroll 7
	for (int i = 0; i < 7; i++)
		at[i] = from[i];
	at[7] = (pair){entry->stat[14], 0};
	at[8] = (pair){0, 0};
}

/* True if the entry is what the kernel would answer. */
static inline bool entry_holds(const struct table *table, const struct cosy_watch_entry *entry)
{
	return entry->word && watcher_words[entry->word] == entry->value && table_holds(table);
}

static inline void table_count(struct table *table)
{
	table->served++;
	stats.metadata_served++;
}

/*
 * Returns the table's next entry if the path names it.  NULL: it does not, or the path's page has
 * no room to compare words.
 */
static __attribute__((always_inline)) inline const struct cosy_watch_entry *table_next(
	struct table *table, int dirfd, const char *path)
{
	const struct cosy_watch_entry *entry;

	if (unlikely(table->dirfd != dirfd || table->next >= table->count ||
		     !path_has_prefix(path, table)))
		return NULL;
	entry = table_entry(table, table->next);
	path += table->prefix;
	if (unlikely(!name_has_room(path) || !entry_matches(entry, path)))
		return NULL;
	table->learnt++;
	table->next += table->step;
	return entry;
}

/*
 * Returns the entry that the path names, or NULL.  In the descriptor's recent table it may be any
 * entry, because programs query in other orders as well.  If that table has a twin, the twin's next
 * entry is tried first, and its others last; a twin with the entry becomes the recent table.
 */
const struct cosy_watch_entry *table_jump(struct set *set, int dirfd, const char *path);

/* Finds the entry with a name of `length` bytes, or NULL. */
const struct cosy_watch_entry *table_search(struct table *table, const char *name,
					    unsigned int length);

enum {
	TABLE_SERVED,
	TABLE_CHANGED, /* make the system call: the file has changed, or cannot be served */
	TABLE_UNKNOWN, /* metadata_serve has to be tried */
	TABLE_JUMP,    /* table_expect_other has to be tried */
};

/* An entry that was found, in a set that was taken. */
struct found {
	struct set *set;
	struct table *table;
	const struct cosy_watch_entry *entry; /* or NULL */
};

/*
 * Checks the entry's words, after the path was compared and before the answer is copied.
 * TABLE_SERVED: the entry is what the kernel would answer, and the set stays taken.  Otherwise
 * leaves the set.
 */
static __attribute__((always_inline)) inline int found_holds(const struct found *found)
{
	if (likely(found->entry && entry_holds(found->table, found->entry)))
		return TABLE_SERVED;
	/* Opening a directory may change it: find and du query it again after that. */
	bool changed = found->entry && table_holds(found->table);

	set_leave(found->set);
	return changed ? TABLE_CHANGED : TABLE_UNKNOWN;
}

static __attribute__((always_inline)) inline void found_leave(const struct found *found)
{
	table_count(found->table);
	found->set->last = found->table;
	set_leave(found->set);
}

/*
 * Looks for the path in the table that was used last for the descriptor, in a process with one
 * thread.  It calls no function, so that the compiler saves no registers on the stack.
 */
static __attribute__((always_inline)) inline int table_expect(struct found *found, int dirfd,
							      const char *path, const void *ret,
							      int flags)
{
	const char *flag = __atomic_load_n(&alone_flag, __ATOMIC_RELAXED);
	struct set *set = __atomic_load_n(&sets[0], __ATOMIC_ACQUIRE);

	if (unlikely(!set || set->taken || set->budget.rest || !flag || !*flag || vfork_parent ||
		     __atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) != WATCHER_OPEN ||
		     !is_address(path) || !is_address(ret) || (flags & ~FLAGS_SERVED)))
		return TABLE_UNKNOWN;
	set_take_alone(set);
	found->set = set;
	found->table = *set_recent(set, dirfd);
	found->entry = table_next(found->table, dirfd, path);
	if (unlikely(!found->entry)) {
		set_leave(set);
		return TABLE_JUMP;
	}
	return found_holds(found);
}

/*
 * Does the same in a process with several threads, for any name of the table.  To be called after
 * table_expect has returned TABLE_UNKNOWN, which this returns as well if there is one thread.
 */
int table_expect_shared(struct found *found, int dirfd, const char *path, const void *ret,
			int flags);

/* Looks for the path by table_jump, after table_expect has returned TABLE_JUMP. */
int table_expect_other(struct found *found, int dirfd, const char *path);

/* Serves fstatat(2) from what was found: `tried` is what table_expect returned. */
static __attribute__((always_inline)) inline int found_serve(int tried, const struct found *found,
							     struct stat *ret)
{
	if (likely(tried == TABLE_SERVED)) {
		stat_copy(ret, found->entry);
		found_leave(found);
	}
	return tried;
}

/* Counts a call of a process with one thread.  True: the set rests, so do not try to serve it. */
static inline bool set_rests(void)
{
	struct set *set = __atomic_load_n(&sets[0], __ATOMIC_ACQUIRE);

	return set && unlikely(set->budget.rest) && alone() && budget_rests(&set->budget);
}

#pragma GCC visibility pop

#endif /* COSY_RUN_TABLE_H */
