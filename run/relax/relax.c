// SPDX-License-Identifier: MIT
/* relax.c - see relax.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file/file.h"
#include "file/policy.h"
#include "relax/coalesce.h"
#include "relax/reflink.h"
#include "relax/relax.h"
#include "relax/relaxed.h"
#include "relax/trunc.h"
#include "syscall.h"
#include "vfork.h"

/* Flags with which O_TRUNC is left to the kernel. */
#define NO_TAIL                                                                                    \
	(O_EXCL | O_DIRECT | O_SYNC | O_DSYNC | O_ASYNC | O_PATH | O_DIRECTORY |                   \
	 (O_TMPFILE & ~O_DIRECTORY))

int relax_before_open(int flags)
{
	relaxed_settle_all = relax_end;
	/* With a lease of this process's own the open would fail. */
	if (flags & O_NONBLOCK)
		coalesce_end();
	coalesce_flush();
	if (!(flags & O_TRUNC))
		return flags;
	if ((flags & O_ACCMODE) != O_RDONLY && !(flags & NO_TAIL) &&
	    (relaxed_now() & RELAX_TRUNC) && trunc_pays())
		return flags & ~(O_TRUNC | O_APPEND);
	/*
	 * Cut now: the kernel is about to truncate, and a later cut would lengthen the file again.
	 */
	trunc_cut_all();
	return flags;
}

/* Truncates the file, since the open has not. */
static int truncate_now(int fd)
{
	long ret = cosy_syscall3(SYS_ftruncate, fd, 0, 0);

	if (!ret)
		return fd;
	cosy_syscall3(SYS_close, fd, 0, 0);
	errno = -ret;
	return -1;
}

static int open_truncated(int fd, bool appends)
{
	struct stat st;
	long ret = cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0);

	if (!ret && !S_ISREG(st.st_mode)) {
		if (appends)
			trunc_append(fd);
		return fd;
	}
	/* If this changes st_size, the file was larger, so a later cut of ours does no less. */
	if (!ret)
		trunc_cut_same(&st);
	if (!ret && trunc_fits(fd, &st) && relaxed_allows(fd, RELAX_TRUNC) &&
	    trunc_begin(fd, &st, appends))
		return fd;
	if (appends)
		trunc_append(fd);
	return truncate_now(fd);
}

int relax_after_open(int fd, int asked, int used)
{
	if (fd >= 0 && asked != used)
		fd = open_truncated(fd, asked & O_APPEND);
	if ((unsigned int)fd >= FILES)
		return fd;
	relaxed_compared[fd] = 0;
	if ((asked & O_ACCMODE) != O_RDONLY && (relaxed_now() & (RELAX_COALESCE | RELAX_REFLINK)))
		coalesce_candidate(fd);
	return fd;
}

void relax_touch_slow(int fd)
{
	struct stat st;
	bool special;

	if ((unsigned int)fd < FILES && relaxed_compared[fd] >> 1 == relaxed_changes) {
		if (relaxed_compared[fd] & 1)
			coalesce_flush();
		return;
	}
	if (cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0))
		return;
	special = !S_ISREG(st.st_mode);
	if (special || coalesce_same(&st))
		coalesce_flush();
	if (!special)
		trunc_cut_same(&st);
	if ((unsigned int)fd < FILES && (special || !coalesce_same(&st)))
		relaxed_compared[fd] = relaxed_changes << 1 | special;
}

void relax_seek(int fd, int64_t offset, int whence)
{
	if (!trunc_of(fd)) {
		relax_touch(fd);
		return;
	}
	if (coalesce_has(fd))
		coalesce_flush();
	/*
	 * Let a seek to the current position pass: squid makes one to the beginning before it
	 * writes.
	 */
	if ((whence == SEEK_CUR && !offset) ||
	    (whence == SEEK_SET && cosy_syscall3(SYS_lseek, fd, 0, SEEK_CUR) == offset))
		return;
	trunc_cut(fd);
}

void relax_fcntl(int fd, int command, long argument)
{
	switch (command) {
	case F_GETFD:
	case F_SETFD:
		break;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		break;
	case F_GETFL:
		/*
		 * Settle: a lease shows as O_ASYNC, also through a duplicate, and O_APPEND may be
		 * missing.
		 */
		trunc_cut(fd);
		coalesce_end();
		break;
	case F_SETFL:
		if (argument & (O_APPEND | O_DIRECT | O_ASYNC))
			relax_forget(fd);
		trunc_cut(fd);
		coalesce_end();
		break;
	default:
		relax_settle();
	}
}

ssize_t relax_write(int fd, const void *buf, size_t len)
{
	int error = relaxed_take_error(fd);

	if (error) {
		errno = error;
		return -1;
	}
	if (reflink_may(fd, buf, len) && reflink_write(fd, buf, len))
		return len;
	return coalesce_write(fd, buf, len);
}

void relax_tell(void)
{
	coalesce_flush();
}

void relax_settle(void)
{
	coalesce_flush();
	trunc_cut_all();
	/* The call may close descriptors without this library's notice, and reuse their numbers. */
	relaxed_renew();
}

void relax_sleep(void)
{
	coalesce_end();
}

void relax_end(void)
{
	coalesce_end();
	trunc_cut_all();
}

void relax_share(enum how_long how_long)
{
	relax_end();
	if (how_long == UNTIL_CLOSED)
		coalesce_forget_all();
}

void relax_forget(int fd)
{
	reflink_release(fd);
}

void relax_duplicated(int fd, int copy)
{
	trunc_cut(fd);
	if (coalesce_may(fd))
		coalesce_candidate(copy);
}

int relax_closing(int fd)
{
	if ((unsigned int)fd >= FILES || vfork_in_child())
		return 0;
	/* Others can see a close: it drops locks, and ends pipes. */
	coalesce_flush();
	trunc_close(fd);
	relax_forget(fd);
	return relaxed_take_error(fd);
}

int relax_closed(int ret, int error)
{
	if (ret || !error)
		return ret;
	errno = error;
	return -1;
}

/* Settles everything; destructors that run later write by ordinary calls. */
void library_end(void)
{
	if (vfork_in_child())
		return;
	relax_end();
	coalesce_forget_all();
	relaxed_over = true;
}
