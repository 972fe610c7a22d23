// SPDX-License-Identifier: MIT
/*
 * remove_tree.c - cosy_remove_tree of <cosy/files.h>: files as they are listed, directories last.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/failures.h"
#include "files/walk.h"

#define REMOVE_FLAGS (COSY_REMOVE_KEEP_FIRST | COSY_REMOVE_ONE_FS)

struct removal {
	struct cosy_walk *walk;
	struct libcosy_failures failures;
	bool keep_first;
	/*
	 * Directories of a lower depth, on the way to the current one, have something left in them.
	 */
	uint32_t kept_depth;
};

/* Notes that all directories above this depth, on the way to the current one, stay. */
static void removal_keep(struct removal *removal, uint32_t depth)
{
	if (depth > removal->kept_depth)
		removal->kept_depth = depth;
}

/* Notes that an entry could not be removed. */
static bool removal_fail(struct removal *removal, const struct cosy_dir_entry *entry, int error)
{
	removal_keep(removal, entry->depth);
	return libcosy_failure(&removal->failures, entry->path, error);
}

/* Removes an entry.  Returns 0, or an errno; one that has vanished is removed. */
static int entry_remove(struct removal *removal, const struct cosy_dir_entry *entry, int flags)
{
	int fd = cosy_walk_fd(removal->walk);

	if (fd == -1)
		return errno;
	return unlinkat(fd, entry->name, flags) && errno != ENOENT ? errno : 0;
}

static bool removal_entry(struct removal *removal, const struct cosy_dir_entry *entry)
{
	int error;

	if (libcosy_walk_enters(removal->walk))
		return true;
	/* A directory that is not entered is on another file system. */
	error = entry->type == DT_DIR ? EXDEV : entry_remove(removal, entry, 0);
	return !error || removal_fail(removal, entry, error);
}

/* A directory that cannot be listed may be empty. */
static bool removal_unlisted(struct removal *removal, const struct cosy_dir_entry *entry)
{
	bool is_kept = removal->keep_first && !entry->depth;

	if (!is_kept && !entry_remove(removal, entry, AT_REMOVEDIR))
		return true;
	/* That is reported once. */
	removal_keep(removal, entry->depth + 1);
	return libcosy_failure(&removal->failures, entry->path, entry->error);
}

static bool removal_leave(struct removal *removal, const struct cosy_dir_entry *entry)
{
	bool kept = removal->kept_depth > entry->depth;
	int error;

	if (removal->keep_first && !entry->depth)
		return true;
	error = entry_remove(removal, entry, AT_REMOVEDIR);
	if (!error)
		return true;
	/* The entries left in it were reported, or the failure to list it. */
	if (kept) {
		removal->kept_depth = entry->depth;
		return true;
	}
	/* Some file systems pass over entries while others are removed. */
	if ((error == ENOTEMPTY || error == EEXIST) && libcosy_walk_again(removal->walk))
		return true;
	return removal_fail(removal, entry, error);
}

static bool removal_event(struct removal *removal, const struct cosy_dir_entry *entry)
{
	switch (entry->event) {
	case COSY_WALK_ENTRY:
		return removal_entry(removal, entry);
	case COSY_WALK_FAILED:
		return removal_unlisted(removal, entry);
	case COSY_WALK_LEAVE:
		return removal_leave(removal, entry);
	}
	return true;
}

static void removal_make(struct removal *removal, const char *path)
{
	const struct cosy_dir_entry *entry;
	int more;

	while ((more = cosy_walk_next(removal->walk, &entry)) > 0)
		if (!removal_event(removal, entry))
			return;
	if (more < 0)
		libcosy_failure(&removal->failures, path, errno);
}

/* True if the last component is one that no directory can be removed by. */
static bool path_is_removable(const char *path)
{
	const char *last = strrchr(path, '/');

	last = last ? last + 1 : path;
	return *last && strcmp(last, ".") && strcmp(last, "..");
}

static int path_remove(int dirfd, const char *path, uint32_t flags, struct removal *removal)
{
	struct cosy_walk_options walk = {
		.size = sizeof(walk),
		.flags = COSY_WALK_POST | COSY_WALK_NOFOLLOW_FIRST |
			 (flags & COSY_REMOVE_ONE_FS ? COSY_WALK_ONE_FS : 0),
	};
	int saved = errno;

	removal->walk = cosy_walk_open(dirfd, path, &walk);
	if (removal->walk) {
		removal_make(removal, path);
		cosy_walk_close(removal->walk);
	} else if ((errno != ENOTDIR && errno != ELOOP) || removal->keep_first ||
		   unlinkat(dirfd, path, 0)) {
		libcosy_failure(&removal->failures, path, errno);
	}
	return libcosy_failures_end(&removal->failures, saved);
}

int cosy_remove_tree(int dirfd, const char *path, const struct cosy_remove_options *options)
{
	uint32_t flags = options ? options->flags : 0;
	struct removal removal = {.keep_first = flags & COSY_REMOVE_KEEP_FIRST};
	size_t length = strlen(path);
	char *copy;
	int result;

	if (options && (options->size != sizeof(*options) || flags & ~REMOVE_FLAGS)) {
		errno = EINVAL;
		return -1;
	}
	if (options) {
		removal.failures.report = options->failed;
		removal.failures.argument = options->argument;
	}
	/* A slash at the end would follow a link. */
	copy = strdup(path);
	if (!copy)
		return -1;
	while (length > 1 && copy[length - 1] == '/')
		copy[--length] = 0;
	if (!length) {
		result = -1;
		errno = ENOENT;
	} else if (!removal.keep_first && !path_is_removable(copy)) {
		result = -1;
		errno = EINVAL;
	} else {
		result = path_remove(dirfd, copy, flags, &removal);
	}
	free(copy);
	return result;
}
