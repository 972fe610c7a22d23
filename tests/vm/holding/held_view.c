/* SPDX-License-Identifier: MIT */
/*
 * Changes a file in the middle of a region's write to it, where holding.ko holds its thread: when
 * the pages have been found, and whether the write is allowed is asked.  Also counts these questions,
 * which natively each write and each sending of pages has.
 *
 * As root, on two processors.
 */
#include "../guest/script.h"
#include "holding.h"
#include <limits.h>
#include <stdatomic.h>
#include <sys/socket.h>

enum { PAGE = 4096, SIZE = 4 * PAGE, PART = 50, MAX_TRIES = 100 };

static char text[SIZE];
static int file;

/* Shared with the process whose region it is. */
static struct answers {
	_Atomic bool goes, written;
} *answers;

static void file_fill(void)
{
	MUST(!ftruncate(file, 0) && pwrite(file, text, SIZE, 0) == SIZE &&
	     !lseek(file, 0, SEEK_SET));
}

static void check_bytes(off_t at, const char *wanted, size_t size, const char *what)
{
	static char found[SIZE];

	CHECK(pread(file, found, size, at) == (ssize_t)size && !memcmp(found, wanted, size), "%s",
	      what);
}

/* Starts a process's region, which has `file` and a buffer full of 'N'. */
static pid_t region_start(void (*region)(void), int until)
{
	pid_t pid;

	answers->goes = answers->written = false;
	file_fill();
	pid = child_start();
	if (!pid) {
		processor_take(0);
		script_init();
		memset(script_buffer, 'N', SIZE);
		while (!answers->goes)
			sched_yield();
		script_begin();
		region();
		_exit(check_end());
	}
	parameter_set(PARAMETERS "place", PLACE_TRANSFER);
	parameter_set(PARAMETERS "until", until);
	parameter_set(PARAMETERS "thread", pid);
	answers->goes = true;
	return pid;
}

static void region_end(pid_t pid)
{
	int status;

	parameter_set(PARAMETERS "until", INT_MAX);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(!parameter(PARAMETERS "late"), "the region was held for too long");
}

/* Has the region run to the question whether its write is allowed. */
static pid_t region_hold(void (*region)(void))
{
	pid_t pid = region_start(region, 0);

	WAIT_FOR(pid, parameter(PARAMETERS "asked") == 1);
	return pid;
}

/* --- Questions ------------------------------------------------------------------------------ */

static void writes(void)
{
	int r = SYS(pwrite64, file, script_buffer, PART, 100);

	script_run();
	CHECK_RESULT(r, PART);
}

/* Makes a RUN's first read of a file system, which is not by way of a view, and then a view. */
static void views(void)
{
	SYS(pread64, file, script_buffer + SCRIPT_BUFFER - 8, 1, 0);
	OP(view_pread, file, script_buffer, PART, 0);
}

/* It cannot be written, which only the ordinary call finds. */
static void writes_sealed(void)
{
	int fd = memfd_create("sealed", MFD_ALLOW_SEALING), r;

	MUST(fd >= 0 && write(fd, text, SIZE) == SIZE && !fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE));
	r = SYS(pwrite64, fd, script_buffer, PART, 100);
	script_run();
	CHECK_RESULT(r, -EPERM);
}

static void writes_view(void)
{
	int r;

	views();
	r = SYS(pwrite64, file, script_buffer, PART, SIZE);
	script_run();
	CHECK_RESULT(r, PART);
}

static void lends_view(void)
{
	int s[2], r;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	views();
	r = OP(lend, s[0], script_buffer, PART, 0);
	script_run();
	CHECK_RESULT(r, PART);
}

/* Tries again where the region was interrupted, so that it asked less itself. */
static void questions(void (*region)(void), int wanted, const char *what)
{
	int asked = -1;

	for (int i = 0; i < MAX_TRIES && asked != wanted && !check_failures; i++) {
		region_end(region_start(region, INT_MAX));
		asked = parameter(PARAMETERS "asked");
	}
	CHECK(asked == wanted, "%s: asked %d times, not %d", what, asked, wanted);
}

/* --- What comes in between -------------------------------------------------------------------- */

/* A hole is made of the page that is written: the bytes go to a new one. */
static void hole_between(void)
{
	static char wanted[PAGE];
	pid_t pid = region_hold(writes);

	MUST(!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE));
	region_end(pid);
	memset(wanted + 100, 'N', PART);
	check_bytes(0, wanted, PAGE, "written into a hole");
}

/* The file ends before what is written: it grows again. */
static void end_between(void)
{
	static char wanted[100 + PART];
	pid_t pid = region_hold(writes);

	MUST(!ftruncate(file, 10));
	region_end(pid);
	CHECK(lseek(file, 0, SEEK_END) == sizeof(wanted), "%ld bytes", lseek(file, 0, SEEK_END));
	memcpy(wanted, text, 10);
	memset(wanted + 100, 'N', PART);
	check_bytes(0, wanted, sizeof(wanted), "written after the end");
}

static void writes_on(void)
{
	int r = SYS(write, file, script_buffer, PART);

	script_run();
	CHECK_RESULT(r, PART);
}

/* Another process writes by the same position. */
static void write_between(void)
{
	char wanted[2 * PART];
	pid_t pid = region_hold(writes_on), other;

	memset(wanted, 'N', PART);
	memset(wanted + PART, 'O', PART);
	other = child_start();
	if (!other) {
		MUST(write(file, wanted + PART, PART) == PART);
		answers->written = true;
		_exit(0);
	}
	WAIT_FOR(other, answers->written || is_blocked(other));
	region_end(pid);
	MUST(waitpid(other, NULL, 0) == other);
	check_bytes(0, wanted, sizeof(wanted), "one after the other");
	CHECK(lseek(file, 0, SEEK_CUR) == 2 * PART, "position %ld", lseek(file, 0, SEEK_CUR));
}

int main(void)
{
	holding_begin();
	answers = shared_memory(sizeof(*answers));
	directory_enter();
	memset(text, 't', sizeof(text));
	file = open("file", O_RDWR | O_CREAT, 0600);
	MUST(file >= 0);
	questions(writes, 1, "a write");
	questions(writes_view, 3, "a view that is written");
	questions(lends_view, 3, "a view that is lent");
	questions(writes_sealed, 0, "a write to a sealed file");
	hole_between();
	end_between();
	write_between();
	MUST(!close(file) && !unlink("file"));
	directory_leave();
	return check_end();
}
