/* SPDX-License-Identifier: MIT */
/*
 * ranges.h - memory that a memfd shares, or that a donation took, where the module cannot do it.
 *
 * The module knows such things by page.  Here they are ranges of addresses, which no longer apply
 * when the program moves them by mremap.
 */
#ifndef COSY_LIB_MOVE_RANGES_H
#define COSY_LIB_MOVE_RANGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Map a memfd, of which they keep a descriptor, in place of the memory; or make the memory
 * inaccessible.  False with errno set: they could not; where there was no room for one more
 * mapping, the memory is zeros then.
 */
bool libcosy_ranges_share(void *memory, size_t count, int memfd);
bool libcosy_ranges_take_away(void *memory, size_t count);

/*
 * Returns another descriptor of the memfd that shares just this memory; or -1 with errno: ENOENT
 * (no part of it is shared), EOPNOTSUPP (another part than all of one).
 */
int libcosy_ranges_memfd(const void *memory, size_t count);

/*
 * Makes those pages of the memory that are gone ordinary memory, of zeros.  False with ENOMEM:
 * there was no room, and some are still gone.
 */
bool libcosy_ranges_fill(const void *memory, size_t count);

/*
 * The same with whole pages that are shared, too, which the others go on to share.  False with
 * ENOMEM: some are still shared, or gone, so the memory must not be written.
 */
bool libcosy_ranges_replace(const void *memory, size_t count);

/*
 * Does the same, and clears the memory: cosy_flush.  0, or -1 with errno EINVAL: no whole pages, or
 * ENOMEM as above.
 */
int libcosy_ranges_flush(void *memory, size_t count);

/* True if there is room for that; otherwise sets ENOMEM.  The memory stays as it is. */
bool libcosy_ranges_have_room(const void *memory, size_t count);

/* Forgets the memory, which is unmapped. */
void libcosy_ranges_forget(const void *memory, size_t count);

/* For fork. */
bool libcosy_ranges_lock(void);
void libcosy_ranges_unlock(void);
void libcosy_ranges_child(void);

#endif /* COSY_LIB_MOVE_RANGES_H */
