// SPDX-License-Identifier: GPL-2.0
/* process.c - see process.h. */
#include <linux/anon_inodes.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "kernel/types.h"
#include "users.h"
#include "watch/children.h"
#include "watch/process.h"
#include "watch/watch.h"

static long mount_namespace_offset __ro_after_init; /* from a struct vfsmount */
static const seqlock_t *mount_lock_address __ro_after_init;

bool cosy_watch_mount_is_own(const struct vfsmount *mnt)
{
	const u8 *at = (const u8 *)mnt + mount_namespace_offset;

	return !is_idmapped_mnt(mnt) &&
	       READ_ONCE(*(struct mnt_namespace *const *)at) == current->nsproxy->mnt_ns;
}

void cosy_watch_settle_mounts(void)
{
	read_seqbegin(mount_lock_address);
	/* Pairs with the end of the change. */
	smp_rmb();
}

int cosy_watch_check_process(const struct cosy_watcher *watcher)
{
	int threads;

	if (current->mm != watcher->mm || task_tgid(current) != watcher->process)
		return -EXDEV;
	if (cosy_watcher_has_ended(watcher))
		return -ECANCELED;
	/* A filter, a tracer or an auditor is to see each stat. */
	if (READ_ONCE(current_thread_info()->syscall_work))
		return -EPERM;
	/* All threads, and nobody else, have these descriptors and directories. */
	threads = get_nr_threads(current);
	if (current->files != watcher->files || current->fs != watcher->fs ||
	    atomic_read(&current->files->count) != threads ||
	    READ_ONCE(current->fs->users) != threads || current->nsproxy->mnt_ns != watcher->mounts)
		return -EXDEV;
	return 0;
}

/* --- The mount namespace --------------------------------------------------------------------- */

static int mounts_changed(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	const struct cosy_watcher *watcher = container_of(wait, struct cosy_watcher, wait);

	atomic64_inc(cosy_watch_word(watcher, COSY_WATCH_WAY));
	return 0;
}

static void mounts_queue(struct file *file, wait_queue_head_t *queue, poll_table *table)
{
	struct cosy_watcher *watcher = container_of(table, struct cosy_watcher, table);

	if (watcher->queue)
		return;
	watcher->queue = queue;
	init_waitqueue_func_entry(&watcher->wait, mounts_changed);
	add_wait_queue(queue, &watcher->wait);
}

/* The kernel wakes those who poll this file whenever a mount of the namespace changes. */
static int mounts_follow(struct cosy_watcher *watcher)
{
	struct file *file = filp_open("/proc/thread-self/mountinfo", O_RDONLY | O_NOFOLLOW, 0);

	if (IS_ERR(file))
		return -EOPNOTSUPP;
	watcher->mountinfo = file;
	if (file_inode(file)->i_sb->s_magic != PROC_SUPER_MAGIC)
		return -EOPNOTSUPP;
	init_poll_funcptr(&watcher->table, mounts_queue);
	vfs_poll(file, &watcher->table);
	return watcher->queue ? 0 : -EOPNOTSUPP;
}

/* --- The descriptor -------------------------------------------------------------------------- */

static void process_leave(struct cosy_watcher *watcher)
{
	struct cosy_user *user = watcher->user;

	if (watcher->queue)
		remove_wait_queue(watcher->queue, &watcher->wait);
	if (watcher->mountinfo)
		fput(watcher->mountinfo);
	put_pid(watcher->process);
	cosy_watcher_destroy(watcher);
	cosy_user_uncharge(user, COSY_CHARGE_WATCHERS, 1);
	cosy_user_put(user);
}

static int watch_release(struct inode *inode, struct file *file)
{
	process_leave(file->private_data);
	return 0;
}

static vm_fault_t words_fault(struct vm_fault *fault)
{
	const struct cosy_watcher *watcher = fault->vma->vm_file->private_data;

	if (fault->pgoff >= COSY_WATCH_PAGES)
		return VM_FAULT_SIGBUS;
	/* A child has the mapping of its parent, whose words say nothing about the child. */
	fault->page = fault->vma->vm_mm == watcher->mm ? watcher->pages[fault->pgoff]
						       : cosy_watch_ended_page();
	get_page(fault->page);
	return 0;
}

static const struct vm_operations_struct words_ops = { .fault = words_fault };

static int watch_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC) || !(vma->vm_flags & VM_MAYSHARE))
		return -EACCES;
	cosy_vm_flags_clear(vma, VM_MAYWRITE | VM_MAYEXEC);
	cosy_vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &words_ops;
	return 0;
}

static long watch_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	struct cosy_watch_read __user *user = (struct cosy_watch_read __user *)address;
	struct cosy_watcher *watcher = file->private_data;
	struct cosy_watch_read read;
	long error;

	if (command != COSY_IOC_WATCH_READ)
		return -ENOTTY;
	if (copy_from_user(&read, user, sizeof(read)))
		return -EFAULT;
	if (read.size != sizeof(read))
		return -EINVAL;
	if (!mutex_trylock(&watcher->lock))
		return -EAGAIN;
	error = cosy_watch_read(watcher, &read);
	mutex_unlock(&watcher->lock);
	if (!error && copy_to_user(user, &read, sizeof(read)))
		error = -EFAULT;
	return error;
}

static const struct file_operations watch_fops = {
	.owner = THIS_MODULE,
	.release = watch_release,
	.mmap = watch_mmap,
	.unlocked_ioctl = watch_ioctl,
	.llseek = noop_llseek,
};

/* A reason that may go away. */
static bool process_is_alone(void)
{
	return thread_group_empty(current) && atomic_read(&current->mm->mm_users) == 1;
}

/* Fills in the process.  Its only thread is the caller, and nobody else has its memory. */
static int process_enter(struct cosy_watcher *watcher)
{
	int error = mounts_follow(watcher);

	if (error)
		return error;
	watcher->files = current->files;
	watcher->fs = current->fs;
	/* It is among the address spaces by now, so whatever it changes from here on ends it. */
	if (!process_is_alone())
		return -EAGAIN;
	/* The heartbeat may have ended all that were there before. */
	if (cosy_watch_is_refused())
		return -EOPNOTSUPP;
	return cosy_watch_check_process(watcher);
}

long cosy_watch_open(const struct cosy_watch *request)
{
	struct cosy_watcher *watcher;
	struct cosy_user *user;
	long fd;

	if (request->flags)
		return -EINVAL;
	if (!current->mm)
		return -EINVAL;
	if (!process_is_alone())
		return -EAGAIN;
	user = cosy_user_get();
	if (IS_ERR(user))
		return PTR_ERR(user);
	fd = cosy_user_charge(user, COSY_CHARGE_WATCHERS, 1);
	if (fd) {
		cosy_user_put(user);
		return fd;
	}
	watcher = cosy_watcher_create(current->mm);
	if (IS_ERR(watcher)) {
		cosy_user_uncharge(user, COSY_CHARGE_WATCHERS, 1);
		cosy_user_put(user);
		return PTR_ERR(watcher);
	}
	watcher->user = user;
	watcher->process = get_pid(task_tgid(current));
	fd = process_enter(watcher);
	if (!fd)
		fd = anon_inode_getfd("[cosy watcher]", &watch_fops, watcher, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		process_leave(watcher);
	return fd;
}

/* --- What it needs --------------------------------------------------------------------------- */

const char *__init cosy_watch_process_init(void)
{
	const struct btf_type *mount = cosy_kernel_struct("mount"), *type;
	long public, namespace;

	public = cosy_kernel_member(mount, "mnt", &type);
	if (public < 0 || !btf_type_is_struct(type) || type->size != sizeof(struct vfsmount))
		return "the kernel's type information does not show mounts";
	namespace = cosy_kernel_member(mount, "mnt_ns", &type);
	if (namespace < 0 || !btf_type_is_ptr(type))
		return "the kernel's type information does not show mounts' namespaces";
	mount_namespace_offset = namespace - public;
	mount_lock_address = cosy_unexported_data("mount_lock");
	return mount_lock_address ? NULL : "mount_lock is not found";
}
