// SPDX-License-Identifier: MIT
/* open.c - wraps calls that make, copy and close descriptors. */
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "calls/share.h"
#include "file/file.h"
#include "file/lease.h"
#include "file/lease_thread.h"
#include "metadata/metadata.h"
#include "direct.h"
#include "next.h"
#include "relax/relax.h"
#include "vfork.h"

/* Returns the flags to open with. */
static int open_before(int flags)
{
	if (lease_is_in_the_way(flags) && !vfork_in_child()) {
		/* Until it is open other threads take none, either. */
		share_begin(GUARD_READ_ONLY, FOR_NOW);
		lease_return_all(GUARD_READ_ONLY);
	}
	return relax_before_open(flags);
}

static int open_after(int fd, int flags, unsigned int epoch)
{
	if (lease_is_in_the_way(flags) && !vfork_in_child())
		share_end();
	/* The child of a vfork has its own descriptors but our memory. */
	if (fd >= 0 && !vfork_in_child())
		file_opened(fd, flags, epoch);
	return fd;
}

#define OPEN_MODE(flags)                                                                           \
	({                                                                                         \
		mode_t mode_ = 0;                                                                  \
		va_list args_;                                                                     \
                                                                                                   \
		if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) {                   \
			va_start(args_, flags);                                                    \
			mode_ = va_arg(args_, mode_t);                                             \
			va_end(args_);                                                             \
		}                                                                                  \
		mode_;                                                                             \
	})

int open64(const char *path, int flags, ...)
{
	unsigned int epoch = file_epoch();
	uint64_t numbers = metadata_numbers();
	mode_t mode = OPEN_MODE(flags);
	int used = open_before(flags);
	int fd = open_after(direct_open(path, used, mode), used, epoch);

	metadata_opened(fd, used, numbers);
	return relax_after_open(fd, flags, used);
}

int open(const char *path, int flags, ...) __attribute__((alias("open64")));
OTHER_NAME(__open, open64);
OTHER_NAME(__open64, open64);

int openat64(int dir, const char *path, int flags, ...)
{
	unsigned int epoch = file_epoch();
	uint64_t numbers = metadata_numbers();
	mode_t mode = OPEN_MODE(flags);
	int used = open_before(flags);
	int fd = open_after(NEXT(openat64)(dir, path, used, mode), used, epoch);

	metadata_opened(fd, used, numbers);
	return relax_after_open(fd, flags, used);
}

int openat(int dir, const char *path, int flags, ...) __attribute__((alias("openat64")));

/* What it opens is not served. */
int open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	relax_end();
	lease_make_way(flags);
	return NEXT(open_by_handle_at)(mount, handle, flags);
}

/* Called by _FORTIFY_SOURCE for an open without a mode. */
int __open64_2(const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

int __open64_2(const char *path, int flags)
{
	unsigned int epoch = file_epoch();
	uint64_t numbers = metadata_numbers();
	int used = open_before(flags);
	int fd = open_after(NEXT(__open64_2)(path, used), used, epoch);

	metadata_opened(fd, used, numbers);
	return relax_after_open(fd, flags, used);
}

int __open_2(const char *path, int flags) __attribute__((alias("__open64_2")));

int __openat64_2(int dir, const char *path, int flags)
{
	unsigned int epoch = file_epoch();
	uint64_t numbers = metadata_numbers();
	int used = open_before(flags);
	int fd = open_after(NEXT(__openat64_2)(dir, path, used), used, epoch);

	metadata_opened(fd, used, numbers);
	return relax_after_open(fd, flags, used);
}

int __openat_2(int dir, const char *path, int flags) __attribute__((alias("__openat64_2")));

int close(int fd)
{
	struct file *held = NULL;
	int late = relax_closing(fd), ret;

	metadata_forget(fd);
	if (file_of(fd) && !vfork_in_child())
		held = file_closing(fd);
	ret = direct_close(fd);
	/* Another thread may have asked by it in between. */
	metadata_forget(fd);
	file_closed(held, false);
	return relax_closed(ret, late);
}

OTHER_NAME(__close, close);

/*
 * To be called before and after a call that closes numbers: another thread may have asked by one in
 * between.
 */
static void forget_from(unsigned int first, unsigned int last)
{
	if (vfork_in_child())
		return;
	for (unsigned int fd = first; fd <= last && fd < FILES; fd++)
		metadata_forget((int)fd);
}

static void close_from(unsigned int first, unsigned int last)
{
	if (vfork_in_child())
		return;
	forget_from(first, last);
	for (unsigned int fd = first; fd <= last && fd < FILES; fd++) {
		relax_closing(fd);
		file_closed(file_closing(fd), true);
	}
}

int close_range(unsigned int first, unsigned int last, int flags)
{
	int ret;

	/* The other threads' descriptors stay open. */
	if ((flags & CLOSE_RANGE_UNSHARE) && !alone())
		return SHARE_NO_TABLE(NEXT(close_range)(first, last, flags));
	/* The program has one thread, but the one that returns leases may share its descriptors. */
	if (flags & CLOSE_RANGE_UNSHARE) {
		share_begin(GUARD_ONE_TABLE, FOR_NOW);
		lease_thread_end();
		share_end();
	}
	/* A copy of the descriptors shares their descriptions for a moment. */
	if (!(flags & ~CLOSE_RANGE_UNSHARE) && first <= last)
		close_from(first, last);
	ret = NEXT(close_range)(first, last, flags);
	forget_from(first, last);
	return ret;
}

void closefrom(int first)
{
	close_from(first < 0 ? 0 : first, FILES);
	NEXT(closefrom)(first);
	forget_from(first < 0 ? 0 : first, FILES);
}

static struct file *dup_begin(int fd)
{
	return vfork_in_child() ? NULL : file_duplicating(fd);
}

static int dup_done(int fd, int copy, struct file *file)
{
	metadata_forget(copy);
	if (!vfork_in_child()) {
		file_duplicated(fd, copy, file);
		if (copy >= 0)
			relax_duplicated(fd, copy);
	}
	return copy;
}

int dup(int fd)
{
	struct file *file = dup_begin(fd);

	return dup_done(fd, NEXT(dup)(fd), file);
}

/* Without `flags` it is dup2. */
static int dup_to(int fd, int copy, const int *flags)
{
	bool mine = fd != copy && !vfork_in_child();
	struct file *replaced, *source, *held;
	int ret;

	metadata_forget(copy);
	if (mine)
		relax_closing(copy);
	/*
	 * Until the copy has a name here, others read by it at the position that the kernel knows.
	 */
	source = mine ? file_borrow(fd, GUARD_KERNEL_POSITION) : NULL;
	held = mine ? file_duplicating(fd) : NULL;
	replaced = mine ? file_replacing(copy) : NULL;
	ret = flags ? NEXT(dup3)(fd, copy, *flags) : NEXT(dup2)(fd, copy);
	/* Calls by the number that have entered what it named before read the copy now. */
	if (source && replaced && source != replaced &&
	    __atomic_load_n(&replaced->inside, __ATOMIC_SEQ_CST) > 1)
		__atomic_store_n(&source->stays_plain, true, __ATOMIC_SEQ_CST);
	file_replaced(copy, replaced, ret >= 0);
	if (mine)
		dup_done(fd, ret, held);
	if (source)
		file_leave(source);
	return ret;
}

int dup2(int fd, int copy)
{
	return dup_to(fd, copy, NULL);
}

OTHER_NAME(__dup2, dup2);

int dup3(int fd, int copy, int flags)
{
	return dup_to(fd, copy, &flags);
}

/*
 * Returns whether O_ASYNC, as which a lease shows, is the program's own.  A file that stays plain
 * has no lease of the library's, once nobody is at work on it.  To be asked before the kernel is.
 */
static bool async_is_own(int fd)
{
	struct file *file = file_of(fd);
	uint64_t word;

	if (!file || file->async)
		return true;
	if (!__atomic_load_n(&file->stays_plain, __ATOMIC_SEQ_CST))
		return false;
	word = __atomic_load_n(&file->word, __ATOMIC_SEQ_CST);
	return (word & WORD_PLAIN) && !(word & WORD_LOCKED);
}

static int flags_without_lease(int fd)
{
	bool own = async_is_own(fd);
	int flags = NEXT(fcntl64)(fd, F_GETFL);

	return flags >= 0 && !own ? flags & ~O_ASYNC : flags;
}

static void flags_changing(int fd, int flags)
{
	struct file *file = file_of(fd);

	if (!file)
		return;
	if (flags & (O_DIRECT | O_ASYNC))
		file_unspecialise(file, GUARD_FS_CONSTANT, UNTIL_CLOSED);
	file->async = flags & O_ASYNC;
}

/* The kernel counts from its own position where the lock says SEEK_CUR. */
static int flock_from_position(int fd, int command, struct flock *lock)
{
	bool here = lock && lock->l_whence == SEEK_CUR;
	struct file *file = here ? file_borrow(fd, GUARD_KERNEL_POSITION) : NULL;
	int ret = NEXT(fcntl64)(fd, command, lock);

	if (file)
		file_leave(file);
	return ret;
}

int fcntl64(int fd, int command, ...)
{
	struct file *file;
	va_list args;
	long argument;

	va_start(args, command);
	argument = va_arg(args, long);
	va_end(args);
	relax_fcntl(fd, command, argument);
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		file = dup_begin(fd);
		return dup_done(fd, NEXT(fcntl64)(fd, command, argument), file);
	case F_SETFL:
		flags_changing(fd, argument);
		break;
	case F_GETFL:
		return flags_without_lease(fd);
	case F_SETLK:
	case F_SETLKW:
	case F_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
	case F_OFD_GETLK:
		return flock_from_position(fd, command, (struct flock *)argument);
	case F_SETLEASE:
		/* The daemon has the file open, too, and that refuses a lease for writing. */
		lease_return_all(GUARD_OWN_CALLS);
		/* fallthrough */
	case F_GETLEASE:
	case F_SETSIG:
	case F_GETSIG:
	case F_SETOWN:
	case F_GETOWN:
	case F_SETOWN_EX:
	case F_GETOWN_EX:
	case F_NOTIFY:
		share_descriptor(fd, GUARD_OWN_CALLS, UNTIL_CLOSED);
		break;
	}
	return NEXT(fcntl64)(fd, command, argument);
}

int fcntl(int fd, int command, ...) __attribute__((alias("fcntl64")));
OTHER_NAME(__fcntl, fcntl64);
