// SPDX-License-Identifier: MIT
/*
 * watch_order DIR kinds|sorted|random: asks for each of many files once, as programs do that do not go
 * through directories in order.  watch.sh checks how many calls the library served, and from how many
 * entries.
 *
 *	kinds: files of three kinds, made kind by kind, in turns, as make and ninja ask
 *	sorted: the same of two kinds, of which one was copied in the order of its names; so part2 is far
 *		from part3, but part200 is beside part201
 *	random: files of a large directory at random
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 600, KINDS = 3, FILES = 8192 };

static int failures;

static void file_make(const char *name, int size)
{
	int fd = open(name, O_CREAT | O_WRONLY, 0644);

	failures += fd < 0 || ftruncate(fd, size);
	close(fd);
}

static void file_ask(const char *name, int size)
{
	struct stat is;

	failures += stat(name, &is) || is.st_size != size;
}

static void part_name(char *name, int kind, int part)
{
	sprintf(name, "part%d.%c", part, "och"[kind]);
}

static void ask_by_kinds(void)
{
	char name[32];

	for (int kind = 0; kind < KINDS; kind++)
		for (int part = 0; part < PARTS; part++) {
			part_name(name, kind, part);
			file_make(name, KINDS * part + kind);
		}
	for (int part = 0; part < PARTS; part++)
		for (int kind = 0; kind < KINDS; kind++) {
			part_name(name, kind, part);
			file_ask(name, KINDS * part + kind);
		}
}

/* Returns which part comes at this place in the order of the names, "1", "10", "100", "101" and so on. */
static int part_sorted(int place)
{
	int part = 1;

	while (place--) {
		if (part * 10 < PARTS) {
			part *= 10;
			continue;
		}
		while (part % 10 == 9 || part + 1 >= PARTS)
			part /= 10;
		part++;
	}
	return part;
}

static void ask_sorted(void)
{
	char name[32];

	for (int place = 0; place < PARTS - 1; place++) {
		part_name(name, 1, part_sorted(place));
		file_make(name, part_sorted(place));
	}
	for (int part = 1; part < PARTS; part++) {
		part_name(name, 0, part);
		file_make(name, part);
	}
	for (int part = 1; part < PARTS; part++)
		for (int kind = 0; kind < 2; kind++) {
			part_name(name, kind, part);
			file_ask(name, part);
		}
}

/* No table has enough of the directory that many of the next names are there. */
static void ask_at_random(void)
{
	char name[32];

	for (int i = 0; i < FILES; i++) {
		sprintf(name, "file%d", i);
		file_make(name, i);
	}
	/* Each once: FILES is a power of 2, and the factor is odd. */
	for (int i = 0; i < FILES; i++) {
		int at = i * 2477 % FILES;

		sprintf(name, "file%d", at);
		file_ask(name, at);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	mkdir(argv[1], 0755);
	if (chdir(argv[1])) {
		perror(argv[1]);
		return 2;
	}
	if (!strcmp(argv[2], "kinds"))
		ask_by_kinds();
	else if (!strcmp(argv[2], "sorted"))
		ask_sorted();
	else
		ask_at_random();
	if (failures)
		printf("FAIL %s: %d\n", argv[2], failures);
	return failures != 0;
}
