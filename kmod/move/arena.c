// SPDX-License-Identifier: GPL-2.0
/* arena.c - arenas, their mappings and faults: see arena.h for the invariant. */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "compat/huge_entry.h"
#include "move/arena.h"
#include "move/huge.h"
#include "move/slots.h"
#include "stats.h"

/*
 * Maximum number of slots that one fault maps: the first of consecutive faults, and any fault.  All
 * slots but the first are mapped only if they need no page.
 */
#define FAULT_SLOTS	16UL
#define MAX_FAULT_SLOTS 128UL

/* Slots that are counted while others wait for the arena. */
#define COUNT_SLOTS 1024UL

/* The arenas that are in use; one that is being freed leaves first. */
static COSY_CENSUS(arenas);

/* --- Arenas ------------------------------------------------------------------------------ */

/* Allocates an arena; never NULL with __GFP_NOFAIL. */
static struct cosy_arena *arena_alloc(struct mm_struct *mm, unsigned long first,
				      unsigned long count, bool pinnable, gfp_t flags)
{
	struct cosy_arena *arena = kzalloc(sizeof(*arena), GFP_KERNEL_ACCOUNT | flags);

	if (!arena)
		return NULL;
	arena->slots =
		kvcalloc(count, sizeof(*arena->slots), GFP_KERNEL_ACCOUNT | __GFP_NOWARN | flags);
	if (!arena->slots) {
		kfree(arena);
		return NULL;
	}
	arena->first = first;
	arena->count = count;
	arena->pinnable = pinnable;
	if (cosy_huge_words(arena, __GFP_NOWARN | flags)) {
		kvfree(arena->slots);
		kfree(arena);
		return NULL;
	}
	kref_init(&arena->references);
	RB_CLEAR_NODE(&arena->counted.node);
	mutex_init(&arena->lock);
	mmgrab(mm);
	arena->mm = mm;
	cosy_stats_live(COSY_LIVE_ARENAS, 1);
	return arena;
}

/* Frees an arena.  No mapping is left, so no entry is, and no processor has a translation. */
static void arena_free(struct kref *references)
{
	struct cosy_arena *arena = container_of(references, struct cosy_arena, references);
	struct cosy_piece p = {};
	unsigned long i;

	cosy_census_leave(&arenas, &arena->counted);
	while (cosy_piece_next(arena, 0, arena->count, &p)) {
		if (p.word && *p.word != COSY_HUGE_PAGES) {
			cosy_huge_drop(p.word);
			continue;
		}
		for (i = p.from; i < p.to; i++) {
			cosy_slot_put(arena->slots[i]);
			if (!(i & 1023))
				cond_resched();
		}
	}
	cosy_locked_uncharge(&arena->locked);
	mmdrop(arena->mm);
	kvfree(arena->huge);
	kvfree(arena->slots);
	kfree(arena);
	cosy_stats_live(COSY_LIVE_ARENAS, -1);
}

static void arena_put(struct cosy_arena *arena)
{
	if (arena)
		kref_put(&arena->references, arena_free);
}

/* --- Counting ---------------------------------------------------------------------------- */

/* Returns the arena that is to be counted next, a reference; NULL: none is left. */
static struct cosy_arena *arena_next(struct cosy_count *count)
{
	struct cosy_arena *arena = NULL;
	struct cosy_counted *entry;

	spin_lock(&arenas.lock);
	while (!arena && (entry = cosy_census_find(&arenas, count))) {
		arena = container_of(entry, struct cosy_arena, counted);
		if (!kref_get_unless_zero(&arena->references)) {
			arena = NULL;
			count->serial++;
		}
	}
	spin_unlock(&arenas.lock);
	return arena;
}

/* Counts an arena, or so much of it as may be looked at now. */
static int arena_count(struct cosy_arena *arena, struct cosy_count *count)
{
	unsigned long end;

	if (!count->slot) {
		count->sum->arenas++;
		count->sum->arena_pages += arena->count;
	}
	for (; count->slot < arena->count && count->left; count->slot = end) {
		/* Up to a multiple of 2 MB, so that none is divided. */
		end = count->slot + COUNT_SLOTS;
		end -= (arena->first + end) % COSY_HUGE_SLOTS;
		end = min(end, arena->count);
		if (mutex_lock_killable(&arena->lock))
			return -EINTR;
		cosy_slots_count(arena, count->slot, end - count->slot, count->sum);
		mutex_unlock(&arena->lock);
		count->left--;
		cond_resched();
	}
	return 0;
}

int cosy_arenas_count(struct cosy_count *count)
{
	struct cosy_arena *arena;
	int ret = 0;

	while (!ret && count->left) {
		arena = arena_next(count);
		if (!arena)
			return 0;
		ret = arena_count(arena, count);
		if (!ret && count->slot >= arena->count)
			cosy_count_pass(count, &arena->counted);
		arena_put(arena);
	}
	return ret ? ret : 1;
}

/* --- The mapping ----------------------------------------------------------------------------- */

/* Finds the slots of a mapping from `address` on. */
static void arena_slots(struct vm_area_struct *vma, unsigned long address, struct cosy_slots *ret)
{
	struct cosy_arena *arena = vma->vm_private_data;

	ret->arena = arena;
	ret->vma = vma;
	ret->address = address;
	ret->i = vma->vm_pgoff - arena->first + ((address - vma->vm_start) >> PAGE_SHIFT);
	ret->count = (vma->vm_end - address) >> PAGE_SHIFT;
	ret->held = NULL;
}

/*
 * Returns how many slots to map for a fault at the first one: twice as many as for the fault before
 * if it comes right after those.
 */
static unsigned long arena_fault_slots(const struct cosy_slots *s, bool write)
{
	struct cosy_ahead *ahead = &s->arena->ahead[write];

	if (s->i != ahead->next)
		ahead->count = 0;
	ahead->count = clamp(2 * ahead->count, FAULT_SLOTS, MAX_FAULT_SLOTS);
	ahead->next = s->i + ahead->count;
	return ahead->count;
}

static vm_fault_t arena_fault_at(struct vm_fault *vmf, bool write, const struct page *held)
{
	struct cosy_slots s;
	vm_fault_t ret;

	/* The mapping has no arena when arena_fork did not find the parent's, and warned. */
	if (!vmf->vma->vm_private_data)
		return VM_FAULT_SIGBUS;
	arena_slots(vmf->vma, vmf->address & PAGE_MASK, &s);
	s.held = held;
	cosy_slots_lock(&s);
	s.count = min(s.count, arena_fault_slots(&s, write));
	if (!cosy_huge_is_open(&s, 0, 1)) {
		ret = cosy_huge_fault(&s, vmf, write);
		if (ret != VM_FAULT_FALLBACK)
			goto out;
		cosy_huge_open_words(&s, 0, 1);
	}
	ret = cosy_slots_fault(&s, write);
out:
	cosy_slots_unlock(&s);
	return ret;
}

static vm_fault_t arena_fault(struct vm_fault *vmf)
{
	return arena_fault_at(vmf, vmf->flags & FAULT_FLAG_WRITE, NULL);
}

/*
 * Handles a write by an entry that may not: the page is frozen, or was, or mprotect forbade it for
 * a time.  The kernel refers to the page of a counted entry meanwhile.
 */
static vm_fault_t arena_write_fault(struct vm_fault *vmf)
{
	return arena_fault_at(vmf, true, vmf->page);
}

/* Handles a fault where there is no page table yet, or a write by an entry of 2 MB. */
static vm_fault_t arena_huge_fault(struct vm_fault *vmf, cosy_fault_size size)
{
	struct cosy_slots s;
	vm_fault_t ret;

	if (!vmf->vma->vm_private_data || size != COSY_FAULT_PMD)
		return VM_FAULT_FALLBACK;
	arena_slots(vmf->vma, vmf->address & PAGE_MASK, &s);
	cosy_slots_lock(&s);
	ret = cosy_huge_fault(&s, vmf, vmf->flags & FAULT_FLAG_WRITE);
	cosy_slots_unlock(&s);
	return ret;
}

/* Maps nothing around a fault.  That this operation exists lets faults do without the mmap lock. */
static vm_fault_t arena_map_pages(struct vm_fault *vmf, pgoff_t start, pgoff_t end)
{
	return 0;
}

/*
 * Gives the child of a fork a copy on write.  The parent's mmap lock is held for writing, and the
 * child does not run yet.  Entries that the child has already (before Linux 6.9) go first, whether
 * there is memory or not.
 */
static void arena_fork(struct vm_area_struct *vma, struct cosy_arena *arena)
{
	struct vm_area_struct *mapping = find_vma(arena->mm, vma->vm_start);
	unsigned long count = vma_pages(vma);
	struct cosy_arena *child;
	struct cosy_slots s;

	vma->vm_private_data = NULL;
	cosy_zap_vma(vma, vma->vm_start, count << PAGE_SHIFT);
	if (WARN_ON_ONCE(!mapping || mapping->vm_start != vma->vm_start ||
			 mapping->vm_private_data != arena))
		return;
	arena_slots(mapping, mapping->vm_start, &s);
	/* A fork cannot be made to fail here: see buffer_copy in load/buffer.c. */
	child = arena_alloc(vma->vm_mm, vma->vm_pgoff, count, arena->pinnable, __GFP_NOFAIL);
	cosy_slots_lock(&s);
	cosy_slots_fork(&s, child);
	cosy_slots_unlock(&s);
	/*
	 * The program's own data are in the arena, so it may not be refused: see
	 * cosy_buffer_create.
	 */
	cosy_locked_charge_anyhow(&child->locked, count);
	child->shares = arena->shares;
	child->mapped = true;
	vma->vm_private_data = child;
	cosy_census_enter(&arenas, &child->counted);
}

/* Follows the copying of a mapping by fork, a split or mremap. */
static void arena_open(struct vm_area_struct *vma)
{
	struct cosy_arena *arena = vma->vm_private_data;

	if (!arena)
		return;
	if (vma->vm_mm == arena->mm)
		kref_get(&arena->references);
	else
		arena_fork(vma, arena);
}

static void arena_close(struct vm_area_struct *vma)
{
	arena_put(vma->vm_private_data);
}

static void page_access(struct page *page, unsigned long offset, void *buffer, int length,
			int write)
{
	char *bytes = kmap_local_page(page);

	if (write)
		memcpy(bytes + offset, buffer, length);
	else
		memcpy(buffer, bytes + offset, length);
	kunmap_local(bytes);
}

/*
 * Copies bytes within one page for debuggers; the mmap lock is held.  Returns how many, or an
 * error.
 */
static int arena_access(struct vm_area_struct *vma, unsigned long address, void *buffer, int length,
			int write)
{
	unsigned long offset = offset_in_page(address);
	struct cosy_slots s;
	struct page *page;

	if (!vma->vm_private_data || !(vma->vm_flags & (write ? VM_WRITE : VM_READ)))
		return -EFAULT;
	length = min_t(unsigned long, length, PAGE_SIZE - offset);
	arena_slots(vma, address & PAGE_MASK, &s);
	cosy_slots_lock(&s);
	page = cosy_slots_page(&s);
	if (write)
		page = cosy_slot_own(&s);
	if (IS_ERR(page))
		length = -EFAULT;
	else if (page)
		page_access(page, offset, buffer, length, write);
	else
		memset(buffer, 0, length);
	cosy_slots_unlock(&s);
	return length;
}

static const struct vm_operations_struct arena_vm_ops = {
	.open = arena_open,
	.close = arena_close,
	.fault = arena_fault,
	.huge_fault = arena_huge_fault,
	.pfn_mkwrite = arena_write_fault,
	.page_mkwrite = arena_write_fault,
	.map_pages = arena_map_pages,
	.access = arena_access,
};

/*
 * VM_PFNMAP keeps others from pinning the pages; VM_MIXEDMAP lets them where entries are counted.
 * VM_DONTEXPAND keeps mremap from making a second mapping, and like both of them the kernel from
 * merging mappings.
 */
static int arena_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct cosy_arena *arena = file->private_data;

	if (vma->vm_mm != arena->mm)
		return -EXDEV;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC || vma->vm_pgoff ||
	    vma_pages(vma) != arena->count)
		return -EINVAL;
	if (cmpxchg(&arena->mapped, false, true))
		return -EBUSY;
	cosy_vm_flags_set(vma, (arena->pinnable ? VM_MIXEDMAP : VM_PFNMAP) | VM_DONTEXPAND |
				       VM_DONTDUMP);
	cosy_vm_flags_clear(vma, VM_MAYEXEC);
	kref_get(&arena->references);
	vma->vm_private_data = arena;
	vma->vm_ops = &arena_vm_ops;
	return 0;
}

static int arena_release(struct inode *inode, struct file *file)
{
	arena_put(file->private_data);
	return 0;
}

static const struct file_operations arena_fops = {
	.owner = THIS_MODULE,
	.mmap = arena_mmap,
	.get_unmapped_area = thp_get_unmapped_area,
	.release = arena_release,
	.llseek = noop_llseek,
};

long cosy_arena_create(u64 size, u32 flags)
{
	bool pinnable = flags & COSY_ARENA_PINNABLE;
	unsigned long count = size >> PAGE_SHIFT;
	struct cosy_arena *arena;
	long fd;

	if (flags & ~COSY_ARENA_PINNABLE || !size || size & ~PAGE_MASK || size > COSY_MAX_ARENA ||
	    !current->mm)
		return -EINVAL;
	if (pinnable && !COSY_ZAPS_COUNTED)
		return -EOPNOTSUPP;
	arena = arena_alloc(current->mm, 0, count, pinnable, 0);
	if (!arena)
		return -ENOMEM;
	fd = cosy_locked_charge(&arena->locked, count);
	if (!fd) {
		cosy_census_enter(&arenas, &arena->counted);
		fd = anon_inode_getfd("[cosy arena]", &arena_fops, arena, O_RDWR | O_CLOEXEC);
	}
	if (fd < 0)
		arena_put(arena);
	return fd;
}

static __always_inline int slots_find(u64 address, unsigned long count, unsigned long flags,
				      struct cosy_slots *ret)
{
	struct vm_area_struct *vma = vma_lookup(current->mm, address);

	if (!vma || vma->vm_ops != &arena_vm_ops || !vma->vm_private_data)
		return -EFAULT;
	/* A protection key may forbid the thread what the mapping allows. */
	if ((vma->vm_flags & flags) != flags || cosy_vm_pkey(vma->vm_flags))
		return -EFAULT;
	arena_slots(vma, address & PAGE_MASK, ret);
	ret->count = min(ret->count, count);
	return 0;
}

int cosy_slots_find(u64 address, unsigned long count, unsigned long flags, struct cosy_slots *ret)
{
	return slots_find(address, count, flags, ret);
}

static __always_inline int slots_begin(u64 address, unsigned long count, unsigned long flags,
				       struct cosy_slots *ret, bool all)
{
	int error;

	if (mmap_read_lock_killable(current->mm))
		return -EINTR;
	error = slots_find(address, count, flags, ret);
	if (!error && all && ret->count < count)
		error = -EFAULT;
	if (!error && mutex_lock_killable(&ret->arena->lock))
		error = -EINTR;
	if (error)
		mmap_read_unlock(current->mm);
	return error;
}

int cosy_slots_begin(u64 address, unsigned long count, unsigned long flags, struct cosy_slots *ret)
{
	return slots_begin(address, count, flags, ret, false);
}

int cosy_slots_begin_all(u64 address, unsigned long count, unsigned long flags,
			 struct cosy_slots *ret)
{
	return slots_begin(address, count, flags, ret, true);
}

void cosy_slots_end(const struct cosy_slots *s)
{
	cosy_slots_unlock(s);
	mmap_read_unlock(current->mm);
}

u64 cosy_arena_extent(u64 address, u64 length)
{
	u64 covered = 0;
	struct cosy_slots s;

	if (mmap_read_lock_killable(current->mm))
		return 0;
	while (covered < length &&
	       !cosy_slots_find(address + covered, DIV_ROUND_UP(length - covered, PAGE_SIZE),
				VM_READ, &s))
		covered += s.count << PAGE_SHIFT;
	mmap_read_unlock(current->mm);
	return covered;
}

const u8 *cosy_arena_look(u64 address, struct cosy_slots *ret)
{
	struct page *page;

	if (cosy_slots_begin(address, 1, VM_READ, ret))
		return NULL;
	page = cosy_slots_page(ret);
	if (page)
		return (const u8 *)page_address(page) + offset_in_page(address);
	cosy_slots_end(ret);
	return NULL;
}
