// SPDX-License-Identifier: MIT
/*
 * walk.c - cosy_walk of <cosy/files.h>: a tree, one directory after the other.
 *
 * The walk is at a step of its top level; each step reports one event, or moves to the next step.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/levels.h"
#include "files/list.h"
#include "files/open.h"
#include "files/walk.h"

#define WALK_FLAGS                                                                                 \
	(COSY_WALK_STAT | COSY_WALK_FOLLOW | COSY_WALK_POST | COSY_WALK_ONE_FS |                   \
	 COSY_WALK_NOFOLLOW_FIRST)

/* How often a directory is listed again that was not empty after all in it was removed. */
#define MAX_LISTED_AGAIN 64

enum walk_step {
	WALK_START, /* report the first directory */
	WALK_OPEN,  /* open the top level, which was reported */
	WALK_LIST,  /* report entries of it */
	WALK_BELOW, /* enter the next directory in it */
	WALK_LEAVE, /* report that it is done */
	WALK_POP,   /* return to its parent */
	WALK_END,
};

struct cosy_walk {
	enum walk_step step;
	uint32_t flags;
	uint32_t max_depth; /* UINT32_MAX: none */
	int dirfd;	    /* in which the first directory was opened */
	struct libcosy_levels levels;
	struct libcosy_list list;
	struct stat stat;
	struct cosy_dir_entry entry; /* the last event's */
	bool noted;		     /* it is of a directory, the last one noted to be entered */
	bool unreported;	     /* it is to be reported when there is memory */
};

static bool walk_options_are_valid(const struct cosy_walk_options *options)
{
	return options->size == sizeof(*options) && !(options->flags & ~WALK_FLAGS) &&
	       !options->reserved;
}

static enum list_attributes walk_attributes(uint32_t flags)
{
	if (flags & COSY_WALK_FOLLOW)
		return LIST_FOLLOW;
	return flags & COSY_WALK_STAT ? LIST_STAT : LIST_NAMES;
}

struct cosy_walk *cosy_walk_open(int dirfd, const char *path,
				 const struct cosy_walk_options *options)
{
	uint32_t flags = options ? options->flags : 0;
	struct cosy_walk *walk;
	int fd, error;

	if (options && !walk_options_are_valid(options)) {
		errno = EINVAL;
		return NULL;
	}
	fd = libcosy_open_dir(dirfd, path, flags & COSY_WALK_NOFOLLOW_FIRST ? O_NOFOLLOW : 0);
	if (fd < 0)
		return NULL;
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		goto close_dir;
	if (fstat(fd, &walk->stat))
		goto free_walk;
	if (!libcosy_list_create(&walk->list, walk_attributes(flags), false))
		goto free_walk;
	if (!libcosy_levels_create(&walk->levels, path, fd,
				   flags & COSY_WALK_FOLLOW ? 0 : O_NOFOLLOW))
		goto free_list;
	walk->flags = flags;
	walk->max_depth = options && options->max_depth ? options->max_depth : UINT32_MAX;
	walk->dirfd = dirfd;
	return walk;
free_list:
	libcosy_list_destroy(&walk->list);
free_walk:
	free(walk);
close_dir:
	error = errno;
	close(fd);
	errno = error;
	return NULL;
}

/* --- Events ---------------------------------------------------------------------------------- */

/* Reports an event of the top level's directory. */
static int walk_report(struct cosy_walk *walk, enum cosy_walk_event event, int error)
{
	const struct level *top = libcosy_level_top(&walk->levels);

	walk->levels.path[top->path] = 0;
	walk->entry = (struct cosy_dir_entry){
		.name = walk->levels.path + top->name,
		.path = walk->levels.path,
		.name_length = top->path - top->name,
		.path_length = top->path,
		.error = error,
		.depth = walk->levels.count - 1,
		.type = DT_DIR,
		.event = event,
	};
	walk->noted = false;
	return 1;
}

/* Gets attributes of the entry at hand that were not asked for.  False: it has none. */
static bool walk_examine(struct cosy_walk *walk)
{
	int flags = walk->flags & COSY_WALK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
	struct cosy_dir_entry *entry = &walk->entry;

	if (fstatat(libcosy_level_top(&walk->levels)->fd, entry->name, &walk->stat, flags))
		return false;
	entry->type = IFTODT(walk->stat.st_mode);
	return true;
}

/* True if the entry at hand is a directory to be entered. */
static bool walk_goes_into(struct cosy_walk *walk)
{
	bool one_fs = walk->flags & COSY_WALK_ONE_FS;
	struct cosy_dir_entry *entry = &walk->entry;
	const struct stat *stat = entry->stat;

	if (entry->type == DT_UNKNOWN && !stat && walk_examine(walk))
		stat = &walk->stat;
	if (entry->type != DT_DIR || walk->levels.count >= walk->max_depth)
		return false;
	if (one_fs && !stat && walk_examine(walk))
		stat = &walk->stat;
	/* Open an entry that cannot be examined: the open reports the failure. */
	return !one_fs || !stat || stat->st_dev == walk->levels.stack[0].device;
}

/*
 * --- Steps: each returns 1 with an event, 0 for another step, or a negative errno
 * -----------------
 */

static int walk_start(struct cosy_walk *walk)
{
	struct level *top = libcosy_level_top(&walk->levels);

	walk_report(walk, COSY_WALK_ENTER, 0);
	top->device = walk->stat.st_dev;
	top->inode = walk->stat.st_ino;
	top->identified = true;
	walk->entry.inode = top->inode;
	if (walk->list.attributes != LIST_NAMES)
		walk->entry.stat = &walk->stat;
	walk->step = WALK_OPEN;
	return 1;
}

/* Returns why the directory just opened is not to be listed: an errno, or 0. */
static int walk_check(struct cosy_walk *walk)
{
	struct libcosy_levels *levels = &walk->levels;
	struct level *top = libcosy_level_top(levels);
	int error;

	if (!(walk->flags & (COSY_WALK_ONE_FS | COSY_WALK_FOLLOW)))
		return 0;
	error = libcosy_level_identify(top);
	if (error)
		return error;
	if (walk->flags & COSY_WALK_ONE_FS && top->device != levels->stack[0].device)
		return EXDEV;
	if (!(walk->flags & COSY_WALK_FOLLOW))
		return 0;
	for (struct level *level = levels->stack; level < top; level++)
		if (level->device == top->device && level->inode == top->inode)
			return ELOOP;
	return 0;
}

static int walk_open(struct cosy_walk *walk)
{
	struct libcosy_list *list = &walk->list;
	int error = 0;

	if (walk->levels.count > 1)
		error = libcosy_levels_open(&walk->levels, list);
	else
		libcosy_list_begin(list, libcosy_level_top(&walk->levels)->fd);
	if (!error)
		error = walk_check(walk);
	if (error) {
		walk->step = WALK_LEAVE;
		return walk_report(walk, COSY_WALK_FAILED, error);
	}
	walk->step = WALK_LIST;
	return 0;
}

static int walk_list(struct cosy_walk *walk)
{
	struct cosy_dir_entry *entry = &walk->entry;
	size_t length;
	int result;

	if (!walk->unreported) {
		result = libcosy_list_next(&walk->list, entry);
		if (result <= 0)
			walk->step = WALK_BELOW;
		if (result < 0)
			return walk_report(walk, COSY_WALK_FAILED, -result);
		if (!result)
			return 0;
	}
	/* For want of memory it comes again. */
	walk->unreported = true;
	length = libcosy_levels_name(&walk->levels, entry->name, entry->name_length);
	if (!length)
		return -ENOMEM;
	walk->noted = walk_goes_into(walk);
	if (walk->noted && !libcosy_levels_note(&walk->levels, entry->name, entry->name_length))
		return -ENOMEM;
	walk->unreported = false;
	entry->path = walk->levels.path;
	entry->path_length = length;
	entry->name = entry->path + length - entry->name_length;
	entry->depth = walk->levels.count;
	entry->event = COSY_WALK_ENTRY;
	return 1;
}

static int walk_below(struct cosy_walk *walk)
{
	int pushed = libcosy_levels_push(&walk->levels);

	if (pushed < 0)
		return -ENOMEM;
	walk->step = pushed ? WALK_OPEN : WALK_LEAVE;
	return pushed ? walk_report(walk, COSY_WALK_ENTER, 0) : 0;
}

static int walk_leave(struct cosy_walk *walk)
{
	walk->step = WALK_POP;
	return walk->flags & COSY_WALK_POST ? walk_report(walk, COSY_WALK_LEAVE, 0) : 0;
}

static int walk_pop(struct cosy_walk *walk)
{
	libcosy_levels_pop(&walk->levels);
	walk->step = walk->levels.count ? WALK_BELOW : WALK_END;
	return 0;
}

static int walk_step(struct cosy_walk *walk)
{
	switch (walk->step) {
	case WALK_START:
		return walk_start(walk);
	case WALK_OPEN:
		return walk_open(walk);
	case WALK_LIST:
		return walk_list(walk);
	case WALK_BELOW:
		return walk_below(walk);
	case WALK_LEAVE:
		return walk_leave(walk);
	case WALK_POP:
		return walk_pop(walk);
	case WALK_END:
		break;
	}
	return 0;
}

/*
 * --- The calls -----------------------------------------------------------------------------------
 */

int cosy_walk_next(struct cosy_walk *walk, const struct cosy_dir_entry **entry)
{
	int result;

	do
		result = walk->step == WALK_LIST ? walk_list(walk) : walk_step(walk);
	while (!result && walk->step != WALK_END);
	*entry = &walk->entry;
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

int cosy_walk_skip(struct cosy_walk *walk)
{
	bool of_directory = walk->step == WALK_LIST && walk->entry.type == DT_DIR;
	struct level *top;

	if (walk->step == WALK_START || walk->step == WALK_END) {
		errno = EINVAL;
		return -1;
	}
	top = libcosy_level_top(&walk->levels);
	if (of_directory && walk->noted)
		libcosy_levels_unnote(&walk->levels, walk->entry.name_length);
	walk->noted = false;
	if (of_directory || walk->step == WALK_POP)
		return 0;
	top->next = top->end;
	walk->unreported = false;
	walk->step = WALK_LEAVE;
	return 0;
}

int cosy_walk_fd(struct cosy_walk *walk)
{
	if (walk->step == WALK_START || walk->step == WALK_END) {
		errno = EINVAL;
		return -1;
	}
	if (walk->entry.event == COSY_WALK_ENTRY)
		return libcosy_level_top(&walk->levels)->fd;
	if (walk->levels.count == 1)
		return walk->dirfd;
	return libcosy_level_fd(&walk->levels, walk->levels.count - 2);
}

bool libcosy_walk_enters(const struct cosy_walk *walk)
{
	return walk->noted;
}

void libcosy_walk_share(struct cosy_walk *walk, struct libcosy_levels *other)
{
	walk->levels.other = other;
	other->other = &walk->levels;
}

void libcosy_walk_mark(struct cosy_walk *walk)
{
	if (walk->noted)
		libcosy_levels_mark(&walk->levels, walk->entry.name_length);
}

bool libcosy_walk_is_marked(struct cosy_walk *walk)
{
	return libcosy_level_top(&walk->levels)->marked;
}

int libcosy_walk_dir_fd(struct cosy_walk *walk)
{
	return libcosy_level_fd(&walk->levels, walk->levels.count - 1);
}

bool libcosy_walk_failed(struct cosy_walk *walk)
{
	return libcosy_level_top(&walk->levels)->error;
}

bool libcosy_walk_again(struct cosy_walk *walk)
{
	struct level *top = libcosy_level_top(&walk->levels);

	if (top->fd < 0 || top->listed >= MAX_LISTED_AGAIN || lseek(top->fd, 0, SEEK_SET))
		return false;
	top->listed++;
	libcosy_list_begin(&walk->list, top->fd);
	walk->step = WALK_LIST;
	return true;
}

void cosy_walk_close(struct cosy_walk *walk)
{
	int saved = errno;

	if (!walk)
		return;
	libcosy_levels_destroy(&walk->levels);
	libcosy_list_destroy(&walk->list);
	free(walk);
	errno = saved;
}
