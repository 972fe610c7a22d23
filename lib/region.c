// SPDX-License-Identifier: MIT
/* region.c - the entry points of region.h: what compiled regions call. */
#include <errno.h>
#include <string.h>

#include "region.h"
#include "run.h"
#include "stats.h"

/* region->cache: NULL, this, or the struct cosy_loaded that it is. */
#define REFUSED ((struct cosy_loaded *)1)

static struct cosy_loaded *cached(const struct cosy_region *region)
{
	return (struct cosy_loaded *)__atomic_load_n(&region->cache, __ATOMIC_ACQUIRE);
}

static inline void *begin(struct cosy_thread *thread, const struct cosy_region *region,
			  struct cosy_site site, const struct cosy_place *place)
{
	struct cosy_activation *act = cosy_activation_push(thread, region->ctx_size, site);

	if (__builtin_expect(!act, 0))
		return NULL;
	cosy_activation_bind(act, place);
	cosy_count(&cosy_counts.regions, 1);
	return act->ctx;
}

static struct cosy_loaded *create(struct cosy_region *region)
{
	const struct cosy_compound *compound = region->compound;
	struct cosy_loaded *loaded = REFUSED;
	struct cosy_reject why = {.insn = ~0u};
	int err;

	if (!cosy_program_lock())
		return NULL;
	if (cached(region)) {
		cosy_program_unlock();
		return cached(region);
	}
	if (region->version != 1) {
		err = -EINVAL;
		strcpy(why.reason, "compiled for another version of libcosy");
	} else {
		err = cosy_program_create(compound, compound->size, &loaded, &why);
	}
	if (err && (cosy_settings.debug || cosy_settings.mode == COSY_MODE_KERNEL))
		cosy_say("a region stays native: instruction %d: %s", (int)why.insn,
			 why.reason[0] ? why.reason : strerror(-err));
	__atomic_store_n(&region->cache, (uint64_t)(err ? REFUSED : loaded), __ATOMIC_RELEASE);
	cosy_program_unlock();
	return err ? REFUSED : loaded;
}

/* Everything that may allocate or lock, and every reason to stay native. */
static struct cosy_loaded *prepare(struct cosy_region *region)
{
	struct cosy_thread *thread;
	struct cosy_loaded *loaded = cached(region);
	u32 generation = cosy_context_open();

	if (!generation || loaded == REFUSED)
		return NULL;
	thread = cosy_thread();
	if (!thread || thread->filtered)
		return NULL;
	if (thread->pause) {
		thread->pause--;
		return NULL;
	}
	if (!loaded)
		loaded = create(region);
	if (!loaded || loaded == REFUSED)
		return NULL;
	if (!cosy_program_place(loaded, generation) && cosy_settings.mode != COSY_MODE_INTERP)
		return NULL;
	return loaded;
}

static inline void count_native(void)
{
	cosy_count(&cosy_counts.regions, 1);
	cosy_count(&cosy_counts.native, 1);
}

/* Out of line, so that the common way saves no registers. */
__attribute__((noinline)) static void *enter_slowly(struct cosy_region *region,
						    struct cosy_site site)
{
	struct cosy_loaded *loaded;
	struct cosy_place place;
	int saved = errno;
	void *ctx = NULL;

	loaded = prepare(region);
	if (loaded && cosy_place_get(loaded, &place))
		ctx = begin(cosy_thread_self, region, site, &place);
	else if (loaded && cosy_settings.mode == COSY_MODE_INTERP)
		ctx = begin(cosy_thread_self, region, site, NULL);
	if (!ctx)
		count_native();
	errno = saved;
	return ctx;
}

void *__cosy_enter(struct cosy_region *region)
{
	struct cosy_thread *thread = cosy_thread_self;
	struct cosy_loaded *loaded = cached(region);
	struct cosy_site site = COSY_SITE();
	struct cosy_place place;

	if (__builtin_expect(thread && loaded && loaded != REFUSED && !thread->filtered &&
				     !thread->pause && cosy_place_get(loaded, &place),
			     1))
		return begin(thread, region, site, &place);
	if (!cosy_native_only)
		return enter_slowly(region, site);
	count_native();
	return NULL;
}

int64_t __cosy_run(struct cosy_region *region, void *ctx)
{
	struct cosy_activation *act = cosy_activation_of(ctx);
	enum cosy_outcome outcome;

	outcome = cosy_run_bound(cosy_thread_self, cached(region), act, false);
	if (outcome == COSY_RAN)
		return act->run.ret;
	cosy_count(&cosy_counts.native, 1);
	return -1;
}

void __cosy_leave(void *ctx)
{
	cosy_block_pop(ctx);
}

void *__cosy_frame_enter(uint64_t size)
{
	struct cosy_thread *thread = cosy_thread_self;
	struct cosy_site site = COSY_SITE();

	if (cosy_native_only || (!thread && (!cosy_context_open() || !(thread = cosy_thread()))))
		return NULL;
	return cosy_block_push(thread, size, site);
}

void __cosy_frame_leave(void *frame)
{
	cosy_block_pop(frame);
}
