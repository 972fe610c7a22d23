// SPDX-License-Identifier: MIT
/* tier.c - see tier.h. */
#include "../../core/core.h"
#include "../../core/costs.h"

#include "process/context.h"
#include "process/filter.h"
#include "process/settings.h"
#include "process/stats.h"
#include "process/thread.h"
#include "region/history_key.h"
#include "region/pace.h"
#include "region/tier.h"

/* Values of region->left: call __cosy_enter at each arrival, or never. */
#define ASK_ALWAYS (INT64_MIN / 2) /* with room for what loops count */
#define ASK_NEVER  INT64_MAX

/* How far a region may go. */
#define STATES (COSY_REGION_SEEN | COSY_REGION_UNSEEN | COSY_REGION_ADMITTED)

/*
 * A compilation that the history advises costs at most this share of the expected run time: no run
 * may need more than 1.05 times what it needs without marks.
 */
#define HISTORY_SHARE 20
/*
 * One in the background costs at most this share of a run: even if it is in vain, ten runs of the
 * program do not need much more than 1.02 times what they need without marks.  The process does not
 * wait for it, but on a machine with one processor it takes the process's time.
 */
#define BACKGROUND_SHARE 5
/* Arrivals at loop heads for which a region waits for an arrival at its entry. */
#define HEADS_WAITED 32

enum history_verdict {
	COSY_STAYS_NATIVE, /* until it has saved more */
	COSY_IF_SEEN,	   /* goes to the kernel if nothing has to be compiled for it */
	COSY_GOES,
};

struct cosy_region *libcosy_tier_owner(struct cosy_region *region)
{
	return region->entry ? region->entry : region;
}

static void tier_set_left(struct cosy_region *owner, int64_t left)
{
	__atomic_store_n(&owner->left, left, __ATOMIC_RELAXED);
}

static uint32_t tier_state(const struct cosy_region *owner)
{
	return __atomic_load_n(&owner->flags, __ATOMIC_RELAXED) & STATES;
}

static void tier_set_state(struct cosy_region *owner, uint32_t state)
{
	uint32_t others = __atomic_load_n(&owner->flags, __ATOMIC_RELAXED) & ~STATES;

	__atomic_store_n(&owner->flags, others | state, __ATOMIC_RELAXED);
}

/* --- Costs, and the savings that they need ------------------------------------------------ */

static int64_t tier_program_cost(const struct cosy_region *region, int64_t each, int64_t insn)
{
	const struct cosy_compound *compound = region->compound;

	return each + (int64_t)compound->insn_cnt * insn;
}

/*
 * Returns what it costs to load a region.  That is two programs where there are loops: the entry's
 * and a head's will both be loaded.
 */
static int64_t tier_load_cost(const struct cosy_region *owner, int64_t each, int64_t insn)
{
	int64_t cost = tier_program_cost(owner, each, insn);

	return owner->loops ? cost * 2 : cost;
}

/* Returns what it costs to go to the kernel where nothing has to be compiled. */
static int64_t tier_seen_cost(const struct cosy_region *owner)
{
	int64_t cost = tier_load_cost(owner, COSY_COST_SEEN, COSY_COST_SEEN_INSN);

	if (!libcosy_generation())
		cost += COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY;
	return cost;
}

static int64_t tier_compile_cost(const struct cosy_region *owner)
{
	return tier_load_cost(owner, COSY_COST_LOAD, COSY_COST_LOAD_INSN);
}

/* Returns how much this process alone has to save to earn something of that cost. */
static int64_t tier_budget(const struct cosy_region *owner, int64_t cost)
{
	return cost * owner->share;
}

/* --- The history ------------------------------------------------------------------------------ */

static unsigned int levels_of(int64_t saved)
{
	unsigned int levels = 0;

	while (levels < COSY_RECALL_LEVELS && saved >= (int64_t)COSY_RECALL_LEVEL(levels))
		levels++;
	return levels;
}

/*
 * Counts savings slightly below a level as the level.  Else the process would ask the history again
 * soon after this question, which costs more than the difference.
 */
static void tier_round_up(struct cosy_region *owner)
{
	unsigned int level = levels_of(owner->saved);
	int64_t next = (int64_t)COSY_RECALL_LEVEL(level);

	if (level < COSY_RECALL_LEVELS && owner->saved >= next - next / 8)
		owner->saved = next;
}

/* True if the region has the members that the history needs: an older compiler's has not. */
static bool tier_is_keyed(const struct cosy_region *owner)
{
	return owner->version >= 2 && owner->flags & COSY_REGION_KEYED;
}

static bool tier_has_note(const struct cosy_region *owner, uint32_t note)
{
	return tier_is_keyed(owner) && owner->notes & note;
}

/* Sets or clears a note.  Another thread may set another one meanwhile. */
static void tier_note(struct cosy_region *owner, uint32_t note, bool holds)
{
	if (!tier_is_keyed(owner))
		return;
	if (holds)
		__atomic_fetch_or(&owner->notes, note, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&owner->notes, ~note, __ATOMIC_RELAXED);
}

static bool tier_is_slower(const struct cosy_region *owner)
{
	return tier_has_note(owner, COSY_NOTE_SLOWER);
}

static bool tier_has_history(const struct cosy_region *owner)
{
	return tier_is_keyed(owner) && !libcosy_history_lacks;
}

/* Returns what the region has saved when `left` is used up. */
static int64_t tier_saved(const struct cosy_region *owner)
{
	int64_t seen = tier_seen_cost(owner);

	if (tier_is_keyed(owner))
		return owner->saved;
	if (tier_state(owner) == COSY_REGION_UNSEEN)
		return tier_budget(owner, seen + tier_compile_cost(owner));
	return tier_budget(owner, seen);
}

/* Returns what each of so many calls, in parts, has saved. */
static uint32_t tier_gain_of(uint64_t saved, uint64_t parts)
{
	uint64_t gain = saved < UINT64_MAX / COSY_CALL_PARTS ? saved * COSY_CALL_PARTS / parts : 0;

	return gain < 1 ? 1 : gain < UINT32_MAX ? (uint32_t)gain : UINT32_MAX;
}

/* Returns how many calls the native twin has made, in parts; 0: it does not count them. */
static uint64_t tier_calls(const struct cosy_region *owner)
{
	return owner->flags & COSY_REGION_COUNTED ? __atomic_load_n(&owner->calls, __ATOMIC_RELAXED)
						  : 0;
}

/*
 * Returns what a call saves: as measured in the native twin, where entries and loops have lost
 * their part already.  Without a measurement it is the compiler's guess, less what loops lost.
 */
static uint32_t tier_call_gain(const struct cosy_region *owner)
{
	int64_t lost = __atomic_load_n(&owner->lost, __ATOMIC_RELAXED);
	uint64_t calls = tier_calls(owner);

	if (owner->saved > 0 && calls)
		return tier_gain_of((uint64_t)owner->saved, calls);
	if (owner->saved <= 0 || lost <= 0)
		return owner->call_gain;
	return (uint32_t)((double)owner->call_gain * (double)owner->saved /
				  (double)(owner->saved + lost) +
			  1);
}

/*
 * True if filters let this thread ask. Those armed before the context are asked when it is
 * opened, later ones here: they may kill for a call that they do not know. For a region that is
 * loaded nothing has to be asked of them, so nothing is.
 */
static bool tier_may_ask(const struct cosy_region *owner)
{
	if (!libcosy_generation())
		return true;
	if (libcosy_thread_self && libcosy_thread_self->filtered)
		return false;
	return libcosy_filter_none() ||
	       (!__atomic_load_n(&owner->cache, __ATOMIC_RELAXED) && libcosy_context_lets());
}

static bool tier_recall(struct cosy_region *owner, int fd, uint32_t flags,
			struct cosy_recall *recall)
{
	struct cosy_history_key key;

	if (!tier_may_ask(owner))
		return false;
	key = libcosy_history_key(owner);
	*recall = (struct cosy_recall){
		.size = sizeof(*recall),
		.flags = flags,
		.key = {key.words[0], key.words[1]},
		.saved = (uint64_t)owner->saved,
		.reported = (uint64_t)owner->reported,
		.call_gain = tier_call_gain(owner),
		/* Native entries have lost it from `saved`. */
		.run_loss = tier_calls(owner) ? 0 : COSY_COST_RUN,
		.pace = libcosy_pace_level(owner),
	};
	if (cosy_syscall3(SYS_ioctl, (unsigned int)fd, COSY_IOC_RECALL, (unsigned long)recall)) {
		libcosy_history_lacks = true;
		return false;
	}
	libcosy_pace_answered(owner);
	libcosy_history_works = true;
	libcosy_pace_recall(owner, recall);
	owner->reported = owner->saved;
	if (recall->slower)
		tier_note(owner, COSY_NOTE_SLOWER, true);
	return true;
}

/*
 * Returns how much more than now the region is expected to save: as at least half of the user's
 * processes did that reached the level that was just reached.  A process that reached a level, and
 * not the next one, is taken to have saved a third of the difference more.
 */
static int64_t tier_expected(const struct cosy_region *owner, const struct cosy_recall *recall)
{
	unsigned int now = levels_of(owner->saved), i = now;
	int64_t reached, next;

	/* A small difference of two large estimates says little. */
	if (!now || !recall->reached[now - 1] || owner->lost > owner->saved)
		return 0;
	while (i < COSY_RECALL_LEVELS && recall->reached[i] * 2 >= recall->reached[now - 1])
		i++;
	if (i == now)
		return 0;
	reached = (int64_t)COSY_RECALL_LEVEL(i - 1);
	next = i < COSY_RECALL_LEVELS ? (int64_t)COSY_RECALL_LEVEL(i) : 4 * reached;
	return reached + (next - reached) / 3 - owner->saved;
}

/*
 * Returns how many ns the process is expected to take natively: what it took so far, and what the
 * calls take that the region will make, with what is between them; 0: not known.
 */
static uint64_t tier_native_time(const struct cosy_region *owner, uint32_t pace, int64_t expected)
{
	uint64_t so_far = libcosy_pace_so_far(owner);
	double calls = (double)tier_calls(owner) / COSY_CALL_PARTS;

	if (!so_far || owner->saved <= 0)
		return 0;
	return so_far + (uint64_t)(calls * pace / 1000 * (double)expected / (double)owner->saved);
}

/* True if a cost is at most that share of what the process takes natively, as far as it is known. */
static bool tier_is_share(const struct cosy_region *owner, int64_t cost, int64_t share,
			  int64_t saved, int64_t expected, uint32_t pace)
{
	uint64_t took;

	if ((saved + expected) * COSY_TIER_SHARE >= tier_budget(owner, cost) * share)
		return true;
	took = libcosy_pace_time(cost);
	return took && tier_native_time(owner, pace, expected) / (uint64_t)share >= took;
}

/*
 * True if the history advises to compile.  The estimate may be wrong: then one program was
 * compiled in vain, since the next one is loaded only if the first does well.  So that must be
 * small compared with what the whole process takes natively, as measured, or the whole region, as
 * estimated: the estimate knows nothing of what the process does beside its calls.
 */
static bool history_advises_compiling(const struct cosy_region *region,
				      const struct cosy_region *owner, int64_t saved,
				      int64_t expected, uint32_t pace)
{
	int64_t cost = tier_seen_cost(owner) +
		       tier_program_cost(region, COSY_COST_LOAD, COSY_COST_LOAD_INSN);

	/* Above the first level alone, so that processes which end before it compile nothing. */
	return levels_of(saved) > 1 && expected >= 2 * cost &&
	       tier_is_share(owner, cost, HISTORY_SHARE, saved, expected, pace);
}

/*
 * True if what is saved is at least 1/40 of what the process takes natively, or where its time is
 * not known.  An estimate that is smaller says little: the rest of the process may cost more because
 * of the region, as where the kernel frees later what a region has deleted.
 */
static bool tier_is_much(const struct cosy_region *owner, int64_t saved, int64_t expected,
			 uint32_t pace)
{
	uint64_t native = tier_native_time(owner, pace, expected);
	/* By the first query alone, an instruction may seem to take three times as long. */
	uint64_t part = libcosy_pace_is_settled() ? 40 : 40 / 3;

	return !native || libcosy_pace_time(saved + expected) >= native / part;
}

/*
 * True if the history advises to compile in the background: as many processes as went as far
 * before, and one more, would save what it costs, if each saves what this one has saved and is
 * expected to save.  `is_counted`: one of those that reached the level is this process.
 */
static bool history_advises_background(const struct cosy_region *region,
				       const struct cosy_region *owner, int64_t saved,
				       int64_t expected, const struct cosy_recall *recall,
				       bool is_counted)
{
	int64_t cost = tier_program_cost(region, COSY_COST_LOAD, COSY_COST_LOAD_INSN);
	int64_t gain = saved + expected - tier_seen_cost(owner);
	unsigned int now = levels_of(saved);

	int64_t others = now ? recall->reached[now - 1] - is_counted : 0;

	/* Of what differs little, as in tier_expected(), and of a first run, nothing is known. */
	if (others <= 0 || owner->lost > owner->saved ||
	    !tier_is_much(owner, saved, expected, recall->pace))
		return false;
	return gain > 0 && gain * (others + 1) >= cost &&
	       tier_is_share(owner, cost, BACKGROUND_SHARE, saved, expected, recall->pace);
}

/* True if the device's kernel has fetches, which each kernel keeps or lacks for good. */
static bool tier_fetches(int fd)
{
	static signed char known = -1;
	signed char fetches = __atomic_load_n(&known, __ATOMIC_RELAXED);
	struct cosy_version version = {.size = sizeof(version)};

	if (fetches >= 0 ||
	    cosy_syscall3(SYS_ioctl, (unsigned int)fd, COSY_IOC_VERSION, (unsigned long)&version))
		return fetches;
	fetches = !!(version.features & COSY_FEATURE_FETCHES);
	__atomic_store_n(&known, fetches, __ATOMIC_RELAXED);
	return fetches;
}

/*
 * True if this kernel makes each load of a loop alone, which the estimate does not know, and that
 * takes more than 50 % off what the region has saved.
 */
static bool tier_lacks_fetches(const struct cosy_region *owner, int fd)
{
	uint32_t times = owner->premises ? owner->premises->flags >> COSY_PREMISE_UNFETCHED_SHIFT &
						   COSY_PREMISE_UNFETCHED_MAX
					 : 0;

	return times > 1 && tier_is_keyed(owner) &&
	       (double)owner->lost * (times - 1) > (double)owner->saved / 2 && fd >= 0 &&
	       !tier_fetches(fd);
}

static enum history_verdict tier_judge(const struct cosy_region *region, struct cosy_region *owner,
				       int fd)
{
	bool unseen = tier_state(owner) == COSY_REGION_UNSEEN;
	int64_t seen = tier_seen_cost(owner), compile = tier_compile_cost(owner), expected = 0;
	struct cosy_recall recall = {.pace = 0};
	bool is_counted;
	int64_t saved;

	if (tier_is_keyed(owner))
		tier_round_up(owner);
	saved = tier_saved(owner);
	is_counted = tier_is_keyed(owner) && levels_of(owner->reported) >= levels_of(saved);
	if (tier_has_history(owner) && tier_recall(owner, fd, 0, &recall)) {
		if (tier_is_slower(owner))
			return COSY_STAYS_NATIVE;
		expected = tier_expected(owner, &recall);
	}
	if (tier_lacks_fetches(owner, fd))
		return COSY_STAYS_NATIVE;
	if (saved >= tier_budget(owner, seen + compile))
		return COSY_GOES;
	tier_note(owner, COSY_NOTE_PAYS,
		  history_advises_background(region, owner, saved, expected, &recall, is_counted));
	if (history_advises_compiling(region, owner, saved, expected, recall.pace)) {
		libcosy_count(&libcosy_counts.remembered, 1);
		return COSY_GOES;
	}
	/* What pays only now is asked for again, so that it is compiled in the background. */
	if (unseen && !tier_has_note(owner, COSY_NOTE_PAYS))
		return COSY_STAYS_NATIVE;
	if (saved >= tier_budget(owner, seen))
		return COSY_IF_SEEN;
	if (expected >= 2 * seen) {
		libcosy_count(&libcosy_counts.remembered, 1);
		return COSY_IF_SEEN;
	}
	return COSY_STAYS_NATIVE;
}

/*
 * --- Counting -----------------------------------------------------------------------------------
 */

static int64_t least_above(int64_t now, int64_t value, int64_t least)
{
	return value > now && value < least ? value : least;
}

/* Returns the next sum of savings at which something may change. */
static int64_t tier_next(const struct cosy_region *owner, int64_t now)
{
	int64_t next = INT64_MAX, seen = tier_seen_cost(owner);

	if (tier_has_history(owner) && levels_of(now) < COSY_RECALL_LEVELS)
		next = COSY_RECALL_LEVEL(levels_of(now));
	if (tier_state(owner) != COSY_REGION_UNSEEN)
		next = least_above(now, tier_budget(owner, seen), next);
	next = least_above(now, tier_budget(owner, seen + tier_compile_cost(owner)), next);
	return next == INT64_MAX ? now + tier_budget(owner, seen) : next;
}

static void tier_count_down(struct cosy_region *owner, int64_t budget)
{
	__atomic_store_n(&owner->counted, budget, __ATOMIC_RELAXED);
	tier_set_left(owner, libcosy_settings.stats ? ASK_ALWAYS : budget);
}

/* Counts on until something may change; `now` has been saved, and `more` by this arrival. */
static void tier_count_on(struct cosy_region *owner, int64_t now, int64_t more)
{
	int64_t budget = tier_next(owner, now) - now;

	if (budget > COSY_LEFT_MAX / 2)
		budget = COSY_LEFT_MAX / 2;
	if (tier_is_keyed(owner))
		owner->saved = now + budget;
	tier_count_down(owner, budget - more);
}

/*
 * Takes a count that is used up, so that of several threads one asks. Until that one counts on, or
 * is admitted, the others stay native.
 */
static bool tier_take(int64_t *count, int64_t value)
{
	return value < 0 && __atomic_compare_exchange_n(count, &value, COSY_LEFT_MAX, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Takes the owner's count, and notes how far it went beyond its end: some arrivals save much. */
static bool tier_use_up(struct cosy_region *owner, int64_t *count, int64_t value)
{
	if (!tier_take(count, value))
		return false;
	if (tier_is_keyed(owner) && value > ASK_ALWAYS / 2)
		owner->saved -= value;
	return true;
}

/*
 * True if a region that has earned a question waits for an arrival at its entry.  A region that
 * is entered often needs no program of a loop's head then.
 */
static bool tier_waits(const struct cosy_region *region, struct cosy_region *owner)
{
	return region != owner && !__atomic_load_n(&owner->cache, __ATOMIC_RELAXED) &&
	       __atomic_fetch_add(&owner->arrivals, 1, __ATOMIC_RELAXED) < HEADS_WAITED;
}

/* Counts in place of the region's code, which under COSY_STATS=1 asks at each arrival. */
static bool tier_has_earned(const struct cosy_region *region, struct cosy_region *owner)
{
	bool admitted = tier_state(owner) & (COSY_REGION_SEEN | COSY_REGION_ADMITTED);
	int64_t loops, left;

	if (!libcosy_settings.stats) {
		left = __atomic_load_n(&owner->left, __ATOMIC_RELAXED);
		if (left < 0 && tier_waits(region, owner))
			return false;
		return admitted ? left < 0 : tier_use_up(owner, &owner->left, left);
	}
	loops = __atomic_exchange_n(&owner->left, ASK_ALWAYS, __ATOMIC_RELAXED) - ASK_ALWAYS;
	left = __atomic_add_fetch(&owner->counted, loops - region->gain, __ATOMIC_RELAXED);
	if ((admitted || left < 0) && tier_waits(region, owner))
		return false;
	return admitted || tier_use_up(owner, &owner->counted, left);
}

static void tier_forget(struct cosy_region *owner)
{
	tier_set_state(owner, 0);
	if (!tier_is_keyed(owner))
		return;
	tier_note(owner, COSY_NOTE_ENTERED, false);
	owner->saved = 0;
	owner->reported = 0;
	owner->lost = 0;
	if (owner->flags & COSY_REGION_COUNTED)
		owner->calls = 0;
}

/* Store `life` last, so that a thread that sees it also sees the budget. */
static void tier_begin_count(const struct cosy_region *region, struct cosy_region *owner,
			     uint32_t life)
{
	tier_forget(owner);
	tier_count_on(owner, 0, region->gain);
	__atomic_store_n(&owner->life, life, __ATOMIC_RELEASE);
}

/* Returns how much has to be saved before something of that cost is tried again. */
static int64_t tier_wait(const struct cosy_region *owner, int64_t cost)
{
	int64_t budget = tier_budget(owner, cost);

	return budget < COSY_LEFT_MAX / 2 ? budget : COSY_LEFT_MAX / 2;
}

/*
 * --- Arrivals
 * -------------------------------------------------------------------------------------
 */

/* True if the region need not earn anything. */
static bool tier_is_exempt(const struct cosy_region *region)
{
	return region->version < 2 || libcosy_settings_force() || region->flags & COSY_REGION_FORCE;
}

bool libcosy_tier_only_seen(struct cosy_region *region)
{
	return region->version >= 2 && tier_state(libcosy_tier_owner(region)) == COSY_REGION_SEEN;
}

bool libcosy_tier_has_entered(const struct cosy_region *owner)
{
	return tier_has_note(owner, COSY_NOTE_ENTERED);
}

bool libcosy_tier_pays(struct cosy_region *region)
{
	struct cosy_region *owner = libcosy_tier_owner(region);

	return region->version >= 2 && tier_has_note(owner, COSY_NOTE_PAYS);
}

__attribute__((cold)) void libcosy_tier_unseen(struct cosy_region *region)
{
	struct cosy_region *owner = libcosy_tier_owner(region);
	int64_t now = tier_saved(owner);

	libcosy_count(&libcosy_counts.unseen, 1);
	/* The region's loops still ask, and enter by the programs that are compiled. */
	if (owner == region && libcosy_tier_has_entered(owner))
		return;
	/* One that is compiled meanwhile is looked for again at the next level. */
	tier_set_state(owner, libcosy_tier_pays(owner) ? 0 : COSY_REGION_UNSEEN);
	tier_count_on(owner, now, 0);
}

bool libcosy_tier_earned(struct cosy_region *region)
{
	struct cosy_region *owner;
	uint32_t life;

	if (tier_is_exempt(region))
		return true;
	owner = libcosy_tier_owner(region);
	if (libcosy_settings.tier >= 0) {
		/* Else the losses of loops would have added up to an arrival that does not ask. */
		tier_set_left(owner, ASK_ALWAYS);
		return __atomic_add_fetch(&owner->arrivals, 1, __ATOMIC_RELAXED) >
		       (uint32_t)libcosy_settings.tier;
	}
	if (region->flags & COSY_REGION_LOSES) {
		libcosy_count(&libcosy_counts.loses, 1);
		if (!libcosy_settings.stats)
			tier_set_left(owner, ASK_NEVER);
		return false;
	}
	if (tier_is_slower(owner)) {
		if (!libcosy_settings.stats)
			tier_set_left(owner, ASK_NEVER);
		return false;
	}
	/* A fork child, or a process that lost its context, has to earn anew. */
	life = libcosy_context_life() + 1;
	if (__atomic_load_n(&owner->life, __ATOMIC_ACQUIRE) != life) {
		tier_begin_count(region, owner, life);
	} else if (tier_has_earned(region, owner)) {
		return true;
	}
	libcosy_count(&libcosy_counts.unearned, 1);
	return false;
}

/* Has the module count a region that need not earn anything, once in each context's life. */
static void tier_follow(struct cosy_region *owner, int fd)
{
	uint32_t life = libcosy_context_life() + 1;
	struct cosy_recall recall;

	if (fd < 0 || owner->version < 2 || !tier_has_history(owner) ||
	    __atomic_exchange_n(&owner->life, life, __ATOMIC_RELAXED) == life)
		return;
	tier_forget(owner);
	tier_recall(owner, fd, 0, &recall);
}

bool libcosy_tier_wants(struct cosy_region *region, int fd)
{
	struct cosy_region *owner;

	if (region->version < 2)
		return true;
	owner = libcosy_tier_owner(region);
	if (tier_is_exempt(region) || libcosy_settings.tier >= 0) {
		tier_follow(owner, fd);
		return true;
	}
	if (tier_state(owner) & (COSY_REGION_SEEN | COSY_REGION_ADMITTED))
		return true;
	switch (tier_judge(region, owner, fd)) {
	case COSY_STAYS_NATIVE:
		return false;
	case COSY_IF_SEEN:
		tier_set_state(owner, COSY_REGION_SEEN);
		break;
	case COSY_GOES:
		tier_set_state(owner, COSY_REGION_ADMITTED);
		break;
	}
	tier_set_left(owner, ASK_ALWAYS);
	return true;
}

void libcosy_tier_entered(struct cosy_region *region)
{
	struct cosy_region *owner = libcosy_tier_owner(region);

	if (tier_is_exempt(region) || libcosy_settings.tier >= 0)
		return;
	tier_note(owner, COSY_NOTE_ENTERED, true);
	tier_set_left(owner, ASK_ALWAYS);
}

void libcosy_tier_denied(struct cosy_region *region, bool refused)
{
	struct cosy_region *owner;

	if (region->version < 2 || libcosy_settings.tier >= 0)
		return;
	owner = libcosy_tier_owner(region);
	if (libcosy_native_only || (refused && owner == region) || tier_is_slower(owner)) {
		if (!libcosy_settings.stats)
			tier_set_left(owner, ASK_NEVER);
	} else if (!(tier_state(owner) & (COSY_REGION_SEEN | COSY_REGION_ADMITTED)))
		tier_count_on(owner, tier_saved(owner), 0);
	else if (libcosy_settings.stats)
		return;
	else if (libcosy_generation() && (refused || owner->cache))
		tier_set_left(owner, tier_wait(owner, COSY_COST_ASK));
	else
		tier_set_left(owner, tier_wait(owner, tier_compile_cost(owner)));
}

void libcosy_tier_slower(struct cosy_region *region)
{
	struct cosy_region *owner = libcosy_tier_owner(region);
	struct cosy_recall recall;

	if (tier_has_history(owner) && libcosy_generation())
		tier_recall(owner, libcosy_context_fd(), COSY_RECALL_SLOWER, &recall);
}

__attribute__((cold)) int64_t libcosy_tier_tolerated_loss(const struct cosy_region *owner)
{
	int64_t tolerated = owner->share ? tier_saved(owner) / owner->share : 0;

	if (tolerated < COSY_MIN_BALANCE_LOSS)
		return COSY_MIN_BALANCE_LOSS;
	return tolerated < COSY_MAX_BALANCE_LOSS ? tolerated : COSY_MAX_BALANCE_LOSS;
}
