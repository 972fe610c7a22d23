// SPDX-License-Identifier: MIT
/*
 * context_test.c - tests the process's context in the kernel, and what programs do to it: they
 * close and replace descriptors, have few of them, fork, arm filters.  For a machine with the
 * module.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../tests/filter_arm.h"
#include "process/context.h"
#include "region/region.h"
#include "process/stats.h"
#include "process/thread.h"

#include "assemble.h"

#include <cosy/cosy.h>
#undef cosy_free

static struct cosy_region region = {.ctx_size = 16, .version = 1};

/* Runs one region that calls getpid; its native twin does no more. */
static bool run_region(void)
{
	int64_t *ctx = __cosy_enter(&region), value;

	if (!ctx)
		return false;
	value = __cosy_run(&region, ctx);
	__cosy_leave(ctx);
	CHECK(value < 0 || value == getpid());
	return value >= 0;
}

/* True if that ran in the kernel. */
static bool in_kernel(void)
{
	uint64_t runs = libcosy_counts.runs, calls = libcosy_counts.interp_calls;

	return run_region() && libcosy_counts.runs > runs && libcosy_counts.interp_calls == calls;
}

/* Runs a test in a child, so that each begins anew; its exit status or signal must be 0. */
#define IN_CHILD(test)                                                                             \
	do {                                                                                       \
		pid_t pid_ = fork();                                                               \
		int status_;                                                                       \
                                                                                                   \
		MUST(pid_ >= 0);                                                                   \
		if (!pid_) {                                                                       \
			check_failures = 0;                                                        \
			libcosy_settings_init();                                                   \
			libcosy_settings.stats = true;                                             \
			test;                                                                      \
			_exit(check_failures != 0);                                                \
		}                                                                                  \
		MUST(waitpid(pid_, &status_, 0) == pid_);                                          \
		if (status_) {                                                                     \
			fprintf(stderr, "%s: status %#x\n", #test, status_);                       \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

static void numbers(void)
{
	int first = open("/dev/null", O_RDONLY);

	CHECK(in_kernel());
	CHECK_EQ(open("/dev/null", O_RDONLY), first + 1);
	CHECK(libcosy_context_fd() >= 200);
	CHECK_EQ(fcntl(libcosy_context_fd(), F_GETFD), FD_CLOEXEC);
}

static void closed(void)
{
	char *memory = cosy_malloc(100);

	CHECK(in_kernel());
	strcpy(memory, "kept");
	for (int i = 0; i < 3; i++) {
		close_range(3, ~0u, 0);
		run_region(); /* it finds out */
		CHECK(in_kernel());
		CHECK(!strcmp(memory, "kept"));
	}
	CHECK(cosy_is_shared(memory));
}

/* Checks that descriptors of the program's own under our number stay its own. */
static void replaced(void)
{
	struct stat st, null;
	int fd, other = open("/dev/null", O_RDONLY);

	CHECK(in_kernel());
	fd = libcosy_context_fd();
	MUST(dup2(other, fd) == fd);
	run_region();
	CHECK(in_kernel());
	CHECK(libcosy_context_fd() != fd);
	CHECK(!fstat(other, &null) && !fstat(fd, &st) && st.st_rdev == null.st_rdev);
}

static void few(void)
{
	struct rlimit limit = {40, 40};

	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	CHECK(in_kernel());
	CHECK(libcosy_context_fd() >= 20);
}

/* Leaves no descriptors now, but gives some later. */
static void none_left(void)
{
	struct rlimit limit = {40, 40};
	int last = -1, fd;

	close_range(3, ~0u, 0); /* close what libcosy has opened at the start, too */
	MUST(!setrlimit(RLIMIT_NOFILE, &limit));
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	CHECK(!in_kernel());
	close(last);
	CHECK(in_kernel());
}

static void fork_of_fork(void)
{
	unsigned char *memory = cosy_malloc(10000);
	uint64_t len;

	CHECK(in_kernel());
	memset(memory, 7, 10000);
	IN_CHILD({
		CHECK_EQ(memory[9999], 7);
		CHECK(in_kernel());
		CHECK_EQ(memory[9999], 7);
		CHECK(cosy_is_shared(memory) && libcosy_context_buffer(&len) && len);
		memset(memory, 8, 10000);
		IN_CHILD({
			CHECK(in_kernel());
			CHECK_EQ(memory[9999], 8);
		});
	});
	CHECK_EQ(memory[9999], 7);
	CHECK(in_kernel());
}

static void *wait_for_it(void *it)
{
	pthread_mutex_lock(it);
	return NULL;
}

/* Checks that nothing is moved under the feet of other threads. */
static void fork_then_threads(void)
{
	pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	unsigned char *memory = cosy_malloc(10000);
	pthread_t thread;

	CHECK(in_kernel());
	memset(memory, 7, 10000);
	pthread_mutex_lock(&held);
	IN_CHILD({
		MUST(!pthread_create(&thread, NULL, wait_for_it, &held));
		CHECK(in_kernel());
		CHECK_EQ(memory[9999], 7);
		pthread_mutex_unlock(&held);
		pthread_join(thread, NULL);
	});
}

/* Arms a filter that answers `number` with `action`; all else goes through. */
static void forbid(int number, uint32_t action)
{
	MUST(!filter_arm(number, action, 0));
}

static void forbid_ioctl(uint32_t action)
{
	forbid(SYS_ioctl, action);
}

/* Armed before the first region: libcosy must make no call that could be punished. */
static void filter_before(void)
{
	forbid_ioctl(SECCOMP_RET_KILL_PROCESS);
	for (int i = 0; i < 10; i++)
		CHECK(!run_region());
}

/*
 * Armed before the first region: calls that it lets through run in the kernel, which was asked
 * before.
 */
static void filter_early(void)
{
	forbid(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM);
	CHECK(in_kernel());
}

/* Forbids to open the device, in fork children either: it is open already. */
static void filter_of_openat(void)
{
	forbid(SYS_openat, SECCOMP_RET_KILL_PROCESS);
	IN_CHILD({
		CHECK(!run_region());
		IN_CHILD(CHECK(!run_region()));
	});
	CHECK(run_region());
}

/* Forbids to give the device another number, which only fork children would do. */
static void filter_of_fcntl(void)
{
	forbid(SYS_fcntl, SECCOMP_RET_KILL_PROCESS);
	IN_CHILD({
		CHECK(!run_region());
		IN_CHILD(CHECK(!run_region()));
	});
	CHECK(in_kernel());
	IN_CHILD(CHECK(!run_region()));
}

/*
 * Armed later, without libcosy's notice: the answer is not taken for a result, and RUN is not tried
 * again.
 */
static void filter_after(void)
{
	CHECK(in_kernel());
	forbid_ioctl(SECCOMP_RET_ERRNO | EPERM);
	CHECK(!run_region());
	CHECK(libcosy_thread_self->filtered);
	CHECK(!run_region());
}

/* Armed when the process starts: calls that it lets through run in the kernel. */
static void filter_at_start(void)
{
	forbid(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM);
	IN_CHILD(CHECK(in_kernel()));
}

/* Inherited from a parent that has used the kernel; and the program's own on top. */
static void filter_at_fork(void)
{
	CHECK(in_kernel());
	forbid(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM);
	CHECK(in_kernel());
	IN_CHILD({
		forbid(SYS_openat, SECCOMP_RET_KILL_PROCESS);
		CHECK(in_kernel());
		IN_CHILD(CHECK(!run_region()));
	});
}

/* RUN would be punished: libcosy asks nothing of the kernel. */
static void filter_of_ioctl_at_start(void)
{
	forbid_ioctl(SECCOMP_RET_KILL_PROCESS);
	IN_CHILD(CHECK(!run_region()));
}

static void *region_in_thread(void *ret)
{
	*(bool *)ret = run_region();
	return NULL;
}

/* Inherited by a thread, which must not try its luck. */
static void filter_inherited(void)
{
	pthread_t thread;
	bool ran = true;

	CHECK(in_kernel());
	forbid_ioctl(SECCOMP_RET_ERRNO | EPERM);
	CHECK(!run_region());
	forbid_ioctl(SECCOMP_RET_KILL_PROCESS);
	MUST(!pthread_create(&thread, NULL, region_in_thread, &ran) && !pthread_join(thread, NULL));
	CHECK(!ran);
}

int main(void)
{
	struct bpf_insn insns[] = {CALL(SYS_getpid), EXIT()};

	if (access("/dev/cosy", R_OK | W_OK)) {
		printf("skipped: no /dev/cosy to use\n");
		return 77;
	}
	region.compound = assemble(insns, 2, 16);
	IN_CHILD(numbers());
	IN_CHILD(closed());
	IN_CHILD(replaced());
	IN_CHILD(few());
	IN_CHILD(none_left());
	IN_CHILD(fork_of_fork());
	IN_CHILD(fork_then_threads());
	IN_CHILD(filter_before());
	IN_CHILD(filter_early());
	IN_CHILD(filter_of_openat());
	IN_CHILD(filter_of_fcntl());
	IN_CHILD(filter_at_start());
	IN_CHILD(filter_at_fork());
	IN_CHILD(filter_of_ioctl_at_start());
	IN_CHILD(filter_after());
	IN_CHILD(filter_inherited());
	return check_result();
}
