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
#include "filesystem.h"
#include "lease.h"
#include "lock.h"
#include "map.h"
#include "policy.h"
#include "stats.h"
#include "syscall.h"
#include "window.h"

#define MOST_COST    (WINDOW_COST << 6)

#define SMALL_WINDOW 65536
#define MOST_WHOLES  16
#define WHOLE_WINDOW (1 << 20)
#define FIRST_FETCH  4096

/* Unused windows of the two capacities; a list is whole between any two stores. */
static struct window *unused[2];
static uint32_t unused_lock;
static unsigned int wholes; /* large ones, used or not */
static uint64_t mapped;	    /* bytes of all windows, used or not */

/* Callers hold a file, so signals are blocked. */
static struct window *window_take(uint64_t capacity)
{
	struct window **list = &unused[capacity != SMALL_WINDOW], *window;
	bool whole = capacity != SMALL_WINDOW, another = true;
	long mapping;

	lock_take(&unused_lock);
	window = *list;
	if (window)
		*list = window->next;
	else if (mapped + capacity > policy_memory())
		another = false;
	else if (whole)
		another = wholes < MOST_WHOLES;
	if (!window && another) {
		mapped += capacity;
		wholes += whole;
	}
	lock_drop(&unused_lock);
	if (window || !another)
		return window;
	mapping = cosy_syscall6(SYS_mmap, 0, sizeof(*window) + capacity, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0) {
		lock_take(&unused_lock);
		mapped -= capacity;
		wholes -= whole;
		lock_drop(&unused_lock);
		return NULL;
	}
	window = (struct window *)mapping;
	window->capacity = capacity;
	return window;
}

static void window_put(struct window *window)
{
	struct window **list = &unused[window->capacity != SMALL_WINDOW];

	/* Memory goes back, addresses stay: a late reader may be copying. */
	if (window->capacity != SMALL_WINDOW)
		cosy_syscall3(SYS_madvise, ((unsigned long)window | 4095) + 1,
			      window->capacity - 4096, MADV_DONTNEED);
	window->len = 0;
	lock_take(&unused_lock);
	window->next = *list;
	__atomic_store_n(list, window, __ATOMIC_RELEASE);
	lock_drop(&unused_lock);
}

/*
 * What a window costs here, as experience has it.  A program that closes its files soon
 * after they were specialised raises it, one that goes on reading them lowers it.
 */
static int price = WINDOW_COST;

static void window_learn(const struct file *file)
{
	static enum { UNREAD, LEARNS, EAGER } mode;

	if (mode == UNREAD)
		mode = environment_get(ENVIRONMENT_EAGER) ? EAGER : LEARNS;
	if (mode == EAGER)
		return;
	if (file->reads * (WINDOW_SAVED / 2) >= WINDOW_COST)
		price = price / 2 < WINDOW_COST ? WINDOW_COST : price / 2;
	else if (price < MOST_COST)
		price *= 2;
}

void window_share_child(void)
{
	/* A thread that stayed in the parent may have had it. */
	unused_lock = 0;
}

void window_drop(struct file *file)
{
	window_learn(file);
	window_put(file->window);
	map_drop(file);
}

struct window *window_none(void)
{
	static struct window none;

	return &none;
}

/* A file that long reads have gone over again and again. */
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

/* With the lease. */
static int window_price(const struct file *file)
{
	return price + (file->distant ? LEASE_DISTANCE : 0);
}

bool window_earned(struct file *file, int fd, size_t len)
{
	if (file->forever || file->unleased) {
		/* Far from it for good. */
		file->credit = INT64_MIN / 2;
		file->fetched = 0;
		return false;
	}
	if (!len)
		return false;
	if (len > WINDOW_LONGEST) {
		if (!window_earned_long(file, fd, len))
			return false;
	} else {
		if (file->credit < MOST_COST << MOST_BREAKS)
			file->credit += WINDOW_SAVED - (int)(len / WINDOW_SAVED_LESS);
		if (file->credit < window_price(file) << file->breaks)
			return false;
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

/* Under HELD.  The position to begin with, or -1 and the guard in *why. */
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
	file->fd = fd;
	/* From here on the size is fixed. */
	*why = GUARD_FS_CONSTANT;
	if (cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 || (uint64_t)st.st_size > WORD_POSITION)
		goto returned;
	*why = GUARD_MEMORY;
	window = window_take(SMALL_WINDOW);
	if (!window)
		goto returned;
	/* Never NULL again: a reader who saw an earlier window may still be about to look at it. */
	file->window = window;
	file->size = st.st_size;
	return position;
returned:
	lease_return(file, fd);
	return -1;
}

bool window_specialise(struct file *file, int fd)
{
	uint64_t signals, word = file_hold(file, &signals);
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
	if (position < 0 && why == GUARD_EARNED) /* it was found to be distant */
		goto out;
	if (position < 0) {
		stats_declined(file, fd, why);
		file->credit = 0;
		/* A writer may go away; what else there is stays. */
		if (why == GUARD_READ_ONLY && file->breaks < MOST_BREAKS)
			file->breaks++;
		else
			file->unleased = true;
		goto out;
	}
	file->leased = true;
	file->window->start = position;
	file->window->len = 0;
	file->next = position;
	file->ramp = FIRST_FETCH;
	file->fetched = file->fetched < WINDOW_REREAD ? 0 : WINDOW_REREAD;
	file->reads = 0;
	map_forget(file);
	stats_specialised(file, fd);
	word = position;
	done = true;
out:
	file_release(file, word, signals);
	return done;
}

/* Under HELD.  False: the file is not what it was. */
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

/* Has the file been fetched so often that it had better been fetched whole? */
static bool window_pays_whole(const struct file *file)
{
	return file->size <= WHOLE_WINDOW && file->size <= file->most &&
	       file->fetched >= 2 * file->size;
}

/* Under HELD.  A window for all of the file, if there may be one more. */
static bool window_widen(struct file *file)
{
	struct window *whole;

	if (file->size <= file->window->capacity)
		return true;
	whole = window_take(WHOLE_WINDOW);
	if (!whole)
		return false;
	window_put(file->window);
	file->window = whole;
	return true;
}

/* Under HELD.  What a sequential reader will want next. */
static bool window_fill_ahead(struct file *file, uint64_t offset, size_t len)
{
	uint64_t want = file->ramp < len ? len : file->ramp;

	/* End on a page: the kernel copies whole pages faster. */
	want += -(offset + want) & 4095;
	if (want > SMALL_WINDOW)
		want = SMALL_WINDOW;
	if (want > file->most)
		want = file->most;
	file->fetched += want;
	file->next = offset + want;
	if (file->ramp < SMALL_WINDOW)
		file->ramp *= 2;
	return window_fill(file, offset, want);
}

bool window_fetch(struct file *file, uint64_t word, uint64_t offset, size_t len)
{
	struct window *window = file->window;
	bool sequential = offset == window->start + window->len || offset == file->next;
	bool whole = window_pays_whole(file), fine;
	uint64_t signals, held;

	if ((!whole && (!sequential || len > WINDOW_LONGEST || len > file->most)) ||
	    map_eagerly()) {
		file->next = offset + len;
		file->fetched += len < FIRST_FETCH ? FIRST_FETCH : len;
		if (!map_earned(file, offset, len))
			return false;
		map_make(file, word);
		return true;
	}
	held = file_hold(file, &signals);
	if (held != word) {
		file_release(file, held, signals);
		return true;
	}
	if (whole && !window_widen(file)) {
		/* As if it had not been read so often yet. */
		file->fetched = 0;
		file_release(file, held, signals);
		return true;
	}
	if (whole)
		fine = window_fill(file, 0, file->size);
	else
		fine = window_fill_ahead(file, offset, len);
	/* Without a lease it is the next look at that which says so. */
	if (!fine && lease_holds(file)) {
		held = file_unplug(file, held, GUARD_FS_CONSTANT);
		file->forever = true;
	}
	file_release(file, held, signals);
	return true;
}
