// SPDX-License-Identifier: GPL-2.0
/*
 * buffer.c - the shared buffer.
 *
 * Its pages are ordinary and reference-counted, so direct I/O works on them and none is freed while
 * in use.  Faults fill the user's page tables, not mmap, so fork copies no entries: the child's
 * faults find the child's own copy.
 */
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "load/buffer.h"

static unsigned long page_count_of(const struct cosy_buffer *buffer)
{
	return buffer->size >> PAGE_SHIFT;
}

/* --- Pages ---------------------------------------------------------------------- */

/* Pages are allocated in chunks of this order, which takes fewer calls of the allocator. */
#define CHUNK_ORDER 3

/* Puts a page where there is none yet; false: somebody's fault was faster. */
static bool slot_fill(struct page **slot, struct page *page)
{
	return !cmpxchg(slot, NULL, page);
}

/*
 * Allocates the pages from `i` up to `end` that are not there yet.  False: no memory, or the
 * process is being killed.
 */
static bool pages_allocate(struct cosy_buffer *buffer, unsigned long i, unsigned long end)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO;
	unsigned int order = CHUNK_ORDER;
	unsigned long k;

	while (i < end) {
		struct page *chunk;

		if (READ_ONCE(buffer->pages[i])) {
			i++;
			continue;
		}
		if (end - i < 1 << order)
			order = 0;
		chunk = alloc_pages(order ? gfp | __GFP_NORETRY : gfp, order);
		/* There is no chunk of that order, so allocate the rest page by page. */
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
		for (k = 0; k < 1 << order; k++) {
			if (!slot_fill(&buffer->pages[i + k], chunk + k))
				__free_page(chunk + k);
		}
		i += 1 << order;
		cond_resched();
	}
	return true;
}

/* Drops the pages that are there, after moving them together for release_pages. */
static void pages_release(struct cosy_buffer *buffer)
{
	unsigned long i, count = 0;

	for (i = 0; i < page_count_of(buffer); i++) {
		if (buffer->pages[i])
			buffer->pages[count++] = buffer->pages[i];
	}
	release_pages(buffer->pages, count);
	kvfree(buffer->pages);
}

/* Allocates a buffer without pages, charged to nobody; never NULL with __GFP_NOFAIL. */
static struct cosy_buffer *buffer_alloc(struct mm_struct *mm, u32 size, gfp_t flags)
{
	struct cosy_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT | flags);

	if (!buffer)
		return NULL;
	refcount_set(&buffer->references, 1);
	buffer->size = size;
	buffer->mm = mm;
	mutex_init(&buffer->growing);
	buffer->pages = kvcalloc(page_count_of(buffer), sizeof(*buffer->pages),
				 GFP_KERNEL_ACCOUNT | __GFP_NOWARN | flags);
	if (!buffer->pages) {
		kfree(buffer);
		return NULL;
	}
	return buffer;
}

/* Makes a front.  Called under `growing`, or while nobody else has the buffer. */
static int front_open(struct cosy_buffer *buffer, u32 size)
{
	struct cosy_front *front = &buffer->fronts[buffer->front_cnt];
	const unsigned long count = size >> PAGE_SHIFT;

	if (!pages_allocate(buffer, buffer->front ? buffer->front->size >> PAGE_SHIFT : 0, count))
		return -ENOMEM;
	/* The guard page above the area stops mispredicted reads past the end. */
	front->base = vmap(buffer->pages, count, VM_MAP, PAGE_KERNEL);
	if (!front->base)
		return -ENOMEM;
	front->size = size;
	buffer->front_cnt++;
	/* Pairs with cosy_buffer_front. */
	smp_store_release(&buffer->front, front);
	return 0;
}

static bool size_is_valid(u64 size)
{
	return is_power_of_2(size) && size >= PAGE_SIZE;
}

struct cosy_buffer *cosy_buffer_create(struct mm_struct *mm, u64 size, u64 front)
{
	struct cosy_buffer *buffer;

	if (!size_is_valid(size) || size > COSY_MAX_BUFFER || !size_is_valid(front) || front > size)
		return ERR_PTR(-EINVAL);
	buffer = buffer_alloc(mm, size, 0);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	if (cosy_locked_charge(&buffer->locked, page_count_of(buffer)) ||
	    front_open(buffer, front)) {
		cosy_buffer_put(buffer);
		return ERR_PTR(-ENOMEM);
	}
	return buffer;
}

int cosy_buffer_grow(struct cosy_buffer *buffer, u64 front)
{
	int error;

	if (!size_is_valid(front) || front > buffer->size)
		return -EINVAL;
	if (mutex_lock_killable(&buffer->growing))
		return -EINTR;
	error = front > buffer->front->size ? front_open(buffer, front) : -EBUSY;
	mutex_unlock(&buffer->growing);
	return error;
}

void cosy_buffer_put(struct cosy_buffer *buffer)
{
	if (!refcount_dec_and_test(&buffer->references))
		return;
	while (buffer->front_cnt)
		vunmap(buffer->fronts[--buffer->front_cnt].base);
	pages_release(buffer);
	cosy_locked_uncharge(&buffer->locked);
	kfree(buffer);
}

/* --- A fork's copy ---------------------------------------------------------------- */

/*
 * Makes a fork child's own copy, at the same address.  Pages of zeros are left to buffer_fault,
 * which can wait for memory as any fault does.
 *
 * ->open cannot make a fork fail, and a child without a page would have lost data.  So the fork
 * waits for memory as long as it takes, as the kernel does for any single page, and others are
 * killed to make room.  In a memory cgroup with nobody to kill, the copy goes above the limit.
 * When the parent is killed, the copy ends early, and the fork fails all the same: copy_process
 * looks for a fatal signal afterwards.
 */
static struct cosy_buffer *buffer_copy(struct mm_struct *mm, const struct cosy_buffer *from)
{
	struct cosy_buffer *copy = buffer_alloc(mm, from->size, __GFP_NOFAIL);
	unsigned long i;

	/*
	 * The copy holds the program's own data, so charge it even above the limit.  No new buffer
	 * is created while the user is above it.  So a process never has more than twice the
	 * largest limit that it or one of its ancestors had: its copy, and the buffers of dead
	 * ancestors that inherited descriptors keep.
	 */
	cosy_locked_charge_anyhow(&copy->locked, page_count_of(copy));
	for (i = 0; i < page_count_of(copy) && !fatal_signal_pending(current); i++) {
		struct page *page = READ_ONCE(from->pages[i]);

		if (page && memchr_inv(page_address(page), 0, PAGE_SIZE)) {
			copy->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
			copy_highpage(copy->pages[i], page);
		}
		cond_resched();
	}
	return copy;
}

/* --- The mapping: every operation runs under the mmap lock ---------------------- */

/*
 * Returns the page of zeros that is not there yet.  When several fault there at the same time, the
 * first one provides it.
 */
static struct page *page_of_zeros(struct page **slot)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_ZERO);

	if (page && !slot_fill(slot, page))
		__free_page(page);
	return READ_ONCE(*slot);
}

static vm_fault_t buffer_fault(struct vm_fault *vmf)
{
	struct cosy_buffer *buffer = vmf->vma->vm_private_data;
	struct page *page;

	if (vmf->pgoff >= page_count_of(buffer))
		return VM_FAULT_SIGBUS;
	page = READ_ONCE(buffer->pages[vmf->pgoff]);
	if (!page)
		page = page_of_zeros(&buffer->pages[vmf->pgoff]);
	if (!page)
		return VM_FAULT_OOM;
	vmf->page = page;
	get_page(page);
	return 0;
}

/* Called when fork has copied the mapping, or an mremap that buffer_mremap will refuse. */
static void buffer_open(struct vm_area_struct *vma)
{
	struct cosy_buffer *buffer = vma->vm_private_data;

	if (vma->vm_mm == buffer->mm)
		refcount_inc(&buffer->references);
	else
		vma->vm_private_data = buffer_copy(vma->vm_mm, buffer);
}

static void buffer_close(struct vm_area_struct *vma)
{
	struct cosy_buffer *buffer = vma->vm_private_data;

	if (vma->vm_start == buffer->user_base)
		WRITE_ONCE(buffer->gone, true);
	cosy_buffer_put(buffer);
}

/* Refuses a split: programs are compiled for one address and the whole size. */
static int buffer_may_split(struct vm_area_struct *vma, unsigned long address)
{
	return -EINVAL;
}

static int buffer_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

/*
 * Notes whether programs may run.  They do not see page protections, so while these forbid
 * anything, none may.
 */
static int buffer_mprotect(struct vm_area_struct *vma, unsigned long start, unsigned long end,
			   unsigned long flags)
{
	const unsigned long all = VM_READ | VM_WRITE;
	struct cosy_buffer *buffer = vma->vm_private_data;

	/* The kernel would refuse it only after this. */
	if (cosy_vma_is_sealed(vma))
		return -EPERM;
	if (start == vma->vm_start && end == vma->vm_end)
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
	/* It is mapped once: programs know where it is. */
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
