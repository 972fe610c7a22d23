// SPDX-License-Identifier: MIT
/* reads.c - the main cases of specialised reads: Synthetix's table 3, §5.1, positions. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>

#include "rounds.h"

/* Over the file again and again, on a descriptor that has been read before. */
static double hot(const struct calls *calls, const struct row *row, int fd)
{
	size_t at = file_len;
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++, at += row->len) {
		if (at + row->len > file_len) {
			calls->lseek(fd, 0, SEEK_SET);
			at = 0;
		}
		must_read(calls, fd, row->len);
	}
	return (cpu_now() - start) / row->calls;
}

/* Open, read the file once, close. */
static double once(const struct calls *calls, const struct row *row, int unused)
{
	double start = cpu_now();
	int fd = calls->open(path, O_RDONLY);

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		must_read(calls, fd, row->len);
	calls->close(fd);
	return (cpu_now() - start) / row->calls;
}

/* The next random position; each round has others. */
static off_t somewhere(const struct row *row)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x % (file_len / row->len) * row->len;
}

static double seek_and_read(const struct calls *calls, const struct row *row, int fd)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++) {
		calls->lseek(fd, somewhere(row), SEEK_SET);
		must_read(calls, fd, row->len);
	}
	return (cpu_now() - start) / row->calls;
}

static double pread_at_random(const struct calls *calls, const struct row *row, int fd)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		if (calls->pread(fd, buf, row->len, somewhere(row)) != (ssize_t)row->len)
			exit(1);
	return (cpu_now() - start) / row->calls;
}

/* The C library's own one-byte read, from its own buffer. */
static double chars(const struct row *row, FILE *stream)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		if (getc(stream) == EOF)
			rewind(stream);
	return (cpu_now() - start) / row->calls;
}

static double chars_unlocked(const struct row *row, FILE *stream)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		if (getc_unlocked(stream) == EOF)
			rewind(stream);
	return (cpu_now() - start) / row->calls;
}

const struct row read_rows[] = {
	{"hot", "hot", 1, 65536, 4000, hot, NULL, NULL},
	{"hot", "hot", 512, 65536, 2000, hot, NULL, NULL},
	{"hot", "hot", 4096, 65536, 500, hot, NULL, NULL},
	{"hot", "hot", 8192, 65536, 500, hot, NULL, NULL},
	{"hot", "hot", 65536, 65536, 200, hot, NULL, NULL},
	{"once over", "once over", 1, 65536, 65536, once, NULL, NULL},
	{"once over", "once over", 512, 1 << 20, 2048, once, NULL, NULL},
	{"once over", "once over", 4096, 1 << 22, 1024, once, NULL, NULL},
	{"once over", "once over", 8192, 1 << 22, 512, once, NULL, NULL},
	{"once over", "once over", 65536, 1 << 22, 64, once, NULL, NULL},
	{"readc", "getc", 1, 65536, 16000, hot, "getc", chars},
	{"readc", "getc_unlocked", 1, 65536, 16000, hot, "getc_unlocked", chars_unlocked},
	{"lseek + read", "in 64 KiB", 64, 65536, 2000, seek_and_read, NULL, NULL},
	{"lseek + read", "in 1 MiB", 4096, 1 << 20, 1000, seek_and_read, NULL, NULL},
	{"lseek + read", "in 16 MiB", 4096, 1 << 24, 1000, seek_and_read, NULL, NULL},
	{"pread", "in 1 MiB", 4096, 1 << 20, 4000, pread_at_random, NULL, NULL},
	{"pread", "in 16 MiB", 4096, 1 << 24, 4000, pread_at_random, NULL, NULL},
	{"pread", "in 64 MiB", 4096, 1 << 26, 4000, pread_at_random, NULL, NULL},
	{0},
};
