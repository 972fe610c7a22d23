// SPDX-License-Identifier: MIT
/* levels.c - see levels.h. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/levels.h"
#include "files/list.h"
#include "files/open.h"

/* --- Memory -------------------------------------------------------------------------------- */

/* Makes room for `need` members of `size` bytes.  False: there is no memory. */
static bool levels_reserve(void *memory, size_t *room, size_t need, size_t size)
{
	void **at = memory;
	size_t more = *room ? *room : 64;
	void *grown;

	if (need <= *room)
		return true;
	while (more < need)
		more *= 2;
	grown = reallocarray(*at, more, size);
	if (!grown)
		return false;
	*at = grown;
	*room = more;
	return true;
}

bool libcosy_levels_reserve_path(struct libcosy_levels *levels, size_t need)
{
	return levels_reserve(&levels->path, &levels->path_room, need, 1);
}

bool libcosy_levels_create(struct libcosy_levels *levels, const char *path, int fd, int open_flags)
{
	size_t length = strlen(path);

	*levels = (struct libcosy_levels){
		.open = 1,
		.closing = -1,
		.open_flags = open_flags,
	};
	if (!levels_reserve(&levels->stack, &levels->room, 1, sizeof(*levels->stack)) ||
	    !libcosy_levels_reserve_path(levels, length + 2)) {
		free(levels->stack);
		return false;
	}
	memcpy(levels->path, path, length + 1);
	levels->stack[0] = (struct level){.fd = fd, .path = length};
	levels->count = 1;
	return true;
}

void libcosy_levels_destroy(struct libcosy_levels *levels)
{
	if (levels->closing >= 0)
		close(levels->closing);
	for (size_t i = 0; i < levels->count; i++)
		if (levels->stack[i].fd >= 0)
			close(levels->stack[i].fd);
	free(levels->stack);
	free(levels->path);
	free(levels->names);
}

bool libcosy_levels_note(struct libcosy_levels *levels, const char *name, size_t length)
{
	struct level *top = libcosy_level_top(levels);

	if (!levels_reserve(&levels->names, &levels->names_room, top->end + length + 2, 1))
		return false;
	levels->names[top->end] = 0;
	memcpy(levels->names + top->end + 1, name, length);
	levels->names[top->end + length + 1] = 0;
	top->end += length + 2;
	return true;
}

void libcosy_levels_unnote(struct libcosy_levels *levels, size_t name_length)
{
	libcosy_level_top(levels)->end -= name_length + 2;
}

void libcosy_levels_mark(struct libcosy_levels *levels, size_t name_length)
{
	levels->names[libcosy_level_top(levels)->end - name_length - 2] = 1;
}

int libcosy_levels_push(struct libcosy_levels *levels)
{
	struct level *top = libcosy_level_top(levels);
	size_t path, length;
	const char *name;
	bool marked;

	if (top->next == top->end)
		return 0;
	if (!levels_reserve(&levels->stack, &levels->room, levels->count + 1,
			    sizeof(*levels->stack)))
		return -1;
	top = libcosy_level_top(levels);
	marked = levels->names[top->next];
	name = levels->names + top->next + 1;
	length = strlen(name);
	path = libcosy_levels_name(levels, name, length);
	if (!path)
		return -1;
	top->next += length + 2;
	levels->stack[levels->count++] = (struct level){
		.fd = -1,
		.marked = marked,
		.path = path,
		.name = path - length,
		.next = top->end,
		.end = top->end,
	};
	return 1;
}

/* --- Descriptors ----------------------------------------------------------------------------- */

int libcosy_level_identify(struct level *level)
{
	struct stat stat;

	if (level->identified)
		return 0;
	if (fstat(level->fd, &stat))
		return errno;
	level->device = stat.st_dev;
	level->inode = stat.st_ino;
	level->identified = true;
	return 0;
}

/*
 * Closes the level that is needed last: the lowest that is open, other than the first one, which is
 * the way to all others, and the uppermost two.  False: there is none.
 */
static bool levels_shed(struct libcosy_levels *levels)
{
	struct level *level;

	for (size_t i = 1; i + 2 < levels->count; i++) {
		level = &levels->stack[i];
		if (level->fd < 0 || libcosy_level_identify(level))
			continue;
		close(level->fd);
		level->fd = -1;
		levels->open--;
		return true;
	}
	return false;
}

/* Closes the descriptor that is due to be closed.  False: there is none. */
static bool levels_close(struct libcosy_levels *levels)
{
	if (levels->closing < 0)
		return false;
	close(levels->closing);
	levels->closing = -1;
	return true;
}

bool libcosy_levels_shed(struct libcosy_levels *levels)
{
	if (levels_close(levels) || (levels->other && levels_close(levels->other)))
		return true;
	return levels_shed(levels) || (levels->other && levels_shed(levels->other));
}

/*
 * Opens a directory, perhaps with its first entries, and makes room for its descriptor.  Returns
 * that, or a negative errno.
 */
static int levels_open_dir(struct libcosy_levels *levels, struct libcosy_list *list, int dirfd,
			   const char *name)
{
	int closing, fd;

	if (levels->open >= MAX_LEVELS_OPEN)
		levels_shed(levels);
	do {
		closing = levels->closing;
		levels->closing = -1;
		if (list) {
			fd = libcosy_list_open(list, closing, dirfd, name, levels->open_flags);
		} else {
			if (closing >= 0)
				close(closing);
			fd = libcosy_open_dir(dirfd, name, levels->open_flags);
			fd = fd < 0 ? -errno : fd;
		}
	} while ((fd == -EMFILE || fd == -ENFILE) && libcosy_levels_shed(levels));
	return fd;
}

/* Makes `fd` the level's if that is the directory which the level was, else closes it. */
static bool level_adopt(struct libcosy_levels *levels, struct level *level, int fd)
{
	struct level found = {.fd = fd};

	if (fd < 0)
		return false;
	if (libcosy_level_identify(&found) || found.device != level->device ||
	    found.inode != level->inode) {
		close(fd);
		errno = ESTALE;
		return false;
	}
	level->fd = fd;
	levels->open++;
	return true;
}

/* Opens a level again by its name in the one below it. */
static bool level_descend(struct libcosy_levels *levels, size_t index, int dirfd)
{
	struct level *level = &levels->stack[index];
	char *end = levels->path + level->path, was = *end;
	bool adopted;

	*end = 0;
	adopted = level_adopt(levels, level,
			      libcosy_open_dir(dirfd, levels->path + level->name,
					       levels->open_flags));
	*end = was;
	return adopted;
}

/*
 * Opens a level again from the nearest one below it that is open.  The levels between are open
 * only until the next one is.
 */
static bool level_find(struct libcosy_levels *levels, size_t index)
{
	size_t from = index;
	bool found = true;
	int saved;

	while (levels->stack[from].fd < 0)
		from--;
	for (size_t i = from + 1; i <= index && found; i++) {
		found = level_descend(levels, i, levels->stack[i - 1].fd);
		if (i - 1 == from || levels->stack[i - 1].fd < 0)
			continue;
		saved = errno;
		close(levels->stack[i - 1].fd);
		levels->stack[i - 1].fd = -1;
		levels->open--;
		errno = saved;
	}
	return found;
}

/* Opens a level again by ".." of the one above it, if that is open: the first level is far away. */
static bool level_ascend(struct libcosy_levels *levels, size_t index)
{
	struct level *level = &levels->stack[index];

	return index + 1 < levels->count && level[1].fd >= 0 && level->identified &&
	       level_adopt(levels, level, libcosy_open_dir(level[1].fd, "..", 0));
}

int libcosy_level_fd(struct libcosy_levels *levels, size_t index)
{
	struct level *level = &levels->stack[index];

	if (level->fd >= 0)
		return level->fd;
	if (level->error) {
		errno = level->error;
		return -1;
	}
	levels_close(levels);
	do
		if (level_ascend(levels, index) || level_find(levels, index))
			return levels->stack[index].fd;
	while ((errno == EMFILE || errno == ENFILE) && libcosy_levels_shed(levels));
	/* It was there before, so it has been moved or removed. */
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		errno = ESTALE;
	if (errno != EMFILE && errno != ENFILE && errno != ENOMEM)
		level->error = errno;
	return -1;
}

int libcosy_levels_open(struct libcosy_levels *levels, struct libcosy_list *list)
{
	struct level *top = libcosy_level_top(levels);
	int dirfd = libcosy_level_fd(levels, levels->count - 2);
	int fd = -errno;

	if (dirfd >= 0)
		fd = levels_open_dir(levels, list, dirfd, levels->path + top->name);
	if (fd < 0) {
		top->error = -fd;
		return -fd;
	}
	top->fd = fd;
	levels->open++;
	return 0;
}

void libcosy_levels_pop(struct libcosy_levels *levels)
{
	struct level *top = libcosy_level_top(levels);

	/* It opens while this one is still open, so close the descriptor that is due first. */
	if (levels->count > 1 && top[-1].fd < 0 && !top[-1].error) {
		levels_close(levels);
		while (!level_ascend(levels, levels->count - 2) && top->fd >= 0 &&
		       (errno == EMFILE || errno == ENFILE) && libcosy_levels_shed(levels))
			;
	}
	levels->count--;
	if (top->fd < 0)
		return;
	levels_close(levels);
	levels->closing = top->fd;
	levels->open--;
}
