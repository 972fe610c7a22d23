// SPDX-License-Identifier: GPL-2.0
/*
 * buffer.c - the shared buffer.
 *
 * Its pages are ordinary, reference-counted ones, so direct I/O and the like work
 * on them and nothing is freed under anybody.  The user's page tables are filled by
 * faults rather than at mmap, so that fork copies none of them: the child's
 * faults find the child's own copy.
 */
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "load/buffer.h"

static unsigned long page_count_of(const struct cosy_buffer *buffer)
{
	return buffer->size >> PAGE_SHIFT;
}

/* Pages are asked for in chunks of so many, as a power of two: fewer trips to the allocator. */
#define CHUNK_ORDER 3

static void release_pages_of(struct cosy_buffer *buffer)
{
	unsigned long count = 0;

	while (count < page_count_of(buffer) && buffer->pages[count])
		count++;
	release_pages(buffer->pages, count);
	kvfree(buffer->pages);
}

static bool allocate_pages(struct cosy_buffer *buffer, gfp_t gfp)
{
	unsigned long i, k, count = page_count_of(buffer);
	unsigned int order = count < 1 << CHUNK_ORDER ? 0 : CHUNK_ORDER;

	for (i = 0; i < count; i += 1 << order) {
		struct page *chunk = alloc_pages(order ? gfp | __GFP_NORETRY : gfp, order);

		/* None in one piece: single ones for the rest. */
		if (!chunk && order) {
			order = 0;
			chunk = alloc_page(gfp);
		}
		if (!chunk || fatal_signal_pending(current)) {
			if (chunk)
				__free_pages(chunk, order);
			return false;
		}
		split_page(chunk, order);
		for (k = 0; k < 1 << order; k++)
			buffer->pages[i + k] = chunk + k;
		cond_resched();
	}
	return true;
}

/* A buffer with pages and nothing else. */
static struct cosy_buffer *create_pages(struct mm_struct *mm, u32 size, gfp_t zero)
{
	struct cosy_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);

	if (!buffer)
		return NULL;
	refcount_set(&buffer->references, 1);
	buffer->size = size;
	buffer->mm = mm;
	buffer->pages = kvcalloc(page_count_of(buffer), sizeof(*buffer->pages),
				 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!buffer->pages)
		goto err_buffer;
	if (!allocate_pages(buffer, GFP_KERNEL_ACCOUNT | __GFP_NOWARN | zero))
		goto err_pages;
	return buffer;

err_pages:
	release_pages_of(buffer);
err_buffer:
	kfree(buffer);
	return NULL;
}

struct cosy_buffer *cosy_buffer_create(struct mm_struct *mm, u64 size)
{
	struct cosy_buffer *buffer;

	if (!is_power_of_2(size) || size < PAGE_SIZE || size > COSY_MAX_BUFFER)
		return ERR_PTR(-EINVAL);
	if (account_locked_vm(mm, size >> PAGE_SHIFT, true))
		return ERR_PTR(-ENOMEM);
	buffer = create_pages(mm, size, __GFP_ZERO);
	if (!buffer)
		goto err_account;
	/* The guard page behind the area stops what speculation reads past the end. */
	buffer->base = vmap(buffer->pages, page_count_of(buffer), VM_MAP, PAGE_KERNEL);
	if (!buffer->base)
		goto err_buffer;
	return buffer;

err_buffer:
	cosy_buffer_put(buffer);
err_account:
	account_locked_vm(mm, size >> PAGE_SHIFT, false);
	return ERR_PTR(-ENOMEM);
}

void cosy_buffer_uncharge(struct cosy_buffer *buffer)
{
	account_locked_vm(buffer->mm, page_count_of(buffer), false);
}

void cosy_buffer_put(struct cosy_buffer *buffer)
{
	if (!refcount_dec_and_test(&buffer->references))
		return;
	vunmap(buffer->base);
	release_pages_of(buffer);
	kfree(buffer);
}

/* --- The mapping: every operation runs under the mmap lock ---------------------- */

static vm_fault_t buffer_fault(struct vm_fault *vmf)
{
	struct cosy_buffer *buffer = vmf->vma->vm_private_data;

	/* None: a fork that found no memory for the child's copy. */
	if (!buffer || vmf->pgoff >= page_count_of(buffer))
		return VM_FAULT_SIGBUS;
	vmf->page = buffer->pages[vmf->pgoff];
	get_page(vmf->page);
	return 0;
}

/*
 * A fork child gets a copy of its own, at the same address.  It is charged to
 * the memory cgroup like any page that a fork copies, and not to RLIMIT_MEMLOCK:
 * ->close may run where that account must not be written.
 */
static struct cosy_buffer *copy_for(struct mm_struct *mm, const struct cosy_buffer *from)
{
	struct cosy_buffer *copy = create_pages(mm, from->size, 0);
	unsigned long i;

	if (!copy)
		return NULL;
	for (i = 0; i < page_count_of(copy); i++)
		copy_highpage(copy->pages[i], from->pages[i]);
	return copy;
}

/* The mapping was copied: by fork, or by an mremap that buffer_mremap will refuse. */
static void buffer_open(struct vm_area_struct *vma)
{
	struct cosy_buffer *buffer = vma->vm_private_data;

	if (!buffer)
		return;
	if (vma->vm_mm == buffer->mm)
		refcount_inc(&buffer->references);
	else
		vma->vm_private_data = copy_for(vma->vm_mm, buffer);
}

static void buffer_close(struct vm_area_struct *vma)
{
	struct cosy_buffer *buffer = vma->vm_private_data;

	if (!buffer)
		return;
	if (vma->vm_start == buffer->user_base)
		WRITE_ONCE(buffer->gone, true);
	cosy_buffer_put(buffer);
}

/* Programs are compiled for one address and the whole size. */
static int buffer_may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int buffer_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/* Programs do not see page protections: while they forbid anything, no program may run. */
static int buffer_mprotect(struct vm_area_struct *vma, unsigned long start, unsigned long end,
			   unsigned long flags)
{
	const unsigned long all = VM_READ | VM_WRITE;
	struct cosy_buffer *buffer = vma->vm_private_data;

	if (buffer && start == vma->vm_start && end == vma->vm_end)
		WRITE_ONCE(buffer->gone, (flags & all) != all || cosy_vm_pkey(flags));
	/* A part would need a split, which is refused. */
	return 0;
}

static const struct vm_operations_struct buffer_vm_ops = {
	.open = buffer_open,
	.close = buffer_close,
	.may_split = buffer_may_split,
	.mremap = buffer_mremap,
	.mprotect = buffer_mprotect,
	.fault = buffer_fault,
};

int cosy_buffer_map(struct cosy_buffer *buffer, struct vm_area_struct *vma)
{
	const unsigned long all = VM_SHARED | VM_READ | VM_WRITE;

	if ((vma->vm_flags & all) != all || vma->vm_pgoff ||
	    vma->vm_end - vma->vm_start != buffer->size)
		return -EINVAL;
	/* Once: programs know where it is. */
	if (cmpxchg(&buffer->mapped, 0, 1))
		return -EBUSY;
	cosy_vm_flags_set(vma, VM_DONTEXPAND);
	refcount_inc(&buffer->references);
	vma->vm_private_data = buffer;
	vma->vm_ops = &buffer_vm_ops;
	buffer->user_base = vma->vm_start;
	/* Pairs with cosy_buffer_usable. */
	smp_store_release(&buffer->live, true);
	return 0;
}
