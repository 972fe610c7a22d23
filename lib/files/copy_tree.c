// SPDX-License-Identifier: MIT
/*
 * copy_tree.c - cosy_copy_tree of <cosy/files.h>: a walk through the source, and beside it the
 * levels of the copy.
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
	bool merged;  /* the copy's first directory was there before */
	dev_t device; /* of that */
	ino_t inode;
	char *buffer;
	struct libcosy_failures failures;
};

/*
 * --- Entries -----------------------------------------------------------------------------------
 */

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

/* Opens the file just made, even if that takes a descriptor of the levels'.  -1 with errno. */
static int made_open(struct copy *copy, int dirfd, const char *name, int flags)
{
	int fd;

	do
		fd = libcosy_open_file(dirfd, name, flags | O_NOFOLLOW);
	while (fd < 0 && (errno == EMFILE || errno == ENFILE) && libcosy_levels_shed(&copy->to));
	return fd;
}

/* Sets the requested attributes of a file by its name. */
static int made_finish(int fd, const struct stat *stat, uint32_t flags)
{
	const struct timespec times[] = {stat->st_atim, stat->st_mtim};
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (flags & COSY_COPY_OWNER && fchownat(fd, "", stat->st_uid, stat->st_gid, AT_EMPTY_PATH))
		return errno;
	if (flags & COSY_COPY_MODE && !S_ISLNK(stat->st_mode) &&
	    chmod(link, libcosy_copy_mode(stat, flags)))
		return errno;
	return flags & COSY_COPY_TIMES && utimensat(fd, "", times, AT_EMPTY_PATH) ? errno : 0;
}

/*
 * Finishes a file by its name.  If the name now leads to another file, such as a hard link
 * that somebody else has put there, that file stays as it is.
 */
static int entry_finish(struct copy *copy, int to, const struct cosy_dir_entry *entry)
{
	struct stat made;
	int fd, error;

	if (!(copy->flags & (COSY_COPY_OWNER | COSY_COPY_MODE | COSY_COPY_TIMES)))
		return 0;
	fd = made_open(copy, to, entry->name, O_PATH);
	if (fd < 0)
		return errno;
	if (fstat(fd, &made))
		error = errno;
	else if ((made.st_mode ^ entry->stat->st_mode) & S_IFMT || made.st_nlink != 1 ||
		 made.st_uid != geteuid())
		error = ESTALE;
	else
		error = made_finish(fd, entry->stat, copy->flags);
	close(fd);
	return error;
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

/*
 * --- Directories
 * ----------------------------------------------------------------------------------
 */

/* Makes a directory, or uses the existing one.  0, or an errno. */
static int dir_make(const struct copy *copy, int dirfd, const char *name, mode_t mode, bool *merged)
{
	/* Whatever the source's mode is, we have to write there. */
	*merged = mkdirat(dirfd, name, (mode & 0777) | 0700);
	if (!*merged || (errno == EEXIST && copy->flags & COSY_COPY_INTO))
		return 0;
	return errno;
}

/* Returns the flags for libcosy_copy_attributes of a directory. */
static uint32_t dir_flags(const struct copy *copy, bool merged)
{
	return copy->flags | (merged ? COPY_MERGED : 0);
}

/* Gives the copy of a directory that the walk does not enter its attributes. */
static int dir_finish(struct copy *copy, int dirfd, const struct cosy_dir_entry *entry, bool merged)
{
	int fd = made_open(copy, dirfd, entry->name, O_RDONLY | O_DIRECTORY), error;

	if (fd < 0)
		return errno;
	error = libcosy_copy_attributes(fd, entry->stat, dir_flags(copy, merged));
	close(fd);
	return error;
}

/* Makes a directory of the copy when its entry is reported. */
static int dir_copy(struct copy *copy, const struct cosy_dir_entry *entry)
{
	int to, error = 0;
	bool merged;

	if (!entry->stat)
		error = entry->error;
	else if (entry->stat->st_dev == copy->device && entry->stat->st_ino == copy->inode)
		error = EINVAL;
	if (!error) {
		to = libcosy_level_fd(&copy->to, copy->to.count - 1);
		error = to < 0 ? errno
			       : dir_make(copy, to, entry->name, entry->stat->st_mode, &merged);
	}
	if (error)
		cosy_walk_skip(copy->walk);
	else if (!libcosy_walk_enters(copy->walk))
		error = dir_finish(copy, to, entry, merged);
	else if (merged)
		libcosy_walk_mark(copy->walk);
	return error;
}

/*
 * Returns EINVAL if the copy's directory, which is open, is the source's, as by a mount: files
 * would be replaced by themselves.  Else 0, or an errno.
 */
static int dir_compare(struct copy *copy, const struct cosy_dir_entry *entry)
{
	struct level *top = libcosy_level_top(&copy->to);
	int dirfd = cosy_walk_fd(copy->walk), error = 0;
	struct stat stat;

	if (dirfd == -1 || fstatat(dirfd, entry->name, &stat, AT_SYMLINK_NOFOLLOW) ||
	    (errno = libcosy_level_identify(top)))
		error = errno;
	else if (top->device == stat.st_dev && top->inode == stat.st_ino)
		error = EINVAL;
	/* Nothing is copied to it, and it keeps its attributes. */
	top->error = error;
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
	if (!error && copy->flags & COSY_COPY_INTO)
		error = dir_compare(copy, entry);
	if (error)
		cosy_walk_skip(copy->walk);
	return error;
}

/* Gives the copy of a directory that is done the source's attributes. */
static int dir_leave(struct copy *copy, const struct cosy_dir_entry *entry)
{
	bool merged = entry->depth ? libcosy_walk_is_marked(copy->walk) : copy->merged;
	struct stat stat;
	int from, to, error = 0;

	/* A directory that could not be opened was reported. */
	if (!libcosy_level_top(&copy->to)->error && !libcosy_walk_failed(copy->walk)) {
		from = libcosy_walk_dir_fd(copy->walk);
		to = from < 0 ? -1 : libcosy_level_fd(&copy->to, copy->to.count - 1);
		if (to < 0 || fstat(from, &stat))
			error = errno;
		else
			error = libcosy_copy_attributes(to, &stat, dir_flags(copy, merged));
	}
	libcosy_levels_pop(&copy->to);
	return error;
}

/*
 * --- The whole
 * --------------------------------------------------------------------------------------
 */

static int copy_event(struct copy *copy, const struct cosy_dir_entry *entry)
{
	switch (entry->event) {
	case COSY_WALK_ENTRY:
		return entry->type == DT_DIR ? dir_copy(copy, entry) : entry_copy(copy, entry);
	case COSY_WALK_ENTER:
		return entry->depth ? dir_enter(copy, entry) : 0;
	case COSY_WALK_LEAVE:
		return dir_leave(copy, entry);
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
	copy->merged = !is_new;
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
