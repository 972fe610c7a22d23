// SPDX-License-Identifier: MIT
/* region.c - the entry points of region.h, which compiled regions call. */
#include <errno.h>
#include <string.h>

#include "process/cancel.h"
#include "region/pace.h"
#include "process/fork.h"
#include "region/premises.h"
#include "region/region.h"
#include "region/run.h"
#include "process/stats.h"
#include "region/tier.h"

/*
 * The program of each region that was refused for good: it is given up, and has no place in any
 * context.  region->cache is NULL, this one, or the region's own.
 */
static struct cosy_loaded refused = {.balance = {.given_up = true}};

static struct cosy_loaded *region_program(const struct cosy_region *region)
{
	return (struct cosy_loaded *)__atomic_load_n(&region->cache, __ATOMIC_ACQUIRE);
}

/* True if it was refused, or is given up, for good. */
static bool region_stays_native(const struct cosy_region *region)
{
	const struct cosy_loaded *loaded = region_program(region);

	return loaded && libcosy_given_up(&loaded->balance);
}

static inline void *region_begin(struct libcosy_thread *thread, const struct cosy_region *region,
				 struct libcosy_site site, const struct libcosy_place *place)
{
	struct libcosy_activation *act = libcosy_activation_push(thread, region->ctx_size, site);

	if (__builtin_expect(!act, 0))
		return NULL;
	libcosy_activation_bind(act, place);
	libcosy_count(&libcosy_counts.regions, 1);
	return act->ctx;
}

__attribute__((cold)) static void region_say_native(const struct cosy_region *region,
						    const char *why)
{
	struct cosy_reject reject;
	struct cosy_container container;
	const char *name = "a region";

	if (!libcosy_settings.debug && libcosy_settings.mode != COSY_MODE_KERNEL)
		return;
	if (!cosy_compound_open(region->compound,
				((const struct cosy_compound *)region->compound)->size, &container,
				&reject) &&
	    container.str_size)
		name = container.strings + container.header->name;
	libcosy_say("%s stays native: %s", name, why);
}

/*
 * True if a cancellation would have to run handlers: their code is around the native twin's
 * calls.
 */
static bool region_has_handlers(const struct cosy_region *region)
{
	return region->premises && region->premises->flags & COSY_PREMISE_HANDLERS;
}

/* Returns the region that a loop's head is in, or NULL. */
static struct cosy_region *region_of_head(const struct cosy_region *region)
{
	return region->version >= 2 ? region->entry : NULL;
}

/* Asks the dynamic linker, so nothing may be locked yet. */
static bool region_premises_hold(struct cosy_region *region)
{
	enum libcosy_cancels cancels = libcosy_cancel_used();
	char why[300];

	if (cancels)
		libcosy_threads_cancel(cancels);
	if (!region->premises || libcosy_premises_hold(region->premises, why, sizeof(why)))
		return true;
	if (!__atomic_exchange_n(&region->cache, (uint64_t)&refused, __ATOMIC_ACQ_REL))
		region_say_native(region, why);
	return false;
}

/* Validates the region's container.  Returns NULL, and says why, if that is refused. */
__attribute__((cold)) static struct cosy_loaded *region_validate(const struct cosy_region *region)
{
	const struct cosy_compound *compound = region->compound;
	struct cosy_loaded *loaded = NULL;
	struct cosy_reject why = {.insn = ~0u};
	int err = -EINVAL;

	if (region->version != 1 && region->version != 2)
		strcpy(why.reason, "compiled for another version of libcosy");
	else
		err = libcosy_program_create(compound, compound->size, &loaded, &why);
	if (err && (libcosy_settings.debug || libcosy_settings.mode == COSY_MODE_KERNEL))
		libcosy_say("a region stays native: instruction %d: %s", (int)why.insn,
			    why.reason[0] ? why.reason : strerror(-err));
	return err ? NULL : loaded;
}

/* Makes the region's program, or refuses it; under the lock. */
__attribute__((cold)) static struct cosy_loaded *region_create(struct cosy_region *region)
{
	struct cosy_loaded *loaded = region_validate(region);

	if (!loaded)
		return &refused;
	if (region_has_handlers(region) && loaded->cancels &&
	    libcosy_may_be_cancelled(libcosy_thread_self->cancels)) {
		if (!region_of_head(region))
			region_say_native(
				region,
				"a thread cancelled in it has handlers or clean-ups to run");
		libcosy_program_destroy(loaded);
		return &refused;
	}
	if (region->version >= 2) {
		loaded->forced = region->flags & COSY_REGION_FORCE;
		loaded->again = region->flags & COSY_REGION_AGAIN;
		loaded->lost = region->flags >> COSY_REGION_LOST_SHIFT;
		loaded->region = libcosy_tier_owner(region);
	}
	return loaded;
}

/* Returns the region's program, made if need be; NULL if that cannot be now, or not for good. */
__attribute__((cold, noinline)) static struct cosy_loaded *region_load(struct cosy_region *region)
{
	struct cosy_loaded *loaded;

	if (!region_premises_hold(region) || !libcosy_program_lock())
		return NULL;
	loaded = region_program(region);
	if (!loaded) {
		loaded = region_create(region);
		__atomic_store_n(&region->cache, (uint64_t)loaded, __ATOMIC_RELEASE);
	}
	libcosy_program_unlock();
	return loaded;
}

/*
 * Does everything for an entry that may allocate or lock.  `asked`: filters were just asked.  NULL:
 * the region stays native.
 */
static struct cosy_loaded *region_prepare(struct cosy_region *region, u32 generation, bool asked)
{
	struct libcosy_thread *thread;
	struct cosy_loaded *loaded = region_program(region);

	if (loaded == &refused)
		return NULL;
	/* The loops of a region that stays native do so with it. */
	if (region_of_head(region) && region_stays_native(region_of_head(region)))
		return NULL;
	thread = libcosy_thread_self;
	if (!thread) {
		asked = asked || libcosy_context_lets();
		thread = asked ? libcosy_thread() : NULL;
	}
	if (!thread || thread->filtered)
		return NULL;
	if (thread->pause) {
		thread->pause--;
		return NULL;
	}
	if (!loaded && (asked || libcosy_context_lets()))
		loaded = region_load(region);
	if (!loaded || loaded == &refused)
		return NULL;
	if (!libcosy_program_place(loaded, generation,
				   libcosy_tier_only_seen(region) ? COSY_LOAD_SEEN : 0) &&
	    libcosy_settings.mode != COSY_MODE_INTERP)
		return NULL;
	return loaded;
}

static inline void region_count_native(const struct cosy_region *region)
{
	/* The next iteration of a loop is no new activation. */
	if (region_of_head(region))
		return;
	libcosy_count(&libcosy_counts.regions, 1);
	libcosy_count(&libcosy_counts.native, 1);
}

static void *region_try_enter(struct cosy_region *region, struct libcosy_site site, u32 generation,
			      bool asked)
{
	struct cosy_loaded *loaded;
	struct libcosy_place place;
	int saved;

	if (!generation)
		return NULL;
	saved = errno;
	loaded = region_prepare(region, generation, asked);
	errno = saved;
	if (loaded && libcosy_place_get(loaded, &place))
		return region_begin(libcosy_thread_self, region, site, &place);
	if (loaded && libcosy_settings.mode == COSY_MODE_INTERP)
		return region_begin(libcosy_thread_self, region, site, NULL);
	return NULL;
}

static enum libcosy_admission region_admit(struct cosy_region *region, int fd)
{
	if (!libcosy_tier_wants(region, fd))
		return COSY_STAYS_OUT;
	if (!libcosy_tier_only_seen(region))
		return COSY_ENTERS;
	return libcosy_tier_pays(region) ? COSY_ENTERS_LATER : COSY_ENTERS_IF_SEEN;
}

/* Opens the context if need be and if the region has earned it.  Its generation, or 0. */
static u32 region_open(struct cosy_region *region)
{
	const struct libcosy_applicant applicant = {
		.region = region,
		.compound = region->compound,
		.ctx_size = region->ctx_size,
		.admit = region_admit,
	};
	u32 generation = libcosy_generation();

	if (!generation)
		return libcosy_context_open_for(&applicant);
	return libcosy_tier_wants(region, libcosy_context_fd()) ? generation : 0;
}

/* Notes why the region could not be entered. */
static void region_deny(struct cosy_region *region)
{
	const struct cosy_loaded *loaded = region_program(region);
	bool unseen = loaded && loaded->unseen;

	if (libcosy_tier_only_seen(region) && !libcosy_native_only &&
	    (unseen || !libcosy_generation()))
		libcosy_tier_unseen(region);
	else
		libcosy_tier_denied(region, region_stays_native(region));
}

/* Makes the first RUN return its counts as well, by which the region is judged. */
static void region_measure(struct cosy_region *region, void *ctx)
{
	struct libcosy_activation *act = libcosy_activation_of(ctx);

	if (region->version < 2 || !region_program(region)->balance.kept)
		return;
	act->run.size = sizeof(act->run);
	libcosy_pace_enter(libcosy_tier_owner(region));
}

/* Tries to enter while other threads change the context; a front grows only a few times. */
#define TRIES 4

/* Out of line, so that the common path saves no registers. */
__attribute__((noinline)) static void *region_enter_slow(struct cosy_region *region,
							 struct libcosy_site site)
{
	void *ctx = NULL;
	int state;

	/* A region that has not earned the kernel calls nothing of libc's, nor finds errno. */
	if (!libcosy_tier_earned(region)) {
		/* A fork child must not inherit its parent's counts. */
		if (libcosy_settings.stats)
			libcosy_fork_register();
		region_count_native(region);
		return NULL;
	}
	state = libcosy_cancel_disable();
	for (int i = 0; i < TRIES && !ctx; i++) {
		bool asks = !libcosy_generation();
		u32 generation = region_open(region);

		ctx = region_try_enter(region, site, generation, asks);
		if (!generation || generation == libcosy_generation())
			break;
	}
	if (ctx) {
		libcosy_tier_entered(region);
		if (libcosy_tier_only_seen(region))
			libcosy_count(&libcosy_counts.seen, 1);
		region_measure(region, ctx);
	} else {
		region_deny(region);
		region_count_native(region);
	}
	libcosy_cancel_restore(state);
	return ctx;
}

void *__cosy_enter(struct cosy_region *region)
{
	struct libcosy_thread *thread = libcosy_thread_self;
	struct cosy_loaded *loaded = region_program(region);
	struct libcosy_site site = COSY_SITE();
	struct libcosy_place place;

	if (__builtin_expect(thread && loaded && !thread->filtered && !thread->pause &&
				     libcosy_place_get(loaded, &place),
			     1))
		return region_begin(thread, region, site, &place);
	if (!libcosy_native_only)
		return region_enter_slow(region, site);
	libcosy_tier_denied(region, false);
	region_count_native(region);
	return NULL;
}

__attribute__((noinline)) static enum libcosy_outcome region_run_cancellable(
	struct libcosy_thread *thread, struct cosy_region *region, struct libcosy_activation *act)
{
	struct cosy_loaded *loaded = region_program(region);

	if (!libcosy_may_be_cancelled(thread->cancels))
		return libcosy_run_bound(thread, loaded, act, false);
	if (loaded->cancels && region_has_handlers(region))
		return COSY_RAN_NOTHING;
	return libcosy_run_cancellable(thread, loaded, act, false);
}

int64_t __cosy_run(struct cosy_region *region, void *ctx)
{
	struct libcosy_activation *act = libcosy_activation_of(ctx);
	struct libcosy_thread *thread = libcosy_thread_self;
	enum libcosy_outcome outcome;

	if (__builtin_expect(thread->cancels, 0))
		outcome = region_run_cancellable(thread, region, act);
	else
		outcome = libcosy_run_bound(thread, region_program(region), act, false);
	if (outcome == COSY_RAN)
		return act->run.ret;
	libcosy_count(&libcosy_counts.native, 1);
	return -1;
}

void __cosy_leave(void *ctx)
{
	libcosy_block_pop(ctx);
}

/* Makes the thread's state for its first frame, or returns NULL. */
static __attribute__((noinline)) struct libcosy_thread *frame_find_thread(uint64_t size)
{
	bool open = libcosy_generation();

	/* Until some region has earned a context, locals gain nothing in the buffer. */
	libcosy_note_frame(size);
	if (!open && !libcosy_settings_force())
		return NULL;
	if (!libcosy_context_open() || (open && !libcosy_context_lets()))
		return NULL;
	return libcosy_thread();
}

void *__cosy_frame_enter(uint64_t size)
{
	struct libcosy_thread *thread = libcosy_thread_self;
	struct libcosy_site site = COSY_SITE();

	if (libcosy_native_only || (!thread && !(thread = frame_find_thread(size))))
		return NULL;
	return libcosy_block_push(thread, size, site);
}

void __cosy_frame_leave(void *frame)
{
	libcosy_block_pop(frame);
}
