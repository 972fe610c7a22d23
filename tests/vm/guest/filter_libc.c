/* SPDX-License-Identifier: MIT */
/*
 * Compares what filters do to libc's functions, natively and in a region, where libc makes another
 * call than the one of the function's name: each number that either may make is answered by an
 * error, by ENOSYS, for which libc knows another way, or by the process's end.  A filter that knows
 * libc's call alone must not be evaded, and one that knows the other alone not harm.
 */
#include "check.h"
#include "../../filter_arm.h"
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/uio.h>

enum { MAX_NUMBERS = 4, OTHER_ERROR = ENOTUNIQ };

static struct stat status;
static struct statx extended;
static struct rlimit limit;
static struct timeval no_time;
static struct sembuf operation = { .sem_flg = IPC_NOWAIT, .sem_op = 1 };
static char bytes[8], name[] = "file", other_name[] = "other";
static struct iovec vector = { bytes, sizeof(bytes) };
static int file, set, ends[2], page_size;
static char *page;

#define CASE(name, expression)                                                                     \
	static long name##_native(void)                                                            \
	{                                                                                          \
		long ret = (expression);                                                           \
                                                                                                   \
		return ret < 0 ? -errno : ret;                                                     \
	}                                                                                          \
	static long name##_region(void)                                                            \
	{                                                                                          \
		long ret;                                                                          \
                                                                                                   \
		COSY_START;                                                                        \
		ret = (expression);                                                                \
		if (ret < 0)                                                                       \
			ret = -errno;                                                              \
		COSY_END;                                                                          \
		return ret;                                                                        \
	}

CASE(open, open(name, O_RDONLY | O_CLOEXEC) > 2)
CASE(stat, stat(name, &status))
CASE(fstat, fstat(file, &status))
CASE(lstat, lstat(name, &status))
CASE(statx, statx(AT_FDCWD, name, 0, STATX_BASIC_STATS, &extended))
CASE(faccessat, faccessat(AT_FDCWD, name, R_OK, 0))
CASE(faccessat_own, faccessat(AT_FDCWD, name, R_OK, AT_EACCESS))
CASE(preadv2, preadv2(file, &vector, 1, 0, 0))
CASE(pwritev2, pwritev2(file, &vector, 1, 0, 0))
CASE(renameat2, renameat2(AT_FDCWD, name, AT_FDCWD, name, 0))
CASE(renameat2_new, renameat2(AT_FDCWD, name, AT_FDCWD, other_name, RENAME_NOREPLACE))
CASE(pipe, pipe(ends))
CASE(select, select(0, NULL, NULL, NULL, &no_time))
CASE(semop, semop(set, &operation, 1))
CASE(mlock2, mlock2(page, (size_t)page_size, 0))
CASE(mlock2_later, mlock2(page, (size_t)page_size, MLOCK_ONFAULT))
CASE(getrlimit, getrlimit(RLIMIT_NOFILE, &limit))
CASE(setrlimit, setrlimit(RLIMIT_NOFILE, &limit))
CASE(mkdir, mkdir("file", 0700))

static const struct function {
	const char *name;
	long (*native)(void), (*region)(void);
	int numbers[MAX_NUMBERS]; /* that it may make; 0 ends them */
} functions[] = {
#define FUNCTION(name, ...)                                                                        \
	{                                                                                          \
		#name, name##_native, name##_region,                                               \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
	FUNCTION(open, SYS_open, SYS_openat),
	FUNCTION(stat, SYS_stat, SYS_newfstatat),
	FUNCTION(fstat, SYS_fstat, SYS_newfstatat),
	FUNCTION(lstat, SYS_lstat, SYS_newfstatat),
	FUNCTION(statx, SYS_statx, SYS_newfstatat),
	FUNCTION(faccessat, SYS_faccessat2, SYS_faccessat),
	FUNCTION(faccessat_own, SYS_faccessat2, SYS_faccessat, SYS_newfstatat),
	FUNCTION(preadv2, SYS_preadv2, SYS_preadv),
	FUNCTION(pwritev2, SYS_pwritev2, SYS_pwritev),
	FUNCTION(renameat2, SYS_renameat2, SYS_renameat),
	FUNCTION(renameat2_new, SYS_renameat2, SYS_renameat),
	FUNCTION(pipe, SYS_pipe, SYS_pipe2),
	FUNCTION(select, SYS_select, SYS_pselect6),
	FUNCTION(semop, SYS_semop, SYS_semtimedop),
	FUNCTION(mlock2, SYS_mlock2, SYS_mlock),
	FUNCTION(mlock2_later, SYS_mlock2, SYS_mlock),
	FUNCTION(getrlimit, SYS_getrlimit, SYS_prlimit64),
	FUNCTION(setrlimit, SYS_setrlimit, SYS_prlimit64),
	FUNCTION(mkdir, SYS_mkdir, SYS_mkdirat),
};

static long *answer;

/* Returns what a child gets from the function under a filter, or minus 10000 and more: how it ended. */
static long answer_of(const struct function *function, bool region, int number, uint32_t action)
{
	pid_t pid = child_start();
	int ended;

	if (!pid) {
		/* The first region finds out what libcosy has to know. */
		if (region)
			(void)mkdir_region();
		MUST(!filter_arm(number, action, 0));
		*answer = region ? function->region() : function->native();
		_exit(0);
	}
	MUST(waitpid(pid, &ended, 0) == pid);
	return ended ? -10000 - ended : *answer;
}

static void compare(const struct function *function, int number)
{
	static const uint32_t actions[] = {
		SECCOMP_RET_ERRNO | OTHER_ERROR,
		SECCOMP_RET_ERRNO | ENOSYS,
		SECCOMP_RET_KILL_PROCESS,
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		long native = answer_of(function, false, number, actions[i]);
		long region = answer_of(function, true, number, actions[i]);

		CHECK(region == native, "%s, %#x for call %d: %ld, natively %ld", function->name,
		      actions[i], number, region, native);
	}
}

int main(void)
{
	struct cosy_stats then;

	directory_enter();
	page_size = (int)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, (size_t)page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	set = semget(IPC_PRIVATE, 1, 0600);
	answer = shared_memory(sizeof(*answer));
	MUST(page != MAP_FAILED && file > 2 && set >= 0 && write(file, bytes, sizeof(bytes)) > 0);
	MUST(!close(open(other_name, O_CREAT | O_RDWR, 0600)) && !getrlimit(RLIMIT_NOFILE, &limit));
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		then = counts();
		CHECK(functions[i].region() == functions[i].native(), "%s without a filter",
		      functions[i].name);
		CHECK_KERNEL(then, 1, 1);
		for (int k = 0; k < MAX_NUMBERS && functions[i].numbers[k]; k++)
			compare(&functions[i], functions[i].numbers[k]);
	}
	MUST(!semctl(set, 0, IPC_RMID) && !unlink(name) && !unlink(other_name));
	directory_leave();
	return check_end();
}
