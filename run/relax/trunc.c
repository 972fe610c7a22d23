// SPDX-License-Identifier: MIT
/* trunc.c - see trunc.h. */
#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "file/file.h"
#include "relax/relaxed.h"
#include "relax/trunc.h"
#include "stats.h"
#include "syscall.h"

#define MAX_TRUNCS 32

/* Bytes of the largest such file: the longer writing takes, the longer others see the old end. */
#define MAX_SIZE (16 << 20)

/* Files in a row that were cut before their close, after which most are left to the kernel. */
#define MAX_VAIN 8

/* One of so many files is tried all the same: a program may come to another part of its work. */
#define TRY_AGAIN 64

static unsigned int vain, left;

enum { FREE = 0, CLAIMED = -1 };

static struct trunc {
	int owner;    /* its descriptor + 1, FREE or CLAIMED */
	bool appends; /* the program's flags have O_APPEND, the open file's not yet */
	off_t old_size;
	dev_t dev;
	ino_t ino;
} slots[MAX_TRUNCS];

uint32_t truncs;

static uint8_t slot_of[FILES]; /* + 1 */

bool trunc_pays(void)
{
	return vain < MAX_VAIN || environment_get(ENVIRONMENT_EAGER) || ++left % TRY_AGAIN == 0;
}

bool trunc_fits(int fd, const struct stat *st)
{
	/* A file without a name may be a memfd, which may be sealed against a later cut. */
	return (unsigned int)fd < FILES && st->st_nlink && st->st_size <= MAX_SIZE &&
	       truncs < MAX_TRUNCS && relaxed_local(fd, st->st_dev);
}

bool trunc_begin(int fd, const struct stat *st, bool appends)
{
	for (unsigned int i = 0; i < MAX_TRUNCS; i++) {
		struct trunc *slot = &slots[i];
		int free = FREE;

		if (!__atomic_compare_exchange_n(&slot->owner, &free, CLAIMED, false,
						 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		slot->appends = appends;
		slot->old_size = st->st_size;
		slot->dev = st->st_dev;
		slot->ino = st->st_ino;
		__atomic_store_n(&slot_of[fd], i + 1, __ATOMIC_SEQ_CST);
		__atomic_store_n(&slot->owner, fd + 1, __ATOMIC_SEQ_CST);
		__atomic_add_fetch(&truncs, 1, __ATOMIC_SEQ_CST);
		relaxed_changed();
		stats.trunc++;
		return true;
	}
	return false;
}

bool trunc_of(int fd)
{
	return (unsigned int)fd < FILES && slot_of[fd];
}

/*
 * Cuts the file at the kernel's position.  If nothing was written it is truncated even if it is
 * empty, since O_TRUNC would have changed its times and its set-user-ID bit.
 */
static long slot_cut(const struct trunc *slot, int fd)
{
	long end = cosy_syscall3(SYS_lseek, fd, 0, SEEK_CUR);

	if (end > 0 && end >= slot->old_size)
		return 0;
	return end < 0 ? end : cosy_syscall3(SYS_ftruncate, fd, end, 0);
}

void trunc_append(int fd)
{
	long flags = cosy_syscall3(SYS_fcntl, fd, F_GETFL, 0);

	if (flags >= 0)
		cosy_syscall3(SYS_fcntl, fd, F_SETFL, flags | O_APPEND);
}

static void trunc_end(int fd, bool closing)
{
	uint64_t signals;
	long ret = 0;

	if (!trunc_of(fd))
		return;
	/* A handler must find the old end either whole or cut, since it may write after it. */
	signals = relaxed_block_signals();
	if (slot_of[fd]) {
		struct trunc *slot = &slots[slot_of[fd] - 1];

		/* A cut before the close costs a call more than the kernel's truncation. */
		vain = closing ? 0 : vain + 1;
		ret = slot_cut(slot, fd);
		if (slot->appends && !closing)
			trunc_append(fd);
		slot_of[fd] = 0;
		slot->owner = FREE;
		truncs--;
	}
	relaxed_restore_signals(signals);
	if (ret < 0)
		relaxed_late_error(fd, ret);
}

void trunc_cut(int fd)
{
	trunc_end(fd, false);
}

void trunc_close(int fd)
{
	trunc_end(fd, true);
}

void trunc_cut_all(void)
{
	if (!truncs)
		return;
	for (unsigned int i = 0; i < MAX_TRUNCS; i++)
		if (slots[i].owner > 0)
			trunc_cut(slots[i].owner - 1);
}

void trunc_cut_same(const struct stat *st)
{
	for (unsigned int i = 0; i < MAX_TRUNCS; i++)
		if (slots[i].owner > 0 && slots[i].ino == st->st_ino && slots[i].dev == st->st_dev)
			trunc_cut(slots[i].owner - 1);
}
