// SPDX-License-Identifier: GPL-2.0
/* process.c - see process.h. */
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/mount.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/proc_ns.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/user_namespace.h>
#include "compat/compat.h"
#include "fast/mount.h"
#include "kernel/symbols.h"
#include "kernel/types.h"
#include "watch/process.h"

static long mount_namespace_offset __ro_after_init; /* from a struct vfsmount */
/* Members of a mount namespace: what its references are to, and the queue. */
static long namespace_common_offset __ro_after_init, namespace_queue_offset __ro_after_init;
static const struct proc_ns_operations *namespace_operations __ro_after_init;

bool cosy_watch_mount_is_own(const struct vfsmount *mnt)
{
	const u8 *at = (const u8 *)mnt + mount_namespace_offset;

	return !is_idmapped_mnt(mnt) &&
	       READ_ONCE(*(struct mnt_namespace *const *)at) == current->nsproxy->mnt_ns;
}

void cosy_watch_settle_mounts(void)
{
	read_seqbegin(cosy_mount_lock);
	/* Pairs with the end of the change. */
	smp_rmb();
}

/*
 * Returns whether a filter, a tracer or an auditor is to see each call of any thread: all use the
 * answers of one.
 */
static bool process_is_observed(void)
{
	unsigned long work = READ_ONCE(current_thread_info()->syscall_work);
	const struct task_struct *thread;

	if (work || thread_group_empty(current))
		return work;
	rcu_read_lock();
	for_each_thread(current, thread) work |= READ_ONCE(task_thread_info(thread)->syscall_work);
	rcu_read_unlock();
	return work;
}

/*
 * A new namespace's maps are written once, without a hook.  Until then owners have other numbers.
 */
static bool ids_are_mapped(void)
{
	const struct user_namespace *ns = current_user_ns();

	return READ_ONCE(ns->uid_map.nr_extents) && READ_ONCE(ns->gid_map.nr_extents);
}

/*
 * Returns whether only threads of this process have its descriptors and directories.  A thread that is
 * ending has none any more, but counts as a thread until its end, and waits for the processor in
 * between.
 */
static noinline bool threads_have_all(void)
{
	const struct files_struct *files = current->files;
	const struct fs_struct *fs = current->fs;
	const struct task_struct *thread;
	int with_files = 0, with_fs = 0;

	rcu_read_lock();
	for_each_thread(current, thread)
	{
		with_files += data_race(thread->files) == files;
		with_fs += data_race(thread->fs) == fs;
	}
	rcu_read_unlock();
	return atomic_read(&files->count) == with_files && READ_ONCE(fs->users) == with_fs;
}

int cosy_watch_check_process(const struct cosy_watcher *watcher)
{
	int threads;

	if (current->mm != watcher->mm || task_tgid(current) != watcher->process)
		return -EXDEV;
	if (cosy_watcher_has_ended(watcher))
		return -ECANCELED;
	if (process_is_observed())
		return -EPERM;
	if (!ids_are_mapped() || cosy_watch_is_paused())
		return -EAGAIN;
	if (current->files != watcher->files || current->fs != watcher->fs ||
	    current->nsproxy->mnt_ns != watcher->mounts)
		return -EXDEV;
	/* All threads, and nobody else, have these descriptors and directories. */
	threads = get_nr_threads(current);
	if (likely(atomic_read(&current->files->count) == threads &&
		   READ_ONCE(current->fs->users) == threads))
		return 0;
	return threads_have_all() ? 0 : -EXDEV;
}

/* --- The mount namespace --------------------------------------------------------------------- */

static int mounts_changed(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	const struct cosy_watcher *watcher = container_of(wait, struct cosy_watcher, wait);

	atomic64_inc(cosy_watch_word(watcher, COSY_WATCH_WAY));
	return 0;
}

/* The kernel wakes this queue, for those who poll mountinfo, whenever a mount of the namespace changes. */
static int mounts_follow(struct cosy_watcher *watcher)
{
	struct ns_common *common = namespace_operations->get(current);

	if (!common)
		return -EOPNOTSUPP;
	watcher->mounts_kept = common;
	watcher->queue = (void *)((u8 *)common - namespace_common_offset + namespace_queue_offset);
	init_waitqueue_func_entry(&watcher->wait, mounts_changed);
	add_wait_queue(watcher->queue, &watcher->wait);
	return 0;
}

/* --- The process of a watcher ------------------------------------------------------------- */

bool cosy_watch_process_is_alone(void)
{
	return thread_group_empty(current) && atomic_read(&current->mm->mm_users) == 1;
}

int cosy_watch_process_enter(struct cosy_watcher *watcher)
{
	int error;

	watcher->process = get_pid(task_tgid(current));
	error = mounts_follow(watcher);
	if (error)
		return error;
	watcher->files = current->files;
	watcher->fs = current->fs;
	/* It is among the address spaces by now, so whatever it changes from here on ends it. */
	if (!cosy_watch_process_is_alone())
		return -EAGAIN;
	return cosy_watch_check_process(watcher);
}

void cosy_watch_process_leave(struct cosy_watcher *watcher)
{
	if (watcher->mounts_kept) {
		remove_wait_queue(watcher->queue, &watcher->wait);
		namespace_operations->put(watcher->mounts_kept);
	}
	put_pid(watcher->process);
}

/* --- What it needs --------------------------------------------------------------------------- */

/* Returns the offset of a structure's member that is a structure of `size` bytes, or -1. */
static long __init member_find(const struct btf_type *structure, const char *name, u32 size)
{
	const struct btf_type *type;
	long offset = cosy_kernel_member(structure, name, &type);

	while (offset >= 0 && type && btf_type_is_typedef(type))
		type = cosy_kernel_type(type->type);
	return offset >= 0 && type && btf_type_is_struct(type) && type->size == size ? offset : -1;
}

const char *__init cosy_watch_process_init(void)
{
	const struct btf_type *mount = cosy_kernel_struct("mount"), *type;
	const struct btf_type *namespace = cosy_kernel_struct("mnt_namespace");
	long public = member_find(mount, "mnt", sizeof(struct vfsmount));
	long own = cosy_kernel_member(mount, "mnt_ns", &type);

	if (public < 0)
		return "the kernel's type information does not show mounts";
	if (own < 0 || !btf_type_is_ptr(type))
		return "the kernel's type information does not show mounts' namespaces";
	mount_namespace_offset = own - public;
	namespace_common_offset = member_find(namespace, "ns", sizeof(struct ns_common));
	namespace_queue_offset = member_find(namespace, "poll", sizeof(wait_queue_head_t));
	if (namespace_common_offset < 0 || namespace_queue_offset < 0)
		return "the kernel's type information does not show mount namespaces";
	namespace_operations = cosy_unexported_data("mntns_operations");
	if (!namespace_operations)
		return "mntns_operations is not found";
	return cosy_mount_lock ? NULL : "mount_lock is not found";
}
