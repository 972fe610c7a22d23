// SPDX-License-Identifier: MIT
/* compounds.c - see compounds.h. */
#include <string.h>

#include "../../core/costs.h"

#include "files/compounds.h"
#include "region/region.h"

#include "files_compounds.h"

/* Entries that a list finds, to estimate the saving of each of its calls. */
#define SUPPOSED_ENTRIES 16

/* A call costs what an entry does, natively: see core/costs.h. */
#define SHARE(gain) (COSY_TIER_SHARE * (gain) / COSY_PLAIN_ENTRY)

/* An open, two reads and a close: what they save in the kernel, and what they cost natively. */
#define FILE_GAIN  (COSY_GAIN_FAST + COSY_GAIN_CALL)
#define PLAIN_FILE (COSY_PLAIN_PATH + 2 * COSY_PLAIN_FAST + COSY_PLAIN_CALL)

/*
 * Each has the size of its context, and the saving of a call, counted by the module and natively.
 */
#define REGION(name, times, calls_gain)                                                            \
	{                                                                                          \
		.compound = compound_##name,                                                       \
		.ctx_size = COMPOUND_##name##_CTX,                                                 \
		.version = 2,                                                                      \
		.premises = (const struct cosy_premises *)premises_##name,                         \
		.left = -1,                                                                        \
		.share = times,                                                                    \
		.flags = COSY_REGION_KEYED,                                                        \
		.key = COMPOUND_##name##_KEY,                                                      \
		.call_gain = calls_gain,                                                           \
	}

static struct cosy_region regions[FILES_COMPOUNDS] = {
	[FILES_LIST] = REGION(list, SHARE(COSY_GAIN_ENTRY), SUPPOSED_ENTRIES *COSY_GAIN_ENTRY),
	[FILES_STAT] = REGION(stat, SHARE(COSY_GAIN_NAME), COSY_GAIN_NAME),
	[FILES_READ] = REGION(read, COSY_TIER_SHARE *FILE_GAIN / PLAIN_FILE, FILE_GAIN / 4),
};

static const int32_t gains[FILES_COMPOUNDS] = {
	[FILES_LIST] = COSY_GAIN_ENTRY,
	[FILES_STAT] = COSY_GAIN_NAME,
	[FILES_READ] = FILE_GAIN,
};

static const uint32_t sizes[FILES_COMPOUNDS] = {
	[FILES_LIST] = sizeof(struct files_list),
	[FILES_STAT] = sizeof(struct files_stat),
	[FILES_READ] = sizeof(struct files_read),
};

/* One member for each variable; the builder's own one follows. */
_Static_assert(sizeof(struct files_list) + 8 == COMPOUND_list_CTX, "");
_Static_assert(sizeof(struct files_stat) + 8 == COMPOUND_stat_CTX, "");
_Static_assert(sizeof(struct files_read) + 8 == COMPOUND_read_CTX, "");

bool libcosy_files_ready(enum files_compound which)
{
	return __atomic_load_n(&regions[which].left, __ATOMIC_RELAXED) < 0;
}

bool libcosy_files_run(enum files_compound which, void *words)
{
	struct cosy_region *region = &regions[which];
	bool ran = false;
	void *ctx;

	if (!libcosy_files_ready(which))
		return false;
	ctx = __cosy_enter(region);
	if (!ctx)
		return false;
	memcpy(ctx, words, sizes[which]);
	if (__cosy_run(region, ctx) >= 0) {
		memcpy(words, ctx, sizes[which]);
		ran = true;
	}
	__cosy_leave(ctx);
	return ran;
}

void libcosy_files_count(enum files_compound which, size_t calls)
{
	struct cosy_region *region = &regions[which];
	int64_t left = __atomic_load_n(&region->left, __ATOMIC_RELAXED);
	int64_t saved = (int64_t)calls * gains[which] - COSY_COST_RUN;

	if (left <= COSY_LEFT_MAX && saved > 0)
		__atomic_store_n(&region->left, left - saved, __ATOMIC_RELAXED);
}
