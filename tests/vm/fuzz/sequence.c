// SPDX-License-Identifier: MIT
/* sequence.c - sequences as text, and chance. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sequence.h"

const char *const step_names[STEP_KINDS] = {
#define STEP(name, weight) [STEP_##name] = #name,
#include "steps.def"
};

bool step_is_code(enum step_kind kind)
{
	return kind >= STEP_code_constant;
}

bool step_lasts(enum step_kind kind)
{
	return kind == STEP_filter || kind == STEP_rights || kind == STEP_bounds ||
	       kind == STEP_exec || kind == STEP_kill || kind == STEP_pressure;
}

static uint32_t step_arguments(const struct step *step)
{
	uint32_t count = STEP_ARGS;

	while (count && !step->arg[count - 1])
		count--;
	return count;
}

size_t sequence_write(const struct sequence *sequence, char *text, size_t size)
{
	size_t at = (size_t)sprintf(text, "%s", sequence->follows ? "# follows\n" : "");

	for (uint32_t i = 0; i < sequence->count && at + 100 < size; i++) {
		const struct step *step = &sequence->steps[i];
		uint32_t count = step_arguments(step);

		at += (size_t)sprintf(text + at, "%s %u", step_names[step->kind], step->thread);
		for (uint32_t k = 0; k < count; k++)
			at += (size_t)sprintf(text + at, " %x", step->arg[k]);
		at += (size_t)sprintf(text + at, "\n");
	}
	return at;
}

static int step_find(const char *name)
{
	for (int i = 0; i < STEP_KINDS; i++)
		if (!strcmp(name, step_names[i]))
			return i;
	return -1;
}

static void line_read(char *line, struct sequence *ret)
{
	struct step *step = &ret->steps[ret->count];
	char *word = strtok(line, " \t"), *thread = strtok(NULL, " \t");
	int kind = step_find(word);

	if (kind < 0 || !thread || ret->count == MAX_STEPS) {
		fprintf(stderr, "no step: %s\n", word);
		exit(2);
	}
	memset(step, 0, sizeof(*step));
	step->kind = (uint8_t)kind;
	step->thread = (uint8_t)(atoi(thread) % MAX_THREADS);
	for (int k = 0; k < STEP_ARGS && (word = strtok(NULL, " \t")); k++)
		step->arg[k] = (uint32_t)strtoul(word, NULL, 16);
	ret->count++;
}

bool sequence_read(const char **text, struct sequence *ret)
{
	char line[128];

	ret->count = 0;
	ret->follows = false;
	while (**text) {
		size_t length = strcspn(*text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)length, *text);
		*text += length + ((*text)[length] == '\n');
		if (line[0] == '#') {
			ret->follows |= !strcmp(line, "# follows");
			continue;
		}
		if (line[0])
			line_read(line, ret);
		else if (ret->count)
			return true;
	}
	return ret->count;
}

static uint64_t chance_state;

void chance_seed(uint64_t seed, uint64_t index)
{
	chance_state = seed * 0xd1b54a32d192ed03u + index;
	for (int i = 0; i < 3; i++)
		chance_state += chance_below(0);
}

uint64_t chance_below(uint64_t below)
{
	uint64_t x = chance_state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	x ^= x >> 31;
	return below ? x % below : x;
}
