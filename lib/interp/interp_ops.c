// SPDX-License-Identifier: MIT
/* interp_ops.c - see interp_ops.h. */
#include <string.h>

#include "interp/access.h"
#include "interp/interp_ops.h"

u64 libcosy_stack_take(struct libcosy_interp *in, u64 bytes)
{
	struct cosy_state *state = in->state;
	u64 at = (state->sp + 15) & ~15ull;

	while (at > in->stack_size || in->stack_size - at < bytes)
		libcosy_store((u64)(in->stack + in->stack_size), 0, BPF_B);
	/* Move sp before anything is written there: see interp_push. */
	state->sp = (at + bytes + 15) & ~15ull;
	if (state->sp > in->stack_size)
		state->sp = in->stack_size;
	COSY_BARRIER();
	return at;
}

u64 libcosy_interp_ctx(struct libcosy_interp *in, const u64 *r)
{
	(void)r;
	return in->ctx;
}

u64 libcosy_interp_trap(struct libcosy_interp *in, const u64 *r)
{
	(void)in, (void)r;
	__builtin_trap();
}

/* Divides by zero again whenever a handler returns, whatever it has put in the registers. */
u64 libcosy_interp_divide_error(struct libcosy_interp *in, const u64 *r)
{
	(void)in, (void)r;
	__asm__ volatile("1:\txorl\t%%ecx, %%ecx\n\tdivl\t%%ecx\n\tjmp\t1b" ::
				 : "eax", "ecx", "edx", "cc");
	__builtin_unreachable();
}

/* Passes what a function does not take as well: by the calling convention it does not see that. */
u64 libcosy_interp_call_out(struct libcosy_interp *in, const u64 *r)
{
	u64 (*function)(u64, ...) = (u64(*)(u64, ...))r[1];
	u64 a[COSY_MAX_ARGUMENTS] = {0};

	(void)in;
	if (r[3] > COSY_MAX_ARGUMENTS)
		__builtin_trap();
	memcpy(a, (const void *)r[2], r[3] * sizeof(*a));
	if (r[3] <= 6)
		return function(a[0], a[1], a[2], a[3], a[4], a[5]);
	return function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
}

u64 libcosy_interp_fence(struct libcosy_interp *in, const u64 *r)
{
	(void)in, (void)r;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

u64 libcosy_interp_alloca(struct libcosy_interp *in, const u64 *r)
{
	return (u64)in->stack + libcosy_stack_take(in, r[1]);
}

/* There are no views here, and the bytes stay. */
u64 libcosy_interp_discard(struct libcosy_interp *in, const u64 *r)
{
	(void)in, (void)r;
	return 0;
}

/* There are no views here: the bytes read are in memory, and these are plain accesses. */

u64 libcosy_interp_view_load(struct libcosy_interp *in, const u64 *r)
{
	(void)in;
	switch (r[2]) {
	case 1:
		return libcosy_load(r[1], BPF_LDX | BPF_MEM | BPF_B);
	case 2:
		return libcosy_load(r[1], BPF_LDX | BPF_MEM | BPF_H);
	case 4:
		return libcosy_load(r[1], BPF_LDX | BPF_MEM | BPF_W);
	default:
		return libcosy_load(r[1], BPF_LDX | BPF_MEM | BPF_DW);
	}
}

u64 libcosy_interp_view_store(struct libcosy_interp *in, const u64 *r)
{
	(void)in;
	switch (r[3]) {
	case 1:
		libcosy_store(r[1], r[2], BPF_B);
		break;
	case 2:
		libcosy_store(r[1], r[2], BPF_H);
		break;
	case 4:
		libcosy_store(r[1], r[2], BPF_W);
		break;
	default:
		libcosy_store(r[1], r[2], BPF_DW);
	}
	return 0;
}

void libcosy_interp_op(struct libcosy_interp *in, u32 number)
{
	u64 *r = in->state->reg, result;

	switch (number) {
#define COSY_OP(number, name, args, flags)                                                         \
	case COSY_OP_BASE + (number):                                                              \
		result = libcosy_interp_##name(in, r);                                             \
		break;
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	case COSY_OP_BASE + (number):                                                              \
		result = libcosy_interp_##name(in, r);                                             \
		in->calls++;                                                                       \
		break;
#include "../../core/ops.def"
	default: /* the validator lets no other number through */
		__builtin_trap();
	}
	if (in->left)
		return;
	r[0] = result;
	memset(&r[1], 0, 5 * sizeof(*r));
}
