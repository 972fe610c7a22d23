/* SPDX-License-Identifier: MIT */
/*
 * ls.h - a directory of `files` files listed with their attributes, in directory order
 * (FSL-02-01 section 4.3): its region is what ls -l asks the kernel.  With cold=1 the caches
 * of names and attributes are emptied before each pass; with print=1 the lines of ls -l
 * are made and written to /dev/null, which is what GNU ls can be compared with.
 * An operation is one pass.
 */
#ifndef LS_H
#define LS_H

#define _GNU_SOURCE
#include <dirent.h>
#include <stddef.h>

#include "bench.h"

#define NAMES	8192
#define ENTRIES (NAMES / offsetof(struct dirent64, d_name)) /* no name is shorter */

struct entry {
	const char *name;
	struct stat st;
};

static long print, cold;

/* One pass over the open directory, a bufferful of entries after the other given to ls_use. */
static long ls_pass(int dir);

void bench_prepare(void)
{
	long files = bench_number("files", 5000);
	char name[64];

	print = bench_number("print", 0);
	cold = bench_number("cold", 0);
	snprintf(name, sizeof(name), "ls-%ld", files);
	if (mkdir(name, 0700) < 0 && errno != EEXIST)
		bench_fail(name);
	BENCH_TRY(chdir(name));
	snprintf(name, sizeof(name), "file-%05ld", files - 1);
	if (access(name, F_OK) == 0)
		return;
	for (long i = 0; i < files; i++) {
		int fd;

		snprintf(name, sizeof(name), "file-%05ld", i);
		fd = BENCH_TRY(open(name, O_WRONLY | O_CREAT, 0644));
		/* Sizes that differ, without content to write. */
		BENCH_TRY(ftruncate(fd, i));
		close(fd);
	}
}

static void ls_line(FILE *to, const struct entry *e)
{
	char mode[] = "?rwxrwxrwx";

	mode[0] = S_ISDIR(e->st.st_mode) ? 'd' : S_ISREG(e->st.st_mode) ? '-' : '?';
	for (int i = 0; i < 9; i++)
		if (!(e->st.st_mode & (0400 >> i)))
			mode[i + 1] = '-';
	fprintf(to, "%s %lu %u %u %lld %lld %s\n", mode, (unsigned long)e->st.st_nlink,
		e->st.st_uid, e->st.st_gid, (long long)e->st.st_size, (long long)e->st.st_mtime,
		e->name);
}

/* What is done with the attributes; what all contenders must agree on. */
static long ls_use(const struct entry *entries, int count)
{
	static FILE *to;
	long sum = 0;

	if (print && !to)
		to = fopen("/dev/null", "w");
	for (int i = 0; i < count; i++) {
		sum += entries[i].st.st_size + entries[i].st.st_nlink;
		if (print)
			ls_line(to, &entries[i]);
	}
	return sum;
}

/* What a fresh mount would do to the caches of names and attributes. */
static void ls_forget(void)
{
	int fd = BENCH_TRY(open("/proc/sys/vm/drop_caches", O_WRONLY));

	sync();
	BENCH_TRY(write(fd, "3", 1));
	close(fd);
}

long bench_work(long n)
{
	long sum = 0;

	while (n--) {
		int dir;

		if (cold) {
			bench_pause();
			ls_forget();
			bench_resume();
		}
		dir = BENCH_TRY(open(".", O_RDONLY | O_DIRECTORY));
		sum += ls_pass(dir);
		close(dir);
	}
	return sum;
}

#endif /* LS_H */
