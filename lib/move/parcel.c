// SPDX-License-Identifier: MIT
/*
 * parcel.c - cosy_export and cosy_import of <cosy/move.h>.
 *
 * Where the module cannot serve, a parcel is a sealed memfd, whose seals tell what it is:
 *
 *	SHARE			SHRINK, GROW		mapped by all who have it
 *	COPY			SHRINK, GROW, WRITE	read by pread(2)
 *	DONATE, DONATE_ZERO	GROW, WRITE		read by pread(2) by whoever is first
 *							to add SEAL, and makes it shrink
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cosy/move.h>
#include <linux/cosy.h>

#include "move/arena.h"
#include "move/ranges.h"
#include "syscall.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

#define SEAL_TRIES 32 /* some 5 s at most */

#define SEALS_SHARE  (F_SEAL_SHRINK | F_SEAL_GROW)
#define SEALS_COPY   (SEALS_SHARE | F_SEAL_WRITE)
#define SEALS_DONATE (F_SEAL_GROW | F_SEAL_WRITE)

/* --- Export --------------------------------------------------------------------------------- */

/*
 * libc's function has a version of its own, which the dynamic linker would check in each process.
 */
static int memfd_create_raw(unsigned int flags)
{
	long fd = cosy_syscall3(SYS_memfd_create, (unsigned long)"cosy parcel", flags, 0);

	if (fd >= 0)
		return (int)fd;
	errno = (int)-fd;
	return -1;
}

static int memfd_new(void)
{
	int fd = memfd_create_raw(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	/* Linux 6.3. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create_raw(MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd;
}

static bool memfd_fill(int fd, const char *memory, size_t count)
{
	for (size_t done = 0; done < count;) {
		ssize_t now = pwrite(fd, memory + done, count - done, (off_t)done);

		if (now <= 0)
			return false;
		done += (size_t)now;
	}
	return true;
}

/*
 * The kernel waits up to 150 ms for a holder of one of the pages.  Nobody else has the descriptor
 * yet, so the holder is the kernel itself, for a moment; for longer on a busy machine.
 */
static bool memfd_seal(int fd, int seals)
{
	for (int tries = 0; tries < SEAL_TRIES; tries++)
		if (!fcntl(fd, F_ADD_SEALS, seals))
			return true;
		else if (errno != EBUSY)
			return false;
	return false;
}

int libcosy_memfd_copy(const void *memory, size_t count)
{
	int fd = memfd_new(), error;

	if (fd < 0 || (memfd_fill(fd, memory, count) && memfd_seal(fd, SEALS_COPY | F_SEAL_SEAL)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool libcosy_memfd_is_copy(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS_COPY) == SEALS_COPY;
}

static bool export_into(int fd, void *memory, size_t count, enum cosy_how how)
{
	if (!memfd_fill(fd, memory, count))
		return false;
	switch (how) {
	case COSY_SHARE:
		return memfd_seal(fd, SEALS_SHARE | F_SEAL_SEAL) &&
		       libcosy_ranges_share(memory, count, fd);
	case COSY_COPY:
		return memfd_seal(fd, SEALS_COPY | F_SEAL_SEAL);
	case COSY_DONATE:
		return memfd_seal(fd, SEALS_DONATE) && libcosy_ranges_take_away(memory, count);
	default:
		return memfd_seal(fd, SEALS_DONATE) && !cosy_flush(memory, count);
	}
}

static int export_memfd(void *memory, size_t count, enum cosy_how how)
{
	int fd, error;

	if (how == COSY_SHARE) {
		fd = libcosy_ranges_memfd(memory, count);
		if (fd >= 0 || errno != ENOENT)
			return fd;
	}
	fd = memfd_new();
	if (fd < 0 || export_into(fd, memory, count, how))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int cosy_export(void *memory, size_t count, enum cosy_how how)
{
	static const uint32_t operations[] = {
		[COSY_SHARE] = COSY_MOVE_SHARE,
		[COSY_COPY] = COSY_MOVE_COPY,
		[COSY_DONATE] = COSY_MOVE_DONATE,
		[COSY_DONATE_ZERO] = COSY_MOVE_DONATE_ZERO,
	};
	int saved = errno, fd;
	long ret;

	if (!count || !libcosy_is_whole(memory, count) || (unsigned int)how > COSY_DONATE_ZERO) {
		errno = EINVAL;
		return -1;
	}
	/* Pages that a moved arena shares stay shared; other parcels may be copies. */
	if (libcosy_arenas_may_have(memory, 1) || (how == COSY_SHARE && libcosy_arenas_exist())) {
		ret = libcosy_move(operations[how], memory, count, -1, 0);
		if (!libcosy_move_is_refused(ret))
			return (int)libcosy_move_answer(ret);
	}
	fd = export_memfd(memory, count, how);
	if (fd >= 0)
		errno = saved;
	return fd;
}

/* --- Import --------------------------------------------------------------------------------- */

/* Puts a parcel of the module's that shares pages in place of memory that is no arena's. */
static ssize_t import_arena(int parcel, void *memory, size_t count)
{
	void *arena = libcosy_arena_map(count, 0);
	ssize_t ret;

	if (arena == MAP_FAILED) {
		errno = ENOMEM;
		return -1;
	}
	ret = libcosy_move_answer(libcosy_move(COSY_MOVE_IMPORT, arena, count, parcel, 0));
	if (ret == (ssize_t)count) {
		if (libcosy_ranges_replace(memory, count) &&
		    mremap(arena, count, count, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory) {
			libcosy_arenas_add(memory, count);
			return ret;
		}
		ret = -1;
	}
	munmap(arena, count);
	return ret;
}

static ssize_t import_share(int parcel, void *memory, size_t count)
{
	if (count & (PAGE - 1)) {
		errno = EINVAL;
		return -1;
	}
	return libcosy_ranges_share(memory, count, parcel) ? (ssize_t)count : -1;
}

static ssize_t import_copy(int parcel, char *memory, size_t count)
{
	size_t done = 0;

	if (!libcosy_own(memory, count))
		return -1;
	while (done < count) {
		ssize_t now = pread(parcel, memory + done, count - done, (off_t)done);

		if (now < 0)
			return -1;
		if (!now)
			break;
		done += (size_t)now;
	}
	return (ssize_t)done;
}

/* Takes a donation of the module's, which read(2) does whole and once. */
static ssize_t import_donation(int parcel, void *memory, size_t count)
{
	ssize_t ret;

	if (!libcosy_own(memory, count))
		return -1;
	ret = read(parcel, memory, count);
	if (ret)
		return ret;
	errno = ENODATA;
	return -1;
}

/* Copies a donation, and then sees whether it was the first to seal it. */
static ssize_t import_memfd_donation(int parcel, void *memory, size_t count)
{
	ssize_t ret = import_copy(parcel, memory, count);

	if (ret < 0)
		return -1;
	if (ret < (ssize_t)count || fcntl(parcel, F_ADD_SEALS, F_SEAL_SEAL)) {
		errno = ENODATA;
		return -1;
	}
	/* Should this fail, the pages go when the last descriptor is closed. */
	if (ftruncate(parcel, 0))
		errno = 0;
	return ret;
}

/* Returns how a parcel was made; 0 with errno: it is no parcel. */
static uint32_t parcel_how(int parcel)
{
	int how = ioctl(parcel, COSY_IOC_PARCEL), seals;

	if (how > 0)
		return (uint32_t)how;
	if (errno == EBADF)
		return 0;
	seals = fcntl(parcel, F_GET_SEALS);
	if (seals >= 0) {
		switch (seals & SEALS_COPY) {
		case SEALS_SHARE:
			return COSY_MOVE_SHARE;
		case SEALS_COPY:
			return COSY_MOVE_COPY;
		case SEALS_DONATE:
			return COSY_MOVE_DONATE;
		}
	}
	errno = EINVAL;
	return 0;
}

/* Returns how many bytes are left in a parcel, at most `count`; -1 with errno: none, or more. */
static ssize_t parcel_size(int parcel, size_t count)
{
	int size;

	if (ioctl(parcel, FIONREAD, &size))
		return -1;
	if (size <= 0) {
		errno = ENODATA;
		return -1;
	}
	if ((size_t)size > count) {
		errno = EMSGSIZE;
		return -1;
	}
	return size;
}

static ssize_t import_plain(int parcel, void *memory, size_t count)
{
	uint32_t how = parcel_how(parcel);
	ssize_t size;

	if (!how)
		return -1;
	size = parcel_size(parcel, count);
	if (size < 0)
		return -1;
	switch (how) {
	case COSY_MOVE_SHARE:
		if (fcntl(parcel, F_GET_SEALS) < 0)
			return import_arena(parcel, memory, (size_t)size);
		return import_share(parcel, memory, (size_t)size);
	case COSY_MOVE_COPY:
		return import_copy(parcel, memory, (size_t)size);
	default:
		if (fcntl(parcel, F_GET_SEALS) < 0)
			return import_donation(parcel, memory, (size_t)size);
		return import_memfd_donation(parcel, memory, (size_t)size);
	}
}

ssize_t cosy_import(int parcel, void *memory, size_t count, int flags)
{
	ssize_t imported;
	int saved = errno;
	long ret;

	if (!count || !libcosy_is_whole(memory, count) ||
	    flags & ~(COSY_POPULATE | COSY_WILL_WRITE)) {
		errno = EINVAL;
		return -1;
	}
	if (libcosy_arenas_may_have(memory, 1)) {
		ret = libcosy_move(COSY_MOVE_IMPORT, memory, count, parcel,
				   libcosy_move_flags(flags));
		if (!libcosy_move_is_refused(ret))
			return libcosy_move_answer(ret);
	}
	imported = import_plain(parcel, memory, count);
	if (imported >= 0)
		errno = saved;
	return imported;
}
