/* SPDX-License-Identifier: MIT */
/* saving.h - the common part of all advice: ranges of savings, and when they are advised. */
#ifndef COSY_PROFILE_SAVING_H
#define COSY_PROFILE_SAVING_H

#include "advise/advise.h"

/* Smallest saving, in parts of the whole, that is worth a line. */
#define MIN_SHARE 0.01
/* Things that might cost more are not advised. */
#define MAX_LOSS 0.02

/*
 * Share of the calls or the time from which files that are read or written whole are worth a line.
 */
#define WHOLE_SHARE 0.02

/* Times a getppid by which a call, at most, slows the program's own code after it. */
#define CROSSING_LEAVES 0.6

/*
 * Largest part of a call's time that can remain; above, and below 0, it is instructions left out.
 */
#define MAX_PART 2

/* The time of a plain call that remains in a region, from model.h. */
struct model_class {
	const char *title;
	double ordinary, least, most, named;
};

/* ns. */
struct saving {
	double low, middle, high;
};

/*
 * Returns the processor time of calls less the recording's, but never less than the time of empty
 * calls.
 */
double saving_cpu(const struct profile *profile, uint64_t calls, uint64_t cpu);

/* Rounds ns within int64_t, because a hostile recording may sum up to anything. */
int64_t saving_ns(double ns);

/* True if the saving is worth a finding. */
bool saving_pays(const struct advice *advice, const struct saving *saving);

/* Returns a new finding, or NULL: there is no room. */
struct finding *finding_new(struct advice *advice, enum advise_way way, struct saving saving);

/* Advise `cosy run`, and `cosy run --relax`. */
void run_advise(struct advice *advice);
void run_advise_relaxed(struct advice *advice);

#endif /* COSY_PROFILE_SAVING_H */
