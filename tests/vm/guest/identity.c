/* SPDX-License-Identifier: MIT */
/*
 * Asks who and when it is, in a compound and natively: with ids that all differ, from threads, in
 * user, process and time namespaces, and into memory that cannot be written.  As root.
 */
#include "script.h"
#include <pthread.h>
#include <sched.h>
#include <sys/time.h>

enum { CLOCKS = 12, NSEC = 1000000000 };

static const char *asked_in;

static void write_all(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

/* --- Who ------------------------------------------------------------------------------------- */

static void identities_check(void)
{
	static const int numbers[] = { SYS_getpid,  SYS_gettid, SYS_getppid, SYS_getuid,
				       SYS_geteuid, SYS_getgid, SYS_getegid };
	long native[COUNT(numbers)];

	script_begin();
	for (size_t i = 0; i < COUNT(numbers); i++) {
		native[i] = syscall(numbers[i]);
		script_call(numbers[i], 0, 0, 0, 0, 0);
	}
	script_run();
	for (size_t i = 0; i < COUNT(numbers); i++)
		CHECK(script_result[i] == native[i], "%s, call %d: %lld, natively %ld", asked_in,
		      numbers[i], (long long)script_result[i], native[i]);
	/* getpid is answered before any version is looked for. */
	CHECK(FAST() >= COUNT(numbers) - 1, "%s: %llu specialised calls", asked_in,
	      (unsigned long long)FAST());
}

/* --- When ------------------------------------------------------------------------------------ */

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * NSEC + time->tv_nsec;
}

/* Each clock's time in the compound lies between what it was natively before it and after. */
static void clocks_check(void)
{
	struct timespec before[CLOCKS] = {}, after;
	struct timespec *inside = (void *)script_buffer;
	int result[CLOCKS];

	memset(inside, 0xff, CLOCKS * sizeof(*inside));
	for (int i = 0; i < CLOCKS; i++)
		result[i] = syscall(SYS_clock_gettime, i, &before[i]) ? -errno : 0;
	script_begin();
	for (int i = 0; i < CLOCKS; i++)
		SYS(clock_gettime, i, &inside[i]);
	script_run();
	for (int i = 0; i < CLOCKS; i++) {
		CHECK_RESULT(i, result[i]);
		if (result[i] || syscall(SYS_clock_gettime, i, &after))
			continue;
		CHECK(inside[i].tv_nsec >= 0 && inside[i].tv_nsec < NSEC &&
			      nanoseconds(&inside[i]) >= nanoseconds(&before[i]) &&
			      nanoseconds(&inside[i]) <= nanoseconds(&after),
		      "%s, clock %d: %lld, natively %lld to %lld", asked_in, i,
		      (long long)nanoseconds(&inside[i]), (long long)nanoseconds(&before[i]),
		      (long long)nanoseconds(&after));
	}
	CHECK(FAST() == 4, "%s: %llu specialised clocks", asked_in, (unsigned long long)FAST());
}

static int64_t microseconds(const struct timeval *time)
{
	return time->tv_sec * 1000000 + time->tv_usec;
}

static void time_of_day_check(void)
{
	struct {
		struct timeval with_zone, alone;
		struct timezone zone;
		time_t seconds;
	} *inside = (void *)script_buffer;
	struct timezone zone;
	struct timeval before, after;
	time_t seconds_before = syscall(SYS_time, NULL), seconds_after;
	int alone, with_zone, seconds, stored;

	memset(&inside->zone, 0xff, sizeof(inside->zone));
	MUST(!syscall(SYS_gettimeofday, &before, &zone));
	script_begin();
	alone = SYS(gettimeofday, &inside->alone, 0);
	with_zone = SYS(gettimeofday, &inside->with_zone, &inside->zone);
	seconds = SYS(time, 0);
	stored = SYS(time, &inside->seconds);
	SYS(gettimeofday, 0, 0);
	script_run();
	MUST(!syscall(SYS_gettimeofday, &after, NULL));
	seconds_after = syscall(SYS_time, NULL);
	for (int i = 0; i < 2; i++) {
		int64_t got = microseconds(i ? &inside->with_zone : &inside->alone);

		CHECK_RESULT(i ? with_zone : alone, 0);
		CHECK(got >= microseconds(&before) && got <= microseconds(&after), "time of day");
	}
	CHECK(script_result[seconds] >= seconds_before && script_result[seconds] <= seconds_after,
	      "seconds");
	CHECK(script_result[stored] >= script_result[seconds] &&
		      script_result[stored] <= seconds_after &&
		      inside->seconds == script_result[stored],
	      "seconds that are stored");
	CHECK(!memcmp(&inside->zone, &zone, sizeof(zone)), "time zone");
	CHECK_RESULT(4, 0);
	CHECK(FAST() == 2, "%llu specialised", (unsigned long long)FAST());
}

static void ask_here(const char *in)
{
	asked_in = in;
	identities_check();
	clocks_check();
	time_of_day_check();
}

static void ask_all(const char *in)
{
	script_init();
	ask_here(in);
}

/* --- Where ----------------------------------------------------------------------------------- */

static void as_it_is(void *unused)
{
	(void)unused;
	ask_all("as it is");
}

static void as_others(void *unused)
{
	(void)unused;
	script_init();
	MUST(!setresgid(4, 5, 6) && !setresuid(1, 2, 3));
	ask_here("ids that differ");
}

static void *ask_in_thread(void *unused)
{
	ask_all("a thread");
	return unused;
}

static void in_thread(void *unused)
{
	pthread_t thread;

	(void)unused;
	MUST(!pthread_create(&thread, NULL, ask_in_thread, NULL) && !pthread_join(thread, NULL));
}

static void in_user_namespace(void *unused)
{
	(void)unused;
	MUST(!unshare(CLONE_NEWUSER));
	write_all("/proc/self/setgroups", "deny");
	write_all("/proc/self/uid_map", "5 0 1");
	write_all("/proc/self/gid_map", "6 0 1");
	MUST(getuid() == 5 && getgid() == 6);
	ask_all("a user namespace");
}

static void in_unmapped_namespace(void *unused)
{
	(void)unused;
	MUST(!unshare(CLONE_NEWUSER) && getuid() == 65534);
	ask_all("a user namespace without its ids");
}

static void ask_in_process_namespace(void *unused)
{
	(void)unused;
	MUST(getpid() == 1 && !getppid());
	ask_all("a namespace of processes");
	CHECK_CHILD(in_child(in_thread, NULL));
}

/* Has a child ask, since the namespace is that of children only. */
static void in_process_namespace(void *unused)
{
	(void)unused;
	MUST(!unshare(CLONE_NEWPID));
	CHECK_CHILD(in_child(ask_in_process_namespace, NULL));
}

static void ask_in_time_namespace(void *unused)
{
	(void)unused;
	ask_all("a time namespace");
}

static void in_time_namespace(void *unused)
{
	(void)unused;
	MUST(!unshare(CLONE_NEWTIME));
	write_all("/proc/self/timens_offsets", "monotonic 86400 500000000\nboottime 7 0\n");
	CHECK_CHILD(in_child(ask_in_time_namespace, NULL));
}

/* Times that cannot be stored, or not all of them. */
static void bad_memory(void *unused)
{
	long page = sysconf(_SC_PAGESIZE);
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *where[] = { (char *)8, two + page - 8, two + page, (char *)-4096,
			  (char *)(1ul << 62) };

	(void)unused;
	MUST(two != MAP_FAILED && !mprotect(two + page, page, PROT_READ));
	script_init();
	script_begin();
	for (size_t i = 0; i < COUNT(where); i++) {
		SYS(clock_gettime, CLOCK_MONOTONIC, where[i]);
		SYS(gettimeofday, where[i], 0);
	}
	SYS(clock_gettime, CLOCK_REALTIME, 0);
	script_run();
	for (int i = 0; i < 2 * (int)COUNT(where) + 1; i++)
		CHECK_RESULT(i, -EFAULT);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "as_it_is", .run_in_child = as_it_is },
		{ "as_others", .run_in_child = as_others },
		{ "thread", .run_in_child = in_thread },
		{ "user_namespace", .run_in_child = in_user_namespace },
		{ "unmapped_namespace", .run_in_child = in_unmapped_namespace },
		{ "process_namespace", .run_in_child = in_process_namespace },
		{ "time_namespace", .run_in_child = in_time_namespace },
		{ "bad_memory", .run_in_child = bad_memory },
	};

	if (geteuid())
		SKIP("this takes root");
	return part_main(parts, COUNT(parts), argc, argv);
}
