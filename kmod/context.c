// SPDX-License-Identifier: GPL-2.0
/* context.c - creates and ends contexts. */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "context.h"
#include "load/buffer.h"
#include "load/cache.h"
#include "load/recall.h"
#include "load/program.h"
#include "users.h"

struct cosy_context *cosy_context_create(void)
{
	struct cosy_context *context;
	int error;

	if (!current->mm)
		return ERR_PTR(-EINVAL);
	context = kzalloc(sizeof(*context), GFP_KERNEL_ACCOUNT);
	if (!context)
		return ERR_PTR(-ENOMEM);
	context->user = cosy_user_get();
	if (IS_ERR(context->user)) {
		error = PTR_ERR(context->user);
		goto err_context;
	}
	error = cosy_user_charge(context->user, COSY_CHARGE_CONTEXTS, 1);
	if (error)
		goto err_user;

	INIT_LIST_HEAD(&context->followed);
	xa_init_flags(&context->programs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	mmgrab(current->mm);
	context->mm = current->mm;
	cosy_stats_live(COSY_LIVE_CONTEXTS, 1);
	return context;

err_user:
	cosy_user_put(context->user);
err_context:
	kfree(context);
	return ERR_PTR(error);
}

void cosy_context_destroy(struct cosy_context *context)
{
	cosy_program_forget_all(context);
	cosy_recall_settle(context);
	if (context->buffer)
		cosy_buffer_put(context->buffer);
	kfree(context->spare_views);
	kfree(context->spare_prefixes);
	mmdrop(context->mm);
	cosy_user_uncharge(context->user, COSY_CHARGE_CONTEXTS, 1);
	cosy_user_put(context->user);
	cosy_stats_live(COSY_LIVE_CONTEXTS, -1);
	kfree(context);
}

/* Gives a context that has its buffer a larger front of it. */
static int buffer_grow(struct cosy_buffer *buffer, u64 size, u64 front)
{
	return size == buffer->size ? cosy_buffer_grow(buffer, front) : -EBUSY;
}

int cosy_context_set_buffer(struct cosy_context *context, u64 size, u64 front)
{
	/* Pairs with the release below. */
	struct cosy_buffer *buffer = smp_load_acquire(&context->buffer);

	if (buffer)
		return buffer_grow(buffer, size, front);
	cosy_cache_make_room(context->user, size >> PAGE_SHIFT);
	buffer = cosy_buffer_create(context->mm, size, front);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	/* Threads may race: one of them wins.  Pairs with the acquires of readers. */
	if (cmpxchg_release(&context->buffer, NULL, buffer)) {
		cosy_buffer_put(buffer);
		return -EBUSY;
	}
	return 0;
}
