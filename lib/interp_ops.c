// SPDX-License-Identifier: MIT
/* interp_ops.c - see interp_ops.h. */
#include <string.h>

#include "access.h"
#include "interp_ops.h"

u64 libcosy_stack_take(struct libcosy_interp *in, u64 bytes)
{
	struct cosy_state *state = in->state;
	u64 at = (state->sp + 15) & ~15ull;

	while (at > in->stack_size || in->stack_size - at < bytes)
		libcosy_store((u64)(in->stack + in->stack_size), 0, BPF_B);
	/* Before anything is written there: see push() in interp.c. */
	state->sp = (at + bytes + 15) & ~15ull;
	if (state->sp > in->stack_size)
		state->sp = in->stack_size;
	COSY_BARRIER();
	return at;
}

/* The arguments are the program's own addresses; libc's own code faults on bad ones. */
#define P(n) ((char *)r[n])
#define I(n) ((int)r[n])

void libcosy_interp_op(struct libcosy_interp *in, u32 number)
{
	u64 *r = in->state->reg, ret = 0;

	switch (number) {
	case COSY_OP_NUMBER_ctx:
		ret = in->ctx;
		break;
	case COSY_OP_NUMBER_trap:
		__builtin_trap();
	case COSY_OP_NUMBER_fence:
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		break;
	case COSY_OP_NUMBER_alloca:
		ret = (u64)in->stack + libcosy_stack_take(in, r[1]);
		break;
	case COSY_OP_NUMBER_memcpy:
	case COSY_OP_NUMBER_memmove:
		memmove(P(1), P(2), r[3]);
		break;
	case COSY_OP_NUMBER_memset:
		memset(P(1), I(2), r[3]);
		break;
	case COSY_OP_NUMBER_memcmp:
		ret = (u64)(s64)memcmp(P(1), P(2), r[3]);
		break;
	case COSY_OP_NUMBER_memchr:
		ret = (u64)memchr(P(1), I(2), r[3]);
		break;
	case COSY_OP_NUMBER_memrchr:
		ret = (u64)memrchr(P(1), I(2), r[3]);
		break;
	case COSY_OP_NUMBER_memmem:
		ret = (u64)memmem(P(1), r[2], P(3), r[4]);
		break;
	case COSY_OP_NUMBER_strlen:
		ret = strlen(P(1));
		break;
	case COSY_OP_NUMBER_strnlen:
		ret = strnlen(P(1), r[2]);
		break;
	case COSY_OP_NUMBER_strcmp:
		ret = (u64)(s64)strcmp(P(1), P(2));
		break;
	case COSY_OP_NUMBER_strncmp:
		ret = (u64)(s64)strncmp(P(1), P(2), r[3]);
		break;
	case COSY_OP_NUMBER_strchr:
		ret = (u64)strchr(P(1), I(2));
		break;
	case COSY_OP_NUMBER_strrchr:
		ret = (u64)strrchr(P(1), I(2));
		break;
	case COSY_OP_NUMBER_strcpy:
		ret = (u64)strcpy(P(1), P(2));
		break;
	case COSY_OP_NUMBER_stpcpy:
		ret = (u64)stpcpy(P(1), P(2));
		break;
	case COSY_OP_NUMBER_strncpy:
		ret = (u64)strncpy(P(1), P(2), r[3]);
		break;
	case COSY_OP_NUMBER_strchrnul:
		ret = (u64)strchrnul(P(1), I(2));
		break;
	case COSY_OP_NUMBER_rawmemchr:
		ret = (u64)rawmemchr(P(1), I(2));
		break;
	default: /* the validator lets no number through that is in neither list */
		if (!libcosy_interp_fast_op(in, number, &ret))
			__builtin_trap();
	}
	r[0] = ret;
	memset(&r[1], 0, 5 * sizeof(*r));
}
