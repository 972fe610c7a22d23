/* SPDX-License-Identifier: MIT */
/*
 * relax.h - hooks of `cosy run --relax`, which gives up what other processes may observe;
 * whatever the process itself can observe stays as it is.  So what the kernel has not been
 * told yet is *settled* before any call that could show it, by the hooks here and by the
 * stubs of relax_calls.def; also before calls in the program's signal handlers.
 *
 * Two kinds of things are pending: old ends of files that were not truncated (trunc.h) and
 * coalesced writes (coalesce.h).  Neither exists in a process with a second thread, so only
 * signal handlers can come in between.
 *
 * All this is only in libcosy-run-relax.so, which `cosy run` preloads in place of
 * libcosy-run.so when anything is relaxed; in libcosy-run.so the hooks are empty.
 */
#ifndef COSY_RUN_RELAX_H
#define COSY_RUN_RELAX_H

#include <stdbool.h>
#include <stdint.h>

#include "file/file.h"
#include "next.h"

#ifdef COSY_RELAX
#include "relax/coalesce.h"
#include "relax/exit_signals.h"
#include "relax/reflink.h"
#include "relax/relax_lease.h"
#include "relax/trunc.h"
#endif

#pragma GCC visibility push(hidden)

#ifdef COSY_RELAX
#define RELAXES true

/* Prepares an open with `flags`.  Returns the flags to open with. */
int relax_before_open(int flags);

/*
 * Completes the open.  `asked` are the program's flags, `used` those of relax_before_open.
 * Returns the descriptor for the program, or -1 and errno.
 */
int relax_after_open(int fd, int asked, int used);

/* Notes that an ordinary read has put `len` bytes into `buf`. */
static inline void relax_read(int fd, const void *buf, long len)
{
	reflink_note(fd, buf, len);
}

/*
 * Settles what is pending for the file of `fd`, before a call other than write(2) that reads,
 * changes or shows it.  If it is no regular file, hands over what is coalesced, since others may
 * learn something by the call.
 */
void relax_touch_slow(int fd);

static inline void relax_touch(int fd)
{
	if (truncs || coalesce_pending())
		relax_touch_slow(fd);
}

/* Do the same before lseek and fcntl, unless that shows nothing. */
void relax_seek(int fd, int64_t offset, int whence);
void relax_fcntl(int fd, int command, long argument);

/* Makes a write(2) to a candidate of coalesce.h, in a process with one thread. */
ssize_t relax_write(int fd, const void *buf, size_t len);

/* Hands over what is coalesced, before a call by which others could learn something. */
void relax_tell(void);

/* Settles everything, before a call that names files, or shows several. */
void relax_settle(void);

/* Returns leases, before a call that may wait long and that a lease's signal would cut short. */
void relax_sleep(void);

/* To be called before a process is made (UNTIL_CLOSED: it shares the open files), or an exec. */
void relax_share(enum how_long how_long);

/*
 * Notes that `copy` is a duplicate of `fd` now.  Cuts an old end, since writes to either would move
 * its position.  If writes to one of the two are coalesced, a call on the other settles them.
 */
void relax_duplicated(int fd, int copy);

/* Ends relaxing for `fd`, which is closed, or handed to stdio or to another process. */
void relax_forget(int fd);

/*
 * Surround close(fd).  The first returns an errno that the second is to report, or 0.
 */
int relax_closing(int fd);
int relax_closed(int ret, int error);

/* Make sigaction(2) and signal(2), for signals that this library does not use itself. */
static inline int relax_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return exit_signals_sigaction(signal, action, old);
}

static inline sighandler_t relax_signal(int number, sighandler_t handler)
{
	return exit_signals_signal(number, handler);
}

/* Settles everything and returns leases, before the process ends or a thread begins. */
void relax_end(void);

/* Called by the dynamic linker when the program has ended, as DT_FINI. */
void library_end(void);

#else
#define RELAXES false

static inline int relax_before_open(int flags)
{
	return flags;
}

static inline int relax_after_open(int fd, int asked, int used)
{
	(void)asked, (void)used;
	return fd;
}

static inline void relax_touch(int fd)
{
	(void)fd;
}

static inline void relax_read(int fd, const void *buf, long len)
{
	(void)fd, (void)buf, (void)len;
}

static inline void relax_seek(int fd, int64_t offset, int whence)
{
	(void)fd, (void)offset, (void)whence;
}

static inline void relax_fcntl(int fd, int command, long argument)
{
	(void)fd, (void)command, (void)argument;
}

static inline int relax_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	return NEXT(sigaction)(signal, action, old);
}

static inline sighandler_t relax_signal(int number, sighandler_t handler)
{
	return NEXT(signal)(number, handler);
}

static inline void relax_tell(void) {}

static inline void relax_settle(void) {}

static inline void relax_end(void) {}

static inline void relax_sleep(void) {}

static inline void relax_share(enum how_long how_long)
{
	(void)how_long;
}

static inline void relax_duplicated(int fd, int copy)
{
	(void)fd, (void)copy;
}

static inline void relax_forget(int fd)
{
	(void)fd;
}

static inline int relax_closing(int fd)
{
	(void)fd;
	return 0;
}

static inline int relax_closed(int ret, int error)
{
	(void)error;
	return ret;
}

#endif

#pragma GCC visibility pop

#endif /* COSY_RUN_RELAX_H */
