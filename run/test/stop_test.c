// SPDX-License-Identifier: MIT
/*
 * stop_test.c late|close|close-copy|close-copy-plain|dup|copy|open|fork|wait - tests what one
 * thread may do while another has stopped in a call.
 *
 * A traced process has two threads.  Its first, the worker, is stopped in a call; the second, the
 * helper, is then told to do something, and the worker goes on.
 *
 * late: the worker's read, stopped before each of its instructions, meets a file that has lost its
 *	window and got none again, for want of memory (run with memory=64K).
 * close, dup: the worker's close or dup2, stopped before each of its instructions, meets a read by the
 *	number, which gets the next byte of a file that was there before or is after.  In dup the
 *	former file is read by another name, too.
 * close-copy, close-copy-plain: the worker's close, stopped before each of its instructions, of a
 *	file with a window or without one, meets a dup of the number.  When the close has come to the
 *	kernel, the copy is read until it would have a window, and then the number: it gets the next
 *	byte.
 * copy: the worker's dup, stopped before each of its instructions, meets a close of the number, and an
 *	open that gets it: the copy is of what was there before, or after, and at its position.
 * open: the worker's open for writing that must not wait, stopped before each of its instructions,
 *	meets reads that would earn a window.
 * fork: the worker closes a file and gives a window back; once it has blocked signals the helper
 *	makes a child before each instruction, which needs a window of its own.
 * wait: the worker has stopped while it holds a file; the helper's read sleeps until it goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"

#define LEN	   5000
#define ENOUGH	   60 /* reads that earn a window */
#define EXIT_SKIPS 77

static char paths[2][100];
static const char *mode;
static int shared = -1, second = -1;
static int orders[2], answers[2]; /* pipes, to the helper and from it */

/* Orders to the helper.  Most modes have but one. */
enum { ACT = 'x', COPY = 'd', READ = 'r', CLOSE = 'c' };

static unsigned char byte_at(size_t offset)
{
	return offset * 7 >> 2;
}

static void read_some(int fd, int from)
{
	for (int i = from; i < from + ENOUGH; i++) {
		unsigned char byte;

		CHECK(read(fd, &byte, 1) == 1 && byte == byte_at(i));
	}
}

static void pread_some(int fd)
{
	for (int i = 0; i < ENOUGH; i++) {
		unsigned char byte;

		CHECK(pread(fd, &byte, 1, i) == 1 && byte == byte_at(i));
	}
}

static void open_and_read(void)
{
	int fd = open(paths[1], O_RDONLY);

	CHECK(fd >= 0);
	read_some(fd, 0);
	close(fd);
}

static void take_window_away(void)
{
	int writer = open(paths[0], O_WRONLY | O_NONBLOCK), other = open(paths[1], O_RDONLY);

	CHECK(writer >= 0 && other >= 0);
	close(writer);
	read_some(other, 0);
	pread_some(shared);
	close(other);
}

/* Reads by the number that the worker closes or replaces. */
static void read_meanwhile(void)
{
	unsigned char byte;
	ssize_t got;

	if (!strcmp(mode, "dup"))
		read_some(second, ENOUGH);
	got = read(shared, &byte, 1);
	if (!strcmp(mode, "dup"))
		CHECK(got == 1 && (byte == byte_at(2 * ENOUGH) || byte == byte_at(3 * ENOUGH)));
	else
		CHECK(got == 1 ? byte == byte_at(ENOUGH) : errno == EBADF);
}

/* Copies the number that the worker closes, reads by the copy and by the number, or closes it. */
static void copy_meanwhile(char order)
{
	static int copy = -1;
	int from = strcmp(mode, "close-copy-plain") ? ENOUGH : 0;
	unsigned char byte;

	if (order == COPY) {
		copy = dup(shared);
	} else if (order == READ) {
		CHECK(copy >= 0);
		read_some(copy, from);
		CHECK(read(shared, &byte, 1) == 1 && byte == byte_at(from + ENOUGH));
	} else if (copy >= 0) {
		close(copy);
		copy = -1;
	}
}

/* Has the number name another file, at twice as many bytes. */
static void open_anew(void)
{
	CHECK(!close(shared) && open(paths[1], O_RDONLY) == shared);
	read_some(shared, 0);
	read_some(shared, ENOUGH);
}

static void read_what_is_opened(void)
{
	int fd = open(paths[0], O_RDONLY);

	CHECK(fd >= 0);
	read_some(fd, 0);
	close(second);
	second = fd;
}

static void make_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct rlimit seconds = {10, 10};

		/* It may run in circles with all signals blocked. */
		setrlimit(RLIMIT_CPU, &seconds);
		open_and_read();
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* Runs the helper: an order is a byte, its answer too. */
static void *help(void *unused)
{
	int32_t thread = RAW(gettid, 0);
	char order;

	CHECK(RAW(write, answers[1], &thread, sizeof(thread)) == sizeof(thread));
	while (RAW(read, orders[0], &order, 1) == 1) {
		if (!strcmp(mode, "late"))
			take_window_away();
		else if (!strcmp(mode, "close") || !strcmp(mode, "dup"))
			read_meanwhile();
		else if (!strncmp(mode, "close-copy", 10))
			copy_meanwhile(order);
		else if (!strcmp(mode, "copy"))
			open_anew();
		else if (!strcmp(mode, "open"))
			read_what_is_opened();
		else if (!strcmp(mode, "fork"))
			make_child();
		else
			pread_some(shared);
		CHECK(RAW(write, answers[1], &order, 1) == 1);
	}
	return unused;
}

static inline void mark(void)
{
	__asm__ volatile("int3");
}

static void traced(void)
{
	pthread_t helper;
	unsigned char byte;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		printf("skipped: ptrace: %s\n", strerror(errno));
		exit(EXIT_SKIPS);
	}
	raise(SIGSTOP);
	CHECK(!pthread_create(&helper, NULL, help, NULL));
	mark();
	for (;;) {
		shared = open(paths[0], O_RDONLY);
		CHECK(shared >= 0);
		if (!strcmp(mode, "wait")) {
			mark();
			read_some(shared, 0);
			mark();
			close(shared);
			continue;
		}
		if (strcmp(mode, "close-copy-plain"))
			read_some(shared, 0);
		if (!strcmp(mode, "late")) {
			mark();
			CHECK(read(shared, &byte, 1) == 1);
			mark();
			CHECK(byte == byte_at(ENOUGH));
			read_some(shared, ENOUGH + 1);
			close(shared);
		} else if (!strcmp(mode, "dup")) {
			int other = open(paths[1], O_RDONLY);

			second = dup(shared);
			read_some(other, 0);
			read_some(other, ENOUGH);
			read_some(other, 2 * ENOUGH);
			mark();
			CHECK(dup2(other, shared) == shared);
			mark();
			close(other);
			close(second);
			close(shared);
		} else if (!strcmp(mode, "copy")) {
			int copy;

			mark();
			copy = dup(shared);
			mark();
			CHECK(read(copy, &byte, 1) == 1);
			CHECK(byte == byte_at(ENOUGH) || byte == byte_at(2 * ENOUGH));
			close(copy);
			close(shared);
		} else if (!strcmp(mode, "open")) {
			int writer;

			mark();
			writer = open(paths[0], O_WRONLY | O_NONBLOCK);
			mark();
			CHECK(writer >= 0);
			close(writer);
			close(shared);
		} else {
			mark();
			close(shared);
			mark();
		}
	}
}

/* Lets the worker go on.  Returns what it stopped for. */
static enum { MARK, STEP, CALL } go_on(pid_t worker, int request)
{
	siginfo_t info;
	int status, signal = 0;

	for (;;) {
		CHECK(!ptrace(request, worker, NULL, (void *)(long)signal));
		CHECK(waitpid(worker, &status, __WALL) == worker);
		if (WIFEXITED(status))
			exit(WEXITSTATUS(status) ? WEXITSTATUS(status) : 1);
		if (WIFSIGNALED(status)) {
			printf("the worker died of signal %d\n", WTERMSIG(status));
			exit(1);
		}
		signal = WSTOPSIG(status);
		if (signal == (SIGTRAP | 0x80))
			return CALL;
		CHECK(!ptrace(PTRACE_GETSIGINFO, worker, NULL, &info));
		if (signal == SIGTRAP)
			return info.si_code == SI_KERNEL ? MARK : STEP;
	}
}

static void tell_helper(char order)
{
	CHECK(write(orders[1], &order, 1) == 1);
}

static void hear_helper(void)
{
	char answer;

	CHECK(read(answers[0], &answer, 1) == 1);
}

static bool blocks_signals(pid_t worker)
{
	uint64_t mask;

	CHECK(!ptrace(PTRACE_GETSIGMASK, worker, (void *)sizeof(mask), &mask));
	return mask >> (SIGTERM - 1) & 1;
}

/* Returns the clock ticks that a thread has run for. */
static long ticks(pid_t worker, pid_t thread)
{
	char path[64], text[500], *at;
	unsigned long user, system;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", worker, thread);
	file = fopen(path, "r");
	CHECK(file && fgets(text, sizeof(text), file));
	fclose(file);
	at = strrchr(text, ')');
	CHECK(at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			   &system) == 2);
	return user + system;
}

/* True if it sleeps until another thread wakes it. */
static bool sleeps(pid_t worker, pid_t thread)
{
	char path[64];
	long call = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", worker, thread);
	file = fopen(path, "r");
	CHECK(file);
	if (fscanf(file, "%ld", &call) != 1)
		call = -1;
	fclose(file);
	return call == SYS_futex;
}

static bool answers_within(int ms)
{
	struct pollfd answer = {.fd = answers[0], .events = POLLIN};

	return poll(&answer, 1, ms) == 1;
}

/*
 * Gives the helper an order.  While it has to wait for what the worker holds, the worker goes on, as
 * `request` says.  True: up to the mark.
 */
static bool helper_does(char order, pid_t worker, pid_t helper, int request)
{
	bool done = false;

	tell_helper(order);
	while (!answers_within(10)) {
		if (!done && sleeps(worker, helper))
			done = go_on(worker, request) == MARK;
	}
	hear_helper();
	return done;
}

/* Lets the worker go to its next call, and so many instructions into it; false: it has no more. */
static bool goes_into_call(pid_t worker, int instructions)
{
	bool done = false;

	CHECK(go_on(worker, PTRACE_CONT) == MARK);
	for (int i = 0; i < instructions && !done; i++)
		done = go_on(worker, PTRACE_SINGLESTEP) == MARK;
	return !done;
}

/* Stops before each instruction of a call, in a call of its own. */
static int each_alone(pid_t worker, pid_t helper)
{
	for (int count = 0;; count++) {
		if (!goes_into_call(worker, count))
			return count;
		CHECK(helper_does(ACT, worker, helper, PTRACE_CONT) ||
		      go_on(worker, PTRACE_CONT) == MARK);
	}
}

/* Lets the worker go on until it asks the kernel to close the number; false: to the mark. */
static bool goes_to_close(pid_t worker)
{
	struct user_regs_struct registers;
	int number = (int)ptrace(PTRACE_PEEKDATA, worker, &shared, NULL);

	do {
		if (go_on(worker, PTRACE_SYSCALL) == MARK)
			return false;
		CHECK(!ptrace(PTRACE_GETREGS, worker, NULL, &registers));
	} while (registers.orig_rax != SYS_close || (int)registers.rdi != number);
	return true;
}

/* Stops before each instruction of a close, in a close of its own, and where the kernel does it. */
static int each_until_close(pid_t worker, pid_t helper)
{
	int reads = 0;

	for (int count = 0;; count++) {
		if (!goes_into_call(worker, count))
			return reads;
		if (!helper_does(COPY, worker, helper, PTRACE_SINGLESTEP)) {
			if (goes_to_close(worker)) {
				reads++;
				CHECK(!helper_does(READ, worker, helper, PTRACE_SYSCALL));
				CHECK(go_on(worker, PTRACE_CONT) == MARK);
			}
		}
		CHECK(!helper_does(CLOSE, worker, helper, PTRACE_CONT));
	}
}

/* Stops before each instruction of one call, once it holds something. */
static int all_of_one(pid_t worker, pid_t helper)
{
	int count = 0;

	CHECK(go_on(worker, PTRACE_CONT) == MARK);
	while (go_on(worker, PTRACE_SINGLESTEP) != MARK) {
		if (!count && !blocks_signals(worker))
			continue;
		count++;
		if (helper_does(ACT, worker, helper, PTRACE_SINGLESTEP))
			break;
	}
	return count;
}

static void stop_in_lease(pid_t worker)
{
	struct user_regs_struct registers;

	do {
		CHECK(go_on(worker, PTRACE_SYSCALL) == CALL);
		CHECK(!ptrace(PTRACE_GETREGS, worker, NULL, &registers));
	} while (registers.orig_rax != SYS_fcntl || registers.rsi != F_SETLEASE);
}

static int while_held(pid_t worker, pid_t helper)
{
	long before = ticks(worker, helper);

	CHECK(go_on(worker, PTRACE_CONT) == MARK);
	stop_in_lease(worker);
	tell_helper(ACT);
	while (!sleeps(worker, helper)) {
		if (ticks(worker, helper) - before > 20) {
			printf("the helper runs in circles\n");
			exit(1);
		}
		RAW(sched_yield, 0);
	}
	CHECK(go_on(worker, PTRACE_CONT) == MARK);
	hear_helper();
	return 1;
}

/* Returns the helper's number; the worker is about to begin. */
static pid_t attach(pid_t worker)
{
	int32_t helper;
	int status;

	CHECK(waitpid(worker, &status, 0) == worker);
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	CHECK(!ptrace(PTRACE_SETOPTIONS, worker, NULL,
		      (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD)));
	CHECK(go_on(worker, PTRACE_CONT) == MARK);
	CHECK(read(answers[0], &helper, sizeof(helper)) == sizeof(helper));
	return helper;
}

static void make_files(void)
{
	const char *dir = getenv("TMPDIR");

	for (int i = 0; i < 2; i++) {
		int fd;

		snprintf(paths[i], sizeof(paths[i]), "%s/cosy-run-stop.%d.%d", dir ? dir : "/tmp",
			 getpid(), i);
		fd = open(paths[i], O_CREAT | O_TRUNC | O_WRONLY, 0600);
		CHECK(fd >= 0);
		for (size_t at = 0; at < LEN; at++) {
			unsigned char byte = byte_at(at);

			CHECK(write(fd, &byte, 1) == 1);
		}
		close(fd);
	}
}

static void remove_files(void)
{
	for (int i = 0; i < 2; i++)
		unlink(paths[i]);
}

int main(int argc, char **argv)
{
	pid_t worker, helper;
	int times;

	mode = argc > 1 ? argv[1] : "late";
	make_files();
	CHECK(!pipe(orders) && !pipe(answers));
	worker = fork();
	if (!worker)
		traced();
	atexit(remove_files);
	close(answers[1]);
	helper = attach(worker);
	if (!strcmp(mode, "fork"))
		times = all_of_one(worker, helper);
	else if (!strcmp(mode, "wait"))
		times = while_held(worker, helper);
	else if (!strncmp(mode, "close-copy", 10))
		times = each_until_close(worker, helper);
	else
		times = each_alone(worker, helper);
	printf("stopped %d times\n", times);
	return times ? 0 : 1;
}
