// SPDX-License-Identifier: GPL-2.0
/* identity.c - calls that only read kernel state: identities and clocks. */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include "fast/fast.h"

/*
 * Returns the number by which the caller knows the user; in the first namespace that is the id
 * itself.  A task's own ids are valid, so unlike a file's (attributes.c) they are not tested.
 */
static __always_inline u32 user_number(kuid_t uid)
{
	struct user_namespace *ns = current_user_ns();

	return likely(ns == &init_user_ns) ? __kuid_val(uid) : from_kuid_munged(ns, uid);
}

static __always_inline u32 group_number(kgid_t gid)
{
	struct user_namespace *ns = current_user_ns();

	return likely(ns == &init_user_ns) ? __kgid_val(gid) : from_kgid_munged(ns, gid);
}

s64 cosy_fast_gettid(struct cosy_activation *run, const u64 *r)
{
	return task_pid_vnr(current);
}

s64 cosy_fast_getppid(struct cosy_activation *run, const u64 *r)
{
	pid_t pid;

	rcu_read_lock();
	pid = task_tgid_vnr(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return pid;
}

s64 cosy_fast_getuid(struct cosy_activation *run, const u64 *r)
{
	return user_number(current_uid());
}

s64 cosy_fast_geteuid(struct cosy_activation *run, const u64 *r)
{
	return user_number(current_euid());
}

s64 cosy_fast_getgid(struct cosy_activation *run, const u64 *r)
{
	return group_number(current_gid());
}

s64 cosy_fast_getegid(struct cosy_activation *run, const u64 *r)
{
	return group_number(current_egid());
}

/* Writes two words, as struct timespec and struct timeval have. */
static s64 time_put(struct cosy_activation *run, u64 address, u64 seconds, u64 fraction)
{
	u64 __user *to = u64_to_user_ptr(address);

	if (!user_write_access_begin(to, 2 * sizeof(*to)))
		goto ordinary;
	unsafe_put_user(seconds, &to[0], fault);
	unsafe_put_user(fraction, &to[1], fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
ordinary:
	return cosy_guard_failed(run, COSY_GUARD_MEMORY);
}

s64 cosy_fast_clock_gettime(struct cosy_activation *run, const u64 *r)
{
	struct timespec64 time;

	switch ((u32)r[1]) {
	case CLOCK_REALTIME:
		ktime_get_real_ts64(&time);
		break;
	case CLOCK_MONOTONIC:
		ktime_get_ts64(&time);
		timens_add_monotonic(&time);
		break;
	case CLOCK_REALTIME_COARSE:
		ktime_get_coarse_real_ts64(&time);
		break;
	case CLOCK_MONOTONIC_COARSE:
		ktime_get_coarse_ts64(&time);
		timens_add_monotonic(&time);
		break;
	default:
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	}
	return time_put(run, r[2], time.tv_sec, time.tv_nsec);
}

s64 cosy_fast_gettimeofday(struct cosy_activation *run, const u64 *r)
{
	struct timespec64 time;

	if (!r[1] || r[2])
		return cosy_guard_failed(run, COSY_GUARD_LIMITED);
	ktime_get_real_ts64(&time);
	return time_put(run, r[1], time.tv_sec, time.tv_nsec / NSEC_PER_USEC);
}

s64 cosy_fast_time(struct cosy_activation *run, const u64 *r)
{
	return r[1] ? cosy_guard_failed(run, COSY_GUARD_LIMITED) : ktime_get_real_seconds();
}
