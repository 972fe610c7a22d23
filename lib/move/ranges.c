// SPDX-License-Identifier: MIT
/* ranges.c - see ranges.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/fork.h"
#include "lock.h"
#include "move/arena.h"
#include "move/ranges.h"

struct range {
	struct range *next;
	uintptr_t from, to;
	uintptr_t all_from, all_to; /* of what the memfd has; from and to until it is cut */
	int memfd;		    /* which all parts of what was cut have; -1: gone */
};

static struct libcosy_lock ranges_lock;
static struct range *ranges; /* ranges_lock; looked at without, for whether there is any */

bool libcosy_ranges_lock(void)
{
	return libcosy_lock(&ranges_lock);
}

void libcosy_ranges_unlock(void)
{
	libcosy_unlock(&ranges_lock);
}

void libcosy_ranges_child(void)
{
	ranges_lock.word = 0;
}

static bool ranges_exist(void)
{
	return __atomic_load_n(&ranges, __ATOMIC_RELAXED);
}

/* The lock is held. */
static void range_insert(struct range *range)
{
	range->next = ranges;
	__atomic_store_n(&ranges, range, __ATOMIC_RELAXED);
}

int libcosy_ranges_memfd(const void *memory, size_t count)
{
	uintptr_t from = (uintptr_t)memory, to = from + count;
	int error = ENOENT, fd = -1;

	if (ranges_exist() && libcosy_lock(&ranges_lock)) {
		for (struct range *r = ranges; r && error == ENOENT; r = r->next) {
			if (r->memfd < 0 || r->to <= from || r->from >= to)
				continue;
			error = EOPNOTSUPP;
			if (from == r->all_from && to == r->all_to && from == r->from &&
			    to == r->to)
				fd = fcntl(r->memfd, F_DUPFD_CLOEXEC, 0);
			if (fd < 0 && errno == EMFILE)
				error = EMFILE;
		}
		libcosy_unlock(&ranges_lock);
	}
	if (fd < 0)
		errno = error;
	return fd;
}

/* Makes [from, to) of a range ordinary memory.  False: there is no room, and it stays as it is. */
static bool range_fill(const struct range *range, uintptr_t from, uintptr_t to)
{
	if (range->memfd < 0)
		return !mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
	return mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* Closes a range's memfd, unless another part of it is left; the lock is held. */
static void range_close(const struct range *range)
{
	if (range->memfd < 0)
		return;
	for (const struct range *r = ranges; r; r = r->next)
		if (r != range && r->memfd == range->memfd)
			return;
	close(range->memfd);
}

/* True if [from, to) lies within a range, so that parts are left below and above. */
static bool range_is_around(const struct range *range, uintptr_t from, uintptr_t to)
{
	return from > range->from && to < range->to;
}

/*
 * Takes [from, to) out of a range; the lock is held.  The part above becomes `above`, where the
 * range is around.  Returns whether anything of the range is left.
 */
static bool range_cut(struct range *range, uintptr_t from, uintptr_t to, struct range *above)
{
	if (from <= range->from && to >= range->to) {
		range_close(range);
		return false;
	}
	if (above) {
		*above = *range;
		above->from = to;
		range_insert(above);
	}
	if (from <= range->from)
		range->from = to;
	else
		range->to = from;
	return true;
}

static bool range_is_gone(const struct range *range)
{
	return range->memfd < 0;
}

static bool range_is_any(const struct range *range)
{
	return range;
}

/*
 * Does `make` with the memory's pieces in those ranges that match, and takes them out.  False with
 * ENOMEM: the piece that could not be made stays in its range, and so do those not yet looked at.
 */
static bool ranges_cut(const void *memory, size_t count, bool (*matches)(const struct range *),
		       bool (*make)(const struct range *, uintptr_t, uintptr_t))
{
	uintptr_t from = (uintptr_t)memory, to = from + count;
	bool made = true;
	int saved = errno;

	if (!ranges_exist())
		return true;
	if (!libcosy_lock(&ranges_lock)) {
		errno = ENOMEM;
		return false;
	}
	for (struct range **at = &ranges, *r; made && (r = *at);) {
		uintptr_t low = r->from > from ? r->from : from, high = r->to < to ? r->to : to;
		struct range *above = NULL;

		if (low >= high || !matches(r)) {
			at = &r->next;
			continue;
		}
		if (range_is_around(r, low, high))
			made = (above = malloc(sizeof(*above)));
		if (!made || !make(r, low, high)) {
			made = false;
			free(above);
		} else if (range_cut(r, low, high, above)) {
			at = &r->next;
		} else {
			__atomic_store_n(at, r->next, __ATOMIC_RELAXED);
			free(r);
		}
	}
	libcosy_unlock(&ranges_lock);
	errno = made ? saved : ENOMEM;
	return made;
}

bool libcosy_ranges_replace(const void *memory, size_t count)
{
	return ranges_cut(memory, count, range_is_any, range_fill);
}

int libcosy_ranges_flush(void *memory, size_t count)
{
	int saved = errno, emptied = 0;

	if (!libcosy_is_whole(memory, count)) {
		errno = EINVAL;
		return -1;
	}
	if (!count)
		return 0;
	if (!libcosy_ranges_replace(memory, count))
		return -1;
	if (libcosy_arenas_may_have(memory, count))
		emptied = libcosy_arenas_empty(memory, count);
	if (!emptied)
		emptied = libcosy_arenas_clear(memory, count);
	if (emptied < 0)
		return (int)libcosy_move_answer(emptied);
	errno = saved;
	return 0;
}

static bool range_map(const struct range *range)
{
	return mmap((void *)range->from, range->to - range->from, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED, range->memfd, 0) != MAP_FAILED;
}

static bool range_protect(const struct range *range)
{
	return !mprotect((void *)range->from, range->to - range->from, PROT_NONE);
}

/*
 * Has `make` change the memory, and remembers it.  Only the lack of room for one more mapping can
 * make that fail, once the old pages are flushed: those of an arena would stay otherwise, though
 * nobody could see them.
 */
static bool ranges_add(void *memory, size_t count, int memfd, bool (*make)(const struct range *))
{
	struct range *range = malloc(sizeof(*range));

	if (!range)
		return false;
	range->from = range->all_from = (uintptr_t)memory;
	range->to = range->all_to = range->from + count;
	range->memfd = memfd;
	libcosy_fork_register();
	if (!libcosy_ranges_flush(memory, count) && make(range) && libcosy_lock(&ranges_lock)) {
		range_insert(range);
		libcosy_unlock(&ranges_lock);
		return true;
	}
	free(range);
	return false;
}

bool libcosy_ranges_share(void *memory, size_t count, int memfd)
{
	int mine = fcntl(memfd, F_DUPFD_CLOEXEC, 0);

	if (mine < 0)
		return false;
	if (ranges_add(memory, count, mine, range_map))
		return true;
	close(mine);
	return false;
}

bool libcosy_ranges_take_away(void *memory, size_t count)
{
	return ranges_add(memory, count, -1, range_protect);
}

bool libcosy_ranges_fill(const void *memory, size_t count)
{
	const size_t before = (uintptr_t)memory & (PAGE - 1);

	return ranges_cut((const char *)memory - before, libcosy_whole_pages(before + count),
			  range_is_gone, range_fill);
}

/* True if range_fill has room, by what needs as much and changes nothing. */
static bool range_has_room(const struct range *range, uintptr_t from, uintptr_t to)
{
	void *memory = (void *)from, *other;
	size_t count = to - from;

	if (range->memfd < 0)
		return range_fill(range, from, to) && !mprotect(memory, count, PROT_NONE);
	other = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (other == MAP_FAILED)
		return false;
	munmap(other, count);
	return mmap(memory, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, range->memfd,
		    (off_t)(from - range->all_from)) != MAP_FAILED;
}

bool libcosy_ranges_have_room(const void *memory, size_t count)
{
	uintptr_t from = (uintptr_t)memory, to = from + libcosy_whole_pages(count);
	bool have = !ranges_exist();

	if (!have && libcosy_lock(&ranges_lock)) {
		have = true;
		for (const struct range *r = ranges; r && have; r = r->next) {
			uintptr_t low = r->from > from ? r->from : from;
			uintptr_t high = r->to < to ? r->to : to;

			have = low >= high || range_has_room(r, low, high);
		}
		libcosy_unlock(&ranges_lock);
	}
	if (!have)
		errno = ENOMEM;
	return have;
}

static bool range_leave(const struct range *range, uintptr_t from, uintptr_t to)
{
	(void)range, (void)from, (void)to;
	return true;
}

void libcosy_ranges_forget(const void *memory, size_t count)
{
	int saved = errno;

	ranges_cut(memory, count, range_is_any, range_leave);
	errno = saved;
}
