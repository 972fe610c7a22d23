/* SPDX-License-Identifier: GPL-2.0 */
/* thunk.h - the assembly between C and compiled compounds; see calling.h. */
#ifndef COSY_THUNK_H
#define COSY_THUNK_H

#include "run/activation.h"

/*
 * Runs compiled code until it ends (run->status stays COSY_DONE; returns r0) or
 * leaves (run->status says why; run->entry.state holds registers and spill frame).
 */
u64 cosy_enter(const void *code, struct cosy_activation *run);

/* The immediates, [COSY_THUNK_CNT], that the sandbox puts into call instructions. */
extern s32 cosy_thunk_table[COSY_THUNK_CNT];

void cosy_thunk_init(void);

/* Called from compiled code, never from C. */
void cosy_thunk_load1(void);
void cosy_thunk_load2(void);
void cosy_thunk_load4(void);
void cosy_thunk_load8(void);
void cosy_thunk_loads1(void);
void cosy_thunk_loads2(void);
void cosy_thunk_loads4(void);
void cosy_thunk_store1(void);
void cosy_thunk_store2(void);
void cosy_thunk_store4(void);
void cosy_thunk_store8(void);
/* The thunks of COSY_THUNK_FETCH, by how many words they copy. */
#define COSY_FOR_EACH_FETCH(X)                                                                     \
	X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define COSY_FETCH_DECLARE(words) void cosy_thunk_fetch##words(void);
COSY_FOR_EACH_FETCH(COSY_FETCH_DECLARE)
#undef COSY_FETCH_DECLARE
void cosy_thunk_atomic(void);
void cosy_thunk_sdiv32(void);
void cosy_thunk_sdiv64(void);
void cosy_thunk_smod32(void);
void cosy_thunk_smod64(void);
void cosy_thunk_syscall(void);
#define COSY_FAST_CALL(number, name, args, flags, views) void cosy_thunk_##name(void);
#define COSY_THUNK_CALL(number, name, args, flags)	 void cosy_thunk_##name(void);
#define COSY_OP(number, name, args, flags)		 void cosy_thunk_##name(void);
#include "ops.def"
void cosy_thunk_safepoint(void);
void cosy_thunk_push(void);
void cosy_thunk_pop(void);

#endif /* COSY_THUNK_H */
