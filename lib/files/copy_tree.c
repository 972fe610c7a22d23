// SPDX-License-Identifier: MIT
/*
 * copy_tree.c - cosy_copy_tree of <cosy/files.h>: a walk through the source, and beside it the levels
 * of the copy.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/copy_file.h"
#include "files/failures.h"
#include "files/levels.h"
#include "files/open.h"
#include "files/walk.h"

#define COPY_FLAGS                                                                                 \
	(COSY_COPY_INTO | COSY_COPY_MODE | COSY_COPY_TIMES | COSY_COPY_OWNER | COSY_COPY_ONE_FS)

struct copy {
	struct cosy_walk *walk;
	struct libcosy_levels to;
	uint32_t flags;
	dev_t device; /* of the copy's first directory */
	ino_t inode;
	char *buffer;
	struct libcosy_failures failures;
};

/* --- Entries ----------------------------------------------------------------------------------- */

static int link_copy(struct copy *copy, int from, int to, const struct cosy_dir_entry *entry)
{
	char target[PATH_MAX + 1];
	ssize_t length = readlinkat(from, entry->name, target, sizeof(target) - 1);

	(void)copy;
	if (length < 0)
		return errno;
	target[length] = 0;
	return symlinkat(target, to, entry->name) ? errno : 0;
}

/* Gives what was made by its name the attributes that were asked for. */
static int entry_finish(const struct copy *copy, int to, const struct cosy_dir_entry *entry)
{
	const struct stat *stat = entry->stat;
	const struct timespec times[] = {stat->st_atim, stat->st_mtim};
	bool is_link = S_ISLNK(stat->st_mode);

	if (copy->flags & COSY_COPY_OWNER &&
	    fchownat(to, entry->name, stat->st_uid, stat->st_gid, AT_SYMLINK_NOFOLLOW))
		return errno;
	/* fchmodat follows links, so the name may have to be one of our own: it was made just now. */
	if (copy->flags & COSY_COPY_MODE && !is_link &&
	    fchmodat(to, entry->name, libcosy_copy_mode(stat, copy->flags), AT_SYMLINK_NOFOLLOW))
		return errno;
	if (copy->flags & COSY_COPY_TIMES && utimensat(to, entry->name, times, AT_SYMLINK_NOFOLLOW))
		return errno;
	return 0;
}

static int entry_make(struct copy *copy, int from, int to, const struct cosy_dir_entry *entry)
{
	const struct stat *stat = entry->stat;
	int error;

	switch (stat->st_mode & S_IFMT) {
	case S_IFREG:
		return libcosy_copy_file(from, to, entry->name, copy->flags, copy->buffer);
	case S_IFLNK:
		error = link_copy(copy, from, to, entry);
		break;
	default:
		error = mknodat(to, entry->name, stat->st_mode & ~07000, stat->st_rdev) ? errno : 0;
	}
	return error ? error : entry_finish(copy, to, entry);
}

/* Makes an entry that is no directory.  0, or an errno. */
static int entry_copy(struct copy *copy, const struct cosy_dir_entry *entry)
{
	int from = cosy_walk_fd(copy->walk), to, error;

	if (entry->error)
		return entry->error;
	to = libcosy_level_fd(&copy->to, copy->to.count - 1);
	if (to < 0)
		return errno;
	do
		error = entry_make(copy, from, to, entry);
	while ((error == EMFILE || error == ENFILE) && libcosy_levels_shed(&copy->to));
	if (error != EEXIST || !(copy->flags & COSY_COPY_INTO))
		return error;
	if (unlinkat(to, entry->name, 0) && errno != ENOENT)
		return errno;
	return entry_make(copy, from, to, entry);
}

/* --- Directories ---------------------------------------------------------------------------------- */

/* Makes a directory, or takes the one that is there.  0, or an errno. */
static int dir_make(const struct copy *copy, int dirfd, const char *name, mode_t mode)
{
	/* Whatever the source's mode is, we have to write there. */
	if (!mkdirat(dirfd, name, (mode & 0777) | 0700))
		return 0;
	return errno == EEXIST && copy->flags & COSY_COPY_INTO ? 0 : errno;
}

/* Makes a directory of the copy when its entry is reported. */
static int dir_copy(struct copy *copy, const struct cosy_dir_entry *entry)
{
	int to, error = 0;

	if (!entry->stat)
		error = entry->error;
	else if (entry->stat->st_dev == copy->device && entry->stat->st_ino == copy->inode)
		error = EINVAL;
	if (!error) {
		to = libcosy_level_fd(&copy->to, copy->to.count - 1);
		error = to < 0 ? errno : dir_make(copy, to, entry->name, entry->stat->st_mode);
	}
	if (error)
		cosy_walk_skip(copy->walk);
	return error;
}

/* Opens the copy of the directory that the walk enters next. */
static int dir_enter(struct copy *copy, const struct cosy_dir_entry *entry)
{
	int error;

	if (!libcosy_levels_note(&copy->to, entry->name, entry->name_length) ||
	    libcosy_levels_push(&copy->to) < 0) {
		copy->failures.stop = true;
		return ENOMEM;
	}
	error = libcosy_levels_open(&copy->to, NULL);
	if (error)
		cosy_walk_skip(copy->walk);
	return error;
}

/* Gives the copy of a directory that is done the source's attributes. */
static int dir_leave(struct copy *copy)
{
	int from = libcosy_walk_dir_fd(copy->walk), error = 0;
	struct level *top = libcosy_level_top(&copy->to);
	struct stat stat;

	if (from >= 0 && top->fd >= 0)
		error = fstat(from, &stat) ? errno
					   : libcosy_copy_attributes(top->fd, &stat, copy->flags);
	libcosy_levels_pop(&copy->to);
	return error;
}

/* --- The whole -------------------------------------------------------------------------------------- */

static int copy_event(struct copy *copy, const struct cosy_dir_entry *entry)
{
	switch (entry->event) {
	case COSY_WALK_ENTRY:
		return entry->type == DT_DIR ? dir_copy(copy, entry) : entry_copy(copy, entry);
	case COSY_WALK_ENTER:
		return entry->depth ? dir_enter(copy, entry) : 0;
	case COSY_WALK_LEAVE:
		return dir_leave(copy);
	default:
		return entry->error;
	}
}

static void copy_make(struct copy *copy, const char *from)
{
	const struct cosy_dir_entry *entry;
	int more, error;

	while (!copy->failures.stop && (more = cosy_walk_next(copy->walk, &entry)) != 0) {
		error = more < 0 ? errno : copy_event(copy, entry);
		if (error &&
		    (!libcosy_failure(&copy->failures, more < 0 ? from : entry->path, error) ||
		     more < 0))
			return;
	}
}

/* Makes and opens the first directory of the copy.  0, or an errno. */
static int copy_begin(struct copy *copy, int dirfd, const char *path)
{
	int fd = libcosy_walk_dir_fd(copy->walk), error;
	struct stat stat;
	bool is_new;

	if (fstat(fd, &stat))
		return errno;
	is_new = !mkdirat(dirfd, path, (stat.st_mode & 0777) | 0700);
	if (!is_new && (errno != EEXIST || !(copy->flags & COSY_COPY_INTO)))
		return errno;
	fd = libcosy_open_dir(dirfd, path, is_new ? O_NOFOLLOW : 0);
	if (fd < 0)
		return errno;
	copy->device = stat.st_dev;
	copy->inode = stat.st_ino;
	if (fstat(fd, &stat))
		error = errno;
	else if (stat.st_dev == copy->device && stat.st_ino == copy->inode)
		error = EINVAL;
	else
		error = libcosy_levels_create(&copy->to, path, fd, O_NOFOLLOW) ? 0 : ENOMEM;
	if (error)
		close(fd);
	copy->device = stat.st_dev;
	copy->inode = stat.st_ino;
	return error;
}

static void copy_open(struct copy *copy, int from_dirfd, const char *from, int to_dirfd,
		      const char *to)
{
	struct cosy_walk_options walk = {
		.size = sizeof(walk),
		.flags = COSY_WALK_STAT | COSY_WALK_POST |
			 (copy->flags & COSY_COPY_ONE_FS ? COSY_WALK_ONE_FS : 0),
	};
	int error;

	copy->walk = cosy_walk_open(from_dirfd, from, &walk);
	if (!copy->walk) {
		libcosy_failure(&copy->failures, from, errno);
		return;
	}
	copy->buffer = malloc(COPY_BUFFER);
	error = copy->buffer ? copy_begin(copy, to_dirfd, to) : ENOMEM;
	if (error) {
		libcosy_failure(&copy->failures, from, error);
	} else {
		libcosy_walk_share(copy->walk, &copy->to);
		copy_make(copy, from);
		libcosy_levels_destroy(&copy->to);
	}
	free(copy->buffer);
	cosy_walk_close(copy->walk);
}

int cosy_copy_tree(int from_dirfd, const char *from, int to_dirfd, const char *to,
		   const struct cosy_copy_options *options)
{
	struct copy copy = {.flags = options ? options->flags : 0};
	int saved = errno;

	if (options && (options->size != sizeof(*options) || copy.flags & ~COPY_FLAGS)) {
		errno = EINVAL;
		return -1;
	}
	if (options) {
		copy.failures.report = options->failed;
		copy.failures.argument = options->argument;
	}
	copy_open(&copy, from_dirfd, from, to_dirfd, to);
	return libcosy_failures_end(&copy.failures, saved);
}
