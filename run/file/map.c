// SPDX-License-Identifier: MIT
/* map.c - see map.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "environment.h"
#include "file/fault.h"
#include "file/lease.h"
#include "file/map.h"
#include "file/policy.h"
#include "file/price.h"
#include "file/store.h"
#include "file/window.h"
#include "next.h"
#include "stats.h"

/*
 * Page tables are what a mapping costs in memory: 8 bytes for each page touched, at most
 * 8 MiB for the largest file and twice as much for all.
 */
#define MAPS	     32
#define MAX_MAP_SIZE (4ULL << 30)
#define MAX_MAPPED   (8ULL << 30)
/* Reads above this gain nothing. */
#define MAX_LENGTH (1 << 20)

/*
 * What a read from a mapping saves, in ns: the call, and a copy that is faster than the
 * kernel's by 1/48 ns per byte.  Touching a page for the first time maps the 64 KiB around it,
 * which costs 600 if the page cache has them in one piece and 2000 if it has them page by page.
 * The charge is higher, so that a program that stops as soon as it has a mapping, and has touched
 * everything once more, has lost a thirtieth.
 */
#define SAVED_MORE_PER 48
#define COST_OF_AREA   2000
#define MAX_CAUTION    6
/* Looks at one read in this many: a look at each would cost a hundredth of it. */
#define SAMPLE 4

enum { FREE, USED, LEFT };

static uint64_t mapped; /* bytes */
static int caution;	/* doublings, by experience, of what must have been saved */
static enum guard forbidden = GUARDS;

#define AREAS 4096

/* Mapped when a file is first read at random, for the reason that file_space is. */
static struct map_space {
	struct mapping maps[MAPS];
	/*
	 * The areas in which each file has been read, a bit each, to know what a mapping would
	 * have cost and saved so far.
	 */
	struct areas {
		unsigned char seen[AREAS / 8];
	} areas[FILES];
} *space;

static bool map_space(void)
{
	long mapping;

	if (space)
		return true;
	if (sizeof(*space) > policy_addresses())
		return false;
	mapping = cosy_syscall6(SYS_mmap, 0, sizeof(*space), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapping < 0)
		return false;
	if (!ATOMIC_EXCHANGE(&space, NULL, (struct map_space *)mapping))
		cosy_syscall3(SYS_munmap, mapping, sizeof(*space), 0);
	return true;
}

void map_forget(struct file *file)
{
	file->credit = 0;
	file->direct = 0;
}

bool map_eagerly(void)
{
	static enum { UNREAD, EARNED, EAGER } mode;

	if (mode == UNREAD) {
		const char *eager = environment_get(ENVIRONMENT_EAGER);

		mode = eager && !strcmp(eager, "map") ? EAGER : EARNED;
	}
	return mode == EAGER;
}

/* Returns the cost of a mapping with this many areas touched. */
static uint64_t map_cost(uint64_t touched)
{
	return MAP_COST + touched * COST_OF_AREA;
}

static int64_t map_price(const struct file *file)
{
	int doublings = caution + file->breaks;

	return MAP_COST +
	       (doublings ? map_cost((file->size >> MAP_AREA_SHIFT) + 1) << doublings : 0);
}

bool map_earned(struct file *file, uint64_t offset, size_t len)
{
	struct areas *seen;
	int shift = MAP_AREA_SHIFT;

	if (!map_eagerly() && file->direct++ % SAMPLE)
		return false;
	if (file->map || forbidden != GUARDS || len > MAX_LENGTH || file->size > MAX_MAP_SIZE ||
	    file->size > file->most || !map_space())
		return false;
	/* Below 0 it was refused. */
	if (map_eagerly())
		return file->credit >= 0;
	seen = &space->areas[file_number(file)];
	while (file->size >> shift >= AREAS)
		shift++;
	/* Nothing is known yet. */
	if (!file->credit)
		memset(seen, 0, sizeof(*seen));
	for (uint64_t area = offset >> shift; area <= (offset + len - 1) >> shift; area++) {
		unsigned char bit = 1 << area % 8;

		if (!(seen->seen[area / 8] & bit))
			file->credit -= MAP_AREA_CHARGE << (shift - MAP_AREA_SHIFT);
		seen->seen[area / 8] |= bit;
	}
	file->credit += SAMPLE * (MAP_READ_SAVED + len / SAVED_MORE_PER);
	/* 0 would mean that nothing is known. */
	file->credit += !file->credit;
	return file->credit >= map_price(file);
}

/* On tmpfs a mapping fills holes that reading leaves alone. */
static bool map_fills_holes(int fd, const struct stat *st)
{
	struct statfs fs;

	return (uint64_t)st->st_blocks * 512 < (uint64_t)st->st_size &&
	       (cosy_syscall3(SYS_fstatfs, fd, (unsigned long)&fs, 0) || fs.f_type == 0x01021994);
}

/* Returns which guard forbids one more mapping, of a file like this; GUARDS: none. */
static enum guard map_allowed(const struct file *file)
{
	enum guard why = __atomic_load_n(&forbidden, __ATOMIC_SEQ_CST);
	struct rlimit limit;
	struct stat st;

	if (why != GUARDS)
		return why;
	if (cosy_syscall3(SYS_fstat, file->fd, (unsigned long)&st, 0) ||
	    (uint64_t)st.st_size != file->size)
		return GUARD_READ_ONLY;
	if (map_fills_holes(file->fd, &st))
		return GUARD_NO_HOLES;
	if (cosy_syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, (unsigned long)&limit, 0, 0) ||
	    limit.rlim_cur != RLIM_INFINITY ||
	    __atomic_load_n(&mapped, __ATOMIC_RELAXED) + file->size > MAX_MAPPED)
		return GUARD_MEMORY;
	return fault_arm() ? GUARDS : GUARD_FAULT_SIGNAL;
}

static void map_unmap(struct mapping *map)
{
	cosy_syscall3(SYS_munmap, (unsigned long)map->data, map->len, 0);
	__atomic_sub_fetch(&mapped, map->len, __ATOMIC_RELAXED);
	__atomic_store_n(&map->state, FREE, __ATOMIC_RELEASE);
}

/* Unmaps a mapping that was taken away while a reader was in it, if the reader has left. */
static void map_leave(struct mapping *map)
{
	if (__atomic_load_n(&map->state, __ATOMIC_ACQUIRE) == LEFT &&
	    !__atomic_load_n(&map->readers, __ATOMIC_SEQ_CST) &&
	    ATOMIC_EXCHANGE(&map->state, LEFT, USED))
		map_unmap(map);
}

static struct mapping *map_claim(void)
{
	for (struct mapping *map = space->maps; map < space->maps + MAPS; map++) {
		map_leave(map);
		if (__atomic_load_n(&map->state, __ATOMIC_ACQUIRE) == FREE &&
		    ATOMIC_EXCHANGE(&map->state, FREE, USED))
			return map;
	}
	return NULL;
}

/* Maps the file, under LOCKED.  Returns the guard that forbids it; GUARDS: none. */
static enum guard map_attach(struct file *file)
{
	enum guard why = map_allowed(file);
	struct mapping *map;
	long mapping;

	if (why != GUARDS)
		return why;
	map = map_claim();
	if (!map)
		return GUARD_MEMORY;
	mapping = cosy_syscall6(SYS_mmap, 0, file->size, PROT_READ, MAP_SHARED, file->fd, 0);
	if (mapping < 0) {
		__atomic_store_n(&map->state, FREE, __ATOMIC_RELEASE);
		return GUARD_MEMORY;
	}
	/*
	 * Let the kernel read no more ahead than for pread; leave no trace in a core dump; and keep
	 * the open file, and so the lease, from a child that is made unseen.
	 */
	cosy_syscall3(SYS_madvise, mapping, file->size, MADV_RANDOM);
	cosy_syscall3(SYS_madvise, mapping, file->size, MADV_DONTDUMP);
	cosy_syscall3(SYS_madvise, mapping, file->size, MADV_DONTFORK);
	__atomic_add_fetch(&mapped, file->size, __ATOMIC_RELAXED);
	map->data = (const unsigned char *)mapping;
	map->len = file->size;
	map->reads = 0;
	if (lease_holds_map(file, map))
		return GUARDS;
	map_unmap(map);
	return GUARD_READ_ONLY;
}

void map_make(struct file *file, uint64_t word)
{
	uint64_t signals, now = file_lock(file, &signals);
	enum guard why;

	if (now == word && !file->map) {
		why = map_attach(file);
		stats_mapped(file->fd, why);
		/* The reason against a mapping will not change soon. */
		if (why != GUARDS)
			file->credit = -(MAP_COST << MAX_CAUTION);
	}
	file_unlock(file, now, signals);
}

bool map_copy(struct file *file, uint64_t word, uint64_t offset, void *buf, size_t len)
{
	struct mapping *map = __atomic_load_n(&file->map, __ATOMIC_ACQUIRE);
	bool copied = false;

	if (!map || len > MAX_LENGTH)
		return false;
	ATOMIC_ADD(&map->readers, 1);
	if (!((__atomic_load_n(&file->word, __ATOMIC_SEQ_CST) ^ word) & ~WORD_POSITION) &&
	    offset <= map->len && len <= map->len - offset) {
		copied = fault_copy(buf, map->data + offset, len);
		/* The copy must not be delayed until after the next look at the word. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		map->reads++;
	}
	ATOMIC_ADD(&map->readers, -1);
	return copied;
}

static void map_learn(const struct mapping *map)
{
	uint64_t areas = (map->len >> MAP_AREA_SHIFT) + 1;

	if (map->reads * (MAP_READ_SAVED / 2) >= map_cost(areas < map->reads ? areas : map->reads))
		caution -= caution > 0;
	else
		caution += caution < MAX_CAUTION;
}

void map_drop(struct file *file)
{
	struct mapping *map = file->map;

	if (!map)
		return;
	__atomic_store_n(&file->map, NULL, __ATOMIC_RELEASE);
	map_learn(map);
	if (!__atomic_load_n(&map->readers, __ATOMIC_SEQ_CST)) {
		map_unmap(map);
		return;
	}
	mapping_blank(map);
	__atomic_store_n(&map->state, LEFT, __ATOMIC_RELEASE);
}

void map_forbid(enum guard why)
{
	/* A thread about to map one looks at this once it has the lock. */
	__atomic_store_n(&forbidden, why, __ATOMIC_SEQ_CST);
	file_unspecialise_all(why, FOR_NOW);
	for (int i = 0; space && i < MAPS; i++)
		map_leave(&space->maps[i]);
}

/* Unmap first: mlockall must not lock the files that the program reads, nor windows to come. */
int mlockall(int flags)
{
	if (flags & MCL_FUTURE)
		store_forbid();
	map_forbid(GUARD_MEMORY);
	return NEXT(mlockall)(flags);
}
