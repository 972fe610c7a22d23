// SPDX-License-Identifier: MIT
/*
 * interp.c - the interpreter's instruction loop.  Memory accesses are in
 * access.h, operations in interp_ops.c.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "interp/access.h"
#include "process/cancel.h"
#include "interp/interp.h"
#include "interp/interp_ops.h"
#include "interp/libc_calls.h"
#include "syscall.h"

/* Between calls the CPU clock is read once in this many steps. */
#define CLOCK_EVERY 4096u

#define NO_FRAME (~0ull)

/* --- Arithmetic with RFC 9669's results --------------------------------------- */

static u64 interp_divide(u64 a, u64 b, bool is_signed, bool wide)
{
	if (!wide) {
		a = is_signed ? (u64)(s32)a : (u32)a;
		b = is_signed ? (u64)(s32)b : (u32)b;
	}
	if (!b)
		return 0;
	if (!is_signed)
		return a / b;
	/* The one quotient that does not fit wraps; the processor would trap. */
	return b == ~0ull ? -a : (u64)((s64)a / (s64)b);
}

static u64 interp_modulo(u64 a, u64 b, bool is_signed, bool wide)
{
	if (!wide) {
		a = is_signed ? (u64)(s32)a : (u32)a;
		b = is_signed ? (u64)(s32)b : (u32)b;
	}
	if (!b)
		return a;
	if (!is_signed)
		return a % b;
	return b == ~0ull ? 0 : (u64)((s64)a % (s64)b);
}

static u64 interp_sign_extend(u64 value, int bits)
{
	switch (bits) {
	case 8:
		return (u64)(s8)value;
	case 16:
		return (u64)(s16)value;
	case 32:
		return (u64)(s32)value;
	default:
		return value;
	}
}

static u64 interp_byte_swap(u64 value, s32 bits)
{
	switch (bits) {
	case 16:
		return __builtin_bswap16((u16)value);
	case 32:
		return __builtin_bswap32((u32)value);
	default:
		return __builtin_bswap64(value);
	}
}

static u64 interp_byte_order(u64 value, const struct bpf_insn *insn)
{
	/* To little endian on a little-endian machine is a truncation. */
	if (BPF_CLASS(insn->code) == BPF_ALU && BPF_SRC(insn->code) == BPF_TO_LE)
		return insn->imm == 16 ? (u16)value : insn->imm == 32 ? (u32)value : value;
	return interp_byte_swap(value, insn->imm);
}

static u64 interp_alu(const struct bpf_insn *insn, u64 a, u64 b)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;
	u64 r;

	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		r = a + b;
		break;
	case BPF_SUB:
		r = a - b;
		break;
	case BPF_MUL:
		r = a * b;
		break;
	case BPF_DIV:
		r = interp_divide(a, b, insn->off == 1, wide);
		break;
	case BPF_MOD:
		r = interp_modulo(a, b, insn->off == 1, wide);
		break;
	case BPF_OR:
		r = a | b;
		break;
	case BPF_AND:
		r = a & b;
		break;
	case BPF_XOR:
		r = a ^ b;
		break;
	case BPF_LSH:
		r = wide ? a << (b & 63) : (u32)a << (b & 31);
		break;
	case BPF_RSH:
		r = wide ? a >> (b & 63) : (u32)a >> (b & 31);
		break;
	case BPF_ARSH:
		r = wide ? (u64)((s64)a >> (b & 63)) : (u64)((s32)a >> (b & 31));
		break;
	case BPF_NEG:
		r = -a;
		break;
	case BPF_MOV:
		r = insn->off ? interp_sign_extend(b, insn->off) : b;
		break;
	default: /* BPF_END: its result is as wide as its imm says, in either class */
		return interp_byte_order(a, insn);
	}
	return wide ? r : (u32)r;
}

static bool interp_compare(const struct bpf_insn *insn, u64 a, u64 b)
{
	s64 sa = (s64)a, sb = (s64)b;

	if (BPF_CLASS(insn->code) == BPF_JMP32) {
		sa = (s32)a;
		sb = (s32)b;
		a = (u32)a;
		b = (u32)b;
	}
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSET:
		return a & b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	default: /* BPF_JSLE */
		return sa <= sb;
	}
}

/* --- Local calls ---------------------------------------------------------------- */

/* Returns the used part of a function's spill frame: its upper end. */
static u64 *interp_spills(struct cosy_state *state, const struct cosy_function *function)
{
	return state->frame + COSY_FRAME_SIZE / 8 - function->frame_words;
}

/*
 * Pushes the caller's half and enters the callee.  The stack's `sp` moves before
 * the frame is written and after it is read, so that a signal handler that runs
 * a region of its own on the rest of this stack finds the frame taken.
 */
static u32 interp_push(struct libcosy_interp *in, u32 call, u32 callee)
{
	const struct cosy_function *from = cosy_function_of(in->program, call);
	const struct cosy_function *to = cosy_function_of(in->program, callee);
	struct cosy_state *state = in->state;
	struct cosy_frame *frame;
	u64 at;

	at = libcosy_stack_take(in, sizeof(*frame) + from->frame_words * sizeof(u64));
	frame = (struct cosy_frame *)(in->stack + at);
	frame->call = call;
	frame->fp = state->fp;
	memcpy(frame->reg, &state->reg[6], sizeof(frame->reg));
	memcpy(frame->spill, interp_spills(state, from), from->frame_words * sizeof(u64));
	state->fp = at;
	memset(interp_spills(state, to), 0, to->frame_words * sizeof(u64));
	return callee;
}

/* Returns the instruction after the call; traps when the frame names no call. */
static u32 interp_pop(struct libcosy_interp *in)
{
	const struct cosy_validated *program = in->program;
	struct cosy_state *state = in->state;
	const struct cosy_function *from;
	struct cosy_frame *frame;
	u64 at = state->fp, call;

	if (at % 8 || at >= in->stack_size || in->stack_size - at < sizeof(*frame))
		__builtin_trap();
	frame = (struct cosy_frame *)(in->stack + at);
	call = frame->call;
	if (call >= program->insn_cnt || !(program->marks[call] & COSY_MARK_HEAD) ||
	    program->insns[call].code != (BPF_JMP | BPF_CALL) ||
	    program->insns[call].src_reg != BPF_PSEUDO_CALL)
		__builtin_trap();
	from = cosy_function_of(program, call);
	if (in->stack_size - at < sizeof(*frame) + from->frame_words * sizeof(u64))
		__builtin_trap();
	memcpy(&state->reg[6], frame->reg, sizeof(frame->reg));
	memcpy(interp_spills(state, from), frame->spill, from->frame_words * sizeof(u64));
	state->fp = frame->fp;
	COSY_BARRIER();
	state->sp = at;
	return call + 1;
}

/* --- Limits ------------------------------------------------------------------------ */

static u64 cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static bool interp_time_is_up(const struct libcosy_interp *in)
{
	return cpu_ns() - in->started >= in->max_ns;
}

/*
 * Counts a step.  Returns the status to end with, or COSY_DONE to go on.  Calls may take
 * long, so the clock is read before each.
 */
static enum cosy_status interp_count(struct libcosy_interp *in, bool is_call)
{
	struct cosy_state *state = in->state;

	if (in->max_steps && state->steps >= in->max_steps)
		return COSY_ENDED_STEPS;
	if (in->max_ns && (is_call || state->steps % CLOCK_EVERY == 0) && interp_time_is_up(in))
		return COSY_ENDED_TIME;
	state->steps++;
	return COSY_DONE;
}

bool libcosy_interp_leaves(struct libcosy_interp *in)
{
	in->left = in->max_ns && interp_time_is_up(in);
	return in->left;
}

/* --- The loop ------------------------------------------------------------------------ */

static void interp_start(struct libcosy_interp *in)
{
	memset(in->state, 0, sizeof(*in->state));
	in->state->reg[1] = in->ctx;
	in->state->fp = NO_FRAME;
}

static void interp_system_call(struct libcosy_interp *in, u32 number)
{
	u64 *r = in->state->reg;

	in->calls++;
	if (in->watched && libcosy_libc_call(number, r))
		;
	else if (in->cancel && libcosy_is_cancellation_point(number, r))
		r[0] = libcosy_cancellable_call(number, r);
	else
		r[0] = cosy_syscall6(number, r[1], r[2], r[3], r[4], r[5], r[0]);
	memset(&r[1], 0, 5 * sizeof(*r));
}

/* Returns the address of a load, store or atomic; through r10 it is in the spill frame. */
static u64 interp_address(struct libcosy_interp *in, u8 base, s16 off)
{
	u64 reg = base == BPF_REG_10 ? (u64)(in->state->frame + COSY_FRAME_SIZE / 8)
				     : in->state->reg[base];
	return reg + (s64)off;
}

/* Returns the operand of an arithmetic or jump instruction: a register or the immediate. */
static u64 interp_operand(const struct libcosy_interp *in, const struct bpf_insn *insn)
{
	return BPF_SRC(insn->code) == BPF_X ? in->state->reg[insn->src_reg] : (u64)(s64)insn->imm;
}

/* Returns the instruction after a jump. */
static inline u32 interp_jump(const struct libcosy_interp *in, const struct bpf_insn *insn, u64 *r,
			      u32 pc)
{
	if (BPF_OP(insn->code) == BPF_JA)
		return pc + 1 + (BPF_CLASS(insn->code) == BPF_JMP32 ? insn->imm : insn->off);
	if (interp_compare(insn, r[insn->dst_reg], interp_operand(in, insn)))
		return pc + 1 + insn->off;
	return pc + 1;
}

static inline void interp_store(struct libcosy_interp *in, const struct bpf_insn *insn, u64 *r)
{
	u64 to = interp_address(in, insn->dst_reg, insn->off);

	if (BPF_MODE(insn->code) == BPF_ATOMIC)
		libcosy_atomic(to, insn, &r[insn->src_reg], &r[0]);
	else
		libcosy_store(to, r[insn->src_reg], insn->code);
}

/*
 * Executes a call, or the exit of a local function, at in->resume, which then names the
 * instruction to go on with; or returns the status to end with.
 */
__attribute__((noinline)) static enum cosy_status interp_call_or_exit(struct libcosy_interp *in,
								      const struct bpf_insn *insn)
{
	u64 *r = in->state->reg;
	bool is_exit = BPF_OP(insn->code) == BPF_EXIT;
	bool is_system_call = !is_exit && insn->src_reg != BPF_PSEUDO_CALL;
	enum cosy_status status;

	if (in->cancel == COSY_CANCEL_STOPS && is_system_call &&
	    libcosy_is_cancellation_point(insn->imm, r))
		return COSY_LEFT_CALL;
	status = interp_count(in, is_system_call);
	if (status != COSY_DONE)
		return status;
	if (is_exit) {
		in->resume = interp_pop(in) + 1;
		memset(&r[1], 0, 5 * sizeof(*r));
		return COSY_DONE;
	}
	if (!is_system_call) {
		in->resume = interp_push(in, in->resume - 1, in->resume + insn->imm) + 1;
		return COSY_DONE;
	}
	if ((u32)insn->imm < COSY_OP_BASE)
		interp_system_call(in, insn->imm);
	else
		libcosy_interp_op(in, insn->imm);
	if (in->left) {
		in->left = false;
		in->state->steps--;
		return COSY_ENDED_TIME;
	}
	in->resume++;
	return COSY_DONE;
}

/*
 * Executes an instruction that always goes on with the next one.  Returns how many slots it takes;
 * 0, and nothing is done, for calls, exits and jumps.
 */
static inline u32 interp_straight(struct libcosy_interp *in, const struct bpf_insn *insn, u64 *r)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		r[insn->dst_reg] = interp_alu(insn, r[insn->dst_reg], interp_operand(in, insn));
		return 1;
	case BPF_LD:
		r[insn->dst_reg] = (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32;
		return 2;
	case BPF_LDX:
		r[insn->dst_reg] =
			libcosy_load(interp_address(in, insn->src_reg, insn->off), insn->code);
		return 1;
	case BPF_ST:
		libcosy_store(interp_address(in, insn->dst_reg, insn->off), (s64)insn->imm,
			      insn->code);
		return 1;
	case BPF_STX:
		interp_store(in, insn, r);
		return 1;
	default: /* BPF_JMP, BPF_JMP32 */
		return 0;
	}
}

static enum cosy_status interp_loop(struct libcosy_interp *in, unsigned int stop)
{
	const struct bpf_insn *insns = in->program->insns;
	u64 *r = in->state->reg;
	u32 pc = in->resume ? in->resume - 1 : 0, first = pc, next;
	enum cosy_status status;

	for (;; pc = next) {
		const struct bpf_insn *insn = &insns[pc];
		u32 slots;

		if (stop && pc != first && in->program->marks[pc] & stop) {
			in->resume = pc + 1;
			return COSY_LEFT_WORK;
		}
		first = ~0u;
		slots = interp_straight(in, insn, r);
		next = pc + slots;
		if (slots)
			continue;

		switch (BPF_OP(insn->code)) {
		case BPF_EXIT:
			if (in->state->fp == NO_FRAME) {
				in->ret = (s64)r[0];
				return COSY_DONE;
			}
			/* fall through */
		case BPF_CALL:
			in->resume = pc + 1;
			status = interp_call_or_exit(in, insn);
			next = in->resume - 1;
			break;
		default:
			next = interp_jump(in, insn, r, pc);
			if (next > pc)
				continue;
			in->resume = next + 1;
			status = interp_count(in, false);
			break;
		}
		if (status != COSY_DONE)
			return status;
	}
}

enum cosy_status libcosy_interp_run(struct libcosy_interp *in, unsigned int stop)
{
	enum cosy_status status;

	if (!in->resume)
		interp_start(in);
	if (in->max_ns)
		in->started = cpu_ns() - in->state->kernel_ns;
	status = interp_loop(in, stop);
	if (in->max_ns)
		in->state->kernel_ns = cpu_ns() - in->started;
	return status;
}
