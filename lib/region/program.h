/* SPDX-License-Identifier: MIT */
/*
 * program.h - a compound that this process has validated and, where it has a context,
 * loaded into the kernel.
 *
 * Programs are made once and, for regions, never freed: a fork child inherits
 * them and only loads them again into its own context.
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
	bool needs_stack; /* has local calls or alloca operations */
	bool cancels;	  /* has calls that libc makes cancellation points */
	bool forced;	  /* -fcosy-force: it is never given up */
	bool again;	  /* it is left and entered again in a loop: COSY_REGION_AGAIN */
	uint32_t lost;	  /* beside each of its calls, in instructions: COSY_REGION_LOST_SHIFT */
	struct cosy_region *region; /* whose program it is, or whose head's; NULL: no region's */
	bool unseen;		    /* the last LOAD was not to compile it, and would have had to */
	u64 place;     /* context generation << 32 | handle there; handle 0 = refused by it */
	u64 displaced; /* its place when it was given up; 0 = it was not */
	struct libcosy_retry retry; /* of a LOAD whose failure may pass */
	struct libcosy_balance balance;
};

/*
 * Validates the container of `len` bytes, which must outlive the program, and
 * returns it in *ret.  -EINVAL or -E2BIG with `why`, -ENOMEM.
 */
int libcosy_program_create(const void *compound, size_t len, struct cosy_loaded **ret,
			   struct cosy_reject *why);
/* Forgets it in the kernel too. */
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

/* Returns its name, for a message. */
const char *libcosy_program_name(const struct cosy_loaded *loaded);

/*
 * Loads it into the context of that generation unless it is there already, was refused, or is given
 * up.  With COSY_LOAD_SEEN in `flags`, which is that or 0, it is only loaded if the kernel need not
 * compile it; otherwise it is `unseen`.  That is no refusal, nor is a lack of memory or room: a
 * later call tries again.  True when RUN can take it.  Locks as libcosy_context_open does.
 */
bool libcosy_program_place(struct cosy_loaded *loaded, u32 generation, u32 flags);

/*
 * Makes its next activations find it refused.  Those under way keep the handle, so the kernel's
 * program is freed only with this one.  Async-signal-safe.
 */
void libcosy_program_displace(struct cosy_loaded *loaded);

/* True if it was loaded, or refused, in the context of that generation. */
static inline bool libcosy_program_placed(const struct cosy_loaded *loaded, u32 generation)
{
	return generation && __atomic_load_n(&loaded->place, __ATOMIC_ACQUIRE) >> 32 == generation;
}

/* Its handle there; 0 = it was refused. */
static inline u32 libcosy_program_handle(const struct cosy_loaded *loaded)
{
	return (u32)__atomic_load_n(&loaded->place, __ATOMIC_ACQUIRE);
}

/* For the region runtime: the one lock under which programs are made and placed. */
bool libcosy_program_lock(void);
void libcosy_program_unlock(void);
void libcosy_program_child(void);

#endif /* COSY_LIB_PROGRAM_H */
