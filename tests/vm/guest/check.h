/* SPDX-License-Identifier: MIT */
/*
 * check.h - checks that print a reason, and the counters that prove where a region ran; the guest
 * programs share them.
 *
 * A program ends with check_end(): 0 passed, 1 failed; SKIP() ends it with 77.
 * Built by plain clang a region is plain code and nothing is asked of the
 * counters, so that each program's own logic can be tried anywhere.
 */
#ifndef CHECK_H
#define CHECK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cosy/cosy.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <grp.h>
#include <linux/cosy.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELPER static inline __attribute__((unused))

#ifdef CHECK_SHARED
extern int check_failures; /* the program has several files, one of which defines it */
#else
static int check_failures;
#endif

/* Checks; prints only the first twenty failures. */
#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond) && ++check_failures <= 20) {                                           \
			printf("FAIL %s:%d: %s: ", __FILE_NAME__, __LINE__, #cond);                \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
			fflush(stdout);                                                            \
		}                                                                                  \
	} while (0)

/* Checks a condition without which the test cannot go on. */
#define MUST(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("FAIL %s:%d: %s: %s\n", __FILE_NAME__, __LINE__, #cond,             \
			       strerror(errno));                                                   \
			fflush(stdout);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

#define SKIP(...)                                                                                  \
	do {                                                                                       \
		printf("SKIP: ");                                                                  \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
		exit(77);                                                                          \
	} while (0)

HELPER int check_end(void)
{
	fflush(stdout);
	return check_failures ? 1 : 0;
}

/*
 * Lets no listing of the directories under `path` change their times of access any more: a time an
 * hour ahead is later than every change to come, and relatime leaves it.
 */
HELPER void listings_leave_times(const char *path)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) + 3600 }, { .tv_nsec = UTIME_OMIT } };
	char *paths[] = { (char *)path, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *entry;

	MUST(fts);
	while ((entry = fts_read(fts)))
		if (entry->fts_info == FTS_DP)
			MUST(!utimensat(AT_FDCWD, entry->fts_accpath, times, 0));
	MUST(!fts_close(fts));
}

/* --- Where did it run? -------------------------------------------------------- */

/* True if the regions of this process must run in the kernel. */
HELPER bool kernel_expected(void)
{
#if defined(__COSYCC__) && !defined(COSY_OFF)
	const char *expect = getenv("CHECK_EXPECT");

	if (expect)
		return !strcmp(expect, "kernel");
	return access("/dev/cosy", R_OK | W_OK) == 0;
#else
	return false;
#endif
}

/* Calls f(fd) for each descriptor of this process that is the device. */
HELPER int each_context(void (*f)(int fd, void *arg), void *arg)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		char target[64];
		ssize_t len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = 0;
		if (!strcmp(target, "/dev/cosy")) {
			found++;
			if (f)
				f(atoi(entry->d_name), arg);
		}
	}
	closedir(dir);
	return found;
}

HELPER void counts_add(int fd, void *arg)
{
	struct cosy_stats *sum = arg, one = { .size = sizeof(one) };

	if (ioctl(fd, COSY_IOC_STATS, &one))
		return; /* inherited from the parent: not this process's */
	sum->runs += one.runs;
	sum->calls += one.calls;
	sum->ops += one.ops;
	sum->interp_calls += one.interp_calls;
	for (int i = 0; i < 16; i++)
		sum->left[i] += one.left[i];
	sum->loads += one.loads;
	sum->rejects += one.rejects;
	sum->fast += one.fast;
	sum->loaned += one.loaned;
	sum->transferred += one.transferred;
	sum->move_refused += one.move_refused;
	sum->exported += one.exported;
	sum->imported += one.imported;
	sum->passed += one.passed;
	sum->taken += one.taken;
	for (size_t i = 0; i < sizeof(one.guard_failed) / sizeof(*one.guard_failed); i++)
		sum->guard_failed[i] += one.guard_failed[i];
}

/* Returns the sum of this process's contexts; zeros if it has none. */
HELPER struct cosy_stats counts(void)
{
	struct cosy_stats sum = { .size = sizeof(sum) };

	each_context(counts_add, &sum);
	return sum;
}

/* Checks that at least so many RUNs and system calls were made in the kernel since `then`. */
#define CHECK_KERNEL(then, min_runs, min_calls)                                                    \
	do {                                                                                       \
		struct cosy_stats now_ = counts();                                                 \
		if (!kernel_expected())                                                            \
			break;                                                                     \
		CHECK(now_.runs - (then).runs >= (uint64_t)(min_runs),                             \
		      "the region ran natively: %llu runs, at least %llu wanted",                  \
		      (unsigned long long)(now_.runs - (then).runs),                               \
		      (unsigned long long)(min_runs));                                             \
		CHECK(now_.calls - (then).calls >= (uint64_t)(min_calls),                          \
		      "%llu calls in the kernel (and %llu by the interpreter), at least %llu "     \
		      "wanted",                                                                    \
		      (unsigned long long)(now_.calls - (then).calls),                             \
		      (unsigned long long)(now_.interp_calls - (then).interp_calls),               \
		      (unsigned long long)(min_calls));                                            \
	} while (0)

/* --- Time, signals, children -------------------------------------------------- */

HELPER double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

HELPER void sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

HELPER void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigemptyset(&sa.sa_mask);
	MUST(!sigaction(sig, &sa, NULL));
}

/* Sends SIGALRM after `first_us`, then every `every_us`; 0, 0 stops it. */
HELPER void alarm_us(long first_us, long every_us)
{
	struct itimerval it = {
		.it_value = { first_us / 1000000, first_us % 1000000 },
		.it_interval = { every_us / 1000000, every_us % 1000000 },
	};

	MUST(!setitimer(ITIMER_REAL, &it, NULL));
}

/* True if this kernel is of that version, or of a later one. */
HELPER bool kernel_is_from(int major, int minor)
{
	struct utsname name;
	int its[2];

	MUST(!uname(&name) && sscanf(name.release, "%d.%d", &its[0], &its[1]) == 2);
	return its[0] > major || (its[0] == major && its[1] >= minor);
}

/* Returns a call's result, or the error as a negative number. */
HELPER long result_of(long result)
{
	return result < 0 ? -errno : result;
}

/* As fork(2), where what fails in the child is counted from nothing and no output is written twice. */
HELPER pid_t child_start(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		check_failures = 0;
	return pid;
}

/* Runs f in a child.  Returns its wait status. */
HELPER int in_child(void (*f)(void *), void *arg)
{
	pid_t pid = child_start();
	int status;

	if (!pid) {
		f(arg);
		fflush(stdout);
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	return status;
}

#define CHECK_CHILD(status)                                                                        \
	do {                                                                                       \
		int status_ = (status);                                                            \
		CHECK(WIFEXITED(status_) && !WEXITSTATUS(status_),                                 \
		      "the child ended with status %#x", status_);                                 \
	} while (0)

/*
 * Returns how many records of the kernel's log that `log` (/dev/kmsg, not blocking) did not read before
 * have both texts.
 */
HELPER int log_records(int log, const char *first, const char *second)
{
	char record[1024];
	int count = 0;
	ssize_t got;

	while ((got = read(log, record, sizeof(record) - 1)) > 0) {
		record[got] = '\0';
		count += strstr(record, first) && strstr(record, second);
	}
	return count;
}

HELPER bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	if (!pid)
		return false;
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == pid;
}

/*
 * Waits until the child has made it so; the child may take its time, but not end before.  pid 0: a
 * thread.  suite.sh ends a program that waits for ever.
 */
#define WAIT_FOR(pid, cond)                                                                        \
	do {                                                                                       \
		while (!(cond) && !has_ended(pid))                                                 \
			sleep_ms(1);                                                               \
		MUST(cond);                                                                        \
	} while (0)

/* Makes root another user, who may use the device or not; any other user stays. */
HELPER void become(uid_t user, bool may_use)
{
	struct stat st;

	if (geteuid())
		return;
	if (stat("/dev/cosy", &st))
		st.st_gid = 65534;
	MUST(!setgroups(may_use, &st.st_gid));
	MUST(!setresgid(65534, 65534, 65534) && !setresuid(user, user, user));
}

HELPER void become_nobody(bool may_use)
{
	become(65534, may_use);
}

/* Returns zeroed memory shared with children. */
HELPER void *shared_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	MUST(p != MAP_FAILED);
	return p;
}

/* Returns the letter of a thread's state, or of a process's first (proc(5)); 0: it has ended. */
HELPER char thread_state(pid_t thread)
{
	char path[32], line[512] = "", *state;
	ssize_t had = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		had = read(fd, line, sizeof(line) - 1);
		close(fd);
	}
	state = had > 0 ? strrchr(line, ')') : NULL;
	return state ? state[2] : 0;
}

/* True if it sleeps such that a signal would wake it; false, too, if it has ended. */
HELPER bool is_asleep(pid_t thread)
{
	return thread_state(thread) == 'S';
}

/* Returns whether a thread, which must be there, waits for what no signal ends, such as a lock. */
HELPER bool is_blocked(pid_t thread)
{
	char state = thread_state(thread);

	MUST(state);
	return state == 'D';
}

/* Writes all of a text at once to a file that is there, as settings of the kernel's want it. */
HELPER bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Enters a new empty directory; the caller's directory_leave removes it. */
static char check_directory[64];

HELPER void directory_enter(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(check_directory, sizeof(check_directory), "%.40s/cosy.XXXXXX", tmp ? tmp : "/tmp");
	MUST(mkdtemp(check_directory));
	MUST(!chdir(check_directory));
}

HELPER void directory_leave(void)
{
	MUST(!chdir("/"));
	CHECK(!rmdir(check_directory), "%s is not empty or gone: %s", check_directory,
	      strerror(errno));
}

/* --- A program of several parts --------------------------------------------------------- */

/* One of both: run in this process, or in a child of its own, which may end in any way. */
struct part {
	const char *name;
	void (*run)(void);
	void (*run_in_child)(void *unused);
};

/* Runs those of `count` parts that the arguments name, or all.  Returns the exit status. */
HELPER int part_main(const struct part *parts, size_t count, int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < count; i++) {
		int before = check_failures;
		double began = now_ms();
		bool wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], parts[i].name);
		if (!wanted)
			continue;
		if (parts[i].run)
			parts[i].run();
		else
			CHECK_CHILD(in_child(parts[i].run_in_child, NULL));
		printf("%s %s, %.0f ms\n", check_failures == before ? "ok" : "not ok",
		       parts[i].name, now_ms() - began);
	}
	return check_end();
}

#endif /* CHECK_H */
