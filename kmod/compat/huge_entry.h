/* SPDX-License-Identifier: GPL-2.0 */
/* huge_entry.h - page-table entries of 2 MB, whose pages nobody can pin. */
#ifndef COSY_HUGE_ENTRY_H
#define COSY_HUGE_ENTRY_H

#include <linux/huge_mm.h>
#include <linux/mm.h>
#ifdef COSY_HAVE_PFN_T
#include <linux/pfn_t.h>
#endif

/* The size argument of a huge fault: an enum before 6.6, the order from then on. */
#ifdef COSY_HAVE_FAULT_ORDER
typedef unsigned int cosy_fault_size;
#define COSY_FAULT_PMD (PMD_SHIFT - PAGE_SHIFT)
#else
typedef enum page_entry_size cosy_fault_size;
#define COSY_FAULT_PMD PE_SIZE_PMD
#endif

/* Returns whether a huge page may be mapped over the entry: there is none, or one of 2 MB. */
static inline bool cosy_entry_takes_huge(const pmd_t *entry)
{
	pmd_t now = READ_ONCE(*entry);

#ifdef COSY_HAVE_PFN_T
	return pmd_none(now) || pmd_trans_huge(now) || pmd_devmap(now);
#else
	return pmd_none(now) || pmd_trans_huge(now);
#endif
}

/*
 * Maps the pages at the fault's 2 MB, or lets a present entry of the same pages write.
 *
 * Nobody pins pages through the entry.  From 6.12 on it is special.  Before, it is one of a
 * device's memory: the kernel looks for the device's page map, finds none, and pins nothing.
 */
static inline vm_fault_t cosy_entry_insert_huge(struct vm_fault *vmf, const struct page *pages,
						bool write)
{
#ifndef COSY_HAVE_PFN_T
	return vmf_insert_pfn_pmd(vmf, page_to_pfn(pages), write);
#elif defined(CONFIG_ARCH_SUPPORTS_PMD_PFNMAP)
	return vmf_insert_pfn_pmd(vmf, pfn_to_pfn_t(page_to_pfn(pages)), write);
#else
	return vmf_insert_pfn_pmd(vmf, __pfn_to_pfn_t(page_to_pfn(pages), PFN_DEV | PFN_MAP),
				  write);
#endif
}

#endif /* COSY_HUGE_ENTRY_H */
