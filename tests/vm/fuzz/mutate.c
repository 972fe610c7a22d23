// SPDX-License-Identifier: MIT
/*
 * mutate.c - makes a sequence of others: a field changed, steps repeated, left out, moved, spliced.
 */
#include <string.h>

#include "sequence.h"

static void steps_remove(struct sequence *s, uint32_t at, uint32_t count)
{
	memmove(&s->steps[at], &s->steps[at + count],
		(s->count - at - count) * sizeof(s->steps[0]));
	s->count -= count;
}

/* Inserts what fits of `count` steps, which may be its own. */
static void steps_insert(struct sequence *s, uint32_t at, const struct step *from, uint32_t count)
{
	struct step copy[MAX_STEPS];

	if (count > MAX_STEPS - s->count)
		count = MAX_STEPS - s->count;
	memcpy(copy, from, count * sizeof(copy[0]));
	memmove(&s->steps[at + count], &s->steps[at], (s->count - at) * sizeof(s->steps[0]));
	memcpy(&s->steps[at], copy, count * sizeof(copy[0]));
	s->count += count;
}

static void field_change(struct step *step)
{
	uint32_t *arg = &step->arg[chance_below(STEP_ARGS)];

	switch (chance_below(6)) {
	case 0:
		*arg = (uint32_t)chance_below(0);
		break;
	case 1:
		*arg += (uint32_t)chance_below(33) - 16;
		break;
	case 2:
		*arg ^= 1u << chance_below(32);
		break;
	case 3:
		*arg = (uint32_t)chance_below(256);
		break;
	case 4:
		*arg = 0;
		break;
	default:
		step->thread = (uint8_t)chance_below(MAX_THREADS);
	}
}

/* Moves what comes from a place on to the end, and puts the other's end there. */
static void steps_splice(struct sequence *s, const struct sequence *other)
{
	uint32_t at = (uint32_t)chance_below(s->count + 1);
	uint32_t from = (uint32_t)chance_below(other->count);

	if (chance_below(2))
		s->count = at;
	steps_insert(s, at, &other->steps[from], other->count - from);
}

static void change_once(struct sequence *s, const struct sequence *other)
{
	uint32_t at = (uint32_t)chance_below(s->count);
	uint32_t count = 1 + (uint32_t)chance_below(s->count - at);

	switch (chance_below(12)) {
	case 0 ... 4:
		field_change(&s->steps[at]);
		break;
	case 5:
		if (s->count > count)
			steps_remove(s, at, chance_below(2) ? 1 : count);
		break;
	case 6 ... 7:
		steps_insert(s, (uint32_t)chance_below(s->count + 1), &s->steps[at],
			     chance_below(2) ? 1 : count);
		break;
	case 8 ... 9:
		steps_splice(s, other);
		break;
	default:
		sequence_extend(s);
	}
}

void sequence_mutate(struct sequence *s, const struct sequence *other)
{
	uint32_t times = 1 + (uint32_t)chance_below(4);

	while (times-- && s->count)
		change_once(s, other);
}
