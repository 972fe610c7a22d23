// SPDX-License-Identifier: MIT
/* program.c - see program.h. */
#include <errno.h>
#include <string.h>

#include "process/cancel.h"
#include "lock.h"
#include "region/history_key.h"
#include "region/pace.h"
#include "region/program.h"
#include "region/region.h"
#include "region/tier.h"
#include "process/settings.h"

static struct libcosy_lock lock;

bool libcosy_program_lock(void)
{
	return libcosy_lock(&lock);
}

void libcosy_program_unlock(void)
{
	libcosy_unlock(&lock);
}

void libcosy_program_child(void)
{
	lock.word = 0;
}

/* True if a program needs the software stack: it has local calls or alloca operations. */
static bool program_needs_stack(const struct cosy_validated *program)
{
	for (u32 i = 0; i < program->insn_cnt; i++) {
		const struct bpf_insn *insn = &program->insns[i];

		if (program->marks[i] & COSY_MARK_HEAD && insn->code == (BPF_JMP | BPF_CALL) &&
		    (insn->src_reg == BPF_PSEUDO_CALL || insn->imm == COSY_OP_alloca))
			return true;
	}
	return false;
}

/* True if a program has a call that libc may make a cancellation point. */
static bool program_cancels(const struct cosy_validated *program)
{
	for (u32 i = 0; i < program->insn_cnt; i++) {
		const struct cosy_call *call = libcosy_program_call(program, i);

		if (call && call->flags & COSY_CALL_CANCELS)
			return true;
	}
	return false;
}

/*
 * True if RUN's two counts (`calls` and `fast`) show how much a program gains.  They do not if it
 * has a composite, which counts as one call, or a call that its thunk answers, which counts as
 * ordinary.
 */
static bool program_is_counted(const struct cosy_validated *program)
{
	for (u32 i = 0; i < program->insn_cnt; i++) {
		const struct cosy_call *call = libcosy_program_call(program, i);

		if (!call)
			continue;
		if (call->flags & COSY_CALL_COMPOSITE)
			return false;
		switch (call->number) {
#define COSY_THUNK_CALL(number, name, args, flags) case number:
#include "../../core/ops.def"
			return false;
		}
	}
	return true;
}

int libcosy_program_create(const void *compound, size_t len, struct cosy_loaded **ret,
			   struct cosy_reject *why)
{
	struct cosy_loaded *loaded = core_alloc(sizeof(*loaded));
	int err;

	if (!loaded)
		return -ENOMEM;
	err = cosy_compound_open(compound, len, &loaded->container, why);
	if (!err)
		err = cosy_validate(loaded->container.insns, loaded->container.insn_cnt,
				    &loaded->program, why);
	if (err) {
		core_free(loaded);
		return err;
	}
	loaded->needs_stack = program_needs_stack(&loaded->program);
	loaded->cancels = program_cancels(&loaded->program);
	loaded->balance.kept = program_is_counted(&loaded->program);
	*ret = loaded;
	return 0;
}

void libcosy_program_destroy(struct cosy_loaded *loaded)
{
	u64 place = loaded->displaced ? loaded->displaced : loaded->place;
	struct cosy_free free = {.size = sizeof(free), .handle = (u32)place};

	if (free.handle && place >> 32 == libcosy_generation())
		libcosy_context_ioctl(COSY_IOC_FREE, &free);
	cosy_validated_deinit(&loaded->program);
	core_free(loaded);
}

const char *libcosy_program_name(const struct cosy_loaded *loaded)
{
	const struct cosy_container *container = &loaded->container;

	return container->str_size ? container->strings + container->header->name : "(unnamed)";
}

/*
 * Makes a LOAD.  Returns 0 and the program's handle, or LOAD's negative errno and handle 0.  In
 * interpreter mode returns 0 and handle 0, as if refused, so that nothing calls RUN.
 */
static long program_load(struct cosy_loaded *loaded, u32 generation, u32 flags, u32 *handle)
{
	char log[200] = "";
	struct cosy_load arg = {
		.size = sizeof(arg),
		.len = loaded->container.header->size,
		.compound = (u64)loaded->container.header,
		.log = (u64)log,
		.log_size = sizeof(log),
		.flags = flags | (libcosy_settings.ordinary ? COSY_ORDINARY_CALLS : 0),
	};
	long err;

	*handle = 0;
	if (libcosy_context_fd() < 0)
		return 0;
	if (loaded->region && loaded->region->flags & COSY_REGION_KEYED && libcosy_history_works) {
		const struct cosy_history_key key = libcosy_history_key(loaded->region);

		memcpy(arg.key, key.words, sizeof(arg.key));
	} else {
		/* An older module refuses fields that it does not know, so leave out the key. */
		arg.size = offsetof(struct cosy_load, key);
	}
	err = libcosy_context_ioctl(COSY_IOC_LOAD, &arg);
	*handle = err ? 0 : arg.handle;
	if (!err || (err == -ENOENT && flags & COSY_LOAD_SEEN))
		return err;
	if (err == -EXDEV || err == -EBADF || err == -ENOTTY)
		libcosy_context_lost(generation);
	if (libcosy_settings.debug || libcosy_settings.mode == COSY_MODE_KERNEL)
		libcosy_say("%s: the kernel refused the compound: %s%s%s",
			    libcosy_program_name(loaded), strerror(-err), *log ? ": " : "", log);
	return err;
}

/* True for a region's entry whose loops are in the kernel: it asks at each arrival. */
static bool program_keeps_asking(const struct cosy_loaded *loaded)
{
	const struct cosy_region *region = loaded->region;

	return region && libcosy_tier_has_entered(region) &&
	       __atomic_load_n(&region->cache, __ATOMIC_RELAXED) == (uint64_t)loaded;
}

/*
 * Loads the program and records its place.  Called under the lock.  Does nothing if the context of
 * that generation is no longer in use: the program may be in the next one already.
 */
static void program_place(struct cosy_loaded *loaded, u32 generation, u32 flags)
{
	u32 handle;
	long err;

	if (libcosy_generation() != generation)
		return;
	err = program_load(loaded, generation, flags, &handle);
	if (libcosy_generation() != generation)
		return;
	loaded->unseen = err == -ENOENT && flags & COSY_LOAD_SEEN;
	if (loaded->unseen) {
		if (loaded->region && libcosy_tier_pays(loaded->region))
			libcosy_context_has_seen(libcosy_context_fd(), loaded->container.header,
						 NULL, COSY_LOAD_BACKGROUND);
		if (program_keeps_asking(loaded))
			libcosy_retry_failed(&loaded->retry);
		return;
	}
	if (libcosy_passes(err)) {
		libcosy_retry_failed(&loaded->retry);
		return;
	}
	loaded->retry.next = 0;
	libcosy_pace_restart();
	__atomic_store_n(&loaded->place, (u64)generation << 32 | handle, __ATOMIC_RELEASE);
}

void libcosy_program_displace(struct cosy_loaded *loaded)
{
	u64 old = __atomic_load_n(&loaded->place, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(&loaded->place, &old, old >> 32 << 32, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	loaded->displaced = old;
}

bool libcosy_program_place(struct cosy_loaded *loaded, u32 generation, u32 flags)
{
	if (libcosy_given_up(&loaded->balance))
		return false;
	if (!libcosy_program_placed(loaded, generation)) {
		if (!generation || !libcosy_program_lock())
			return false;
		if (!libcosy_program_placed(loaded, generation) &&
		    libcosy_retry_now(&loaded->retry))
			program_place(loaded, generation, flags);
		libcosy_program_unlock();
	}
	return libcosy_program_placed(loaded, generation) && libcosy_program_handle(loaded);
}
