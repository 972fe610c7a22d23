/* SPDX-License-Identifier: GPL-2.0 */
/*
 * view.h - ranges of the shared buffer whose bytes are still in page-cache folios
 * (docs/inside/views.md; FSL-02-01 section 2.5).
 *
 * A view lies wholly inside the shared buffer, so writing it back is a copy into the kernel's
 * mapping and cannot fail, whatever happens to the user's mapping, the file or its descriptor.
 * Views never overlap.  They belong to one RUN, so to one task.
 */
#ifndef COSY_VIEW_H
#define COSY_VIEW_H

#include <linux/mm.h>
#include <linux/nospec.h>
#include "fast/guard.h"

struct address_space;
struct bio_vec;
struct cosy_place;

#define COSY_VIEW_PAGES	 32
#define COSY_VIEW_STORES 4

/* Bytes that a compound has stored over a view, kept beside it. */
struct cosy_store {
	u64 bytes;	  /* little-endian; first, so that whole words can be read */
	u32 offset, size; /* within the view; 1, 2, 4 or 8 */
};

struct cosy_page_view {
	u32 offset, length; /* in the shared buffer, in bytes */
	u32 skew;	    /* of the first byte in the first page */
	u32 pages, stores;
	struct address_space *mapping;		   /* only compared: it may be gone */
	loff_t position;			   /* of the first byte in the file */
	u64 born;				   /* views made before */
	struct cosy_store store[COSY_VIEW_STORES]; /* do not overlap */
	u8 *page[COSY_VIEW_PAGES];		   /* by the kernel's mapping of all memory ... */
	struct folio *folio[COSY_VIEW_PAGES];	   /* ... and the folio of each: a reference each */
};

/* Views of a RUN, at most: four that are held and one that is being made. */
#define COSY_VIEWS 5

struct cosy_views {
	unsigned long active; /* a bit for each that is a view now; 0 without COSY_HELD_VIEWS */
	u64 born;
	u32 newest; /* index of the newest in view[]; that may have ended */
	struct cosy_page_view view[COSY_VIEWS];
};

/* --- Making and ending (view.c) ------------------------------------------------------ */

/* Gets the memory for the views of a RUN that has none yet.  NULL: there is none. */
struct cosy_views *cosy_views_get(struct cosy_activation *run);

/* Writes back the oldest view, when there are COSY_VIEWS.  Returns its entry, now free. */
struct cosy_page_view *cosy_views_write_back_oldest(struct cosy_activation *run);

/* Copies the bytes [within, within + length) of a view to their place in the shared buffer. */
void cosy_view_copy_out(const struct cosy_activation *run, const struct cosy_page_view *view,
			u32 within, u32 length);

/* Drops the folios of an entry that is no view, or none any more. */
static __always_inline void cosy_view_put(struct cosy_page_view *view)
{
	u32 i, pages = view->pages;

	for (i = 0; i < pages; i++)
		folio_put(view->folio[i]);
	view->pages = 0;
}

/* Gives the memory back at the end of a RUN, when nothing is held any more. */
void cosy_views_free(struct cosy_activation *run);

/* Writes back all views, for cosy_held_drop. */
void cosy_views_write_back(struct cosy_activation *run);

/* Writes back the views that overlap `length` bytes from the user's `address` on. */
void cosy_views_write_back_memory(struct cosy_activation *run, u64 address, u64 length);

/*
 * Ends views of memory whose contents nobody needs any more: discarded memory, and the frame of a
 * function that returns.  Written back later, views of such a frame would overwrite what the next
 * function has there.
 */
void cosy_views_end_memory(struct cosy_activation *run, u64 address, u64 length);

/*
 * Called before `length` bytes from the user's `address` on are written to `mapping`, at
 * `position`, or anywhere if that is -1.  A later write must not change what was read before, so
 * views of bytes that it changes are written back.  But a view that is written to its own place is
 * not, and then sets `*same`.  Returns the view that has all the bytes that are written, or NULL.
 */
const struct cosy_page_view *cosy_views_write_back_file(struct cosy_activation *run,
							const struct address_space *mapping,
							loff_t position, u64 address, u64 length,
							bool *same);

/* --- Reading by way of a view (view.c) ------------------------------------------------ */

static inline bool cosy_has_views(const struct cosy_activation *run)
{
	return run->held & COSY_HELD_VIEWS;
}

/*
 * Corrects `place`, which is `offset` bytes into the shared buffer, for views.  Where a view has
 * the byte, `place` becomes the page that holds it; elsewhere its extent ends at the next views.
 */
void cosy_view_place(const struct cosy_activation *run, u32 offset, struct cosy_place *place);

/* Returns the view that has all of `length` (1 up) bytes from `address` on, or NULL. */
struct cosy_page_view *cosy_view_find(const struct cosy_activation *run, u64 address, u64 length);

/* Keeps a store of view_store beside its view.  False: it is to be an ordinary store. */
bool cosy_view_keep(struct cosy_activation *run, u64 address, u64 value, u32 size);

/* Maximum number of pieces that a range of a view consists of. */
#define COSY_VIEW_PIECES (COSY_VIEW_PAGES + 2 * COSY_VIEW_STORES)

/*
 * Fills in `length` bytes of the view, from byte `within` on, as pieces of pages and of kept
 * stores.  Returns how many pieces; they live as long as the view.
 */
u32 cosy_view_pieces(const struct cosy_page_view *view, u32 within, u32 length,
		     struct bio_vec *ret);

/* --- Calls ----------------------------------------------------------------------------- */

/* Flags of send(2) that mean the same for pages of a view as for a copy of its bytes. */
#define COSY_VIEW_SEND_FLAGS (MSG_DONTWAIT | MSG_NOSIGNAL | MSG_MORE)

/*
 * Make read(2) and pread(2) without the copy (view_read.c).  COSY_ORDINARY: nothing is done.
 * run->status may be set, see cosy_call_result.
 */
s64 cosy_view_read(struct cosy_activation *run, u64 fd, u64 address, u64 count);
s64 cosy_view_pread(struct cosy_activation *run, u64 fd, u64 address, u64 count, u64 position);

#endif /* COSY_VIEW_H */
