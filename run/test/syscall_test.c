// SPDX-License-Identifier: MIT
/* syscall_test.c - makes calls by syscall(2) on specialised descriptors, as by libc's functions. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"
#include "specialised.h"

static void reads(void)
{
	int fd = specialised(), bytes;
	char two[2];
	struct iovec parts[] = {{two, 1}, {two + 1, 1}};

	CHECK(syscall(SYS_read, fd, two, 1) == 1 && two[0] == (char)READS);
	CHECK(syscall(SYS_readv, fd, parts, 2) == 2 && two[1] == (char)(READS + 2));
	CHECK(syscall(SYS_preadv2, fd, parts, 2, -1L, 0L, 0) == 2 && two[0] == (char)(READS + 3));
	read_on(fd, READS + 5, READS + 10);
	CHECK(!syscall(SYS_ioctl, fd, FIONREAD, &bytes) && bytes == SIZE - READS - 10);
	CHECK(syscall(SYS_pread64, fd, two, 1, 300L) == 1 && two[0] == (char)300);
	read_on(fd, READS + 10, READS + 20);
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == READS + 20);
	close(fd);
}

static void seeks(void)
{
	int fd = specialised();

	CHECK(syscall(SYS_lseek, fd, 0L, SEEK_CUR) == READS);
	CHECK(syscall(SYS_lseek, fd, 500L, SEEK_SET) == 500);
	read_on(fd, 500, 510);
	errno = 0;
	CHECK(syscall(SYS_lseek, fd, -1L, SEEK_SET) == -1 && errno == EINVAL);
	close(fd);
}

static void closes(void)
{
	char byte;
	int fd = specialised();

	CHECK(!syscall(SYS_close, fd));
	CHECK(read(fd, &byte, 1) == -1 && errno == EBADF);
	means_a_pipe(fd);
	fd = specialised();
	CHECK(!syscall(SYS_close_range, fd, fd, 0));
	CHECK(read(fd, &byte, 1) == -1 && errno == EBADF);
	means_a_pipe(fd);
	CHECK(syscall(SYS_close, fd) == -1 && errno == EBADF);
}

static void copies(void)
{
	int fd = specialised(), nothing = open("/dev/null", O_RDONLY), copy;
	char byte;

	copy = (int)syscall(SYS_fcntl, fd, F_DUPFD, 0L);
	read_on(copy, READS, READS + 10);
	read_on(fd, READS + 10, READS + 20);
	CHECK(!(syscall(SYS_fcntl, fd, F_GETFL) & O_ASYNC));
	CHECK(syscall(SYS_dup2, nothing, fd) == fd);
	CHECK(read(fd, &byte, 1) == 0);
	read_on(copy, READS + 20, READS + 30);
	CHECK(syscall(SYS_dup3, nothing, copy, O_CLOEXEC) == copy);
	CHECK(read(copy, &byte, 1) == 0);
	CHECK(syscall(SYS_dup3, nothing, copy, -1) == -1 && errno == EINVAL);
	CHECK(dup3(nothing, copy, -1) == -1 && errno == EINVAL);
	close(nothing);
	close(copy);
	close(fd);
	/* Not the thread that waits for the lease's end. */
	fd = specialised();
	CHECK(syscall(SYS_fcntl, fd, F_GETOWN) == 0);
	close(fd);
}

static void opens(void)
{
	for (int i = 0; i < 2; i++) {
		int fd = i ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY)
			   : (int)syscall(SYS_open, path, O_RDONLY);

		read_on(fd, 0, READS);
		close(fd);
	}
	CHECK(syscall(SYS_open, "/none/such", O_RDONLY) == -1 && errno == ENOENT);
}

/* An open for writing that does not wait is not refused for the process's own window. */
static void opens_for_writing(void)
{
	const struct open_how how = {.flags = O_WRONLY | O_NONBLOCK};

	for (int i = 0; i < 3; i++) {
		int fd = specialised();
		long other = i == 0   ? syscall(SYS_open, path, O_WRONLY | O_NONBLOCK)
			     : i == 1 ? syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_NONBLOCK)
				      : syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

		CHECK(other >= 0);
		close((int)other);
		read_on(fd, READS, READS + 10);
		close(fd);
	}
}

/* Another process gets the position with the descriptor. */
static void passes(void)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	char byte = 'x';
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int fd = specialised(), ends[2], got;

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	CHECK(syscall(SYS_sendmsg, ends[0], &message, 0) == 1);
	CHECK(RAW(recvmsg, ends[1], &message, 0) == 1);
	memcpy(&got, CMSG_DATA(&control.header), sizeof(got));
	CHECK(got != fd && RAW(lseek, got, 0, SEEK_CUR) == READS);
	close(got);
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void ends_well(pid_t pid)
{
	int status;

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* So does a program that is begun, which `main` is told of. */
static void begins(void)
{
	char number[12], *arguments[] = {"syscall_test", number, NULL};
	pid_t pid = fork();

	if (!pid) {
		snprintf(number, sizeof(number), "%d", specialised());
		syscall(SYS_execve, "/proc/self/exe", arguments, environ);
		_exit(1);
	}
	ends_well(pid);
}

/* Positions are shared with a child that begins unseen. */
static void forks(long number)
{
	pid_t pid = fork();

	/* In a child, since nothing is specialised in a process that has such a child. */
	if (!pid) {
		int fd = specialised();
		struct clone_args how = {.exit_signal = SIGCHLD};
		long child = number == SYS_fork	   ? syscall(SYS_fork)
			     : number == SYS_clone ? syscall(SYS_clone, (long)SIGCHLD, 0, 0, 0, 0)
						   : syscall(SYS_clone3, &how, sizeof(how));

		if (!child) {
			read_on(fd, READS, READS + 10);
			RAW(exit_group, 0);
		}
		ends_well((pid_t)child);
		read_on(fd, READS + 10, READS + 20);
		_exit(0);
	}
	ends_well(pid);
}

static void *unshares(void *pipe_end)
{
	int *end = pipe_end, fd;
	char byte;

	CHECK(!syscall(SYS_unshare, CLONE_FILES));
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && lseek(fd, 300, SEEK_SET) == 300);
	CHECK(write(end[1], &fd, sizeof(fd)) == sizeof(fd));
	for (int i = 300; i < 400; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
	return NULL;
}

/* A thread has descriptors of its own from then on: a number means two files. */
static void unshares_first(void)
{
	pid_t pid = fork();

	if (!pid) {
		char *arguments[] = {"syscall_test", "unshare", path, NULL};

		/* In a new program, which has opened nothing. */
		execv("/proc/self/exe", arguments);
		_exit(1);
	}
	ends_well(pid);
}

static int unshared(void)
{
	int ends[2], theirs, mine;
	pthread_t thread;

	CHECK(!pipe(ends) && !pthread_create(&thread, NULL, unshares, ends));
	CHECK(read(ends[0], &theirs, sizeof(theirs)) == sizeof(theirs));
	mine = open(path, O_RDONLY);
	CHECK(mine == theirs);
	read_on(mine, 0, SIZE);
	CHECK(!pthread_join(thread, NULL));
	return 0;
}

/* So has the thread that closes in a table of its own: others read on. */
static void *closes_its_own(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	CHECK(!syscall(SYS_close_range, fd, fd, CLOSE_RANGE_UNSHARE));
	CHECK(read(fd, &byte, 1) == -1 && errno == EBADF);
	return NULL;
}

static void closes_in_a_thread(void)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = specialised();
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, closes_its_own, &fd));
		CHECK(!pthread_join(thread, NULL));
		read_on(fd, READS, READS + 10);
		_exit(0);
	}
	ends_well(pid);
}

static void *ends_later(void *unused)
{
	usleep(1000);
	return unused;
}

/* A process lasts as long as its last thread: the library's is not to be that. */
static void ends_by_threads(void)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		specialised();
		CHECK(!pthread_create(&thread, NULL, ends_later, NULL));
		syscall(SYS_exit, 0);
	}
	ends_well(pid);
}

/* Others come through as they are: results, errors, six arguments. */
static void others(void)
{
	errno = 7;
	CHECK(syscall(SYS_getpid) == getpid() && errno == 7);
	CHECK(syscall(SYS_kill, -1000000, 0) == -1 && errno == ESRCH);
	CHECK(syscall(SYS_mmap, NULL, 1UL << 47, 0, 0x22, -1, 0L) == -1 && errno == ENOMEM);
	CHECK(syscall(SYS_mmap, NULL, 4096UL, 0, 0x2, -1, 1L) == -1 && errno == EINVAL);
	CHECK(syscall(100000) == -1 && errno == ENOSYS);
	CHECK(syscall(-1L) == -1 && errno == ENOSYS);
}

static void child_exits(void)
{
	RAW(exit_group, 7);
}

/* A clone whose child returns by what is on top of its own stack. */
static void stacks(void)
{
	static void *stack[1024] __attribute__((aligned(16)));
	int status;
	long pid;

	stack[1000] = (void *)child_exits;
	pid = syscall(SYS_clone, (long)(CLONE_VM | CLONE_VFORK | SIGCHLD), &stack[1000], NULL, NULL,
		      NULL);
	CHECK(pid > 0 && waitpid((pid_t)pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/*
 * A child that the library does not see begin closes what it has of its parent's: whoever writes to
 * the file then still ends the parent's window.
 */
static void unseen_children(void)
{
	int fd = specialised(), other, status;
	char byte = 0;
	long pid = RAW(clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		syscall(SYS_close, fd);
		RAW(exit_group, 0);
	}
	CHECK(pid > 0 && waitpid((pid_t)pid, &status, 0) == pid);
	other = RAW(openat, AT_FDCWD, path, O_WRONLY);
	CHECK(other >= 0 && RAW(pwrite64, other, "X", 1, (long)READS) == 1);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'X');
	byte = (char)READS;
	CHECK(RAW(pwrite64, other, &byte, 1, (long)READS) == 1 && !close(other));
	close(fd);
}

static void *waits(void *arg)
{
	char byte;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	syscall(SYS_read, *(int *)arg, &byte, 1);
	return NULL;
}

static void *reads_and_goes_on(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	/* It is to be cancelled, but not in these. */
	pthread_cancel(pthread_self());
	CHECK(syscall(SYS_read, fd, &byte, 1) == 1);
	CHECK(!syscall(SYS_close, fd));
	*(int *)arg = -1;
	pthread_testcancel();
	return NULL;
}

static void threads(void)
{
	int fd = open("/dev/zero", O_RDONLY);
	pthread_t thread;
	int ends[2];
	void *result;

	CHECK(!pthread_create(&thread, NULL, reads_and_goes_on, &fd));
	CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED && fd == -1);
	/* One that may be cancelled anywhere is, in a call as well. */
	CHECK(!RAW(pipe2, ends, 0) && !pthread_create(&thread, NULL, waits, &ends[0]));
	CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result));
	CHECK(result == PTHREAD_CANCELED);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		snprintf(path, sizeof(path), "%s", argv[2]);
		return unshared();
	}
	if (argc > 1)
		return RAW(lseek, atoi(argv[1]), 0, SEEK_CUR) != READS;
	path_make("syscall");
	reads();
	seeks();
	closes();
	copies();
	opens();
	opens_for_writing();
	passes();
	begins();
	forks(SYS_fork);
	forks(SYS_clone);
	forks(SYS_clone3);
	unshares_first();
	closes_in_a_thread();
	ends_by_threads();
	others();
	unseen_children();
	threads();
	stacks();
	unlink(path);
	return 0;
}
