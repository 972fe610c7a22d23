/* SPDX-License-Identifier: MIT */
/*
 * grep TEXT FILE...: count the lines that hold TEXT.
 *
 * The grep of FSL-02-01 section 4.3: reads in 4 KB chunks, and a user function
 * searches each chunk, inside the kernel when compiled as a compound.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK	    4096
#define MAX_PATTERN 1024 /* text to look for */

/*
 * The user function.  It counts the lines of data[0..len) with the text in them.  It sets *rest to
 * where the search has to go on when more data follows, and *inside to whether a counted line goes
 * on there.
 */
static long matching_lines(const char *data, size_t len, const char *text, size_t text_len,
			   size_t *rest, int *inside)
{
	const char *p = data, *end = data + len;
	long lines = 0;

	while ((p = memmem(p, end - p, text, text_len))) {
		lines++;
		p = memchr(p, '\n', end - p);
		if (!p) {
			*rest = len;
			*inside = 1;
			return lines;
		}
	}
	*rest = len < text_len ? 0 : len - text_len + 1;
	*inside = 0;
	return lines;
}

/* Counts the matching lines in a file, or returns -1 with errno set. */
static long search(const char *name, const char *text, size_t text_len)
{
	char buf[MAX_PATTERN + CHUNK];
	long lines = 0;

	COSY_START;
	int fd = open(name, O_RDONLY);
	if (fd < 0)
		return -1;
	size_t kept = 0; /* bytes at the start of buf from the chunk before */
	int inside = 0;	 /* that chunk ended inside a line already counted */
	ssize_t n;
	while ((n = read(fd, buf + kept, CHUNK)) > 0) {
		const char *start = buf;
		size_t len = kept + n, rest;

		if (inside) {
			start = memchr(buf, '\n', len);
			if (!start) {
				kept = 0;
				continue;
			}
			len -= start - buf;
		}
		lines += matching_lines(start, len, text, text_len, &rest, &inside);
		kept = len - rest;
		if (kept)
			memmove(buf, start + rest, kept);
	}
	int err = n < 0 ? errno : 0;
	close(fd);
	if (err) {
		errno = err;
		return -1;
	}
	COSY_END;
	return lines;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	long total = 0;
	int failed = 0;

	if (argc < 3 || !*argv[1] || strlen(argv[1]) > MAX_PATTERN || strchr(argv[1], '\n')) {
		fprintf(stderr, "usage: grep TEXT FILE...   (1 to %d bytes, no newline)\n",
			MAX_PATTERN);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 2; i < argc; i++) {
		long lines = search(argv[i], argv[1], strlen(argv[1]));

		if (lines < 0) {
			fprintf(stderr, "grep: %s: %s\n", argv[i], strerror(errno));
			failed = 1;
			continue;
		}
		if (lines)
			printf("%s:%ld\n", argv[i], lines);
		total += lines;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	fprintf(stderr, "lines %ld ns %lld\n", total,
		(end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec);
	return failed ? 2 : total == 0;
}
