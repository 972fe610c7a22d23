// SPDX-License-Identifier: GPL-2.0
/* hooks.c - see hooks.h. */
#include <linux/close_range.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/seccomp.h>
#include <linux/shmem_fs.h>
#include <linux/xattr.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "watch/admit.h"
#include "watch/hooks.h"
#include "watch/watcher.h"

/* --- What each kind of function does ------------------------------------------------------- */

/* The n-th argument of the traced function, counted from 0. */
#define ARGUMENT(n, type) ((type)cosy_ftrace_argument(regs, n))

/* An argument of a system call, of which those of 64-bit programs get their registers. */
#define CALL_ARGUMENT(name) (ARGUMENT(0, const struct pt_regs *)->name)

#define HOOK(name, body)                                                                           \
	static void notrace name(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,   \
				 struct ftrace_regs *regs)                                         \
	{                                                                                          \
		body                                                                               \
	}

#define NAMESPACES                                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static __always_inline void note_entry(struct inode *dir, struct dentry *entry)
{
	cosy_watch_note(dir, COSY_WATCH_CONTENTS);
	cosy_watch_note(d_inode(entry), COSY_WATCH_ITSELF);
}

/*
 * The file counts as open.  Its number may have named another directory before.  Listing a directory
 * changes no attribute but its time of access.
 */
static __always_inline void note_open(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	if (!S_ISDIR(inode->i_mode)) {
		cosy_watch_note(inode, COSY_WATCH_OPENED);
		return;
	}
	if (!cosy_watch_keeps_access_time(file))
		cosy_watch_note(inode, COSY_WATCH_OPENED);
	cosy_watch_note_numbers();
}

/*
 * Threads share all.  A child shares nothing, or this memory until it calls exec, while its parent
 * waits.  Whatever else a process shares, another one could change unseen.  So could a child with
 * threads: its parent goes on when the first one has ended.
 */
static __always_inline void note_clone(u64 flags)
{
	u64 shared = flags & (CLONE_VM | CLONE_FS | CLONE_FILES);

	if (likely(!shared))
		return;
	if ((flags & CLONE_THREAD) && shared == (CLONE_VM | CLONE_FS | CLONE_FILES)) {
		cosy_watch_note_thread();
		return;
	}
	if (!(flags & (CLONE_THREAD | NAMESPACES)) && (flags & CLONE_VFORK) && shared == CLONE_VM)
		return;
	cosy_watch_end_process();
}

/* setattr, set_acl, fileattr_set (idmap, dentry, ...) */
HOOK(hook_dentry, { cosy_watch_note(d_inode(ARGUMENT(1, struct dentry *)), COSY_WATCH_ITSELF); })
/* create, symlink, mkdir, mknod (idmap, dir, dentry, ...) */
HOOK(hook_make, { note_entry(ARGUMENT(1, struct inode *), ARGUMENT(2, struct dentry *)); })
/* unlink, rmdir (dir, dentry) */
HOOK(hook_remove, { note_entry(ARGUMENT(0, struct inode *), ARGUMENT(1, struct dentry *)); })
/* link (old dentry, dir, dentry) */
HOOK(hook_link, { note_entry(ARGUMENT(1, struct inode *), ARGUMENT(0, struct dentry *)); })
/* rename (idmap, old dir, old dentry, dir, dentry, flags) */
HOOK(hook_rename, {
	note_entry(ARGUMENT(1, struct inode *), ARGUMENT(2, struct dentry *));
	note_entry(ARGUMENT(3, struct inode *), ARGUMENT(4, struct dentry *));
})
/* an xattr handler's set (handler, idmap, dentry, inode, ...) */
HOOK(hook_xattr, { cosy_watch_note(ARGUMENT(3, struct inode *), COSY_WATCH_ITSELF); })
/*
 * A file system's own ioctl (file, ...), for directories that were open.  It takes the inode's lock
 * after this; in between the directory still counts as open, so no READ gives it out.
 */
HOOK(hook_ioctl,
     { cosy_watch_note(file_inode(ARGUMENT(0, const struct file *)), COSY_WATCH_ITSELF); })
/* security_file_open (file), also for file systems that open files as they look them up */
HOOK(hook_open, { note_open(ARGUMENT(0, const struct file *)); })
/* vfs_open (path, file), for files with O_PATH, which are not opened by the former */
HOOK(hook_number, {
	if (ARGUMENT(1, const struct file *)->f_flags & O_PATH)
		cosy_watch_note_numbers();
})
/* security_file_receive (file), of a file that gets a number here without being opened */
HOOK(hook_receive, {
	if (S_ISDIR(file_inode(ARGUMENT(0, const struct file *))->i_mode))
		cosy_watch_note_numbers();
})
/* set_fs_pwd */
HOOK(hook_directory, { cosy_watch_note_directory(); })
/* commit_creds, set_fs_root, unshare(2), setns(2) */
HOOK(hook_process, { cosy_watch_end_process(); })
/* chroot_fs_refs, of pivot_root(2) */
HOOK(hook_mounts, { cosy_watch_end_mounts(); })

/* kernel_clone (arguments) */
HOOK(hook_clone, { note_clone(ARGUMENT(0, const struct kernel_clone_args *)->flags); })
/* seccomp(2) */
HOOK(hook_seccomp, {
	if ((u32)CALL_ARGUMENT(di) <= SECCOMP_SET_MODE_FILTER)
		cosy_watch_end_process();
})
/* prctl(2) */
HOOK(hook_prctl, {
	if ((int)CALL_ARGUMENT(di) == PR_SET_SECCOMP)
		cosy_watch_end_process();
})
/* close_range(2) */
HOOK(hook_close_range, {
	if (CALL_ARGUMENT(dx) & CLOSE_RANGE_UNSHARE)
		cosy_watch_end_process();
})

enum kind {
	DENTRY,
	MAKE,
	REMOVE,
	LINK,
	RENAME,
	XATTR,
	IOCTL,
	OPEN,
	NUMBER,
	RECEIVE,
	DIRECTORY,
	PROCESS,
	MOUNTS,
	CLONE,
	SECCOMP,
	PRCTL,
	CLOSE_RANGE,
	KIND_CNT
};

static const ftrace_func_t kind_function[KIND_CNT] = {
	[DENTRY] = hook_dentry,
	[MAKE] = hook_make,
	[REMOVE] = hook_remove,
	[LINK] = hook_link,
	[RENAME] = hook_rename,
	[XATTR] = hook_xattr,
	[IOCTL] = hook_ioctl,
	[OPEN] = hook_open,
	[NUMBER] = hook_number,
	[RECEIVE] = hook_receive,
	[DIRECTORY] = hook_directory,
	[PROCESS] = hook_process,
	[MOUNTS] = hook_mounts,
	[CLONE] = hook_clone,
	[SECCOMP] = hook_seccomp,
	[PRCTL] = hook_prctl,
	[CLOSE_RANGE] = hook_close_range,
};

static struct ftrace_ops kind_ops[KIND_CNT];
static bool kind_registered[KIND_CNT];

/* --- The functions that are traced --------------------------------------------------------- */

struct traced {
	unsigned long at;
	enum kind kind;
};

static struct traced traced[96];
static u32 traced_cnt;
static const char *reason; /* the first failure's */

static void __init trace(enum kind kind, const void *function, const char *missing)
{
	u32 i;

	if (!function) {
		if (missing && !reason)
			reason = missing;
		return;
	}
	for (i = 0; i < traced_cnt; i++) {
		if (traced[i].at == (unsigned long)function) {
			/* The same function with other arguments would be one that we mistake. */
			if (traced[i].kind != kind)
				reason = "a function serves as two operations";
			return;
		}
	}
	if (traced_cnt == ARRAY_SIZE(traced)) {
		reason = "too many functions";
		return;
	}
	traced[traced_cnt++] = (struct traced){ (unsigned long)function, kind };
}

static void __init trace_named(enum kind kind, const char *name, bool optional)
{
	const void *function = cosy_unexported_data(name);

	if (function)
		trace(kind, function, NULL);
	else if (!optional && !reason)
		reason = name;
}

/* --- Tables of file systems ----------------------------------------------------------------- */

struct cosy_op_table cosy_op_tables[COSY_OP_TABLE_CNT] __ro_after_init;
static struct module *ext4_module;

static void __init trace_common(const struct inode_operations *op)
{
	/* Without its own the file system would use a function that others use as well. */
	trace(DENTRY, op->setattr, "setattr");
	trace(DENTRY, op->set_acl, NULL);
	trace(DENTRY, op->fileattr_set, NULL);
	if (op->update_time && !reason)
		reason = "update_time";
	if (op->atomic_open && !reason)
		reason = "atomic_open";
}

static void __init trace_table(const struct cosy_op_table *table,
			       const struct xattr_handler *const *xattr)
{
	const struct inode_operations *dir = table->directory;

	if (!dir || !table->file || !xattr) {
		if (!reason)
			reason = "a file system's operations";
		return;
	}
	trace_common(dir);
	trace_common(table->file);
	trace(MAKE, dir->create, "create");
	trace(MAKE, dir->symlink, "symlink");
	trace(MAKE, dir->mkdir, "mkdir");
	trace(MAKE, dir->mknod, "mknod");
	trace(REMOVE, dir->unlink, "unlink");
	trace(REMOVE, dir->rmdir, "rmdir");
	trace(LINK, dir->link, "link");
	trace(RENAME, dir->rename, "rename");
	for (; *xattr; xattr++)
		trace(XATTR, (*xattr)->set, NULL);
}

/* Those of a file system's directories.  tmpfs has none, as the self-test checks. */
static void __init trace_ioctl(const struct file_operations *op)
{
	if (!op) {
		if (!reason)
			reason = "a file system's operations of open directories";
		return;
	}
	trace(IOCTL, op->unlocked_ioctl, NULL);
#ifdef CONFIG_COMPAT
	trace(IOCTL, op->compat_ioctl, NULL);
#endif
}

static void __init trace_tmpfs(void)
{
	struct cosy_op_table *table = &cosy_op_tables[COSY_TMPFS];

	table->directory = cosy_unexported_data("shmem_dir_inode_operations");
	table->file = cosy_unexported_data("shmem_inode_operations");
	trace_table(table, cosy_unexported_data("shmem_xattr_handlers"));
}

/* ext4 is watched if it is there when this module is loaded.  It then stays. */
static void __init trace_ext4(void)
{
	struct cosy_op_table *table = &cosy_op_tables[COSY_EXT4];
	struct file_system_type *type;

	table->directory = cosy_unexported_data("ext4_dir_inode_operations");
	table->file = cosy_unexported_data("ext4_file_inode_operations");
	if (!table->directory)
		return;
	type = get_fs_type("ext4");
	if (!type) {
		/* It is being unloaded.  Another one might come to these addresses. */
		*table = (struct cosy_op_table){};
		return;
	}
	ext4_module = type->owner;
	trace_table(table, cosy_unexported_data("ext4_xattr_handlers"));
	trace_ioctl(cosy_unexported_data("ext4_dir_operations"));
}

/*
 * The call of a traced function's hook is its first instruction, or its second where the first is
 * the mark of an indirect branch's target, or what the kernel put in the place of that.
 */
static bool hook_is_called(unsigned long at)
{
	static const u8 marks[][4] = { { 0xf3, 0x0f, 0x1e, 0xfa },
				       { 0x66, 0x0f, 0x1f, 0x00 },
				       { 0x0f, 0x1f, 0x40, 0xd6 } };
	const u8 *code = (const u8 *)at;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!memcmp(code, marks[i], sizeof(marks[i])))
			return READ_ONCE(code[4]) == CALL_INSN_OPCODE;
	}
	return READ_ONCE(code[0]) == CALL_INSN_OPCODE;
}

bool cosy_hooks_are_in_place(void)
{
	u32 i;

	for (i = 0; i < traced_cnt; i++) {
		if (!hook_is_called(traced[i].at))
			return false;
	}
	return true;
}

/* --- Registration --------------------------------------------------------------------------- */

static int __init kind_register(enum kind kind)
{
	struct ftrace_ops *ops = &kind_ops[kind];
	bool any = false;
	int error;
	u32 i;

	/*
	 * RECURSION asks ftrace for its guard, which also keeps preemption off while a hook runs.
	 * The guard leaves out a hook that is called inside another one.  There is none: no hook
	 * calls a traced function, and no tracer's function makes a change, since it may not sleep.
	 */
	ops->func = kind_function[kind];
	ops->flags = FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_RECURSION;
	for (i = 0; i < traced_cnt; i++) {
		if (traced[i].kind != kind)
			continue;
		error = ftrace_set_filter_ip(ops, traced[i].at, 0, 0);
		if (error)
			return error;
		any = true;
	}
	/* An empty filter would trace every function.  Without ext4 there is no ioctl. */
	if (!any)
		return kind == IOCTL ? 0 : -ENOENT;
	error = register_ftrace_function(ops);
	kind_registered[kind] = !error;
	return error;
}

const char *__init cosy_hooks_register(void)
{
	u32 kind;
	int error;

	if (!IS_ENABLED(CONFIG_IMA))
		return "this kernel does not count readers of files (CONFIG_IMA)";
	trace_tmpfs();
	trace_ext4();
	trace_named(OPEN, "security_file_open", false);
	trace_named(NUMBER, "vfs_open", false);
	trace_named(RECEIVE, "security_file_receive", false);
	trace_named(DIRECTORY, "set_fs_pwd", false);
	trace_named(PROCESS, "set_fs_root", false);
	trace_named(PROCESS, "commit_creds", false);
	trace_named(PROCESS, "__x64_sys_unshare", false);
	trace_named(PROCESS, "__x64_sys_setns", false);
	trace_named(PROCESS, "__ia32_sys_unshare", true);
	trace_named(PROCESS, "__ia32_sys_setns", true);
	trace_named(MOUNTS, "chroot_fs_refs", false);
	trace_named(CLONE, "kernel_clone", false);
	trace_named(SECCOMP, "__x64_sys_seccomp", false);
	trace_named(PRCTL, "__x64_sys_prctl", false);
	trace_named(CLOSE_RANGE, "__x64_sys_close_range", false);
	/* Calls of 32-bit programs, in whose registers the arguments are elsewhere. */
	trace_named(PROCESS, "__ia32_sys_seccomp", true);
	trace_named(PROCESS, "__ia32_sys_prctl", true);
	trace_named(PROCESS, "__ia32_sys_close_range", true);
	if (reason)
		return reason;
	for (kind = 0; kind < KIND_CNT; kind++) {
		error = kind_register(kind);
		if (error) {
			pr_info("cosy: cannot trace functions of kind %u: %d\n", kind, error);
			return "functions cannot be traced";
		}
	}
	return cosy_hooks_are_in_place() ? NULL : "traced functions do not call their hooks";
}

static struct ftrace_ops probe; /* never registered */

bool cosy_hooks_can_be_removed(void)
{
	/* It fails once the kernel has given up tracing. */
	return ftrace_set_filter_ip(&probe, traced[0].at, 0, 1) != -ENODEV;
}

bool cosy_hooks_unregister(void)
{
	bool removed = true;
	u32 i;

	for (i = KIND_CNT; i-- > 0;) {
		if (kind_registered[i])
			removed &= !unregister_ftrace_function(&kind_ops[i]);
		kind_registered[i] = false;
	}
	for (i = 0; removed && i < KIND_CNT; i++)
		ftrace_free_filter(&kind_ops[i]);
	ftrace_free_filter(&probe);
	module_put(ext4_module);
	ext4_module = NULL;
	return removed;
}
