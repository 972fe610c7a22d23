/* SPDX-License-Identifier: MIT */
/*
 * move.h - moves pages between processes instead of copying them (UVM: Cranor and Parulkar,
 * USENIX '99).
 *
 * Lent bytes stay as they were at the call, whatever the sender writes to its memory
 * afterwards; vmsplice(2) and MSG_ZEROCOPY do not promise this.  Without the module every
 * function makes the plain call, with the same results: docs/use/moving.md explains when
 * moving pays and when it loses.
 *
 * Pages move from and to memory of cosy_move_alloc.  For any other memory cosy_loan and
 * cosy_transfer are the plain calls.  Functions return -1 with errno set when they fail, unless
 * they say otherwise, and are thread-safe.  A fork child has a copy on write of the memory and may
 * use all of them.
 *
 * In a marked region cosy_loan, cosy_transfer, cosy_flush, cosy_look and cosy_pass are operations
 * of the compound.  <cosy/builder.h> has functions of the same names for compounds built by hand,
 * so a C file includes only one of the two; in C++ they overload.
 */
#ifndef COSY_MOVE_H
#define COSY_MOVE_H

#if defined(COSY_BUILDER_H) && !defined(__cplusplus)
#error "<cosy/builder.h> has functions of the same names: include either in one C file"
#endif

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Flags; cosy_loan and cosy_transfer take those of send(2) and recv(2) beside them. */
#define COSY_GIVE	(1 << 22) /* loan: give the pages away; whole ones that went are zeros */
#define COSY_POPULATE	(1 << 23) /* transfer, import: the pages will be read soon */
#define COSY_WILL_WRITE (1 << 24) /* transfer, import, ready: the pages will be written soon */

/* Flags of cosy_move_alloc. */
#define COSY_MOVE_PINNABLE 1u /* direct I/O and other processes may get at the memory */

/*
 * Allocates `size` bytes of zeros at a multiple of a page, which cosy_move_free gives back; NULL
 * with errno set without memory.  The pages stay in memory, so all of `size` counts as locked by
 * the user (RLIMIT_MEMLOCK).  Above that limit, or without the module, this is ordinary memory,
 * whose pages are copied.  Direct I/O, futexes shared between processes, PROT_EXEC and growing it
 * by mremap(2) may fail there.  The module's memory may be moved by mremap(2): nothing changes but
 * that its pages may be copied from then on, too.
 *
 * With COSY_MOVE_PINNABLE in `flags`, else 0, direct I/O, vmsplice(2), process_vm_readv(2),
 * MSG_ZEROCOPY and debuggers work there as in other memory, except that buffers registered with
 * io_uring are refused from Linux 6.5 on.  Such pages cost more to move, and those that are pinned
 * to be written are copied; what a device writes to a page that is replaced meanwhile is lost.
 *
 * From 2 MB on the module's memory begins at a multiple of 2 MB, and parcels of whole 2 MB at such
 * multiples move as one page each, but no pinnable ones.
 */
void *cosy_move_alloc(size_t size, unsigned int flags);

/* Gives back what cosy_move_alloc(size, ...) returned, or NULL. */
void cosy_move_free(void *memory, size_t size);

/*
 * Sends `count` bytes (UVM section 4.1, page loanout) as write(2) does, or send(2) when `flags` has
 * any of its own: with their results, partial ones too, errors and signals.
 *
 * A pipe is lent the pages, where 8 KB and more begin at a multiple of a page: the first write to
 * such a page afterwards, while another holder has it, copies it.  With COSY_GIVE the whole lent
 * pages are zeros afterwards, and nothing needs to be copied.
 *
 * So is a socket of a stream (AF_UNIX, TCP), until the bytes are received or acknowledged.  Its
 * reader copies, so a loan pays there only where the bytes are sent again unchanged: what was lent
 * and not written since is lent, other messages from 64 KB on, and seldom when the sender always
 * rewrites them.  MSG_NOSIGNAL, MSG_DONTWAIT and MSG_MORE may be given.
 */
ssize_t cosy_loan(int fd, const void *memory, size_t count, int flags);

/*
 * Receives up to `count` bytes (UVM section 4.2, page transfer) as read(2) does, or recv(2) when
 * `flags` has any of its own: with their results, errors and signals.
 *
 * Whole pages of a pipe, lent or written by write(2), take the place of those at `memory`, where
 * that is a multiple of a page and `count` 8 KB or more.  Such a read ends short at bytes that
 * are no whole page.
 */
ssize_t cosy_transfer(int fd, void *memory, size_t count, int flags);

/*
 * Makes the pages zeros and gives back those that were there (UVM section 5, anflush), so that
 * their sender may write to them again without a copy.  Returns 0.  EINVAL: `memory` or `count` is
 * no multiple of a page.  ENOMEM, where the module does not serve: there is no room for other pages
 * in place of some that are shared, or gone, which stay so.
 */
int cosy_flush(void *memory, size_t count);

/*
 * Makes the pages present all at once; with COSY_WILL_WRITE they can be written without a fault.
 * Returns 0.  ENOMEM; EINVAL: `memory` or `count` is no multiple of a page.
 */
int cosy_ready(void *memory, size_t count, int flags);

/*
 * Does memcpy from memory that moves.  In a marked region it makes no page present: a program that
 * forwards messages and reads each header pays for the header only.  `to` is other memory.
 */
void cosy_look(void *to, const void *memory, size_t count);

/* How a parcel is made (UVM section 4.3, map-entry passing). */
enum cosy_how {
	COSY_SHARE,	  /* both sides read and write the same pages from then on */
	COSY_COPY,	  /* the bytes as they are now; both keep them */
	COSY_DONATE,	  /* the pages go; where they were, an access is a SIGSEGV */
	COSY_DONATE_ZERO, /* the pages go; where they were are zeros */
};

/*
 * Makes a parcel of whole pages.  Returns a descriptor, close-on-exec, which SCM_RIGHTS or fork
 * hands to a process that imports it; its owner closes it.  Any number of its
 * holders can import a shared parcel or a copy; one can import a donation.
 *
 * Memory that is gone by COSY_DONATE is filled again by cosy_flush and cosy_import, and by a
 * cosy_transfer whose pages move; one that has to copy may fail there with EFAULT, so flush first.
 * Shared pages are written to by cosy_transfer like by any write.  cosy_flush, cosy_import,
 * donations and COSY_GIVE put others in their place, which nobody shares.
 *
 * The pages count as locked by the user (RLIMIT_MEMLOCK) until the parcel is closed, or the
 * donation imported; above that, and without the module, the parcel is a memfd, into which they are
 * copied.  Then other threads must not write to the memory during the call; memory that is shared
 * must not be moved by mremap(2), and can be shared again only as a whole: EOPNOTSUPP.
 *
 * EINVAL: `memory` or `count` is no multiple of a page, or `count` is 0.  EFAULT: some of it is not
 * there.  EMFILE, ENOMEM.
 */
int cosy_export(void *memory, size_t count, enum cosy_how how);

/*
 * Puts the pages of a parcel in place of those at `memory`, of which `count` bytes may be used.
 * Returns how many bytes came.  EINVAL: no parcel, or no multiple of a page.  EMSGSIZE: there are
 * more.  ENODATA: the donation was imported already.  EFAULT: no memory to write to.  ENOMEM: no
 * room in place of pages that are shared, or gone; the parcel is as it was.  Flags are
 * COSY_POPULATE and COSY_WILL_WRITE.
 */
ssize_t cosy_import(int parcel, void *memory, size_t count, int flags);

/*
 * Makes a port: the holder of ends[1] may pass messages for a window of `size` bytes, and can do
 * nothing else with it.  The holder of ends[0] takes them into that window of its own.  Both are
 * close-on-exec, and go to other processes by SCM_RIGHTS or fork.  Returns 0.
 *
 * Only cosy_take changes the window, and a taken message is the receiver's alone: no sender sees
 * or changes it any more.
 *
 * The window counts as locked by the user (RLIMIT_MEMLOCK) until both ends are closed, because
 * so much may be in flight.  Above that, and without the module, the port is a pair of sockets, and
 * the bytes are copied.  EINVAL: `size` is 0, above 1 GB or no multiple of a page.  EMFILE, ENOMEM.
 */
int cosy_port(size_t size, int ends[2]);

/*
 * Passes `count` bytes for the window from the offset `at` on, a multiple of a page; all or
 * nothing.  `how` is as for a parcel, but COSY_SHARE is refused; donations are of whole
 * pages.  Returns `count`.
 *
 * Waits while there is no room: each page of the window is in flight at most once, so a message
 * waits for an earlier one to the same pages to be taken; or with O_NONBLOCK fails with EAGAIN, and
 * poll(2) reports POLLOUT when there is room for any message.  EPIPE, without a signal: ends[0]
 * is closed everywhere.  EBADF, EINVAL (no port; not within the window), EFAULT, EINTR, ENOMEM.
 */
ssize_t cosy_pass(int port, size_t at, void *memory, size_t count, enum cosy_how how);

/*
 * Takes the first message of a port into the window at `window`, where `size` bytes may be used,
 * and stores its offset.  Returns how many bytes came, 0 when all is taken and ends[1] closed
 * everywhere; the rest of the last page is zeros.  Flags are COSY_POPULATE and COSY_WILL_WRITE.
 *
 * Waits for a message, or with O_NONBLOCK fails with EAGAIN; poll(2) reports POLLIN.  EMSGSIZE:
 * the message ends beyond `size`, and is still the first.  EFAULT: the memory is not there or may
 * not be written; then the message may be lost.  EBADF, EINVAL (no port; `window` or `size` is no
 * multiple of a page), EINTR, EMFILE, ENOMEM.
 */
ssize_t cosy_take(int port, void *window, size_t size, size_t *at, int flags);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_MOVE_H */
