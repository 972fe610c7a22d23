// SPDX-License-Identifier: MIT
/* cosy.c - <cosy/cosy.h>: handles, and compounds that are loaded and run by hand. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/cancel.h"
#include "region/run.h"
#include "process/settings.h"
#include "process/stats.h"

#include <cosy/cosy.h>

/* A handle has no state of its own: the context is the process's. */
struct cosy {
	char reason[160];
};

int cosy_init(struct cosy **ret)
{
	struct cosy *cosy = calloc(1, sizeof(*cosy));

	if (!cosy)
		return -ENOMEM;
	libcosy_context_open();
	*ret = cosy;
	return 0;
}

void cosy_release(struct cosy *cosy)
{
	free(cosy);
}

const char *cosy_native_reason(struct cosy *cosy)
{
	const char *reason;

	if (libcosy_context_open() && libcosy_context_fd() >= 0)
		return NULL;
	if (libcosy_settings.mode == COSY_MODE_NATIVE || libcosy_settings.mode == COSY_MODE_INTERP)
		reason = "COSY_MODE is native or interp";
	else
		reason = libcosy_context_reason();
	snprintf(cosy->reason, sizeof(cosy->reason), "%s", reason);
	return cosy->reason;
}

/* --- Loading --------------------------------------------------------------------------- */

static void error_explain(struct cosy_error *error, u32 insn, const char *reason)
{
	if (!error)
		return;
	memset(error, 0, sizeof(*error));
	error->insn = insn;
	snprintf(error->reason, sizeof(error->reason), "%s", reason);
}

int cosy_load(struct cosy *cosy, const void *compound, size_t len, struct cosy_loaded **ret,
	      struct cosy_error *error)
{
	struct cosy_reject why = {.insn = ~0u};
	void *copy = core_alloc(len);
	int err = -ENOMEM;

	(void)cosy;
	if (copy) {
		memcpy(copy, compound, len);
		err = libcosy_program_create(copy, len, ret, &why);
	}
	if (err) {
		error_explain(error, why.insn, why.reason[0] ? why.reason : strerror(-err));
		core_free(copy);
	}
	return err;
}

void cosy_unload(struct cosy_loaded *loaded)
{
	const void *copy;

	if (!loaded)
		return;
	copy = loaded->container.header;
	libcosy_program_destroy(loaded);
	core_free(copy);
}

/* --- Running ------------------------------------------------------------------------------ */

static enum libcosy_outcome loaded_run_bound(struct libcosy_thread *thread,
					     struct cosy_loaded *loaded,
					     struct libcosy_activation *act)
{
	if (libcosy_may_be_cancelled(thread->cancels))
		return libcosy_run_cancellable(thread, loaded, act, true);
	return libcosy_run_bound(thread, loaded, act, true);
}

static enum libcosy_outcome loaded_run(struct libcosy_thread *thread, struct cosy_loaded *loaded,
				       struct libcosy_activation *act)
{
	enum libcosy_outcome outcome;
	struct libcosy_place place;

	if (!thread->filtered && !thread->pause &&
	    libcosy_program_place(loaded, libcosy_context_open(), 0) &&
	    libcosy_place_get(loaded, &place)) {
		libcosy_activation_bind(act, &place);
		outcome = loaded_run_bound(thread, loaded, act);
		if (outcome != COSY_RAN_NOTHING)
			return outcome;
	} else if (thread->pause) {
		thread->pause--;
	}
	libcosy_activation_bind(act, NULL);
	return loaded_run_bound(thread, loaded, act);
}

static int loaded_ran_out(const struct cosy_loaded *loaded, const struct libcosy_activation *act,
			  struct cosy_error *error)
{
	const struct cosy_line *line = cosy_line_find(&loaded->container, act->run.resume - 1);
	bool steps = act->run.status == COSY_ENDED_STEPS;
	char reason[160], place[80] = "";

	if (line && line->line)
		snprintf(place, sizeof(place), " at %s:%u", loaded->container.strings + line->file,
			 line->line);
	snprintf(reason, sizeof(reason), "the limit of %s was reached%s after %llu steps",
		 steps ? "steps" : "time", place, (unsigned long long)act->state.steps);
	error_explain(error, act->run.resume - 1, reason);
	return steps ? -EDQUOT : -ETIME;
}

int cosy_run(struct cosy *cosy, struct cosy_loaded *loaded, void *ctx, size_t len, int64_t *ret,
	     struct cosy_error *error)
{
	struct libcosy_site site = COSY_SITE();
	u32 size = loaded->container.header->ctx_size;
	struct libcosy_thread *thread = libcosy_thread();
	struct libcosy_activation *act = NULL;
	int err = 0;

	(void)cosy;
	if (thread)
		act = libcosy_activation_push(thread, size, site);
	if (!act) {
		error_explain(error, ~0u, "no memory for the compound's context");
		return -ENOMEM;
	}
	if (len > size)
		len = size;
	if (len)
		memcpy(act->ctx, ctx, len);
	memset((u8 *)act->ctx + len, 0, size - len);
	libcosy_count(&libcosy_counts.regions, 1);
	if (loaded_run(thread, loaded, act) == COSY_RAN_OUT)
		err = loaded_ran_out(loaded, act, error);
	else if (ret)
		*ret = act->run.ret;
	if (len)
		memcpy(ctx, act->ctx, len);
	libcosy_block_pop(act->ctx);
	return err;
}
