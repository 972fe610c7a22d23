// SPDX-License-Identifier: MIT
/* descriptors.c - copies, closes and locks descriptors, and asks what is known of them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

#include "fuzz.h"

/* Returns a number that no other thread uses: 40 for each, from 100 on. */
static int own_number(int which)
{
	return 100 + 40 * own + which;
}

/* Goes on by the copy as `mine`, or not. */
static void keep_one(int copy)
{
	if (chance(2)) {
		close(mine);
		mine = copy;
	} else {
		close(copy);
	}
}

void do_dup(void)
{
	size_t len = some_length();
	int to = own_number(mine == own_number(0)), copy;

	switch (chance(6)) {
	case 0:
		copy = dup(mine);
		break;
	case 1:
		copy = fcntl(mine, F_DUPFD, own_number(2));
		break;
	case 2:
		copy = fcntl(mine, F_DUPFD_CLOEXEC, own_number(2));
		break;
	case 3:
		copy = dup3(mine, to, chance(2) ? O_CLOEXEC : 0);
		break;
	case 4:
		/* Take a number above those that `cosy run` looks after. */
		copy = fcntl(mine, F_DUPFD, 1024);
		break;
	default:
		copy = dup2(mine, to);
	}
	/* The limit may be 1024. */
	if (copy < 0)
		return;
	same_bytes(BOTH(read(copy, a, len), RAW(read, theirs, b, len)));
	keep_one(copy);
}

void do_dup_over(void)
{
	int copy = open(path, O_RDONLY);

	for (int i = 0; i < 20; i++)
		if (read(copy, a, 1) < 0)
			same(-1, 1, "a read");
	/* These fail, and must change nothing. */
	same(dup2(-1, mine), -1, "dup2 of a bad descriptor");
	same(dup3(mine, mine, 0), -1, "dup3 onto itself");
	same(dup2(mine, mine), mine, "dup2 onto itself");
	same(dup2(mine, copy), copy, "dup2");
	keep_one(copy);
}

/* Moves one position by two descriptors of one description. */
void do_aliases(void)
{
	int copy = dup(mine);

	for (int i = 0; i < 60; i++) {
		int fd = chance(2) ? mine : copy;

		if (!chance(9))
			BOTH(lseek(fd, i, SEEK_CUR), RAW(lseek, theirs, i, SEEK_CUR));
		same_bytes(BOTH(read(fd, a, 9), RAW(read, theirs, b, 9)));
	}
	keep_one(copy);
}

void do_close_range(void)
{
	int first = fcntl(mine, F_DUPFD, own_number(10)), last = dup2(mine, first + 3);

	do_read();
	/* This closes nothing yet. */
	same(close_range(first, last, CLOSE_RANGE_CLOEXEC), 0, "close_range to mark");
	same_bytes(BOTH(read(first, a, 20), RAW(read, theirs, b, 20)));
	same(close_range(last, first, 0), -1, "close_range with the ends exchanged");
	same_bytes(BOTH(read(last, a, 20), RAW(read, theirs, b, 20)));
	same(close_range(first, last, 0), 0, "close_range");
	same(read(first, a, 1), -1, "a read from a closed descriptor");
	same(read(last, a, 1), -1, "a read from a closed descriptor");
	do_reads();
}

void do_closefrom(void)
{
	int copy;

	/* It would close what other threads have, or `mine` itself. */
	if (threads > 1 || mine >= 900)
		return;
	copy = fcntl(mine, F_DUPFD, 900);
	do_read();
	closefrom(900);
	same(read(copy, a, 1), -1, "a read from a closed descriptor");
	do_reads();
}

void do_locks(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = chance(size)};

	switch (chance(4)) {
	case 0:
		same(flock(mine, LOCK_EX | LOCK_NB), 0, "flock");
		same(RAW(flock, theirs, LOCK_SH | LOCK_NB), -1, "flock of what is locked");
		do_reads();
		same(flock(mine, LOCK_UN), 0, "flock");
		break;
	case 1:
		lock.l_type = F_WRLCK;
		BOTH(fcntl(mine, F_SETLK, &lock), RAW(fcntl, theirs, F_SETLK, &lock));
		break;
	case 2:
		lock.l_len = 1 + chance(100);
		BOTH(fcntl(mine, F_OFD_SETLK, &lock), RAW(fcntl, theirs, F_OFD_SETLK, &lock));
		break;
	default:
		BOTH(fcntl(mine, F_SETLK, &lock), RAW(fcntl, theirs, F_SETLK, &lock));
	}
	do_read();
	lock = (struct flock){.l_type = F_UNLCK, .l_whence = SEEK_SET};
	BOTH(fcntl(mine, F_SETLK, &lock), RAW(fcntl, theirs, F_SETLK, &lock));
	BOTH(fcntl(mine, F_OFD_SETLK, &lock), RAW(fcntl, theirs, F_OFD_SETLK, &lock));
}

/* Asks where the lock has got to, since the kernel counts from its position. */
void do_lock_here(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 10};
	struct flock found = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	off_t position = RAW(lseek, theirs, 0, SEEK_CUR);

	/* A lock of ten bytes has no room. */
	if (position > INT64_MAX - 10)
		return;
	same(fcntl(mine, F_OFD_SETLK, &lock), 0, "a lock");
	same(RAW(fcntl, theirs, F_OFD_GETLK, &found), 0, "a question about locks");
	same(found.l_start, position, "where the lock is");
	lock.l_type = F_UNLCK;
	same(fcntl(mine, F_OFD_SETLK, &lock), 0, "unlocking");
	BOTH(lockf(mine, F_TEST, 10), lockf(theirs, F_TEST, 10));
}

/* Reads by stdio, past any library, more than it is asked for; it may move back. */
void do_stdio(void)
{
	int copy = dup(mine), copy_too = RAW(dup, theirs);
	FILE *stream = fdopen(copy, "r"), *stream_too = fdopen(copy_too, "r");
	size_t len = chance(300);

	same(fread(a, 1, len, stream), fread(b, 1, len, stream_too), "fread");
	same(getc(stream), getc(stream_too), "getc");
	same(fflush(stream), fflush(stream_too), "fflush");
	BOTH(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR));
	do_reads();
	same(ftell(stream) >= 0, ftell(stream_too) >= 0, "ftell");
	fclose(stream);
	fclose(stream_too);
	BOTH(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR));
}

void do_flags(void)
{
	static const int flags[] = {O_NONBLOCK, O_APPEND, O_NOATIME, O_DIRECT, O_ASYNC};
	int flag = flags[chance(5)];

	BOTH(fcntl(mine, F_SETFL, flag), RAW(fcntl, theirs, F_SETFL, flag));
	BOTH(fcntl(mine, F_GETFL), RAW(fcntl, theirs, F_GETFL));
	do_reads();
	/* With O_DIRECT most reads are refused, on both sides. */
	do_read();
	BOTH(fcntl(mine, F_SETFL, 0), RAW(fcntl, theirs, F_SETFL, 0));
	do_read();
}

void open_both(int flags)
{
	int cloexec = chance(2) ? O_CLOEXEC : 0;

	mode = flags & O_ACCMODE;
	switch (chance(4)) {
	case 0:
		mine = open64(path, flags | cloexec);
		break;
	case 1:
		mine = openat(AT_FDCWD, path, flags | cloexec);
		break;
	case 2:
		mine = openat64(AT_FDCWD, path, flags | cloexec);
		break;
	default:
		mine = open(path, flags | cloexec);
	}
	theirs = RAW(openat, AT_FDCWD, path, flags);
	if (mine < 0 || theirs < 0) {
		perror(path);
		exit(1);
	}
}

void do_reopen(void)
{
	static const int flags[] = {O_RDWR, O_RDWR | O_APPEND, O_RDWR | O_CREAT};

	close(mine);
	RAW(close, theirs);
	if (chance(20)) {
		open_both(O_RDONLY);
		return;
	}
	/* A writer keeps leases away; what one side writes the other reads. */
	open_both(flags[chance(3)]);
	do_reads();
	same(write(mine, text, 100), 100, "a write");
	RAW(lseek, theirs, lseek(mine, 0, SEEK_CUR), SEEK_SET);
	do_reads();
}
