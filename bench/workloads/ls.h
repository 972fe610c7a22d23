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
#include "compare.h"

#define NAMES	8192
#define ENTRIES (NAMES / offsetof(struct dirent64, d_name)) /* no name is shorter */

struct entry {
	const char *name;
	struct stat st;
};

static long print, cold;
/* How often each file was among the entries, while they are compared; else NULL. */
static unsigned char *ls_seen;

/* Makes one pass over the open directory, and gives each bufferful of entries to ls_use. */
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
		/* The sizes differ, without content to write. */
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

/* Returns the name of an entry, with its length. */
static const char *ls_text(const struct entry *e, int *len)
{
	static char text[2][512];
	static FILE *to[2];
	static int turn;

	turn = !turn;
	if (!to[turn])
		to[turn] = fmemopen(text[turn], sizeof(text[turn]), "w");
	rewind(to[turn]);
	ls_line(to[turn], e);
	fflush(to[turn]);
	*len = strchr(text[turn], '\n') + 1 - text[turn];
	return text[turn];
}

/*
 * Compares an entry with what a call for it alone says: all that its line has, and what only some
 * contenders ask for.
 */
static void ls_compare(const struct entry *got)
{
	struct entry wanted = {.name = got->name};
	int got_len, wanted_len;
	const char *got_text, *wanted_text;

	if (!strcmp(got->name, ".") || !strcmp(got->name, ".."))
		return;
	BENCH_TRY(lstat(got->name, &wanted.st));
	got_text = ls_text(got, &got_len);
	wanted_text = ls_text(&wanted, &wanted_len);
	compare_bytes(got->name, 0, got_text, wanted_text,
		      got_len < wanted_len ? got_len : wanted_len);
#ifndef LS_LINE_ONLY
	compare_besides(got->name, 0, &got->st, &wanted.st, sizeof(wanted.st));
#endif
	ls_seen[atol(got->name + sizeof("file-") - 1)]++;
}

/* Adds the attributes up; all contenders must agree on the sum. */
static long ls_use(const struct entry *entries, int count)
{
	static FILE *to;
	long sum = 0;

	for (int i = 0; ls_seen && i < count; i++)
		ls_compare(&entries[i]);
	if (print && !to)
		to = fopen("/dev/null", "w");
	for (int i = 0; i < count; i++) {
		sum += entries[i].st.st_size + entries[i].st.st_nlink;
		if (print)
			ls_line(to, &entries[i]);
	}
	return sum;
}

/* Empties the caches of names and attributes, as a fresh mount would. */
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

/* Checks that each file comes once. */
void bench_check(long n, long answer)
{
	const long files = bench_number("files", 5000);
	int dir = BENCH_TRY(open(".", O_RDONLY | O_DIRECTORY));
	char name[64];

	(void)n, (void)answer;
	ls_seen = calloc(files, 1);
	ls_pass(dir);
	for (long i = 0; i < files; i++) {
		snprintf(name, sizeof(name), "file-%05ld", i);
		compare_number(name, 0, ls_seen[i], 1);
	}
	free(ls_seen);
	ls_seen = NULL;
	close(dir);
}

#endif /* LS_H */
