/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * core.h - the code about compounds that the kernel module, libcosy, the tools
 * and the fuzzers share.
 *
 *	container.c	bytes -> header, instructions, line table	cosy_compound_open
 *	validate.c	is this program well formed?  its shape		cosy_validate
 *	sandbox.c	program -> harmless program		cosy_sandbox
 *	verify.c	does it stay in its own memory?			cosy_verify
 *	ops.c		the table of calls and operations		cosy_call_find
 *	disasm.c	an instruction as text				cosy_disasm
 *
 * Freestanding: no libc, no allocation except through core_alloc, no state.
 */
#ifndef COSY_CORE_H
#define COSY_CORE_H

#include "port.h" /* u8..u64, s16..s64, bool, struct bpf_insn, core_alloc, core_free */
#include <linux/cosy.h>

/* --- Calls and operations (ops.def) ------------------------------------- */

enum cosy_call_flags {
	COSY_CALL_ALLOWED = 1 << 0,
	COSY_CALL_BLOCKS = 1 << 1,    /* may sleep for an unbounded time */
	COSY_CALL_NO_RESULT = 1 << 2, /* operation: r0 is unspecified (and zeroed) */
	COSY_CALL_RESUMES = 1 << 3,   /* operation: r1-r5 hold what remains when it leaves */
	COSY_CALL_COMPOSITE = 1 << 4, /* operation: makes system calls, so it is traced like one */
	COSY_CALL_CANCELS = 1 << 5,   /* a cancellation point, as libc's function is */
	COSY_CALL_PATH = 1 << 6,      /* looks up a path: see COSY_GAIN_PATH */
	COSY_CALL_QUERY = 1 << 7,     /* asks, and changes nothing that is asked for */
	COSY_CALL_NO_ERROR = 1 << 8,  /* never fails, so libc's function does not set errno */
	COSY_CALL_KEEPS = 1 << 9,     /* the kernel may use an address that it got after the call */
	COSY_CALL_OPENS = 1 << 10,    /* the result is a new descriptor */
	COSY_CALL_POINTS = 1 << 11,   /* operation: the result points into its first argument */
};

/* Groups of calls that cost alike, for `cosy profile`: a field of the flags. */
enum cosy_call_class {
	COSY_CLASS_OTHER = 0 << 16,
	COSY_CLASS_PURE = 1 << 16,	/* reports what the kernel has at hand */
	COSY_CLASS_READ = 2 << 16,	/* reads a file */
	COSY_CLASS_RECEIVE = 3 << 16,	/* reads a socket, or into several buffers */
	COSY_CLASS_STAT = 4 << 16,	/* queries attributes by name */
	COSY_CLASS_SEEK = 5 << 16,	/* moves a position */
	COSY_CLASS_WRITE = 6 << 16,	/* writes a file */
	COSY_CLASS_SEND = 7 << 16,	/* writes a socket, or from several buffers */
	COSY_CLASS_OPEN = 8 << 16,	/* opens a file by name */
	COSY_CLASS_CLOSE = 9 << 16,	/* closes a descriptor */
	COSY_CLASS_QUESTION = 10 << 16, /* other queries about a file */
	COSY_CLASS_NAME = 11 << 16,	/* changes a directory */
	COSY_CLASS_PROCESS = 12 << 16,	/* changes the process itself */
	COSY_CLASS_MASK = 0xff << 16,
};

struct cosy_call {
	u32 number;
	char name[24];
	char args[8]; /* one letter per argument, see ops.def */
	u32 flags;
	u16 thunk;  /* enum cosy_thunk: COSY_THUNK_SYSCALL, or one of its own */
	u16 denied; /* not 0: it may not be in a compound, see cosy_call_denied */
};

/* COSY_OP_ctx, COSY_OP_trap, ...: the numbers that `call` takes. */
enum cosy_op {
#define COSY_OP(number, name, args, flags) COSY_OP_##name = COSY_OP_BASE + (number),
#include "ops.def"
};

/* COSY_NR_read, COSY_NR_write, ...: the numbers of system calls. */
enum cosy_nr {
#define COSY_CALL(number, name, args, flags) COSY_NR_##name = (number),
#include "ops.def"
};

/* The number of system calls that a COSY_COMPOSITE names. */
#define COSY_COMPOSITE_CALLS 4

/* Returns the entry of a system call or operation, or NULL. */
const struct cosy_call *cosy_call_find(u32 number);

/* Returns why a call may not be in a compound; NULL when it may. */
const char *cosy_call_denied(const struct cosy_call *call);

/* --- Reasons of a refusal ------------------------------------------------------ */

struct cosy_reject {
	u32 insn;	  /* ~0: the container */
	char reason[160]; /* one line, no newline */
};

/* --- Container --------------------------------------------------------------- */

struct cosy_container {
	const struct cosy_compound *header;
	const struct bpf_insn *insns;
	u32 insn_cnt;
	const struct cosy_line *lines;
	u32 line_cnt;
	const char *strings;
	u32 str_size;
};

/*
 * Checks a container of `len` bytes at the 8-byte aligned `data` and points
 * `container` into it.  0, or -EINVAL / -E2BIG with `why` filled in.
 */
int cosy_compound_open(const void *data, size_t len, struct cosy_container *container,
		       struct cosy_reject *why);

/* Returns the line table's entry for an instruction, or NULL. */
const struct cosy_line *cosy_line_find(const struct cosy_container *container, u32 insn);

/* --- Validation --------------------------------------------------------------- */

/* Marks that validation sets for each instruction slot. */
enum cosy_mark {
	/* An instruction starts here: not the second half of a 64-bit constant. */
	COSY_MARK_HEAD = 1 << 0,
	/* Some jump lands here. */
	COSY_MARK_TARGET = 1 << 1,
	/* A function starts here. */
	COSY_MARK_FUNCTION = 1 << 2,
	/*
	 * RUN may go on from here: calls, local calls, the instructions after either, targets of
	 * back edges, exits of functions other than the first.
	 */
	COSY_MARK_RESUME = 1 << 3,
	/*
	 * A compound may leave here, but only the interpreter goes on: loads, stores and atomics
	 * outside the spill frame.
	 */
	COSY_MARK_LEAVE = 1 << 4,
};

struct cosy_function {
	u32 start, end;	 /* instructions [start, end) */
	u32 frame_words; /* 8-byte words of spill frame in use */
};

struct cosy_validated {
	const struct bpf_insn *insns; /* the caller's; must outlive this */
	u32 insn_cnt;
	u8 *marks;			 /* [insn_cnt] enum cosy_mark */
	struct cosy_function *functions; /* ascending; functions[0].start is 0 */
	u32 function_cnt;
	u32 resume_cnt; /* instructions marked COSY_MARK_RESUME */
};

/*
 * Checks every instruction and finds the program's shape.  0 with `program`
 * filled in (release with cosy_validated_deinit), -EINVAL with `why`, -ENOMEM.
 */
int cosy_validate(const struct bpf_insn *insns, u32 insn_cnt, struct cosy_validated *program,
		  struct cosy_reject *why);
void cosy_validated_deinit(struct cosy_validated *program);

/* Returns the function that an instruction is in. */
const struct cosy_function *cosy_function_of(const struct cosy_validated *program, u32 insn);

/* --- Sandbox -------------------------------------------------------------------- */

/*
 * The rewritten program's own frame, from the JIT's frame pointer r10 down; the
 * program's spill frame is moved below it, so that no offset of the program
 * reaches it.
 */
enum cosy_slot {
	COSY_SLOT_STATE = -8, /* r1 as it was at entry: struct cosy_entry */
	COSY_SLOT_FUEL = -16, /* steps until the next safepoint */
	/*
	 * store thunks: the value; div and atomic thunks: second operand; based stores: the
	 * register that has a copy of AX meanwhile
	 */
	COSY_SLOT_VALUE = -24,
	COSY_SLOT_INSN = -32,	/* access thunks: the instruction, for a fault */
	COSY_SLOT_SAVE = -40,	/* a register of the program's that a store uses meanwhile */
	COSY_SLOT_ORIGIN = -48, /* based code: cosy_entry.origin */
	COSY_SLOT_SIZE = 64,	/* bytes reserved */
};

/*
 * Where a fetch puts words of user memory: the lowest of the frame.  Code with fetches has a frame
 * of this size.
 */
#define COSY_FETCH_PLACE (-(COSY_SLOT_SIZE + (s32)COSY_FRAME_SIZE))
#define COSY_FETCH_WORDS 16

/* Lies at r1 when the program is entered: the beginning of the kernel's struct cosy_activation. */
struct cosy_entry {
	u64 fuel;
	u64 resume;		 /* 0 or instruction + 1, checked to be a resume point */
	u64 origin;		 /* based code: minus the user's address of the shared buffer */
	struct cosy_state state; /* registers and spill frame to start with */
};

/*
 * Routines that rewritten code calls.  AX is the argument and the result; all
 * registers of the program survive, except as noted.
 */
enum cosy_thunk {
	/* AX = *(uN *)AX; slot INSN set */
	COSY_THUNK_LOAD1,
	COSY_THUNK_LOAD2,
	COSY_THUNK_LOAD4,
	COSY_THUNK_LOAD8,
	/* the same, sign-extended */
	COSY_THUNK_LOADS1,
	COSY_THUNK_LOADS2,
	COSY_THUNK_LOADS4,
	/* *(uN *)AX = slot VALUE; slot INSN set */
	COSY_THUNK_STORE1,
	COSY_THUNK_STORE2,
	COSY_THUNK_STORE4,
	COSY_THUNK_STORE8,
	/*
	 * AX address, slot VALUE operand, slot INSN = insn << 16 | (8-byte ? 0x100 : 0) |
	 * BPF atomic imm; AX = old value, zero-extended; compare-exchange compares with r0
	 */
	COSY_THUNK_ATOMIC,
	/* AX = AX op slot VALUE, with RFC 9669's results */
	COSY_THUNK_SDIV32,
	COSY_THUNK_SDIV64,
	COSY_THUNK_SMOD32,
	COSY_THUNK_SMOD64,
	/* an ordinary call; AX = insn << 16 | number; r0 = result, r1-r5 = 0 */
	COSY_THUNK_SYSCALL,
	/* fuel is used up; AX = instruction to go on from: refills slot FUEL or leaves */
	COSY_THUNK_SAFEPOINT,
	/*
	 * AX = insn << 16 | caller's words << 8 | callee's words: push a struct cosy_frame,
	 * zero the callee's words; r6-r9 unspecified to the callee but never kernel values
	 */
	COSY_THUNK_PUSH,
	/*
	 * AX = insn: pop; r6-r9 and spill frame restored; AX = checked cosy_frame.call.
	 * Spends fuel, since frames in the user's memory may form a ring.
	 */
	COSY_THUNK_POP,
	/*
	 * FETCH + n copies the n + 1 words from AX on to word `w` of COSY_FETCH_PLACE and those above
	 * it; slot INSN = w << 24 | insn, w < COSY_FETCH_WORDS.  A fault leaves at the instruction
	 */
	COSY_THUNK_FETCH,
	COSY_THUNK_FETCH_LAST = COSY_THUNK_FETCH + COSY_FETCH_WORDS - 1,
/* The same as COSY_THUNK_SYSCALL for a call that has a thunk: COSY_THUNK_CALL_read, ... */
#define COSY_FAST_CALL(number, name, args, flags, views) COSY_THUNK_CALL_##name,
#define COSY_THUNK_CALL(number, name, args, flags)	 COSY_THUNK_CALL_##name,
#include "ops.def"
/* AX = insn << 16 | (number - COSY_OP_BASE); r0 = result, r1-r5 = 0: COSY_THUNK_OP_ctx, ... */
#define COSY_OP(number, name, args, flags) COSY_THUNK_OP_##name,
#include "ops.def"
	COSY_THUNK_CNT
};

/* The first thunk of an operation. */
#define COSY_THUNK_OP_FIRST COSY_THUNK_OP_ctx

struct cosy_sandbox {
	u64 user_base;	 /* user address of the shared buffer; ignored when size is 0 */
	u64 kernel_base; /* the kernel's mapping of it */
	u32 size;	 /* bytes, a power of two >= 4096, or 0: no shared buffer */
	bool has_v4;	 /* the JIT knows cpu v4 instructions (Linux 6.6) */
	bool has_gotol;	 /* the JIT knows 32-bit jumps; some have them without the rest of v4 */
	bool blind;	 /* hide the program's constants from the code (against JIT spraying) */
	bool ordinary;	 /* no specialised versions of calls */
	/*
	 * Make based code: by loads and stores relative to the JIT's base register
	 * (BPF_PROBE_MEM32), which the code's caller sets to the kernel's mapping.  Such code holds
	 * no address: user_base and kernel_base are not looked at, and it serves every buffer of
	 * that size.  Mispredicted accesses may reach the page above the mapping, so the caller
	 * leaves that empty.  Implies has_v4.
	 */
	bool based;
	/*
	 * Make each based access by a dead register of the program's, or by a copy of AX in a live
	 * one: JITs that report faults in BPF's arenas (newer than Linux 6.12) take r0 to r9 alone.
	 * All JITs take those.
	 */
	bool copies_ax;
	u64 seed;	   /* of the blinding */
	const s32 *thunks; /* [COSY_THUNK_CNT] immediates that call the thunks */
};

struct cosy_code {
	struct bpf_insn *insns; /* core_alloc'ed */
	u32 insn_cnt;
	u32 stack_size; /* bytes below r10 that the code uses */
	u32 based_cnt;	/* instructions relative to the JIT's base register */
};

/*
 * Rewrites a validated program so that, whatever it and the user's memory hold,
 * it reads and writes only its own frame, the shared buffer (masked) and what
 * the thunks check; calls only thunks; spends fuel on every back edge (calls
 * and returns spend theirs in their thunk); and can leave and resume at every marked
 * instruction.  Pure: the same input gives the same output.
 * 0 with `ret` (free ret->insns with core_free), -E2BIG with `why` when a jump
 * would be out of the JIT's reach, -ENOMEM.
 */
int cosy_sandbox(const struct cosy_validated *program, const struct cosy_sandbox *how,
		 struct cosy_code *ret, struct cosy_reject *why);

/*
 * Verifies based code that was made as `how` says: whatever its registers hold, it reaches no
 * memory but its own.  Returns 0, -ENOMEM, or -EINVAL with the reason in *ret.
 */
int cosy_verify(const struct cosy_code *code, const struct cosy_sandbox *how, const char **ret);

/* --- Disassembly ------------------------------------------------------------------- */

/*
 * Writes the instruction at `insn` as text in RFC 9669's pseudo-C, calls by name.
 * Returns the slots it takes (1 or 2); the text is cut to `size`, NUL included.
 */
u32 cosy_disasm(const struct bpf_insn *insns, u32 insn_cnt, u32 insn, char *text, size_t size);

#endif /* COSY_CORE_H */
