/* SPDX-License-Identifier: MIT */
/*
 * Forks with an open context and live data in the shared buffer: parent and child each keep their
 * own, and the child's regions run in the kernel again.  Children that only exec see nothing of it
 * at all.
 */
#include "check.h"
#include <pthread.h>
#include <spawn.h>
#include <sys/syscall.h>

#ifndef __COSYCC__
#define cosy_malloc   malloc
#define cosy_mem_free free
#endif

#define SIZE	    100000
#define GENERATIONS 5

extern char **environ;

static bool all(const char *data, char value)
{
	for (int i = 0; i < SIZE; i++)
		if (data[i] != value)
			return false;
	return true;
}

static void fill(char *data, char value)
{
	int calls = 0;
	struct cosy_stats before = counts();

	COSY_START;
	memset(data, value, SIZE);
	for (int i = 0; i < 50; i++)
		calls += getppid() >= 0;
	COSY_END;
	CHECK(calls == 50, "%d calls", calls);
	CHECK_KERNEL(before, 1, 50);
}

/* Changes its data and forks the next generation in the middle. */
static void generation(char *data, int n)
{
	char mine = (char)('a' + n), *own;
	int status;
	pid_t pid;

	CHECK(all(data, n ? (char)('a' + n - 1) : 0), "generation %d: inherited data is wrong", n);
	fill(data, mine);
	CHECK(all(data, mine), "generation %d: data is wrong", n);
	own = cosy_malloc(SIZE);
	MUST(own);
	fill(own, 'X');
	if (n < GENERATIONS) {
		pid = child_start();
		if (!pid) {
			generation(data, n + 1);
			_exit(check_end());
		}
		fill(own, 'Y'); /* at the same time as the child */
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_CHILD(status);
	}
	CHECK(all(data, mine), "generation %d: the child changed our data", n);
	CHECK(all(own, n < GENERATIONS ? 'Y' : 'X'), "generation %d: our own data is wrong", n);
	fill(data, mine);
	cosy_mem_free(own);
}

/* Forks by a raw call, of which no library hears. */
static void raw_fork(char *data)
{
	int status;
	long pid;

	fill(data, 'r');
	fflush(stdout);
	pid = syscall(SYS_fork);
	MUST(pid >= 0);
	if (!pid) {
		int calls = 0, wrong = 0;

		check_failures = 0;
		if (!all(data, 'r'))
			_exit(2);
		COSY_START;
		memset(data, 's', SIZE);
		for (int i = 0; i < 50; i++)
			calls += getppid() >= 0;
		COSY_END;
		wrong = calls != 50 || !all(data, 's');
		_exit(wrong);
	}
	MUST(waitpid((pid_t)pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(all(data, 'r'), "raw fork: the child changed our data");
	fill(data, 'a');
}

static volatile bool stop;

static void *busy(void *arg)
{
	long *turns = arg;
	int bad = 0;

	while (!stop) {
		char text[64];
		int len = 0;

		COSY_START;
		memset(text, 'x', 63);
		text[63] = 0;
		for (int i = 0; i < 20; i++)
			len += (int)strlen(text) + (getppid() < 0);
		COSY_END;
		bad += len != 20 * 63;
		++*turns;
	}
	return (void *)(long)bad;
}

/* Forks while other threads are in regions, in the allocator, in the library. */
static void among_threads(void *unused)
{
	pthread_t threads[4];
	long turns[4] = { 0 };
	void *bad;

	(void)unused;
	for (int i = 0; i < 4; i++)
		MUST(!pthread_create(&threads[i], NULL, busy, &turns[i]));
	for (int i = 0; i < 25; i++) {
		int status;
		pid_t pid;
		char *data = cosy_malloc(SIZE);

		MUST(data);
		fill(data, 'p');
		pid = child_start();
		if (!pid) {
			CHECK(all(data, 'p'), "among threads: the child's data is wrong");
			fill(data, 'c');
			cosy_mem_free(data);
			_exit(check_end());
		}
		fill(data, 'q');
		MUST(waitpid(pid, &status, 0) == pid);
		CHECK_CHILD(status);
		CHECK(all(data, 'q'), "among threads: the parent's data is wrong");
		cosy_mem_free(data);
	}
	stop = true;
	for (int i = 0; i < 4; i++) {
		MUST(!pthread_join(threads[i], &bad));
		CHECK(!bad && turns[i], "among threads: %ld turns, %ld wrong", turns[i], (long)bad);
	}
}

/* Counts what an exec'd program has open; argv[1] tells how many descriptors are right. */
static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	MUST(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 3; /* ., .. and the directory's own */
}

static int highest_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int n = -1;

	MUST(dir);
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > n && atoi(entry->d_name) != dirfd(dir))
			n = atoi(entry->d_name);
	closedir(dir);
	return n;
}

/* Counts a descriptor that another process has opened: this one may have opened its own already. */
static void inherited_add(int fd, void *arg)
{
	struct cosy_stats stats = { .size = sizeof(stats) };

	*(int *)arg += ioctl(fd, COSY_IOC_STATS, &stats) && errno == EXDEV;
}

static void exec_leaks_nothing(int before)
{
	char count[16], *argv[] = { "fork", count, NULL };
	int status;
	pid_t pid;

	snprintf(count, sizeof(count), "%d", before);
	MUST(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ));
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	pid = vfork();
	if (!pid) {
		execve("/proc/self/exe", argv, environ);
		_exit(127);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

int main(int argc, char **argv)
{
	int before = open_files(), strangers = 0;
	char *data;

	if (argc > 1) {
		CHECK(before == atoi(argv[1]),
		      "exec: %d open files, %s expected, the highest is %d", before, argv[1],
		      highest_open());
		each_context(inherited_add, &strangers);
		CHECK(!strangers, "exec: the device's descriptor was inherited");
		return check_end();
	}
	data = cosy_malloc(SIZE);
	MUST(data);
	memset(data, 0, SIZE);
	CHECK_CHILD(in_child((void (*)(void *))(void (*)(void))raw_fork, data));
	CHECK_CHILD(in_child(among_threads, NULL));
	generation(data, 0);
	exec_leaks_nothing(before);
	fill(data, 'z'); /* the parent's data stay */
	CHECK(all(data, 'z'), "the parent's data is wrong");
	cosy_mem_free(data);
	return check_end();
}
