// SPDX-License-Identifier: GPL-2.0 OR MIT
/* reference.c - runs a program as it was written. */
#include "alu.h"
#include "reference.h"

struct machine {
	const struct cosy_validated *program;
	struct world *world;
	struct cosy_state *state;
	u64 limit;
	u32 at; /* the instruction under way */
	u32 next;
};

void reference_start(struct cosy_state *state, const struct world *world)
{
	memset(state, 0, sizeof(*state));
	state->reg[1] = world->ctx;
	state->fp = ~0ull;
}

/* Returns the byte at r10 + off of the frame. */
static u8 *frame_bytes(struct cosy_state *state, s32 off)
{
	return (u8 *)state->frame + COSY_FRAME_SIZE + off;
}

static u8 *locate(struct machine *m, u32 base, const struct bpf_insn *insn, u32 size)
{
	if (base == 10)
		return frame_bytes(m->state, insn->off);
	return world_bytes(m->world, m->state->reg[base] + insn->off, size);
}

u64 reference_atomic(u8 *bytes, u32 size, s32 imm, u64 operand, u64 r0)
{
	u64 mask = size == 8 ? ~0ull : 0xffffffffull;
	u64 old = alu_read(bytes, size, false);

	if (imm != BPF_CMPXCHG || old == (r0 & mask))
		alu_write(bytes, size, alu_atomic(imm, old, operand));
	return old;
}

static enum outcome run_atomic(struct machine *m, const struct bpf_insn *insn)
{
	u32 size = alu_access_size(insn->code);
	u8 *bytes = locate(m, insn->dst_reg, insn, size);
	u64 *reg = m->state->reg;
	u64 old;

	if (!bytes)
		return RUN_FAULT;
	old = reference_atomic(bytes, size, insn->imm, reg[insn->src_reg], reg[0]);
	if (insn->imm == BPF_CMPXCHG)
		reg[0] = old;
	else if (insn->imm & BPF_FETCH)
		reg[insn->src_reg] = old;
	return RUN_ON;
}

static enum outcome run_access(struct machine *m, const struct bpf_insn *insn)
{
	bool is_load = BPF_CLASS(insn->code) == BPF_LDX;
	u32 size = alu_access_size(insn->code);
	u64 *reg = m->state->reg;
	u8 *bytes;

	if (!is_load && BPF_MODE(insn->code) == BPF_ATOMIC)
		return run_atomic(m, insn);
	bytes = locate(m, is_load ? insn->src_reg : insn->dst_reg, insn, size);
	if (!bytes)
		return RUN_FAULT;
	if (is_load)
		reg[insn->dst_reg] = alu_read(bytes, size, BPF_MODE(insn->code) == BPF_MEMSX);
	else if (BPF_CLASS(insn->code) == BPF_STX)
		alu_write(bytes, size, reg[insn->src_reg]);
	else
		alu_write(bytes, size, (s64)insn->imm);
	return RUN_ON;
}

static enum outcome run_local_call(struct machine *m, const struct bpf_insn *insn)
{
	u32 target = m->at + 1 + insn->imm;

	if (!frame_push(m->world, m->state, m->at, cosy_function_of(m->program, m->at)->frame_words,
			cosy_function_of(m->program, target)->frame_words))
		return RUN_STACK;
	m->next = target;
	return RUN_ON;
}

static enum outcome run_call(struct machine *m, const struct bpf_insn *insn)
{
	if (++m->state->steps >= m->limit)
		return RUN_LIMIT;
	if (insn->src_reg == BPF_PSEUDO_CALL)
		return run_local_call(m, insn);
	if (insn->imm == COSY_OP_trap || insn->imm == COSY_OP_divide_error)
		return RUN_TRAP;
	m->state->reg[0] = world_call(m->world, insn->imm, m->state->reg);
	memset(&m->state->reg[1], 0, 5 * sizeof(u64));
	return RUN_ON;
}

static enum outcome run_exit(struct machine *m)
{
	s64 call;

	if (cosy_function_of(m->program, m->at)->start == 0)
		return RUN_DONE;
	if (++m->state->steps >= m->limit)
		return RUN_LIMIT;
	call = frame_pop(m->world, m->state, m->program);
	if (call < 0)
		return RUN_TRAP;
	m->next = call + 1;
	memset(&m->state->reg[1], 0, 5 * sizeof(u64));
	return RUN_ON;
}

static enum outcome run_jump(struct machine *m, const struct bpf_insn *insn)
{
	bool wide = insn->code == (BPF_JMP32 | BPF_JA);
	u64 src = BPF_SRC(insn->code) == BPF_X ? m->state->reg[insn->src_reg] : (u64)(s64)insn->imm;
	u32 target = m->at + 1 + (wide ? insn->imm : insn->off);

	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		return run_call(m, insn);
	case BPF_EXIT:
		return run_exit(m);
	case BPF_JA:
		break;
	default:
		if (!alu_condition(insn, m->state->reg[insn->dst_reg], src))
			return RUN_ON;
	}
	m->next = target;
	if (target <= m->at && ++m->state->steps >= m->limit) {
		m->at = target;
		return RUN_LIMIT;
	}
	return RUN_ON;
}

/* Runs one instruction.  RUN_ON: go on at m->next. */
static enum outcome run_insn(struct machine *m)
{
	const struct bpf_insn *insn = &m->program->insns[m->at];
	u64 *reg = m->state->reg;
	u64 src;

	m->next = m->at + 1;
	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		reg[insn->dst_reg] = (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32;
		m->next++;
		return RUN_ON;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		return run_access(m, insn);
	case BPF_JMP:
	case BPF_JMP32:
		return run_jump(m, insn);
	default:
		src = BPF_SRC(insn->code) == BPF_X ? reg[insn->src_reg] : (u64)(s64)insn->imm;
		reg[insn->dst_reg] = alu_result(insn, reg[insn->dst_reg], src);
		return RUN_ON;
	}
}

enum outcome reference_run(const struct cosy_validated *program, struct world *world,
			   struct cosy_state *state, u32 *at, u64 limit, u32 leave_after)
{
	struct machine m = {program, world, state, limit, *at, 0};
	enum outcome outcome;

	for (;;) {
		outcome = run_insn(&m);
		if (outcome != RUN_ON)
			break;
		m.at = m.next;
		if (leave_after && program->marks[m.at] & COSY_MARK_RESUME && !--leave_after) {
			outcome = RUN_LEFT;
			break;
		}
	}
	*at = m.at;
	return outcome;
}
