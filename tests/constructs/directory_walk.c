// SPDX-License-Identifier: MIT
// getdents64 and fstatat: entries of variable length in a buffer.
// expect: compiled
// guest: static
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
	char name[32];
	unsigned mode;
	long size;
};

static int list(const char *path, struct entry *out, int max)
{
	char buf[2048];
	int count = 0;

	COSY_START;
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return -1;
	for (;;) {
		ssize_t n = getdents64(fd, buf, sizeof(buf));
		if (n <= 0)
			break;
		for (ssize_t at = 0; at < n && count < max;) {
			struct dirent64 *d = (struct dirent64 *)(buf + at);
			struct stat st;

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			strncpy(out[count].name, d->d_name, sizeof(out->name) - 1);
			out[count].name[31] = 0;
			out[count].mode = st.st_mode;
			out[count].size = st.st_size;
			count++;
		}
	}
	close(fd);
	COSY_END;
	return count;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

int main(void)
{
	static struct entry entries[200];
	char dir[] = "/tmp/cosy-walk-XXXXXX", path[100];
	unsigned sum = 0;

	if (!mkdtemp(dir))
		return 1;
	umask(022);
	for (int i = 0; i < 120; i++) {
		snprintf(path, sizeof(path), "%s/entry-%d", dir, i * 37);
		int fd = open(path, O_CREAT | O_WRONLY, 0600 + i % 64);
		if (ftruncate(fd, i * 1000))
			return 1;
		close(fd);
	}
	int n = list(dir, entries, 200);
	qsort(entries, n, sizeof(entries[0]), by_name);
	for (int i = 0; i < n; i++) {
		sum = sum * 31 + entries[i].mode + entries[i].size + entries[i].name[6];
		snprintf(path, sizeof(path), "%s/%s", dir, entries[i].name);
		unlink(path);
	}
	rmdir(dir);
	printf("%d %u %s %d\n", n, sum, entries[3].name, list("/nonexistent", entries, 1));
	return 0;
}
