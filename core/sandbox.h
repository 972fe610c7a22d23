/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * sandbox.h - what the parts of the rewriter share; private to core.
 *
 * The invariant that everything emitted keeps: an address in the kernel's
 * mapping of the shared buffer is only ever in AX, or in the register that a
 * load is about to overwrite; in based code in no register of BPF's at all.  It
 * is never in memory, and AX is dead wherever a thunk is called or the program
 * may resume.
 */
#ifndef COSY_SANDBOX_H
#define COSY_SANDBOX_H

#include "emit.h"

/* An access whose slow way is emitted out of line, behind the program. */
struct cosy_stub {
	u32 insn;	 /* the load or store */
	u32 entry, back; /* labels: the stub; behind the access */
};

struct cosy_rewrite {
	struct cosy_emit code;
	const struct cosy_program *program;
	const struct cosy_sandbox *how;
	const struct cosy_function *function; /* the one being rewritten */
	u32 frame_words;		      /* of the deepest spill frame */
	struct cosy_stub *stubs;
	u32 stub_cnt;
	u32 based_cnt;
	u32 *safepoints; /* [insn_cnt] label of the safepoint of back edges to there, or COSY_UNBOUND */
	u32 resume;	 /* label: go on from cosy_entry.resume */
	u32 returns;	 /* label: AX holds the call to return behind */
	u32 trap;	 /* label: state that cannot be */
};

static inline void emit_thunk(struct cosy_rewrite *w, enum cosy_thunk thunk)
{
	cosy_emit(&w->code, BPF_JMP | BPF_CALL, 0, 0, 0, w->how->thunks[thunk]);
}

/* sandbox_alu.c: arithmetic, byte swaps, constants */
void cosy_rewrite_alu(struct cosy_rewrite *w, const struct bpf_insn *insn);
/* dst = the low `bits` of dst, sign-extended to 64 (wide) or zero-extended from 32 */
void cosy_emit_sign_extend(struct cosy_emit *e, u8 dst, u32 bits, bool wide);

/* sandbox_mem.c: loads, stores, atomics */
void cosy_rewrite_access(struct cosy_rewrite *w, u32 at);
void cosy_emit_stubs(struct cosy_rewrite *w);

/* sandbox_flow.c: jumps, calls, entry, resume, return */
void cosy_emit_prologue(struct cosy_rewrite *w);
void cosy_rewrite_jump(struct cosy_rewrite *w, u32 at);
void cosy_emit_epilogue(struct cosy_rewrite *w);

#endif /* COSY_SANDBOX_H */
