/* SPDX-License-Identifier: MIT */
/*
 * fast.h - calls, by name, that are faster in a compound (FSL-02-01 sections 2.5 and 3).
 *
 * Inside a region cosycc turns each of these into its operation of
 * core/ops.def; anywhere else, and in a region's native twin, they are ordinary functions that
 * make the system calls they stand for.  Their results are the same, in libc's way: -1 with
 * errno set for a failure, unless a function says otherwise.
 *
 * A marked region needs none of them to be fast: cosycc chooses views and readc by
 * itself where it can prove them right, and plain calls have specialised versions.
 *
 * <cosy/builder.h> has functions of the same names for compounds built by hand, so a C
 * file includes only one of the two; in C++ they overload.
 */
#ifndef COSY_FAST_H
#define COSY_FAST_H

#if defined(COSY_BUILDER_H) && !defined(__cplusplus)
#error "<cosy/builder.h> has functions of the same names: include either in one C file"
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Views: reading without the copy ---------------------------------------------- */

/*
 * Read as read(2) and pread(2) do, with their results and errors.
 *
 * In a compound, when `buffer` is in the shared buffer (cosy_malloc, or a local of the
 * region's function) and the file's pages are cached, the bytes stay in the page cache:
 * later calls, mem* and str* functions, cosy_count and cosy_crc32c take them from there,
 * and so do all loads and stores of the region that may touch them.  If these are in a
 * loop of their own, which a copy serves better, it is a plain read: -Rcosy reports it.
 *
 * The caller promises that until the region ends nobody else, such as another thread or
 * a signal handler, reads `buffer`.  A plain read needs no promise: cosycc makes it
 * a view if it can prove as much.
 */
ssize_t cosy_read(int fd, void *buffer, size_t count);
ssize_t cosy_pread(int fd, void *buffer, size_t count, off_t offset);

/*
 * Write as write(2) and pwrite(2) do; bytes of a view are copied once, from page cache to page
 * cache.
 */
ssize_t cosy_write(int fd, const void *buffer, size_t count);
ssize_t cosy_pwrite(int fd, const void *buffer, size_t count, off_t offset);

/*
 * Sends as send(2) does with `flags`; if `fd` is no socket, writes as write(2) does and ignores
 * `flags`.  In a compound, bytes of a view go to the socket as the pages they are in,
 * with the semantics of sendfile(2): a write to the file before the peer has taken
 * the bytes may change what it gets.
 */
ssize_t cosy_lend(int fd, const void *buffer, size_t count, int flags);

/*
 * Promises that nobody will read the `count` bytes at `buffer` before they are written
 * again: from here on they are undefined.  In a compound this ends a view that lies in them
 * without writing it back, as the next call that may wait (open, close, ...) would have to.
 * Cannot fail.
 */
void cosy_discard(void *buffer, size_t count);

/* --- Calls in one -------------------------------------------------------------------- */

/*
 * Reads one byte (SOSP 1995, section 5.1).  Returns it, 0 to 255, or -1 with errno: ENODATA
 * at the end of the file, else read's.
 */
int cosy_readc(int fd);

/*
 * Make lseek(fd, offset, whence) and, unless that failed, read or write `count` bytes
 * there.  Return the result of the call that failed, or of the second one.
 */
ssize_t cosy_seek_read(int fd, void *buffer, size_t count, off_t offset, int whence);
ssize_t cosy_seek_write(int fd, const void *buffer, size_t count, off_t offset, int whence);

/*
 * Makes openat(dirfd, path, flags), reads to the end of the file or until `size` bytes are
 * in `buffer`, and closes it.  Returns the bytes read, or -1 with errno of the call that failed
 * (the file is closed, and `buffer` may have been written).  `flags` has no O_CREAT.
 *
 * A signal handler may run between any two of these calls; no call is made twice for that.  A
 * handler that jumps out leaves the file open, as it would between separate calls.
 */
ssize_t cosy_read_file(int dirfd, const char *path, void *buffer, size_t size, int flags);

/*
 * Makes openat(dirfd, path, flags, 0666), writes `size` bytes of `buffer` with as many writes as it
 * takes, and closes the file.  Returns the bytes written, which are fewer than `size` only where a
 * write took none, or -1 with errno of the call that failed (the file is closed, and may hold a
 * part).  Signal handlers act as they do in cosy_read_file.
 */
ssize_t cosy_write_file(int dirfd, const char *path, const void *buffer, size_t size, int flags);

/*
 * Reads the directory `fd` from its position on and makes newfstatat(fd, name, .., flags) for
 * each entry, "." and ".." included.  Writes as many struct cosy_dirent of <linux/cosy.h> as
 * fit into `size` bytes of the 8-byte aligned `buffer`.  A compound fills at most 64 KB of it
 * at once; outside of one, the last entry that would fit may be left for the next call.
 *
 * Returns the bytes written; 0 at the end of the directory; -1 with errno EINVAL when not one
 * entry fits, else getdents64's.  An entry that cannot be examined has its own `error`.  The
 * directory's position is then after the last entry written, as getdents64 would leave it.
 *
 * A signal handler may run between any two of these calls, and finds entries that are listed but
 * not examined yet.  One that jumps out leaves the position after those.
 */
ssize_t cosy_scan_dir(int fd, void *buffer, size_t size, int flags);

/*
 * Goes through all directories below an open one, as nftw(3) does without following links: writes
 * as many entries as fit into `size` bytes (at least COSY_TREE_MIN_BUFFER) of the 8-byte aligned
 * `buffer`, and continues in the next call.  struct cosy_tree of <linux/cosy.h> documents the
 * request, the entries, and how much memory `tree` needs.  The caller sets its first four
 * members and zeroes the others.  In a compound it is best in the shared buffer.
 *
 * Returns the bytes written, 0 at the end, or -1 with errno; ENOBUFS: make `tree` larger and call
 * again with the same buffer.  A directory that cannot be visited has an entry with the error.
 * Descriptors, at most COSY_TREE_OPEN, are open until the end, or until a call with `size` 0 ends
 * the walk.  Such a call is the only one that may follow when a signal handler has jumped out of
 * cosy_scan_tree.  A handler that returns changes nothing: the walk continues.
 */
struct cosy_tree;
ssize_t cosy_scan_tree(struct cosy_tree *tree, void *buffer, size_t size);

/*
 * Waits as epoll_wait(2) does, then makes one read(2) of each descriptor that is ready to be read
 * and was registered for that:
 *
 *	struct epoll_event event = {EPOLLIN, {.u64 = (uint32_t)fd | COSY_ARRIVAL_READ}};
 *
 * The lower half of `data` must be the descriptor.  `buffer` is 8-byte aligned: `max` struct
 * cosy_arrival, documented in <linux/cosy.h>, and above them the bytes of each,
 * at COSY_ARRIVAL_BYTES(buffer, size, max, i).  `timeout` is in milliseconds, or -1.
 *
 * Returns how many are ready, 0 at the timeout, or -1 with errno: epoll_wait's, or EINVAL: `max` is
 * not 1 to COSY_MAX_ARRIVALS, or `size` leaves less than 8 bytes for each.  A read that fails does
 * not fail the others; its arrival has the error.
 *
 * A signal handler may run between any two of these calls; no call is made twice for that.  One
 * that jumps out leaves the bytes read in the buffer, and later arrivals with COSY_NOT_READ.
 */
int cosy_epoll_read(int epfd, void *buffer, size_t size, int max, int timeout);

/* Do stat(2), fstat(2) and lstat(2), under the papers' names; the plain calls are as fast. */
int cosy_stat(const char *path, struct stat *ret);
int cosy_fstat(int fd, struct stat *ret);
int cosy_lstat(const char *path, struct stat *ret);

/* --- Passes over memory ---------------------------------------------------------------- */

/* Returns how many of the `count` bytes at `buffer` are (unsigned char)byte.  Cannot fail. */
size_t cosy_count(const void *buffer, size_t count, int byte);

/*
 * Continues a CRC-32C (Castagnoli; RFC 3720): `crc` is that of the bytes so far, 0 for none.
 * Returns that of the same bytes and the `count` ones at `buffer`.  Cannot fail.
 */
uint32_t cosy_crc32c(uint32_t crc, const void *buffer, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_FAST_H */
