// SPDX-License-Identifier: MIT
/* execute.c - the steps of sequences, by up to three threads each. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"

enum {
	MILLISECONDS = 120, /* that a sequence may take */
	ROUNDS = 40,	    /* that a further thread makes of its steps */
	TICK = 4000,	    /* microseconds between two signals, which end a wait */
	JOINS = 5	    /* such times that a thread has to end in */
};

static struct timespec end;
static _Atomic bool first_is_done;
static void (*cover_thread)(int thread);
static struct actor actors[MAX_THREADS];

static void (*const functions[])(struct actor *actor, const uint32_t *arg) = {
#define STEP(name, weight) [STEP_##name] = step_##name,
#define CODE(name, weight)
#include "steps.def"
};

const char *verdict_text(int status)
{
	static const char *const texts[] = {
		[VERDICT_RESTART - VERDICT_RESTART] =
			"RUN returned an error that is the kernel's own",
		[VERDICT_STATUS - VERDICT_RESTART] = "RUN told a status that does not exist",
		[VERDICT_RESUME - VERDICT_RESTART] =
			"RUN left at an instruction beyond any compound",
		[VERDICT_POSITIVE - VERDICT_RESTART] = "RUN returned a number, and was in no call",
		[VERDICT_HANDLE - VERDICT_RESTART] = "LOAD gave the handle 0",
		[VERDICT_RESUMED - VERDICT_RESTART] =
			"RUN went on from an instruction where no compound can be resumed",
	};

	return status >= VERDICT_RESTART && status < VERDICT_END ? texts[status - VERDICT_RESTART]
								 : NULL;
}

void verdict_is(enum verdict verdict)
{
	_exit(verdict);
}

bool time_is_left(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec);
}

static void time_begin(uint32_t patience)
{
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += MILLISECONDS * 1000000L * patience;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
}

static void on_tick(int number)
{
	(void)number;
}

static void ticks_begin(uint32_t patience)
{
	struct sigaction action = { .sa_handler = on_tick };
	suseconds_t tick = TICK * (suseconds_t)patience;
	struct itimerval often = { { 0, tick }, { 0, tick } };

	sigset_t none;

	/* What an earlier sequence left of them is over. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* Has half of the sequences leave their further threads' steps when the first thread's are done. */
static bool is_cut(const struct sequence *sequence)
{
	return !(sequence->count & 1);
}

/* Makes the thread's steps once. */
static void actor_act(struct actor *actor)
{
	const struct sequence *sequence = actor->sequence;

	actor->end = sequence->count;
	for (actor->at = 0; actor->at < actor->end && actor->at < sequence->count; actor->at++) {
		const struct step *step = &sequence->steps[actor->at];

		if (step->thread != actor->thread)
			continue;
		if (!time_is_left() || (actor->thread && first_is_done && is_cut(sequence)))
			return;
		if (step_is_code(step->kind))
			builder_add(&actor->builder, step);
		else
			functions[step->kind](actor, step->arg);
	}
}

static void *actor_main(void *argument)
{
	struct actor *actor = argument;

	if (cover_thread)
		cover_thread(actor->thread);
	for (int i = 0; i < ROUNDS && !first_is_done; i++)
		actor_act(actor);
	if (actor->forks == FORKED)
		_exit(VERDICT_FINE);
	return NULL;
}

static bool actor_is_wanted(const struct sequence *sequence, int thread)
{
	for (uint32_t i = 0; i < sequence->count; i++)
		if (sequence->steps[i].thread == thread)
			return true;
	return false;
}

/* Waits for the thread, and wakes it from what it waits for.  Returns false if it does not end. */
static bool thread_join(pthread_t thread)
{
	for (int tries = 0; tries < JOINS; tries++) {
		struct timespec at;

		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += TICK * 1000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		if (!pthread_timedjoin_np(thread, NULL, &at))
			return true;
		pthread_kill(thread, SIGUSR1);
	}
	return false;
}

/* Returns whether a step of it changes the process for good. */
static bool sequence_lasts(const struct sequence *sequence)
{
	for (uint32_t i = 0; i < sequence->count; i++)
		if (step_lasts(sequence->steps[i].kind))
			return true;
	return false;
}

bool sequence_execute(const struct sequence *sequence, uint32_t patience, bool goes_on,
		      void (*cover)(int thread))
{
	pthread_t threads[MAX_THREADS];
	bool has[MAX_THREADS] = { false };

	cover_thread = cover;
	first_is_done = false;
	time_begin(patience);
	ticks_begin(patience);
	if (cover)
		cover(0);
	for (int i = 0; i < MAX_THREADS; i++) {
		memset(&actors[i], 0, sizeof(actors[i]));
		actors[i].sequence = sequence;
		actors[i].thread = (uint8_t)i;
		if (i && actor_is_wanted(sequence, i))
			has[i] = !pthread_create(&threads[i], NULL, actor_main, &actors[i]);
	}
	actor_act(&actors[0]);
	/* A child that was forked has done its steps. */
	if (actors[0].forks == FORKED)
		_exit(VERDICT_FINE);
	first_is_done = true;
	goes_on = goes_on && !sequence_lasts(sequence);
	/* Where it ends here, let half of them end by themselves, and the others in the middle. */
	for (int i = 1; i < MAX_THREADS; i++)
		if (has[i] && (goes_on || !is_cut(sequence)))
			goes_on = thread_join(threads[i]) && goes_on;
	return goes_on;
}
