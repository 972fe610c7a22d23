// SPDX-License-Identifier: MIT
/*
 * seek_test.c - tests positions that are kept in user space: a call that needs the kernel's gets
 * it, and every answer of lseek is the kernel's.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"

#define SIZE  1000000
#define SEEKS 20
#define LONG  100000 /* reads of this length earn no window */

static char path[200];
static char bytes[LONG];

/* Returns the byte at `offset`. */
static char content(long offset)
{
	return offset * 7 + (offset >> 8);
}

/* Returns a descriptor whose position, 500, is kept if any can be. */
static int kept_at(const char *file)
{
	int fd = open(file, O_RDONLY);

	CHECK(fd >= 0);
	for (int i = 1; i <= SEEKS; i++)
		lseek(fd, i * 25, SEEK_SET);
	return fd;
}

static int kept(void)
{
	int fd = kept_at(path);

	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < 25 * SEEKS);
	return fd;
}

static void seek_and_read_are_one(void)
{
	int fd = kept();

	for (long at = 1000; at < 400000; at += 30000) {
		CHECK(lseek(fd, at, SEEK_SET) == at);
		CHECK(read(fd, bytes, LONG) == LONG);
		CHECK(bytes[0] == content(at) && bytes[LONG - 1] == content(at + LONG - 1));
		CHECK(lseek(fd, 0, SEEK_CUR) == at + LONG);
		CHECK(lseek(fd, -50, SEEK_CUR) == at + LONG - 50);
	}
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < 25 * SEEKS);
	close(fd);
}

/* Asks for the end each time, since nothing but a lease keeps it from changing. */
static void the_end_is_asked_for(void)
{
	int fd = kept(), writer = open(path, O_WRONLY | O_APPEND);

	CHECK(lseek(fd, 0, SEEK_END) == SIZE);
	CHECK(write(writer, "more", 4) == 4);
	CHECK(lseek(fd, -4, SEEK_END) == SIZE);
	CHECK(read(fd, bytes, 10) == 4 && !memcmp(bytes, "more", 4));
	CHECK(read(fd, bytes, 10) == 0);
	CHECK(!ftruncate(writer, SIZE));
	CHECK(lseek(fd, 0, SEEK_CUR) == SIZE + 4);
	CHECK(read(fd, bytes, 10) == 0);
	close(writer);
	close(fd);
}

static void data_and_holes_are_asked_for(void)
{
	int fd = kept();

	CHECK(lseek(fd, 10, SEEK_DATA) == 10);
	CHECK(lseek(fd, 0, SEEK_CUR) == 10);
	CHECK(lseek(fd, 0, SEEK_HOLE) == SIZE);
	CHECK(lseek(fd, SIZE + 1, SEEK_DATA) == -1 && errno == ENXIO);
	CHECK(lseek(fd, 0, SEEK_CUR) == SIZE);
	close(fd);
}

/* The file system says how far beyond the end a position may be. */
static void impossible_seeks_fail_as_ever(void)
{
	int fd = kept(), plain = open(path, O_RDONLY);
	static const off_t far[] = {SIZE + 1, 1L << 36, 1L << 41, 1L << 50, INT64_MAX};

	CHECK(lseek(fd, -1, SEEK_SET) == -1 && errno == EINVAL);
	CHECK(lseek(fd, -501, SEEK_CUR) == -1 && errno == EINVAL);
	CHECK(lseek(fd, INT64_MAX, SEEK_CUR) == -1);
	CHECK(lseek(fd, 0, 17) == -1 && errno == EINVAL);
	CHECK(lseek(fd, 0, SEEK_CUR) == 25 * SEEKS);
	for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++) {
		long want = RAW(lseek, plain, far[i], SEEK_SET), got;
		int want_errno = errno;

		errno = 0;
		got = lseek(fd, far[i], SEEK_SET);
		CHECK(got == want && (got >= 0 || errno == want_errno));
		CHECK(lseek(fd, 0, SEEK_CUR) == RAW(lseek, plain, 0, SEEK_CUR));
		CHECK(read(fd, bytes, 10) == 0);
	}
	close(plain);
	close(fd);
}

/* There are positions that a kept one cannot have. */
static void a_large_file_is_read_where_it_was_sought(void)
{
	const long far = (2L << 40) + 4096;
	char other[210], word[4];
	int fd;

	snprintf(other, sizeof(other), "%s.large", path);
	fd = open(other, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	CHECK(fd >= 0 && pwrite(fd, "near", 4, 4096) == 4);
	if (pwrite(fd, "far!", 4, far) == 4) {
		close(fd);
		fd = open(other, O_RDONLY);
		for (int i = 0; i < SEEKS; i++)
			CHECK(lseek(fd, 4096, SEEK_SET) == 4096 && read(fd, word, 4) == 4);
		CHECK(lseek(fd, far, SEEK_SET) == far);
		CHECK(read(fd, word, 4) == 4 && !memcmp(word, "far!", 4));
		CHECK(lseek(fd, 0, SEEK_CUR) == far + 4);
	} else {
		printf("large files: not tried, %s\n", strerror(errno));
	}
	close(fd);
	unlink(other);
}

static void others_get_the_position(void)
{
	int fd = kept(), status;
	struct iovec part = {bytes, 10};

	CHECK(readv(fd, &part, 1) == 10 && bytes[0] == content(25 * SEEKS));
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == 25 * SEEKS + 10);
	close(fd);
	fd = kept();
	if (!fork()) {
		RAW(read, fd, bytes, 10);
		_exit(bytes[0] != content(25 * SEEKS));
	}
	CHECK(wait(&status) > 0 && !status);
	CHECK(read(fd, bytes, 1) == 1 && bytes[0] == content(25 * SEEKS + 10));
	close(fd);
}

static void a_copy_has_the_same_position(void)
{
	int fd = kept(), copy = dup(fd);

	CHECK(lseek(copy, 0, SEEK_CUR) == 25 * SEEKS);
	CHECK(read(copy, bytes, 5) == 5);
	CHECK(lseek(fd, 0, SEEK_CUR) == 25 * SEEKS + 5);
	close(fd);
	CHECK(read(copy, bytes, 1) == 1 && bytes[0] == content(25 * SEEKS + 5));
	close(copy);
}

/* A window begins where the position is. */
static void a_window_comes_later(void)
{
	int fd = kept();

	for (int i = 0; i < 200; i++)
		CHECK(read(fd, bytes, 1) == 1 && bytes[0] == content(25 * SEEKS + i));
	CHECK(RAW(fcntl, fd, F_GETLEASE) == F_RDLCK);
	CHECK(lseek(fd, 0, SEEK_CUR) == 25 * SEEKS + 200);
	close(fd);
}

/* Seeks of other files do more than set a number, or nothing. */
static void other_files_are_left_alone(void)
{
	int fd = kept_at("/proc/self/maps"), pair[2];

	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == 25 * SEEKS);
	close(fd);
	fd = kept_at("/dev/zero");
	CHECK(lseek(fd, 0, SEEK_CUR) == RAW(lseek, fd, 0, SEEK_CUR));
	close(fd);
	CHECK(!pipe(pair));
	for (int i = 0; i < SEEKS; i++)
		CHECK(lseek(pair[0], 0, SEEK_SET) == -1 && errno == ESPIPE);
	close(pair[0]);
	close(pair[1]);
}

#define RECORDS 20000

static int shared;
static unsigned char seen[RECORDS];

static void *read_records(void *unused)
{
	unsigned char record[50];

	while (read(shared, record, sizeof(record)) == sizeof(record))
		__atomic_add_fetch(&seen[(record[0] | record[1] << 8) % RECORDS], 1,
				   __ATOMIC_RELAXED);
	return unused;
}

/* Each reader's reads take their own part, as with the kernel's position. */
static void threads_share_the_position(void)
{
	char other[220];
	pthread_t thread;
	int fd;

	snprintf(other, sizeof(other), "%s.records", path);
	fd = open(other, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int i = 0; i < RECORDS; i++) {
		unsigned char record[50] = {i & 255, i >> 8};

		CHECK(write(fd, record, sizeof(record)) == sizeof(record));
	}
	/* The file is open for writing, so there is no window. */
	shared = kept_at(other);
	lseek(shared, 0, SEEK_SET);
	CHECK(!pthread_create(&thread, NULL, read_records, NULL));
	read_records(NULL);
	CHECK(!pthread_join(thread, NULL));
	for (int i = 0; i < RECORDS; i++)
		CHECK(seen[i] == 1);
	close(shared);
	close(fd);
	unlink(other);
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/cosy-run-seek.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (long at = 0; at < SIZE; at += LONG) {
		for (long i = 0; i < LONG; i++)
			bytes[i] = content(at + i);
		CHECK(write(fd, bytes, LONG) == LONG);
	}
	close(fd);
	seek_and_read_are_one();
	the_end_is_asked_for();
	data_and_holes_are_asked_for();
	impossible_seeks_fail_as_ever();
	a_large_file_is_read_where_it_was_sought();
	a_copy_has_the_same_position();
	a_window_comes_later();
	other_files_are_left_alone();
	others_get_the_position();
	threads_share_the_position();
	unlink(path);
	return 0;
}
