/* SPDX-License-Identifier: MIT */
/*
 * program.h - a compound that this process has validated and, if it has a context, loaded into the
 * kernel.
 *
 * A region's program is made once and never freed: a fork child inherits it, and only loads it
 * again into its own context.
 */
#ifndef COSY_LIB_PROGRAM_H
#define COSY_LIB_PROGRAM_H

#include "../../core/core.h"

#include "region/balance.h"
#include "process/context.h"
#include "retry.h"

struct cosy_loaded {
	struct cosy_container container;
	struct cosy_validated program;
	bool needs_stack;	    /* has local calls or alloca operations */
	bool cancels;		    /* has calls that libc makes cancellation points */
	bool forced;		    /* -fcosy-force: it is never given up */
	bool again;		    /* it is left and entered again in a loop: COSY_REGION_AGAIN */
	uint32_t lost;		    /* instructions lost beside each call: COSY_REGION_LOST_SHIFT */
	struct cosy_region *region; /* that it, or its head, belongs to; NULL: no region's */
	bool unseen;		    /* the last LOAD, with COSY_LOAD_SEEN, failed with ENOENT */
	u64 place;     /* context generation << 32 | handle there; handle 0 = refused by it */
	u64 displaced; /* its place when it was given up; 0 = it was not */
	struct libcosy_retry retry; /* of a LOAD whose failure may pass */
	struct libcosy_balance balance;
};

/*
 * Validates the container of `len` bytes, which must outlive the program, and returns the program
 * in *ret, for libcosy_program_destroy.  Returns 0, -EINVAL or -E2BIG with `why` filled in, or
 * -ENOMEM.
 */
int libcosy_program_create(const void *compound, size_t len, struct cosy_loaded **ret,
			   struct cosy_reject *why);
/* Frees the program, also in the kernel.  No activation may use it any more. */
void libcosy_program_destroy(struct cosy_loaded *loaded);

/* Returns the call that instruction `i` makes, of the kernel's or an operation; NULL: none. */
static inline const struct cosy_call *libcosy_program_call(const struct cosy_validated *program,
							   u32 i)
{
	const struct bpf_insn *insn = &program->insns[i];

	if (!(program->marks[i] & COSY_MARK_HEAD) || insn->code != (BPF_JMP | BPF_CALL) ||
	    insn->src_reg == BPF_PSEUDO_CALL)
		return NULL;
	return cosy_call_find(insn->imm);
}

/* Returns the program's name, for messages; it lives as long as the container. */
const char *libcosy_program_name(const struct cosy_loaded *loaded);

/*
 * Loads the program into the context of that generation, unless it is loaded already, was refused,
 * or is given up.  `flags` is 0 or COSY_LOAD_SEEN: then it is only loaded if the kernel need not
 * compile it, and is `unseen` otherwise.  That is no refusal, nor is a lack of memory or room: a
 * later call tries again.  True if RUN can run it.  Takes the lock below; false in a signal handler
 * that interrupted its owner.
 */
bool libcosy_program_place(struct cosy_loaded *loaded, u32 generation, u32 flags);

/*
 * Makes later activations find the program refused, because it is given up.  Activations under way
 * keep the handle, so the kernel's program is freed only by libcosy_program_destroy.  Called at
 * most once for a program.  Async-signal-safe.
 */
void libcosy_program_displace(struct cosy_loaded *loaded);

/* True if the program was loaded, or refused, in the context of that generation. */
static inline bool libcosy_program_placed(const struct cosy_loaded *loaded, u32 generation)
{
	return generation && __atomic_load_n(&loaded->place, __ATOMIC_ACQUIRE) >> 32 == generation;
}

/* Returns the program's handle in the context that it was placed in; 0: it was refused. */
static inline u32 libcosy_program_handle(const struct cosy_loaded *loaded)
{
	return (u32)__atomic_load_n(&loaded->place, __ATOMIC_ACQUIRE);
}

/*
 * The one lock under which regions' programs are made, and all programs are placed.  False: a
 * signal handler interrupted its owner.  Also taken around a fork: see fork.h.
 */
bool libcosy_program_lock(void);
void libcosy_program_unlock(void);
void libcosy_program_child(void);

#endif /* COSY_LIB_PROGRAM_H */
