// SPDX-License-Identifier: MIT
/* names_test.c - calls libc's functions by their other names, on specialised descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"
#include "specialised.h"

ssize_t __read(int fd, void *buf, size_t len);
ssize_t __pread64(int fd, void *buf, size_t len, off_t offset);
off_t __lseek(int fd, off_t offset, int whence);
int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __close(int fd);
int __dup2(int fd, int copy);
int __fcntl(int fd, int command, ...);
pid_t __fork(void);
pid_t __vfork(void);
int __clone(int (*child)(void *), void *stack, int flags, void *argument, ...);
FILE *stdio_fdopen(int fd, const char *mode) __asm__("_IO_fdopen");
int stdio_fclose(FILE *stream) __asm__("_IO_fclose");
FILE *stdio_popen(const char *command, const char *mode) __asm__("_IO_popen");
off_t old_llseek(int fd, off_t offset, int whence);
/* Programs that are linked today cannot have this one. */
__asm__(".symver old_llseek, llseek@GLIBC_2.2.5");

static void reads(void)
{
	int fd = specialised();
	char byte;

	CHECK(__read(fd, &byte, 1) == 1 && byte == (char)READS);
	read_on(fd, READS + 1, READS + 10);
	CHECK(__pread64(fd, &byte, 1, 300) == 1 && byte == (char)300);
	close(fd);
	/* Only what was opened by the library's open is served. */
	for (int i = 0; i < 2; i++) {
		fd = i ? __open(path, O_RDONLY) : __open64(path, O_RDONLY);
		read_on(fd, 0, READS);
		CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
		close(fd);
	}
}

static void seeks(off_t (*seek)(int, off_t, int))
{
	int fd = specialised();

	CHECK(seek(fd, 0, SEEK_CUR) == READS);
	CHECK(seek(fd, 500, SEEK_SET) == 500);
	read_on(fd, 500, 510);
	close(fd);
}

static void closes(void)
{
	int fd = specialised();

	CHECK(!__close(fd));
	means_a_pipe(fd);
}

static void copies(void)
{
	int fd = specialised(), nothing = open("/dev/null", O_RDONLY), copy;
	char byte;

	CHECK(!(__fcntl(fd, F_GETFL) & O_ASYNC));
	copy = __fcntl(fd, F_DUPFD, 0);
	read_on(copy, READS, READS + 10);
	read_on(fd, READS + 10, READS + 20);
	CHECK(__dup2(nothing, fd) == fd);
	CHECK(read(fd, &byte, 1) == 0);
	close(nothing);
	close(copy);
	close(fd);
}

static void streams(void)
{
	int fd = specialised();
	FILE *stream = stdio_fdopen(fd, "r"), *shell;
	char word[20] = "";

	CHECK(stream && getc(stream) == READS && getc(stream) == READS + 1);
	CHECK(!stdio_fclose(stream));
	means_a_pipe(fd);
	shell = stdio_popen("echo word", "r");
	CHECK(shell && fgets(word, sizeof(word), shell) && !strcmp(word, "word\n"));
	CHECK(!pclose(shell));
}

/* Reads a byte as another program would. */
static void child_reads(int fd)
{
	char byte;

	_exit(RAW(read, fd, &byte, 1) == 1 && byte == (char)READS ? 7 : 1);
}

static int child_of_clone(void *fd)
{
	child_reads(*(int *)fd);
	return 1;
}

static void ended(pid_t child, int fd)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	read_on(fd, READS + 1, READS + 2);
	close(fd);
}

static void processes(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = specialised();
	pid_t child = __fork();

	if (!child)
		child_reads(fd);
	ended(child, fd);
	fd = specialised();
	child = __vfork();
	if (!child)
		child_reads(fd);
	ended(child, fd);
	fd = specialised();
	ended(__clone(child_of_clone, stack + sizeof(stack), SIGCHLD, &fd), fd);
}

int main(void)
{
	path_make("names");
	reads();
	seeks(__lseek);
	seeks(old_llseek);
	closes();
	copies();
	streams();
	processes();
	unlink(path);
	return 0;
}
