// SPDX-License-Identifier: MIT
/* tier_test.c - tests when a region has earned the kernel, and what an arrival does until then. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../core/costs.h"
#include "process/context.h"
#include "process/refer.h"
#include "region/pace.h"
#include "region/region.h"
#include "process/settings.h"
#include "region/tier.h"

#include "assemble.h"

#define GAIN 1000

static struct bpf_insn code[] = {MOV_K(0, 0), EXIT()};

static struct cosy_region new_region(void)
{
	return (struct cosy_region){.compound = assemble(code, 2, 16),
				    .ctx_size = 16,
				    .version = 2,
				    .left = INT64_MIN,
				    .gain = GAIN,
				    .share = COSY_TIER_SHARE};
}

/* Does what the code in a region's place does.  True if this arrival goes to the kernel. */
static bool arrive(struct cosy_region *region)
{
	struct cosy_region *owner = region->entry ? region->entry : region;

	if (owner->left >= 0) {
		if (owner->left <= COSY_LEFT_MAX)
			owner->left -= region->gain;
		return false;
	}
	if (!libcosy_tier_earned(region))
		return false;
	if (libcosy_tier_wants(region, -1))
		return true;
	libcosy_tier_denied(region, false);
	return false;
}

/* Does what code does where a loop ends that lost so much, or, below 0, that saved it. */
static void loop_ends(struct cosy_region *region, int64_t lost)
{
	if (region->left <= COSY_LEFT_MAX)
		region->left =
			region->left + lost < COSY_LEFT_MAX ? region->left + lost : COSY_LEFT_MAX;
}

/* Counts arrivals until one goes to the kernel, up to `most`. */
static long arrivals_until(struct cosy_region *region, long most)
{
	long count = 0;

	while (count < most && !arrive(region))
		count++;
	return count;
}

/* Counts arrivals until one goes to the kernel even if that has to compile. */
static long arrivals_until_load(struct cosy_region *region, long most)
{
	long count = arrivals_until(region, most);

	CHECK(libcosy_tier_only_seen(region));
	libcosy_tier_unseen(region);
	CHECK(!libcosy_tier_only_seen(region));
	count += arrivals_until(region, most);
	CHECK(!libcosy_tier_only_seen(region));
	return count;
}

static void earns_what_it_costs(void)
{
	struct cosy_region region = new_region();
	long count = arrivals_until(&region, 1000000);
	int64_t cost = COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY + COSY_COST_SEEN +
		       2 * COSY_COST_SEEN_INSN;

	CHECK_EQ(count, cost * COSY_TIER_SHARE / GAIN + 1);
	CHECK(arrive(&region));
	CHECK(libcosy_tier_only_seen(&region));
	/* Nothing is written from now on, whichever processor arrives. */
	CHECK_EQ(region.left, INT64_MIN / 2);
}

/* Checks the same of a region that has a history, where the module keeps none. */
static void earns_it_without_history(void)
{
	struct cosy_region region = new_region();
	long count = arrivals_until_load(&region, 1000000);

	libcosy_history_lacks = false;
	region = new_region();
	region.flags = COSY_REGION_KEYED;
	region.key[0] = 1;
	CHECK(labs(count - arrivals_until_load(&region, 1000000)) <= 4);
	CHECK(libcosy_history_lacks);
}

/*
 * Checks that savings which are counted many at a time count in full, however far they go beyond
 * the level at which the module is asked.
 */
static void counts_many_at_once(void)
{
	int64_t cost = COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY + COSY_COST_SEEN +
		       2 * COSY_COST_SEEN_INSN + COSY_COST_LOAD + 2 * COSY_COST_LOAD_INSN;

	for (int stats = 0; stats < 2; stats++) {
		struct cosy_region region = new_region();

		libcosy_history_lacks = false;
		libcosy_settings.stats = stats;
		region.flags = COSY_REGION_KEYED;
		region.key[0] = 1;
		region.gain = 0;
		CHECK(!arrive(&region));
		region.left -= cost * COSY_TIER_SHARE + COSY_RECALL_LEVEL(0);
		CHECK(arrive(&region));
		CHECK(!libcosy_tier_only_seen(&region));
		libcosy_settings.stats = false;
	}
}

/* Checks that a compilation is earned where there has to be one, after all that came before. */
static void earns_that_it_is_compiled(void)
{
	struct cosy_region region = new_region();
	long count = arrivals_until_load(&region, 1000000);
	int64_t cost = COSY_COST_QUESTION + COSY_COST_CONTEXT + COSY_COST_LIBRARY + COSY_COST_SEEN +
		       2 * COSY_COST_SEEN_INSN + COSY_COST_LOAD + 2 * COSY_COST_LOAD_INSN;

	CHECK(count >= cost * COSY_TIER_SHARE / GAIN && count <= cost * COSY_TIER_SHARE / GAIN + 2);
	CHECK(arrive(&region));
	CHECK_EQ(region.left, INT64_MIN / 2);
}

/* Checks the same under COSY_STATS=1, where each arrival asks. */
static void earns_it_while_counted(void)
{
	struct cosy_region region = new_region();
	long count;

	libcosy_settings.stats = true;
	count = arrivals_until_load(&region, 1000000);
	CHECK_EQ(region.left, INT64_MIN / 2);
	libcosy_settings.stats = false;
	region = new_region();
	CHECK(labs(count - arrivals_until_load(&region, 1000000)) <= 2);
}

/* Checks that what loops lose and save counts whether or not each arrival asks. */
static void loops_count_while_counted(void)
{
	long count[2] = {0};

	for (int stats = 0; stats < 2; stats++) {
		struct cosy_region region = new_region();

		libcosy_settings.stats = stats;
		for (; count[stats] < 1000000 && !arrive(&region); count[stats]++)
			loop_ends(&region, count[stats] % 4 ? GAIN / 2 : -GAIN / 4);
		libcosy_settings.stats = false;
	}
	CHECK(count[0] > 1000 && count[0] < 1000000);
	CHECK(labs(count[0] - count[1]) <= 4);
}

/* Gives the region a native pace, but none of a level; 0: none. */
static void recall_pace(const struct cosy_region *region, uint32_t native)
{
	struct cosy_recall recall = {.pace = native, .call_gain = region->call_gain};

	libcosy_pace_recall(region, &recall);
}

static void burn(void)
{
	for (volatile int i = 0; i < 3000000; i++)
		;
}

/* Checks that calls which took longer than the native twin's are found, once, after enough of them. */
static void slower_is_measured(void)
{
	const uint64_t enough = 2 * COSY_RECALL_LEVEL(1) / GAIN;
	struct cosy_region region = new_region(), other = new_region();

	region.call_gain = GAIN;
	region.flags = COSY_REGION_KEYED;
	CHECK(!libcosy_pace_level(&region));
	burn();
	/* A region of an older compiler does not count its calls. */
	CHECK(!libcosy_pace_level(&region));
	region.flags |= COSY_REGION_COUNTED;
	CHECK(!libcosy_pace_level(&region));
	burn();
	CHECK(!libcosy_pace_level(&region));
	region.calls += 1000 * COSY_CALL_PARTS;
	burn();
	CHECK(libcosy_pace_level(&region) > 0);
	/* Nothing is measured of a region without a native pace. */
	recall_pace(&region, 0);
	libcosy_pace_enter(&region);
	CHECK(!libcosy_pace_is_slower(&region, 2 * enough));
	for (uint32_t native = 1; native; native = native == 1 ? UINT32_MAX : 0) {
		recall_pace(&region, native);
		libcosy_pace_enter(&region);
		burn();
		/* The first calls are left out, and those before a program was loaded. */
		CHECK(!libcosy_pace_is_slower(&region, enough - 1));
		CHECK(!libcosy_pace_is_slower(&region, enough - 1));
		libcosy_pace_restart();
		CHECK(!libcosy_pace_is_slower(&region, enough - 1));
		CHECK(!libcosy_pace_is_slower(&region, enough - 1));
		CHECK(!libcosy_pace_is_slower(&other, enough));
		burn();
		CHECK_EQ(libcosy_pace_is_slower(&region, 8), native == 1);
		CHECK(!libcosy_pace_is_slower(&region, 2 * enough));
	}
}

/* Checks that a region whose calls save little is measured after so many calls, not by savings. */
static void little_gain_is_measured(void)
{
	struct cosy_region region = new_region();

	region.flags = COSY_REGION_KEYED | COSY_REGION_COUNTED;
	region.call_gain = 1;
	libcosy_pace_level(&region);
	recall_pace(&region, 1);
	libcosy_pace_enter(&region);
	CHECK(!libcosy_pace_is_slower(&region, 500));
	burn();
	CHECK(!libcosy_pace_is_slower(&region, 500));
	burn();
	CHECK(libcosy_pace_is_slower(&region, 600));
}

/* Checks that each window is compared with the native pace of the same levels. */
static void later_windows_are_measured(void)
{
	struct cosy_region region = new_region(), other = new_region();
	struct cosy_recall recall = {.pace = UINT32_MAX, .call_gain = GAIN};
	const uint64_t first = 2 * COSY_RECALL_LEVEL(1) / GAIN;

	region.flags = COSY_REGION_KEYED | COSY_REGION_COUNTED;
	region.saved = (int64_t)COSY_RECALL_LEVEL(1);
	other.flags = region.flags;
	libcosy_pace_level(&region);
	/* No call is as quick as those until the last level. */
	recall.paces[2] = UINT32_MAX;
	recall.paces[3] = UINT32_MAX;
	recall.paces[4] = UINT32_MAX;
	recall.paces[5] = 1;
	libcosy_pace_recall(&region, &recall);
	libcosy_pace_enter(&region);
	burn();
	CHECK(!libcosy_pace_is_slower(&region, first / 4));
	burn();
	CHECK(!libcosy_pace_is_slower(&region, first));
	burn();
	CHECK(!libcosy_pace_is_slower(&region, COSY_RECALL_LEVEL(4) / GAIN));
	CHECK(libcosy_pace_is_slower(&region, COSY_RECALL_LEVEL(5) / GAIN));
	CHECK(!libcosy_pace_is_slower(&region, COSY_RECALL_LEVEL(6) / GAIN));
	/* It was measured once. */
	libcosy_pace_enter(&region);
	burn();
	CHECK(!libcosy_pace_is_slower(&region, COSY_RECALL_LEVEL(6) / GAIN));
	/* Another region that counts natively ends a later window. */
	libcosy_pace_level(&region);
	libcosy_pace_recall(&region, &recall);
	libcosy_pace_enter(&region);
	CHECK(!libcosy_pace_is_slower(&region, first / 4));
	CHECK(!libcosy_pace_is_slower(&region, first));
	libcosy_pace_level(&other);
	CHECK(!libcosy_pace_is_slower(&region, COSY_RECALL_LEVEL(6) / GAIN));
}

/* Checks that a long RUN may be as much slower as the native paces differ, and a little more. */
static void even_paces_tolerate_less(void)
{
	const uint64_t end = COSY_RECALL_LEVEL(4);
	struct cosy_region region = new_region();
	struct cosy_recall recall = {.pace = 3200, .call_gain = GAIN};

	region.flags = COSY_REGION_KEYED | COSY_REGION_COUNTED;
	libcosy_pace_level(&region);
	libcosy_pace_recall(&region, &recall);
	CHECK_EQ(libcosy_pace_tolerated(3200, end), 640);
	recall.paces[2] = 3300;
	recall.paces[3] = 3250;
	libcosy_pace_recall(&region, &recall);
	CHECK_EQ(libcosy_pace_tolerated(3200, end), 640);
	/* The first one does not count. */
	recall.paces[1] = 9000;
	libcosy_pace_recall(&region, &recall);
	CHECK_EQ(libcosy_pace_tolerated(3200, end), 250);
	/* Nothing is known of what comes long after. */
	CHECK_EQ(libcosy_pace_tolerated(3200, end + 2), 640);
	/* Nor does a later level count. */
	recall.paces[5] = 3600;
	libcosy_pace_recall(&region, &recall);
	CHECK_EQ(libcosy_pace_tolerated(3200, COSY_RECALL_LEVEL(3)), 250);
	CHECK_EQ(libcosy_pace_tolerated(3200, end), 550);
	recall.paces[5] = 4000;
	libcosy_pace_recall(&region, &recall);
	CHECK_EQ(libcosy_pace_tolerated(3200, end), 640);
}

/*
 * Checks that the same calls in much less time are not found slower, although the compiler guessed a
 * small part of what the native twin counted that a call saves.
 */
static void calls_are_compared(void)
{
	const uint64_t calls = 1000;
	struct cosy_region region = new_region();

	region.flags = COSY_REGION_KEYED | COSY_REGION_COUNTED;
	region.call_gain = 2 * COSY_RECALL_LEVEL(1) / calls + 1;
	libcosy_pace_level(&region);
	for (int i = 0; i < 50; i++)
		burn();
	region.calls += calls * COSY_CALL_PARTS;
	region.saved = 500 * (int64_t)(calls * region.call_gain);
	recall_pace(&region, libcosy_pace_level(&region));
	libcosy_pace_enter(&region);
	CHECK(!libcosy_pace_is_slower(&region, calls / 2));
	burn();
	CHECK(!libcosy_pace_is_slower(&region, 2 * calls));
	/* They are, compared with a pace that no call can have. */
	recall_pace(&region, 1);
	libcosy_pace_enter(&region);
	CHECK(!libcosy_pace_is_slower(&region, calls / 2));
	burn();
	CHECK(libcosy_pace_is_slower(&region, 2 * calls));
}

static void loops_count_in_their_region(void)
{
	struct cosy_region region = new_region(), head = new_region();
	long alone = arrivals_until_load(&region, 1000000), together;

	region = new_region();
	region.loops = 1;
	region.gain = -GAIN;
	head.entry = &region;
	CHECK(!arrive(&region));
	together = arrivals_until_load(&head, 1000000);
	CHECK(together > alone && together < 2 * alone);
	CHECK(arrive(&region));
}

/*
 * Checks that loops go on entering while the entry's program is not compiled, once a loop's has
 * entered; but that all wait where a loop's is missing.
 */
static void loops_enter_without_the_entry(void)
{
	for (int entry = 0; entry < 2; entry++) {
		struct cosy_region region = new_region(), head = new_region();

		libcosy_history_lacks = false;
		region.flags = COSY_REGION_KEYED;
		region.key[0] = 1;
		region.loops = 1;
		head.entry = &region;
		CHECK(arrivals_until(&head, 1000000) < 1000000);
		CHECK(libcosy_tier_only_seen(&head));
		CHECK(!libcosy_tier_has_entered(&region));
		libcosy_tier_entered(&head);
		CHECK(libcosy_tier_has_entered(&region));
		libcosy_tier_unseen(entry ? &region : &head);
		CHECK_EQ(arrive(&head), entry);
		CHECK_EQ(libcosy_tier_only_seen(&head), entry);
	}
}

/* Checks that an entry that comes soon goes to the kernel in place of a loop's head. */
static void heads_wait_for_the_entry(void)
{
	for (int comes = 0; comes < 2; comes++) {
		struct cosy_region region = new_region(), head = new_region();
		long waited = 0;

		region.loops = 1;
		head.entry = &region;
		CHECK(!arrive(&region));
		while (region.left >= 0)
			arrive(&head);
		for (int i = 0; comes && i < 20; i++)
			CHECK(!arrive(&head));
		if (comes) {
			CHECK(arrive(&region));
			continue;
		}
		while (waited < 1000 && !arrive(&head))
			waited++;
		CHECK(waited >= 20 && waited < 100);
	}
}

/* Checks that a program is given up after a loss that is small beside what the region cost so far. */
static void tolerates_small_losses(void)
{
	struct cosy_region region = new_region();

	region.flags = COSY_REGION_KEYED;
	region.saved = 0;
	CHECK_EQ(libcosy_tier_tolerated_loss(&region), COSY_MIN_BALANCE_LOSS);
	region.saved = 2 * COSY_MIN_BALANCE_LOSS * COSY_TIER_SHARE;
	CHECK_EQ(libcosy_tier_tolerated_loss(&region), 2 * COSY_MIN_BALANCE_LOSS);
	region.saved = INT64_MAX / 2;
	CHECK_EQ(libcosy_tier_tolerated_loss(&region), COSY_MAX_BALANCE_LOSS);
}

static void losing_stays_native(void)
{
	struct cosy_region region = new_region();

	region.flags = COSY_REGION_LOSES;
	CHECK_EQ(arrivals_until(&region, 100), 100);
	CHECK_EQ(region.left, INT64_MAX);
	region.left = INT64_MIN;
	region.flags |= COSY_REGION_FORCE;
	CHECK(arrive(&region));
}

static void large_costs_are_counted_too(void)
{
	struct cosy_region region = new_region();
	struct cosy_compound *compound = (void *)region.compound;

	compound->insn_cnt = 1u << 20;
	CHECK(!arrive(&region));
	CHECK(region.left > 0 && region.left <= COSY_LEFT_MAX);
}

static void refused_asks_no_more(void)
{
	struct cosy_region region = new_region();

	arrivals_until(&region, 1000000);
	libcosy_tier_denied(&region, false);
	CHECK(region.left > 0 && region.left <= COSY_LEFT_MAX);
	libcosy_tier_denied(&region, true);
	CHECK_EQ(region.left, INT64_MAX);
	CHECK(!arrive(&region));
}

static void counts_from_zero_by_number(void)
{
	struct cosy_region region = new_region();

	libcosy_settings.tier = 3;
	CHECK_EQ(arrivals_until(&region, 100), 3);
	CHECK(arrive(&region));
	libcosy_settings.tier = 0;
	region = new_region();
	CHECK(arrive(&region));
	libcosy_settings.tier = COSY_TIER_AUTO;
}

/* --- A thread that asks while another one forks ----------------------------------------------- */

static bool device_is_held, device_is_reached;

/* In libc's place: to explain that there is no device lasts as long as device_is_held. */
char *strerror(int error)
{
	static char text[] = "an error";

	(void)error;
	if (__atomic_load_n(&device_is_held, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&device_is_reached, true, __ATOMIC_RELEASE);
		while (__atomic_load_n(&device_is_held, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	return text;
}

static void *ask(void *arg)
{
	libcosy_context_open();
	return arg;
}

static void *let_go(void *arg)
{
	/* The fork is under way by then, or over. */
	for (int i = 0; i < 1000; i++)
		sched_yield();
	__atomic_store_n(&device_is_held, false, __ATOMIC_RELEASE);
	return arg;
}

/* Checks that a fork child does not wait for a thread of its parent's, which it has not. */
static void fork_children_do_not_wait_for_the_asker(void)
{
	pthread_t asker, other;
	int status;
	pid_t pid;

	device_is_held = true;
	CHECK(!pthread_create(&asker, NULL, ask, NULL));
	while (!__atomic_load_n(&device_is_reached, __ATOMIC_ACQUIRE))
		sched_yield();
	CHECK(!pthread_create(&other, NULL, let_go, NULL));
	pid = fork();
	if (!pid) {
		__atomic_store_n(&device_is_held, false, __ATOMIC_RELEASE);
		libcosy_context_open();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!pthread_join(asker, NULL) && !pthread_join(other, NULL));
}

/* Does it in a process of its own: it has threads, and nothing was asked before. */
static void fork_children_are_checked_apart(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fork_children_do_not_wait_for_the_asker();
		_exit(check_result());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
}

/* Checks that a child, which has no context, does not get what its parent has earned. */
static void fork_children_count_anew(void)
{
	struct cosy_region region = new_region();
	int status;
	pid_t pid;

	libcosy_settings.mode = COSY_MODE_INTERP;
	libcosy_settings.tier = 1000000;
	MUST(libcosy_context_open());
	libcosy_settings.mode = COSY_MODE_AUTO;
	libcosy_settings.tier = COSY_TIER_AUTO;
	arrivals_until(&region, 1000000);
	CHECK(arrive(&region));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		CHECK(!arrive(&region));
		_exit(check_failures != 0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_EQ(status, 0);
	CHECK(arrive(&region));
}

/* Checks the references by which libcosy knows at the start whether a seccomp filter may come. */
static void references_are_found(void)
{
	const char *const names[] = {"cosy_no_such", "waitpid"}, *const none[] = {"cosy_no_such"};
	const void *last;
	uint64_t seen = 0;

	for (int i = 0; i < 2; i++)
		CHECK_EQ(libcosy_any_refers_to(names, 2, &seen), COSY_REFERRED);
	CHECK_EQ(libcosy_any_refers_to(none, 1, &seen), COSY_NOT_REFERRED);
	CHECK(seen > 0);
	CHECK_EQ(libcosy_any_refers_to(names, 2, &seen), COSY_NOT_REFERRED);
	CHECK_EQ(libcosy_any_refers_at_start(names, 2, &last), COSY_REFERRED);
	CHECK(!libcosy_object_is_last(last));
	CHECK_EQ(libcosy_any_refers_at_start(none, 1, &last), COSY_NOT_REFERRED);
	CHECK(libcosy_object_is_last(last));
	MUST(dlopen("libresolv.so.2", RTLD_NOW));
	CHECK(!libcosy_object_is_last(last));
}

int main(void)
{
	/* The settings, once read, are this test's. */
	libcosy_settings_init();
	libcosy_settings.mode = COSY_MODE_AUTO;
	libcosy_settings.tier = COSY_TIER_AUTO;
	libcosy_settings.stats = false;
	fork_children_are_checked_apart();
	earns_what_it_costs();
	earns_that_it_is_compiled();
	earns_it_without_history();
	counts_many_at_once();
	earns_it_while_counted();
	slower_is_measured();
	little_gain_is_measured();
	later_windows_are_measured();
	even_paces_tolerate_less();
	calls_are_compared();
	loops_count_in_their_region();
	loops_count_while_counted();
	loops_enter_without_the_entry();
	heads_wait_for_the_entry();
	tolerates_small_losses();
	losing_stays_native();
	large_costs_are_counted_too();
	refused_asks_no_more();
	counts_from_zero_by_number();
	fork_children_count_anew();
	references_are_found();
	return check_result();
}
