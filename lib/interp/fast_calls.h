/* SPDX-License-Identifier: MIT */
/*
 * fast_calls.h - the operations of core/ops.def that stand for several system calls, or
 * for a pass over memory, in user mode.  The interpreter and <cosy/fast.h> share them.
 *
 * Results are those of the operations: 0 and up, or a negative errno; errno is untouched.
 */
#ifndef COSY_LIB_FAST_CALLS_H
#define COSY_LIB_FAST_CALLS_H

#include "../../core/core.h"

struct libcosy_interp;

s64 libcosy_do_readc(int fd);
s64 libcosy_do_seek(int fd, s64 offset, int whence);
s64 libcosy_do_seek_read(int fd, void *buffer, u64 count, s64 offset, int whence);
s64 libcosy_do_seek_write(int fd, const void *buffer, u64 count, s64 offset, int whence);
/*
 * Open a file as read_file or write_file does; make one read or write of it, in which a thread that
 * is cancelled closes it; do what remains, with the close: see COSY_UNDER_WAY in <linux/cosy.h>.
 */
s64 libcosy_do_file_open(int dirfd, const char *path, int flags, bool writes);
s64 libcosy_do_file_some(int fd, void *buffer, u64 size, bool writes);
s64 libcosy_do_file_rest(int fd, s64 done, char *buffer, u64 left, bool writes);
/* Maximum bytes of entries that the kernel lists at once. */
#define COSY_MAX_LISTED (64u << 10)
/*
 * List some entries of a directory, without their attributes, and return their bytes; `is_first`:
 * there are none before, so one entry that may just fit is tried.  Examine one of `left` bytes of
 * entries, and return its size; examine them all, and return `before` + `left`.
 */
s64 libcosy_do_scan_list(int fd, void *to, u64 room, bool is_first);
s64 libcosy_do_scan_examine(int fd, void *entry, u64 left, int flags);
s64 libcosy_do_scan_rest(int fd, void *entries, u64 left, int flags, u64 before);
s64 libcosy_do_read_file(int dirfd, const char *path, void *buffer, u64 size, int flags);
s64 libcosy_do_write_file(int dirfd, const char *path, const void *buffer, u64 size, int flags);
s64 libcosy_do_scan_dir(int fd, void *buffer, u64 size, int flags);
/*
 * Makes steps of the walk; with `in`, until libcosy_interp_leaves: the walk is then noted in *tree,
 * and the result means nothing.
 */
s64 libcosy_do_scan_tree(struct libcosy_interp *in, void *tree, void *buffer, u64 size);
/*
 * Buffers are addresses, of which nothing is known yet.  Do an epoll_read; its epoll_wait alone;
 * the read of arrival `i`, if it is wanted; those from `next` on.
 */
s64 libcosy_do_epoll_read(int epfd, u64 buffer, u64 size, u32 max, int timeout);
s64 libcosy_do_epoll_wait(int epfd, u64 buffer, u64 size, u32 max, int timeout);
void libcosy_do_epoll_arrival(u64 buffer, u64 size, u32 max, u32 i);
s64 libcosy_do_epoll_read_rest(u64 count, u64 buffer, u64 size, u32 max, u32 next);
s64 libcosy_do_lend(int fd, const void *buffer, u64 count, int flags);
/* Those of <cosy/move.h>. */
s64 libcosy_do_loan(int fd, const void *memory, u64 count, int flags);
s64 libcosy_do_pass(int port, u64 at, void *memory, u64 count, int how);
s64 libcosy_do_transfer(int fd, void *memory, u64 count, int flags);
s64 libcosy_do_flush(void *memory, u64 count);
u64 libcosy_do_count(const void *buffer, u64 count, u8 byte);
u32 libcosy_do_crc32c(u32 crc, const void *buffer, u64 count);

#endif /* COSY_LIB_FAST_CALLS_H */
