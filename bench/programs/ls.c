// SPDX-License-Identifier: MIT
/* ls.c - ls -lnR --time-style=+%s: prints each folder's entries by name, with their attributes. */
#include "programs.h"

#define FOLDER	    65536 /* bytes of a folder's names; entries of it */
#define MAX_ENTRIES 4096

struct entry {
	char *name;
	struct stat st;
};

static char path[PATHS];

/* Reads all entries of a folder but hidden ones, unsorted.  Returns their number, or -1. */
static int folder_read(int dir, char *names, struct entry *entries)
{
	int count = 0, failed = 0;
	size_t used = 0;

	COSY_START;
	for (;;) {
		ssize_t len =
			FOLDER - used < 1024 ? -1 : getdents64(dir, names + used, FOLDER - used);

		if (len <= 0) {
			failed = len < 0;
			break;
		}
		for (ssize_t at = 0; at < len && !failed;) {
			struct dirent64 *d = (struct dirent64 *)(names + used + at);

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			if (count == MAX_ENTRIES ||
			    fstatat(dir, d->d_name, &entries[count].st, AT_SYMLINK_NOFOLLOW) < 0) {
				failed = 1;
				break;
			}
			entries[count++].name = d->d_name;
		}
		if (failed)
			break;
		used += (size_t)len;
	}
	COSY_END;
	return failed ? -1 : count;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct entry *const *)a)->name, (*(struct entry *const *)b)->name);
}

static int digits(unsigned long n)
{
	int count = 1;

	for (; n > 9; n /= 10)
		count++;
	return count;
}

static void mode_text(mode_t mode, char *text)
{
	static const char kinds[] = "?pc?d?b?-?l?s???";

	text[0] = kinds[mode >> 12 & 15];
	for (int i = 0; i < 9; i++)
		text[i + 1] = mode & 0400u >> i ? "rwx"[i % 3] : '-';
	if (mode & S_ISUID)
		text[3] = mode & 0100 ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & 010 ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = mode & 1 ? 't' : 'T';
	text[10] = 0;
}

static void folder_print(int dir, struct entry *const *entries, int count)
{
	int links = 0, uid = 0, gid = 0, size = 0;
	long blocks = 0;

	for (int i = 0; i < count; i++) {
		const struct stat *st = &entries[i]->st;

#define WIDEN(width, n) (width = digits(n) > width ? digits(n) : width)
		WIDEN(links, st->st_nlink);
		WIDEN(uid, st->st_uid);
		WIDEN(gid, st->st_gid);
		WIDEN(size, (unsigned long)st->st_size);
		blocks += st->st_blocks;
	}
	printf("%s:\ntotal %ld\n", path, (blocks + 1) / 2);
	for (int i = 0; i < count; i++) {
		const struct stat *st = &entries[i]->st;
		char mode[11], target[PATHS];
		ssize_t len;

		mode_text(st->st_mode, mode);
		printf("%s %*lu %*u %*u %*ld %ld %s", mode, links, (unsigned long)st->st_nlink, uid,
		       st->st_uid, gid, st->st_gid, size, (long)st->st_size, (long)st->st_mtime,
		       entries[i]->name);
		if (S_ISLNK(st->st_mode)) {
			len = readlinkat(dir, entries[i]->name, target, sizeof(target));
			if (len >= 0)
				printf(" -> %.*s", (int)len, target);
		}
		putchar('\n');
	}
}

static void folder_list(int dir, size_t length)
{
	struct entry *entries = malloc(MAX_ENTRIES * sizeof(*entries)), **sorted;
	char *names = malloc(FOLDER);
	int count;

	if (!entries || !names)
		program_fail("malloc");
	count = folder_read(dir, names, entries);
	if (count < 0)
		program_fail(path);
	sorted = malloc((count + 1) * sizeof(*sorted));
	if (!sorted)
		program_fail("malloc");
	for (int i = 0; i < count; i++)
		sorted[i] = &entries[i];
	qsort(sorted, (size_t)count, sizeof(*sorted), by_name);
	folder_print(dir, sorted, count);
	for (int i = 0; i < count; i++) {
		size_t end;
		int fd;

		if (!S_ISDIR(sorted[i]->st.st_mode))
			continue;
		end = path_add(path, length, sorted[i]->name);
		fd = openat(dir, sorted[i]->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
		if (!end || fd < 0)
			program_fail(path);
		putchar('\n');
		folder_list(fd, end);
		close(fd);
		path[length] = 0;
	}
	free(sorted);
	free(names);
	free(entries);
}

int main(int argc, char **argv)
{
	const char *tree = argc > 1 ? argv[1] : ".";
	int root = open(tree, O_RDONLY | O_DIRECTORY);

	if (root < 0 || strlen(tree) >= PATHS)
		program_fail(tree);
	strcpy(path, tree);
	folder_list(root, strlen(path));
	return fflush(stdout) != 0;
}
