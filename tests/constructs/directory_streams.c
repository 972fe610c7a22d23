// SPDX-License-Identifier: MIT
// Directory streams: opened in the region, outside of it, and closed on the other side.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64];

static unsigned long hash(const char *s)
{
	unsigned long h = 5381;

	while (*s)
		h = h * 33 + (unsigned char)*s++;
	return h;
}

struct found {
	unsigned long names, files, dirs, types, failed;
};

static void walk(const char *path, struct found *found)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;
	char name[400];

	if (!dir) {
		found->failed++;
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		found->names += hash(entry->d_name);
		found->types += entry->d_type;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (lstat(name, &st) < 0) {
			found->failed++;
			continue;
		}
		if (S_ISDIR(st.st_mode)) {
			found->dirs++;
			walk(name, found);
		} else {
			found->files++;
		}
	}
	closedir(dir);
}

static void make_tree(void)
{
	char path[128];

	strcpy(top, "/tmp/cosy-streams-XXXXXX");
	if (!mkdtemp(top))
		exit(1);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/d%d", top, i);
		mkdir(path, 0755);
		for (int j = 0; j < 30 * i; j++) {
			snprintf(path, sizeof(path), "%s/d%d/f%d", top, i, j);
			close(open(path, O_WRONLY | O_CREAT, 0644));
		}
	}
	for (int i = 0; i < 900; i++) {
		snprintf(path, sizeof(path), "%s/d3/a-name-that-is-rather-long-%d", top, i);
		close(open(path, O_WRONLY | O_CREAT, 0644));
	}
}

static void remove_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", top);
	if (system(command))
		puts("rm failed");
}

static int errors(void)
{
	int bad = 0;

	errno = 0;
	bad += opendir("") == NULL && errno == ENOENT;
	bad += opendir("/no/such/directory") == NULL && errno == ENOENT;
	bad += opendir("/proc/self/status") == NULL && errno == ENOTDIR;
	bad += fdopendir(-1) == NULL && errno == EBADF;
	return bad;
}

int main(void)
{
	struct found found = {0};
	unsigned long outside = 0, again = 0, sought = 0, left = 0;
	int bad, fd, same = 0, flags, end;
	struct dirent64 *large;
	struct dirent *entry;
	DIR *dir, *escaped;
	long place = 0;

	make_tree();
	COSY_START;
	walk(top, &found);
	COSY_END;
	printf("%lx %lu %lu %lu %lu\n", found.names, found.files, found.dirs, found.types,
	       found.failed);

	/* From outside, in the middle. */
	dir = opendir(top);
	entry = readdir(dir);
	outside += hash(entry->d_name);
	COSY_START;
	errno = 77;
	while ((entry = readdir(dir)))
		outside += hash(entry->d_name);
	end = errno;
	same = dirfd(dir) >= 0;
	rewinddir(dir);
	while ((large = readdir64(dir)))
		again += hash(large->d_name);
	rewinddir(dir);
	readdir(dir);
	readdir(dir);
	place = telldir(dir);
	entry = readdir(dir);
	sought = hash(entry->d_name);
	seekdir(dir, place);
	entry = readdir(dir);
	sought -= hash(entry->d_name);
	COSY_END;
	printf("%d %d %d %d\n", outside == again, end, same, sought == 0);
	closedir(dir);

	/* To the outside, in the middle. */
	fd = open(top, O_RDONLY | O_DIRECTORY);
	COSY_START;
	escaped = fdopendir(fd);
	entry = readdir(escaped);
	left = hash(entry->d_name);
	flags = fcntl(fd, F_GETFD);
	COSY_END;
	while ((entry = readdir(escaped)))
		left += hash(entry->d_name);
	printf("%d %d %d\n", left == again, flags, dirfd(escaped) == fd);
	printf("%d\n", closedir(escaped));

	COSY_START;
	bad = errors();
	COSY_END;
	printf("%d\n", bad);
	remove_tree();
	return 0;
}
