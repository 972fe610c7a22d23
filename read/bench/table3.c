// SPDX-License-Identifier: MIT
/*
 * table3.c [ROUNDS] - Synthetix's table 3 and what surrounds it, for `cosy run`: the C
 * library's read against the one that the program is given, in turns, on one processor.
 * Prints for each row the medians of both in ns per call and the median of the ratios of
 * neighbours.  Run without `cosy run` it measures itself: 1.00.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_ROUNDS 1001

struct calls {
	int (*open)(const char *path, int flags, ...);
	int (*close)(int fd);
	ssize_t (*read)(int fd, void *buf, size_t len);
	off_t (*lseek)(int fd, off_t offset, int whence);
};

static struct calls ordinary, specialised = {open, close, read, lseek};
static char *buf;
static int rounds = 101;
static char path[200];
static size_t file_len;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values)
{
	qsort(values, rounds, sizeof(*values), by_value);
	return values[rounds / 2];
}

static void must_read(const struct calls *calls, int fd, size_t len)
{
	if (calls->read(fd, buf, len) != (ssize_t)len) {
		fprintf(stderr, "a read was short\n");
		exit(1);
	}
}

/* One round of a row: ns per call. */
struct row {
	const char *name;
	size_t len;	 /* of a read */
	size_t file_len; /* of the file */
	unsigned int calls;
	double (*round)(const struct calls *calls, const struct row *row, int fd);
};

/* Over the file again and again, on a descriptor that has been read before. */
static double hot(const struct calls *calls, const struct row *row, int fd)
{
	size_t at = file_len;
	double start = now();

	for (unsigned int i = 0; i < row->calls; i++, at += row->len) {
		if (at + row->len > file_len) {
			calls->lseek(fd, 0, SEEK_SET);
			at = 0;
		}
		must_read(calls, fd, row->len);
	}
	return (now() - start) / row->calls;
}

/* Open, read the file once, close. */
static double once(const struct calls *calls, const struct row *row, int unused)
{
	double start = now();
	int fd = calls->open(path, O_RDONLY);

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		must_read(calls, fd, row->len);
	calls->close(fd);
	return (now() - start) / row->calls;
}

static double seek_and_read(const struct calls *calls, const struct row *row, int fd)
{
	uint64_t x = 88172645463325252ULL;
	double start = now();

	for (unsigned int i = 0; i < row->calls; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		calls->lseek(fd, x % (file_len / row->len) * row->len, SEEK_SET);
		must_read(calls, fd, row->len);
	}
	return (now() - start) / row->calls;
}

/* What guards that do not trigger cost: no read at all. */
static double open_close(const struct calls *calls, const struct row *row, int unused)
{
	double start = now();

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		calls->close(calls->open(path, O_RDONLY));
	return (now() - start) / row->calls;
}

/* Sixteen reads, then the position must be the kernel's: specialising and replugging. */
static double replug(const struct calls *calls, const struct row *row, int fd)
{
	double start = now();

	for (unsigned int i = 0; i < row->calls; i++) {
		calls->lseek(fd, 0, SEEK_SET);
		for (int j = 0; j < 16; j++)
			must_read(calls, fd, row->len);
		calls->lseek(fd, 0, SEEK_DATA);
	}
	return (now() - start) / row->calls;
}

static void write_file(size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(buf, 'x', 1 << 20);
	for (size_t at = 0; at < len; at += 1 << 20) {
		size_t part = len - at < 1 << 20 ? len - at : 1 << 20;

		if (write(fd, buf, part) != (ssize_t)part)
			exit(1);
	}
	close(fd);
	file_len = len;
}

static void measure(const struct row *row)
{
	static double plain[MOST_ROUNDS], fast[MOST_ROUNDS], ratio[MOST_ROUNDS];
	int a, b;

	write_file(row->file_len);
	a = ordinary.open(path, O_RDONLY);
	b = specialised.open(path, O_RDONLY);
	for (int i = -3; i < rounds; i++) {
		double was = row->round(&ordinary, row, a), is = row->round(&specialised, row, b);

		if (i < 0)
			continue;
		plain[i] = was;
		fast[i] = is;
		ratio[i] = was / is;
	}
	ordinary.close(a);
	specialised.close(b);
	printf("%-22s %8zu B %10.1f ns %10.1f ns %8.2f x\n", row->name, row->len, median(plain),
	       median(fast), median(ratio));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{"hot", 1, 65536, 4000, hot},
		{"hot", 64, 65536, 4000, hot},
		{"hot", 512, 65536, 2000, hot},
		{"hot", 4096, 65536, 500, hot},
		{"hot", 8192, 65536, 500, hot},
		{"hot", 65536, 65536, 200, hot},
		{"hot, 1 MiB file", 8192, 1 << 20, 500, hot},
		{"once over", 1, 65536, 65536, once},
		{"once over", 512, 1 << 20, 2048, once},
		{"once over", 4096, 1 << 22, 1024, once},
		{"once over", 8192, 1 << 22, 512, once},
		{"once over", 65536, 1 << 22, 64, once},
		{"ten reads per open", 1, 65536, 10, once},
		{"lseek + read", 64, 65536, 2000, seek_and_read},
		{"lseek + read", 4096, 1 << 20, 1000, seek_and_read},
		{"lseek + read, 16 MiB", 4096, 1 << 24, 1000, seek_and_read},
		{"open + close", 0, 65536, 200, open_close},
		{"16 reads and a replug", 1, 65536, 100, replug},
	};
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	const char *dir = getenv("TMPDIR");
	cpu_set_t one;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (rounds < 1 || rounds > MOST_ROUNDS || !libc)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	*(void **)&ordinary.open = dlsym(libc, "open");
	*(void **)&ordinary.close = dlsym(libc, "close");
	*(void **)&ordinary.read = dlsym(libc, "read");
	*(void **)&ordinary.lseek = dlsym(libc, "lseek");
	buf = aligned_alloc(4096, 1 << 20);
	snprintf(path, sizeof(path), "%s/cosy-read-bench.%d", dir ? dir : "/tmp", getpid());
	printf("%-22s %10s %13s %13s %10s\n", "", "", "ordinary", "cosy run", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		measure(&rows[i]);
	unlink(path);
	return 0;
}
