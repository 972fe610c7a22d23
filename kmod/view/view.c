// SPDX-License-Identifier: GPL-2.0
/* view.c - views of a RUN: creates them, writes them back, reads through them. */
#include <linux/bvec.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "context.h"
#include "memory/copy.h"
#include "memory/operations.h"
#include "memory/reach.h"
#include "view/view.h"

/* --- Memory -------------------------------------------------------------------------- */

/* Takes the memory that the context keeps between RUNs, because most RUNs need it only briefly. */
struct cosy_views *cosy_views_get(struct cosy_activation *run)
{
	run->views = xchg(&run->context->spare_views, NULL);
	if (!run->views)
		run->views = kzalloc(sizeof(*run->views), GFP_KERNEL_ACCOUNT);
	return run->views;
}

void cosy_views_free(struct cosy_activation *run)
{
	kfree(xchg(&run->context->spare_views, run->views));
	run->views = NULL;
}

/* --- Making and ending ----------------------------------------------------------------- */

void cosy_view_copy_out(const struct cosy_activation *run, const struct cosy_page_view *view,
			u32 within, u32 length)
{
	u8 *to = run->prog->buffer + view->offset + within;
	struct bio_vec piece[COSY_VIEW_PIECES] __cosy_uninitialized;
	u32 i, count = cosy_view_pieces(view, within, length, piece);

	for (i = 0; i < count; i++) {
		cosy_copy(to, page_address(piece[i].bv_page) + piece[i].bv_offset, piece[i].bv_len);
		to += piece[i].bv_len;
	}
}

/* Ends a view.  The end of the last one clears COSY_HELD_VIEWS. */
static void view_end(struct cosy_activation *run, struct cosy_page_view *view)
{
	struct cosy_views *views = run->views;

	cosy_view_put(view);
	views->active &= ~BIT(view - views->view);
	if (!views->active)
		run->held &= ~COSY_HELD_VIEWS;
}

/* Iterates over the active views.  The body may end the current one. */
#define for_each_view(cursor, left, run)                                                           \
	for (left = cosy_has_views(run) ? (run)->views->active : 0;                                \
	     left && (cursor = &(run)->views->view[__ffs(left)], true); left &= left - 1)

static void view_write_back(struct cosy_activation *run, struct cosy_page_view *view)
{
	cosy_view_copy_out(run, view, 0, view->length);
	view_end(run, view);
}

struct cosy_page_view *cosy_views_write_back_oldest(struct cosy_activation *run)
{
	struct cosy_page_view *view = run->views->view, *oldest = view;
	u32 i;

	for (i = 1; i < COSY_VIEWS; i++) {
		if (view[i].born < oldest->born)
			oldest = &view[i];
	}
	view_write_back(run, oldest);
	return oldest;
}

void cosy_views_write_back(struct cosy_activation *run)
{
	struct cosy_page_view *view;
	unsigned long left;

	for_each_view(view, left, run)
		view_write_back(run, view);
}

void cosy_views_write_back_memory(struct cosy_activation *run, u64 address, u64 length)
{
	u64 from = cosy_buffer_offset(run->prog, address);
	struct cosy_page_view *view;
	unsigned long left;

	for_each_view(view, left, run) {
		/* They overlap if, modulo 2^64, one begins inside the other. */
		if (view->offset - from < length || from - view->offset < view->length)
			view_write_back(run, view);
	}
}

void cosy_views_end_memory(struct cosy_activation *run, u64 address, u64 length)
{
	u64 from = cosy_buffer_offset(run->prog, address);
	struct cosy_page_view *view;
	unsigned long left;

	for_each_view(view, left, run) {
		if (view->offset - from < length && view->length <= length - (view->offset - from))
			view_end(run, view);
	}
	cosy_views_write_back_memory(run, address, length);
}

/* Ends views of the r2 bytes at r1: nobody reads them before they are written again. */
u64 cosy_op_discard(struct cosy_activation *run, u64 *r)
{
	cosy_views_end_memory(run, r[1], r[2]);
	return 0;
}

const struct cosy_page_view *cosy_views_write_back_file(struct cosy_activation *run,
							const struct address_space *mapping,
							loff_t position, u64 address, u64 length,
							bool *same)
{
	u64 within, offset = cosy_buffer_offset(run->prog, address);
	const struct cosy_page_view *source = NULL;
	struct cosy_page_view *view;
	unsigned long left;
	bool all;

	*same = false;
	for_each_view(view, left, run) {
		within = offset - view->offset;
		all = within < view->length && length <= view->length - within;
		if (view->mapping == mapping &&
		    (position < 0 || (u64)(view->position - position) + view->length - 1 <
					     length + view->length - 1)) {
			if (!all || position < 0 || view->position + within != position) {
				view_write_back(run, view);
				continue;
			}
			*same = true;
		}
		if (all)
			source = view;
	}
	return source;
}

/* --- Finding bytes ---------------------------------------------------------------------- */

/*
 * Finds byte `within` of a view.  The caller has tested that the view has it; masks keep the access
 * inside the view if that test was mispredicted.
 */
static __always_inline void view_place_in(const struct cosy_page_view *view, u32 within,
					  struct cosy_place *place)
{
	u32 at, in, i;

	within &= array_index_mask_nospec(within, view->length);
	at = view->skew + within;
	in = offset_in_page(at);
	at >>= PAGE_SHIFT;
	place->at = view->page[at & array_index_mask_nospec(at, view->pages)] + in;
	place->below = min(in, within);
	place->above = min_t(u32, PAGE_SIZE - in, view->length - within);
	for (i = 0; unlikely(i < view->stores); i++) {
		const struct cosy_store *store = &view->store[i];
		u32 into = within - store->offset;

		if (into < store->size) {
			into &= array_index_mask_nospec(into, store->size);
			place->at = (u8 *)&store->bytes + into;
			place->below = into;
			place->above = store->size - into;
			return;
		}
		if (store->offset > within)
			place->above = min_t(u64, place->above, store->offset - within);
		else
			place->below = min_t(u64, place->below, into - store->size);
	}
}

void cosy_view_place(const struct cosy_activation *run, u32 offset, struct cosy_place *place)
{
	const struct cosy_page_view *view;
	unsigned long left;
	u32 within;

	for_each_view(view, left, run) {
		within = offset - view->offset;
		if (within < view->length) {
			view_place_in(view, within, place);
			return;
		}
		if (view->offset > offset)
			place->above = min_t(u64, place->above, view->offset - offset);
		else
			place->below = min_t(u64, place->below, within - view->length);
	}
}

struct cosy_page_view *cosy_view_find(const struct cosy_activation *run, u64 address, u64 length)
{
	u64 within, offset = cosy_buffer_offset(run->prog, address);
	struct cosy_page_view *view;
	unsigned long left;

	for_each_view(view, left, run) {
		within = offset - view->offset;
		if (within < view->length && length <= view->length - within)
			return view;
	}
	return NULL;
}

static __always_inline struct page *view_page(const struct cosy_page_view *view, u32 index)
{
	struct folio *folio = view->folio[index];

	return likely(!folio_test_large(folio)) ? &folio->page : virt_to_page(view->page[index]);
}

/* Does cosy_view_pieces for a view without kept stores, whose pieces are its pages. */
static __always_inline u32 view_pages_in(const struct cosy_page_view *view, u32 within, u32 length,
					 struct bio_vec *ret)
{
	u32 at = view->skew + within, count, now;

	for (count = 0; length; count++) {
		now = min_t(u32, length, PAGE_SIZE - offset_in_page(at));
		ret[count].bv_page =
			view_page(view, array_index_nospec(at >> PAGE_SHIFT, COSY_VIEW_PAGES));
		ret[count].bv_offset = offset_in_page(at);
		ret[count].bv_len = now;
		at += now;
		length -= now;
	}
	return count;
}

u32 cosy_view_pieces(const struct cosy_page_view *view, u32 within, u32 length, struct bio_vec *ret)
{
	struct cosy_place place __cosy_uninitialized;
	u32 now, count = 0;

	if (likely(!view->stores))
		return view_pages_in(view, within, length, ret);

	while (length) {
		view_place_in(view, within, &place);
		now = min_t(u64, length, place.above);
		ret->bv_page = virt_to_page(place.at);
		ret->bv_offset = offset_in_page(place.at);
		ret->bv_len = now;
		ret++;
		count++;
		within += now;
		length -= now;
	}
	return count;
}

bool cosy_view_keep(struct cosy_activation *run, u64 address, u64 value, u32 size)
{
	struct cosy_page_view *view = cosy_view_find(run, address, size);
	u32 i, within;

	if (!view)
		return false;
	within = cosy_buffer_offset(run->prog, address) - view->offset;
	for (i = 0; i < view->stores; i++) {
		struct cosy_store *store = &view->store[i];
		u32 into = within - store->offset;

		if (into < store->size && size <= store->size - into) {
			memcpy((u8 *)&store->bytes + into, &value, size);
			return true;
		}
		/* It overlaps a part of a kept store, which is too rare to be worth code. */
		if (into < store->size || store->offset - within < size)
			return false;
	}
	if (view->stores == COSY_VIEW_STORES)
		return false;
	view->store[view->stores++] =
		(struct cosy_store){ .bytes = value, .offset = within, .size = size };
	return true;
}
