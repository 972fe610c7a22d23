/* SPDX-License-Identifier: MIT */
/*
 * ls DIRECTORY: list it as ls -l does, in directory order.
 *
 * The directory listing of FSL-02-01 section 4.3: getdents and one stat per
 * entry.  The region fetches a bufferful of names with their attributes, plain
 * C prints them.
 */
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAMES	4096
#define ENTRIES (NAMES / offsetof(struct dirent64, d_name)) /* no name is shorter */

struct entry {
	const char *name;
	int err;
	struct stat st;
};

/* Returns the entries fetched, 0 at the end, -1 with errno set. */
static int fetch(int dir, char *names, struct entry *entries)
{
	int n = 0;

	COSY_START;
	ssize_t len = getdents64(dir, names, NAMES);
	if (len < 0)
		return -1;
	for (ssize_t at = 0; at < len;) {
		struct dirent64 *d = (struct dirent64 *)(names + at);

		entries[n].name = d->d_name;
		entries[n].err = 0;
		if (fstatat(dir, d->d_name, &entries[n].st, AT_SYMLINK_NOFOLLOW) < 0)
			entries[n].err = errno;
		n++;
		at += d->d_reclen;
	}
	COSY_END;
	return n;
}

static char type_letter(mode_t mode)
{
	return S_ISDIR(mode)	? 'd'
	       : S_ISLNK(mode)	? 'l'
	       : S_ISCHR(mode)	? 'c'
	       : S_ISBLK(mode)	? 'b'
	       : S_ISFIFO(mode) ? 'p'
	       : S_ISSOCK(mode) ? 's'
				: '-';
}

static void print(const struct entry *e)
{
	const mode_t mode = e->st.st_mode;
	char perm[] = "rwxrwxrwx";

	for (int i = 0; i < 9; i++)
		if (!(mode & (0400 >> i)))
			perm[i] = '-';
	printf("%c%s %3lu %5u %5u %10lld %10lld %s\n", type_letter(mode), perm,
	       (unsigned long)e->st.st_nlink, e->st.st_uid, e->st.st_gid, (long long)e->st.st_size,
	       (long long)e->st.st_mtime, e->name);
}

static int list(int dir, long *count, long long *ns)
{
	char names[NAMES] __attribute__((aligned(16)));
	struct entry entries[ENTRIES];
	struct timespec start, end;
	int n, failed = 0;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &start);
		n = fetch(dir, names, entries);
		clock_gettime(CLOCK_MONOTONIC, &end);
		*ns += (end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec;
		if (n <= 0)
			return n < 0 ? n : failed;
		for (int i = 0; i < n; i++) {
			if (entries[i].err) {
				fprintf(stderr, "ls: %s: %s\n", entries[i].name,
					strerror(entries[i].err));
				failed = 1;
			} else {
				print(&entries[i]);
			}
		}
		*count += n;
	}
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : ".";
	long count = 0;
	long long ns = 0;
	int dir = open(name, O_RDONLY | O_DIRECTORY);
	int err = dir < 0 ? -1 : list(dir, &count, &ns);

	if (err < 0)
		fprintf(stderr, "ls: %s: %s\n", name, strerror(errno));
	fprintf(stderr, "entries %ld ns %lld\n", count, ns);
	return err != 0;
}
