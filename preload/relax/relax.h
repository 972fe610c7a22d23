/* SPDX-License-Identifier: MIT */
/*
 * relax.h - where `cosy run --relax` comes in.  It gives up what other processes may
 * observe; whatever the process itself can observe stays as it is.  So what the kernel
 * has not been told yet is *settled* before any call that could show it: by the hooks
 * here, by the stubs of relax_calls.def, and in signal handlers of the program as
 * everywhere else.
 *
 * There are two kinds: old ends of files that were not truncated (trunc.h) and coalesced
 * bytes (coalesce.h).  Neither exists in a process with a second thread, so only signal
 * handlers can come between.
 *
 * These are in libcosy-relax.so alone, which `cosy run` preloads in place of
 * libcosy-read.so when anything is relaxed; the hooks are empty in the latter.
 */
#ifndef COSY_PRELOAD_RELAX_H
#define COSY_PRELOAD_RELAX_H

#include <stdbool.h>
#include <stdint.h>

#include "file/file.h"
#include "next.h"

#ifdef COSY_RELAX
#include "relax/coalesce.h"
#include "relax/reflink.h"
#include "relax/relax_lease.h"
#include "relax/trunc.h"
#endif

#pragma GCC visibility push(hidden)

#ifdef COSY_RELAX
#define RELAXES true

/* A signal mask without RELAX_SIGNAL, once there is a handler for it. */
uint64_t relax_signals(uint64_t signals);

/* Before an open with `flags`: the flags to open with. */
int relax_before_open(int flags);

/*
 * After it.  `asked` are the program's flags, `used` those of relax_before_open.  The
 * descriptor for the program, or -1 and errno.
 */
int relax_after_open(int fd, int asked, int used);

/* An ordinary read has put `len` bytes into `buf`. */
static inline void relax_read(int fd, const void *buf, long len)
{
	reflink_note(fd, buf, len);
}

/*
 * Before a call that reads, changes or shows the file of `fd` past write(2): what is
 * pending for that file is settled, and what others wait for if it is no regular file.
 */
void relax_touch_slow(int fd);

static inline void relax_touch(int fd)
{
	if (truncs || coalesce_pending())
		relax_touch_slow(fd);
}

/* The same before lseek and fcntl, some of which show nothing. */
void relax_seek(int fd, int64_t offset, int whence);
void relax_fcntl(int fd, int command, long argument);

/* Before a call that others could learn something by. */
void relax_tell(void);

/* Before a call that names files, or shows several. */
void relax_settle(void);

/* Before a call that may wait long and that a lease's signal would cut short. */
void relax_sleep(void);

/* Before a process is made (UNTIL_CLOSED: it shares the open files) or another program run. */
void relax_share(enum how_long how_long);

/*
 * `copy` is a duplicate of `fd` now.  Whichever of the two is coalesced, a call on the other settles
 * that; an old end is cut now, since either would move its position.
 */
void relax_duplicated(int fd, int copy);

/* `fd` is not to be relaxed any more: closed, handed to stdio or to another process. */
void relax_forget(int fd);

/*
 * Around close(fd): the first returns an errno that the second is to report, or 0.
 */
int relax_closing(int fd);
int relax_closed(int ret, int error);

/* The lease's signal has come. */
void relax_lease_broken(void);

/* sigaction(2) and signal(2), for signals that this library has no use for itself. */
int relax_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
sighandler_t relax_signal(int number, sighandler_t handler);

/* Before the process ends, or a thread begins. */
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

static inline uint64_t relax_signals(uint64_t signals)
{
	return signals;
}

#endif

#pragma GCC visibility pop

#endif /* COSY_PRELOAD_RELAX_H */
