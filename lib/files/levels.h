/* SPDX-License-Identifier: MIT */
/*
 * levels.h - the directories from the first one of a walk down to the current one: their
 * descriptors, of which few are open at a time, their path, and the names of the directories in
 * each that the walk has still to enter.
 *
 * A level's descriptor may be closed meanwhile (shed).  Before that, the level notes which
 * directory it was, so that opening it again yields that directory or an error.
 */
#ifndef COSY_LIB_FILES_LEVELS_H
#define COSY_LIB_FILES_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

/* Maximum number of descriptors that the levels keep open, besides one that is to be closed. */
#define MAX_LEVELS_OPEN 15

struct level {
	int fd;		     /* -1: not open */
	int error;	     /* if it cannot be opened any more: errno */
	bool identified;     /* `device` and `inode` are known */
	bool marked;	     /* it was marked when it was noted */
	unsigned int listed; /* how often it was listed again */
	dev_t device;
	ino_t inode;
	size_t path;	  /* bytes of levels->path that are this directory's */
	size_t name;	  /* offset there of its name */
	size_t next, end; /* offsets in levels->names: not entered yet */
};

struct libcosy_levels {
	struct level *stack;
	size_t count, room;
	unsigned int open;
	int closing;	/* a descriptor to be closed with the next open, or -1 */
	int open_flags; /* O_NOFOLLOW or 0 */
	char *path;	/* of the current level, and above it the current entry's name */
	size_t path_room;
	char *names; /* for each a byte, 1 if marked, and its name, NUL-terminated */
	size_t names_room;
	struct libcosy_levels *other; /* of the same thread, that share its descriptors; or NULL */
};

/* Begins with the first directory, which becomes the levels'.  False: no memory. */
bool libcosy_levels_create(struct libcosy_levels *levels, const char *path, int fd, int open_flags);
void libcosy_levels_destroy(struct libcosy_levels *levels);

static inline struct level *libcosy_level_top(struct libcosy_levels *levels)
{
	return &levels->stack[levels->count - 1];
}

/*
 * Returns a descriptor of a level, which it opens again if need be; `index` is that of the top or
 * of the level below it.  -1 with errno.
 */
int libcosy_level_fd(struct libcosy_levels *levels, size_t index);

/*
 * Closes a descriptor that is not needed for long, after EMFILE; of `other` if these have none.
 * False: there is none.
 */
bool libcosy_levels_shed(struct libcosy_levels *levels);

/* Marks the directory noted last in the top level, for the level that it becomes. */
void libcosy_levels_mark(struct libcosy_levels *levels, size_t name_length);

/* Forgets the directory noted last in the top level. */
void libcosy_levels_unnote(struct libcosy_levels *levels, size_t name_length);

/* Makes sure that device and inode of an open level are known.  0, or an errno. */
int libcosy_level_identify(struct level *level);

/* Makes sure that `path` has room for so many bytes.  False: no memory. */
bool libcosy_levels_reserve_path(struct libcosy_levels *levels, size_t need);

/* Writes `name` above the path of the top level.  Returns the whole length, 0: no memory. */
static inline size_t libcosy_levels_name(struct libcosy_levels *levels, const char *name,
					 size_t length)
{
	size_t at = libcosy_level_top(levels)->path;

	if (__builtin_expect(at + length + 2 > levels->path_room, 0) &&
	    !libcosy_levels_reserve_path(levels, at + length + 2))
		return 0;
	if (at && levels->path[at - 1] != '/')
		levels->path[at++] = '/';
	memcpy(levels->path + at, name, length);
	levels->path[at + length] = 0;
	return at + length;
}

/* Notes that a directory of that name in the top level is to be entered.  False: no memory. */
bool libcosy_levels_note(struct libcosy_levels *levels, const char *name, size_t length);

/*
 * Makes a level, not open yet, of the next directory noted in the top level.  Returns 1; 0: there
 * is none; -1: no memory.
 */
int libcosy_levels_push(struct libcosy_levels *levels);

struct libcosy_list;

/*
 * Opens the top level in the one below it, and has `list` begin with it unless that is NULL.  0, or
 * an errno.
 */
int libcosy_levels_open(struct libcosy_levels *levels, struct libcosy_list *list);

/* Removes the top level, and closes it at the latest when another one is opened. */
void libcosy_levels_pop(struct libcosy_levels *levels);

#endif /* COSY_LIB_FILES_LEVELS_H */
