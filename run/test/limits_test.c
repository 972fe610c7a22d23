// SPDX-License-Identifier: MIT
/*
 * limits_test.c - checks that limits and priorities that a program sets when it has windows delay no
 * writer, and that windows take no more than a small part of what the program limits itself to.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "proc_kib.h"
#include "raw.h"

#define SIZE  70000
#define READS 100
#define BLOCK 100
#define FILES 200
#define MIB   (1L << 20)

static char path[200];

static bool leased(int fd)
{
	return RAW(fcntl, fd, F_GETLEASE) == F_RDLCK;
}

static int specialised(void)
{
	int fd = open(path, O_RDONLY);
	char byte;

	for (int i = 0; i < READS; i++)
		CHECK(read(fd, &byte, 1) == 1);
	CHECK(leased(fd));
	return fd;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static int asks[2], answers[2];
/*
 * The kernel takes a lease away after so many seconds.  A writer that waited for less was let in by
 * the library, however busy the machine is.
 */
static int longest;

/* Starts a process that opens the file for writing when it is asked to, and says how long it took. */
static void writer_start(void)
{
	FILE *file = fopen("/proc/sys/fs/lease-break-time", "r");
	char byte;

	CHECK(file && fscanf(file, "%d", &longest) == 1 && !fclose(file));
	CHECK(!pipe(asks) && !pipe(answers));
	if (fork())
		return;
	close(asks[1]);
	while (RAW(read, asks[0], &byte, 1) == 1) {
		double before = now();
		int fd = RAW(openat, AT_FDCWD, path, O_WRONLY);

		CHECK(fd >= 0 && !RAW(close, fd));
		before = now() - before;
		CHECK(RAW(write, answers[1], &before, sizeof(before)) == sizeof(before));
	}
	_exit(0);
}

static double writer_waits(void)
{
	double seconds;

	CHECK(RAW(write, asks[1], "", 1) == 1);
	CHECK(RAW(read, answers[0], &seconds, sizeof(seconds)) == sizeof(seconds));
	return seconds;
}

/* Reads with so few descriptors, before and after the limit is set. */
static void few_descriptors(int count, bool by_prlimit)
{
	struct rlimit limit = {count, count};
	int fd = specialised();
	char byte;

	CHECK(!(by_prlimit ? prlimit(getpid(), RLIMIT_NOFILE, &limit, NULL)
			   : setrlimit(RLIMIT_NOFILE, &limit)));
	CHECK(writer_waits() < longest);
	for (int i = 0; i < 10 * READS; i++)
		CHECK(read(fd, &byte, 1) == 1);
	CHECK(writer_waits() < longest);
	CHECK(read(fd, &byte, 1) == 1);
}

static void no_descriptor(void)
{
	few_descriptors(0, false);
}

static void one_descriptor(void)
{
	few_descriptors(1, true);
}

/* The kernel refuses a limit that cannot be read, and the windows stay. */
static void no_limit(void)
{
	int fd = specialised();
	char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct rlimit *volatile limits[] = {(struct rlimit *)8, (struct rlimit *)nowhere,
						  (struct rlimit *)-8L};

	for (int i = 0; i < 3; i++) {
		CHECK(prlimit(0, RLIMIT_NOFILE, limits[i], NULL) == -1 && errno == EFAULT);
		CHECK(setrlimit(RLIMIT_NOFILE, limits[i]) == -1 && errno == EFAULT);
	}
	/* NULL sets nothing. */
	limits[0] = NULL;
	CHECK(!prlimit(0, RLIMIT_NOFILE, limits[0], NULL));
	CHECK(!setrlimit(RLIMIT_NOFILE, limits[0]));
	CHECK(leased(fd));
}

/* Returns how many files of many have a window when all have been read again and again. */
static int windows(void)
{
	static int fds[FILES];
	static char block[BLOCK];
	int leases = 0;

	for (int i = 0; i < FILES; i++) {
		fds[i] = open(path, O_RDONLY);
		for (int k = 0; k < 300; k++)
			CHECK(read(fds[i], block, BLOCK) == BLOCK);
	}
	for (int i = 0; i < FILES; i++) {
		leases += leased(fds[i]);
		close(fds[i]);
	}
	return leases;
}

/* Returns the bytes of addresses that could be had. */
static size_t room(void)
{
	size_t least = 0, most = 512 * MIB;

	while (most - least > 65536) {
		size_t len = (least + most) / 2;
		void *map =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (map == MAP_FAILED)
			most = len;
		else
			munmap(map, least = len);
	}
	return least;
}

/* Checks that windows take at most a sixteenth of such a limit, besides the tables. */
static void limited(int resource)
{
	struct rlimit limit = {64 * MIB, 64 * MIB};
	size_t before;

	CHECK(!setrlimit(resource, &limit));
	before = room();
	CHECK(before > 16 * MIB);
	CHECK(windows() > 0);
	CHECK(before - room() <= 5 * MIB);
}

static void limited_addresses(void)
{
	limited(RLIMIT_AS);
}

static void limited_data(void)
{
	limited(RLIMIT_DATA);
}

/* A limit that comes late makes no more windows than one that was there. */
static void limited_late(void)
{
	close(specialised());
	limited(RLIMIT_DATA);
}

static void locked_memory(void)
{
	struct rlimit limit = {8 * MIB, 8 * MIB};
	long before;

	close(specialised());
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		printf("memory cannot be locked here: %s\n", strerror(errno));
		return;
	}
	before = proc_kib("/proc/self/status", "VmLck");
	windows();
	CHECK(proc_kib("/proc/self/status", "VmLck") - before <= 64);
	/* The windows that were there may be used again. */
	CHECK(windows() <= 4);
}

static volatile bool ends;
static int spun;

/* Reads for ever on one processor. */
static void *spin(void *unused)
{
	char byte;

	while (!ends)
		if (read(spun, &byte, 1) != 1)
			lseek(spun, 0, SEEK_SET);
	return unused;
}

enum how { SCHEDULER, PARAMETERS, THREAD, THREAD_PRIORITY };

static void set_priority(enum how how, int priority)
{
	struct sched_param param = {priority};

	switch (how) {
	case SCHEDULER:
		CHECK(!sched_setscheduler(0, SCHED_FIFO, &param));
		break;
	case PARAMETERS:
		CHECK(!sched_setparam(0, &param));
		break;
	case THREAD:
		CHECK(!pthread_setschedparam(pthread_self(), SCHED_RR, &param));
		break;
	case THREAD_PRIORITY:
		CHECK(!pthread_setschedprio(pthread_self(), priority));
		break;
	}
}

/* Returns the lease thread's real-time priority; 0: it has none, or there is no thread. */
static int thread_priority(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *entry;
	int priority = 0;

	CHECK(threads);
	while ((entry = readdir(threads))) {
		char name[300], text[20] = "";
		struct sched_param param;
		FILE *file;

		snprintf(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(name, "r");
		if (!file)
			continue;
		if (fgets(text, sizeof(text), file) && !strcmp(text, "cosy-leases\n")) {
			CHECK(!sched_getparam(atoi(entry->d_name), &param));
			priority = param.sched_priority;
		}
		fclose(file);
	}
	closedir(threads);
	return priority;
}

/* A program that never sleeps gets a high priority when it has windows. */
static void late_priorities(void)
{
	struct sched_param param = {5};
	int fd = specialised();

	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		printf("no priorities are to be had here: %s\n", strerror(errno));
		return;
	}
	CHECK(thread_priority() >= 5);
	for (enum how how = PARAMETERS; how <= THREAD_PRIORITY; how++) {
		set_priority(how, 10 + how);
		CHECK(thread_priority() >= 10 + (int)how);
	}
	set_priority(SCHEDULER, 3);
	CHECK(thread_priority() >= 10 + THREAD_PRIORITY);
	CHECK(leased(fd));
	param.sched_priority = 0;
	CHECK(!sched_setscheduler(0, SCHED_OTHER, &param));
	CHECK(writer_waits() < longest);
}

/* The thread stays above those that had a higher priority from the beginning. */
static void early_priorities(void)
{
	struct sched_param param = {20};
	int fd;

	if (RAW(sched_setscheduler, 0, SCHED_FIFO, &param)) {
		printf("no priorities are to be had here: %s\n", strerror(errno));
		return;
	}
	fd = specialised();
	CHECK(thread_priority() >= 20);
	set_priority(SCHEDULER, 5);
	CHECK(thread_priority() >= 20);
	close(fd);
}

/* Another process's priority is none of this one's. */
static void priorities_of_others(void)
{
	struct sched_param param = {5};
	pid_t child = fork();
	int fd = specialised();

	if (!child) {
		pause();
		_exit(1);
	}
	if (!sched_setscheduler(child, SCHED_FIFO, &param))
		CHECK(thread_priority() == 0);
	CHECK(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
	close(fd);
}

static void a_reader_that_never_sleeps(void)
{
	struct sched_param param = {5};
	pthread_t thread;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	CHECK(!sched_setaffinity(0, sizeof(first), &first));
	spun = specialised();
	CHECK(!pthread_create(&thread, NULL, spin, NULL));
	if (pthread_setschedparam(thread, SCHED_FIFO, &param))
		printf("no priorities are to be had here\n");
	else
		CHECK(thread_priority() >= 5);
	/* The writer needs a processor, too. */
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		CPU_SET(1, &first);
		sched_setaffinity(0, sizeof(first), &first);
		CHECK(writer_waits() < longest);
	}
	ends = true;
	CHECK(!pthread_join(thread, NULL));
}

/* Runs a test in a process of its own, since its limits stay. */
static void apart(void (*test)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		writer_start();
		test();
		fflush(stdout);
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void)
{
	static char bytes[SIZE];
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/cosy-run-limits.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	CHECK(write(fd, bytes, SIZE) == SIZE);
	close(fd);
	apart(no_descriptor);
	apart(one_descriptor);
	apart(no_limit);
	apart(limited_addresses);
	apart(limited_data);
	apart(limited_late);
	apart(locked_memory);
	apart(late_priorities);
	apart(early_priorities);
	apart(priorities_of_others);
	apart(a_reader_that_never_sleeps);
	unlink(path);
	return 0;
}
