// SPDX-License-Identifier: MIT
/*
 * fuzz.c [OPERATIONS [SEED]] - the same random calls on two descriptors of one file: by
 * the C library's names, which `cosy run` puts windows behind, and past them to the
 * kernel.  Results, bytes and positions must be the same at every step, while this
 * process and another one write, truncate, extend and rename the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "raw.h"

#define LONGEST 70000
#define SIZE	200000

static char path[64], other[80];
static int mine, theirs; /* by name; to the kernel */
static char a[LONGEST + 200], b[LONGEST + 200];
static unsigned char text[SIZE + LONGEST];
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

static void same_bytes(long got, long want)
{
	same(got, want, "the result");
	for (long i = 0; i < want; i++)
		if (a[i] != b[i])
			same(i, -1, "a byte that differs, at offset");
}

static size_t some_length(void)
{
	switch (chance(8)) {
	case 0:
		return chance(LONGEST);
	case 1:
	case 2:
		return chance(5000);
	default:
		return chance(64);
	}
}

static void do_read(void)
{
	size_t len = some_length();
	long got, want;

	got = read(mine, a, len);
	want = RAW(read, theirs, b, len);
	same_bytes(got, want);
}

/* What windows are for; without it nothing is ever specialised. */
static void do_reads(void)
{
	size_t len = 1 + chance(chance(4) ? 40 : 4096);

	for (int i = 40 + chance(40); i; i--) {
		long got = read(mine, a, len), want = RAW(read, theirs, b, len);

		same_bytes(got, want);
		if (!want)
			return;
	}
}

static void do_pread(void)
{
	size_t len = some_length();
	off_t offset = (off_t)chance(SIZE + SIZE / 5) - 20;

	for (int i = chance(2) ? 1 : 30; i; i--) {
		long got = pread(mine, a, len, offset), want = RAW(pread64, theirs, b, len, offset);

		same_bytes(got, want);
		offset += chance(100);
	}
}

static void do_seek(void)
{
	static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE, 17};
	int whence = whences[chance(10) ? chance(3) : chance(6)];
	off_t offset = whence == SEEK_CUR   ? (off_t)chance(4000) - 2000
		       : whence == SEEK_END ? 100 - (off_t)chance(8000)
					    : chance(SIZE + SIZE / 10);
	long got, want;
	int got_errno;

	if (!chance(50))
		offset = chance(2) ? INT64_MAX - chance(9) : -(off_t)chance(9);
	errno = 0;
	got = lseek(mine, offset, whence);
	got_errno = errno;
	errno = 0;
	want = RAW(lseek, theirs, offset, whence);
	if (got != want || got_errno != errno)
		fprintf(stderr, "lseek to %ld, whence %d, errno %d\n", (long)offset, whence,
			got_errno);
	same(got, want, "the position");
	same(got_errno, errno, "errno");
}

static void do_rewind(void)
{
	same(lseek(mine, 0, SEEK_SET), RAW(lseek, theirs, 0, SEEK_SET), "the position");
}

static void do_readv(void)
{
	size_t len = some_length();
	struct iovec into_a[2] = {{a, 100}, {a + 100, len}}, into_b[2] = {{b, 100}, {b + 100, len}};
	long got = readv(mine, into_a, 2), want = RAW(readv, theirs, into_b, 2);

	same_bytes(got, want);
}

static void do_dup(void)
{
	int copy = chance(2)   ? dup(mine)
		   : chance(2) ? fcntl(mine, F_DUPFD, 20)
			       : dup2(mine, mine == 30 ? 31 : 30);
	size_t len = some_length();
	long got = read(copy, a, len), want = RAW(read, theirs, b, len);

	same_bytes(got, want);
	if (chance(2)) {
		close(mine);
		mine = copy;
	} else {
		close(copy);
	}
}

static void do_dup_over(void)
{
	int copy = open(path, O_RDONLY);

	for (int i = 0; i < 20; i++)
		if (read(copy, a, 1) < 0)
			same(-1, 1, "a read");
	/* Fails, and nothing may have changed. */
	same(dup2(-1, mine), -1, "dup2 of a bad descriptor");
	same(dup2(mine, copy), copy, "dup2");
	if (chance(2)) {
		close(mine);
		mine = copy;
	} else {
		close(copy);
	}
}

static void do_sendfile(void)
{
	int null = open("/dev/null", O_WRONLY);
	size_t len = some_length();

	same(sendfile(null, mine, NULL, len), RAW(sendfile, null, theirs, NULL, len), "the result");
	close(null);
}

static void do_splice(void)
{
	int pipes[2];
	size_t len = 1 + chance(5000);
	long got, want;

	if (pipe(pipes))
		return;
	got = splice(mine, NULL, pipes[1], NULL, len, 0);
	if (got > 0)
		same(read(pipes[0], a, got), got, "what is in the pipe");
	want = RAW(splice, theirs, NULL, pipes[1], NULL, len, 0);
	if (want > 0)
		same(read(pipes[0], b, want), want, "what is in the pipe");
	same_bytes(got, want);
	close(pipes[0]);
	close(pipes[1]);
}

static void do_fork(void)
{
	size_t len = some_length();
	pid_t pid = chance(3) ? fork() : vfork();

	if (!pid) {
		RAW(read, mine, a, len);
		RAW(read, theirs, b, len);
		_exit(0);
	}
	while (waitpid(pid, NULL, 0) < 0)
		;
	do_read();
}

/* The position must be the kernel's when the shell starts. */
static void do_system(void)
{
	char command[120];
	long want;

	snprintf(command, sizeof(command),
		 "read x </proc/$PPID/fdinfo/%d; exit $(( ${x##*:} %% 251 ))", mine);
	want = RAW(lseek, theirs, 0, SEEK_CUR) % 251;
	same(WEXITSTATUS(system(command)), want, "the position that a child sees");
}

static void do_pass(void)
{
	int pair[2], fd = mine, got;
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = {0};
	struct iovec byte = {"x", 1};
	struct msghdr message = {.msg_iov = &byte,
				 .msg_iovlen = 1,
				 .msg_control = control.room,
				 .msg_controllen = sizeof(control.room)};
	char received;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	same(sendmsg(pair[0], &message, 0), 1, "sendmsg");
	byte.iov_base = &received;
	same(recvmsg(pair[1], &message, 0), 1, "recvmsg");
	memcpy(&got, CMSG_DATA(&control.header), sizeof(got));
	same(lseek(got, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR), "the position passed on");
	same(RAW(read, got, a, 10), RAW(read, theirs, b, 10), "a read by the receiver");
	close(got);
	close(pair[0]);
	close(pair[1]);
}

static void do_write(void)
{
	int fd = open(path, O_WRONLY | (chance(4) ? 0 : O_APPEND) | (chance(4) ? 0 : O_NONBLOCK));

	if (fd < 0)
		return;
	lseek(fd, chance(SIZE), SEEK_SET);
	same(write(fd, text + chance(1000), chance(3000)) >= 0, 1, "a write");
	if (chance(2))
		do_reads();
	close(fd);
}

static void do_truncate(void)
{
	if (chance(2)) {
		same(truncate(path, chance(2) ? chance(SIZE) : 4096 * chance(SIZE / 4096)), 0,
		     "truncate");
	} else {
		int fd = open(path, O_WRONLY);

		same(ftruncate(fd, SIZE - 20000 + chance(40000)), 0, "ftruncate");
		close(fd);
	}
}

static void do_rename(void)
{
	same(rename(path, other), 0, "rename");
	do_read();
	same(rename(other, path), 0, "rename");
}

static void do_map(void)
{
	char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, mine, 0);

	if (map != MAP_FAILED)
		munmap(map, 4096);
}

static void do_lock(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 10};

	same(fcntl(mine, F_SETLK, &lock), 0, "a lock");
	do_read();
}

static void do_reopen(void)
{
	close(mine);
	RAW(close, theirs);
	mine = open(path, O_RDONLY | (chance(2) ? O_CLOEXEC : 0));
	theirs = RAW(openat, AT_FDCWD, path, O_RDONLY);
	if (mine < 0 || theirs < 0)
		exit(1);
}

/* The other process: does what a byte asks for, then answers. */
static int writer_commands, writer_answers;

static void write_as_asked(char command)
{
	int fd;

	switch (command) {
	case 0:
		fd = open(path, O_WRONLY);
		lseek(fd, chance(SIZE), SEEK_SET);
		break;
	case 1:
		fd = open(path, O_RDWR | O_APPEND);
		break;
	case 2:
		same(truncate(path, chance(SIZE)), 0, "truncate");
		return;
	default:
		same(rename(path, other), 0, "rename");
		same(rename(other, path), 0, "rename");
		return;
	}
	same(write(fd, text + chance(1000), 3000), 3000, "a write");
	close(fd);
}

static void writer_start(void)
{
	int commands[2], answers[2];
	char command;

	if (pipe(commands) || pipe(answers))
		exit(1);
	writer_commands = commands[1];
	writer_answers = answers[0];
	if (fork()) {
		close(commands[0]);
		close(answers[1]);
		return;
	}
	close(commands[1]);
	close(answers[0]);
	while (read(commands[0], &command, 1) == 1) {
		write_as_asked(command);
		if (write(answers[1], &command, 1) != 1)
			break;
	}
	_exit(0);
}

static void do_writer(void)
{
	char command = chance(4);

	same(write(writer_commands, &command, 1), 1, "a command");
	/* The lease's signal comes in the middle of this. */
	same(read(writer_answers, &command, 1), 1, "an answer");
	do_reads();
}

/* Keeps the size about SIZE. */
static void do_tidy(void)
{
	struct stat st;

	if (!stat(path, &st) && st.st_size < SIZE / 4) {
		int fd = open(path, O_WRONLY);

		same(write(fd, text, SIZE), SIZE, "a write");
		close(fd);
	} else if (st.st_size > 2 * SIZE) {
		same(truncate(path, SIZE), 0, "truncate");
	}
}

static const struct {
	unsigned int weight;
	void (*run)(void);
	const char *name;
} operations[] = {
	{400, do_read, "read"},
	{200, do_reads, "reads"},
	{60, do_pread, "pread"},
	{80, do_seek, "lseek"},
	{20, do_rewind, "rewind"},
	{8, do_readv, "readv"},
	{8, do_dup, "dup"},
	{4, do_dup_over, "dup2"},
	{8, do_sendfile, "sendfile"},
	{4, do_splice, "splice"},
	{2, do_fork, "fork"},
	{1, do_system, "system"},
	{2, do_pass, "SCM_RIGHTS"},
	{10, do_write, "write"},
	{4, do_truncate, "truncate"},
	{3, do_rename, "rename"},
	{3, do_map, "mmap"},
	{3, do_lock, "locks"},
	{20, do_reopen, "reopening"},
	{6, do_tidy, "setting size"},
	{10, do_writer, "another process"},
};

static void run_one(void)
{
	unsigned int total = 0, pick;
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		total += operations[i].weight;
	pick = chance(total);
	for (i = 0; pick >= operations[i].weight; i++)
		pick -= operations[i].weight;
	operation = operations[i].name;
	operations[i].run();
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 20000;
	const char *dir = getenv("TMPDIR");
	int fd;

	chance_state += (argc > 2 ? atol(argv[2]) : 1) * 7919ULL;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = chance(256);
	snprintf(path, sizeof(path), "%s/cosy-read-fuzz.%d", dir ? dir : "/tmp", getpid());
	snprintf(other, sizeof(other), "%s.renamed", path);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, SIZE) != SIZE)
		return 1;
	close(fd);
	writer_start();
	mine = open(path, O_RDONLY);
	theirs = RAW(openat, AT_FDCWD, path, O_RDONLY);
	for (step = 0; step < steps; step++) {
		if (step % 37 == 0) {
			same(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR),
			     "the position");
		}
		run_one();
	}
	unlink(path);
	printf("%ld operations\n", steps);
	return 0;
}
