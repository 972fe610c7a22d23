/* SPDX-License-Identifier: MIT */
/*
 * move_parcel.h - what the files of move_parcel share: the parts about what moves (move_parcel.c), and
 * those about what each call returns (move_parcel_results.c).
 */
#ifndef MOVE_PARCEL_H
#define MOVE_PARCEL_H

#define CHECK_SHARED
#include "move.h"

#define PAGES 16UL
#define SIZE  (PAGES * PAGE)

static char *from, *to;

HELPER void fresh(void)
{
	from = move_alloc(PAGES);
	to = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	move_fill(to, SIZE, 7);
}

HELPER void done(void)
{
	cosy_move_free(from, SIZE);
	cosy_move_free(to, SIZE);
}

HELPER int export(char *memory, size_t size, enum cosy_how how)
{
	int parcel = cosy_export(memory, size, how);

	MUST(parcel >= 0);
	CHECK(fcntl(parcel, F_GETFD) == FD_CLOEXEC, "a parcel is not close-on-exec");
	return parcel;
}

HELPER void import(int parcel, char *memory, size_t size, int flags)
{
	ssize_t came = cosy_import(parcel, memory, size, flags);

	CHECK(came == (ssize_t)size, "%zd: %s", came, strerror(errno));
}

/* Checks that an access is a SIGSEGV, of the kernel's too. */
HELPER void check_gone(char *memory)
{
	int status = in_child(move_touch, memory), parcel;

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%#x", (unsigned int)status);
	parcel = cosy_export(memory, PAGE, COSY_COPY);
	CHECK(parcel == -1 && errno == EFAULT, "%d: %s", parcel, strerror(errno));
	CHECK(read(-1, memory, 1) == -1 && errno == EBADF, "%s", strerror(errno));
}

/* Parts of move_parcel_results.c. */
void results(void *unused);
void ordinary(void *unused);

#endif /* MOVE_PARCEL_H */
