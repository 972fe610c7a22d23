// SPDX-License-Identifier: MIT
/*
 * watch_threads DIR: a watcher whose process has other threads or shares what it has with another
 * process, or whose system calls somebody observes.
 */
#define _GNU_SOURCE
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "watch.h"
#include "watch_checks.h"
#include "watch_tests.h"

static void under_a_filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };
	struct watcher watcher;

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f"));
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == ECANCELED);
	close(watcher.fd);
	munmap((void *)watcher.words, COSY_WATCH_WORDS * 8);
	CHECK(watcher_open(&watcher) && errno == EPERM);
}

static void *unshare_table(void *watcher)
{
	CHECK(!unshare(CLONE_FILES));
	return (void *)(long)read_error(watcher, AT_FDCWD, NULL, "f");
}

static void of_several_threads(void)
{
	struct watcher watcher;
	pthread_t thread;
	void *error;

	CHECK(!watcher_open(&watcher));
	CHECK(!read_error(&watcher, AT_FDCWD, NULL, "f"));
	CHECK(!pthread_create(&thread, NULL, unshare_table, &watcher));
	pthread_join(thread, &error);
	CHECK(error == (void *)(long)EXDEV || error == (void *)(long)ECANCELED);
}

static void *filter_thread(void *way)
{
	struct sock_filter allow = BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	/* The kernel does not look at the upper half of a number that has 32 bits. */
	if (way)
		CHECK(!syscall(SYS_seccomp,
			       SECCOMP_SET_MODE_FILTER | (way == (void *)2 ? 1ul << 32 : 0), 0,
			       &program));
	else
		CHECK(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	return NULL;
}

static void filter_of_another_thread(void)
{
	for (long way = 0; way < 3; way++) {
		int status;

		if (!fork()) {
			struct watcher watcher;
			pthread_t thread;

			CHECK(!watcher_open(&watcher));
			CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
			pthread_create(&thread, NULL, filter_thread, (void *)way);
			pthread_join(thread, NULL);
			CHECK(!answer_holds(&watcher, &answer));
			CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == ECANCELED);
			fflush(stdout);
			_exit(failures != 0);
		}
		wait(&status);
		CHECK(!status);
	}
}

/* A thread that waits for a byte; `number` is its own. */
struct waiting {
	int number, fd;
	bool dispatches;
};

static void *wait_for_byte(void *argument)
{
	static volatile char selector; /* SYSCALL_DISPATCH_FILTER_ALLOW */
	struct waiting *waiting = argument;
	char byte;

	if (waiting->dispatches)
		CHECK(!prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector));
	__atomic_store_n(&waiting->number, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (read(waiting->fd, &byte, 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static void waiting_begin(struct waiting *waiting, int ends[2])
{
	pthread_t thread;

	CHECK(!pipe(ends));
	waiting->fd = ends[0];
	CHECK(!pthread_create(&thread, NULL, wait_for_byte, waiting));
	while (!__atomic_load_n(&waiting->number, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Programs dispatch the calls of one thread to themselves. */
static void dispatcher_of_another_thread(void)
{
	struct waiting waiting = { .dispatches = true };
	struct watcher watcher;
	int ends[2];

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	waiting_begin(&waiting, ends);
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EPERM);
}

static struct waiting *traced;

static void trace_calls(void)
{
	int status;

	CHECK(!ptrace(PTRACE_SEIZE, traced->number, 0, 0));
	CHECK(!ptrace(PTRACE_INTERRUPT, traced->number, 0, 0));
	CHECK(waitpid(traced->number, &status, __WALL) == traced->number);
	CHECK(!ptrace(PTRACE_SYSCALL, traced->number, 0, 0));
	fflush(stdout);
}

static void tracer_of_another_thread(void)
{
	struct watcher watcher;
	struct helper helper;
	int ends[2];

	traced = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	helper = helper_begin(trace_calls);
	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	waiting_begin(traced, ends);
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	helper_run(&helper);
	CHECK(read_error(&watcher, AT_FDCWD, NULL, "f") == EPERM);
}

static int child_of_clone(void *unused)
{
	(void)unused;
	return 0;
}

/* Others have this process's memory, directory or descriptors, without being its threads. */
static void children_that_share(void)
{
	static const struct {
		int flags;
		bool ends;
	} kinds[] = {
		{ CLONE_FS, true },
		{ CLONE_FILES, true },
		{ CLONE_VM, true },
		{ CLONE_VM | CLONE_FS | CLONE_FILES, true },
		{ CLONE_VM | CLONE_VFORK | CLONE_FS, true },
		{ CLONE_VM | CLONE_VFORK | CLONE_NEWNS, true },
		{ CLONE_VM | CLONE_VFORK, false },
		{ 0, false },
	};
	static char stack[65536] __attribute__((aligned(16)));
	int status;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!fork()) {
			struct watcher watcher;

			CHECK(!watcher_open(&watcher));
			CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
			CHECK(clone(child_of_clone, stack + sizeof(stack), kinds[i].flags | SIGCHLD,
				    NULL) > 0);
			wait(NULL);
			CHECK(has_ended(&watcher) == kinds[i].ends);
			if (failures)
				printf("flags %x\n", kinds[i].flags);
			fflush(stdout);
			_exit(failures != 0);
		}
		wait(&status);
		CHECK(!status);
	}
}

static int thread_of_a_child(void *ready)
{
	*(volatile int *)ready = 1;
	pause();
	return 0;
}

/* Leaves a thread to itself that has the watcher's memory. */
static int child_with_a_thread(void *stack)
{
	static volatile int ready;
	int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;

	if (clone(thread_of_a_child, stack, flags, (void *)&ready) < 0)
		return 1;
	while (!ready)
		;
	/* The thread alone: the process lasts as long as the other one. */
	syscall(SYS_exit, 0);
	return 1;
}

static void child_of_vfork_with_a_thread(void)
{
	static char stacks[2][65536] __attribute__((aligned(16)));
	struct watcher watcher = { .fd = -1 };
	pid_t child;

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
	child = clone(child_with_a_thread, stacks[0] + sizeof(stacks[0]),
		      CLONE_VM | CLONE_VFORK | SIGCHLD, stacks[1] + sizeof(stacks[1]));
	CHECK(child > 0);
	CHECK(has_ended(&watcher));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void *unshare_by_close_range(void *unused)
{
	(void)unused;
	CHECK(!syscall(SYS_close_range, 500, 600, CLOSE_RANGE_UNSHARE));
	return NULL;
}

static void table_of_another_thread(void)
{
	struct watcher watcher;
	pthread_t thread;
	int fd = open(".", O_RDONLY);

	CHECK(!watcher_open(&watcher));
	CHECK(read_holds(&watcher, fd, NULL, "f"));
	CHECK(!pthread_create(&thread, NULL, unshare_by_close_range, NULL));
	pthread_join(thread, NULL);
	/* The thread itself ends older answers only. */
	CHECK(has_ended(&watcher));
}

/* Waits until nobody writes to the pipe any more.  It has no memory of libc's. */
static int thread_of_clone(void *pipe)
{
	char byte;

	syscall(SYS_read, *(int *)pipe, &byte, 1);
	return 0;
}

static int read_alone(const struct watcher *watcher)
{
	return watcher_read_as(watcher, AT_FDCWD, NULL, "f", COSY_WATCH_ALONE, &answer) ? errno : 0;
}

/* A library that does not know of a thread would use answers as if there were none. */
static void thread_that_nobody_knows(void)
{
	char *stack = malloc(65536);
	struct watcher watcher;
	int ends[2];

	CHECK(!watcher_open(&watcher));
	CHECK(!pipe(ends));
	for (int i = 0; i < 100 && (read_alone(&watcher) || !answer_holds(&watcher, &answer)); i++)
		;
	CHECK(answer_holds(&watcher, &answer));
	CHECK(clone(thread_of_clone, stack + 65536,
		    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			    CLONE_SYSVSEM,
		    ends) > 0);
	CHECK(!answer_holds(&watcher, &answer));
	CHECK(read_alone(&watcher) == EAGAIN);
	CHECK(read_holds(&watcher, AT_FDCWD, NULL, "f"));
}

static bool has_ended_thread(void)
{
	char path[40], text[512], *at;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	fd = open(path, O_RDONLY);
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = 0;
	at = strrchr(text, ')');
	return at && at[1] && at[2] == 'Z';
}

static void *read_without_the_first(void *watcher)
{
	while (!has_ended_thread())
		sched_yield();
	CHECK(read_holds(watcher, AT_FDCWD, NULL, "f"));
	fflush(stdout);
	_exit(failures != 0);
}

/* A thread that has ended may count as a thread, but has no descriptors any more. */
static void thread_that_has_ended(void)
{
	int status;

	if (!fork()) {
		static struct watcher watcher;
		pthread_t thread;

		CHECK(!watcher_open(&watcher));
		CHECK(!pthread_create(&thread, NULL, read_without_the_first, &watcher));
		syscall(SYS_exit, 0);
	}
	wait(&status);
	CHECK(!status);
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		under_a_filter,
		of_several_threads,
		filter_of_another_thread,
		dispatcher_of_another_thread,
		tracer_of_another_thread,
		children_that_share,
		child_of_vfork_with_a_thread,
		table_of_another_thread,
		thread_that_nobody_knows,
		thread_that_has_ended,
	};

	return tests_main(argc, argv, tests, sizeof(tests) / sizeof(*tests));
}
