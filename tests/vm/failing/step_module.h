/* SPDX-License-Identifier: MIT */
/* step_module.h - the part of step.c that loads the module. */
#ifndef STEP_MODULE_H
#define STEP_MODULE_H

#include "step.h"

#include "../../filter_arm.h"

static long module_load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long ret;

	MUST(fd >= 0);
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret ? -errno : 0;
}

/*
 * Checks that loading is refused and leaves nothing, or works: what it did not learn it learns
 * later.
 */
static void step_module(const char *path)
{
	close(step_statistics);
	POINTS("loading the module", 100)
	{
		static const struct bpf_insn insns[] = { MOV(0, 1), EXIT };
		struct cosy_version version = { .size = sizeof(version) };
		long ret;
		int fd;

		MUST(!syscall(SYS_delete_module, "cosy", 0));
		step_arm();
		ret = module_load(path);
		step_disarm();
		JUDGE("finit_module", ret, !ret);
		if (ret) {
			CHECK(access("/dev/cosy", F_OK) && access("/sys/kernel/debug/cosy", F_OK),
			      "point %d: something is left; %s", step_point, step_last);
			MUST(!module_load(path));
		}
		fd = raw_open();
		CHECK(!raw_ioctl(fd, COSY_IOC_VERSION, &version) &&
			      version.features & COSY_FEATURE_JIT,
		      "point %d: features %#llx; %s", step_point,
		      (unsigned long long)version.features, step_last);
		raw_load(fd, insns, COUNT(insns));
		close(fd);
	}
}

/* Exit statuses of types_in_child. */
enum { NATIVE, IN_KERNEL, NOT_REFUSED, WRONG_MOUNT };

/*
 * Returns where a region under a filter made its calls, one of which the filter refuses, and the
 * mount's number, which the module learns in the same way.
 */
static int types_in_child(void)
{
	uint64_t before = counts().calls, mounts = 0;
	int refused = 0, turns = 200;
	struct statx now, expected_now;

	MUST(!statx(AT_FDCWD, "/vm", 0, STATX_MNT_ID, &expected_now));
	MUST(!filter_arm(SYS_getppid, SECCOMP_RET_ERRNO | EXDEV, 0));
	COSY_START;
	for (int i = 0; i < turns; i++) {
		refused += getppid() == -EXDEV || errno == EXDEV;
		errno = 0;
		for (int again = 0; again < 2; again++) {
			statx(AT_FDCWD, "/vm", 0, STATX_MNT_ID, &now);
			mounts += now.stx_mnt_id;
		}
	}
	COSY_END;
	if (refused != turns)
		return NOT_REFUSED;
	if (mounts != 2 * turns * expected_now.stx_mnt_id)
		return WRONG_MOUNT;
	return counts().calls == before ? NATIVE : IN_KERNEL;
}

static int types_where(void)
{
	int where = step_in_child(types_in_child);

	CHECK(where <= IN_KERNEL, "point %d: the child says %d; %s", step_point, where, step_last);
	return where;
}

/*
 * Checks that the module is loaded whatever the kernel does not tell of its types, and that threads
 * with a filter run natively only where it does not know the filters' bitmaps, and says so.
 */
static void step_types(const char *path)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC), natively = 0, where;

	MUST(log >= 0);
	POINTS("loading without types", 100)
	{
		long ret;

		MUST(!syscall(SYS_delete_module, "cosy", 0));
		log_records(log, "", "");
		step_arm();
		ret = module_load(path);
		step_disarm();
		CHECK(!ret, "point %d: %ld; %s", step_point, ret, step_last);
		where = types_where();
		CHECK((log_records(log, "cosy: ", "threads with a filter run natively") > 0) ==
			      (where == NATIVE),
		      "point %d: the log says the opposite; %s", step_point, step_last);
		CHECK(step_hit || where == IN_KERNEL, "natively under a filter with all types");
		natively += where == NATIVE;
	}
	close(log);
	CHECK(natively, "in the kernel under a filter whichever type is not told");
	CHECK(natively < step_point - 1, "natively under a filter without a mount's number");
}

#endif /* STEP_MODULE_H */
