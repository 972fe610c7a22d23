// SPDX-License-Identifier: GPL-2.0
/* program.c - from a container in user memory to a handle. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>
#include "context.h"
#include "load/background.h"
#include "load/buffer.h"
#include "load/cache.h"
#include "load/recall.h"
#include "load/image.h"
#include "load/processor.h"
#include "load/program.h"
#include "reject.h"
#include "stats.h"
#include "trace.h"
#include "users.h"

static const bool never_gone;

/* --- Loading ------------------------------------------------------------------------- */

/* Makes a program and charges it to the user.  On success has the reference to the image. */
static struct cosy_program *prog_create(struct cosy_user *user, struct cosy_image *image,
					const struct cosy_target *target, const bool *gone,
					struct cosy_reject *why)
{
	struct cosy_program *prog = kzalloc(sizeof(*prog), GFP_KERNEL_ACCOUNT);
	int error;

	if (!prog)
		return ERR_PTR(-ENOMEM);
	error = cosy_user_charge(user, COSY_CHARGE_PROGRAMS, 1);
	if (error) {
		kfree(prog);
		return ERR_PTR(cosy_refuse(why, error, COSY_REJECT_CONTAINER,
					   "this user has as many programs as the module allows "
					   "(max_user_programs)"));
	}
	refcount_set(&prog->references, 1);
	prog->image = image;
	prog->code = image->code;
	prog->points = image->points;
	prog->insn_cnt = image->insn_cnt;
	prog->frame_words = image->frame_words;
	prog->fuel = image->fuel;
	prog->may_nest = image->may_nest;
	prog->max_steps = image->max_steps;
	prog->max_ns = image->max_ns;
	prog->ordinary = target->ordinary;
	prog->buffer = target->base;
	prog->buffer_address = target->address;
	prog->buffer_size = target->size;
	prog->gone = gone;
	prog->user = user;
	cosy_stats_live(COSY_LIVE_PROGRAMS, 1);
	return prog;
}

static void prog_destroy(struct cosy_program *prog)
{
	cosy_image_put(prog->image);
	cosy_user_uncharge(prog->user, COSY_CHARGE_PROGRAMS, 1);
	cosy_stats_live(COSY_LIVE_PROGRAMS, -1);
	kfree_rcu(prog, rcu);
}

/*
 * Finds the buffer with which the programs of a context are to run.  Returns a pointer to the flag
 * that is set when they no longer may: the buffer's `gone`.
 */
static const bool *target_find(struct cosy_context *context, struct cosy_target *ret)
{
	/* Pairs with cosy_context_set_buffer. */
	struct cosy_buffer *buffer = smp_load_acquire(&context->buffer);
	const struct cosy_front *front;

	if (!cosy_buffer_usable(buffer))
		return &never_gone;
	front = cosy_buffer_front(buffer);
	ret->base = front->base;
	ret->address = buffer->user_base;
	ret->size = front->size;
	return &buffer->gone;
}

/*
 * Tells whether all calls are to be ordinary ones: by the flags of LOAD, or those of the
 * container's header, which is not checked yet.
 */
static bool load_is_ordinary(const void *data, const struct cosy_load *load)
{
	const struct cosy_compound *header = data;
	u32 flags = load->flags;

	if (load->len >= sizeof(*header))
		flags |= header->flags;
	return flags & COSY_ORDINARY_CALLS;
}

static int handle_give(struct cosy_context *context, struct cosy_program *prog, u32 *ret)
{
	int error;

	xa_lock(&context->programs);
	error = __xa_alloc(&context->programs, ret, prog, XA_LIMIT(1, INT_MAX), GFP_KERNEL_ACCOUNT);
	if (!error && *ret < COSY_DIRECT_HANDLES)
		rcu_assign_pointer(context->direct[*ret], prog);
	xa_unlock(&context->programs);
	return error;
}

/* Compiles the image.  If the cache takes `*data` over, sets it to NULL. */
static struct cosy_image *image_make(struct cosy_context *context, void **data, u32 len,
				     const struct cosy_target *target, struct cosy_reject *why)
{
	struct cosy_cache_caller caller;
	struct cosy_container container;
	struct cosy_image *image;
	u32 evicted = 0;
	int error;

	cosy_cache_serves(context->user, &caller);

	error = cosy_compound_open(*data, len, &container, why);
	if (error)
		return ERR_PTR(error);
	image = cosy_image_create(context->user, &container, target, why);
	if (IS_ERR(image))
		return image;
	cosy_stats_add(&context->stats, COSY_COUNT_CACHE_MISSES, 1);
	if (cosy_cache_add(image, *data, len, target, &caller, &evicted))
		*data = NULL;
	if (evicted)
		cosy_stats_add(&context->stats, COSY_COUNT_CACHE_EVICTED, evicted);
	return image;
}

/* Gets the image, of an earlier LOAD or, if that may be, compiled now. */
static struct cosy_image *image_get(struct cosy_context *context, void **data,
				    const struct cosy_load *load, const struct cosy_target *target,
				    struct cosy_reject *why)
{
	struct cosy_image *image = cosy_cache_find(context->user, *data, load->len, target);

	if (image) {
		cosy_stats_add(&context->stats, COSY_COUNT_CACHE_HITS, 1);
		return image;
	}
	if (load->flags & COSY_LOAD_SEEN)
		return ERR_PTR(-ENOENT);
	return image_make(context, data, load->len, target, why);
}

/*
 * Tells whether a LOAD for a front of that size would find its image: 0 or -ENOENT; if it is wanted,
 * has it compiled in the background: see cosy_background_queue, which may take `*data` over.
 */
static int container_ask(struct cosy_context *context, void **data, const struct cosy_load *load,
			 struct cosy_reject *why)
{
	const struct cosy_target target = {
		.size = load->front,
		.ordinary = load_is_ordinary(*data, load),
	};
	struct cosy_image *image = cosy_cache_find(context->user, *data, load->len, &target);
	int error = -ENOENT;

	if (image)
		error = 0;
	else if (load->flags & COSY_LOAD_BACKGROUND)
		error = cosy_background_queue(context->user, data, load->len, &target, why);
	cosy_image_put(image);
	if (error == -EINPROGRESS)
		cosy_stats_add(&context->stats, COSY_COUNT_QUEUED, 1);
	else if (error == -EBUSY)
		cosy_stats_add(&context->stats, COSY_COUNT_QUEUE_REFUSED, 1);
	return error;
}

static int container_load(struct cosy_context *context, void **data, struct cosy_load *load,
			  struct cosy_reject *why)
{
	struct cosy_target target = {};
	const bool *gone = target_find(context, &target);
	struct cosy_image *image;
	struct cosy_program *prog;
	u32 handle;
	int error;

	target.ordinary = load_is_ordinary(*data, load);
	image = image_get(context, data, load, &target, why);
	if (IS_ERR(image))
		return PTR_ERR(image);
	prog = prog_create(context->user, image, &target, gone, why);
	if (IS_ERR(prog)) {
		cosy_image_put(image);
		return PTR_ERR(prog);
	}
	prog->followed = cosy_recall_followed(context, load->key);
	/* Once the program has a handle, any thread may FREE it. */
	load->rewritten = image->rewritten;
	load->jited = image->jited;
	error = handle_give(context, prog, &handle);
	if (error) {
		prog_destroy(prog);
		return error;
	}
	load->handle = handle;
	return 0;
}

/* Writes the reason to the user's log, cut to its size. */
static void log_write(const struct cosy_load *load, const struct cosy_reject *why)
{
	char text[sizeof(why->reason)];
	u32 size = min_t(u32, load->log_size, sizeof(text));

	if (!load->log || !size)
		return;
	strscpy(text, why->reason, size);
	/* A log that cannot be written is not worth another error. */
	if (copy_to_user(u64_to_user_ptr(load->log), text, strlen(text) + 1))
		return;
}

/* Tells whether LOAD knows the flags, and finds the other members set as they ask. */
static bool load_is_known(const struct cosy_load *load)
{
	const u32 known =
		COSY_ORDINARY_CALLS | COSY_LOAD_SEEN | COSY_LOAD_ASK | COSY_LOAD_BACKGROUND;
	const bool asks = load->flags & COSY_LOAD_ASK;

	if (load->flags & COSY_LOAD_BACKGROUND && !asks)
		return false;

	return !(load->flags & ~known) && !load->reserved && (asks || !load->front) &&
	       (!asks || load->flags & COSY_LOAD_SEEN);
}

long cosy_program_load(struct cosy_context *context, struct cosy_load *load)
{
	struct cosy_reject why = { .insn = COSY_REJECT_CONTAINER };
	void *data;
	int error;

	if (!load_is_known(load))
		return -EINVAL;
	load->handle = 0;
	load->rewritten = 0;
	load->jited = 0;
	load->bad_insn = ~0u;

	if (cosy_processor_refused(&why)) {
		error = -EOPNOTSUPP;
		goto out;
	}
	if (load->len > COSY_MAX_COMPOUND) {
		error = cosy_refuse(&why, -E2BIG, COSY_REJECT_CONTAINER,
				    "the container is larger than COSY_MAX_COMPOUND");
		goto out;
	}
	/* Copy once, so that the checked bytes are the compiled bytes. */
	data = kvmalloc(max(load->len, 1u), GFP_KERNEL_ACCOUNT);
	if (!data)
		return -ENOMEM;
	if (copy_from_user(data, u64_to_user_ptr(load->compound), load->len)) {
		kvfree(data);
		return -EFAULT;
	}
	if (load->flags & COSY_LOAD_ASK)
		error = container_ask(context, &data, load, &why);
	else
		error = container_load(context, &data, load, &why);
	kvfree(data);
out:
	load->bad_insn = why.insn;
	trace_cosy_load(load, error);
	if (error)
		log_write(load, &why);
	if (error == -EINVAL || error == -E2BIG)
		cosy_stats_add(&context->stats, COSY_COUNT_REJECTS, 1);
	else if (!error && load->handle)
		cosy_stats_add(&context->stats, COSY_COUNT_LOADS, 1);
	return error;
}

/* --- Handles ------------------------------------------------------------------------ */

struct cosy_program *cosy_program_get(struct cosy_context *context, u32 handle)
{
	struct cosy_program *prog;

	rcu_read_lock();
	if (likely(handle < COSY_DIRECT_HANDLES))
		prog = rcu_dereference(
			context->direct[array_index_nospec(handle, COSY_DIRECT_HANDLES)]);
	else
		prog = xa_load(&context->programs, handle);
	if (prog && !refcount_inc_not_zero(&prog->references))
		prog = NULL;
	rcu_read_unlock();
	return prog;
}

void cosy_program_put(struct cosy_program *prog)
{
	if (refcount_dec_and_test(&prog->references))
		prog_destroy(prog);
}

long cosy_program_forget(struct cosy_context *context, u32 handle)
{
	struct cosy_program *prog;

	xa_lock(&context->programs);
	prog = __xa_erase(&context->programs, handle);
	if (handle < COSY_DIRECT_HANDLES)
		RCU_INIT_POINTER(context->direct[array_index_nospec(handle, COSY_DIRECT_HANDLES)],
				 NULL);
	xa_unlock(&context->programs);
	if (!prog)
		return -ENOENT;
	cosy_program_put(prog);
	return 0;
}

void cosy_program_forget_all(struct cosy_context *context)
{
	struct cosy_program *prog;
	unsigned long handle;

	xa_for_each(&context->programs, handle, prog)
		cosy_program_put(prog);
	xa_destroy(&context->programs);
}
