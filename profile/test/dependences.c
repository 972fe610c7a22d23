// SPDX-License-Identifier: MIT
/*
 * dependences.c - twelve loops in which something flows from a call to the next, or only seems to.
 * dependence_test.py knows what has to be found in each.  dependences FILE OUT
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURNS 10

/* Each loop is a function of its own, by which its calls are told apart. */
#define LOOP __attribute__((noinline, noclone)) static void

static const char *path;
static int file, out;
static char buffer[256], other[256];

static void must(int right)
{
	if (!right)
		exit(1);
}

/* The descriptor that open returns is the one that is read. */
LOOP loop_descriptor(void)
{
	for (int i = 0; i < TURNS; i++) {
		int fd = open(path, O_RDONLY);

		must(read(fd, buffer, 10) == 10);
		close(fd);
	}
}

/* Another one is read. */
LOOP loop_descriptor_false(void)
{
	for (int i = 0; i < TURNS; i++) {
		int fd = open(path, O_RDONLY);

		must(read(file, buffer, 10) == 10);
		close(fd);
	}
}

/* One that dup returns is written to. */
LOOP loop_duplicate(void)
{
	for (int i = 0; i < TURNS; i++) {
		int fd = dup(out);

		must(write(fd, "duplicate", 9) == 9);
		close(fd);
	}
}

/* Writes what was read, and as many bytes. */
LOOP loop_buffer(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(pread(file, buffer, 20 + i, i) == 20 + i);
		must(pwrite(out, buffer, 20 + i, 0) == 20 + i);
	}
}

/* The bytes are others by then. */
LOOP loop_buffer_false(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(pread(file, buffer, 20 + i, i) == 20 + i);
		memset(buffer, i, sizeof(buffer));
		must(pwrite(out, buffer, 20 + i, 0) == 20 + i);
	}
}

/* Every other time they are. */
LOOP loop_buffer_half(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(pread(file, buffer, 20 + i, i) == 20 + i);
		if (i % 2)
			memset(buffer, i, sizeof(buffer));
		must(pwrite(out, buffer, 20 + i, 0) == 20 + i);
	}
}

/* Writes as many bytes as were read, from elsewhere. */
LOOP loop_count(void)
{
	for (int i = 0; i < TURNS; i++) {
		ssize_t had = pread(file, buffer, 30 + i, 0);

		must(pwrite(out, other, had, 0) == had);
	}
}

/* Writes as many by chance: a constant. */
LOOP loop_count_false(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(pread(file, buffer, 30, 0) == 30);
		must(pwrite(out, other, 30, 0) == 30);
	}
}

/* read begins where lseek went. */
LOOP loop_position(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(lseek(file, 3 * (TURNS - i), SEEK_SET) >= 0);
		must(read(file, buffer, 5) == 5);
	}
}

/* pread does not care where that was. */
LOOP loop_position_false(void)
{
	for (int i = 0; i < TURNS; i++) {
		must(lseek(file, 3 * (TURNS - i), SEEK_SET) >= 0);
		must(pread(file, buffer, 5, 100 + i) == 5);
	}
}

/* Opens by the name that it has asked about. */
LOOP loop_path(void)
{
	struct stat st;

	for (int i = 0; i < TURNS; i++) {
		must(!stat(path, &st));
		must(!access(path, R_OK));
	}
}

/* Opens by another one. */
LOOP loop_path_false(void)
{
	struct stat st;

	for (int i = 0; i < TURNS; i++) {
		must(!stat(path, &st));
		must(!access("/", R_OK));
	}
}

int main(int argc, char **argv)
{
	must(argc == 3);
	path = argv[1];
	file = open(path, O_RDONLY);
	out = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	must(file >= 0 && out >= 0);
	loop_descriptor();
	loop_descriptor_false();
	loop_duplicate();
	loop_buffer();
	loop_buffer_false();
	loop_buffer_half();
	loop_count();
	loop_count_false();
	loop_position();
	loop_position_false();
	loop_path();
	loop_path_false();
	return 0;
}
