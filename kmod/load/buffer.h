/* SPDX-License-Identifier: GPL-2.0 */
/* buffer.h - the shared buffer: pages that user and kernel both map. */
#ifndef COSY_BUFFER_H
#define COSY_BUFFER_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/cosy.h>
#include "load/locked.h"

struct mm_struct;
struct page;
struct vm_area_struct;

/*
 * A front: the first `size` bytes of the buffer, whose pages are all there and which the kernel
 * maps, so that programs that are loaded for it reach them directly.  When the front grows, a
 * larger one is made of the same pages; this one stays, constant, as long as the buffer, since
 * programs that were loaded before refer to it.
 */
struct cosy_front {
	void *base;
	u32 size; /* bytes, a power of two */
};

/* A front may grow from a page to the largest buffer, by each power of two. */
#define COSY_MAX_FRONTS (const_ilog2(COSY_MAX_BUFFER) - PAGE_SHIFT + 1)

struct cosy_buffer {
	refcount_t references; /* the context's, and each mapping's */
	u32 size;	       /* bytes, a power of two */
	/*
	 * A reference each.  NULL stands for a page of zeros that nobody has touched.  The page is
	 * made at the first fault there, or when a front reaches it, and put here by cmpxchg; then
	 * it stays
	 */
	struct page **pages;
	struct cosy_locked locked; /* of all pages, those that are not there included */
	struct cosy_front fronts[COSY_MAX_FRONTS];
	u32 front_cnt;
	struct cosy_front *front; /* the newest; NULL in a fork child's copy */
	struct mutex growing;	  /* fronts are made under it */
	struct mm_struct *mm;	  /* whose buffer it is: only compared, no reference */
	int mapped;		  /* 0, then 1 from the one mmap on; set by cmpxchg */
	unsigned long user_base;  /* its mapping's start; written once, before `live` */
	bool live;		  /* user_base is valid */
	/*
	 * The user's mapping is no longer the one that programs were compiled for: it is gone, or
	 * has another protection.  Written under the mmap lock, read without it by programs, at
	 * every call and safepoint.
	 */
	bool gone;
};

/*
 * Makes a buffer of `size` bytes for `mm` with a front of `front` bytes, charged to the calling
 * user until the last reference is dropped.  -EINVAL for the sizes, -ENOMEM.
 */
struct cosy_buffer *cosy_buffer_create(struct mm_struct *mm, u64 size, u64 front);
/* Makes a larger front.  -EBUSY: it is no larger; -EINVAL, -ENOMEM, -EINTR when being killed. */
int cosy_buffer_grow(struct cosy_buffer *buffer, u64 front);
/*
 * Drops a reference.  Takes no lock that a process can hold, since the last reference may be
 * dropped by a process of another user that was handed the descriptor.
 */
void cosy_buffer_put(struct cosy_buffer *buffer);

/* Serves ->mmap: the whole buffer, shared, readable and writable, once. */
int cosy_buffer_map(struct cosy_buffer *buffer, struct vm_area_struct *vma);

/* Returns whether programs can be compiled to reach the buffer directly now. */
static inline bool cosy_buffer_usable(const struct cosy_buffer *buffer)
{
	/* Pairs with cosy_buffer_map. */
	return buffer && smp_load_acquire(&buffer->live) && !READ_ONCE(buffer->gone);
}

/* Returns the front for programs that are loaded now. */
static inline const struct cosy_front *cosy_buffer_front(const struct cosy_buffer *buffer)
{
	/* Pairs with front_open. */
	return smp_load_acquire(&buffer->front);
}

#endif /* COSY_BUFFER_H */
