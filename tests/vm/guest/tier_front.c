/* SPDX-License-Identifier: MIT */
/*
 * Checks a buffer that begins with a small front: a region that has entered the kernel gets memory of
 * the heap, a large frame and a fork child beyond that front, and their contents stay.
 *
 * This program runs itself, so that no region goes to the kernel at once.
 */
#include "check.h"
#include "raw.h"

#define LARGE 20000

/* Reads single bytes of a file, `step` bytes apart, into `to`. */
static long bytes_read(int fd, unsigned char *to, long count, long step)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < count; i++) {
		if (pread(fd, to + i, 1, i * step % 256) != 1)
			return -1;
		sum += to[i];
	}
	COSY_END;
	return sum;
}

static __attribute__((noinline)) long frame_summed(int fd, long count)
{
	unsigned char bytes[LARGE];
	long sum = 0;

	COSY_START;
	for (long i = 0; i < count; i++) {
		if (pread(fd, bytes + i * 97 % LARGE, 1, i % 256) != 1)
			return -1;
		sum += bytes[i * 97 % LARGE];
	}
	COSY_END;
	return sum;
}

static long expected(long count, long step)
{
	long sum = 0;

	for (long i = 0; i < count; i++)
		sum += i * step % 256;
	return sum;
}

static void check_all(int fd, unsigned char *small, unsigned char *large)
{
	for (int turn = 0; turn < 3; turn++) {
		CHECK(bytes_read(fd, small, 100, 3) == expected(100, 3), "a few bytes");
		CHECK(bytes_read(fd, large, LARGE, 7) == expected(LARGE, 7), "many bytes");
		CHECK(frame_summed(fd, 5000) == expected(5000, 1), "a large frame");
		for (long i = 0; i < LARGE; i++)
			MUST(large[i] == i * 7 % 256);
	}
}

int main(int argc, char **argv)
{
	unsigned char content[256], few[100], *small, *large;
	int status, fd = memfd_create("front", 0);
	pid_t pid;

	if (argc < 2) {
		setenv("COSY_TIER", "3", 1);
		MUST(execl("/proc/self/exe", argv[0], "again", NULL) == 0);
	}
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	for (int i = 0; i < 256; i++)
		content[i] = i;
	MUST(fd >= 0 && write(fd, content, sizeof(content)) == sizeof(content));
	/* It enters, with little in the buffer. */
	for (int i = 0; i < 10; i++)
		CHECK(bytes_read(fd, few, 100, 5) == expected(100, 5), "before the front grows");
	small = cosy_malloc(100);
	large = cosy_malloc(LARGE);
	MUST(small && large);
	CHECK(cosy_is_shared(small) && cosy_is_shared(large), "memory is not in the buffer");
	check_all(fd, small, large);
	fflush(stdout);
	MUST((pid = fork()) >= 0);
	if (!pid) {
		for (long i = 0; i < LARGE; i++)
			MUST(large[i] == i * 7 % 256);
		check_all(fd, small, large);
		exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "the child: %#x", status);
	check_all(fd, small, large);
	return check_end();
}
