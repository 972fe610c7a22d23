// SPDX-License-Identifier: MIT
/*
 * driver.c - runs the programs of bench/files in a virtual machine where the clock counts
 * instructions, and prints a line of JSON for each work, size and contender.
 *
 * `whole` is a process from fork to wait that does the work once, after others have: the user's
 * history is as in daily use.  It is the median of several: the kernel's own work differs from
 * process to process.  `each` is one entry of the last of several turns in one process.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Processes before those that are measured, these, and turns for `each`. */
#define BEFORE	      12
#define MEASURED      9
#define BEFORE_TREE   2
#define MEASURED_TREE 3
#define TURNS	      6

static const int sizes[] = {20, 500, 5000};

static long long now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void file_make(const char *path, int size)
{
	static char bytes[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (write(fd, bytes, size) != size || close(fd))
		exit(2);
}

/* Makes flat/COUNT, files in one directory, and tree/COUNT, 20 in each of many. */
static void files_make(int count)
{
	char path[128];

	snprintf(path, sizeof(path), "flat/%d", count);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "tree/%d", count);
	mkdir(path, 0755);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "flat/%d/file-%d", count, i);
		file_make(path, i * 37 % 4000);
		snprintf(path, sizeof(path), "tree/%d/part-%d", count, i / 400);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "tree/%d/part-%d/dir-%d", count, i / 400, i / 20);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "tree/%d/part-%d/dir-%d/file-%d", count, i / 400,
			 i / 20, i);
		file_make(path, i * 37 % 4000);
	}
}

/* Starts a command, which writes to `output`. */
static pid_t command_start(char *const argv[], int output)
{
	pid_t pid = vfork();

	if (!pid) {
		dup2(output, 1);
		execv(argv[0], argv);
		_exit(127);
	}
	return pid;
}

/* Runs a command; returns its instructions, and what it printed. */
static long long command_run(char *const argv[], char *said, size_t room)
{
	long long begun, ended;
	int ends[2], status;
	ssize_t bytes;

	if (pipe(ends))
		exit(2);
	begun = now();
	waitpid(command_start(argv, ends[1]), &status, 0);
	ended = now();
	close(ends[1]);
	bytes = read(ends[0], said, room - 1);
	said[bytes > 0 ? bytes : 0] = 0;
	close(ends[0]);
	if (status) {
		fprintf(stderr, "driver: %s %s: status %d\n", argv[0], argv[1], status);
		exit(1);
	}
	return ended - begun;
}

static int number_compare(const void *left, const void *right)
{
	long long a = *(const long long *)left, b = *(const long long *)right;

	return (a > b) - (a < b);
}

static long long median(long long *numbers, int count)
{
	qsort(numbers, count, sizeof(*numbers), number_compare);
	return numbers[count / 2];
}

static void work_measure(const char *place, const char *work, const char *kind, int count)
{
	static const char *const contenders[] = {"libc", "cosy"};
	char program[128], dir[64], files[16], turns[16], said[128], first[128] = "";
	char *argv[] = {program, (char *)work, dir, files, turns, NULL};
	long long whole[MEASURED], sum, each;

	snprintf(dir, sizeof(dir), "%s/%d", kind, count);
	snprintf(files, sizeof(files), "%d", count);
	for (int i = 0; i < 2; i++) {
		snprintf(program, sizeof(program), "%s/files-%s", place, contenders[i]);
		strcpy(turns, "1");
		for (int j = 0; j < BEFORE; j++)
			command_run(argv, said, sizeof(said));
		for (int j = 0; j < MEASURED; j++)
			whole[j] = command_run(argv, said, sizeof(said));
		sprintf(turns, "%d", TURNS);
		command_run(argv, said, sizeof(said));
		if (sscanf(said, "%llu %lld", (unsigned long long *)&sum, &each) != 2)
			exit(1);
		*strchr(said, ' ') = 0;
		if (i && strcmp(said, first)) {
			fprintf(stderr, "driver: %s %d: other results\n", work, count);
			exit(1);
		}
		strcpy(first, said);
		printf("{\"work\": \"%s\", \"files\": %d, \"contender\": \"%s\", \"whole\": %lld, "
		       "\"each\": %lld}\n",
		       work, count, contenders[i], median(whole, MEASURED), each / count);
		fflush(stdout);
	}
}

/* Measures a whole tree copied and removed: by the commands, and by the library. */
static void trees_measure(const char *place, int count)
{
	static const char *const names[] = {"libc", "cosy"};
	char program[128], from[64], said[128];
	long long whole[2][MEASURED_TREE];

	snprintf(from, sizeof(from), "tree/%d", count);
	for (int i = 0; i < 2; i++) {
		char *copy[] = {"/t/cp", "-r", from, "copy", NULL};
		char *remove[] = {"/t/rm", "-r", "copy", NULL};
		char *cosy_copy[] = {program, "copy", from, "copy", NULL};
		char *cosy_remove[] = {program, "remove", "copy", NULL};

		snprintf(program, sizeof(program), "%s/files-tree", place);
		for (int j = 0; j < BEFORE_TREE + MEASURED_TREE; j++) {
			int at = j % MEASURED_TREE;

			whole[0][at] = command_run(i ? cosy_copy : copy, said, sizeof(said));
			whole[1][at] = command_run(i ? cosy_remove : remove, said, sizeof(said));
		}
		for (int j = 0; j < 2; j++) {
			long long tree = median(whole[j], MEASURED_TREE);

			printf("{\"work\": \"%s\", \"files\": %d, \"contender\": \"%s\", "
			       "\"whole\": %lld, \"each\": %lld}\n",
			       j ? "remove" : "copy", count, names[i], tree, tree / count);
		}
		fflush(stdout);
	}
}

static bool is_wanted(const char *only, const char *work)
{
	return !only || !strcmp(only, work);
}

/* driver PROGRAMS FOLDER [WORK] */
int main(int argc, char **argv)
{
	static const char *const works[][2] = {
		{"scan", "flat"}, {"walk", "tree"}, {"stat", "flat"}, {"read", "flat"}};
	const char *only = argc == 4 ? argv[3] : NULL;

	if (argc < 3 || argc > 4 || chdir(argv[2]))
		return 2;
	mkdir("flat", 0755);
	mkdir("tree", 0755);
	for (int i = 0; i < 3; i++) {
		files_make(sizes[i]);
		for (int j = 0; j < 4; j++)
			if (is_wanted(only, works[j][0]))
				work_measure(argv[1], works[j][0], works[j][1], sizes[i]);
		if (is_wanted(only, "copy") || is_wanted(only, "remove"))
			trees_measure(argv[1], sizes[i]);
	}
	return 0;
}
