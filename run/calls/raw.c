// SPDX-License-Identifier: MIT
/*
 * raw.c - wraps syscall(2).  A call that closes, copies or reads a descriptor, uses its position or
 * shares it has the kernel's state right before it is made: the file's window ends first.  What it
 * opens is not served.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "calls/share.h"
#include "file/file.h"
#include "file/lease.h"
#include "file/lease_thread.h"
#include "metadata/metadata.h"
#include "next.h"
#include "relax/relax.h"
#include "vfork.h"

static void raw_uses(unsigned long fd)
{
	share_descriptor((int)fd, GUARD_KERNEL_POSITION, UNTIL_CLOSED);
}

static void raw_closes(unsigned int first, unsigned int last)
{
	for (unsigned int fd = first; fd <= last && fd < FILES; fd++)
		file_closed(file_closing((int)fd), true);
}

/* A filter may come that does not list the library's own calls. */
static void raw_confines(void)
{
	share_forbid(GUARD_UNCONFINED);
	lease_thread_end();
}

/* Others get the open files, at their positions. */
static void raw_shares(enum guard why)
{
	share_begin(why, UNTIL_CLOSED);
	share_end();
}

static bool raw_may_confine(long number, unsigned long a)
{
	return number == SYS_seccomp ||
	       (number == SYS_prctl && ((int)a == PR_SET_SECCOMP || (int)a == PR_SET_NO_NEW_PRIVS));
}

/* A number of the directories that attributes were asked for by may name another one afterwards. */
static void raw_forgets(unsigned int first, unsigned int last)
{
	for (unsigned int fd = first; fd <= last && fd < FILES; fd++)
		metadata_forget((int)fd);
}

/*
 * What concerns attributes.  Their tables are in each process's own memory, so this is for children
 * that the library has not seen begin as well.
 */
static void raw_metadata(long number, unsigned long a, unsigned long b, unsigned long c)
{
	switch (number) {
	case SYS_dup2:
	case SYS_dup3:
		if ((int)a != (int)b)
			raw_forgets((unsigned int)b, (unsigned int)b);
		break;
	case SYS_close:
		raw_forgets((unsigned int)a, (unsigned int)a);
		break;
	case SYS_close_range:
		if (((int)c & CLOSE_RANGE_UNSHARE) && !alone())
			metadata_off();
		else
			raw_forgets((unsigned int)a, (unsigned int)b);
		break;
	case SYS_clone:
		/* A thread that libc does not know, or a child with this memory. */
		if (a & CLONE_VM)
			metadata_off();
		break;
	case SYS_vfork:
	case SYS_clone3:
		/* The flags of clone3 are in the program's memory. */
		metadata_off();
		break;
	}
	if (raw_may_confine(number, a))
		metadata_off();
}

static void raw_prepare(long number, unsigned long a, unsigned long b, unsigned long c)
{
	switch (number) {
	case SYS_read:
	case SYS_lseek:
	case SYS_readv:
	case SYS_preadv2:
	case SYS_splice:
	case SYS_copy_file_range:
	case SYS_dup:
		raw_uses(a);
		break;
	case SYS_sendfile:
		raw_uses(b);
		break;
	case SYS_ioctl:
		if (b == FIONREAD || b == FIOASYNC)
			raw_uses(a);
		break;
	case SYS_fcntl:
		if (b != F_GETFD && b != F_SETFD)
			raw_uses(a);
		break;
	case SYS_dup2:
	case SYS_dup3:
		if ((int)a == (int)b)
			break;
		raw_uses(a);
		raw_closes((unsigned int)b, (unsigned int)b);
		break;
	case SYS_fork:
	case SYS_vfork:
	case SYS_clone:
	case SYS_clone3:
		/* The child begins unseen. */
		share_forbid(GUARD_NO_FP_SHARE);
		break;
	case SYS_unshare:
		if (a & CLONE_FILES)
			share_forbid(GUARD_ONE_TABLE);
		break;
	case SYS_execve:
	case SYS_execveat:
		raw_shares(GUARD_KERNEL_POSITION);
		break;
	case SYS_sendmsg:
	case SYS_sendmmsg:
		raw_shares(GUARD_NO_FP_SHARE);
		break;
	case SYS_open:
		lease_make_way((int)b);
		break;
	case SYS_openat:
	case SYS_open_by_handle_at:
		lease_make_way((int)c);
		break;
	case SYS_openat2:
		/*
		 * Its flags are in the program's memory, which only the kernel can read without
		 * fear.
		 */
		lease_return_all(GUARD_READ_ONLY);
		break;
	case SYS_exit:
		/* The process lasts as long as its last thread, which is to be the program's. */
		share_forbid(GUARD_LEASE_THREAD);
		lease_thread_end();
		break;
	case SYS_close:
		raw_closes((unsigned int)a, (unsigned int)a);
		break;
	case SYS_seccomp:
	case SYS_prctl:
		if (raw_may_confine(number, a))
			raw_confines();
		break;
	case SYS_close_range:
		if (((int)c & CLOSE_RANGE_UNSHARE) && !alone())
			share_forbid(GUARD_ONE_TABLE);
		else if (!((int)c & ~CLOSE_RANGE_UNSHARE) && (unsigned int)a <= (unsigned int)b)
			raw_closes((unsigned int)a, (unsigned int)b);
		break;
	}
}

/* Tells of each number whether raw_prepare has something to do. */
__attribute__((used, visibility("hidden"))) const bool raw_wrapped[512] = {
	[SYS_read] = true,     [SYS_lseek] = true,
	[SYS_readv] = true,    [SYS_preadv2] = true,
	[SYS_splice] = true,   [SYS_copy_file_range] = true,
	[SYS_dup] = true,      [SYS_sendfile] = true,
	[SYS_ioctl] = true,    [SYS_fcntl] = true,
	[SYS_dup2] = true,     [SYS_dup3] = true,
	[SYS_close] = true,    [SYS_close_range] = true,
	[SYS_fork] = true,     [SYS_vfork] = true,
	[SYS_clone] = true,    [SYS_clone3] = true,
	[SYS_unshare] = true,  [SYS_execve] = true,
	[SYS_execveat] = true, [SYS_sendmsg] = true,
	[SYS_sendmmsg] = true, [SYS_open] = true,
	[SYS_openat] = true,   [SYS_openat2] = true,
	[SYS_exit] = true,     [SYS_open_by_handle_at] = true,
	[SYS_prctl] = true,    [SYS_seccomp] = true,
};

__attribute__((used, visibility("hidden"))) void *raw_next;

/*
 * Returns the function to jump to.  Children that the library has not seen begin share files with
 * this process: what they do to their descriptors is not noted.
 */
__attribute__((used, visibility("hidden"))) void *raw_before(unsigned long number, unsigned long a,
							     unsigned long b, unsigned long c)
{
	int error = errno;

	if (!raw_next)
		__atomic_store_n(&raw_next, next_find("syscall"), __ATOMIC_RELAXED);
	relax_settle();
	if (number < sizeof(raw_wrapped) && raw_wrapped[number] && !vfork_in_child()) {
		raw_metadata((long)number, a, b, c);
		if (!vfork_process || cosy_syscall3(SYS_getpid, 0, 0, 0) == vfork_process)
			raw_prepare((long)number, a, b, c);
	}
	errno = error;
	return raw_next;
}
