/* SPDX-License-Identifier: MIT */
/*
 * Checks that a seccomp filter bites in regions as anywhere: installed before the region, inside
 * it, by another thread while it runs (TSYNC), returning an error or killing.  Filters stay for
 * good, so each case has a child.
 */
#include "check.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Makes a filter: `action` for mkdir and mkdirat; all else is allowed. */
#define FILTER(action)                                                                             \
	{                                                                                          \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),             \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 1, 0),                              \
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdirat, 0, 1),                            \
		BPF_STMT(BPF_RET | BPF_K, action),                                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                                      \
	}

static struct sock_filter eperm[] = FILTER(SECCOMP_RET_ERRNO | EPERM);
static struct sock_filter killing[] = FILTER(SECCOMP_RET_KILL_PROCESS);
static const struct sock_fprog eperm_filter = { 5, eperm }, killing_filter = { 5, killing };

static bool exists(const char *name)
{
	struct stat st;

	return !stat(name, &st);
}

static void before_region(void *unused)
{
	int ret, err, at, others = 0;

	(void)unused;
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &eperm_filter, 0, 0));
	COSY_START;
	ret = mkdir("before", 0755);
	err = errno;
	at = mkdirat(AT_FDCWD, "before", 0755);
	for (int i = 0; i < 100; i++)
		others += getpid() > 0;
	COSY_END;
	CHECK(ret == -1 && err == EPERM && at == -1, "before: mkdir is %d, errno %d, mkdirat %d",
	      ret, err, at);
	CHECK(others == 100, "before: %d other calls", others);
	CHECK(!exists("before"), "before: the filter was bypassed");
}

/* Installs the filter between two regions, when the program has used the kernel already. */
static void between_regions(void *unused)
{
	struct cosy_stats then = counts();
	int first = 0, second = 0;

	(void)unused;
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	for (int i = 0; i < 2; i++) {
		int ret;

		COSY_START;
		ret = mkdir("between", 0755);
		COSY_END;
		if (!i) {
			first = ret;
			CHECK_KERNEL(then, 1, 1);
			MUST(!rmdir("between"));
			MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &eperm_filter, 0, 0));
		} else {
			second = ret;
		}
	}
	CHECK(first == 0 && second == -1, "between: mkdir is %d, then %d", first, second);
	CHECK(!exists("between"), "between: the filter was bypassed");
}

static void inside_region(void *unused)
{
	struct cosy_stats then = counts();
	const struct sock_fprog *filter = &eperm_filter;
	int earlier, privs, set, ret, err, others = 0;

	(void)unused;
	COSY_START;
	earlier = mkdir("inside.1", 0755);
	privs = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	set = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0);
	ret = mkdir("inside.2", 0755);
	err = errno;
	for (int i = 0; i < 100; i++)
		others += getpid() > 0;
	COSY_END;
	CHECK(!earlier && !privs && !set, "inside: mkdir %d, no_new_privs %d, filter %d", earlier,
	      privs, set);
	CHECK(ret == -1 && err == EPERM, "inside: the call after the filter is %d, errno %d", ret,
	      err);
	CHECK(others == 100, "inside: %d other calls", others);
	CHECK(!exists("inside.2"), "inside: the filter was bypassed");
	MUST(!rmdir("inside.1"));
	CHECK_KERNEL(then, 1, 2);
}

static volatile int armed, stop;
static volatile long made, denied, bypassed;

static void *arm(void *unused)
{
	(void)unused;
	WAIT_FOR(0, made > 10);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
		    &eperm_filter)) {
		printf("FAIL seccomp.c: TSYNC: %s\n", strerror(errno));
		_exit(1);
	}
	armed = 1;
	WAIT_FOR(0, denied > 10 || bypassed > 10);
	stop = 1;
	return NULL;
}

static void by_other_thread(void *unused)
{
	struct cosy_stats then = counts();
	long strange = 0;
	pthread_t thread;

	(void)unused;
	armed = stop = 0;
	made = denied = bypassed = 0;
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	MUST(!pthread_create(&thread, NULL, arm, NULL));
	COSY_START;
	while (!stop) {
		int known = armed; /* read before the call: it must bite */

		if (!mkdir("other", 0755)) {
			made++;
			if (known)
				bypassed++;
			rmdir("other");
		} else if (errno == EPERM) {
			denied++;
		} else {
			strange++;
		}
	}
	COSY_END;
	MUST(!pthread_join(thread, NULL));
	printf("TSYNC: %ld made, %ld denied\n", made, denied);
	CHECK(!bypassed, "TSYNC: the filter was bypassed %ld times", bypassed);
	CHECK(!strange, "TSYNC: %ld made, %ld denied, %ld strange", made, denied, strange);
	CHECK_KERNEL(then, 1, made);
}

static void killed_inside(void *unused)
{
	const struct sock_fprog *filter = &killing_filter;

	(void)unused;
	COSY_START;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter, 0, 0);
	getpid();
	mkdir("killed", 0755);
	mkdir("killed too", 0755);
	COSY_END;
}

static void strict_inside(void *unused)
{
	int zero = 0;

	(void)unused;
	COSY_START;
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
	zero = write(-1, "", 0); /* still allowed */
	mkdir("strict", 0755);
	COSY_END;
	_exit(zero);
}

int main(void)
{
	int status;

	directory_enter();
	CHECK_CHILD(in_child(before_region, NULL));
	CHECK_CHILD(in_child(between_regions, NULL));
	CHECK_CHILD(in_child(inside_region, NULL));
	CHECK_CHILD(in_child(by_other_thread, NULL));
	status = in_child(killed_inside, NULL);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "killing filter: status %#x",
	      status);
	CHECK(!exists("killed") && !exists("killed too"), "killing filter: bypassed");
	status = in_child(strict_inside, NULL);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "strict mode: status %#x",
	      status);
	CHECK(!exists("strict"), "strict mode: bypassed");
	directory_leave();
	return check_end();
}
