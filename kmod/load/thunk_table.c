// SPDX-License-Identifier: GPL-2.0
/* thunk_table.c - the thunks as immediates of BPF call instructions. */
#include <linux/filter.h>
#include <linux/init.h>
#include "run/thunk.h"

s32 cosy_thunk_table[COSY_THUNK_CNT];

/* Returns the immediate of a call.  The JIT adds __bpf_call_base; modules are within its reach. */
static s32 thunk_immediate(void (*thunk)(void))
{
	return (unsigned long)thunk - (unsigned long)__bpf_call_base;
}

void __init cosy_thunk_init(void)
{
	static void (*const thunks[COSY_THUNK_CNT])(void)
		__initconst = { [COSY_THUNK_LOAD1] = cosy_thunk_load1,
				[COSY_THUNK_LOAD2] = cosy_thunk_load2,
				[COSY_THUNK_LOAD4] = cosy_thunk_load4,
				[COSY_THUNK_LOAD8] = cosy_thunk_load8,
				[COSY_THUNK_LOADS1] = cosy_thunk_loads1,
				[COSY_THUNK_LOADS2] = cosy_thunk_loads2,
				[COSY_THUNK_LOADS4] = cosy_thunk_loads4,
				[COSY_THUNK_STORE1] = cosy_thunk_store1,
				[COSY_THUNK_STORE2] = cosy_thunk_store2,
				[COSY_THUNK_STORE4] = cosy_thunk_store4,
				[COSY_THUNK_STORE8] = cosy_thunk_store8,
				[COSY_THUNK_ATOMIC] = cosy_thunk_atomic,
				[COSY_THUNK_SDIV32] = cosy_thunk_sdiv32,
				[COSY_THUNK_SDIV64] = cosy_thunk_sdiv64,
				[COSY_THUNK_SMOD32] = cosy_thunk_smod32,
				[COSY_THUNK_SMOD64] = cosy_thunk_smod64,
				[COSY_THUNK_SYSCALL] = cosy_thunk_syscall,
				[COSY_THUNK_SAFEPOINT] = cosy_thunk_safepoint,
				[COSY_THUNK_PUSH] = cosy_thunk_push,
				[COSY_THUNK_POP] = cosy_thunk_pop,
#define COSY_FETCH_ENTRY(words) [COSY_THUNK_FETCH + (words) - 1] = cosy_thunk_fetch##words,
				COSY_FOR_EACH_FETCH(COSY_FETCH_ENTRY)
#undef COSY_FETCH_ENTRY
#define COSY_FAST_CALL(number, name, args, flags, views)                                           \
	[COSY_THUNK_CALL_##name] = cosy_thunk_##name,
#define COSY_THUNK_CALL(number, name, args, flags) [COSY_THUNK_CALL_##name] = cosy_thunk_##name,
#define COSY_OP(number, name, args, flags)	   [COSY_THUNK_OP_##name] = cosy_thunk_##name,
#include "ops.def"
		};
	int i;

	for (i = 0; i < COSY_THUNK_CNT; i++)
		cosy_thunk_table[i] = thunk_immediate(thunks[i]);
}
