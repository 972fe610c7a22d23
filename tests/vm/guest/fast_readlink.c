/* SPDX-License-Identifier: MIT */
/*
 * Reads links by readlink and readlinkat: results are those of the calls themselves, whatever the
 * names lead to, and short links are read by the specialised version.
 */
#include "guards.h"
#include <sys/syscall.h>

#define TIMES 4

/* Compares a call in a region, made several times, with one outside. */
static void same_link(int dirfd, const char *name, void *to, int size)
{
	long result[TIMES], at[TIMES], wanted;
	char want[512];

	memset(want, 'x', sizeof(want));
	if (to)
		memset(to, 'x', sizeof(want));
	COSY_START;
	for (int i = 0; i < TIMES; i++)
		at[i] = result_of(syscall(SYS_readlinkat, dirfd, name, to, size));
	for (int i = 0; i < TIMES; i++)
		result[i] = result_of(syscall(SYS_readlink, name, to, size));
	COSY_END;
	wanted = result_of(syscall(SYS_readlinkat, dirfd, name, to ? want : NULL, size));
	for (int i = 0; i < TIMES; i++)
		CHECK(at[i] == wanted, "readlinkat(%d, \"%.40s\", %d), %d: %ld, not %ld", dirfd,
		      name, size, i, at[i], wanted);
	if (dirfd == AT_FDCWD && to)
		CHECK(!memcmp(to, want, sizeof(want)), "\"%.40s\", %d: other text", name, size);
	wanted = result_of(syscall(SYS_readlink, name, to, size));
	for (int i = 0; i < TIMES; i++)
		CHECK(result[i] == wanted, "readlink(\"%.40s\", %d), %d: %ld, not %ld", name, size,
		      i, result[i], wanted);
}

static void all_names(void)
{
	static const char *const names[] = { "short",
					     "long",
					     "dangling",
					     "to-d",
					     "to-d/inner",
					     "to-d/",
					     "d/inner",
					     "./short",
					     "d",
					     "file",
					     "none",
					     "",
					     ".",
					     "none/x",
					     "file/x",
					     "/proc/self",
					     "loop",
					     "loop/x",
					     "closed/inner",
					     "d/../short",
					     "/proc/self/exe" };
	static const int sizes[] = { 512, 100, 5, 1, 0, -1 };
	int fds[] = { AT_FDCWD,
		      open(".", O_RDONLY | O_DIRECTORY),
		      open("d", O_RDONLY),
		      open("file", O_RDONLY),
		      open("short", O_PATH | O_NOFOLLOW),
		      -1 };
	char plain[512], *shared = cosy_malloc(512);

	MUST(shared);
	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t d = 0; d < sizeof(fds) / sizeof(*fds); d++)
			for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
				same_link(fds[d], names[n], plain, sizes[s]);
				same_link(fds[d], names[n], shared, sizes[s]);
			}
	same_link(AT_FDCWD, "short", NULL, 100);
	same_link(AT_FDCWD, "d", NULL, 100);
	cosy_free(shared);
	for (size_t d = 1; d < 5; d++)
		close(fds[d]);
}

/* A program lists a directory of links, as of a process's descriptors. */
static void specialised(void)
{
	struct cosy_stats before = counts();
	char name[16], to[64];
	long bytes = 0;
	int dir;

	MUST(!mkdir("links", 0755));
	dir = open("links", O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%d", i);
		MUST(!symlinkat("socket:[1234]", dir, name));
	}
	COSY_START;
	for (int i = 0; i < 200; i++) {
		name[0] = '0' + i / 100;
		name[1] = '0' + i / 10 % 10;
		name[2] = '0' + i % 10;
		name[3] = 0;
		bytes += readlinkat(dir, name + (i < 100) + (i < 10), to, sizeof(to));
	}
	COSY_END;
	CHECK(bytes == 200 * 13, "%ld bytes", bytes);
	CHECK_FAST(before, 190);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%d", i);
		unlinkat(dir, name, 0);
	}
	close(dir);
	rmdir("links");
}

/* Reading a link notes the access as the call does. */
static void accessed(void)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
	struct stat st;
	char to[64];
	long result = 0;

	MUST(!utimensat(AT_FDCWD, "short", old, AT_SYMLINK_NOFOLLOW));
	COSY_START;
	for (int i = 0; i < TIMES; i++)
		result += readlink("short", to, sizeof(to));
	COSY_END;
	MUST(!lstat("short", &st));
	CHECK(result == TIMES * 4 && st.st_atim.tv_sec > 1000, "%ld, access time %ld", result,
	      (long)st.st_atim.tv_sec);
}

int main(void)
{
	char text[301];

	directory_enter();
	memset(text, 't', 300);
	text[300] = 0;
	MUST(!mkdir("d", 0755) && !mkdir("closed", 0755) &&
	     !close(open("file", O_CREAT | O_WRONLY, 0600)));
	MUST(!symlink("file", "short") && !symlink(text, "long") && !symlink("none", "dangling") &&
	     !symlink("d", "to-d") && !symlink("loop", "loop") && !symlink("../file", "d/inner") &&
	     !symlink("x", "closed/inner") && !chmod("closed", 0));
	all_names();
	specialised();
	accessed();
	MUST(!unlink("d/inner") && !chmod("closed", 0700) && !unlink("closed/inner") &&
	     !unlink("short") && !unlink("long") && !unlink("dangling") && !unlink("to-d") &&
	     !unlink("loop") && !unlink("file") && !rmdir("d") && !rmdir("closed"));
	directory_leave();
	return check_end();
}
