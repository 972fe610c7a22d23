// SPDX-License-Identifier: GPL-2.0
/* descriptor.c - see descriptor.h. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "users.h"
#include "watch/children.h"
#include "watch/descriptor.h"
#include "watch/process.h"
#include "watch/watcher.h"

static void watcher_leave(struct cosy_watcher *watcher)
{
	struct cosy_user *user = watcher->user;

	cosy_watch_process_leave(watcher);
	cosy_watch_reading_free(watcher->reading);
	cosy_watcher_destroy(watcher);
	cosy_user_uncharge(user, COSY_CHARGE_WATCHERS, 1);
	cosy_user_put(user);
}

static int watch_release(struct inode *inode, struct file *file)
{
	watcher_leave(file->private_data);
	return 0;
}

static vm_fault_t words_fault(struct vm_fault *fault)
{
	const struct cosy_watcher *watcher = fault->vma->vm_file->private_data;

	if (fault->pgoff >= COSY_WATCH_PAGES)
		return VM_FAULT_SIGBUS;
	/* A child inherits the mapping, but its parent's words do not hold for the child. */
	fault->page = fault->vma->vm_mm == watcher->mm ? virt_to_page(watcher->words[fault->pgoff])
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

#define MAX_TURNS 64 /* that a thread gives away for one READ */

/*
 * Takes the watcher's lock.  While the thread that has it waits for the processor, as threads do that
 * share few processors, gives that thread this one's turn.  If it runs or sleeps, the caller's ordinary
 * call is the shorter way.  It must not be waited for in any other way: it may need something of this
 * thread, such as a page by userfaultfd.
 */
static bool watcher_lock(struct cosy_watcher *watcher)
{
	struct task_struct *owner;
	u32 turns;
	int given;

	for (turns = 0; !mutex_trylock(&watcher->lock); turns++) {
		if (turns == MAX_TURNS || signal_pending(current))
			return false;
		rcu_read_lock();
		owner = READ_ONCE(watcher->owner);
		if (owner)
			get_task_struct(owner);
		rcu_read_unlock();
		/* It has just taken the lock, or is about to leave it. */
		if (!owner)
			return false;
		given = yield_to(owner, true);
		put_task_struct(owner);
		/* If it has left meanwhile, the lock may be free. */
		if (given <= 0 && READ_ONCE(watcher->owner) == owner)
			return false;
	}
	WRITE_ONCE(watcher->owner, current);
	return true;
}

static void watcher_unlock(struct cosy_watcher *watcher)
{
	WRITE_ONCE(watcher->owner, NULL);
	mutex_unlock(&watcher->lock);
}

static long watch_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	struct cosy_watch_read __user *user = (struct cosy_watch_read __user *)address;
	struct cosy_watcher *watcher = file->private_data;
	struct cosy_watch_read read __cosy_uninitialized;
	long error;

	if (command != COSY_IOC_WATCH_READ)
		return -ENOTTY;
	if (copy_from_user(&read, user, sizeof(read)))
		return -EFAULT;
	if (read.size != sizeof(read))
		return -EINVAL;
	if (!watcher_lock(watcher))
		return -EAGAIN;
	error = cosy_watch_read(watcher, &read);
	watcher_unlock(watcher);
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

long cosy_watch_open(const struct cosy_watch *request)
{
	struct cosy_watcher *watcher;
	struct cosy_user *user;
	long fd;

	if (request->flags)
		return -EINVAL;
	if (!current->mm)
		return -EINVAL;
	if (!cosy_watch_process_is_alone())
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
	fd = cosy_watch_process_enter(watcher);
	if (!fd)
		fd = anon_inode_getfd("[cosy watcher]", &watch_fops, watcher, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		watcher_leave(watcher);
	return fd;
}
