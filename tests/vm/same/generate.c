// SPDX-License-Identifier: MIT
/*
 * generate.c - makes a batch of random steps; the same ones from the same seed, wherever memory
 * lies.
 */
#include "arguments.h"

static const struct {
	const char *name, *arguments;
	uint32_t weight;
} calls[STEP_CALLS] = {
#define STEP(call, arguments, weight)	   { #call, arguments, weight },
#define OPERATION(name, arguments, weight) { #name, arguments, weight },
#include "steps.def"
};

/* Draws by splitmix64. */
uint32_t draw(struct round *round, uint32_t n)
{
	uint64_t z = round->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

static void a_step(struct round *round, uint32_t index, uint32_t op)
{
	struct step *step = &round->batch->step[index];
	struct making m = {
		.round = round, .step = step, .index = index, .text = round->text[index]
	};

	*step = (struct step){ .op = op, .times = 1, .into = -1 };
	SAY(&m, "%s", calls[op].name);
	for (; calls[op].arguments[m.arg]; m.arg++)
		if (calls[op].arguments[m.arg] != '0' || op != STEP_fcntl)
			argument_make(&m, calls[op].arguments[m.arg]);
	if (op == STEP_openat || op == STEP_open || op == STEP_dup || op == STEP_dup2) {
		step->into = (int32_t)(8 + draw(round, SLOTS - 8));
		SAY(&m, " -> #%d", step->into);
	}
	/* A scan's result is looked at after the batch: each has a place of its own. */
	if (op != STEP_dup && op != STEP_open && op != STEP_openat && op != STEP_umask &&
	    op != STEP_scan_dir && op != STEP_scan_tree && draw(round, 4) == 0) {
		step->times = 2 + draw(round, 12);
		SAY(&m, " x%u", step->times);
	}
}

/* Makes a scan that continues the one at n - 1. */
static void a_scan_again(struct round *round, uint32_t n)
{
	struct step *step = &round->batch->step[n];

	*step = step[-1];
	step->arg[1] += OUT;
	strcpy(round->text[n], round->text[n - 1]);
}

/* Rewinds the directory that the step at n + 1 lists. */
static void a_rewind(struct round *round, uint32_t n)
{
	const struct step *list = &round->batch->step[n + 1];

	round->batch->step[n] = (struct step){
		.op = STEP_lseek,
		.times = 1,
		.into = -1,
		.slots = list->slots & 1,
		.arg = { list->arg[0] },
	};
	strcpy(round->text[n], "lseek to the start of what comes next");
}

static uint32_t a_call(struct round *round)
{
	uint32_t sum = 0, at;

	for (uint32_t i = 0; i < STEP_CALLS; i++)
		sum += calls[i].weight;
	at = draw(round, sum);
	for (uint32_t i = 0;; i++) {
		if (at < calls[i].weight)
			return i;
		at -= calls[i].weight;
	}
}

static bool changes_files(uint32_t op)
{
	switch (op) {
	case STEP_read:
	case STEP_pread64:
	case STEP_lseek:
	case STEP_fstat:
	case STEP_stat:
	case STEP_lstat:
	case STEP_newfstatat:
	case STEP_statx:
	case STEP_getxattr:
	case STEP_lgetxattr:
	case STEP_readlinkat:
	case STEP_readlink:
	case STEP_access:
	case STEP_faccessat:
	case STEP_faccessat2:
	case STEP_getdents64:
	case STEP_getpid:
	case STEP_gettid:
		return false;
	default:
		return true;
	}
}

/*
 * Returns whether what `op` leaves is the same wherever the clock ticks inside it.  A call that
 * reads a file, writes it and notes the access last does not: under relatime the next read of that
 * file moves its access time or not, depending on whether the clock ticked before that note.
 */
static bool is_repeatable(const struct round *round, uint32_t op)
{
	return !round->ticks || (op != STEP_sendfile && op != STEP_copy_file_range);
}

void batch_generate(struct round *round)
{
	struct batch *batch = round->batch;
	uint32_t wanted = 4 + draw(round, STEPS - 7), n = 0;

	round->change_count = round->walk_count = 0;
	while (n < wanted) {
		uint32_t op = a_call(round);

		if ((op == STEP_setfsuid && !round->as_root) || !is_repeatable(round, op) ||
		    (op == STEP_scan_tree && round->walk_count == WALKS))
			continue;
		if (draw(round, 12) == 0 && round->change_count < CHANGES) {
			uint32_t change = round->change_count++;

			other_generate(round, &round->changes[change], round->text[n]);
			batch->step[n++] = (struct step){
				.op = STEP_other, .times = 1, .into = -1, .arg = { change }
			};
		} else {
			bool rewinds = (op == STEP_scan_dir || op == STEP_scan_tree ||
					op == STEP_getdents64) &&
				       draw(round, 2);

			a_step(round, n + rewinds, op);
			if (rewinds)
				a_rewind(round, n++);
			n++;
			while (op == STEP_scan_dir && n < STEPS - 2 && draw(round, 2))
				a_scan_again(round, n++);
		}
		if (round->ticks && (batch->step[n - 1].op == STEP_other || changes_files(op)) &&
		    n < STEPS - 1) {
			batch->step[n] = (struct step){ .op = STEP_tick, .times = 1, .into = -1 };
			strcpy(round->text[n++], "tick");
		}
	}
	batch->count = n;
}
