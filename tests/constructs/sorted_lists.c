// SPDX-License-Identifier: MIT
// qsort, bsearch and scandir in the middle of regions, which go on after them.
// expect: compiled
// expect with -fexceptions: native: libc's streams are in user space
// native with -fsanitize=address
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct item {
	int key, number;
};

/* Many are equal: their order is libc's own. */
static int by_key(const void *a, const void *b)
{
	return ((const struct item *)a)->key - ((const struct item *)b)->key;
}

static unsigned long sort_items(int count)
{
	struct item items[200];
	unsigned long sum = 0;
	struct item *found, wanted = {5, 0};

	COSY_START;
	for (int i = 0; i < count; i++) {
		items[i].key = i * 7 % 10;
		items[i].number = i + (getpid() > 0);
	}
	qsort(items, count, sizeof(*items), by_key);
	for (int i = 0; i < count; i++)
		sum = sum * 31 + items[i].number + (getppid() < 0);
	found = bsearch(&wanted, items, count, sizeof(*items), by_key);
	sum = sum * 31 + (found ? found->key : 99);
	COSY_END;
	return sum;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names of a directory, sorted, each examined; and the directories in it. */
static void examine(const char *path, int depth, unsigned long *sum)
{
	char *name[32], at[256];
	struct dirent *entry;
	int count = 0;
	DIR *dir = opendir(path);

	if (!dir) {
		perror(path);
		return;
	}
	while ((entry = readdir(dir)) && count < 32)
		if (entry->d_name[0] != '.')
			name[count++] = strdup(entry->d_name);
	closedir(dir);
	qsort(name, count, sizeof(*name), by_name);
	for (int i = 0; i < count; i++) {
		struct stat st;

		snprintf(at, sizeof(at), "%s/%s", path, name[i]);
		if (lstat(at, &st) == 0 && S_ISDIR(st.st_mode))
			examine(at, depth + 1, sum);
		for (const char *p = name[i]; *p; p++)
			*sum = *sum * 31 + (unsigned char)*p + depth;
		free(name[i]);
	}
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static unsigned long scan(const char *path)
{
	struct dirent **list = NULL;
	unsigned long sum = 0;
	int count = 0;

	COSY_START;
	count = scandir(path, &list, visible, alphasort);
	for (int i = 0; i < count; i++) {
		char at[256];
		struct stat st;

		snprintf(at, sizeof(at), "%s/%s", path, list[i]->d_name);
		if (lstat(at, &st) == 0)
			sum = sum * 31 + S_ISDIR(st.st_mode) + (unsigned char)list[i]->d_name[0];
		free(list[i]);
	}
	free(list);
	COSY_END;
	return sum;
}

static void make(const char *root)
{
	static const char *const names[] = {"b",     "a/",	  "c",	  "a/z", "a/y/",
					    "a/y/x", "long name", "a/10", "a/9"};
	char path[256];

	mkdir(root, 0700);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		if (names[i][strlen(names[i]) - 1] == '/')
			mkdir(path, 0700);
		else
			close(open(path, O_CREAT | O_WRONLY, 0600));
	}
}

static void drop(const char *root)
{
	static const char *const names[] = {"a/9", "a/10", "long name", "a/y/x", "a/y",
					    "a/z", "c",	   "a",		"b",	 ""};
	char path[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, names[i]);
		remove(path);
	}
}

int main(void)
{
	char root[] = "/tmp/cosy-sorted-XXXXXX";
	unsigned long sum = 0;

	printf("%lx %lx %lx\n", sort_items(200), sort_items(1), sort_items(0));
	if (!mkdtemp(root))
		return 1;
	make(root);
	COSY_START;
	examine(root, 1, &sum);
	COSY_END;
	printf("%lx %lx\n", sum, scan(root));
	drop(root);
	return 0;
}
