// SPDX-License-Identifier: MIT
/* window.c - see window.h. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "environment.h"
#include "file/filesystem.h"
#include "file/lease.h"
#include "file/map.h"
#include "file/policy.h"
#include "file/store.h"
#include "file/window.h"
#include "stats.h"
#include "syscall.h"

#define MAX_COST (WINDOW_COST << 6)

/*
 * The cost of a window in this process, in ns, by experience.  A program that closes its files
 * soon after they were specialised raises it, one that goes on reading them lowers it.
 */
static int price = WINDOW_COST;

/* True if the next window comes late, since its lease did: it tells nothing about the price. */
static bool late;

static void window_learn(const struct file *file)
{
	static enum { UNREAD, LEARNS, EAGER } mode;

	if (mode == UNREAD)
		mode = environment_get(ENVIRONMENT_EAGER) ? EAGER : LEARNS;
	if (mode == EAGER)
		return;
	if (late) {
		late = false;
		return;
	}
	if (file->reads * (WINDOW_SAVED / 2) >= WINDOW_COST)
		price = price / 2 < WINDOW_COST ? WINDOW_COST : price / 2;
	else if (price < MAX_COST)
		price *= 2;
}

/* Gives back what window_prepare took; under LOCKED. */
static void window_give_back(struct file *file, int fd)
{
	lease_return(file, fd);
	window_learn(file);
	store_put(file->window);
	map_drop(file);
}

struct window *window_none(void)
{
	static struct window none;

	return &none;
}

/* True for a file that long reads have gone over again and again. */
static bool window_earned_long(struct file *file, int fd, size_t len)
{
	struct stat st;

	file->fetched += len;
	if (file->fetched < WINDOW_REREAD || file->fetched < file->next)
		return false;
	if (cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0))
		return false;
	file->next = 2 * (uint64_t)st.st_size;
	return file->fetched >= file->next;
}

/* Returns the price of a window, its lease included. */
static int window_price(const struct file *file)
{
	return price + lease_price(file);
}

bool window_earned(struct file *file, int fd, size_t len)
{
	if (file->stays_plain || file->unleased) {
		/* This is so low that the file never earns a window. */
		file->credit = INT64_MIN / 2;
		file->fetched = 0;
		return false;
	}
	if (!len)
		return false;
	if (len > WINDOW_MAX_LENGTH) {
		if (!window_earned_long(file, fd, len))
			return false;
	} else {
		int saved = WINDOW_SAVED - (int)(len / WINDOW_SAVED_LESS);

		if (file->credit < MAX_COST << MAX_BREAKS)
			file->credit += saved;
		if (file->credit < window_price(file) << file->breaks)
			return false;
		if (!lease_earned(file, saved)) {
			late = true;
			return false;
		}
	}
	/* Not while another thread reads; see window_specialise. */
	return !__atomic_load_n(&file->inside, __ATOMIC_RELAXED) && !file_sharing();
}

bool window_filesystem(int fd)
{
	struct statfs fs;

	return !cosy_syscall3(SYS_fstatfs, fd, (unsigned long)&fs, 0) &&
	       filesystem_has_leases(fs.f_type);
}

bool window_policy(struct file *file, int fd)
{
	struct policy policy;

	policy_find(fd, 0, &policy);
	file->most = policy.window;
	return !policy.off;
}

/* Takes the window of a file that was not read since this last looked at all files. */
static bool window_reclaim(const struct file *wanting)
{
	static unsigned int hand;
	unsigned int used = file_used();

	for (unsigned int i = 0; i < used; i++) {
		unsigned int number = __atomic_fetch_add(&hand, 1, __ATOMIC_RELAXED) % used;
		struct file *file = file_numbered(file_space, number);
		uint64_t word = file_word(file);
		bool idle = file->noted == (uint16_t)file->reads, reclaimed;

		if ((word & WORD_PLAIN) || file == wanting || !file->leased)
			continue;
		file->noted = file->reads;
		/* Do not wait: whoever has locked it may want this file. */
		if (!idle || !file_try_lock(file, word))
			continue;
		reclaimed = file->leased;
		if (reclaimed)
			word = file_replug(file, word, GUARD_MEMORY);
		file_drop_lock(file, word);
		if (reclaimed)
			return true;
	}
	return false;
}

/* Returns a window for the file, or NULL; under LOCKED. */
static struct window *window_obtain(const struct file *file)
{
	struct window *window = store_take(STORE_SMALL);

	return !window && window_reclaim(file) ? store_take(STORE_SMALL) : window;
}

/* Takes lease and window, under LOCKED.  Returns the position, or -1 and the guard in *why. */
static int64_t window_prepare(struct file *file, int fd, uint64_t word, enum guard *why)
{
	int64_t position = word & WORD_POSITION;
	struct window *window;
	struct stat st;

	*why = GUARD_POLICY;
	if (!window_policy(file, fd))
		return -1;
	*why = GUARD_FS_CONSTANT;
	if (!window_filesystem(fd))
		return -1;
	if (word & WORD_PLAIN)
		position = cosy_syscall3(SYS_lseek, fd, 0, SEEK_CUR);
	if (position < 0 || (uint64_t)position > WORD_POSITION)
		return -1;
	if (!lease_take(file, fd, why))
		return -1;
	/* The lease keeps the size from changing from now on. */
	*why = GUARD_FS_CONSTANT;
	if (cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || (uint64_t)st.st_size > WORD_POSITION)
		goto returned;
	*why = GUARD_MEMORY;
	window = window_obtain(file);
	if (!window)
		goto returned;
	/* Never becomes NULL again: a late reader may still be about to look at it. */
	file->window = window;
	file->size = st.st_size;
	return position;
returned:
	lease_return(file, fd);
	return -1;
}

bool window_specialise(struct file *file, int fd)
{
	uint64_t signals, word = file_lock(file, &signals);
	enum guard why;
	int64_t position;
	bool done = false;

	if (!(word & WORD_PLAIN) && file->leased) {
		done = true; /* by another thread */
		goto out;
	}
	if (!file_may_change(file, fd, word))
		goto out;
	position = window_prepare(file, fd, word, &why);
	if (position < 0 && why == GUARD_EARNED) { /* the lease has to be earned, or waited for */
		late = true;
		goto out;
	}
	if (position < 0) {
		stats_declined(file, fd, why);
		file->credit = 0;
		/* A writer, or other files' windows, may go away; the other reasons stay. */
		if ((why == GUARD_READ_ONLY || why == GUARD_MEMORY) && file->breaks < MAX_BREAKS)
			file->breaks++;
		else if (why != GUARD_MEMORY)
			file->unleased = true;
		goto out;
	}
	file_give_back = window_give_back;
	file->leased = true;
	file->window->start = position;
	file->window->len = 0;
	file->next = position;
	file->ramp = FIRST_FETCH;
	file->fetched = file->fetched < WINDOW_REREAD ? 0 : WINDOW_REREAD;
	file->reads = 0;
	file->noted = 0;
	map_forget(file);
	stats_specialised(file, fd);
	word = position;
	done = true;
out:
	file_unlock(file, word, signals);
	return done;
}

/* Fills the window, under LOCKED.  False: the file is not what it was. */
static bool window_fill(struct file *file, uint64_t start, uint64_t want)
{
	struct window *window = file->window;
	uint64_t got = 0;

	if (want > file->size - start)
		want = file->size - start;
	window->len = 0;
	window->start = start;
	while (got < want) {
		long ret = cosy_syscall6(SYS_pread64, file->fd, (unsigned long)window->data + got,
					 want - got, start + got, 0, 0);

		if (ret <= 0)
			return false;
		got += ret;
	}
	window->len = got;
	stats.fetches++;
	stats.fetched += got;
	return true;
}

/* True if fetching the whole file would have been cheaper than its fetches so far. */
static bool window_pays_whole(const struct file *file)
{
	return file->size <= STORE_WHOLE && file->size <= file->most &&
	       file->fetched >= 2 * file->size;
}

/* Makes a window for all of the file, if one more is allowed; under LOCKED. */
static bool window_widen(struct file *file)
{
	struct window *whole;

	if (file->size <= file->window->capacity)
		return true;
	whole = store_take(STORE_WHOLE);
	if (!whole)
		return false;
	store_put(file->window);
	file->window = whole;
	return true;
}

/* Reads what a sequential reader will want next; under LOCKED. */
static bool window_fill_ahead(struct file *file, uint64_t offset, size_t len)
{
	uint64_t want = file->ramp < len ? len : file->ramp;

	/* End on a page: the kernel copies whole pages faster. */
	want += -(offset + want) & 4095;
	if (want > STORE_SMALL)
		want = STORE_SMALL;
	if (want > file->most)
		want = file->most;
	file->fetched += want;
	file->next = offset + want;
	if (file->ramp < STORE_SMALL)
		file->ramp *= 2;
	return window_fill(file, offset, want);
}

bool window_fetch(struct file *file, uint64_t word, uint64_t offset, size_t len)
{
	struct window *window = file->window;
	bool sequential = offset == window->start + window->len || offset == file->next;
	bool whole = window_pays_whole(file), fine;
	uint64_t signals, held;

	if ((!whole && (!sequential || len > WINDOW_MAX_LENGTH || len > file->most)) ||
	    map_eagerly()) {
		file->next = offset + len;
		file->fetched += len < FIRST_FETCH ? FIRST_FETCH : len;
		if (!map_earned(file, offset, len))
			return false;
		map_make(file, word);
		return true;
	}
	held = file_lock(file, &signals);
	if (held != word) {
		file_unlock(file, held, signals);
		return true;
	}
	if (whole && !window_widen(file)) {
		/* Begin to earn again. */
		file->fetched = 0;
		file_unlock(file, held, signals);
		return true;
	}
	if (whole)
		fine = window_fill(file, 0, file->size);
	else
		fine = window_fill_ahead(file, offset, len);
	/* If the lease is over, the next look at it tells. */
	if (!fine && lease_holds(file)) {
		held = file_replug(file, held, GUARD_FS_CONSTANT);
		file->stays_plain = true;
	}
	file_unlock(file, held, signals);
	return true;
}
