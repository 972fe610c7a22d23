/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - every difference between kernels, and nothing else.
 *
 * The kernel's headers, or the probes in compat/probes.mk, determine features.  A version number
 * never does, because distributions backport. calling.h includes this file as well.
 */
#ifndef COSY_COMPAT_H
#define COSY_COMPAT_H

#include <asm/cpufeatures.h>

/*
 * Thunks are entered by direct calls from compiled code and compiled code from assembly, without
 * the type hashes that control-flow integrity would look for.
 */
#if defined(CONFIG_CFI_CLANG) || defined(CONFIG_CFI)
#error "cosy.ko does not support control-flow integrity (CONFIG_CFI_CLANG): thunks have no hashes"
#endif

/*
 * Kernels that clear the branch history in software export the loop (it came
 * with the BPF JIT's own use of it).  One that clears but does not export leaves
 * us no way: cosy_dispatch_init refuses to load where it matters.
 */
#if defined(X86_FEATURE_CLEAR_BHB_LOOP) && defined(COSY_HAVE_CLEAR_BHB_LOOP)
#define COSY_CLEARS_HISTORY 1
#endif

/* Mitigations that the kernel applies on entry and exit, where modules can apply them, too. */
#if defined(X86_FEATURE_CLEAR_CPU_BUF) && defined(COSY_HAVE_VERW_SEL)
#define COSY_CLEARS_BUFFERS 1
#endif
#if defined(X86_FEATURE_UNRET) && defined(X86_FEATURE_SRSO_ALIAS) &&                               \
	defined(X86_FEATURE_ENTRY_IBPB) && defined(COSY_HAVE_UNTRAIN_RET) &&                       \
	defined(COSY_HAVE_ENTRY_IBPB)
#define COSY_UNTRAINS_RETURNS 1
#endif

#ifndef __ASSEMBLY__

/* Features and bugs that this kernel does not know, and so does nothing about. */
#define COSY_NO_BIT 0xffff
#ifndef X86_FEATURE_CLEAR_CPU_BUF
#define X86_FEATURE_CLEAR_CPU_BUF COSY_NO_BIT
#endif
#ifndef X86_FEATURE_UNRET
#define X86_FEATURE_UNRET COSY_NO_BIT
#endif
#ifndef X86_FEATURE_ENTRY_IBPB
#define X86_FEATURE_ENTRY_IBPB COSY_NO_BIT
#endif
#ifndef X86_BUG_RFDS
#define X86_BUG_RFDS COSY_NO_BIT
#endif
#ifndef X86_BUG_TSA
#define X86_BUG_TSA COSY_NO_BIT
#endif
#ifndef X86_BUG_SRSO
#define X86_BUG_SRSO COSY_NO_BIT
#endif
#ifndef X86_BUG_DIV0
#define X86_BUG_DIV0 COSY_NO_BIT
#endif

#include <linux/audit.h>
#include <linux/compiler.h>
#include <linux/dcache.h>
#include <linux/entry-common.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/stat.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/uio.h>
#include <linux/version.h>
#ifdef COSY_HAVE_FILE_POST_OPEN
#include <linux/security.h>
#else
#include <linux/ima.h>
#endif
#ifdef COSY_HAVE_FILELOCK
#include <linux/filelock.h>
#endif

/* Marks a local that CONFIG_INIT_STACK_ALL_ZERO must not clear, where that would cost too much. */
#if __has_attribute(uninitialized)
#define __cosy_uninitialized __attribute__((uninitialized))
#else
#define __cosy_uninitialized
#endif

/* Linux 6.13: a second, lazy reschedule bit. */
#ifndef _TIF_NEED_RESCHED_LAZY
#define _TIF_NEED_RESCHED_LAZY 0
#endif

/* Somebody else wants the processor. */
#define COSY_RESCHED (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY)

/* Restartable sequences ask by a bit of their own in later kernels. */
#ifndef _TIF_RSEQ
#define _TIF_RSEQ 0
#endif

/*
 * Work that the way back to user mode has for the thread, other than giving up the processor
 * (cond_resched does) and restartable sequences (which concern the user's instruction pointer
 * alone, so can wait until it goes on there).
 */
#define COSY_EXIT_WORK (EXIT_TO_USER_MODE_WORK & ~(COSY_RESCHED | _TIF_RSEQ))

/*
 * Returns whether TIF_NOTIFY_RESUME stands for work that may not wait.  Before _TIF_RSEQ it is also
 * set at every preemption of a thread that has registered restartable sequences, which is every
 * thread of a current glibc.
 */
static inline bool cosy_resume_work(void)
{
	if (task_work_pending(current))
		return true;
#ifdef CONFIG_MEMCG
	if (current->memcg_nr_pages_over_high)
		return true;
#endif
	return false;
}

/* vm_flags_set() came with the locking of single VMAs (6.3). */
#ifdef COSY_HAVE_VM_FLAGS_SET
#define cosy_vm_flags_set(vma, flags)	vm_flags_set(vma, flags)
#define cosy_vm_flags_clear(vma, flags) vm_flags_clear(vma, flags)
#else
#define cosy_vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
#define cosy_vm_flags_clear(vma, flags) ((vma)->vm_flags &= ~(flags))
#endif

/*
 * Returns whether the protection of a mapping can no longer be changed: mseal(2), from Linux 6.10
 * on.
 */
static inline bool cosy_vma_is_sealed(const struct vm_area_struct *vma)
{
#ifdef VM_SEALED
	return vma->vm_flags & VM_SEALED;
#else
	return false;
#endif
}

/* Returns the bits of vm_flags that hold a protection key; 0 where there are none. */
static inline unsigned long cosy_vm_pkey(unsigned long flags)
{
#ifdef VM_PKEY_BIT0
	return flags & (VM_PKEY_BIT0 | VM_PKEY_BIT1 | VM_PKEY_BIT2 | VM_PKEY_BIT3);
#else
	return 0;
#endif
}

/* import_ubuf() came with 6.2; until then a range took an iovec of the caller's. */
#ifdef COSY_HAVE_IMPORT_UBUF
#define cosy_import_user(direction, base, len, iter) import_ubuf(direction, base, len, iter)
#else
static inline int cosy_import_user(int direction, void __user *base, size_t len,
				   struct iov_iter *iter)
{
	iov_iter_ubuf(iter, direction, base, len);
	return 0;
}
#endif

/* Directions of an iov_iter had no names of their own before 6.2. */
#ifndef ITER_DEST
#define ITER_DEST   READ
#define ITER_SOURCE WRITE
#endif

/* The times of an inode were fields before functions for them came with 6.7. */
#ifndef COSY_HAVE_INODE_TIMES
#define inode_get_atime(inode) ((inode)->i_atime)
#define inode_get_mtime(inode) ((inode)->i_mtime)
#define inode_get_ctime(inode) ((inode)->i_ctime)
#endif

/*
 * Returns whether times are the clock's ticks.  From 6.13 on file systems may have multigrain ones:
 * a query marks the change time, and the next change has a finer one, so that it shows.
 */
static inline bool cosy_times_are_coarse(const struct inode *inode)
{
#ifdef FS_MGTIME
	return !is_mgtime(inode);
#else
	return true;
#endif
}

/*
 * Fills in the times of modification and change of an inode whose times are not coarse, and marks
 * the latter, if the request has one of them.
 */
static inline void cosy_query_change(struct inode *inode, u32 request_mask, struct kstat *ret)
{
#ifdef FS_MGTIME
	fill_mg_cmtime(ret, request_mask, inode);
#endif
}

/*
 * Returns the time that a change or an access of the inode would have now.  Since 6.13 no inode's
 * time is before the finest that any inode got.
 */
static inline struct timespec64 cosy_change_time(struct inode *inode)
{
#ifdef FS_MGTIME
	return current_time(inode);
#else
	struct timespec64 now;

	ktime_get_coarse_real_ts64(&now);
	return now;
#endif
}

/*
 * Returns whether pages under writeback must not change: a property of the file system before 6.6.
 */
static inline bool cosy_stable_writes(const struct address_space *mapping)
{
#ifdef COSY_HAVE_STABLE_MAPPINGS
	return mapping_stable_writes(mapping);
#else
	return mapping->host->i_sb->s_iflags & SB_I_STABLE_WRITES;
#endif
}

/* A mount's mapping of ids was a user namespace before 6.3. */
#ifdef COSY_HAVE_IDMAP
#define cosy_mnt_idmap(mnt) mnt_idmap(mnt)
#else
#define cosy_mnt_idmap(mnt) mnt_user_ns(mnt)
#endif

/*
 * The children of a directory are a list (an hlist from 6.8 on).  These return the child after
 * `child`, the one before it, or NULL; called under the lock of `dir`, whose child it is.
 */
#ifdef COSY_HAVE_D_SIB
static inline bool cosy_dentry_has_siblings(const struct dentry *child)
{
	return !hlist_unhashed(&child->d_sib);
}

static inline struct dentry *cosy_dentry_after(struct dentry *dir, struct dentry *child)
{
	return hlist_entry_safe(child->d_sib.next, struct dentry, d_sib);
}

static inline struct dentry *cosy_dentry_before(struct dentry *dir, struct dentry *child)
{
	if (child->d_sib.pprev == &dir->d_children.first)
		return NULL;
	return hlist_entry(container_of(child->d_sib.pprev, struct hlist_node, next), struct dentry,
			   d_sib);
}
#else
static inline bool cosy_dentry_has_siblings(const struct dentry *child)
{
	return !list_empty(&child->d_child);
}

static inline struct dentry *cosy_dentry_after(struct dentry *dir, struct dentry *child)
{
	return list_is_last(&child->d_child, &dir->d_subdirs) ? NULL
							      : list_next_entry(child, d_child);
}

static inline struct dentry *cosy_dentry_before(struct dentry *dir, struct dentry *child)
{
	return list_is_first(&child->d_child, &dir->d_subdirs) ? NULL
							       : list_prev_entry(child, d_child);
}
#endif

/* The x86 JIT got loads and stores relative to r12 with the headers' name for them (6.9). */
#ifdef BPF_PROBE_MEM32
#define COSY_JIT_MAY_BE_BASED true
#else
#define COSY_JIT_MAY_BE_BASED false
#endif

/* struct fd became opaque in 6.12.  The flags say whether fdput has a reference to drop. */
#ifndef fd_file
#define fd_file(fd)		((fd).file)
#define cosy_fd_is_borrowed(fd) (!((fd).flags & FDPUT_FPUT))
#define cosy_fd_borrowed(to)	((struct fd){ .file = (to) })
#else
#define cosy_fd_is_borrowed(fd) (!((fd).word & FDPUT_FPUT))
#define cosy_fd_borrowed(to)	((struct fd){ .word = (unsigned long)(to) })
#endif

/* Batches of folios were called vectors of pages. */
#ifdef COSY_HAVE_PAGEVEC
#include <linux/pagevec.h>
#else
#include <linux/folio_batch.h>
#endif

/*
 * A fake head is what is left of a huge page's memory map, which must not be written to.  Later
 * kernels have none, and their folio_try_get does not look for one.
 */
#ifdef COSY_HAVE_FAKE_HEADS
#define cosy_page_is_fake_head(page) page_is_fake_head(page)
#else
#define cosy_page_is_fake_head(page) false
#endif

/* The sequence counter of a process's directories became a lock with one. */
#ifdef COSY_HAVE_FS_SEQLOCK
#define cosy_fs_read_begin(fs)	    read_seqbegin(&(fs)->seq)
#define cosy_fs_read_retry(fs, seq) read_seqretry(&(fs)->seq, seq)
#else
#define cosy_fs_read_begin(fs)	    read_seqcount_begin(&(fs)->seq)
#define cosy_fs_read_retry(fs, seq) read_seqcount_retry(&(fs)->seq, seq)
#endif

/* Returns whether somebody polls the pipe by EPOLLET, so that each write has to wake them. */
#ifdef COSY_HAVE_POLL_USAGE
#define cosy_pipe_edge_triggered(pipe) ((pipe)->poll_usage)
#else
#define cosy_pipe_edge_triggered(pipe) READ_ONCE((pipe)->pseudo_edgetrigger)
#endif

/*
 * Removes entries of an area, and flushes them from all processors.  zap_vma_ptes leaves those of
 * VM_MIXEDMAP areas alone; its successor does not, nor do two functions that Debian exports.
 */
#ifndef COSY_HAVE_ZAP_VMA_PTES
#define cosy_zap_vma(vma, address, size) zap_special_vma_range(vma, address, size)
#define COSY_ZAPS_COUNTED		 true
#elif defined(COSY_HAVE_ZAP_SINGLE)
#define cosy_zap_vma(vma, address, size) zap_page_range_single(vma, address, size, NULL)
#define COSY_ZAPS_COUNTED		 true
#elif defined(COSY_HAVE_ZAP_RANGE)
#define cosy_zap_vma(vma, address, size) zap_page_range(vma, address, size)
#define COSY_ZAPS_COUNTED		 true
#else
#define cosy_zap_vma(vma, address, size) zap_vma_ptes(vma, address, size)
#define COSY_ZAPS_COUNTED		 false
#endif

/* Makes an empty file of the kernel's own tmpfs; flags of areas became a bitmap. */
#ifdef COSY_HAVE_VMA_FLAGS
#define cosy_shmem_file(name) shmem_file_setup(name, 0, mk_vma_flags(VMA_NORESERVE_BIT))
#else
#define cosy_shmem_file(name) shmem_file_setup(name, 0, VM_NORESERVE)
#endif

/* An argument of a traced function. */
#ifdef ftrace_regs_get_argument
#define cosy_ftrace_argument(regs, n) ftrace_regs_get_argument(regs, n)
#else
#define cosy_ftrace_argument(regs, n) regs_get_kernel_argument(&(regs)->regs, n)
#endif

/* Headers of some kernels do not show whether a listener may deny an open. */
#ifdef COSY_HAVE_SB_LISTENERS
#define cosy_may_be_denied(sb) fsnotify_sb_has_priority_watchers(sb, FSNOTIFY_PRIO_CONTENT)
#else
#define cosy_may_be_denied(sb) true
#endif

/*
 * Ends an open: the security module is asked once more, with the mask of the open.  Before 6.9 that
 * was IMA alone.
 */
#ifdef COSY_HAVE_FILE_POST_OPEN
#define cosy_file_opened(file, mask) security_file_post_open(file, mask)
#else
#define cosy_file_opened(file, mask) ima_file_check(file, mask)
#endif

/* Tells listeners of an open.  From 6.11 on dentry_open does, which no header shows. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define cosy_tell_opened(file) fsnotify_open(file)
#else
#define cosy_tell_opened(file) ((void)(file))
#endif

/* Returns whether somebody holds a lease on the file, as break_lease finds out. */
static inline bool cosy_has_leases(const struct inode *inode)
{
	const struct file_lock_context *locks = READ_ONCE(inode->i_flctx);

	return locks && !list_empty_careful(&locks->flc_lease);
}

/* ->create had a parameter, whether the caller wants to make the file, until all callers did. */
#ifdef COSY_HAVE_CREATE_EXCLUSIVE
#define cosy_op_create(dir, idmap, entry, mode) ((dir)->i_op->create(idmap, dir, entry, mode, true))
#else
#define cosy_op_create(dir, idmap, entry, mode) ((dir)->i_op->create(idmap, dir, entry, mode))
#endif

/* ->mkdir returned an error before it returned a dentry (6.15). */
#ifdef COSY_HAVE_MKDIR_DENTRY
#define cosy_op_mkdir(dir, idmap, entry, mode)                                                     \
	PTR_ERR_OR_ZERO((dir)->i_op->mkdir(idmap, dir, entry, mode))
#else
#define cosy_op_mkdir(dir, idmap, entry, mode) ((dir)->i_op->mkdir(idmap, dir, entry, mode))
#endif

/* timer_delete_sync had another name before 6.2. */
#ifndef COSY_HAVE_TIMER_DELETE
#define timer_delete_sync(timer) del_timer_sync(timer)
#endif

#endif /* !__ASSEMBLY__ */
#endif /* COSY_COMPAT_H */
