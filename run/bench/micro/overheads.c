// SPDX-License-Identifier: MIT
/*
 * overheads.c - what specialising costs where there is nothing to gain: Synthetix §4.2 to
 * §4.5.  What is measured leaves out what only prepares it.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "rounds.h"
#include "syscall.h"

#define OPEN_AT_ONCE 50
#define BEFORE	     200 /* reads that specialise a file, whatever windows cost so far */

/* Opens a number of descriptors and closes them; the time of one half. */
static double open_or_close(const struct calls *calls, const struct row *row, bool closing)
{
	int fds[OPEN_AT_ONCE];
	double spent = 0;

	for (unsigned int done = 0; done < row->calls; done += OPEN_AT_ONCE) {
		double start = wall_now(), middle;

		for (int i = 0; i < OPEN_AT_ONCE; i++)
			fds[i] = calls->open(path, O_RDONLY);
		middle = wall_now();
		for (int i = 0; i < OPEN_AT_ONCE; i++)
			calls->close(fds[i]);
		spent += closing ? wall_now() - middle : middle - start;
	}
	return spent / row->calls;
}

static double opens(const struct calls *calls, const struct row *row, int fd)
{
	(void)fd;
	return open_or_close(calls, row, false);
}

static double closes(const struct calls *calls, const struct row *row, int fd)
{
	(void)fd;
	return open_or_close(calls, row, true);
}

/* Guards that do not trigger, on a descriptor that is not specialised. */
static double guard_read(const struct calls *calls, const struct row *row, int unused)
{
	int zero = calls->open("/dev/zero", O_RDONLY);
	double start = cpu_now(), spent;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		must_read(calls, zero, row->len);
	spent = cpu_now() - start;
	calls->close(zero);
	return spent / row->calls;
}

static double guard_lseek(const struct calls *calls, const struct row *row, int unused)
{
	int fd = calls->open(path, O_RDWR);
	double start = cpu_now(), spent;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++)
		calls->lseek(fd, i & 1023, SEEK_SET);
	spent = cpu_now() - start;
	calls->close(fd);
	return spent / row->calls;
}

static double guard_readv(const struct calls *calls, const struct row *row, int fd)
{
	struct iovec into = {buf, row->len};
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		calls->readv(fd, &into, 1);
	return (cpu_now() - start) / row->calls;
}

static double guard_dup(const struct calls *calls, const struct row *row, int fd)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		calls->close(calls->dup(fd));
	return (cpu_now() - start) / row->calls;
}

static double guard_fcntl(const struct calls *calls, const struct row *row, int fd)
{
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++)
		calls->fcntl(fd, F_GETFD);
	return (cpu_now() - start) / row->calls;
}

static double guard_sigprocmask(const struct calls *calls, const struct row *row, int fd)
{
	double start = cpu_now();
	sigset_t none;

	(void)fd;
	sigemptyset(&none);
	for (unsigned int i = 0; i < row->calls; i++)
		calls->sigprocmask(SIG_BLOCK, &none, NULL);
	return (cpu_now() - start) / row->calls;
}

/* A descriptor that reads have specialised, if anything can. */
static int prepared(const struct calls *calls, const struct row *row)
{
	int fd = calls->open(path, O_RDONLY);

	for (int i = 0; i < BEFORE; i++)
		must_read(calls, fd, row->len);
	return fd;
}

/* A call that needs the kernel's position: position, lease and window go back. */
static double replug(const struct calls *calls, const struct row *row, int unused)
{
	double spent = 0;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		int fd = prepared(calls, row);
		struct iovec byte = {buf, 1};
		double start = wall_now();

		calls->readv(fd, &byte, 1);
		spent += wall_now() - start;
		calls->close(fd);
	}
	return spent / row->calls;
}

/* Somebody opens the file for writing: the lease's signal, and its way back. */
static double writer(const struct calls *calls, const struct row *row, int unused)
{
	double spent = 0;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		int fd = prepared(calls, row), other;
		double start = wall_now();

		other = cosy_syscall6(SYS_openat, (unsigned long)AT_FDCWD, (unsigned long)path,
				      O_WRONLY, 0, 0, 0);
		spent += wall_now() - start;
		cosy_syscall3(SYS_close, (unsigned long)other, 0, 0);
		calls->close(fd);
	}
	return spent / row->calls;
}

static double close_specialised(const struct calls *calls, const struct row *row, int unused)
{
	double spent = 0;

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		int fd = prepared(calls, row);
		double start = wall_now();

		calls->close(fd);
		spent += wall_now() - start;
	}
	return spent / row->calls;
}

/* Sixteen reads, and then the position must be the kernel's, again and again. */
static double replug_often(const struct calls *calls, const struct row *row, int fd)
{
	struct iovec byte = {buf, 1};
	double start = cpu_now();

	for (unsigned int i = 0; i < row->calls; i++) {
		calls->lseek(fd, 0, SEEK_SET);
		for (int j = 0; j < 16; j++)
			must_read(calls, fd, row->len);
		calls->readv(fd, &byte, 1);
	}
	return (cpu_now() - start) / row->calls;
}

/* Open, so many reads, close; the name is the number. */
static double reads_per_open(const struct calls *calls, const struct row *row, int unused)
{
	int reads = atoi(row->name);
	double start = cpu_now();

	(void)unused;
	for (unsigned int i = 0; i < row->calls; i++) {
		int fd = calls->open(path, O_RDONLY);

		for (int j = 0; j < reads; j++)
			must_read(calls, fd, row->len);
		calls->close(fd);
	}
	return (cpu_now() - start) / row->calls;
}

#define READS_PER_OPEN(len, file_len, reads, calls)                                                \
	{"reads per open", #reads, len, file_len, calls, reads_per_open, NULL, NULL}

const struct row overhead_rows[] = {
	{"overhead", "open", 0, 65536, 200, opens, NULL, NULL},
	{"overhead", "close", 0, 65536, 200, closes, NULL, NULL},
	{"overhead", "close, specialised", 64, 65536, 20, close_specialised, NULL, NULL},
	{"guard", "read of a device", 1, 4096, 2000, guard_read, NULL, NULL},
	{"guard", "lseek, opened for writing", 0, 4096, 2000, guard_lseek, NULL, NULL},
	{"guard", "readv", 1, 65536, 1000, guard_readv, NULL, NULL},
	{"guard", "dup + close", 0, 4096, 1000, guard_dup, NULL, NULL},
	{"guard", "fcntl(F_GETFD)", 0, 4096, 2000, guard_fcntl, NULL, NULL},
	{"guard", "sigprocmask", 0, 4096, 2000, guard_sigprocmask, NULL, NULL},
	{"replug", "by readv", 64, 65536, 20, replug, NULL, NULL},
	{"replug", "by a writer's open", 64, 65536, 20, writer, NULL, NULL},
	{"replug", "every 16 reads", 1, 65536, 100, replug_often, NULL, NULL},
	READS_PER_OPEN(1, 65536, 1, 200),
	READS_PER_OPEN(1, 65536, 3, 200),
	READS_PER_OPEN(1, 65536, 10, 100),
	READS_PER_OPEN(1, 65536, 20, 100),
	READS_PER_OPEN(1, 65536, 30, 50),
	READS_PER_OPEN(1, 65536, 60, 30),
	READS_PER_OPEN(1, 65536, 100, 20),
	READS_PER_OPEN(1, 65536, 300, 10),
	READS_PER_OPEN(4096, 1 << 22, 1, 200),
	READS_PER_OPEN(4096, 1 << 22, 10, 50),
	READS_PER_OPEN(4096, 1 << 22, 30, 20),
	READS_PER_OPEN(4096, 1 << 22, 100, 5),
	READS_PER_OPEN(4096, 1 << 22, 300, 2),
	{0},
};
