/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * sandbox.h - declarations that the parts of the rewriter share; private to core.
 *
 * Invariant of all emitted code: an address in the kernel's mapping of the shared
 * buffer is only in AX, or in the register that a load is about to overwrite; in
 * based code it is in no BPF register.  It is never in memory, and AX is dead
 * wherever a thunk is called or the program may resume.  A dead register of the
 * program's holds no secret: in based code it holds an offset in the
 * buffer.
 */
#ifndef COSY_SANDBOX_H
#define COSY_SANDBOX_H

#include "emit.h"
#include "insn.h"

/* An access whose slow path is emitted out of line, after the program. */
struct cosy_stub {
	u32 insn;	 /* the load or store */
	u32 entry, back; /* labels: the stub; where it goes on */
	bool returns;	 /* it only gives back a borrowed register: the access is at `back` */
};

/* The slow copy of program instructions [first, end). */
struct cosy_slow {
	u32 first, end;
	u32 labels; /* of the copies */
};

/*
 * Maximum number of bytes from a group's first to its last: fewer than in the page above the
 * buffer, where nothing is mapped.
 */
#define COSY_REACH 4000

/* An access that shares its leader's test. */
struct cosy_near {
	u32 group;     /* number within the piece, from 1 */
	bool leads;    /* it has the test */
	s32 at;	       /* its first byte, counted from its leader's */
	s32 low, high; /* the bytes that the leader tests, likewise */
	u32 slow;      /* label: the access in the slow copy */
};

/*
 * The content of the keeper: the masked offset of the byte that is `at` bytes from a group's
 * leader.
 */
struct cosy_ax {
	u32 group; /* 0: nothing */
	s32 at;
	u32 turn; /* cosy_emit.turn, which a change of the keeper moves on */
};

struct cosy_rewrite {
	struct cosy_emit code;
	const struct cosy_validated *program;
	const struct cosy_sandbox *how;
	const struct cosy_function *function; /* the one being rewritten */
	u32 frame_words;		      /* of the deepest spill frame */
	struct cosy_stub *stubs;
	u32 stub_cnt;
	u32 access_cnt;
	u32 based_cnt;
	u32 fetch_cnt;
	u32 clears_at;		      /* in the prologue: where cosy_emit_clears adds to it */
	struct cosy_pieces *pieces;   /* NULL: not in based code */
	struct cosy_fetches *fetches; /* of the slow copy; NULL: not in based code */
	u16 *live; /* [insn_cnt] registers that are read later; NULL: no access needs to know */
	struct cosy_ax ax;
	const struct cosy_slow *slow; /* the copy that is emitted */
	u32 *safepoints; /* [insn_cnt] label: safepoint of back edges to there, or COSY_UNBOUND */
	u32 resume;	 /* label: go on from cosy_entry.resume */
	u32 returns;	 /* label: AX holds the call to return after */
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
/* Makes the fetches again that the slow copy relies on at `at`. */
void cosy_emit_refetches(struct cosy_rewrite *w, u32 at);

/* sandbox_live.c: registers that are read later */
/*
 * Returns 0 with the sets of live registers, or with NULL in *ret if they take too long; -ENOMEM.
 */
int cosy_live_find(const struct cosy_validated *program, u16 **ret);
/* Returns the registers, by their bits, that are live at an instruction, or that it names. */
u32 cosy_registers_used(const struct cosy_validated *program, const u16 *live, u32 at);
/* Returns a register that is not among `used` and that no store borrows, or AX if there is none. */
u8 cosy_register_unused(const struct cosy_rewrite *w, u32 used);

/* sandbox_piece.c: which accesses share a test */
int cosy_pieces_init(struct cosy_rewrite *w);
void cosy_pieces_deinit(struct cosy_rewrite *w);
/* Called before each instruction of the program, in order. */
void cosy_piece_enter(struct cosy_rewrite *w, u32 at);
/* False: the access has a test of its own. */
bool cosy_piece_find(const struct cosy_rewrite *w, u32 at, struct cosy_near *ret);
/* Called after a jump of the code proper is emitted, and to bind a place that jumps lead to. */
void cosy_piece_jump(struct cosy_rewrite *w, u32 at);
void cosy_piece_bind(struct cosy_rewrite *w, u32 at);
/* Notes that the keeper is what it was at `turn`: whatever was emitted since runs on other ways. */
void cosy_ax_keep(struct cosy_rewrite *w, u32 turn);
/* Returns a slow copy by its number; NULL after the last. */
const struct cosy_slow *cosy_piece_slow(const struct cosy_rewrite *w, u32 index);

/* Returns whether jumps of the code proper lead to the copy of that instruction in its slow copy. */
bool cosy_piece_leads(const struct cosy_rewrite *w, u32 at);

/* sandbox_piece.c: values of registers in a slow copy */
/* The number of a value that is not known, and a distance from it. */
struct cosy_register_value {
	u32 number;
	u64 delta;
};
void cosy_values_begin(struct cosy_rewrite *w);
void cosy_values_forget(struct cosy_rewrite *w);
/* Notes what an instruction of a slow copy changes, and a jump to a later one before `end`. */
void cosy_values_follow(struct cosy_rewrite *w, u32 at, u32 end);
/*
 * Keeps what is the same on all ways to a place that jumps lead to; `dead`: only they lead there.
 * Stores the first of them.  False: there may be others.
 */
bool cosy_values_join(struct cosy_rewrite *w, u32 at, bool dead, u32 *from);
struct cosy_register_value cosy_value_of(const struct cosy_rewrite *w, u8 reg);

/* sandbox_fetch.c: which loads of a slow copy are fetched together */
/* A load that takes its bytes from where they were fetched to. */
struct cosy_fetched {
	bool leads;	 /* it fetches first */
	s32 low;	 /* the first byte of the fetch, counted from the load's */
	u32 word, words; /* where the fetch puts them, and how many */
	s32 off;	 /* the load's first byte, from r10 */
};
/* Returns how many words of COSY_FETCH_PLACE the program's own frame leaves for fetches. */
u32 cosy_fetch_room(const struct cosy_rewrite *w);
/* A fetch that is made again: of the bytes from reg + delta on. */
struct cosy_refetch {
	u8 reg;
	u64 delta;
	u32 word, words;
};
int cosy_fetches_init(struct cosy_rewrite *w);
void cosy_fetches_deinit(struct cosy_rewrite *w);
void cosy_fetches_plan(struct cosy_rewrite *w, const struct cosy_slow *slow);
/* False: the load is made alone. */
bool cosy_fetch_find(const struct cosy_rewrite *w, u32 at, struct cosy_fetched *ret);

/*
 * Returns the next fetch that has to be made again on the way from the code proper to `at`, counted
 * by *from, which is 0 at first.  False: there is none.
 */
bool cosy_fetch_again(const struct cosy_rewrite *w, u32 at, u32 *from, struct cosy_refetch *ret);

/* sandbox_flow.c: jumps, calls, entry, resume, return */
void cosy_emit_prologue(struct cosy_rewrite *w);
void cosy_emit_clears(struct cosy_rewrite *w);
void cosy_rewrite_jump(struct cosy_rewrite *w, u32 at);
void cosy_emit_epilogue(struct cosy_rewrite *w);

#endif /* COSY_SANDBOX_H */
