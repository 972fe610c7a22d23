// SPDX-License-Identifier: MIT
/* watcher.c - see watcher.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../../include/uapi/linux/cosy.h"
#include "../../include/uapi/linux/cosy_watch.h"
#include "alone.h"
#include "environment.h"
#include "loaded.h"
#include "metadata/metadata.h"
#include "metadata/watcher.h"
#include "next.h"
#include "object.h"
#include "syscall.h"

#define OWN_FD 500 /* the library's descriptor has this number or a larger one */

unsigned int watcher_state;
int watcher_number = -1;
const volatile uint64_t *watcher_words;

unsigned int watcher_calls;

bool watcher_is_eager(void)
{
	const char *eager = environment_get(ENVIRONMENT_EAGER);

	return eager && !strcmp(eager, "metadata");
}

/* WATCHER_OFF stays. */
static void state_change(unsigned int from, unsigned int to)
{
	__atomic_compare_exchange_n(&watcher_state, &from, to, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_ACQUIRE);
}

void watcher_off(void)
{
	__atomic_store_n(&watcher_state, WATCHER_OFF, __ATOMIC_SEQ_CST);
}

/*
 * True if libc's functions are the ones that follow this library's: what others answer, such as
 * fakeroot's, is not what the kernel would.  Those before this library call it, and do with its answers
 * what they would do with libc's.
 */
static bool stat_is_libc(void)
{
	/* Characters, since pointers would have to be relocated. */
	static const char names[][13] = {"stat",       "lstat",	     "fstatat",	   "stat64",
					 "lstat64",    "fstatat64",  "__xstat",	   "__lxstat",
					 "__xstat64",  "__lxstat64", "__fxstatat", "__fxstatat64",
					 "statx",      "getxattr",   "lgetxattr",  "listxattr",
					 "llistxattr", "access",     "faccessat"};
	enum { COUNT = sizeof(names) / sizeof(*names) };
	const struct link_map *at = loaded_own();
	uint32_t hashes[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		hashes[i] = object_hash(names[i]);
	for (unsigned int number = 0; at && (at = at->l_next); number++) {
		struct next_object room;
		const struct next_object *next = next_object(at, number, &room);

		if (next->is_libc)
			return true;
		for (size_t i = 0; i < COUNT; i++)
			if (object_find_hashed(&next->object, names[i], hashes[i]))
				return false;
	}
	return false;
}

#define FILTER_BYTES 32 /* that are read of the calls that filters let through, 8 in each */

/*
 * Asks the module whether a filter sees the process's calls, by openat, read and close, which ld.so has
 * just made under such a filter: see filter.h.  True also for a file that is not the module's.
 */
static bool device_is_filtered(long device)
{
	uint64_t allowed[FILTER_BYTES / sizeof(uint64_t)], all = ~0ull;

	if (cosy_syscall3(SYS_read, device, (uintptr_t)allowed, sizeof(allowed)) != sizeof(allowed))
		return true;
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		all &= allowed[i];
	return ~all;
}

static int watcher_fd(void)
{
	struct cosy_watch request = {.size = sizeof(request)};
	long device, fd = -EOPNOTSUPP, high;

	device = cosy_syscall6(SYS_openat, AT_FDCWD, (uintptr_t)"/dev/cosy", O_RDONLY | O_CLOEXEC,
			       0, 0, 0);
	if (device < 0)
		return device;
	if (!device_is_filtered(device))
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

static bool watcher_may_open(void)
{
	static bool is_libc;

	if (!is_libc)
		is_libc = stat_is_libc();
	return is_libc;
}

/*
 * Returns whether the watcher is to be tried: after 1, 2, 4, 8 ... calls.  Another thread is a reason
 * that may go away, but each attempt costs more than a stat.
 */
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

	fd = watcher_may_open() ? watcher_fd() : -EOPNOTSUPP;
	/*
	 * Words of an earlier watcher may still be compared with, by the call that a signal handler
	 * interrupted.  No two watchers' words of the way are ever the same.
	 */
	if (fd >= 0)
		at = cosy_syscall6(SYS_mmap, (uintptr_t)watcher_words,
				   COSY_WATCH_WORDS * sizeof(*watcher_words), PROT_READ,
				   MAP_SHARED | (watcher_words ? MAP_FIXED : 0), fd, 0);

	/* The last two: the user, or all users, have too many at present. */
	if (fd == -EAGAIN || fd == -EBUSY || fd == -EDQUOT || fd == -ENOSPC)
		return;
	if (fd < 0 || (long)at < 0) {
		__atomic_store_n(&watcher_state, WATCHER_OFF, __ATOMIC_RELAXED);
		return;
	}
	watcher_words = (const volatile uint64_t *)at;
	watcher_number = fd;
	metadata_turns[fd] = 1;
	/* A signal handler may have called metadata_off since. */
	state_change(WATCHER_UNTRIED, WATCHER_OPEN);
}

bool watcher_begin(void)
{
	if (watcher_is_due())
		watcher_open();
	return __atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_OPEN;
}

void watcher_before_thread(void)
{
	if (__atomic_load_n(&watcher_state, __ATOMIC_ACQUIRE) == WATCHER_UNTRIED && alone() &&
	    __atomic_load_n(&watcher_calls, __ATOMIC_RELAXED))
		watcher_open();
}

/*
 * No system call is made for a process whose own watcher has ended: a filter may be the reason.  The
 * watcher has ended for good, or because this process is a child of the one that made it.  A child
 * leaves its parent's descriptor open until it calls exec: it may have closed that unseen, and have
 * the number for another file.
 */
COLD void watcher_ended(void)
{
	if (watcher_words[COSY_WATCH_NUMBERS] & COSY_WATCH_ENDED) {
		watcher_number = -1;
		__atomic_store_n(&watcher_calls, 0, __ATOMIC_RELAXED);
		state_change(WATCHER_OPEN, WATCHER_UNTRIED);
	} else {
		__atomic_store_n(&watcher_state, WATCHER_OFF, __ATOMIC_RELAXED);
	}
}

COLD void watcher_lost(void)
{
	watcher_number = -1;
	__atomic_store_n(&watcher_state, WATCHER_OFF, __ATOMIC_RELAXED);
}
