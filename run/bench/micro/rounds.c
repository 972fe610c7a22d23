// SPDX-License-Identifier: MIT
/*
 * rounds.c [ROUNDS [PART [relaxed]]] - measures the rows of reads.c and overheads.c under
 * `cosy run`, or those of rewrites.c under `cosy run --relax`.
 * Writes a line for each row and contender: see values.h.  PART: an Nth of each row's
 * calls, for a test, no figures.  Without `cosy run` it compares nothing.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "object.h"
#include "rounds.h"
#include "values.h"

#define CONTENDERS 3

static struct calls ordinary,
	given = {open, close, read, write, pread, readv, lseek, dup, fcntl, sigprocmask};
static int rounds = 101, part = 1;
char *buf;
char path[200];
size_t file_len;

void must_read(const struct calls *calls, int fd, size_t len)
{
	if (calls->read(fd, buf, len) != (ssize_t)len) {
		fprintf(stderr, "a read was short\n");
		exit(1);
	}
}

static void write_file(size_t len)
{
	int fd = ordinary.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(buf, 'x', 1 << 20);
	for (size_t at = 0; at < len; at += 1 << 20) {
		size_t size = len - at < 1 << 20 ? len - at : 1 << 20;

		if (write(fd, buf, size) != (ssize_t)size) {
			perror(path);
			exit(1);
		}
	}
	ordinary.close(fd);
	file_len = len;
}

static void measure(const struct row *full)
{
	static double values[CONTENDERS][MAX_ROUNDS];
	struct row row = *full;
	FILE *stream;
	int a, b;

	row.calls = row.calls / part ? row.calls / part : 1;
	write_file(row.file_len);
	a = ordinary.open(path, O_RDONLY);
	b = given.open(path, O_RDONLY);
	stream = fopen(path, "r");
	/* The first three only warm up. */
	for (int i = -3; i < rounds; i++) {
		int at = i < 0 ? 0 : i;

		values[0][at] = row.round(&ordinary, &row, a);
		values[1][at] = row.round(&given, &row, b);
		if (row.other)
			values[2][at] = row.other(&row, stream);
	}
	fclose(stream);
	ordinary.close(a);
	given.close(b);
	if (row.other)
		values_print(row.workload, row.name, row.len, row.other_name, values[2], values[0],
			     rounds);
	values_print(row.workload, row.name, row.len, "cosy run", values[1], values[0], rounds);
	values_print(row.workload, row.name, row.len, "plain", values[0], values[0], rounds);
}

/* Each row in a process of its own: what windows have cost so far is remembered. */
static bool measure_all(const struct row *rows)
{
	for (const struct row *row = rows; row->name; row++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			measure(row);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return true;
	}
	return false;
}

/* Finds libc's own: dlsym gives those of `cosy run`, also by a handle of libc.  False: they are. */
static bool find_ordinary(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	struct object object;

	object_read((const struct link_map *)libc, &object);
#define FIND(name) *(void **)&ordinary.name = object_find(&object, #name)
	FIND(open);
	FIND(close);
	FIND(read);
	FIND(write);
	FIND(pread);
	FIND(readv);
	FIND(lseek);
	FIND(dup);
	FIND(fcntl);
	FIND(sigprocmask);
#undef FIND
	return ordinary.read != given.read;
}

int main(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");
	cpu_set_t one;
	bool failed;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (argc > 2)
		part = atoi(argv[2]);
	if (rounds < 1 || rounds > MAX_ROUNDS || part < 1) {
		fprintf(stderr, "usage: run_rounds [ROUNDS, up to %d [PART [relaxed]]]\n",
			MAX_ROUNDS);
		return 2;
	}
	if (!find_ordinary()) {
		fprintf(stderr, "run_rounds: compares with `cosy run`, under which it is to run\n");
		return 2;
	}
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	buf = aligned_alloc(4096, 1 << 20);
	snprintf(path, sizeof(path), "%s/cosy-run-bench.%d", dir ? dir : "/tmp", getpid());
	if (argc > 3)
		failed = measure_all(rewrite_rows);
	else
		failed = measure_all(read_rows) || measure_all(overhead_rows);
	unlink(path);
	strcat(path, ".written");
	unlink(path);
	return failed;
}
