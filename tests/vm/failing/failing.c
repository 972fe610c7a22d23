// SPDX-License-Identifier: GPL-2.0
/*
 * failing.c - a module for tests.  It makes the nth call of some kind that cosy.ko makes fail, by
 * kprobes, on any kernel.
 *
 * Write `kind`, then `nth`, which counts the calls of the writing thread.  `nth` reads 0 once that
 * call has failed, and `last` then names it.  kind is a mask of the KIND_ values below.  With `on`
 * set all later calls fail, too, until `nth` is written again; with `again` set, one of so many.
 * `failures` counts all.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/sched.h>

enum {
	KIND_ALLOCATION = 1, /* memory of any kind, and what needs some; -ENOMEM or NULL */
	KIND_COPY = 2,	     /* from and to user memory: nothing is copied */
	KIND_CHECK = 4,	     /* answers of others about a call */
	KIND_TYPE = 8,	     /* what the kernel tells of its types */
};

/* Result of a point that tells the bytes that were not copied: its third argument. */
#define NOT_COPIED LONG_MIN

/* Place of an allocation's flags among the arguments, and what comes before some of them. */
enum { NO_FLAGS, FIRST, SECOND, THIRD, FOURTH, FIFTH };

#ifdef CONFIG_KMALLOC_PARTITION_CACHES
#define TOKENS 1
#else
#define TOKENS 0
#endif
#ifdef CONFIG_SLAB_BUCKETS
#define BUCKETS 1
#else
#define BUCKETS 0
#endif
/* Since Linux 7. */
#ifdef kvmalloc_node_align_noprof
#define ALIGNMENTS 1
#else
#define ALIGNMENTS 0
#endif

struct point {
	const char *name;
	int kind;
	long result;
	int flags;
	const char *caller; /* part of the caller's symbol, "[cosy]" when NULL */
	struct kprobe probe;
	bool planted;
};

/* Points in functions of all kernels; those that a kernel does not have are left out. */
static struct point points[] = {
	{ "__kmalloc_cache_noprof", KIND_ALLOCATION, 0, SECOND },
	{ "kmalloc_trace", KIND_ALLOCATION, 0, SECOND },
	{ "__kmalloc_noprof", KIND_ALLOCATION, 0, SECOND + TOKENS },
	{ "__kmalloc", KIND_ALLOCATION, 0, SECOND },
	{ "__kvmalloc_node_noprof", KIND_ALLOCATION, 0, SECOND + BUCKETS + TOKENS + ALIGNMENTS },
	{ "kvmalloc_node", KIND_ALLOCATION, 0, SECOND },
	{ "alloc_pages_noprof", KIND_ALLOCATION, 0, FIRST },
	{ "__alloc_pages_noprof", KIND_ALLOCATION, 0, FIRST },
	{ "alloc_pages", KIND_ALLOCATION, 0, FIRST },
	{ "vmap", KIND_ALLOCATION, 0 },
	{ "bpf_prog_alloc", KIND_ALLOCATION, 0 },
	{ "bpf_jit_binary_pack_alloc", KIND_ALLOCATION, 0, NO_FLAGS, "bpf_int_jit_compile" },
	{ "__xa_alloc", KIND_ALLOCATION, -ENOMEM },
	{ "get_unused_fd_flags", KIND_ALLOCATION, -ENOMEM },
	{ "anon_inode_getfd", KIND_ALLOCATION, -ENOMEM },
	{ "anon_inode_getfile", KIND_ALLOCATION, -ENOMEM },
	{ "vm_insert_pages", KIND_ALLOCATION, -ENOMEM },
	{ "apply_to_page_range", KIND_ALLOCATION, -ENOMEM },
	{ "handle_mm_fault", KIND_ALLOCATION, VM_FAULT_OOM },
	{ "alloc_workqueue", KIND_ALLOCATION, 0 },
	{ "kthread_create_on_node", KIND_ALLOCATION, -ENOMEM },
	{ "misc_register", KIND_ALLOCATION, -ENOMEM },
	{ "register_kprobe", KIND_ALLOCATION, -ENOMEM },

	{ "_copy_from_user", KIND_COPY, NOT_COPIED },
	{ "_copy_to_user", KIND_COPY, NOT_COPIED },
	{ "__get_user_2", KIND_COPY, -EFAULT },
	{ "__get_user_4", KIND_COPY, -EFAULT },
	{ "__put_user_4", KIND_COPY, -EFAULT },
	{ "__put_user_8", KIND_COPY, -EFAULT },
	{ "_copy_to_iter", KIND_COPY, 0 },
	{ "copy_page_to_iter", KIND_COPY, 0 },
	{ "copy_page_from_iter", KIND_COPY, 0 },
	{ "iov_iter_zero", KIND_COPY, 0 },
	{ "strncpy_from_user", KIND_COPY, -EFAULT },
	{ "check_zeroed_user", KIND_COPY, -EFAULT },

	{ "rw_verify_area", KIND_CHECK, -EPERM },
	{ "vfs_getattr", KIND_CHECK, -EIO },
	{ "vfs_getxattr", KIND_CHECK, -EIO },
	{ "vfs_get_acl", KIND_CHECK, -EIO },
	{ "file_update_time", KIND_CHECK, -EROFS },
	{ "file_remove_privs", KIND_CHECK, -EPERM },
	{ "iterate_dir", KIND_CHECK, -EIO },
	{ "sock_sendmsg", KIND_CHECK, -EPIPE },
	{ "kernel_sendpage", KIND_CHECK, -EPIPE },
	{ "vfs_llseek", KIND_CHECK, -EINVAL },
	{ "inode_permission", KIND_CHECK, -EACCES },
	{ "security_inode_permission", KIND_CHECK, -EACCES },
	{ "security_inode_getattr", KIND_CHECK, -EACCES },

	{ "bpf_get_btf_vmlinux", KIND_TYPE, 0 },
	{ "btf_find_by_name_kind", KIND_TYPE, -ENOENT },
	{ "btf_name_by_offset", KIND_TYPE, 0 },
};

static int nth, again, failures, kind = KIND_ALLOCATION;
static bool on, has_failed, background; /* count the calls of the module's thread instead */
static struct task_struct *counted;	/* only compared */
static char last[160];

/* Returns from the function: the kprobe sends the caller here instead of into it. */
asm(".pushsection .text, \"ax\"\n"
    ".type failing_return, @function\n"
    "failing_return:\n"
    "	endbr64\n"
    "	ret\n"
    "	int3\n"
    ".size failing_return, .-failing_return\n"
    ".popsection\n");
void failing_return(void);

/* True for memory that always comes, sooner or later, as these flags demand. */
static bool never_fails(const struct point *point, const struct pt_regs *regs)
{
	const unsigned long arguments[] = { 0, regs->di, regs->si, regs->dx, regs->cx, regs->r8 };

	return arguments[point->flags] & __GFP_NOFAIL;
}

static bool caller_is_counted(void)
{
	if (!READ_ONCE(counted))
		return false;
	return READ_ONCE(background)
		       ? current->flags & PF_KTHREAD && !strcmp(current->comm, "cosy_compile")
		       : READ_ONCE(counted) == current;
}

static int point_enter(struct kprobe *probe, struct pt_regs *regs)
{
	struct point *point = container_of(probe, struct point, probe);
	unsigned long from = *(unsigned long *)regs->sp;
	char caller[KSYM_SYMBOL_LEN];

	if (!caller_is_counted() || !(nth || (on && has_failed)) || !(kind & point->kind) ||
	    never_fails(point, regs))
		return 0;
	sprint_symbol(caller, from);
	if (!strstr(caller, point->caller ? point->caller : "[cosy]") || (nth && --nth))
		return 0;
	has_failed = true;
	nth = again;
	failures++;
	snprintf(last, sizeof(last), "%s for %s", point->name, caller);
	regs->ax = point->result == NOT_COPIED ? regs->dx : point->result;
	regs->ip = (unsigned long)failing_return;
	return 1;
}

/* Keeps the kprobe from being made a jump, which could not leave the function out. */
static void point_after(struct kprobe *probe, struct pt_regs *regs, unsigned long flags) {}

static int nth_set(const char *value, const struct kernel_param *param)
{
	int error;

	WRITE_ONCE(counted, NULL);
	has_failed = false;
	error = param_set_int(value, param);
	if (!error)
		WRITE_ONCE(counted, current);
	return error;
}

static const struct kernel_param_ops nth_ops = { .set = nth_set, .get = param_get_int };
module_param_cb(nth, &nth_ops, &nth, 0600);
module_param(kind, int, 0600);
module_param(on, bool, 0600);
module_param(background, bool, 0600);
module_param(again, int, 0600);
module_param(failures, int, 0400);
module_param_string(last, last, sizeof(last), 0400);

static int __init failing_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		points[i].probe.symbol_name = points[i].name;
		points[i].probe.pre_handler = point_enter;
		points[i].probe.post_handler = point_after;
		points[i].planted = !register_kprobe(&points[i].probe);
		if (points[i].planted)
			pr_info("failing: %s\n", points[i].name);
	}
	return 0;
}

static void __exit failing_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (points[i].planted)
			unregister_kprobe(&points[i].probe);
}

module_init(failing_init);
module_exit(failing_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Lets what cosy.ko calls fail, for its tests");
