// SPDX-License-Identifier: MIT
/* ranges.c - see ranges.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cosy/move.h>

#include "process/fork.h"
#include "lock.h"
#include "move/ranges.h"

struct range {
	struct range *next;
	uintptr_t from, to;
	uintptr_t all_from, all_to; /* of what the memfd has; from and to until it is cut */
	int memfd;		    /* -1: gone */
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

/* Makes [from, to) of a range ordinary memory. */
static void range_fill(const struct range *range, uintptr_t from, uintptr_t to)
{
	if (range->memfd < 0)
		mprotect((void *)from, to - from, PROT_READ | PROT_WRITE);
	else
		mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Takes [from, to) out of a range; the lock is held.  Tells whether anything of it is left. */
static bool range_cut(struct range *range, uintptr_t from, uintptr_t to)
{
	struct range *rest;

	if (from <= range->from && to >= range->to) {
		if (range->memfd >= 0)
			close(range->memfd);
		return false;
	}
	if (from > range->from && to < range->to) {
		/* Without memory the upper part is forgotten: it stays as it is. */
		rest = malloc(sizeof(*rest));
		if (rest) {
			*rest = *range;
			rest->from = to;
			if (rest->memfd >= 0)
				rest->memfd = fcntl(rest->memfd, F_DUPFD_CLOEXEC, 0);
			if (rest->memfd < 0 && range->memfd >= 0)
				free(rest);
			else
				range_insert(rest);
		}
		range->to = from;
	} else if (from <= range->from) {
		range->from = to;
	} else {
		range->to = from;
	}
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

/* Takes the memory out of those ranges that match, and does `then` with each piece. */
static void ranges_cut(const void *memory, size_t count, bool (*matches)(const struct range *),
		       void (*then)(const struct range *, uintptr_t, uintptr_t))
{
	uintptr_t from = (uintptr_t)memory, to = from + count;
	int saved = errno;

	if (!ranges_exist() || !libcosy_lock(&ranges_lock))
		return;
	for (struct range **at = &ranges, *r; (r = *at);) {
		uintptr_t low = r->from > from ? r->from : from, high = r->to < to ? r->to : to;

		if (low >= high || !matches(r)) {
			at = &r->next;
			continue;
		}
		if (then)
			then(r, low, high);
		if (range_cut(r, low, high)) {
			at = &r->next;
			continue;
		}
		__atomic_store_n(at, r->next, __ATOMIC_RELAXED);
		free(r);
	}
	libcosy_unlock(&ranges_lock);
	errno = saved;
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
	cosy_flush(memory, count);
	if (make(range) && libcosy_lock(&ranges_lock)) {
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

void libcosy_ranges_fill(const void *memory, size_t count)
{
	ranges_cut(memory, count, range_is_gone, range_fill);
}

void libcosy_ranges_replace(const void *memory, size_t count)
{
	ranges_cut(memory, count, range_is_any, range_fill);
}

void libcosy_ranges_forget(const void *memory, size_t count)
{
	ranges_cut(memory, count, range_is_any, NULL);
}
