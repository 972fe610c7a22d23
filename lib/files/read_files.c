// SPDX-License-Identifier: MIT
/* read_files.c - cosy_read_files of <cosy/files.h>. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <cosy/files.h>

#include "files/open.h"

/* Bytes of the buffer at first, and of what a file's read may leave of it. */
#define FIRST_ROOM 65536
#define MIN_ROOM   4096

struct cosy_read_files {
	int dirfd;
	int open_flags;
	const char *const *paths;
	size_t count, next;
	uint64_t max_size; /* UINT64_MAX: no limit */
	char *buffer;
	size_t room;
	struct cosy_file file;
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
	files->dirfd = dirfd;
	files->open_flags = O_RDONLY | O_NOCTTY;
	if (options && options->flags & COSY_READ_NOFOLLOW)
		files->open_flags |= O_NOFOLLOW;
	files->paths = paths;
	files->count = count;
	files->max_size = options && options->max_size ? options->max_size : UINT64_MAX;
	return files;
}

/* Makes the buffer larger, and keeps what is in it.  0, or an errno. */
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

/* Reads an open file to its end.  0 with its bytes in *size, or an errno. */
static int file_read(struct cosy_read_files *files, int fd, size_t *size)
{
	size_t done = 0;
	ssize_t bytes;
	int error;

	do {
		if (files->room - done < MIN_ROOM) {
			error = room_grow(files);
			if (error)
				return error;
		}
		bytes = read(fd, files->buffer + done, files->room - done);
		if (bytes < 0 && errno == EINTR)
			continue;
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
	error = file_read(files, fd, size);
	close(fd);
	return error;
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
	files->file.error = file_read_path(files, files->file.path, &files->file.size);
	files->file.data = files->buffer;
	files->next++;
	*file = &files->file;
	errno = saved;
	return 1;
}

void cosy_read_files_close(struct cosy_read_files *files)
{
	int saved = errno;

	if (!files)
		return;
	free(files->buffer);
	free(files);
	errno = saved;
}
