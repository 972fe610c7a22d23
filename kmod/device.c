// SPDX-License-Identifier: GPL-2.0
/* device.c - /dev/cosy: passes each operation to its part of the module. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include "context.h"
#include "device.h"
#include "load/buffer.h"
#include "load/recall.h"
#include "load/jit.h"
#include "load/program.h"
#include "memory/access.h"
#include "move/move.h"
#include "run/filter.h"
#include "run/limits.h"
#include "run/run.h"
#include "stats.h"
#include "watch/watch.h"

static long version_ioctl(struct cosy_context *context, void *argument)
{
	struct cosy_version *version = argument;

	version->abi = COSY_ABI_VERSION;
	version->max_insns = COSY_MAX_INSNS;
	version->max_buffer = COSY_MAX_BUFFER;
	return cosy_jit_features(&version->features);
}

static long setbuf_ioctl(struct cosy_context *context, void *argument)
{
	struct cosy_setbuf *setbuf = argument;

	if (setbuf->flags)
		return -EINVAL;
	return cosy_context_set_buffer(context, setbuf->len,
				       setbuf->front ? setbuf->front : setbuf->len);
}

static long load_ioctl(struct cosy_context *context, void *argument)
{
	return cosy_program_load(context, argument);
}

static long limits_ioctl(struct cosy_context *context, void *argument)
{
	struct cosy_limits *limits = argument;

	if (limits->flags)
		return -EINVAL;
	WRITE_ONCE(context->max_steps, limits->max_steps);
	WRITE_ONCE(context->max_ns, limits->max_kernel_ns);
	return 0;
}

static long free_ioctl(struct cosy_context *context, void *argument)
{
	struct cosy_free *free = argument;

	return cosy_program_forget(context, free->handle);
}

static long stats_ioctl(struct cosy_context *context, void *argument)
{
	cosy_stats_read(&context->stats, argument);
	return 0;
}

static long recall_ioctl(struct cosy_context *context, void *argument)
{
	return cosy_recall(context, argument);
}

static long arena_ioctl(struct cosy_context *context, void *argument)
{
	return cosy_move_arena(context, argument);
}

static long move_ioctl(struct cosy_context *context, void *argument)
{
	const struct cosy_move *move = argument;

	return move->flags & COSY_MOVE_WHOLE ? -EINVAL : cosy_move(context, move);
}

/*
 * Copies a request of the size that we know, which is made for each message.  False: it has another
 * size, or cannot be read; any_ioctl finds out.  RUN's copy (argument_get) is apart: it leaves out
 * the words of answers, and keeps its fields in registers, which one loop over words would not.
 */
static __always_inline bool move_copy_in(struct cosy_move *move, const void __user *from)
{
	const u64 *there = (const u64 __force *)from;
	u64 *word = (u64 *)move;
	int fault = 0, i;

	BUILD_BUG_ON(sizeof(*move) % sizeof(*word));
	if (!user_access_begin(from, sizeof(*move)))
		return false;
	for (i = 0; i < sizeof(*move) / sizeof(*word); i++)
		word[i] = cosy_peek_word(there + i, &fault);
	user_access_end();
	return !fault && move->size == sizeof(*move);
}

static long moving_ioctl(struct cosy_context *context, void *argument)
{
	return cosy_moving(argument);
}

static long watch_ioctl(struct cosy_context *context, void *argument)
{
	return cosy_watch(argument);
}

union arguments {
	u32 size;
	struct cosy_version version;
	struct cosy_setbuf setbuf;
	struct cosy_load load;
	struct cosy_limits limits;
	struct cosy_free free;
	struct cosy_stats stats;
	struct cosy_arena_request arena;
	struct cosy_move move;
	struct cosy_moving moving;
	struct cosy_recall recall;
	struct cosy_watch watch;
};

/* Undoes a LOAD whose answer cannot be copied to the caller. */
static void load_undo(struct cosy_context *context, const void *argument)
{
	const struct cosy_load *load = argument;

	/* The caller does not learn the handle: the program would only take room. */
	if (load->handle)
		cosy_program_forget(context, load->handle);
}

/* RUN is not among them: it copies its argument in a faster way of its own. */
static const struct {
	u32 command;
	u32 min_size; /* bytes that every caller gives; members that came later are then 0 */
	u32 size;
	bool answers;	/* copy the argument back, also with an error */
	bool own_space; /* only for the address space that opened the descriptor */
	long (*handle)(struct cosy_context *context, void *argument);
	/* After success, if the answer cannot be copied back */
	void (*undo)(struct cosy_context *context, const void *argument);
} commands[] = {
	/* First, since it is made for each message. */
	{ .command = COSY_IOC_MOVE,
	  .min_size = offsetofend(struct cosy_move, flags),
	  .size = sizeof(struct cosy_move),
	  .own_space = true,
	  .handle = move_ioctl },
	{ .command = COSY_IOC_VERSION,
	  .min_size = sizeof(struct cosy_version),
	  .size = sizeof(struct cosy_version),
	  .answers = true,
	  .handle = version_ioctl },
	{ .command = COSY_IOC_SETBUF,
	  .min_size = offsetofend(struct cosy_setbuf, len),
	  .size = sizeof(struct cosy_setbuf),
	  .own_space = true,
	  .handle = setbuf_ioctl },
	{ .command = COSY_IOC_LOAD,
	  .min_size = offsetofend(struct cosy_load, flags),
	  .size = sizeof(struct cosy_load),
	  .answers = true,
	  .own_space = true,
	  .handle = load_ioctl,
	  .undo = load_undo },
	{ .command = COSY_IOC_LIMITS,
	  .min_size = sizeof(struct cosy_limits),
	  .size = sizeof(struct cosy_limits),
	  .own_space = true,
	  .handle = limits_ioctl },
	{ .command = COSY_IOC_FREE,
	  .min_size = sizeof(struct cosy_free),
	  .size = sizeof(struct cosy_free),
	  .own_space = true,
	  .handle = free_ioctl },
	{ .command = COSY_IOC_STATS,
	  .min_size = offsetofend(struct cosy_stats, imported),
	  .size = sizeof(struct cosy_stats),
	  .answers = true,
	  .own_space = true,
	  .handle = stats_ioctl },
	{ .command = COSY_IOC_RECALL,
	  .min_size = offsetofend(struct cosy_recall, reached),
	  .size = sizeof(struct cosy_recall),
	  .answers = true,
	  .own_space = true,
	  .handle = recall_ioctl },
	{ .command = COSY_IOC_ARENA,
	  .min_size = sizeof(struct cosy_arena_request),
	  .size = sizeof(struct cosy_arena_request),
	  .own_space = true,
	  .handle = arena_ioctl },
	{ .command = COSY_IOC_MOVING,
	  .min_size = offsetofend(struct cosy_moving, parcel_pages),
	  .size = sizeof(struct cosy_moving),
	  .answers = true,
	  .handle = moving_ioctl },
	{ .command = COSY_IOC_WATCH,
	  .min_size = sizeof(struct cosy_watch),
	  .size = sizeof(struct cosy_watch),
	  .own_space = true,
	  .handle = watch_ioctl },
};

/* Leaves the size out of a command number: it changes as structures grow, the meaning does not. */
static u32 command_without_size(u32 command)
{
	return command & ~IOCSIZE_MASK;
}

/*
 * Copies an argument in by its own size: a tail that the caller does not know becomes zero, a tail
 * that we do not know must be zero.
 */
static int argument_copy_in(union arguments *argument, void __user *from, u32 min_size, u32 size)
{
	u32 given;
	int error;

	if (get_user(given, (u32 __user *)from))
		return -EFAULT;
	if (given < min_size)
		return -EINVAL;
	if (given > PAGE_SIZE)
		return -E2BIG;
	error = copy_struct_from_user(argument, size, from, given);
	/* The user may have changed the size since it was read; nothing goes by the second one. */
	argument->size = given;
	return error;
}

/* Serves all ioctls but RUN.  Out of line, since its argument is large. */
static noinline long any_ioctl(struct cosy_context *context, u32 command, void __user *user)
{
	union arguments argument __cosy_uninitialized; /* but for what is copied in */
	u32 i, given;
	long result;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (command_without_size(command) == command_without_size(commands[i].command))
			break;
	}
	if (i == ARRAY_SIZE(commands))
		return -ENOTTY;
	if (commands[i].own_space && current->mm != context->mm)
		return -EXDEV;
	result = argument_copy_in(&argument, user, commands[i].min_size, commands[i].size);
	if (result)
		return result;

	given = argument.size;
	result = commands[i].handle(context, &argument);

	if (commands[i].answers && copy_to_user(user, &argument, min(given, commands[i].size))) {
		if (!result && commands[i].undo)
			commands[i].undo(context, &argument);
		result = -EFAULT;
	}
	return result;
}

static long cosy_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	struct cosy_context *context = file->private_data;
	void __user *user = (void __user *)address;

	if (likely(command_without_size(command) == command_without_size(COSY_IOC_RUN)))
		return cosy_run_ioctl(file, context, user);
	if (likely(command == COSY_IOC_MOVE && current->mm == context->mm)) {
		struct cosy_move move __cosy_uninitialized;

		if (likely(move_copy_in(&move, user)))
			return move_ioctl(context, &move);
	}
	return any_ioctl(context, command, user);
}

/* 32-bit and x32 callers have other system calls and other pointers. */
static long cosy_compat_ioctl(struct file *file, unsigned int command, unsigned long address)
{
	return -EOPNOTSUPP;
}

static int cosy_open(struct inode *inode, struct file *file)
{
	struct cosy_context *context = cosy_context_create();

	if (IS_ERR(context))
		return PTR_ERR(context);
	file->private_data = context;
	return nonseekable_open(inode, file);
}

static int cosy_release(struct inode *inode, struct file *file)
{
	cosy_context_destroy(file->private_data);
	return 0;
}

static int cosy_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct cosy_context *context = file->private_data;
	/* Pairs with cosy_context_set_buffer. */
	struct cosy_buffer *buffer = smp_load_acquire(&context->buffer);

	if (vma->vm_mm != context->mm)
		return -EXDEV;
	if (!buffer)
		return -ENODEV;
	return cosy_buffer_map(buffer, vma);
}

static const struct file_operations cosy_fops = {
	.owner = THIS_MODULE,
	.open = cosy_open,
	.release = cosy_release,
	.read_iter = cosy_filter_read,
	.unlocked_ioctl = cosy_ioctl,
	.compat_ioctl = cosy_compat_ioctl,
	.mmap = cosy_mmap,
	.llseek = noop_llseek,
};

static struct miscdevice cosy_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cosy",
	.fops = &cosy_fops,
	.mode = 0660,
};

int cosy_device_init(void)
{
	return misc_register(&cosy_misc);
}

void cosy_device_exit(void)
{
	misc_deregister(&cosy_misc);
}
