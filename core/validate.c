// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * validate.c - checks that a program is in the documented subset of BPF, and finds
 * its shape.  Linear in the number of instructions.
 *
 *	STEP 1	each instruction by itself		check_encodings
 *	STEP 2	where functions start and end		find_functions
 *	STEP 3	jumps, calls and frames of each		check_functions
 */
#include "insn.h"
#include "reject.h"

enum { FRAME_POINTER = 10, LD_IMM64 = BPF_LD | BPF_IMM | BPF_DW };

static int refuse_reserved(u32 at, const char *field, struct cosy_reject *why)
{
	return cosy_refuse(why, -EINVAL, at, "reserved field %s is not 0", field);
}

static int refuse_unknown(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	return cosy_refuse(why, -EINVAL, at, "unknown opcode 0x%02x", insn->code);
}

/* Checks that a register holds the program's own values: r0-r9. */
static int check_register(u32 at, u32 reg, struct cosy_reject *why)
{
	if (reg < FRAME_POINTER)
		return 0;
	if (reg == FRAME_POINTER)
		return cosy_refuse(why, -EINVAL, at,
				   "r10 may only be the base of a constant-offset load or store");
	return cosy_refuse(why, -EINVAL, at, "register r%u does not exist", reg);
}

/* Checks the base of a plain load or store: r0-r9, or r10 within the spill frame. */
static int check_base(u32 at, u32 reg, const struct bpf_insn *insn, struct cosy_reject *why)
{
	if (reg != FRAME_POINTER)
		return check_register(at, reg, why);
	if (insn->off < -(int)COSY_FRAME_SIZE || insn->off + (int)cosy_access_size(insn) > 0)
		return cosy_refuse(
			why, -EINVAL, at,
			"%u bytes at r10%+d are outside the spill frame (r10-%u to r10-1)",
			cosy_access_size(insn), insn->off, COSY_FRAME_SIZE);
	return 0;
}

static int check_swap(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	if (BPF_CLASS(insn->code) == BPF_ALU64 && BPF_SRC(insn->code) != BPF_TO_LE)
		return refuse_unknown(at, insn, why);
	if (insn->src_reg)
		return refuse_reserved(at, "src_reg", why);
	if (insn->off)
		return refuse_reserved(at, "offset", why);
	if (insn->imm != 16 && insn->imm != 32 && insn->imm != 64)
		return cosy_refuse(why, -EINVAL, at,
				   "byte swap of %d bits; there are 16, 32 and 64", insn->imm);
	return 0;
}

static int check_alu_offset(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	bool wide = BPF_CLASS(insn->code) == BPF_ALU64;

	switch (BPF_OP(insn->code)) {
	case BPF_DIV:
	case BPF_MOD:
		if (insn->off == 0 || insn->off == 1)
			return 0;
		break;
	case BPF_MOV:
		if (insn->off == 0)
			return 0;
		if (BPF_SRC(insn->code) == BPF_X &&
		    (insn->off == 8 || insn->off == 16 || (insn->off == 32 && wide)))
			return 0;
		break;
	default:
		if (insn->off == 0)
			return 0;
	}
	return cosy_refuse(why, -EINVAL, at, "offset %d has no meaning here", insn->off);
}

static int check_alu_operand(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	s32 bits = BPF_CLASS(insn->code) == BPF_ALU64 ? 64 : 32;

	if (BPF_SRC(insn->code) == BPF_X) {
		if (insn->imm)
			return refuse_reserved(at, "imm", why);
		return check_register(at, insn->src_reg, why);
	}
	if (insn->src_reg)
		return refuse_reserved(at, "src_reg", why);
	switch (BPF_OP(insn->code)) {
	case BPF_DIV:
	case BPF_MOD:
		if (!insn->imm)
			return cosy_refuse(why, -EINVAL, at, "division by constant 0");
		break;
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		if (insn->imm < 0 || insn->imm >= bits)
			return cosy_refuse(why, -EINVAL, at, "shift by %d of a %d-bit register",
					   insn->imm, bits);
		break;
	}
	return 0;
}

static int check_alu(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	int error = check_register(at, insn->dst_reg, why);

	if (error)
		return error;
	switch (BPF_OP(insn->code)) {
	case BPF_END:
		return check_swap(at, insn, why);
	case BPF_NEG:
		if (BPF_SRC(insn->code) != BPF_K)
			return refuse_unknown(at, insn, why);
		if (insn->imm)
			return refuse_reserved(at, "imm", why);
		break;
	case BPF_ADD:
	case BPF_SUB:
	case BPF_MUL:
	case BPF_DIV:
	case BPF_OR:
	case BPF_AND:
	case BPF_LSH:
	case BPF_RSH:
	case BPF_MOD:
	case BPF_XOR:
	case BPF_MOV:
	case BPF_ARSH:
		break;
	default:
		return refuse_unknown(at, insn, why);
	}
	error = check_alu_offset(at, insn, why);
	return error ? error : check_alu_operand(at, insn, why);
}

static int check_load(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	u32 mode = BPF_MODE(insn->code);
	int error;

	if (mode != BPF_MEM && !(mode == BPF_MEMSX && BPF_SIZE(insn->code) != BPF_DW))
		return refuse_unknown(at, insn, why);
	if (insn->imm)
		return refuse_reserved(at, "imm", why);
	error = check_register(at, insn->dst_reg, why);
	return error ? error : check_base(at, insn->src_reg, insn, why);
}

static int check_atomic(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	int error;

	if (BPF_SIZE(insn->code) != BPF_W && BPF_SIZE(insn->code) != BPF_DW)
		return cosy_refuse(why, -EINVAL, at,
				   "atomic operation on %u bytes; there are 4 and 8",
				   cosy_access_size(insn));
	switch (insn->imm) {
	case BPF_ADD:
	case BPF_OR:
	case BPF_AND:
	case BPF_XOR:
	case BPF_ADD | BPF_FETCH:
	case BPF_OR | BPF_FETCH:
	case BPF_AND | BPF_FETCH:
	case BPF_XOR | BPF_FETCH:
	case BPF_XCHG:
	case BPF_CMPXCHG:
		break;
	default:
		return cosy_refuse(why, -EINVAL, at, "unknown atomic operation 0x%x", insn->imm);
	}
	error = check_register(at, insn->dst_reg, why);
	return error ? error : check_register(at, insn->src_reg, why);
}

static int check_store(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	bool from_register = BPF_CLASS(insn->code) == BPF_STX;
	int error;

	if (from_register && BPF_MODE(insn->code) == BPF_ATOMIC)
		return check_atomic(at, insn, why);
	if (BPF_MODE(insn->code) != BPF_MEM)
		return refuse_unknown(at, insn, why);
	if (from_register && insn->imm)
		return refuse_reserved(at, "imm", why);
	if (!from_register && insn->src_reg)
		return refuse_reserved(at, "src_reg", why);
	error = check_register(at, insn->src_reg, why);
	return error ? error : check_base(at, insn->dst_reg, insn, why);
}

static int check_call(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	const struct cosy_call *call;

	if (BPF_SRC(insn->code) == BPF_X)
		return cosy_refuse(why, -EINVAL, at, "indirect call");
	if (insn->dst_reg)
		return refuse_reserved(at, "dst_reg", why);
	if (insn->off)
		return refuse_reserved(at, "offset", why);
	if (insn->src_reg == BPF_PSEUDO_CALL)
		return 0;
	if (insn->src_reg)
		return cosy_refuse(why, -EINVAL, at, "call of unknown kind %u", insn->src_reg);

	call = cosy_call_find(insn->imm);
	if (!call)
		return cosy_refuse(why, -EINVAL, at, "unknown call %d", insn->imm);
	if (call->denied)
		return cosy_refuse(why, -EINVAL, at, "system call %s may not be in a compound: %s",
				   call->name, cosy_call_denied(call));
	return 0;
}

static int check_always(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	bool wide = BPF_CLASS(insn->code) == BPF_JMP32;

	if (BPF_SRC(insn->code) == BPF_X)
		return cosy_refuse(why, -EINVAL, at, "indirect jump");
	if (insn->dst_reg || insn->src_reg)
		return refuse_reserved(at, insn->dst_reg ? "dst_reg" : "src_reg", why);
	if (wide && insn->off)
		return refuse_reserved(at, "offset", why);
	if (!wide && insn->imm)
		return refuse_reserved(at, "imm", why);
	return 0;
}

static int check_branch(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	int error = check_register(at, insn->dst_reg, why);

	if (error)
		return error;
	if (BPF_SRC(insn->code) == BPF_X) {
		if (insn->imm)
			return refuse_reserved(at, "imm", why);
		return check_register(at, insn->src_reg, why);
	}
	return insn->src_reg ? refuse_reserved(at, "src_reg", why) : 0;
}

static int check_jump(u32 at, const struct bpf_insn *insn, struct cosy_reject *why)
{
	bool narrow = BPF_CLASS(insn->code) == BPF_JMP32;

	switch (BPF_OP(insn->code)) {
	case BPF_JA:
		return check_always(at, insn, why);
	case BPF_JEQ:
	case BPF_JGT:
	case BPF_JGE:
	case BPF_JSET:
	case BPF_JNE:
	case BPF_JSGT:
	case BPF_JSGE:
	case BPF_JLT:
	case BPF_JLE:
	case BPF_JSLT:
	case BPF_JSLE:
		return check_branch(at, insn, why);
	case BPF_CALL:
		return narrow ? refuse_unknown(at, insn, why) : check_call(at, insn, why);
	case BPF_EXIT:
		if (narrow || BPF_SRC(insn->code) != BPF_K)
			return refuse_unknown(at, insn, why);
		if (insn->dst_reg || insn->src_reg)
			return refuse_reserved(at, insn->dst_reg ? "dst_reg" : "src_reg", why);
		if (insn->off || insn->imm)
			return refuse_reserved(at, insn->off ? "offset" : "imm", why);
		return 0;
	case BPF_JCOND:
		return cosy_refuse(why, -EINVAL, at, "may_goto is for the kernel's verifier only");
	default:
		return refuse_unknown(at, insn, why);
	}
}

/* Checks the two-slot load of a 64-bit constant; the kernel's pseudo values are refused. */
static int check_constant(u32 at, const struct bpf_insn *insn, u32 left, struct cosy_reject *why)
{
	if (insn->code != LD_IMM64)
		return refuse_unknown(at, insn, why);
	if (left < 2)
		return cosy_refuse(why, -EINVAL, at,
				   "the second half of a 64-bit constant is missing");
	if (insn->src_reg)
		return cosy_refuse(why, -EINVAL, at, "64-bit constant of kernel kind %u",
				   insn->src_reg);
	if (insn->off)
		return refuse_reserved(at, "offset", why);
	if (insn[1].code || insn[1].dst_reg || insn[1].src_reg || insn[1].off)
		return cosy_refuse(
			why, -EINVAL, at,
			"the second half of a 64-bit constant holds more than a constant");
	return check_register(at, insn->dst_reg, why);
}

static int check_encoding(u32 at, const struct bpf_insn *insn, u32 left, struct cosy_reject *why)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_LD:
		return check_constant(at, insn, left, why);
	case BPF_LDX:
		return check_load(at, insn, why);
	case BPF_ST:
	case BPF_STX:
		return check_store(at, insn, why);
	case BPF_ALU:
	case BPF_ALU64:
		return check_alu(at, insn, why);
	default:
		return check_jump(at, insn, why);
	}
}

static bool is_local_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

static bool is_always(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_JA) || insn->code == (BPF_JMP32 | BPF_JA);
}

/* STEP 1 */
static int check_encodings(struct cosy_validated *program, struct cosy_reject *why)
{
	u32 at;

	for (at = 0; at < program->insn_cnt; at++) {
		const struct bpf_insn *insn = &program->insns[at];
		int error = check_encoding(at, insn, program->insn_cnt - at, why);

		if (error)
			return error;
		program->marks[at] = COSY_MARK_HEAD;
		if (insn->code == LD_IMM64)
			at++;
		if (at % 1024 == 0)
			core_yield();
	}
	return 0;
}

/* STEP 2 */
static int find_functions(struct cosy_validated *program, struct cosy_reject *why)
{
	u32 at, count = 1;

	program->marks[0] |= COSY_MARK_FUNCTION;
	for (at = 0; at < program->insn_cnt; at++) {
		const struct bpf_insn *insn = &program->insns[at];
		s64 target;

		if (!(program->marks[at] & COSY_MARK_HEAD) || !is_local_call(insn))
			continue;
		target = (s64)at + 1 + insn->imm;
		if (target < 0 || target >= program->insn_cnt ||
		    !(program->marks[target] & COSY_MARK_HEAD))
			return cosy_refuse(why, -EINVAL, at,
					   "local call to %lld, where no instruction is",
					   (long long)target);
		if (target == 0)
			return cosy_refuse(why, -EINVAL, at, "local call to the first function");
		if (!(program->marks[target] & COSY_MARK_FUNCTION))
			count++;
		program->marks[target] |= COSY_MARK_FUNCTION;
	}

	program->functions = core_alloc(count * sizeof(*program->functions));
	if (!program->functions)
		return -ENOMEM;
	for (at = 0; at < program->insn_cnt; at++) {
		if (!(program->marks[at] & COSY_MARK_FUNCTION))
			continue;
		if (program->function_cnt)
			program->functions[program->function_cnt - 1].end = at;
		program->functions[program->function_cnt++].start = at;
	}
	program->functions[program->function_cnt - 1].end = program->insn_cnt;
	return 0;
}

static int mark_jump(struct cosy_validated *program, const struct cosy_function *function, u32 at,
		     struct cosy_reject *why)
{
	const struct bpf_insn *insn = &program->insns[at];
	s64 target = cosy_jump_target(insn, at);

	if (target < function->start || target >= function->end)
		return cosy_refuse(why, -EINVAL, at, "jump to %lld leaves its function (%u to %u)",
				   (long long)target, function->start, function->end - 1);
	if (!(program->marks[target] & COSY_MARK_HEAD))
		return cosy_refuse(why, -EINVAL, at, "jump into the 64-bit constant at %lld",
				   (long long)target - 1);
	program->marks[target] |= COSY_MARK_TARGET;
	if (target <= at)
		program->marks[target] |= COSY_MARK_RESUME;
	return 0;
}

static void mark_access(struct cosy_validated *program, struct cosy_function *function, u32 at)
{
	const struct bpf_insn *insn = &program->insns[at];
	u32 base = BPF_CLASS(insn->code) == BPF_LDX ? insn->src_reg : insn->dst_reg;
	u32 words;

	if (base != FRAME_POINTER) {
		program->marks[at] |= COSY_MARK_LEAVE;
		return;
	}
	words = (-insn->off + 7) / 8;
	if (words > function->frame_words)
		function->frame_words = words;
}

static int check_function(struct cosy_validated *program, struct cosy_function *function,
			  struct cosy_reject *why)
{
	const struct bpf_insn *insn = NULL;
	bool first = function->start == 0;
	u32 at, last = function->start;
	int error;

	for (at = function->start; at < function->end; at++) {
		insn = &program->insns[at];
		if (!(program->marks[at] & COSY_MARK_HEAD))
			continue;
		last = at;
		switch (BPF_CLASS(insn->code)) {
		case BPF_LDX:
		case BPF_ST:
		case BPF_STX:
			mark_access(program, function, at);
			break;
		case BPF_JMP:
		case BPF_JMP32:
			if (BPF_OP(insn->code) == BPF_CALL) {
				program->marks[at] |= COSY_MARK_RESUME;
				if (at + 1 < function->end)
					program->marks[at + 1] |= COSY_MARK_RESUME;
			} else if (BPF_OP(insn->code) == BPF_EXIT) {
				if (!first)
					program->marks[at] |= COSY_MARK_RESUME;
			} else {
				error = mark_jump(program, function, at, why);
				if (error)
					return error;
			}
			break;
		}
		if (at % 1024 == 0)
			core_yield();
	}

	insn = &program->insns[last];
	if (insn->code != (BPF_JMP | BPF_EXIT) && !is_always(insn))
		return cosy_refuse(why, -EINVAL, last,
				   "the function that starts at %u ends in neither exit nor a jump",
				   function->start);
	return 0;
}

/* STEP 3 */
static int check_functions(struct cosy_validated *program, struct cosy_reject *why)
{
	u32 i;

	for (i = 0; i < program->function_cnt; i++) {
		int error = check_function(program, &program->functions[i], why);

		if (error)
			return error;
	}
	for (i = 0; i < program->insn_cnt; i++)
		program->resume_cnt += !!(program->marks[i] & COSY_MARK_RESUME);
	return 0;
}

int cosy_validate(const struct bpf_insn *insns, u32 insn_cnt, struct cosy_validated *program,
		  struct cosy_reject *why)
{
	int error;

	memset(program, 0, sizeof(*program));
	if (!insn_cnt)
		return cosy_refuse(why, -EINVAL, COSY_REJECT_CONTAINER, "no instructions");
	if (insn_cnt > COSY_MAX_INSNS)
		return cosy_refuse(why, -E2BIG, COSY_REJECT_CONTAINER,
				   "%u instructions, the limit is %u", insn_cnt, COSY_MAX_INSNS);
	program->insns = insns;
	program->insn_cnt = insn_cnt;
	program->marks = core_alloc(insn_cnt);
	if (!program->marks)
		return -ENOMEM;

	error = check_encodings(program, why);
	if (!error)
		error = find_functions(program, why);
	if (!error)
		error = check_functions(program, why);
	if (error)
		cosy_validated_deinit(program);
	return error;
}

void cosy_validated_deinit(struct cosy_validated *program)
{
	core_free(program->marks);
	core_free(program->functions);
	memset(program, 0, sizeof(*program));
}

const struct cosy_function *cosy_function_of(const struct cosy_validated *program, u32 insn)
{
	u32 low = 0, high = program->function_cnt;

	if (insn >= program->insn_cnt)
		return NULL;
	/* Finds the last function that does not start above the instruction. */
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (program->functions[middle].start <= insn)
			low = middle;
		else
			high = middle;
	}
	return &program->functions[low];
}
