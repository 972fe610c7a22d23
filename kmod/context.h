/* SPDX-License-Identifier: GPL-2.0 */
/* context.h - contexts: each open descriptor of /dev/cosy has one. */
#ifndef COSY_CONTEXT_H
#define COSY_CONTEXT_H

#include <linux/xarray.h>
#include "fast/state.h"
#include "stats.h"

struct cosy_buffer;
struct cosy_program;
struct cosy_user;
struct cosy_views;

#define COSY_DIRECT_HANDLES 64

/*
 * Lives as long as its struct file, to which ioctls, RUN and the mappings of the shared buffer all
 * have a reference.
 */
struct cosy_context {
	struct mm_struct *mm;	    /* the only one that may use it; mmgrab'ed: keeps no pages */
	struct cosy_user *user;	    /* the user that is charged; a reference */
	struct cosy_buffer *buffer; /* NULL until SETBUF, then constant */
	struct xarray programs;	    /* handle -> struct cosy_program, a reference; its own lock */
	/* The first programs, found without a walk; xa_lock */
	struct cosy_program __rcu *direct[COSY_DIRECT_HANDLES];
	/* Memory for the next RUN that makes them; by xchg */
	struct cosy_views *spare_views;
	struct cosy_prefixes *spare_prefixes;
	u64 max_steps, max_ns;		/* LIMITS; each by READ_ONCE and WRITE_ONCE */
	struct cosy_fresh_shared fresh; /* threads race: see there */
	struct list_head followed;	/* struct cosy_followed; the lock of the user's cache */
	unsigned int followed_cnt;
	struct cosy_counters stats;
};

/* Makes a context for the caller; or -EDQUOT, -ENOMEM, -EINVAL without an address space. */
struct cosy_context *cosy_context_create(void);
void cosy_context_destroy(struct cosy_context *context);

/* Serves SETBUF: see the uapi header for sizes and errors. */
int cosy_context_set_buffer(struct cosy_context *context, u64 size, u64 front);

#endif /* COSY_CONTEXT_H */
