// SPDX-License-Identifier: MIT
/*
 * relax_fuzz.c [OPERATIONS [SEED [KINDS]]] - makes the same random calls on two sets of files: by
 * the C library's names, which `cosy run --relax` changes, and past them to the kernel.  Whatever
 * this process can observe must be the same at every step, and so must what another process finds
 * when it opens a file; but for KINDS with "trunc" there may be more after it, since that is what
 * is given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "raw.h"
#include "syscall.h"

/* Makes a call by an instruction, since syscall(2) settles. */
#define KERNEL(name, a, b, c)                                                                      \
	cosy_syscall3(SYS_##name, (unsigned long)(a), (unsigned long)(b), (unsigned long)(c))
#define KERNEL6(name, a, b, c, d)                                                                  \
	cosy_syscall6(SYS_##name, (unsigned long)(a), (unsigned long)(b), (unsigned long)(c),      \
		      (unsigned long)(d), 0, 0)

enum { NAMES = 3, OPEN = 6, MAX_LENGTH = 20000, MAX_SIZE = 1000000 };

/* An open file of each set. */
struct pair {
	int mine, theirs; /* -1: closed */
};

static struct pair pairs[OPEN];
static char names[2][NAMES][80];
static char dir[64];
static unsigned char text[MAX_LENGTH + 1000];
static char a[MAX_SIZE], b[MAX_SIZE];
static bool trunc_allowed;
static long step;
static const char *operation;

static void same(long got, long want, const char *what)
{
	if (got == want)
		return;
	fprintf(stderr, "step %ld, %s: %s is %ld, the kernel's %ld\n", step, operation, what, got,
		want);
	exit(1);
}

/* Compares a call's result, by libc's convention, with the kernel's. */
static void same_result(long got, long want)
{
	same(got < 0 ? -errno : got, want, "the result");
}

static void same_bytes(long len)
{
	for (long i = 0; i < len; i++)
		if (a[i] != b[i])
			same(i, -1, "a byte that differs, at offset");
}

static struct pair *some_pair(void)
{
	unsigned int start = chance(OPEN);

	for (unsigned int i = 0; i < OPEN; i++)
		if (pairs[(start + i) % OPEN].mine >= 0)
			return &pairs[(start + i) % OPEN];
	return NULL;
}

static size_t some_length(void)
{
	return chance(6) ? 1 + chance(100) : chance(MAX_LENGTH);
}

static void do_open(struct pair *ignored)
{
	static const int modes[] = {O_WRONLY, O_WRONLY, O_RDWR, O_RDONLY};
	struct pair *pair = &pairs[chance(OPEN)];
	int flags = modes[chance(4)] | O_CREAT, name = chance(NAMES);

	(void)ignored;
	if (chance(3))
		flags |= O_TRUNC;
	if (!chance(4))
		flags |= O_APPEND;
	if (!chance(4))
		flags |= O_NONBLOCK;
	if ((flags & O_ACCMODE) == O_RDONLY)
		flags &= ~O_TRUNC;
	if (pair->mine >= 0) {
		same(close(pair->mine), 0, "close");
		KERNEL(close, pair->theirs, 0, 0);
	}
	pair->mine = open(names[0][name], flags, 0600);
	pair->theirs = KERNEL6(openat, AT_FDCWD, names[1][name], flags, 0600);
	same(pair->mine >= 0, 1, "an open");
	same(pair->theirs >= 0, 1, "an open by the kernel");
}

static void do_close(struct pair *pair)
{
	same_result(close(pair->mine), KERNEL(close, pair->theirs, 0, 0));
	pair->mine = pair->theirs = -1;
}

static void write_once(struct pair *pair, size_t len)
{
	const unsigned char *from = text + chance(1000);
	long got = write(pair->mine, from, len);

	same_result(got, KERNEL(write, pair->theirs, from, len));
}

static void do_write(struct pair *pair)
{
	write_once(pair, some_length());
}

static void do_writes(struct pair *pair)
{
	for (int i = 10 + chance(60); i; i--)
		write_once(pair, 1 + chance(120));
}

static void do_pwrite(struct pair *pair)
{
	size_t len = some_length();
	off_t at = chance(MAX_SIZE / 30);
	long got = pwrite(pair->mine, text, len, at);

	same_result(got, KERNEL6(pwrite64, pair->theirs, text, len, at));
}

static void do_writev(struct pair *pair)
{
	struct iovec parts[2] = {{text, some_length()}, {text + 500, 17}};
	long got = writev(pair->mine, parts, 2);

	same_result(got, KERNEL(writev, pair->theirs, parts, 2));
}

static void do_read(struct pair *pair)
{
	size_t len = some_length();
	long got = read(pair->mine, a, len);

	same_result(got, KERNEL(read, pair->theirs, b, len));
	same_bytes(got);
}

static void do_pread(struct pair *pair)
{
	size_t len = some_length();
	off_t at = chance(MAX_SIZE / 30);
	long got = pread(pair->mine, a, len, at);

	same_result(got, KERNEL6(pread64, pair->theirs, b, len, at));
	same_bytes(got);
}

static void do_seek(struct pair *pair)
{
	int whence = chance(3);
	off_t offset = chance(2) ? 0 : (long)chance(5000) - (whence == SEEK_SET ? 0 : 2500);
	long got = lseek(pair->mine, offset, whence);

	same_result(got, KERNEL(lseek, pair->theirs, offset, whence));
}

static void do_fstat(struct pair *pair)
{
	struct stat mine, theirs;

	same(fstat(pair->mine, &mine), KERNEL(fstat, pair->theirs, &theirs, 0), "fstat");
	same(mine.st_size, theirs.st_size, "the size");
}

static void do_stat(struct pair *pair)
{
	int name = chance(NAMES);
	struct stat mine = {.st_size = 0}, theirs = {.st_size = 0};

	(void)pair;
	same_result(stat(names[0][name], &mine), KERNEL(stat, names[1][name], &theirs, 0));
	same(mine.st_size, theirs.st_size, "the size");
}

static void do_ftruncate(struct pair *pair)
{
	off_t size = chance(MAX_SIZE / 30);

	same_result(ftruncate(pair->mine, size), KERNEL(ftruncate, pair->theirs, size, 0));
}

static void do_truncate(struct pair *pair)
{
	int name = chance(NAMES);
	off_t size = chance(MAX_SIZE / 30);

	(void)pair;
	same_result(truncate(names[0][name], size), KERNEL(truncate, names[1][name], size, 0));
}

static void do_dup(struct pair *pair)
{
	struct pair *copy = &pairs[chance(OPEN)];

	if (copy == pair)
		return;
	if (copy->mine >= 0) {
		same(dup2(pair->mine, copy->mine), copy->mine, "dup2");
		KERNEL(dup3, pair->theirs, copy->theirs, 0);
	} else {
		copy->mine = chance(2) ? dup(pair->mine) : fcntl(pair->mine, F_DUPFD, 40);
		copy->theirs = KERNEL(dup, pair->theirs, 0, 0);
	}
}

static void do_fcntl(struct pair *pair)
{
	int flags = fcntl(pair->mine, F_GETFL);

	same(flags, KERNEL(fcntl, pair->theirs, F_GETFL, 0), "F_GETFL");
	flags ^= chance(2) ? O_APPEND : O_NONBLOCK;
	same_result(fcntl(pair->mine, F_SETFL, flags), KERNEL(fcntl, pair->theirs, F_SETFL, flags));
}

static void do_stdio(struct pair *pair)
{
	int name = chance(NAMES), fd = KERNEL(open, names[1][name], O_RDONLY, 0);
	FILE *stream = fopen(names[0][name], "r");
	long got, want;

	(void)pair;
	same(!stream, fd < 0, "fopen");
	if (!stream)
		return;
	got = fread(a, 1, MAX_SIZE, stream);
	want = KERNEL(read, fd, b, MAX_SIZE);
	same(got, want, "what stdio reads");
	same_bytes(got);
	fclose(stream);
	KERNEL(close, fd, 0, 0);
}

static void do_map(struct pair *pair)
{
	char *mine = mmap(NULL, 8192, PROT_READ, MAP_SHARED, pair->mine, 0), *theirs;
	struct stat st;
	long len;

	if (mine == MAP_FAILED)
		return;
	KERNEL(fstat, pair->theirs, &st, 0);
	theirs = (char *)cosy_syscall6(SYS_mmap, 0, 8192, PROT_READ, MAP_SHARED, pair->theirs, 0);
	len = st.st_size < 8192 ? st.st_size : 8192;
	memcpy(a, mine, len);
	memcpy(b, theirs, len);
	munmap(mine, 8192);
	munmap(theirs, 8192);
	same_bytes(len);
}

static void do_copy(struct pair *pair)
{
	struct pair *to = some_pair();
	size_t len = some_length();
	long got;

	if (chance(2)) {
		got = sendfile(to->mine, pair->mine, NULL, len);
		same_result(got, KERNEL6(sendfile, to->theirs, pair->theirs, 0, len));
	} else {
		got = copy_file_range(pair->mine, NULL, to->mine, NULL, len, 0);
		same_result(got, cosy_syscall6(SYS_copy_file_range, pair->theirs, 0, to->theirs, 0,
					       len, 0));
	}
}

/* The file of each set that copy loops read; it changes, but seldom. */
static char sources[2][80];

static void source_write(off_t at, size_t len)
{
	int mine = open(sources[0], O_WRONLY | O_CREAT, 0600);
	int theirs = KERNEL6(openat, AT_FDCWD, sources[1], O_WRONLY | O_CREAT, 0600);
	const unsigned char *from = text + chance(1000);

	same(pwrite(mine, from, len, at), len, "a write");
	same(KERNEL6(pwrite64, theirs, from, len, at), len, "a write");
	close(mine);
	KERNEL(close, theirs, 0, 0);
}

static void do_copy_loop(struct pair *pair)
{
	static const size_t lengths[] = {4096, 16384, 20480, 65536, 50000};
	int mine = open(sources[0], O_RDONLY), theirs = KERNEL(open, sources[1], O_RDONLY, 0);
	size_t len = lengths[chance(5)];
	off_t at = chance(4) ? 4096 * chance(30) : chance(100000);

	same(lseek(mine, at, SEEK_SET), KERNEL(lseek, theirs, at, SEEK_SET), "the position");
	if (chance(2))
		same_result(lseek(pair->mine, 0, SEEK_SET),
			    KERNEL(lseek, pair->theirs, 0, SEEK_SET));
	for (int i = 1 + chance(8); i; i--) {
		long got = read(mine, a, len), written;

		same_result(got, KERNEL(read, theirs, b, len));
		same_bytes(got);
		if (!chance(10) && got > 0)
			a[got / 2] = b[got / 2] = i;
		written = write(pair->mine, a, got);
		same_result(written, KERNEL(write, pair->theirs, b, got));
		if (!chance(20))
			write_once(pair, 1 + chance(100));
		if (!chance(30))
			source_write(chance(100000), 1 + chance(MAX_LENGTH));
	}
	close(mine);
	KERNEL(close, theirs, 0, 0);
}

static void do_rename(struct pair *pair)
{
	int from = chance(NAMES), to = chance(NAMES);

	(void)pair;
	if (chance(4))
		same_result(rename(names[0][from], names[0][to]),
			    KERNEL(rename, names[1][from], names[1][to], 0));
	else
		same_result(unlink(names[0][from]), KERNEL(unlink, names[1][from], 0, 0));
}

/* Compares the kernel's bytes of both files, past every library; 0 if they are the same. */
static int compare(int name)
{
	int mine = KERNEL(open, names[0][name], O_RDONLY, 0);
	int theirs = KERNEL(open, names[1][name], O_RDONLY, 0);
	long got, want;

	if (mine < 0 || theirs < 0)
		return (mine < 0) != (theirs < 0);
	got = KERNEL(read, mine, a, MAX_SIZE);
	want = KERNEL(read, theirs, b, MAX_SIZE);
	KERNEL(close, mine, 0, 0);
	KERNEL(close, theirs, 0, 0);
	if (trunc_allowed ? got < want : got != want)
		return 2;
	return memcmp(a, b, want) ? 3 : 0;
}

static void do_fork(struct pair *pair)
{
	pid_t pid = chance(2) ? fork() : vfork();
	int status;

	if (!pid) {
		for (int name = 0; name < NAMES; name++)
			if (compare(name))
				_exit(1);
		/* The position is shared, and the file has this size. */
		if (KERNEL(lseek, pair->mine, 0, SEEK_CUR) !=
		    KERNEL(lseek, pair->theirs, 0, SEEK_CUR))
			_exit(2);
		_exit(KERNEL(lseek, pair->mine, 0, SEEK_END) !=
		      KERNEL(lseek, pair->theirs, 0, SEEK_END));
	}
	same(waitpid(pid, &status, 0), pid, "waitpid");
	same(status, 0, "what a child finds");
}

static void do_system(struct pair *pair)
{
	char command[400];

	(void)pair;
	snprintf(command, sizeof(command), "cmp -s %s %s || ! test -e %s", names[0][0], names[1][0],
		 names[1][0]);
	same(system(command), 0, "what another program finds");
}

/* Asks the other process, which was there before and learns nothing from this one but the time. */
static volatile char *asked;

static void observer_start(void)
{
	asked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork())
		return;
	for (;;) {
		while (!asked[0]) {
			usleep(20);
			if (getppid() == 1)
				_exit(0);
		}
		asked[1] = compare(asked[2]);
		asked[0] = 0;
	}
}

static void do_observe(struct pair *pair)
{
	(void)pair;
	asked[2] = chance(NAMES);
	asked[0] = 1;
	/* An observer that opens a file with bytes to come waits until they are there. */
	while (asked[0])
		KERNEL(sched_yield, 0, 0, 0);
	same(asked[1], 0, "what another process finds");
}

/* Keeps files of the first set no longer than this. */
static void do_tidy(struct pair *pair)
{
	struct stat st;

	if (!fstat(pair->mine, &st) && st.st_size > MAX_SIZE / 4) {
		same_result(ftruncate(pair->mine, 100), KERNEL(ftruncate, pair->theirs, 100, 0));
		lseek(pair->mine, 0, SEEK_SET);
		KERNEL(lseek, pair->theirs, 0, SEEK_SET);
	}
}

static const struct {
	unsigned int weight;
	void (*run)(struct pair *pair);
	const char *name;
} operations[] = {
	{120, do_open, "open"},
	{80, do_close, "close"},
	{200, do_write, "write"},
	{100, do_writes, "writes"},
	{20, do_pwrite, "pwrite"},
	{20, do_writev, "writev"},
	{60, do_read, "read"},
	{30, do_pread, "pread"},
	{60, do_seek, "lseek"},
	{30, do_fstat, "fstat"},
	{20, do_stat, "stat"},
	{15, do_ftruncate, "ftruncate"},
	{10, do_truncate, "truncate"},
	{15, do_dup, "dup"},
	{15, do_fcntl, "fcntl"},
	{10, do_stdio, "stdio"},
	{10, do_map, "mmap"},
	{10, do_copy, "copying"},
	{20, do_copy_loop, "a copy loop"},
	{15, do_rename, "rename"},
	{3, do_fork, "fork"},
	{1, do_system, "system"},
	{30, do_observe, "observing"},
	{60, do_tidy, "setting size"},
};

static void run_one(void)
{
	struct pair *pair = some_pair();
	unsigned int total = 0, pick;
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		total += operations[i].weight;
	pick = chance(total);
	for (i = 0; pick >= operations[i].weight; i++)
		pick -= operations[i].weight;
	if (!pair)
		i = 0;
	operation = operations[i].name;
	operations[i].run(pair);
}

static void all_closed_is_all_the_same(void)
{
	operation = "the end";
	for (unsigned int i = 0; i < OPEN; i++)
		if (pairs[i].mine >= 0)
			do_close(&pairs[i]);
	trunc_allowed = false;
	for (int name = 0; name < NAMES; name++)
		same(compare(name), 0, "what is in the files");
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 20000;
	const char *in = getenv("TMPDIR");

	chance_state += (argc > 2 ? atol(argv[2]) : 1) * 7919ULL;
	trunc_allowed = argc > 3 && strstr(argv[3], "trunc");
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = chance(256);
	snprintf(dir, sizeof(dir), "%s/cosy-relax-fuzz.%d", in ? in : "/tmp", getpid());
	if (mkdir(dir, 0700))
		return 1;
	for (int set = 0; set < 2; set++)
		for (int name = 0; name < NAMES; name++)
			snprintf(names[set][name], sizeof(names[0][0]), "%s/%c%d", dir, 'a' + set,
				 name);
	for (unsigned int i = 0; i < OPEN; i++)
		pairs[i].mine = pairs[i].theirs = -1;
	for (int set = 0; set < 2; set++)
		snprintf(sources[set], sizeof(sources[0]), "%s/%c", dir, 'x' + set);
	for (off_t at = 0; at < 240000; at += MAX_LENGTH)
		source_write(at, MAX_LENGTH);
	observer_start();
	for (step = 0; step < steps; step++) {
		run_one();
		if (step % 997 == 996) {
			bool allowed = trunc_allowed;

			all_closed_is_all_the_same();
			trunc_allowed = allowed;
		}
	}
	all_closed_is_all_the_same();
	for (int set = 0; set < 2; set++)
		for (int name = 0; name < NAMES; name++)
			unlink(names[set][name]);
	unlink(sources[0]);
	unlink(sources[1]);
	rmdir(dir);
	printf("%ld operations\n", steps);
	return 0;
}
