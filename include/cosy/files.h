/* SPDX-License-Identifier: MIT */
/*
 * files.h - whole directories, trees and lists of files by one call, for any compiler and any
 * language that calls C.  Needs neither marks nor cosycc: link with -lcosy.
 *
 *	struct cosy_walk *walk = cosy_walk_open(AT_FDCWD, "/usr/share", NULL);
 *	const struct cosy_dir_entry *entry;
 *	int more;
 *
 *	while ((more = cosy_walk_next(walk, &entry)) > 0)
 *		if (entry->event == COSY_WALK_ENTRY)
 *			puts(entry->path);
 *	cosy_walk_close(walk);
 *
 * Where the module is loaded and a process works on enough files, the calls are made in the
 * kernel, many in one crossing.  Otherwise each is made by libc's function of that name.  Results
 * and errors are the same.
 *
 * Errors.  A function that fails returns NULL or -1 and sets errno; one that succeeds may change
 * errno as well.  `error` members hold 0 or an errno such as ENOENT (positive).  An error of one
 * entry never ends the work on the others.  Unknown flags and unused members that are not 0:
 * EINVAL.
 *
 * Ownership.  A handle belongs to the caller until its close function, which takes NULL, leaves
 * errno alone and closes all descriptors of the handle.  What a `next` function returns belongs to
 * the handle, and is valid until the next call with that handle.  Strings and arrays that the
 * caller passes are read during the call only, unless the function says otherwise.
 *
 * Threads.  A handle is used by one thread at a time, by any of them.  Different handles are
 * independent.  Calls may be interrupted by signal handlers, which must not jump out of them, and
 * are restarted: no function fails with EINTR unless a file system does.  A thread must not be
 * cancelled in them.
 *
 * A fork child may use and close its copy of a handle.  As with descriptors, parent and child then
 * share positions, so only one of them should go on with it.
 */
#ifndef COSY_FILES_H
#define COSY_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <linux/stat.h> /* struct statx, which libc's header has under _GNU_SOURCE only */

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* --- Entries --------------------------------------------------------------------------- */

/* One entry of a directory.  Later releases may add members at the end. */
struct cosy_dir_entry {
	const char *name;	 /* its name in the directory that it is in */
	const char *path;	 /* of a walk: the path opened, '/' and the way from there;
				    it may be longer than PATH_MAX.  Of a scan: as `name` */
	size_t name_length;	 /* bytes, without the NUL */
	size_t path_length;	 /* bytes, without the NUL */
	const struct stat *stat; /* attributes; NULL: not asked for, or not to be had: see error */
	uint64_t inode;		 /* as the directory has it: of a mount point, the one below */
	int error;	/* 0, or why there are no attributes, or why the directory failed */
	uint32_t depth; /* 0: what was opened; 1: entries in it; ... */
	uint8_t type;	/* DT_* of <dirent.h>; DT_UNKNOWN: needs attributes */
	uint8_t event;	/* enum cosy_walk_event; of a scan COSY_WALK_ENTRY */
};

/* --- One directory --------------------------------------------------------------------- */

struct cosy_scan;

#define COSY_SCAN_STAT	 (1u << 0) /* entries have attributes, as lstat(2) returns them */
#define COSY_SCAN_FOLLOW (1u << 1) /* ... as stat(2) does; of a dangling link, the link's own */
#define COSY_SCAN_DOTS	 (1u << 2) /* list "." and "..", as well */

/*
 * Opens the directory `path`, relative to the open directory `dirfd` (or AT_FDCWD), as openat(2)
 * does.  "." opens `dirfd` itself anew, from its start.  Uses one descriptor, close-on-exec.
 * Returns NULL with openat's errno, ENOMEM, EINVAL.
 */
struct cosy_scan *cosy_scan_open(int dirfd, const char *path, uint32_t flags);

/*
 * Returns 1 with the next entry in *entry, 0 at the end, or -1 with getdents64's errno, after
 * which it may be called again.  An entry that vanished since it was listed has `error` ENOENT.
 */
int cosy_scan_next(struct cosy_scan *scan, const struct cosy_dir_entry **entry);

/* Returns the open directory's descriptor, which stays the handle's.  Do not read from it. */
int cosy_scan_fd(const struct cosy_scan *scan);

void cosy_scan_close(struct cosy_scan *scan);

/* --- A tree ---------------------------------------------------------------------------- */

struct cosy_walk;

enum cosy_walk_event {
	/* An entry of the directory entered last. */
	COSY_WALK_ENTRY = 0,
	/*
	 * A directory is about to be opened and listed.  Its entries follow, all of them before
	 * the next directory is entered.  `stat` is NULL, except of the first directory: the
	 * attributes came with its own entry
	 */
	COSY_WALK_ENTER = 1,
	/* With COSY_WALK_POST: a directory that was entered, and all below it, is done. */
	COSY_WALK_LEAVE = 2,
	/*
	 * The directory entered last could not be opened, or not be listed to its end: `error`.
	 * ELOOP: with COSY_WALK_FOLLOW, it is a directory that it is itself in.  EXDEV: with
	 * COSY_WALK_ONE_FS, another file system was mounted there just now.  ESTALE: the directory
	 * that it is in was moved away and cannot be found any more
	 */
	COSY_WALK_FAILED = 3,
};

#define COSY_WALK_STAT	 (1u << 0) /* entries have attributes, as lstat(2) returns them */
#define COSY_WALK_FOLLOW (1u << 1) /* follow links; attributes are as with COSY_SCAN_FOLLOW */
#define COSY_WALK_POST	 (1u << 2) /* report COSY_WALK_LEAVE */
#define COSY_WALK_ONE_FS                                                                           \
	(1u << 3) /* list entries that other file systems are mounted on, but do
				      not enter them */
#define COSY_WALK_NOFOLLOW_FIRST (1u << 4) /* ELOOP or ENOTDIR if `path` itself is a link */

struct cosy_walk_options {
	uint32_t size;	    /* sizeof(struct cosy_walk_options) */
	uint32_t flags;	    /* COSY_WALK_* */
	uint32_t max_depth; /* report entries down to this depth; 0: all */
	uint32_t reserved;  /* 0 */
};

/*
 * Opens a walk through the directory `path`, relative to `dirfd`, and all directories below it.
 * `options` NULL: none.  Returns NULL with openat's errno, ENOMEM, EINVAL.
 *
 * Entries come in the order of their directory.  Directories are entered in that order, each with
 * everything below it before the next.  Each directory that an entry is of is entered once, unless
 * max_depth, COSY_WALK_ONE_FS or cosy_walk_skip keep the walk out.  Without COSY_WALK_FOLLOW no
 * symbolic link below `path` is followed, whoever changes the tree meanwhile: each directory is
 * opened by its name in the one above it.
 *
 * Depth and length of paths are limited by memory alone.  Uses at most 16 descriptors, and fewer,
 * down to 3, where the process may not open more.
 */
struct cosy_walk *cosy_walk_open(int dirfd, const char *path,
				 const struct cosy_walk_options *options);

/*
 * Returns 1 with the next event in *entry, 0 at the end, or -1 with errno ENOMEM, after which it
 * may be called again and goes on where it was.
 */
int cosy_walk_next(struct cosy_walk *walk, const struct cosy_dir_entry **entry);

/*
 * After COSY_WALK_ENTER: does not open that directory.  After COSY_WALK_ENTRY of a directory: does
 * not enter it.  Otherwise leaves the current directory: its remaining entries are not reported
 * and directories in it that were not entered yet are not entered.  COSY_WALK_LEAVE of a directory
 * that was entered comes all the same, and after it cosy_walk_skip does nothing.  Returns 0; -1
 * with EINVAL before the first or after the last event.
 */
int cosy_walk_skip(struct cosy_walk *walk);

/*
 * Returns the descriptor of the directory in which the last event's `name` is, for calls such as
 * openat(fd, name, ...).  It is the handle's and valid until the next call.  For the first
 * directory it is the `dirfd` of cosy_walk_open, and `name` the path.  -1 with ESTALE, or openat's
 * errno: that directory cannot be reached any more.
 */
int cosy_walk_fd(struct cosy_walk *walk);

void cosy_walk_close(struct cosy_walk *walk);

/* --- Attributes of many files ---------------------------------------------------------- */

struct cosy_stat_result {
	int error; /* 0, or statx's errno; then `statx` is zeroed */
	uint32_t reserved;
	struct statx statx;
};

/*
 * Makes statx(dirfd, names[i], flags, mask) for `count` names, none of them NULL, and stores what
 * each returns in results[i].  `flags` are AT_SYMLINK_NOFOLLOW, AT_NO_AUTOMOUNT, AT_EMPTY_PATH and
 * AT_STATX_*; `mask` is of STATX_*.  Returns how many failed, or -1 with EINVAL (flags, mask) and
 * nothing done.
 */
ssize_t cosy_stat_many(int dirfd, const char *const *names, size_t count, int flags, uint32_t mask,
		       struct cosy_stat_result *results);

/* --- Contents of many files ------------------------------------------------------------ */

struct cosy_read_files;

/* One file that was read.  Later releases may add members at the end. */
struct cosy_file {
	size_t index;	  /* of its path */
	const char *path; /* the caller's */
	const void *data; /* the handle's, 8-byte aligned; without a NUL at the end */
	size_t size;	  /* bytes */
	int error;	  /* 0, or the errno of the call that failed; then `size` is 0 */
};

#define COSY_READ_NOFOLLOW (1u << 0) /* ELOOP for a path whose last component is a symbolic link */

struct cosy_read_options {
	uint32_t size;	   /* sizeof(struct cosy_read_options) */
	uint32_t flags;	   /* COSY_READ_* */
	uint64_t max_size; /* EFBIG for a file of more bytes; 0: no limit but memory */
};

/*
 * Prepares to read the files paths[0] to paths[count - 1], relative to `dirfd`, each to its end.
 * The array and its strings have to stay as they are until the handle is closed, and so has
 * `dirfd`.  `options` NULL: none.  Returns NULL with ENOMEM, EINVAL.
 *
 * Files are opened read-only, as open(2) does: the open of a FIFO waits for a writer.
 */
struct cosy_read_files *cosy_read_files_open(int dirfd, const char *const *paths, size_t count,
					     const struct cosy_read_options *options);

/*
 * Returns 1 with the next file in *file, in the order of the paths, or 0 at the end.  A file that
 * cannot be read has `error`: openat's or read's errno, EISDIR, EFBIG, ENOMEM.
 *
 * Files after the one that is returned may have been read already.  One of them may have been read
 * in part: the handle then holds its descriptor, close-on-exec, until a later call or the close.
 */
int cosy_read_files_next(struct cosy_read_files *files, const struct cosy_file **file);

void cosy_read_files_close(struct cosy_read_files *files);

/* --- Copying and removing trees -------------------------------------------------------- */

/*
 * Is called for each file or directory that could not be copied or removed, with the `argument` of
 * the options, the path as a walk of the source reports it, and the errno.  Returns 0 to go on
 * with the others, anything else to stop.  It must not change the tree.
 */
typedef int (*cosy_failed_function)(void *argument, const char *path, int error);

/*
 * COSY_COPY_INTO: `to` may exist.  Files in it are replaced, directories are merged.  Directories
 * that were there keep their permissions, except with COSY_COPY_MODE.
 */
#define COSY_COPY_INTO	(1u << 0)
#define COSY_COPY_MODE	(1u << 1) /* permissions are the source's, whatever the umask is */
#define COSY_COPY_TIMES (1u << 2) /* access and modification times are the source's */
#define COSY_COPY_OWNER (1u << 3) /* owner and group are the source's; needs privilege */
#define COSY_COPY_ONE_FS                                                                           \
	(1u << 4) /* what is mounted below `from` is copied as an empty directory */

struct cosy_copy_options {
	uint32_t size;	/* sizeof(struct cosy_copy_options) */
	uint32_t flags; /* COSY_COPY_* */
	cosy_failed_function failed;
	void *argument;
};

/*
 * Copies the directory `from` (relative to `from_dirfd`) and all below it to `to` (relative to
 * `to_dirfd`).  Links are copied as links, FIFOs, sockets and devices are made anew (devices need
 * privilege), hard links become files of their own, holes may be filled.  Permissions are the
 * source's less the umask, as with cp -r; set-user-ID, set-group-ID and sticky bits are copied
 * only with COSY_COPY_MODE and COSY_COPY_OWNER together.  Extended attributes and ACLs are not
 * copied.
 *
 * Without a `failed` function stops at the first failure, else goes on as that says.  Returns 0 if
 * all was copied, else -1 with the first failure's errno; what was copied stays.  EEXIST: there is
 * a `to`, or a name in it, without COSY_COPY_INTO.  EINVAL: flags, or `to` is `from` or a
 * directory in it, which is not copied into itself; or a directory in `to` is the one that would
 * be copied to it, by a mount, and is left alone.  ESTALE: somebody else replaced a file meanwhile.
 *
 * Safe where others may change either tree: no link is followed in them.
 */
int cosy_copy_tree(int from_dirfd, const char *from, int to_dirfd, const char *to,
		   const struct cosy_copy_options *options);

#define COSY_REMOVE_KEEP_FIRST (1u << 0) /* empty the directory `path`, but keep it */
#define COSY_REMOVE_ONE_FS     (1u << 1) /* EXDEV for what other file systems are mounted on */

struct cosy_remove_options {
	uint32_t size;	/* sizeof(struct cosy_remove_options) */
	uint32_t flags; /* COSY_REMOVE_* */
	cosy_failed_function failed;
	void *argument;
};

/*
 * Removes the directory `path` (relative to `dirfd`) with all below it.  A `path` that is no
 * directory, such as a symbolic link, is removed itself (ENOTDIR with COSY_REMOVE_KEEP_FIRST).
 *
 * Without a `failed` function stops at the first failure, else goes on as that says; a directory
 * that is not empty since something in it failed is no failure of its own.  Returns 0 if all was
 * removed, else -1 with the first failure's errno.
 *
 * Safe where others may change the tree: no link is followed, so nothing outside of it is removed.
 */
int cosy_remove_tree(int dirfd, const char *path, const struct cosy_remove_options *options);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_FILES_H */
