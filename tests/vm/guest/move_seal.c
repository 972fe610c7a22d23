/* SPDX-License-Identifier: MIT */
/*
 * Without the module a parcel is a sealed memfd, which cannot be sealed while the kernel itself holds
 * a page of it, as it does for a moment when it writes back, reclaims or moves pages about: the
 * export tries again.  When it never can be, the error is told and no descriptor is left.
 */
#include "move.h"
#include <limits.h>
#include <stdarg.h>
#include <sys/syscall.h>

static int busy; /* seals that are still to fail */

/* What libcosy calls, too: it is linked into this program. */
int fcntl(int fd, int command, ...)
{
	va_list more;
	long argument;

	va_start(more, command);
	argument = va_arg(more, long);
	va_end(more);
	if (command == F_ADD_SEALS && busy > 0) {
		busy--;
		errno = EBUSY;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* Returns the descriptor that the next open(2) gets. */
static int next_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0 && !close(fd));
	return fd;
}

static void again(enum cosy_how how)
{
	char *memory = move_alloc(2), *there = move_alloc(2);
	int fd;

	memset(memory, 'm', 2 * PAGE);
	busy = 3;
	fd = cosy_export(memory, 2 * PAGE, how);
	CHECK(fd >= 0 && !busy, "how %d: %s, %d left", how, strerror(errno), busy);
	MUST(fd >= 0);
	MUST(cosy_import(fd, there, 2 * PAGE, 0) == (ssize_t)(2 * PAGE));
	CHECK(there[0] == 'm' && there[2 * PAGE - 1] == 'm', "how %d: other bytes came", how);
	close(fd);
	cosy_move_free(memory, 2 * PAGE);
	cosy_move_free(there, 2 * PAGE);
}

static void never(void)
{
	char *memory = move_alloc(1);
	int next = next_descriptor();

	memory[0] = 'm';
	busy = INT_MAX;
	CHECK(cosy_export(memory, PAGE, COSY_COPY) == -1 && errno == EBUSY, "%s", strerror(errno));
	CHECK(cosy_export(memory, PAGE, COSY_DONATE_ZERO) == -1 && errno == EBUSY, "%s",
	      strerror(errno));
	busy = 0;
	CHECK(memory[0] == 'm', "what could not be donated is gone");
	CHECK(next_descriptor() == next, "a descriptor is left");
	cosy_move_free(memory, PAGE);
}

int main(int argc, char **argv)
{
	if (argc == 1 && kernel_expected()) {
		MUST(!setenv("COSY_MODE", "native", 1));
		execl("/proc/self/exe", argv[0], "native", NULL);
		MUST(!"exec");
	}
	again(COSY_COPY);
	again(COSY_DONATE);
	again(COSY_DONATE_ZERO);
	never();
	return check_end();
}
