// SPDX-License-Identifier: GPL-2.0
/* identity.c - see identity.h. */
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/unistd.h>
#include "fast/identity.h"

static pid_t parent(void)
{
	pid_t pid;

	rcu_read_lock();
	pid = task_tgid_vnr(rcu_dereference(current->real_parent));
	rcu_read_unlock();
	return pid;
}

/* In the first user namespace a number is what it is. */
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

s64 cosy_pure_identity(u32 number)
{
	switch (number) {
	case __NR_gettid:
		return task_pid_vnr(current);
	case __NR_getppid:
		return parent();
	case __NR_getuid:
		return user_number(current_uid());
	case __NR_geteuid:
		return user_number(current_euid());
	case __NR_getgid:
		return group_number(current_gid());
	default:
		return group_number(current_egid());
	}
}

/* Two words, as struct timespec and struct timeval are. */
static s64 put_time(struct cosy_activation *run, u64 __user *to, u64 seconds, u64 fraction)
{
	if (!user_write_access_begin(to, 2 * sizeof(*to)))
		goto ordinary;
	unsafe_put_user(seconds, &to[0], fault);
	unsafe_put_user(fraction, &to[1], fault);
	user_write_access_end();
	return 0;

fault:
	user_write_access_end();
ordinary:
	return cosy_replug(run, COSY_GUARD_MEMORY);
}

s64 cosy_pure_clock(struct cosy_activation *run, u32 clock, void __user *to)
{
	struct timespec64 time;

	switch (clock) {
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
		return cosy_replug(run, COSY_GUARD_LIMITED);
	}
	return put_time(run, to, time.tv_sec, time.tv_nsec);
}

s64 cosy_pure_timeofday(struct cosy_activation *run, void __user *to, void __user *zone)
{
	struct timespec64 time;

	if (!to || zone)
		return cosy_replug(run, COSY_GUARD_LIMITED);
	ktime_get_real_ts64(&time);
	return put_time(run, to, time.tv_sec, time.tv_nsec / NSEC_PER_USEC);
}

s64 cosy_pure_time(struct cosy_activation *run, void __user *to)
{
	return to ? cosy_replug(run, COSY_GUARD_LIMITED) : ktime_get_real_seconds();
}
