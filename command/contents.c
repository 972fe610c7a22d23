// SPDX-License-Identifier: MIT
/* contents.c - see contents.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contents.h"

/* Returns how many bytes there are, at most `size`: the file may have become shorter; or -errno. */
static ssize_t bytes_read(int fd, char *to, size_t size)
{
	size_t had = 0;

	while (had < size) {
		ssize_t n = read(fd, to + had, size - had);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			break;
		had += n > 0 ? n : 0;
	}
	return had;
}

static char *descriptor_read(int fd, size_t max, size_t *size, const char **why)
{
	struct stat st;
	ssize_t had;
	char *ret;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		*why = "it is not a regular file";
		return NULL;
	}
	if (!st.st_size) {
		*why = "it is empty";
		return NULL;
	}
	if ((size_t)st.st_size > max) {
		*why = "it is too large";
		return NULL;
	}
	ret = malloc(st.st_size);
	had = ret ? bytes_read(fd, ret, st.st_size) : -ENOMEM;
	if (had < 0) {
		*why = strerror(-had);
		free(ret);
		return NULL;
	}
	*size = had;
	return ret;
}

char *contents_read(const char *path, size_t max, size_t *size, const char **why)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *ret;

	if (fd < 0) {
		*why = strerror(errno);
		return NULL;
	}
	ret = descriptor_read(fd, max, size, why);
	close(fd);
	return ret;
}
