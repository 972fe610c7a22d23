// SPDX-License-Identifier: GPL-2.0
/* entries.c - the page-table entries of an arena's pages: see arena.h for the invariant. */
#include <linux/mm.h>
#include "compat/compat.h"
#include "move/arena.h"
#include "move/huge.h"
#include "move/slots.h"

/*
 * Returns the entry that refers to the table for an address; NULL: there is no table yet.  The
 * mapping is locked, so a table of special entries that is there stays: with VM_PFNMAP none is ever
 * collapsed, nor freed by MADV_DONTNEED, as those of counted entries may be from Linux 6.14 on.
 */
static pmd_t *table_find(struct mm_struct *mm, unsigned long address)
{
	pgd_t *pgd = pgd_offset(mm, address);
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;

	if (pgd_none(*pgd) || pgd_bad(*pgd))
		return NULL;
	p4d = p4d_offset(pgd, address);
	if (p4d_none(*p4d) || p4d_bad(*p4d))
		return NULL;
	pud = pud_offset(p4d, address);
	if (pud_none(*pud) || pud_bad(*pud))
		return NULL;
	pmd = pmd_offset(pud, address);
	return pmd_none(*pmd) || pmd_bad(*pmd) ? NULL : pmd;
}

/* Fewest entries for which entries_thin costs less than it saves. */
#define MIN_THINNED 4UL

/*
 * Removes special entries of one table, except for the first entry and the last.  The kernel is to
 * remove those, and flushes all processors from one to the other then: it looks at a table faster
 * that is nearly empty.
 */
static void entries_thin(struct mm_struct *mm, unsigned long address, unsigned long count)
{
	pmd_t *pmd = table_find(mm, address);
	pte_t *pte, *last;
	spinlock_t *lock;

	if (!pmd)
		return;
	lock = pte_lockptr(mm, pmd);
	pte = pte_offset_kernel(pmd, address);
	last = pte + count - 1;
	spin_lock(lock);
	for (; pte < last && !pte_present(*pte); pte++)
		address += PAGE_SIZE;
	while (pte < last && !pte_present(*last))
		last--;
	while (++pte < last) {
		address += PAGE_SIZE;
		if (pte_present(*pte) && pte_special(*pte))
			ptep_get_and_clear(mm, address, pte);
	}
	spin_unlock(lock);
}

/*
 * Removes the entries of slots [from, to) and flushes them.  Nobody makes one meanwhile, since the
 * arena's lock is held.  Nor does anybody remove a special one: whatever does so without the lock
 * for writing (MADV_DONTNEED, reclaim, a dying process's memory) passes VM_PFNMAP over.
 */
static void entries_remove(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	unsigned long address = cosy_slot_address(s, from), end = cosy_slot_address(s, to), next;
	bool thins = !s->arena->pinnable && to - from >= MIN_THINNED;

	for (; thins && address < end; address = next) {
		next = min(end, (address | ~PMD_MASK) + 1);
		entries_thin(s->vma->vm_mm, address, (next - address) >> PAGE_SHIFT);
	}
	cosy_zap_vma(s->vma, cosy_slot_address(s, from), (to - from) << PAGE_SHIFT);
}

void cosy_slots_unmap_pages(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	cosy_slot_t *slot = s->arena->slots + s->i;

	/* The slots at either end may have no entry. */
	while (from < to && !(slot[from] & COSY_SLOT_MAPPED))
		from++;
	while (from < to && !(slot[to - 1] & COSY_SLOT_MAPPED))
		to--;
	if (from == to)
		return;
	entries_remove(s, from, to);
	for (; from < to; from++)
		slot[from] &= ~COSY_SLOT_MAPPED;
}

void cosy_slots_unmap(const struct cosy_slots *s, unsigned long count)
{
	unsigned long from = count, to = 0;
	struct cosy_piece p = {};

	if (cosy_huge_is_open(s, 0, count)) {
		cosy_slots_unmap_pages(s, 0, count);
		return;
	}
	while (cosy_piece_next(s->arena, s->i, count, &p)) {
		if (!p.word || *p.word == COSY_HUGE_PAGES) {
			cosy_slots_unmap_pages(s, p.from, p.to);
		} else if (*p.word & COSY_HUGE_MAPPED) {
			*p.word &= ~COSY_HUGE_MAPPED;
			from = min(from, p.from);
			to = p.to;
		}
	}
	if (to)
		cosy_zap_vma(s->vma, cosy_slot_address(s, from), (to - from) << PAGE_SHIFT);
}

void cosy_slots_write_protect(const struct cosy_slots *s, unsigned long count)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long k, from = count, to = 0;

	for (k = 0; k < count; k++) {
		if (!(slot[k] & COSY_SLOT_MAPPED) || slot[k] & COSY_SLOT_SHARED ||
		    cosy_slot_is_frozen(slot[k]))
			continue;
		from = min(from, k);
		to = k + 1;
	}
	if (to)
		cosy_slots_unmap_pages(s, from, to);
}

void cosy_slots_uncount(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	const cosy_slot_t *slot = s->arena->slots + s->i;

	if (!s->arena->pinnable)
		return;
	while (from < to && !(slot[from] & COSY_SLOT_MAPPED && cosy_slot_is_frozen(slot[from])))
		from++;
	while (from < to && !(slot[to - 1] & COSY_SLOT_MAPPED && cosy_slot_is_frozen(slot[to - 1])))
		to--;
	cosy_slots_unmap_pages(s, from, to);
}

struct mapping_run {
	struct mm_struct *mm;
	cosy_slot_t *slot;	   /* of the slot to map next */
	pgprot_t frozen, writable; /* of entries of pages that are frozen, and that are not */
};

/* Makes a special entry, as no other function does.  The page table's lock is held, too. */
static __always_inline int slot_map(pte_t *pte, unsigned long address, void *data)
{
	struct mapping_run *run = data;
	cosy_slot_t slot = *run->slot;
	pte_t entry = pfn_pte(page_to_pfn(cosy_slot_page(slot)),
			      cosy_slot_is_frozen(slot) ? run->frozen : run->writable);

	/* An entry may only be replaced by one of the same page, with more rights. */
	if (WARN_ON_ONCE(pte_present(*pte) &&
			 (pte_pfn(*pte) != pte_pfn(entry) || pte_write(*pte) > pte_write(entry))))
		return -EIO;
	*run->slot++ = slot | COSY_SLOT_MAPPED;
	set_pte_at(run->mm, address, pte, entry);
	return 0;
}

/* The same, to be called. */
static int slot_map_by(pte_t *pte, unsigned long address, void *data)
{
	return slot_map(pte, address, data);
}

/* Maps slots that one table has entries for.  -EAGAIN: there is none, and nothing was done. */
static int slots_map_in_table(struct mapping_run *run, unsigned long address, unsigned long count)
{
	pmd_t *pmd = table_find(run->mm, address);
	spinlock_t *lock;
	int error = 0;
	pte_t *pte;

	if (!pmd)
		return -EAGAIN;
	lock = pte_lockptr(run->mm, pmd);
	pte = pte_offset_kernel(pmd, address);
	spin_lock(lock);
	for (; count-- && !error; address += PAGE_SIZE)
		error = slot_map(pte++, address, run);
	spin_unlock(lock);
	return error;
}

/* --- Counted entries --------------------------------------------------------------------- */

/* Slots whose entries are made in one go. */
#define INSERT_SLOTS 16UL

/*
 * Makes a counted entry writable if its page is not frozen, where the kernel has not removed it
 * again.  What it has put there instead, such as a marker of userfaultfd's, goes, so that the next
 * access faults as any other.
 */
static int slot_widen(pte_t *pte, unsigned long address, void *data)
{
	struct mapping_run *run = data;
	cosy_slot_t slot = *run->slot++;
	struct page *page = cosy_slot_page(slot);

	if (pte_none(*pte))
		return 0;
	if (!pte_present(*pte)) {
		pte_clear(run->mm, address, pte);
		return 0;
	}
	if (WARN_ON_ONCE(pte_pfn(*pte) != page_to_pfn(page)))
		return -EIO;
	if (!cosy_slot_is_frozen(slot))
		set_pte_at(run->mm, address, pte, pfn_pte(page_to_pfn(page), run->writable));
	return 0;
}

/*
 * Makes counted entries, as no other function does: the mapping's own protection has no right to
 * write, since there are handlers of such faults.  1: some had one already.
 */
static int slots_insert(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	cosy_slot_t *slot = s->arena->slots + s->i;
	unsigned long count, left, k;
	struct page *pages[INSERT_SLOTS] __cosy_uninitialized;
	int had = 0, error;

	if (WARN_ON_ONCE(pgprot_val(s->vma->vm_page_prot) & _PAGE_RW))
		return -EIO;
	for (; from < to; from += count - left) {
		count = min(to - from, INSERT_SLOTS);
		for (k = 0; k < count; k++) {
			slot[from + k] |= COSY_SLOT_MAPPED;
			pages[k] = cosy_slot_page(slot[from + k]);
		}
		left = count;
		error = vm_insert_pages(s->vma, cosy_slot_address(s, from), pages, &left);
		/* -EFAULT: there is no memory for a table. */
		if (error && error != -EBUSY)
			return error == -EFAULT ? -ENOMEM : error;
		if (error) {
			left--;
			had = 1;
		}
	}
	return had;
}

static int slots_map_counted(const struct cosy_slots *s, unsigned long from, unsigned long to,
			     struct mapping_run *run)
{
	int ret = slots_insert(s, from, to);

	if (ret < 0 || !(ret || s->vma->vm_flags & VM_WRITE))
		return ret;
	return apply_to_page_range(run->mm, cosy_slot_address(s, from), (to - from) << PAGE_SHIFT,
				   slot_widen, run);
}

int cosy_slots_map(const struct cosy_slots *s, unsigned long from, unsigned long to)
{
	unsigned long flags = s->vma->vm_flags;
	pgprot_t protection = vm_get_page_prot(flags & ~VM_WRITE);
	pte_t like = native_make_pte(pgprot_val(protection));
	pte_t read = s->arena->pinnable ? like : pte_mkspecial(like);
	pte_t write = flags & VM_WRITE ? pte_mkdirty(pte_set_flags(read, _PAGE_RW)) : read;
	struct mapping_run run = {
		.mm = s->vma->vm_mm,
		.slot = s->arena->slots + s->i + from,
		.frozen = __pgprot(native_pte_val(read)),
		.writable = __pgprot(native_pte_val(write)),
	};
	unsigned long count;
	int error = 0;

	if (s->arena->pinnable)
		return slots_map_counted(s, from, to, &run);
	for (; from < to && !error; from += count) {
		unsigned long address = cosy_slot_address(s, from);

		count = min(to - from, (PMD_SIZE - (address & ~PMD_MASK)) >> PAGE_SHIFT);
		error = slots_map_in_table(&run, address, count);
		if (error == -EAGAIN)
			error = apply_to_page_range(run.mm, address, count << PAGE_SHIFT,
						    slot_map_by, &run);
	}
	return error;
}
