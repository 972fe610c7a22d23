// SPDX-License-Identifier: MIT
/*
 * grammar.c - makes sequences: contexts first, then compounds that are loaded and run, and the
 * rest.
 */
#include <string.h>

#include "sequence.h"

static const uint8_t weights[STEP_KINDS] = {
#define STEP(name, weight) [STEP_##name] = (weight),
#include "steps.def"
};

/* Set for each new sequence: a step that lasts costs a process, so most have none. */
static bool may_last = true;

/* Returns one of the kinds from `first` up to, not with, `end`, by weight. */
static enum step_kind kind_any(int first, int end)
{
	uint32_t sum = 0, at;
	int kind;

	for (int i = first; i < end; i++)
		sum += weights[i];
	do {
		at = (uint32_t)chance_below(sum);
		for (kind = first; at >= weights[kind]; kind++)
			at -= weights[kind];
	} while (!may_last && step_lasts((enum step_kind)kind));
	return (enum step_kind)kind;
}

static struct step *step_add(struct sequence *s, enum step_kind kind, uint8_t thread)
{
	static struct step beyond;
	struct step *step = s->count < MAX_STEPS ? &s->steps[s->count++] : &beyond;

	memset(step, 0, sizeof(*step));
	step->kind = (uint8_t)kind;
	step->thread = thread;
	for (int i = 0; i < STEP_ARGS; i++)
		step->arg[i] = (uint32_t)chance_below(0);
	return step;
}

/* Takes the first context mostly, since it is the one that is set up. */
static uint32_t slot_any(void)
{
	return chance_below(4) ? 0 : (uint32_t)chance_below(4);
}

static void context_add(struct sequence *s, uint32_t slot)
{
	static const uint32_t lengths[] = { 0, 1, 2, 4 };
	struct step *step;

	step_add(s, STEP_open, 0)->arg[0] = slot;
	if (!chance_below(8))
		return;
	step = step_add(s, STEP_setbuf, 0);
	step->arg[0] = slot;
	step->arg[1] = lengths[chance_below(4)] << 4;
	step->arg[2] = chance_below(2) ? 0 : lengths[chance_below(4)] << 4;
	step->arg[3] = 0;
	if (!chance_below(8))
		return;
	step = step_add(s, STEP_map, 0);
	step->arg[0] = slot;
	step->arg[1] = step->arg[2] = step->arg[3] = 0;
}

/* Adds a compound, loads it, and runs it a few times. */
static void compound_add(struct sequence *s, uint8_t thread)
{
	uint32_t fragments = 1 + (uint32_t)chance_below(chance_below(4) ? 6 : 16);
	uint32_t slot = slot_any(), handle = (uint32_t)chance_below(4), runs;
	struct step *step;

	while (fragments--)
		step_add(s, kind_any(STEP_code_constant, STEP_KINDS), thread);
	step = step_add(s, STEP_load, thread);
	step->arg[0] = slot;
	step->arg[1] = handle;
	if (chance_below(5))
		step->arg[3] = 0;
	for (runs = 1 + (uint32_t)chance_below(3); runs--;) {
		step = step_add(s, STEP_run, thread);
		step->arg[0] = slot;
		step->arg[1] = handle;
		if (chance_below(2))
			step->arg[5] = 0;
		if (!chance_below(3))
			step_add(s, kind_any(0, STEP_code_constant), thread);
	}
}

/* Adds memory that moves, and moves it. */
static void moves_add(struct sequence *s, uint8_t thread)
{
	uint32_t moves = 2 + (uint32_t)chance_below(6), arena = (uint32_t)chance_below(2);
	struct step *step = step_add(s, STEP_arena, thread);

	step->arg[0] = arena;
	step->arg[2] = 0;
	if (chance_below(4))
		step->arg[3] = 0;
	step_add(s, STEP_touch, thread)->arg[0] = 0x10 | arena << 8;
	while (moves--) {
		step = step_add(s, STEP_move, thread);
		step->arg[0] = slot_any();
		if (!chance_below(3))
			step_add(s, STEP_touch, thread)->arg[0] = 0x10 | arena << 8;
		if (!chance_below(4))
			step_add(s, STEP_parcel, thread);
	}
}

void sequence_extend(struct sequence *s)
{
	uint8_t thread = chance_below(4) ? 0 : (uint8_t)chance_below(MAX_THREADS);

	switch (chance_below(10)) {
	case 0 ... 4:
		compound_add(s, thread);
		break;
	case 5 ... 6:
		moves_add(s, thread);
		break;
	case 7:
		context_add(s, (uint32_t)chance_below(4));
		break;
	default:
		for (uint32_t i = 1 + (uint32_t)chance_below(4); i--;)
			step_add(s, kind_any(0, STEP_code_constant), thread);
	}
}

void sequence_generate(struct sequence *ret)
{
	uint32_t parts = 1 + (uint32_t)chance_below(4);

	may_last = !chance_below(4);
	ret->count = 0;
	ret->follows = false;
	if (chance_below(16))
		context_add(ret, 0);
	while (parts--)
		sequence_extend(ret);
	may_last = true;
}
