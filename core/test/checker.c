// SPDX-License-Identifier: GPL-2.0 OR MIT
/* checker.c - runs rewritten code as the JIT would, and watches it. */
#include "alu.h"
#include "checker.h"
#include "reference.h"

#define STACK_TOP 0xffffa0000000f000ull
#define ENTRY	  0xffffa00000100000ull
#define AX	  11

/* Instructions that a processor runs before it notices a mistake. */
enum { MAX_SPECULATED = 64 };

#define T(n) [n] = CHECKER_THUNK_BASE + (n)
const s32 checker_thunks[COSY_THUNK_CNT] = {
	T(0),  T(1),  T(2),  T(3),  T(4),  T(5),  T(6),	 T(7),	T(8),  T(9),  T(10), T(11),
	T(12), T(13), T(14), T(15), T(16), T(17), T(18), T(19), T(20), T(21), T(22), T(23),
	T(24), T(25), T(26), T(27), T(28), T(29), T(30), T(31), T(32), T(33), T(34), T(35),
#define COSY_FAST_CALL(number, name, args, flags, views) T(COSY_THUNK_CALL_##name),
#define COSY_THUNK_CALL(number, name, args, flags)	 T(COSY_THUNK_CALL_##name),
#define COSY_OP(number, name, args, flags)		 T(COSY_THUNK_OP_##name),
#include "ops.def"
};
#undef T
_Static_assert(COSY_THUNK_FETCH_LAST == 35, "checker_thunks names every thunk");

__printf(2, 3) static enum outcome violation(struct checker *c, const char *format, ...)
{
	va_list args;
	int used = snprintf(c->violation, sizeof(c->violation), "rewritten %u: ", c->pc);

	va_start(args, format);
	vsnprintf(c->violation + used, sizeof(c->violation) - used, format, args);
	va_end(args);
	return RUN_VIOLATION;
}

static u32 chance(struct checker *c, u32 of)
{
	c->chance = world_mix(c->chance + 1, of);
	return of ? (c->chance >> 20) % of : 1;
}

static bool leaves_here(struct checker *c)
{
	return c->leave_every && chance(c, c->leave_every) == 0;
}

/* --- The frame ------------------------------------------------------------------------- */

static u32 frame_index(s32 off)
{
	return sizeof(((struct checker *)0)->frame) + off;
}

static u64 slot(const struct checker *c, s32 off)
{
	return alu_read(&c->frame[frame_index(off)], 8, false);
}

/* Keeps what a store overwrites: a load soon after it may still see that. */
static void note_store(struct checker *c, s32 off, u32 size)
{
	u32 i;

	memcpy(&c->stale[frame_index(off)], &c->frame[frame_index(off)], size);
	memcpy(&c->was_defined[frame_index(off)], &c->defined[frame_index(off)], size);
	for (i = 0; i < size; i++)
		c->stored[frame_index(off) + i] = c->executed;
}

static void set_slot(struct checker *c, s32 off, u64 value)
{
	note_store(c, off, 8);
	alu_write(&c->frame[frame_index(off)], 8, value);
	memset(&c->defined[frame_index(off)], 1, 8);
}

static s32 word_offset(u32 index)
{
	return -COSY_SLOT_SIZE - 8 * (s32)index;
}

u32 checker_frame_words(const struct cosy_validated *program)
{
	u32 i, ret = 0;

	for (i = 0; i < program->function_cnt; i++) {
		if (program->functions[i].frame_words > ret)
			ret = program->functions[i].frame_words;
	}
	return ret;
}

/* Returns whether a place in the frame is one of its words for fetches, the lowest. */
static bool is_for_fetches(const struct checker *c, s32 off)
{
	u32 left = COSY_FRAME_SIZE / 8 - checker_frame_words(c->program);
	u32 room = left < COSY_FETCH_WORDS ? left : COSY_FETCH_WORDS;

	return c->code->stack_size == (u32)-COSY_FETCH_PLACE &&
	       off < COSY_FETCH_PLACE + 8 * (s32)room;
}

/* --- State, as a leave saves it --------------------------------------------------------- */

static bool sees_kernel_value(struct checker *c)
{
	u32 i, reg;

	for (reg = 0; reg < 10; reg++) {
		if (c->tainted & 1 << reg) {
			violation(c, "r%u holds a kernel value at a thunk or exit", reg);
			return true;
		}
	}
	for (i = 8; i <= 8 * checker_frame_words(c->program); i++) {
		if (!c->defined[frame_index(-COSY_SLOT_SIZE - (s32)i)]) {
			violation(c, "spill byte r10-%u is undefined or a kernel value", i);
			return true;
		}
	}
	return false;
}

static void account(struct checker *c)
{
	s64 fuel = slot(c, COSY_SLOT_FUEL);

	c->entry.state.steps += c->granted - fuel;
	c->granted = fuel;
}

static void save(struct checker *c)
{
	u32 i;

	memcpy(c->entry.state.reg, c->reg, sizeof(c->entry.state.reg));
	for (i = 1; i <= checker_frame_words(c->program); i++)
		*frame_word(&c->entry.state, i) = slot(c, word_offset(i));
}

static void restore(struct checker *c)
{
	u32 i;

	memcpy(c->reg, c->entry.state.reg, sizeof(c->entry.state.reg));
	for (i = 1; i <= checker_frame_words(c->program); i++)
		set_slot(c, word_offset(i), *frame_word(&c->entry.state, i));
}

static enum outcome leave(struct checker *c, enum outcome outcome, u32 at)
{
	u8 marks = c->program->marks[at];

	if (!(marks &
	      (outcome == RUN_FAULT ? COSY_MARK_LEAVE : COSY_MARK_RESUME | COSY_MARK_LEAVE)))
		return violation(c, "leaves at instruction %u, which is not marked", at);
	account(c);
	save(c);
	c->at = at;
	return outcome;
}

/* --- Fuel --------------------------------------------------------------------------------- */

static void grant(struct checker *c)
{
	u64 left = c->limit - c->entry.state.steps;
	u64 fuel = 1 + chance(c, c->max_grant);

	c->granted = fuel < left ? fuel : left;
}

static enum outcome refill(struct checker *c, u32 at)
{
	account(c);
	if (c->entry.state.steps >= c->limit)
		return leave(c, RUN_LIMIT, at);
	grant(c);
	set_slot(c, COSY_SLOT_FUEL, c->granted);
	return RUN_ON;
}

static enum outcome spend(struct checker *c, u32 at)
{
	set_slot(c, COSY_SLOT_FUEL, slot(c, COSY_SLOT_FUEL) - 1);
	return (s64)slot(c, COSY_SLOT_FUEL) > 0 ? RUN_ON : refill(c, at);
}

/* --- Thunks --------------------------------------------------------------------------------- */

static const struct bpf_insn *program_insn(struct checker *c, u64 at)
{
	if (at >= c->program->insn_cnt || !(c->program->marks[at] & COSY_MARK_HEAD)) {
		violation(c, "a thunk is told of instruction %llu", (unsigned long long)at);
		return NULL;
	}
	return &c->program->insns[at];
}

static enum outcome thunk_load(struct checker *c, u32 size, bool is_signed)
{
	u64 at = slot(c, COSY_SLOT_INSN);
	const struct bpf_insn *insn = program_insn(c, at);
	u8 *bytes;

	if (!insn)
		return RUN_VIOLATION;
	if (BPF_CLASS(insn->code) != BPF_LDX || alu_access_size(insn->code) != size ||
	    (BPF_MODE(insn->code) == BPF_MEMSX) != is_signed)
		return violation(c, "load thunk for another instruction, %llu",
				 (unsigned long long)at);
	if (c->reg[AX] != c->reg[insn->src_reg] + insn->off)
		return violation(c, "load thunk with a wrong address");
	if (c->how->size && c->reg[AX] - c->how->user_base <= c->how->size - size)
		return violation(c, "a load within the shared buffer took the slow way");
	c->slow++;
	if (c->fault_every && chance(c, c->fault_every) == 0)
		return leave(c, RUN_LEFT, at);
	bytes = world_bytes(c->world, c->reg[AX], size);
	if (!bytes)
		return leave(c, RUN_FAULT, at);
	c->reg[AX] = alu_read(bytes, size, is_signed);
	return RUN_ON;
}

static enum outcome thunk_fetch(struct checker *c, u32 words)
{
	u64 what = slot(c, COSY_SLOT_INSN), at = what & 0xffff, word = what >> 24;
	const struct bpf_insn *insn = program_insn(c, at);
	u64 address = c->reg[AX];
	u32 i;

	if (!insn)
		return RUN_VIOLATION;
	if (what & 0xff0000 || !(c->program->marks[at] & COSY_MARK_LEAVE))
		return violation(c, "fetch for another instruction, %llu", (unsigned long long)at);
	if (c->code->stack_size != (u32)-COSY_FETCH_PLACE ||
	    word + words + checker_frame_words(c->program) > COSY_FRAME_SIZE / 8 ||
	    word + words > COSY_FETCH_WORDS)
		return violation(c, "fetch to where the frame has no room for it");
	c->slow++;
	if (c->fault_every && chance(c, c->fault_every) == 0)
		return leave(c, RUN_LEFT, at);
	for (i = 0; i < words; i++) {
		const u8 *bytes = world_bytes(c->world, address + 8 * i, 8);

		if (!bytes)
			return leave(c, RUN_LEFT, at);
		set_slot(c, COSY_FETCH_PLACE + 8 * (s32)(word + i), alu_read(bytes, 8, false));
	}
	return RUN_ON;
}

static enum outcome thunk_store(struct checker *c, u32 size)
{
	u64 at = slot(c, COSY_SLOT_INSN), value = slot(c, COSY_SLOT_VALUE), mask = ~0ull;
	const struct bpf_insn *insn = program_insn(c, at);
	u8 *bytes;

	if (!insn)
		return RUN_VIOLATION;
	if ((BPF_CLASS(insn->code) != BPF_ST && BPF_CLASS(insn->code) != BPF_STX) ||
	    BPF_MODE(insn->code) != BPF_MEM || alu_access_size(insn->code) != size)
		return violation(c, "store thunk for another instruction, %llu",
				 (unsigned long long)at);
	if (c->reg[AX] != c->reg[insn->dst_reg] + insn->off)
		return violation(c, "store thunk with a wrong address");
	if (size < 8)
		mask = (1ull << 8 * size) - 1;
	if ((value & mask) !=
	    ((BPF_CLASS(insn->code) == BPF_ST ? (u64)(s64)insn->imm : c->reg[insn->src_reg]) &
	     mask))
		return violation(c, "store thunk with a wrong value");
	if (c->how->size && c->reg[AX] - c->how->user_base <= c->how->size - size)
		return violation(c, "a store within the shared buffer took the slow way");
	c->slow++;
	if (c->fault_every && chance(c, c->fault_every) == 0)
		return leave(c, RUN_LEFT, at);
	bytes = world_bytes(c->world, c->reg[AX], size);
	if (!bytes)
		return leave(c, RUN_FAULT, at);
	alu_write(bytes, size, value);
	return RUN_ON;
}

static enum outcome thunk_atomic(struct checker *c)
{
	u64 what = slot(c, COSY_SLOT_INSN), at = what >> 16;
	const struct bpf_insn *insn = program_insn(c, at);
	u32 size = what & 0x100 ? 8 : 4;
	u8 *bytes;

	if (!insn)
		return RUN_VIOLATION;
	if (insn->code != (BPF_STX | BPF_ATOMIC | (size == 8 ? BPF_DW : BPF_W)) ||
	    insn->imm != (s32)(what & 0xff) || (what & 0xfe00))
		return violation(c, "atomic thunk for another instruction, %llu",
				 (unsigned long long)at);
	if (c->reg[AX] != c->reg[insn->dst_reg] + insn->off)
		return violation(c, "atomic thunk with a wrong address");
	if (c->fault_every && chance(c, c->fault_every) == 0)
		return leave(c, RUN_LEFT, at);
	bytes = world_bytes(c->world, c->reg[AX], size);
	if (!bytes)
		return leave(c, RUN_FAULT, at);
	c->reg[AX] = reference_atomic(bytes, size, insn->imm, slot(c, COSY_SLOT_VALUE), c->reg[0]);
	return RUN_ON;
}

static enum outcome thunk_divide(struct checker *c, enum cosy_thunk thunk)
{
	c->reg[AX] = alu_divide(c->reg[AX], slot(c, COSY_SLOT_VALUE),
				thunk == COSY_THUNK_SDIV64 || thunk == COSY_THUNK_SMOD64, true,
				thunk == COSY_THUNK_SMOD32 || thunk == COSY_THUNK_SMOD64);
	return RUN_ON;
}

static enum outcome thunk_call(struct checker *c, enum cosy_thunk thunk)
{
	u64 at = c->reg[AX] >> 16;
	u32 number = c->reg[AX] & 0xffff;
	const struct bpf_insn *insn = program_insn(c, at);
	enum outcome outcome;

	if (thunk >= COSY_THUNK_OP_FIRST)
		number += COSY_OP_BASE;
	if (!insn)
		return RUN_VIOLATION;
	if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg || (u32)insn->imm != number)
		return violation(c, "call %u for another instruction, %llu", number,
				 (unsigned long long)at);
	if (thunk != COSY_THUNK_SYSCALL && thunk != cosy_call_find(number)->thunk)
		return violation(c, "call %u by the thunk of another one", number);
	if (leaves_here(c))
		return leave(c, RUN_LEFT, at);
	outcome = spend(c, at);
	if (outcome != RUN_ON)
		return outcome;
	if (number == COSY_OP_trap || number == COSY_OP_divide_error)
		return leave(c, RUN_TRAP, at);
	c->reg[0] = world_call(c->world, number, c->reg);
	memset(&c->reg[1], 0, 5 * sizeof(u64));
	if (leaves_here(c))
		return leave(c, RUN_LEFT, at + 1);
	return RUN_ON;
}

static enum outcome thunk_safepoint(struct checker *c)
{
	u64 at = c->reg[AX];

	if (!program_insn(c, at))
		return RUN_VIOLATION;
	if ((s64)slot(c, COSY_SLOT_FUEL) > 0)
		return violation(c, "safepoint with fuel left");
	if (leaves_here(c)) {
		account(c);
		if (c->entry.state.steps < c->limit)
			return leave(c, RUN_LEFT, at);
	}
	return refill(c, at);
}

static enum outcome thunk_push(struct checker *c)
{
	u64 at = c->reg[AX] >> 16;
	u32 caller = c->reg[AX] >> 8 & 0xff, callee = c->reg[AX] & 0xff;
	const struct bpf_insn *insn = program_insn(c, at);
	enum outcome outcome;

	if (!insn)
		return RUN_VIOLATION;
	if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg != BPF_PSEUDO_CALL ||
	    caller != cosy_function_of(c->program, at)->frame_words ||
	    callee != cosy_function_of(c->program, at + 1 + insn->imm)->frame_words)
		return violation(c, "push does not fit instruction %llu", (unsigned long long)at);
	if (leaves_here(c))
		return leave(c, RUN_LEFT, at);
	outcome = spend(c, at);
	if (outcome != RUN_ON)
		return outcome;
	save(c);
	if (!frame_push(c->world, &c->entry.state, at, caller, callee))
		return leave(c, RUN_STACK, at);
	restore(c);
	return RUN_ON;
}

static enum outcome thunk_pop(struct checker *c)
{
	u64 at = c->reg[AX];
	const struct bpf_insn *insn = program_insn(c, at);
	enum outcome outcome;
	s64 call;

	if (!insn)
		return RUN_VIOLATION;
	if (insn->code != (BPF_JMP | BPF_EXIT) || !cosy_function_of(c->program, at)->start)
		return violation(c, "pop at instruction %llu", (unsigned long long)at);
	if (leaves_here(c))
		return leave(c, RUN_LEFT, at);
	outcome = spend(c, at);
	if (outcome != RUN_ON)
		return outcome;
	save(c);
	call = frame_pop(c->world, &c->entry.state, c->program);
	if (call < 0)
		return leave(c, RUN_TRAP, at);
	restore(c);
	c->reg[AX] = c->popped ? *c->popped : (u64)call;
	return RUN_ON;
}

static enum outcome run_thunk(struct checker *c, s32 imm)
{
	enum cosy_thunk thunk = imm - CHECKER_THUNK_BASE;
	enum outcome outcome;

	if (imm < CHECKER_THUNK_BASE || thunk >= COSY_THUNK_CNT)
		return violation(c, "calls %d, which is no thunk", imm);
	if (c->tainted & 1 << AX)
		return violation(c, "AX holds a kernel value or nothing at a thunk");
	if (sees_kernel_value(c))
		return RUN_VIOLATION;
	if (slot(c, COSY_SLOT_STATE) != ENTRY)
		return violation(c, "a thunk that cannot find the state");
	switch (thunk) {
	case COSY_THUNK_LOAD1 ... COSY_THUNK_LOAD8:
		return thunk_load(c, 1 << (thunk - COSY_THUNK_LOAD1), false);
	case COSY_THUNK_LOADS1 ... COSY_THUNK_LOADS4:
		return thunk_load(c, 1 << (thunk - COSY_THUNK_LOADS1), true);
	case COSY_THUNK_FETCH ... COSY_THUNK_FETCH_LAST:
		outcome = thunk_fetch(c, thunk - COSY_THUNK_FETCH + 1);
		break;
	case COSY_THUNK_STORE1 ... COSY_THUNK_STORE8:
		outcome = thunk_store(c, 1 << (thunk - COSY_THUNK_STORE1));
		break;
	case COSY_THUNK_ATOMIC:
		return thunk_atomic(c);
	case COSY_THUNK_SDIV32 ... COSY_THUNK_SMOD64:
		return thunk_divide(c, thunk);
	case COSY_THUNK_SYSCALL:
	case COSY_THUNK_FETCH_LAST + 1 ... COSY_THUNK_CNT - 1:
		outcome = thunk_call(c, thunk);
		c->steps = 0;
		break;
	case COSY_THUNK_SAFEPOINT:
		outcome = thunk_safepoint(c);
		c->steps = 0;
		break;
	case COSY_THUNK_PUSH:
		outcome = thunk_push(c);
		c->steps = 0;
		break;
	default:
		c->steps = 0;
		return thunk_pop(c);
	}
	/* These give nothing in AX. */
	c->tainted |= 1 << AX;
	return outcome;
}

/* --- Instructions ------------------------------------------------------------------------- */

static bool has_taint(const struct checker *c, u32 reg)
{
	return c->tainted & 1 << reg;
}

static void set_taint(struct checker *c, u32 reg, bool taint)
{
	if (taint)
		c->tainted |= 1 << reg;
	else
		c->tainted &= ~(1 << reg);
}

/* Returns the buffer's byte at a kernel address, or NULL. */
static u8 *buffer_bytes(struct checker *c, u64 address, u32 size)
{
	u64 offset = address - c->how->kernel_base;

	if (!c->how->size || offset > c->how->size - size)
		return NULL;
	c->fast++;
	return c->world->area[WORLD_BUFFER].bytes + offset;
}

/*
 * Returns whether an access is relative to the JIT's own register, which has the kernel's address
 * of the buffer.
 */
static bool is_based(const struct bpf_insn *insn)
{
	return BPF_MODE(insn->code) == BPF_PROBE_MEM32;
}

static bool in_frame(const struct checker *c, s32 off, u32 size)
{
	return off >= -(s32)c->code->stack_size && off + (s32)size <= 0;
}

static bool frame_defined(const struct checker *c, s32 off, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++) {
		if (!c->defined[frame_index(off) + i])
			return false;
	}
	return true;
}

static enum outcome overtake(struct checker *c, const struct bpf_insn *insn);

static enum outcome run_load(struct checker *c, const struct bpf_insn *insn)
{
	bool is_signed = BPF_MODE(insn->code) == BPF_MEMSX;
	u32 size = alu_access_size(insn->code);
	u64 address = c->reg[insn->src_reg] + insn->off;
	u64 entry = address - ENTRY;
	const u8 *bytes;

	if (is_based(insn)) {
		bytes = buffer_bytes(c, c->how->kernel_base + address, size);
		if (!bytes || has_taint(c, insn->src_reg))
			return violation(c, "based load outside the buffer, 0x%llx",
					 (unsigned long long)address);
	} else if (insn->src_reg == 10) {
		if (!in_frame(c, insn->off, size))
			return violation(c, "load outside the frame, r10%+d", insn->off);
		if (!frame_defined(c, insn->off, size))
			return violation(c, "load of an undefined or kernel value, r10%+d",
					 insn->off);
		if (overtake(c, insn) != RUN_ON)
			return RUN_VIOLATION;
		bytes = &c->frame[frame_index(insn->off)];
	} else if (c->reg[insn->src_reg] == ENTRY && has_taint(c, insn->src_reg) &&
		   entry <= sizeof(c->entry) - size) {
		bytes = (u8 *)&c->entry + entry;
	} else {
		bytes = buffer_bytes(c, address, size);
		if (!bytes)
			return violation(c, "load outside everything, 0x%llx",
					 (unsigned long long)address);
	}
	c->reg[insn->dst_reg] = alu_read(bytes, size, is_signed);
	set_taint(c, insn->dst_reg, false);
	return RUN_ON;
}

static enum outcome run_store(struct checker *c, const struct bpf_insn *insn)
{
	bool from_register = BPF_CLASS(insn->code) == BPF_STX;
	u32 size = alu_access_size(insn->code);
	u64 value = from_register ? c->reg[insn->src_reg] : (u64)(s64)insn->imm;
	bool taint = from_register && has_taint(c, insn->src_reg);
	u64 base = is_based(insn) ? c->how->kernel_base : 0;
	u8 *bytes;

	if (!is_based(insn) && insn->dst_reg == 10) {
		if (!in_frame(c, insn->off, size))
			return violation(c, "store outside the frame, r10%+d", insn->off);
		if (taint && insn->off != COSY_SLOT_STATE)
			return violation(c, "a kernel value goes to the frame, r10%+d", insn->off);
		if (insn->off == COSY_SLOT_FUEL && (!c->defined[frame_index(COSY_SLOT_FUEL)] ||
						    (s64)value < (s64)slot(c, COSY_SLOT_FUEL)))
			c->steps = 0;
		if (insn->off == COSY_SLOT_FUEL && (s64)value < -1)
			return violation(c, "spends fuel that it has not");
		note_store(c, insn->off, size);
		alu_write(&c->frame[frame_index(insn->off)], size, value);
		memset(&c->defined[frame_index(insn->off)], !taint, size);
		return RUN_ON;
	}
	if (taint)
		return violation(c, "a kernel value goes to memory");
	if (is_based(insn) && has_taint(c, insn->dst_reg))
		return violation(c, "based store to a kernel value");
	bytes = buffer_bytes(c, base + c->reg[insn->dst_reg] + insn->off, size);
	if (!bytes)
		return violation(c, "store outside everything, 0x%llx",
				 (unsigned long long)(c->reg[insn->dst_reg] + insn->off));
	alu_write(bytes, size, value);
	return RUN_ON;
}

static enum outcome run_alu(struct checker *c, const struct bpf_insn *insn)
{
	bool from_register = BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_END;
	u64 src = from_register ? c->reg[insn->src_reg] : (u64)(s64)insn->imm;
	u8 op = BPF_OP(insn->code);
	bool taint = from_register && has_taint(c, insn->src_reg);

	if (op == BPF_DIV || op == BPF_MOD) {
		if (insn->off)
			return violation(c, "signed division");
		if (BPF_CLASS(insn->code) == BPF_ALU ? !(u32)src : !src)
			return violation(c, "division by zero");
	}
	if (op != BPF_MOV)
		taint |= has_taint(c, insn->dst_reg);
	c->reg[insn->dst_reg] = alu_result(insn, c->reg[insn->dst_reg], src);
	set_taint(c, insn->dst_reg, taint);
	return RUN_ON;
}

static enum outcome run_insn(struct checker *c);
static enum outcome run_jump(struct checker *c, const struct bpf_insn *insn);

/* Returns whether the processor may touch this before it knows that it should not be here. */
static bool is_harmless(struct checker *c, const struct bpf_insn *insn)
{
	u32 base = BPF_CLASS(insn->code) == BPF_LDX ? insn->src_reg : insn->dst_reg;
	u64 offset = c->reg[base] + insn->off - (is_based(insn) ? 0 : c->how->kernel_base);

	/* Based code may reach into the guard page; other code starts in the last bytes at most. */
	if (is_based(insn) && offset <= c->how->size + 4096 - alu_access_size(insn->code))
		return c->how->size;
	return (base == 10 && !is_based(insn)) || (c->how->size && offset < c->how->size);
}

/* Makes a load on a mispredicted path; stores there go nowhere. */
static void speculate_load(struct checker *c, const struct bpf_insn *insn)
{
	u64 offset = c->reg[insn->src_reg] + insn->off - (is_based(insn) ? 0 : c->how->kernel_base);

	if (insn->src_reg == 10 || offset + 8 > c->how->size)
		c->reg[insn->dst_reg] = 0;
	else
		c->reg[insn->dst_reg] =
			alu_read(c->world->area[WORLD_BUFFER].bytes + offset, 8, false);
	set_taint(c, insn->dst_reg, false);
}

/*
 * Ways that a speculated branch goes: a misprediction is seen up to the next branch, but what
 * follows from a stale value may be past one that is predicted either way.
 */
enum prediction { PREDICT_END, PREDICT_NEXT, PREDICT_TARGET };

static enum outcome speculate_branch(struct checker *c, const struct bpf_insn *insn)
{
	if (BPF_OP(insn->code) == BPF_CALL || BPF_OP(insn->code) == BPF_EXIT)
		return RUN_DONE;
	if (BPF_OP(insn->code) == BPF_JA)
		return run_jump(c, insn);
	if (c->predicted == PREDICT_END)
		return RUN_DONE;
	if (c->predicted == PREDICT_TARGET)
		c->pc += insn->off;
	return RUN_ON;
}

/* Makes a step of a mispredicted path.  RUN_DONE: there is nothing more to see. */
static enum outcome speculate(struct checker *c)
{
	const struct bpf_insn *insn = &c->code->insns[c->pc];

	if (insn->code == COSY_FENCE)
		return RUN_DONE;
	switch (BPF_CLASS(insn->code)) {
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		if (c->reg[1] == ENTRY && has_taint(c, 1))
			return RUN_DONE; /* the prologue: nothing of the program's yet */
		if (!is_harmless(c, insn))
			return RUN_VIOLATION;
		if (BPF_CLASS(insn->code) == BPF_LDX)
			speculate_load(c, insn);
		return RUN_ON;
	case BPF_JMP:
	case BPF_JMP32:
		return speculate_branch(c, insn);
	case BPF_LD:
		return run_insn(c);
	default:
		/* A division by zero goes nowhere either. */
		return run_alu(c, insn) == RUN_ON ? RUN_ON : RUN_DONE;
	}
}

/* Speculates from an instruction on.  Returns that of an access that is not harmless, or 0. */
static u32 speculate_from(struct checker *c, u32 at)
{
	enum outcome outcome = RUN_ON;
	u32 pc = c->pc, steps;

	c->pc = at;
	for (steps = 0; steps < MAX_SPECULATED && outcome == RUN_ON && c->pc < c->code->insn_cnt;
	     steps++) {
		outcome = speculate(c);
		at = c->pc++;
	}
	c->pc = pc;
	return outcome == RUN_VIOLATION ? at : 0;
}

/*
 * Goes some way along the branch that is not taken, as a processor does that mispredicts it, up to
 * the next branch or call.  Nothing of that is kept.
 */
static enum outcome mispredict(struct checker *c, u32 wrong)
{
	u64 reg[12];
	u16 tainted = c->tainted;

	memcpy(reg, c->reg, sizeof(reg));
	c->predicted = PREDICT_END;
	wrong = speculate_from(c, wrong);
	memcpy(c->reg, reg, sizeof(reg));
	c->tainted = tainted;
	if (wrong)
		return violation(c, "an access that only this branch prevents, at %u", wrong);
	return RUN_ON;
}

/* Makes a load from the frame as a processor does that has not seen the latest store yet. */
static enum outcome overtake(struct checker *c, const struct bpf_insn *insn)
{
	const u32 index = frame_index(insn->off), size = alu_access_size(insn->code);
	u64 reg[12];
	u16 tainted = c->tainted;
	u32 wrong = 0;

	if (!c->stored[index] || c->executed - c->stored[index] > MAX_SPECULATED)
		return RUN_ON;
	/* What a fetch overwrote was fetched before, or cleared. */
	if (is_for_fetches(c, insn->off) && memchr(&c->was_defined[index], 0, size))
		return violation(c, "a load may see the kernel's stack, r10%+d", insn->off);
	memcpy(reg, c->reg, sizeof(reg));
	for (c->predicted = PREDICT_NEXT; c->predicted <= PREDICT_TARGET && !wrong;
	     c->predicted++) {
		c->reg[insn->dst_reg] = alu_read(&c->stale[index], size, false);
		set_taint(c, insn->dst_reg, false);
		wrong = speculate_from(c, c->pc + 1);
		memcpy(c->reg, reg, sizeof(reg));
		c->tainted = tainted;
	}
	if (wrong)
		return violation(c, "an access that only a store before it prevents, at %u", wrong);
	return RUN_ON;
}

static enum outcome run_branch(struct checker *c, const struct bpf_insn *insn)
{
	bool from_register = BPF_SRC(insn->code) == BPF_X;
	u64 src = from_register ? c->reg[insn->src_reg] : (u64)(s64)insn->imm;
	bool taken;

	if (has_taint(c, insn->dst_reg) || (from_register && has_taint(c, insn->src_reg)))
		return violation(c, "a branch depends on a kernel value or on nothing");
	taken = alu_condition(insn, c->reg[insn->dst_reg], src);
	if (mispredict(c, c->pc + 1 + (taken ? 0 : insn->off)) != RUN_ON)
		return RUN_VIOLATION;
	if (taken)
		c->pc += insn->off;
	return RUN_ON;
}

static enum outcome run_jump(struct checker *c, const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_CALL:
		return run_thunk(c, insn->imm);
	case BPF_EXIT:
		if (sees_kernel_value(c))
			return RUN_VIOLATION;
		account(c);
		save(c);
		return RUN_DONE;
	case BPF_JA:
		c->pc += BPF_CLASS(insn->code) == BPF_JMP32 ? insn->imm : insn->off;
		return RUN_ON;
	default:
		return run_branch(c, insn);
	}
}

static enum outcome run_insn(struct checker *c)
{
	const struct bpf_insn *insn = &c->code->insns[c->pc];
	u64 value;

	if (insn->code == COSY_FENCE)
		return RUN_ON;
	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		value = (u32)insn[0].imm | (u64)(u32)insn[1].imm << 32;
		c->reg[insn->dst_reg] = value;
		set_taint(c, insn->dst_reg, c->how->size && value == c->how->kernel_base);
		c->pc++;
		return RUN_ON;
	case BPF_LDX:
		return run_load(c, insn);
	case BPF_ST:
	case BPF_STX:
		return run_store(c, insn);
	case BPF_ALU:
	case BPF_ALU64:
		return run_alu(c, insn);
	default:
		return run_jump(c, insn);
	}
}

enum outcome checker_run(struct checker *c)
{
	enum outcome outcome;
	u32 reg;

	/* The machine starts with what a kernel has in its registers and on its stack. */
	for (reg = 0; reg < 12; reg++)
		c->reg[reg] = 0xffffffff80000000ull + world_mix(c->chance, reg) % 0x1000000;
	memset(c->frame, 0xcc, sizeof(c->frame));
	memset(c->defined, 0, sizeof(c->defined));
	memset(c->stored, 0, sizeof(c->stored));
	c->tainted = 0xfff;
	c->reg[1] = ENTRY;
	c->reg[10] = STACK_TOP;
	c->pc = 0;
	c->steps = 0;
	grant(c);
	if (c->starved)
		c->granted = 0;
	c->entry.fuel = c->granted;
	c->entry.origin = 0 - c->how->user_base;
	if (!c->entry.resume) {
		/* Only r1 is taken from the state. */
		u64 ctx = c->entry.state.reg[1];

		memset(c->entry.state.reg, 0xa5, sizeof(c->entry.state.reg));
		memset(c->entry.state.frame, 0xa5, sizeof(c->entry.state.frame));
		c->entry.state.reg[1] = ctx;
	}

	for (;;) {
		if (c->pc >= c->code->insn_cnt)
			return violation(c, "ran off the end");
		c->executed++;
		if (c->steps++ > c->code->insn_cnt)
			return violation(c, "goes around without spending fuel");
		outcome = run_insn(c);
		if (outcome != RUN_ON)
			return outcome;
		c->pc++;
	}
}
