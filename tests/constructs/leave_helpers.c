// SPDX-License-Identifier: MIT
// Functions that make a round's calls and print by themselves, sometimes or at their end: the region ends
// before what they print, and goes on at the loop's head.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {"/", "/nonexistent", ".", "leave_helpers.tmp", "/dev/null/x"};
static int verbose;
static long directories;

/* Prints what it is given, with the error. */
static void warn_about(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(error));
}

/* Without -v, it prints nothing. */
static void tell(const char *name, long value)
{
	if (verbose)
		printf("%s: %ld\n", name, value);
}

static int visit(const char *name, long *size)
{
	struct stat st;

	if (fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW)) {
		warn_about("cannot visit %s", name);
		return -1;
	}
	directories += S_ISDIR(st.st_mode);
	tell(name, S_ISDIR(st.st_mode));
	if (S_ISREG(st.st_mode))
		*size += st.st_size;
	return 0;
}

static long walk(long rounds)
{
	long size = 0, failed = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		if (visit(names[i % 5], &size) < 0) {
			failed++;
			continue;
		}
		size += i;
	}
	COSY_END;
	return size * 100 + failed;
}

/* The loop is within, the output behind it. */
static int lines_of(const char *name)
{
	int fd = open(name, O_RDONLY), lines = 0;
	char c;

	if (fd < 0)
		return -1;
	while (read(fd, &c, 1) == 1)
		lines += c == '\n';
	close(fd);
	printf("%s: %d\n", name, lines);
	return lines;
}

static long count(int rounds)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < rounds; i++) {
		int lines = lines_of(names[i % 5]);

		sum += lines > 0 ? lines : 0;
	}
	COSY_END;
	return sum;
}

/* One that must stay a function of its own. */
__attribute__((noinline)) static long apart(long value)
{
	if (value % 3 == 2)
		printf("apart %ld\n", value);
	return value + (getppid() > 0);
}

static long keep_apart(long rounds)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		sum += getppid() > 0;
		if (i % 2)
			sum = apart(sum);
	}
	COSY_END;
	return sum;
}

/* The first loop of j goes no round in the region: that of k always begins one, and prints. */
static long always_left(long rounds)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		sum += getppid() > 0;
		for (long j = 0; j < 3; j++) {
			for (long k = 0; k < 4; k++)
				printf("%ld of %ld\n", k, sum);
			if (sum & 8) {
				printf("left at %ld\n", sum);
				return sum;
			}
		}
		for (long j = 0; j < 2; j++)
			sum += lseek(-1, j, SEEK_SET) + dup(-1) + 2;
	}
	COSY_END;
	return sum;
}

/* What is to be printed is computed before, with a fraction. */
static void progress(long done, long all)
{
	if (done % 4 == 3) {
		double share = 100.0 * (double)done / (double)all;

		printf("%.1f of 100\n", share);
	}
}

static long with_progress(long rounds)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		sum += getppid() > 0;
		progress(i, rounds);
	}
	COSY_END;
	return sum;
}

/* A local of the loop's is used on both sides of the end. */
static long two_sides(long rounds)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		struct stat st[2];

		st[0].st_nlink = (nlink_t)i;
		st[1].st_size = 3;
		if (stat(names[i % 2], st)) {
			puts("none");
			st[1].st_size += i;
			printf("%ld\n", (long)st[1].st_size);
			continue;
		}
		sum += st[0].st_nlink > 0;
	}
	COSY_END;
	return sum;
}

/* For another processor than the rest. */
__attribute__((target("sse4.2"))) static long checksum(long value)
{
	if (value % 5 == 4)
		printf("sum of %ld\n", value);
	return __builtin_ia32_crc32si(1, (unsigned)value) & (getppid() > 0 ? 0xff : 0);
}

static long other_target(long rounds)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		sum += getppid() > 0;
		if (i & 1)
			sum += checksum(i);
	}
	COSY_END;
	return sum;
}

int main(void)
{
	FILE *file = fopen("leave_helpers.tmp", "w");

	if (!file || fprintf(file, "one\ntwo\nthree\n") < 0 || fclose(file))
		return 1;
	for (long rounds = 0; rounds < 9; rounds++) {
		verbose = rounds == 7;
		printf("%ld %ld", walk(rounds), directories);
		printf(" %ld\n", count((int)rounds));
		printf("%ld %ld\n", keep_apart(rounds), always_left(rounds));
		printf("%ld %ld\n", with_progress(rounds), two_sides(rounds));
		if (__builtin_cpu_supports("sse4.2"))
			printf("%ld\n", other_target(rounds));
	}
	unlink("leave_helpers.tmp");
	return 0;
}
