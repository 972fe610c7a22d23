// SPDX-License-Identifier: MIT
/*
 * metadata.c - see metadata.h.
 *
 * A *table* has entries of one directory, which is named by a descriptor or by the part of the paths
 * before the last slash.  An entry answers as long as three words of the kernel's are what they were
 * when it was read.  A table is made when the program has asked for a few names of a directory; it
 * begins with few entries, and has more if those were asked for.
 *
 * Tables are in sets.  A call takes its thread's set, by the thread's stack, and makes the system
 * call if the set is taken: by another thread, or by the call that a signal handler interrupted.
 * Nobody ever waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../include/uapi/linux/cosy.h"
#include "../../include/uapi/linux/cosy_watch.h"
#include "alone.h"
#include "loaded.h"
#include "metadata/metadata.h"
#include "next.h"
#include "object.h"
#include "stats.h"
#include "syscall.h"
#include "vfork.h"

enum {
	SETS = 8,
	TABLES = 8,    /* in a set */
	PREFIX = 248,  /* bytes of a path before the last component */
	BYTES = 28672, /* of entries in a table */
	FEWEST = 8,    /* entries of a READ */
	PATIENCE = 2,  /* names of a directory that are asked for before a READ, at first */
	MAX_PATIENCE = 64,
	NOWHERE = 4 * COSY_WATCH_COUNT, /* no entry */
	OWN_FD = 500, /* the library's descriptor has this number or a larger one */
};

/* Addresses of a program's objects are between these. */
#define LOWEST	(1ul << 16)
#define HIGHEST (1ul << 47)

struct table {
	int dirfd;	     /* or AT_FDCWD; -1: the table is not in use */
	unsigned int prefix; /* bytes of the prefix, with its last slash */
	unsigned int used;   /* when, for replacement */
	unsigned int asked;  /* names that were not there, since the last READ */
	unsigned int served; /* since the last READ */
	unsigned int count;  /* entries; 0: nothing has been read */
	unsigned int next;   /* the entry that is expected to be asked for, */
	unsigned int step;   /* then that plus this, 1 or -1 */
	unsigned int learnt; /* the step was right before */
	unsigned int size;   /* entries of the next READ */
	unsigned int turn;   /* of the descriptor */
	uint64_t way, numbers, dir_value;
	uint32_t dir_word;
	uint16_t at[COSY_WATCH_COUNT]; /* entries, in units of 8 bytes */
	char text[PREFIX + 8];	       /* it is read by words */
	_Alignas(8) char bytes[BYTES];
};

struct set {
	bool taken;
	unsigned int clock, patience, size;
	struct table *last;
	struct table tables[TABLES];
};

unsigned int metadata_turns[METADATA_FDS];

static struct set *sets[SETS];
static uint64_t accounted; /* changes of NUMBERS that no table needs to heed */

/* The watcher. */
enum state {
	UNTRIED,
	OPEN,
	OFF,
};

static unsigned int state;
static int watch_fd = -1;
static const volatile uint64_t *words;

/* OFF stays. */
static void state_change(unsigned int from, unsigned int to)
{
	__atomic_compare_exchange_n(&state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* --- The watcher ----------------------------------------------------------------------------- */

/*
 * True unless a library defines a function of the family as well, such as fakeroot's: what that
 * answers is not what the kernel would.
 */
static bool stat_is_libc(void)
{
	/* Characters, since pointers would have to be relocated. */
	static const char names[][13] = {"stat",      "lstat",	    "fstatat",	  "stat64",
					 "lstat64",   "fstatat64",  "__xstat",	  "__lxstat",
					 "__xstat64", "__lxstat64", "__fxstatat", "__fxstatat64"};
	const struct link_map *own = loaded_own(), *at = own;

	while (at && at->l_prev)
		at = at->l_prev;
	for (; at; at = at->l_next) {
		struct object object;

		object_read(at, &object);
		if (at == own || object_is_same(object.name, "libc.so.6"))
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (object_find(&object, names[i]))
				return false;
	}
	return own;
}

static int watcher_fd(void)
{
	struct cosy_watch request = {.size = sizeof(request)};
	long device, fd, high;

	device = cosy_syscall3(SYS_open, (unsigned long)"/dev/cosy", O_RDWR | O_CLOEXEC, 0);
	if (device < 0)
		return device;
	fd = cosy_syscall3(SYS_ioctl, device, COSY_IOC_WATCH, (unsigned long)&request);
	cosy_syscall3(SYS_close, device, 0, 0);
	if (fd < 0)
		return fd;
	/* Programs expect the lowest numbers for their own files. */
	high = cosy_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_FD);
	cosy_syscall3(SYS_close, fd, 0, 0);
	if (high < METADATA_FDS)
		return high;
	/* It could be closed unseen. */
	cosy_syscall3(SYS_close, high, 0, 0);
	return -EMFILE;
}

/*
 * True if a filter may end the process for a call that the program itself never makes.  This asks by
 * calls that ld.so has just made, so that a filter which the process was started with has let them
 * pass; prctl(2) is not one of these.
 */
static bool is_filtered(void)
{
	static const char field[] = "\nSeccomp:\t";
	long fd = cosy_syscall6(SYS_openat, AT_FDCWD, (uintptr_t)"/proc/thread-self/status",
				O_RDONLY | O_CLOEXEC, 0, 0, 0);
	bool found = false, filtered = false;
	unsigned int matched = 0;
	char text[512];
	long size;

	if (fd < 0)
		return true;
	/* Its lines may be as long as there are groups. */
	while (!found && (size = cosy_syscall3(SYS_read, fd, (uintptr_t)text, sizeof(text))) > 0) {
		for (long i = 0; i < size && !found; i++) {
			found = matched == sizeof(field) - 1;
			if (found)
				filtered = text[i] != '0';
			else if (text[i] == field[matched])
				matched++;
			else
				matched = text[i] == field[0];
		}
	}
	cosy_syscall3(SYS_close, fd, 0, 0);
	/* Kernels without filters do not have the line. */
	return filtered || (!found && size < 0);
}

static bool watcher_may_open(void)
{
	static bool is_libc;

	if (!is_libc)
		is_libc = stat_is_libc();
	return is_libc && !is_filtered();
}

/* Another thread is a reason that may go away, but each attempt costs more than a stat. */
static bool watcher_is_due(void)
{
	static unsigned int wait = 1, waited;

	if (++waited < wait)
		return false;
	waited = 0;
	if (wait < UINT_MAX / 2)
		wait *= 2;
	return true;
}

COLD static void watcher_open(void)
{
	unsigned long at = 0;
	int fd;

	if (!watcher_is_due())
		return;
	fd = watcher_may_open() ? watcher_fd() : -EOPNOTSUPP;
	/*
	 * Words of an earlier watcher may still be compared with, by the call that a signal handler
	 * interrupted.  No two watchers' words of the way are ever the same.
	 */
	if (fd >= 0)
		at = cosy_syscall6(SYS_mmap, (uintptr_t)words, COSY_WATCH_WORDS * sizeof(*words),
				   PROT_READ, MAP_SHARED | (words ? MAP_FIXED : 0), fd, 0);

	/* The last two: the user, or all users, have too many at present. */
	if (fd == -EAGAIN || fd == -EBUSY || fd == -EDQUOT || fd == -ENOSPC)
		return;
	if (fd < 0 || (long)at < 0) {
		__atomic_store_n(&state, OFF, __ATOMIC_RELAXED);
		return;
	}
	words = (const volatile uint64_t *)at;
	watch_fd = fd;
	metadata_turns[fd] = 1;
	/* A signal handler may have called metadata_off since. */
	state_change(UNTRIED, OPEN);
}

/*
 * No system call is made for a process whose own watcher has ended: a filter may be the reason.  The
 * watcher has ended for good, or because this process is a child of the one that made it.  A child
 * leaves its parent's descriptor open until it calls exec: it may have closed that unseen, and have
 * the number for another file.
 */
COLD static void watcher_ended(void)
{
	if (words[COSY_WATCH_NUMBERS] & COSY_WATCH_ENDED) {
		watch_fd = -1;
		state_change(OPEN, UNTRIED);
	} else {
		__atomic_store_n(&state, OFF, __ATOMIC_RELAXED);
	}
}

static void watcher_lost(void)
{
	watch_fd = -1;
	__atomic_store_n(&state, OFF, __ATOMIC_RELAXED);
}

void metadata_off(void)
{
	__atomic_store_n(&state, OFF, __ATOMIC_SEQ_CST);
}

void metadata_before_thread(void)
{
	for (int i = 0; i < SETS; i++) {
		if (state == UNTRIED && __atomic_load_n(&sets[i], __ATOMIC_ACQUIRE)) {
			watcher_open();
			return;
		}
	}
}

void metadata_forget_slow(int fd)
{
	if (fd == watch_fd && !vfork_in_child())
		watcher_lost();
	__atomic_fetch_add(&metadata_turns[fd], 1, __ATOMIC_SEQ_CST);
}

uint64_t metadata_numbers(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == OPEN ? words[COSY_WATCH_NUMBERS] : 0;
}

void metadata_opened(int fd, int flags, uint64_t before)
{
	if (fd < 0)
		return;
	metadata_forget(fd);
	/*
	 * A directory that the process's only thread opens changes the word once.  If it changed more
	 * often, somebody else opened one as well, whose number is not known here.
	 */
	if (before && (flags & (O_TMPFILE | O_PATH)) == O_DIRECTORY && alone() &&
	    metadata_numbers() == before + 1)
		__atomic_fetch_add(&accounted, 1, __ATOMIC_SEQ_CST);
}

/* --- Sets and tables ------------------------------------------------------------------------- */

/* Returns the thread's set, which is not taken, or NULL. */
static inline struct set *set_take(void)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	/* libc's stacks are 8 MB apart, if their size is the usual one. */
	size_t index = (frame >> 20 ^ frame >> 23) % SETS;
	struct set *set = __atomic_load_n(&sets[index], __ATOMIC_ACQUIRE), *none = NULL;
	unsigned long at;

	if (unlikely(!set)) {
		at = cosy_syscall6(SYS_mmap, 0, sizeof(*set), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if ((long)at < 0)
			return NULL;
		set = (struct set *)at;
		set->patience = PATIENCE;
		set->size = FEWEST;
		set->last = set->tables;
		for (int i = 0; i < TABLES; i++)
			set->tables[i].dirfd = -1;
		if (!__atomic_compare_exchange_n(&sets[index], &none, set, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE)) {
			cosy_syscall3(SYS_munmap, at, sizeof(*set), 0);
			set = none;
		}
	}
	/* A signal handler finds it taken; so does another thread. */
	if (alone()) {
		if (unlikely(set->taken))
			return NULL;
		*(volatile bool *)&set->taken = true;
		__asm__ volatile("" ::: "memory");
		return set;
	}
	return __atomic_exchange_n(&set->taken, true, __ATOMIC_ACQUIRE) ? NULL : set;
}

static inline void set_leave(struct set *set)
{
	__atomic_store_n(&set->taken, false, __ATOMIC_RELEASE);
}

/* True if the path, of at least `prefix` bytes, has the table's prefix. */
static bool table_has_prefix(const struct table *table, const char *path, unsigned int prefix)
{
	if (table->prefix != prefix)
		return false;
	for (unsigned int i = 0; i < prefix; i++)
		if (table->text[i] != path[i])
			return false;
	return true;
}

/* Learns from what a READ was good for. */
static void table_judge(struct set *set, struct table *table)
{
	if (!table->count)
		return;
	if (table->served * 2 >= table->count)
		set->patience = set->patience > 1 ? set->patience - 1 : 1;
	if (table->served * 4 >= table->count * 3 && table->count >= set->size &&
	    set->size < COSY_WATCH_COUNT / 2)
		set->size *= 2;
	if (!table->served)
		set->patience = set->patience * 2 < MAX_PATIENCE ? set->patience * 2 : MAX_PATIENCE;
	table->count = 0;
}

/* Finds the table, or takes one that was used least recently. */
static struct table *table_find(struct set *set, int dirfd, const char *path, unsigned int prefix)
{
	struct table *oldest = set->tables;

	for (struct table *t = set->tables; t < set->tables + TABLES; t++) {
		if (t->dirfd == dirfd && table_has_prefix(t, path, prefix)) {
			t->used = ++set->clock;
			return set->last = t;
		}
		if (t->used < oldest->used)
			oldest = t;
	}
	table_judge(set, oldest);
	oldest->dirfd = dirfd;
	oldest->prefix = prefix;
	oldest->used = ++set->clock;
	oldest->asked = oldest->served = oldest->learnt = 0;
	oldest->size = set->size;
	memcpy(oldest->text, path, prefix);
	oldest->text[prefix] = 0;
	if (dirfd != AT_FDCWD && !metadata_turns[dirfd])
		__atomic_fetch_add(&metadata_turns[dirfd], 1, __ATOMIC_SEQ_CST);
	return set->last = oldest;
}

static inline const struct cosy_watch_entry *table_entry(const struct table *table, unsigned int i)
{
	return (const struct cosy_watch_entry *)(table->bytes + table->at[i] * 8);
}

static inline bool table_holds(const struct table *table)
{
	return words[COSY_WATCH_WAY] == table->way && words[table->dir_word] == table->dir_value &&
	       (table->dirfd == AT_FDCWD ||
		(words[COSY_WATCH_NUMBERS] - __atomic_load_n(&accounted, __ATOMIC_ACQUIRE) ==
			 table->numbers &&
		 __atomic_load_n(&metadata_turns[table->dirfd], __ATOMIC_ACQUIRE) == table->turn));
}

/*
 * True if the string is the entry's name, which is padded with zeros to words.  No word of the
 * string is read from a page that the string may not reach.
 */
static inline bool entry_is(const struct cosy_watch_entry *entry, const char *name)
{
	const uint64_t *own = (const uint64_t *)(entry + 1);
	unsigned int left = entry->name_length;
	uint64_t word;

	if (unlikely(((uintptr_t)name & 4095) > 4096 - 264))
		return !strcmp((const char *)own, name);
	for (; left >= 8; left -= 8, name += 8) {
		__builtin_memcpy(&word, name, 8);
		if (word != *own++)
			return false;
	}
	/* With its NUL. */
	__builtin_memcpy(&word, name, 8);
	return !((word ^ *own) << (56 - 8 * left));
}

static const struct cosy_watch_entry *table_search(struct table *table, const char *name)
{
	for (unsigned int i = 0; i < table->count; i++) {
		const struct cosy_watch_entry *entry = table_entry(table, i);

		if (!entry_is(entry, name))
			continue;
		/* Learn the order in which the program asks. */
		if (i + 2 * table->step == table->next)
			table->step = -table->step;
		else if (i == table->next)
			table->learnt = 1;
		table->next = i + table->step;
		return entry;
	}
	return NULL;
}

/* --- READ ------------------------------------------------------------------------------------ */

/* Notes where the entries are.  False: they are not what was agreed on. */
static bool table_index(struct table *table, const struct cosy_watch_read *read)
{
	unsigned int at = 0;

	for (unsigned int i = 0; i < read->found; i++) {
		const struct cosy_watch_entry *entry = (void *)(table->bytes + at);

		table->at[i] = at / 8;
		at += entry->length;
	}
	return at == read->used;
}

static const struct cosy_watch_entry *table_read(struct set *set, struct table *table,
						 const char *name)
{
	bool backwards = table->learnt && table->step == -1u;
	struct cosy_watch_read read = {
		.size = sizeof(read),
		.dirfd = table->dirfd,
		.prefix = table->prefix ? (uintptr_t)table->text : 0,
		.name = (uintptr_t)name,
		.entries = (uintptr_t)table->bytes,
		.entries_size = BYTES,
		.count = table->size,
		.before = backwards	  ? table->size - 1
			  : table->learnt ? 0
					  : table->size / 2,
	};
	unsigned int asked = table->served + table->asked;
	uint64_t accounted_before = __atomic_load_n(&accounted, __ATOMIC_SEQ_CST);
	long ret;

	table_judge(set, table);
	if (table->dirfd != AT_FDCWD)
		table->turn = __atomic_load_n(&metadata_turns[table->dirfd], __ATOMIC_SEQ_CST);
	ret = cosy_syscall3(SYS_ioctl, watch_fd, COSY_IOC_WATCH_READ, (uintptr_t)&read);
	stats.metadata_reads++;
	if (ret == -ECANCELED)
		watcher_ended();
	/* Another file has the number, or somebody observes the process's calls. */
	if (ret == -ENOTTY || ret == -EBADF || ret == -EPERM)
		watcher_lost();
	if (ret || !table_index(table, &read)) {
		/* Nothing to be had here: not the program's habit. */
		set->patience = set->patience * 2 < MAX_PATIENCE ? set->patience * 2 : MAX_PATIENCE;
		table->asked = 0;
		return NULL;
	}
	stats.metadata_entries += read.found;
	table->way = read.way;
	table->dir_word = read.dir_word;
	table->dir_value = read.dir_value;
	table->numbers = read.numbers - accounted_before;
	table->count = read.found;
	table->asked = table->served = 0;
	if (!table->learnt)
		table->step = 1;
	/* The program goes on asking, so it gets more at once, here and where it asks next. */
	if (asked >= table->size / 2 && table->size < COSY_WATCH_COUNT)
		table->size *= 2;
	table->next = NOWHERE;
	return table_search(table, name);
}

/* True if another READ is likely to pay. */
static bool table_wants(const struct set *set, struct table *table)
{
	/* All that was read has been asked for, up to one end. */
	if (table->count && table->served && table->next >= table->count)
		return true;
	return ++table->asked >= set->patience;
}

/* --- Serving --------------------------------------------------------------------------------- */

/* Returns the length of the path before its last component. */
static unsigned int path_prefix(const char *path)
{
	unsigned int slash = 0;

	for (unsigned int i = 0; path[i]; i++)
		if (path[i] == '/')
			slash = i + 1;
	return slash;
}

/* True if the path begins with the table's prefix; false if that is hard to say. */
static inline bool path_has_prefix(const char *path, const struct table *table)
{
	unsigned int left = table->prefix;
	const char *text = table->text;
	uint64_t word, own;

	if (!left)
		return true;
	/* Words beyond the end of the path are in its last page. */
	if (((uintptr_t)path & 4095) > 4096 - PREFIX - 8)
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
	for (int i = 0; i < 7; i++)
		at[i] = from[i];
	at[7] = (pair){entry->stat[14], 0};
	at[8] = (pair){0, 0};
}

static bool entry_serve(struct table *table, const struct cosy_watch_entry *entry, struct stat *ret)
{
	/* The words are read after the path's bytes and before the answer counts. */
	if (!entry->word || words[entry->word] != entry->value || !table_holds(table))
		return false;
	stat_copy(ret, entry);
	table->served++;
	stats.metadata_served++;
	return true;
}

static bool set_serve(struct set *set, int dirfd, const char *path, struct stat *ret)
{
	const struct cosy_watch_entry *entry = NULL;
	struct table *table = set->last;
	unsigned int prefix;

	/* The next name of the same directory. */
	if (likely(table->dirfd == dirfd && table->next < table->count &&
		   path_has_prefix(path, table))) {
		entry = table_entry(table, table->next);
		if (likely(entry_is(entry, path + table->prefix))) {
			table->learnt = 1;
			table->next += table->step;
			return entry_serve(table, entry, ret);
		}
	}
	prefix = path_prefix(path);
	if (prefix >= PREFIX || !path[prefix])
		return false;
	if (prefix && *path == '/')
		dirfd = AT_FDCWD;
	if (dirfd != AT_FDCWD && (prefix || (unsigned int)dirfd >= METADATA_FDS))
		return false;
	if (table->dirfd != dirfd || !table_has_prefix(table, path, prefix))
		table = table_find(set, dirfd, path, prefix);
	path += prefix;
	if (table->count && !table_holds(table))
		table_judge(set, table);
	if (table->count) {
		entry = table_search(table, path);
		if (entry)
			return entry_serve(table, entry, ret);
	}
	if (!table_wants(set, table))
		return false;
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == UNTRIED)
		watcher_open();
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != OPEN)
		return false;
	if (words[COSY_WATCH_WAY] & COSY_WATCH_ENDED) {
		watcher_ended();
		return false;
	}
	entry = table_read(set, table, path);
	return entry && entry_serve(table, entry, ret);
}

/* False for addresses that no program's objects have, where the kernel's answer is EFAULT. */
static inline bool is_address(const void *at)
{
	return (uintptr_t)at - LOWEST < HIGHEST - LOWEST;
}

bool metadata_serve(int dirfd, const char *path, struct stat *ret, int flags)
{
	struct set *set;
	bool served;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == OFF || unlikely(!is_address(path)) ||
	    unlikely(!is_address(ret)) || (flags & ~(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)))
		return false;
	/* It has the parent's memory, but its own directory and descriptors. */
	if (vfork_in_child())
		return false;
	set = set_take();
	if (!set)
		return false;
	served = set_serve(set, dirfd, path, ret);
	set_leave(set);
	return served;
}
