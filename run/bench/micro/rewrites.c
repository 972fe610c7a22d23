// SPDX-License-Identifier: MIT
/*
 * rewrites.c - the call sequences that `cosy run --relax` is for ("Poking holes in the
 * black box", §4.2): by the clock, since file systems write after a close.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "rounds.h"

static const char *written(void)
{
	static char name[sizeof(path) + 10];

	snprintf(name, sizeof(name), "%s.written", path);
	return name;
}

static void must_write(const struct calls *calls, int fd, size_t len)
{
	if (calls->write(fd, buf, len) != (ssize_t)len) {
		perror("a write");
		exit(1);
	}
}

/* squid's case: a file is emptied, written again and closed. */
static double rewrite(const struct calls *calls, const struct row *row, int unused)
{
	double start = wall_now();

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		int fd = calls->open(written(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

		must_write(calls, fd, row->len);
		calls->close(fd);
	}
	return (wall_now() - start) / row->calls;
}

/* A log: many small writes between open and close. */
static double small_writes(const struct calls *calls, const struct row *row, int unused)
{
	int fd = calls->open(written(), O_WRONLY | O_CREAT | O_APPEND, 0600);
	double start = wall_now(), spent;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		must_write(calls, fd, row->len);
	calls->close(fd);
	spent = wall_now() - start;
	unlink(written());
	return spent / row->calls;
}

static double copy(const struct calls *calls, const struct row *row, int unused)
{
	double start = wall_now(), spent;
	int from = calls->open(path, O_RDONLY);
	int to = calls->open(written(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		must_read(calls, from, row->len);
		must_write(calls, to, row->len);
	}
	calls->close(to);
	calls->close(from);
	spent = wall_now() - start;
	unlink(written());
	return spent / row->calls;
}

const struct row rewrite_rows[] = {
	{"relax=trunc", "open(O_TRUNC) + write + close", 4096, 4096, 50, rewrite, NULL, NULL},
	{"relax=trunc", "open(O_TRUNC) + write + close", 65536, 4096, 20, rewrite, NULL, NULL},
	{"relax=coalesce", "write", 1, 4096, 2000, small_writes, NULL, NULL},
	{"relax=coalesce", "write", 64, 4096, 2000, small_writes, NULL, NULL},
	{"relax=coalesce", "write", 1024, 4096, 500, small_writes, NULL, NULL},
	{"relax=reflink", "read + write", 4096, 1 << 22, 1024, copy, NULL, NULL},
	{0},
};
