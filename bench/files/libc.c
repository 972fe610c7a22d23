// SPDX-License-Identifier: MIT
/* libc.c - the work by libc's functions, each in the way that takes least. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "work.h"

static int name_is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

uint64_t work_scan(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat stat;

	while ((entry = readdir(dir)))
		if (!name_is_dots(entry->d_name) &&
		    !fstatat(dirfd(dir), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			sum += sum_file(entry->d_name, stat.st_size, stat.st_mode);
	closedir(dir);
	return sum;
}

/* fts takes more. */
static uint64_t walk_from(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	uint64_t sum = 0;
	struct stat stat;

	while ((entry = readdir(dir))) {
		if (name_is_dots(entry->d_name) ||
		    fstatat(fd, entry->d_name, &stat, AT_SYMLINK_NOFOLLOW))
			continue;
		sum += sum_file(entry->d_name, stat.st_size, stat.st_mode);
		if (S_ISDIR(stat.st_mode))
			sum += walk_from(openat(fd, entry->d_name,
						O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	}
	closedir(dir);
	return sum;
}

uint64_t work_walk(void)
{
	return walk_from(open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

uint64_t work_stat(const char *const *names, int count)
{
	struct statx statx_buffer;
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		if (!statx(AT_FDCWD, names[i], AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
			   &statx_buffer))
			sum += sum_file(names[i], statx_buffer.stx_size, statx_buffer.stx_mode);
	return sum;
}

uint64_t work_read(const char *const *names, int count)
{
	static char buffer[65536];
	uint64_t sum = 0;
	ssize_t bytes;
	int fd;

	for (int i = 0; i < count; i++) {
		size_t size = 0;

		fd = open(names[i], O_RDONLY | O_CLOEXEC);
		while ((bytes = read(fd, buffer + size, sizeof(buffer) - size)) > 0)
			size += bytes;
		close(fd);
		sum += sum_bytes(buffer, size);
	}
	return sum;
}
