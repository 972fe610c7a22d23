/* SPDX-License-Identifier: GPL-2.0 */
/* buffer.h - the shared buffer: pages that user and kernel both map. */
#ifndef COSY_BUFFER_H
#define COSY_BUFFER_H

#include <linux/refcount.h>
#include <linux/types.h>
#include "load/locked.h"

struct mm_struct;
struct page;
struct vm_area_struct;

struct cosy_buffer {
	refcount_t references; /* the context's, and each mapping's */
	u32 size;	       /* bytes, a power of two */
	/*
	 * A reference each.  In a copy NULL is a page of zeros that nobody has touched; its first
	 * fault puts it there
	 */
	struct page **pages;
	struct cosy_locked locked;
	void *base;		 /* the kernel's mapping; NULL in a fork child's copy */
	struct mm_struct *mm;	 /* whose buffer; only to compare, kept by those who refer to us */
	int mapped;		 /* 0, then 1 from the one mmap on; set by cmpxchg */
	unsigned long user_base; /* where; written once, before `live` */
	bool live;		 /* user_base is valid */
	/*
	 * The user's mapping is no longer what programs were compiled for: gone, or
	 * with another protection.  Written under the mmap lock, read without:
	 * programs look at every call and safepoint.
	 */
	bool gone;
};

/*
 * A buffer of `size` bytes for `mm`, charged to the calling user until the last reference is
 * put; -EINVAL for the size, -ENOMEM.
 */
struct cosy_buffer *cosy_buffer_create(struct mm_struct *mm, u64 size);
/* Takes no lock that a process can hold: strangers close what was opened by others. */
void cosy_buffer_put(struct cosy_buffer *buffer);

/* ->mmap: the whole buffer, shared, readable and writable, once. */
int cosy_buffer_map(struct cosy_buffer *buffer, struct vm_area_struct *vma);

/* Whether programs can be compiled to reach the buffer directly now. */
static inline bool cosy_buffer_usable(const struct cosy_buffer *buffer)
{
	/* Pairs with cosy_buffer_map. */
	return buffer && smp_load_acquire(&buffer->live) && !READ_ONCE(buffer->gone);
}

#endif /* COSY_BUFFER_H */
