// SPDX-License-Identifier: MIT
/* filter.c - see filter.h. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/context.h"
#include "process/filter.h"
#include "process/settings.h"
#include "process/start.h"

static struct {
	int fd;
	/* The file that fd was opened for: the program may have closed it and reused the number. */
	dev_t dev;
	ino_t ino;
	pid_t pid;	       /* who opened it; a child can ask it, but not use it */
	bool early;	       /* fd had to be opened when the process began */
	uint64_t objects_seen; /* objects loaded when none of them could arm a filter */
} prepared = {.fd = -1};

/*
 * Calls that libcosy makes, after the start, where a program without it may make none.
 * mmap and mprotect are not listed: malloc makes them as well, and filters against memory that
 * is both written and executed look at their arguments, so they never let every one through.
 */
static const struct needed {
	unsigned int number;
	unsigned int use; /* a LIBCOSY_FILTER_ bit: needed for that alone; 0: always */
	char name[20]; /* an array: the dynamic linker would relocate a pointer in each process */
} needed[] = {
	{SYS_ioctl, 0, "ioctl"},
	{SYS_close, 0, "close"},
	{SYS_munmap, 0, "munmap"},
	{SYS_madvise, 0, "madvise"},
	{SYS_prlimit64, 0, "prlimit64"},
	{SYS_rt_sigprocmask, 0, "rt_sigprocmask"},
	{SYS_openat, LIBCOSY_FILTER_OPENS, "openat"},
	{SYS_fcntl, LIBCOSY_FILTER_MOVES, "fcntl"},
};

/* read(2) of /dev/cosy tells this: a bit for each system call that is let through. */
struct allowed {
	uint8_t calls[64];
	ssize_t bytes;
};

static bool allowed_has(const struct allowed *allowed, const struct needed *call)
{
	return (ssize_t)(call->number / 8) < allowed->bytes &&
	       allowed->calls[call->number / 8] >> call->number % 8 & 1;
}

static const char *filter_forbids_call(const struct needed *call)
{
	static char why[80];

	snprintf(why, sizeof(why), "a seccomp filter does not let every %s through", call->name);
	return why;
}

const char *libcosy_filter_forbids(int fd, unsigned int uses)
{
	struct allowed allowed;

	allowed.bytes = read(fd, allowed.calls, sizeof(allowed.calls));
	if (allowed.bytes <= 0)
		return "the module does not tell what seccomp filters let through";
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if ((!needed[i].use || needed[i].use & uses) && !allowed_has(&allowed, &needed[i]))
			return filter_forbids_call(&needed[i]);
	return NULL;
}

/* --- At the start ------------------------------------------------------------------------ */

/* Tells whether the descriptor is still the file that was opened. */
static bool prepared_is_ours(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == prepared.dev && st.st_ino == prepared.ino;
}

static void prepared_keep(int fd)
{
	struct stat st;

	if (fstat(fd, &st)) {
		close(fd);
		return;
	}
	prepared.dev = st.st_dev;
	prepared.ino = st.st_ino;
	prepared.pid = getpid();
	prepared.fd = fd;
}

static void prepared_open(void)
{
	int fd = open(COSY_DEVICE, O_RDWR | O_CLOEXEC);

	prepared.fd = -1;
	if (fd >= 0)
		prepared_keep(libcosy_move_fd(fd));
}

bool libcosy_filter_prepare(void)
{
	if (prepared_is_ours(prepared.fd)) {
		/* A filter of the parent's may forbid this fork child to open its own. */
		if (libcosy_filter_forbids(prepared.fd, LIBCOSY_FILTER_REOPENS))
			return true;
		close(prepared.fd);
	}
	prepared.fd = -1;
	prepared.early = libcosy_could_arm(&prepared.objects_seen);
	if (!prepared.early)
		return false;
	libcosy_settings_init();
	if (libcosy_settings.mode != COSY_MODE_NATIVE && libcosy_settings.mode != COSY_MODE_INTERP)
		prepared_open();
	return true;
}

/* --- At the first region ------------------------------------------------------------------ */

int libcosy_filter_take(const char **why)
{
	bool reopens;
	int fd;

	*why = NULL;
	if (!prepared.early) {
		if (libcosy_could_arm(&prepared.objects_seen))
			*why = "a library that was loaded later may have armed a seccomp filter";
		return -1;
	}
	fd = __atomic_exchange_n(&prepared.fd, -1, __ATOMIC_RELAXED);
	if (!prepared_is_ours(fd))
		return -1;
	reopens = getpid() != prepared.pid;
	*why = libcosy_filter_forbids(fd, reopens ? LIBCOSY_FILTER_REOPENS : 0);
	if (!*why && !reopens)
		return fd;
	close(fd);
	return -1;
}

void libcosy_filter_put(int fd)
{
	if (prepared.early)
		prepared_keep(fd);
	else
		close(fd);
}
