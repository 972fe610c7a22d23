// SPDX-License-Identifier: MIT
/* copy_file.c - see copy_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "files/copy_file.h"
#include "files/open.h"

/* Bytes of a file from which on copy_file_range, which may share blocks, is worth its call. */
#define MIN_RANGE (2 * COPY_BUFFER)
#define MAX_RANGE (1u << 30)

int libcosy_copy_attributes(int fd, const struct stat *stat, uint32_t flags)
{
	const struct timespec times[] = {stat->st_atim, stat->st_mtim};
	struct stat now;
	mode_t mode;

	if (flags & COSY_COPY_OWNER && fchown(fd, stat->st_uid, stat->st_gid))
		return errno;
	if (flags & COSY_COPY_MODE) {
		mode = libcosy_copy_mode(stat, flags);
		/* The special bits of a directory are its own, or inherited. */
		if (S_ISDIR(stat->st_mode) && !(flags & COSY_COPY_OWNER)) {
			if (fstat(fd, &now))
				return errno;
			mode |= now.st_mode & 07000;
		}
		if (fchmod(fd, mode))
			return errno;
	} else if (S_ISDIR(stat->st_mode) && !(flags & COPY_MERGED) &&
		   (stat->st_mode & 0700) != 0700) {
		/* It was made with all of these, to be written to. */
		if (fstat(fd, &now) || fchmod(fd, now.st_mode & 07777 & ~(~stat->st_mode & 0700)))
			return errno;
	}
	return flags & COSY_COPY_TIMES && futimens(fd, times) ? errno : 0;
}

static int bytes_write(int fd, const char *from, size_t size)
{
	ssize_t done;

	while (size) {
		done = write(fd, from, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		from += done;
		size -= done;
	}
	return 0;
}

/* Lets the kernel copy as much as it can; the caller copies the rest. */
static void bytes_share(int from, int to)
{
	ssize_t done;

	do
		done = copy_file_range(from, NULL, to, NULL, MAX_RANGE, 0);
	while (done > 0 || (done < 0 && errno == EINTR));
}

static int bytes_copy(int from, int to, char *buffer)
{
	ssize_t bytes;
	int error = 0;

	do {
		bytes = read(from, buffer, COPY_BUFFER);
		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return errno;
		error = bytes_write(to, buffer, bytes);
	} while (bytes && !error);
	return error;
}

static int file_copy_open(int from, int to, const struct stat *stat, uint32_t flags, char *buffer)
{
	int error;

	if (stat->st_size >= MIN_RANGE)
		bytes_share(from, to);
	error = bytes_copy(from, to, buffer);
	return error ? error : libcosy_copy_attributes(to, stat, flags);
}

static int file_copy_from(int from, int to_dirfd, const char *name, uint32_t flags, char *buffer)
{
	struct stat stat;
	int to, error;

	if (fstat(from, &stat))
		return errno;
	/* It was one when it was listed. */
	if (!S_ISREG(stat.st_mode))
		return ESTALE;
	do
		to = openat(to_dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    stat.st_mode & 0777);
	while (to < 0 && errno == EINTR);
	if (to < 0)
		return errno;
	error = file_copy_open(from, to, &stat, flags, buffer);
	/* Some file systems report write errors only now. */
	if (close(to) && !error && errno != EINTR)
		error = errno;
	return error;
}

/* Opens a regular file, and waits for the end of a lease on it. */
static int file_open_leased(int dirfd, const char *name)
{
	int path = libcosy_open_file(dirfd, name, O_PATH | O_NOFOLLOW), fd = -1, error;
	char link[32];
	struct stat stat;

	if (path < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path);
	if (fstat(path, &stat))
		error = errno;
	else if (!S_ISREG(stat.st_mode))
		error = ESTALE;
	else
		error = (fd = libcosy_open_file(AT_FDCWD, link, O_RDONLY)) < 0 ? errno : 0;
	close(path);
	errno = error;
	return fd;
}

int libcosy_copy_file(int from_dirfd, int to_dirfd, const char *name, uint32_t flags, char *buffer)
{
	/* O_NONBLOCK: it may have become a FIFO. */
	int from =
		libcosy_open_file(from_dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int error;

	if (from < 0 && errno == EWOULDBLOCK)
		from = file_open_leased(from_dirfd, name);
	if (from < 0)
		return errno;
	error = file_copy_from(from, to_dirfd, name, flags, buffer);
	close(from);
	return error;
}
