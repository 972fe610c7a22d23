/* SPDX-License-Identifier: MIT */
/*
 * fast.h - calls that a compound makes faster, by name (FSL-02-01 sections 2.5 and 3).
 *
 * Inside a region cosycc turns each of these into the operation of core/ops.def that it
 * means; anywhere else, and in a region's native twin, they are ordinary functions that
 * make the system calls they stand for.  The results are the same: as libc's, -1 with
 * errno set for a failure, unless a function says otherwise.
 *
 * A marked region needs none of them to be fast: cosycc chooses views and readc by
 * itself where it can prove them right, and plain calls have specialised versions.
 *
 * In C, <cosy/builder.h> has functions of the same names for compounds built by hand, so
 * one source file includes either; in C++ they overload.
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
 * read(2) and pread(2) of `count` bytes; the results and errors are theirs.
 *
 * In a compound, when `buffer` is in the shared buffer (cosy_malloc, or a local of the
 * region's function) and the file's pages are cached, the bytes stay in the page cache:
 * later calls, mem* and str* functions, cosy_count and cosy_crc32c take them from there,
 * and so do all loads and stores of the region that may be of them.  Where these are in
 * a loop of their own, which a copy serves better, it is a plain read: -Rcosy tells.
 *
 * Until the region ends the caller promises that nobody else, such as another thread or
 * a signal handler, looks at `buffer`.  A plain read needs no promise: cosycc makes it
 * a view where it can prove as much.
 */
ssize_t cosy_read(int fd, void *buffer, size_t count);
ssize_t cosy_pread(int fd, void *buffer, size_t count, off_t offset);

/* write(2) and pwrite(2); bytes of a view are copied once, from page cache to page cache. */
ssize_t cosy_write(int fd, const void *buffer, size_t count);
ssize_t cosy_pwrite(int fd, const void *buffer, size_t count, off_t offset);

/*
 * send(2) with `flags`, or write(2) where `fd` is no socket, in which case `flags` mean
 * nothing.  In a compound, bytes of a view go to the socket as the pages they are in,
 * with the semantics of sendfile(2): who writes to the file before the peer has taken
 * the bytes may change what it gets.
 */
ssize_t cosy_lend(int fd, const void *buffer, size_t count, int flags);

/*
 * Nobody will look at the `count` bytes at `buffer` before they are written again: what
 * they are from here on is undefined.  In a compound, a view that lies in them ends
 * without being put into memory, which the next call that may wait (open, close, ...)
 * would have to do.  Cannot fail.
 */
void cosy_discard(void *buffer, size_t count);

/* --- Calls in one -------------------------------------------------------------------- */

/*
 * read(2) of one byte (SOSP 1995, section 5.1): the byte, 0 to 255, or -1: errno is
 * ENODATA at the end of the file, else read's.
 */
int cosy_readc(int fd);

/*
 * lseek(fd, offset, whence) and, unless that failed, read or write of `count` bytes
 * there; the result is that of the call that failed, or of the second one.
 */
ssize_t cosy_seek_read(int fd, void *buffer, size_t count, off_t offset, int whence);
ssize_t cosy_seek_write(int fd, const void *buffer, size_t count, off_t offset, int whence);

/*
 * openat(dirfd, path, flags), read to the end of the file or until `size` bytes are in
 * `buffer`, close.  The bytes read, or -1 with errno of the call that failed (the file is
 * closed, and `buffer` may have been written).  `flags` has no O_CREAT.
 */
ssize_t cosy_read_file(int dirfd, const char *path, void *buffer, size_t size, int flags);

/*
 * Reads the directory `fd` from its position on, and newfstatat(fd, name, .., flags) of
 * each entry: as many struct cosy_dirent of <linux/cosy.h> as fit into `size` bytes of the
 * 8-byte aligned `buffer` (of which a compound fills at most 64 KB at once; outside of
 * one the last that fits may be left for the next call), "." and ".." included.  The
 * bytes written; 0 at the end of the directory; -1 with errno EINVAL when not one entry
 * fits, else getdents64's.  An entry that cannot be examined has its own `error`.  The
 * directory's position is behind the last entry written, as getdents64 leaves it there.
 */
ssize_t cosy_scan_dir(int fd, void *buffer, size_t size, int flags);

/* stat(2), fstat(2), lstat(2): under the papers' names; the plain calls are as fast. */
int cosy_stat(const char *path, struct stat *ret);
int cosy_fstat(int fd, struct stat *ret);
int cosy_lstat(const char *path, struct stat *ret);

/* --- Passes over memory ---------------------------------------------------------------- */

/* How many of the `count` bytes at `buffer` are (unsigned char)byte.  Cannot fail. */
size_t cosy_count(const void *buffer, size_t count, int byte);

/*
 * The CRC-32C (Castagnoli; RFC 3720) of what `crc` is the CRC of, followed by `count`
 * bytes at `buffer`.  0 is the CRC of nothing.  Cannot fail.
 */
uint32_t cosy_crc32c(uint32_t crc, const void *buffer, size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_FAST_H */
