// SPDX-License-Identifier: MIT
/* read_files.c - cosy_read_files of <cosy/files.h>. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/compounds.h"
#include "files/open.h"

/* Bytes of the buffer at first, and the least that a file's read may leave of it. */
#define FIRST_ROOM 65536
#define MIN_ROOM   4096
/* Bytes of the buffer when the compound reads, and files that it reads at most. */
#define RUN_ROOM 262144
#define MAX_RUN	 128
/*
 * Files to be read by plain calls until the compound is tried again, also after a file that was too
 * large for it: there may be more.
 */
#define MAX_NATIVE 16

struct cosy_read_files {
	int dirfd;
	int open_flags;
	const char *const *paths;
	size_t count, next;
	uint64_t max_size; /* UINT64_MAX: no limit */
	char *buffer;
	size_t room;
	struct cosy_file file;
	/*
	 * Files that the compound has read, from `next` on: their bytes or errors, and where they
	 * are.
	 */
	int64_t results[MAX_RUN];
	size_t result, result_count;
	size_t at;
	/*
	 * The file after these, which the compound has begun: its bytes, and where they are; or -1.
	 */
	int fd;
	size_t begun, begun_at;
	unsigned int natively; /* since it was last tried */
};

struct cosy_read_files *cosy_read_files_open(int dirfd, const char *const *paths, size_t count,
					     const struct cosy_read_options *options)
{
	struct cosy_read_files *files;

	if (options &&
	    (options->size != sizeof(*options) || options->flags & ~COSY_READ_NOFOLLOW)) {
		errno = EINVAL;
		return NULL;
	}
	files = calloc(1, sizeof(*files));
	if (!files)
		return NULL;
	files->fd = -1;
	files->dirfd = dirfd;
	files->open_flags = O_RDONLY | O_NOCTTY;
	if (options && options->flags & COSY_READ_NOFOLLOW)
		files->open_flags |= O_NOFOLLOW;
	files->paths = paths;
	files->count = count;
	files->max_size = options && options->max_size ? options->max_size : UINT64_MAX;
	return files;
}

/* Makes the buffer larger, and keeps its bytes.  0, or an errno. */
static int room_grow(struct cosy_read_files *files)
{
	size_t room = files->room ? files->room * 2 : FIRST_ROOM;
	char *buffer = realloc(files->buffer, room);

	if (!buffer)
		return ENOMEM;
	files->buffer = buffer;
	files->room = room;
	return 0;
}

/*
 * Reads an open file, of which the buffer already has `done` bytes, to its end.  0 with its bytes
 * in *size, or an errno.
 */
static int file_read(struct cosy_read_files *files, int fd, size_t done, size_t *size)
{
	ssize_t bytes;
	int error;

	do {
		if (files->room - done < MIN_ROOM) {
			error = room_grow(files);
			if (error)
				return error;
		}
		do
			bytes = read(fd, files->buffer + done, files->room - done);
		while (bytes < 0 && errno == EINTR);
		if (bytes < 0)
			return errno;
		done += bytes;
		if (done > files->max_size)
			return EFBIG;
	} while (bytes);
	*size = done;
	return 0;
}

static int file_read_path(struct cosy_read_files *files, const char *path, size_t *size)
{
	int error, fd = libcosy_open_file(files->dirfd, path, files->open_flags);

	if (fd < 0)
		return errno;
	error = file_read(files, fd, 0, size);
	close(fd);
	return error;
}

/* Reads the rest of the file that the compound has begun. */
static int file_read_rest(struct cosy_read_files *files, size_t *size)
{
	int error;

	memmove(files->buffer, files->buffer + files->begun_at, files->begun);
	error = file_read(files, files->fd, files->begun, size);
	close(files->fd);
	files->fd = -1;
	return error;
}

/*
 * --- The compound ------------------------------------------------------------------------------
 */

/* Makes sure that the buffer is large enough for many files.  Its bytes are lost. */
static bool room_replace(struct cosy_read_files *files)
{
	if (files->room >= RUN_ROOM)
		return true;
	free(files->buffer);
	files->buffer = malloc(RUN_ROOM);
	files->room = files->buffer ? RUN_ROOM : 0;
	return files->buffer;
}

/* Has the compound read files from `next` on.  False: it read none to its end. */
static bool files_run(struct cosy_read_files *files)
{
	size_t count = files->count - files->next;
	struct files_read words = {
		.dirfd = files->dirfd,
		.flags = files->open_flags | O_CLOEXEC,
		.paths = (uint64_t)&files->paths[files->next],
		.results = (uint64_t)files->results,
		.fd = -1,
	};

	if (files->natively && files->natively < MAX_NATIVE)
		return false;
	if (files->natively)
		libcosy_files_count(FILES_READ, files->natively);
	files->natively = 0;
	if (count < 2 || !libcosy_files_ready(FILES_READ))
		return false;
	if (!room_replace(files))
		return false;
	words.end = (uint64_t)&files->results[count < MAX_RUN ? count : MAX_RUN];
	words.to = (uint64_t)files->buffer;
	words.limit = words.to + files->room;
	files->at = files->result = files->result_count = 0;
	if (!libcosy_files_run(FILES_READ, &words))
		return false;
	files->result_count = (int64_t *)words.results - files->results;
	if (words.fd >= 0) {
		files->fd = words.fd;
		files->begun = words.bytes;
		files->begun_at = words.to - (uint64_t)files->buffer - words.bytes;
	}
	return files->result_count;
}

/* Takes the next file that the compound has read. */
static void file_take(struct cosy_read_files *files, struct cosy_file *file)
{
	int64_t bytes = files->results[files->result++];

	file->data = files->buffer + files->at;
	if (bytes > 0)
		files->at += (bytes + 7) & ~7ll;
	if (bytes < 0)
		file->error = -bytes;
	else if ((uint64_t)bytes > files->max_size)
		file->error = EFBIG;
	else
		file->size = bytes;
}

/* Reads the next file by plain calls.  The buffer is the file's alone. */
static void file_read_natively(struct cosy_read_files *files, struct cosy_file *file)
{
	if (files->fd >= 0)
		file->error = file_read_rest(files, &file->size);
	else
		file->error = file_read_path(files, file->path, &file->size);
	file->data = files->buffer;
	files->natively++;
}

int cosy_read_files_next(struct cosy_read_files *files, const struct cosy_file **file)
{
	int saved = errno;

	if (files->next == files->count)
		return 0;
	files->file = (struct cosy_file){
		.index = files->next,
		.path = files->paths[files->next],
	};
	*file = &files->file;
	if (files->result < files->result_count || (files->fd < 0 && files_run(files)))
		file_take(files, &files->file);
	else
		file_read_natively(files, &files->file);
	files->next++;
	errno = saved;
	return 1;
}

void cosy_read_files_close(struct cosy_read_files *files)
{
	int saved = errno;

	if (!files)
		return;
	if (files->natively)
		libcosy_files_count(FILES_READ, files->natively);
	if (files->fd >= 0)
		close(files->fd);
	free(files->buffer);
	free(files);
	errno = saved;
}
