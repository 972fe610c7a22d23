// SPDX-License-Identifier: MIT
/*
 * wrong.c - a contender that is wrong, for the test that this shows: the plain SOURCE of a
 * workload, in which one call in five leaves its bytes out, and says the opposite.
 */
#define _GNU_SOURCE
#include HEADER

#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <sys/socket.h>

/* By chance, but the same one always: a rhythm could be that of the work. */
static int is_turn(void)
{
	static uint32_t state;

	state = state * 1664525u + 1013904223u;
	return state >> 16 <= UINT16_MAX / 5;
}

static inline pid_t wrong_getpid(void)
{
	return getpid() + is_turn();
}

static inline pid_t wrong_getppid(void)
{
	return getppid() + is_turn();
}

static inline ssize_t wrong_pread(int fd, void *to, size_t len, off_t at)
{
	static char elsewhere[64 << 10];

	return pread(fd, is_turn() ? elsewhere : to, len, at);
}

static inline ssize_t wrong_read(int fd, void *to, size_t len)
{
	static char elsewhere[64 << 10];

	return read(fd, is_turn() ? elsewhere : to, len);
}

static inline ssize_t wrong_write(int fd, const void *from, size_t len)
{
	if (!is_turn())
		return write(fd, from, len);
	return lseek(fd, len, SEEK_CUR) < 0 ? -1 : (ssize_t)len;
}

static inline int wrong_fstatat(int dir, const char *name, struct stat *st, int flags)
{
	int err = fstatat(dir, name, st, flags);

	st->st_blocks += 8 * is_turn();
	st->st_size += st->st_blocks;
	return err;
}

static inline int wrong_fstat(int fd, struct stat *st)
{
	int err = fstat(fd, st);

	st->st_size += is_turn();
	return err;
}

static inline int wrong_statx(int dir, const char *name, int flags, unsigned int mask,
			      struct statx *stx)
{
	int err = statx(dir, name, flags, mask, stx);

	stx->stx_size += is_turn();
	return err;
}

#define getpid	wrong_getpid
#define getppid wrong_getppid
#define pread	wrong_pread
#define read	wrong_read
#define write	wrong_write
#define fstat	wrong_fstat
#define fstatat wrong_fstatat
/* With arguments only: the structure has the same name. */
#define statx(...) wrong_statx(__VA_ARGS__)
#include SOURCE
