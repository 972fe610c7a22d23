/* SPDX-License-Identifier: MIT */
/*
 * move.h - pages that move between processes instead of being copied (UVM: Cranor and Parulkar,
 * USENIX '99).
 *
 * What was lent stays as it was at the call, whatever the sender writes to its memory afterwards;
 * vmsplice(2) and MSG_ZEROCOPY promise nothing of the kind.  Every function works without the
 * module, too, by the plain call and with the same results: docs/use/moving.md says when moving
 * pays and when it loses.
 *
 * Memory is that of cosy_move_alloc.  Any other memory may be given to cosy_loan and
 * cosy_transfer, which are the plain calls then.  Functions return -1 with errno set when they
 * fail, unless they say otherwise, and are thread-safe; a fork child has a copy on write of the
 * memory and may use all of them.
 */
#ifndef COSY_MOVE_H
#define COSY_MOVE_H

#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Flags; cosy_loan and cosy_transfer take those of send(2) and recv(2) beside them. */
#define COSY_GIVE	(1 << 22) /* loan: the pages go, and whole ones that went are zeros */
#define COSY_POPULATE	(1 << 23) /* transfer: the pages will be read soon */
#define COSY_WILL_WRITE (1 << 24) /* transfer, ready: and written */

/*
 * `size` bytes of zeros at a multiple of a page, which cosy_move_free gives back; NULL with errno
 * set without memory.  Its pages stay in memory: they count, all of `size`, in what the user has
 * locked (RLIMIT_MEMLOCK), and above that limit, or without the module, this is ordinary memory,
 * whose pages are copied.  Direct I/O, futexes shared between processes, PROT_EXEC and growing it
 * by mremap(2) may fail there.  `flags` is 0.
 */
void *cosy_move_alloc(size_t size, unsigned int flags);

/* Gives back what cosy_move_alloc(size, ...) returned, or NULL. */
void cosy_move_free(void *memory, size_t size);

/*
 * Sends `count` bytes (UVM section 4.1, page loanout).  Is write(2), or send(2) when `flags` has any
 * of its own, with their results, partial ones too, errors and signals.
 *
 * To a pipe, the pages of 8 KB and more at a multiple of a page are lent instead of copied: the
 * first write to one afterwards, while somebody has it, copies it.  With COSY_GIVE the memory
 * is zeros afterwards, whole pages of what went, and nothing needs to be copied.
 */
ssize_t cosy_loan(int fd, const void *memory, size_t count, int flags);

/*
 * Receives up to `count` bytes (UVM section 4.2, page transfer).  Is read(2), or recv(2) when `flags`
 * has any of its own, with their results, errors and signals.
 *
 * From a pipe, 8 KB and more at a multiple of a page: whole pages, lent or written by write(2),
 * take the place of those at `memory`.  Such a read is short where the next bytes are no whole page.
 */
ssize_t cosy_transfer(int fd, void *memory, size_t count, int flags);

/*
 * Makes the pages zeros and gives back what they held (UVM section 5, anflush), so that its sender may
 * write there again without a copy.  Both `memory` and `count` are multiples of a page: EINVAL.  0.
 */
int cosy_flush(void *memory, size_t count);

/*
 * Makes the pages present, and with COSY_WILL_WRITE ones that can be written without a fault, all at
 * once.  Both `memory` and `count` are multiples of a page: EINVAL.  0; ENOMEM.
 */
int cosy_ready(void *memory, size_t count, int flags);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_MOVE_H */
