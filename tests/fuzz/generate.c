// SPDX-License-Identifier: MIT
/* generate.c - makes programs of bytes. */
#include "generate.h"

enum { MAX_FUNCTIONS = 4, MAX_BODY = 80, MAX_JUMPS = GENERATE_MAX };

struct jump {
	u32 at;
	u8 where; /* which of the function's instructions, in 1/256 */
};

struct generator {
	struct source *source;
	const struct differential *setting;
	struct bpf_insn *insns;
	u32 count;
	u32 starts[MAX_FUNCTIONS + 1];
	u32 functions;
	struct jump jumps[MAX_JUMPS];
	u32 jump_count;
	struct {
		u32 at;
		u8 callee;
	} calls[MAX_JUMPS];
	u32 call_count;
};

u8 source_byte(struct source *source)
{
	if (!source->left)
		return 0;
	source->left--;
	return *source->bytes++;
}

u32 source_word(struct source *source)
{
	u32 word = source_byte(source);

	word |= (u32)source_byte(source) << 8;
	word |= (u32)source_byte(source) << 16;
	return word | (u32)source_byte(source) << 24;
}

void generate_setting(struct source *source, struct differential *ret)
{
	static const u64 bases[] = {0x10000000, 0x7fffe000, 0x80000000, 0x7e1234560000,
				    0x1000,	0x7ffff000, 0xfffff000, 0x100000000};
	static const u32 sizes[] = {4096, 8192, 4096, 0};
	static const u32 rates[] = {0, 2, 5, 20};
	static const u32 grants[] = {1, 3, 17, 4096};
	u8 choice = source_byte(source);

	memset(ret, 0, sizeof(*ret));
	ret->how.has_v4 = choice & 1;
	ret->how.has_gotol = ret->how.has_v4;
	ret->how.blind = choice & 2;
	ret->how.user_base = bases[choice >> 2 & 7];
	ret->how.size = sizes[choice >> 5 & 3];
	choice = source_byte(source);
	ret->leave_every = rates[choice & 3];
	ret->fault_every = rates[choice >> 2 & 3];
	ret->max_grant = grants[choice >> 4 & 3];
	ret->hostile = choice >> 6 == 3;
	ret->seed = source_byte(source);
	ret->how.based = ret->how.has_v4 && ret->seed & 1;
	ret->how.copies_ax = ret->seed & 2;
	ret->how.seed = world_mix(ret->seed, 7);
	ret->limit = 400;
}

static struct bpf_insn *add(struct generator *g, u8 code, u8 dst, u8 src, s32 off, s32 imm)
{
	struct bpf_insn *insn = &g->insns[g->count++];

	*insn = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm};
	return insn;
}

static void add_constant(struct generator *g, u8 dst, u64 value)
{
	add(g, BPF_LD | BPF_IMM | BPF_DW, dst, 0, 0, value);
	add(g, 0, 0, 0, 0, value >> 32);
}

static u8 any_register(struct generator *g)
{
	return source_byte(g->source) % 10;
}

static s32 any_number(struct generator *g)
{
	static const s32 numbers[] = {0,    1,	  -1,	  2,	   7,	       8,
				      63,   64,	  127,	  128,	   255,	       256,
				      4095, 4096, 0x7fff, -0x8000, 0x7fffffff, -0x7fffffff - 1};
	u8 choice = source_byte(g->source);

	if (choice < 128)
		return numbers[choice % 18];
	if (choice < 192)
		return (s8)source_byte(g->source);
	return source_word(g->source);
}

/* Returns an offset: mostly near, sometimes as far as one goes. */
static s32 any_offset(struct generator *g)
{
	u8 choice = source_byte(g->source);

	if (choice < 224)
		return (s8)choice;
	return (s16)(source_byte(g->source) | source_byte(g->source) << 8);
}

/* Adds an address in or at the edge of an area, or any number. */
static void add_pointer(struct generator *g, u8 dst)
{
	u8 choice = source_byte(g->source);
	u32 offset = source_byte(g->source) * 16;
	u64 base = g->setting->how.user_base;

	switch (choice % 8) {
	case 0 ... 2:
		add_constant(g, dst, base + offset);
		break;
	case 3:
		add_constant(g, dst, base + g->setting->how.size - 8 + choice / 8);
		break;
	case 4 ... 5:
		add_constant(g, dst, WORLD_HEAP_BASE + offset);
		break;
	case 6:
		add_constant(g, dst, WORLD_STACK_BASE + offset % WORLD_STACK_SIZE);
		break;
	default:
		add_constant(g, dst, source_word(g->source) | (u64)source_word(g->source) << 32);
	}
}

static void add_arithmetic(struct generator *g)
{
	static const u8 ops[] = {BPF_ADD,  BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,  BPF_AND,
				 BPF_LSH,  BPF_RSH, BPF_NEG, BPF_MOD, BPF_XOR, BPF_MOV,
				 BPF_ARSH, BPF_END, BPF_DIV, BPF_MOD};
	u8 choice = source_byte(g->source), how = source_byte(g->source);
	u8 op = ops[choice & 15], class = choice & 16 ? BPF_ALU64 : BPF_ALU;
	u8 source = choice & 32 ? BPF_X : BPF_K;
	u8 dst = any_register(g), src = source == BPF_X ? any_register(g) : 0;
	s32 bits = class == BPF_ALU64 ? 64 : 32, imm = source == BPF_K ? any_number(g) : 0, off = 0;

	switch (op) {
	case BPF_NEG:
		source = BPF_K;
		src = 0;
		imm = 0;
		break;
	case BPF_END:
		src = 0;
		if (class == BPF_ALU64)
			source = BPF_K;
		imm = how % 3 == 0 ? 16 : how % 3 == 1 ? 32 : 64;
		break;
	case BPF_DIV:
	case BPF_MOD:
		off = how & 1;
		if (source == BPF_K && !imm)
			imm = how & 2 ? -1 : 3;
		break;
	case BPF_LSH:
	case BPF_RSH:
	case BPF_ARSH:
		if (source == BPF_K)
			imm &= bits - 1;
		break;
	case BPF_MOV:
		if (source == BPF_X)
			off = how % 4 == 0		   ? 8
			      : how % 4 == 1		   ? 16
			      : how % 4 == 2 && bits == 64 ? 32
							   : 0;
		break;
	}
	add(g, class | op | source, dst, src, off, imm);
}

/* Returns a base: r6 or r7, which are meant to be pointers, now and then any register. */
static u8 any_base(struct generator *g)
{
	u8 choice = source_byte(g->source);

	return choice < 230 ? 6 + choice % 2 : choice % 10;
}

static u8 any_size(struct generator *g)
{
	static const u8 sizes[] = {BPF_B, BPF_H, BPF_W, BPF_DW};

	return sizes[source_byte(g->source) & 3];
}

static void add_load(struct generator *g)
{
	u8 size = any_size(g), mode = BPF_MEM;

	if (size != BPF_DW && source_byte(g->source) & 1)
		mode = BPF_MEMSX;
	add(g, BPF_LDX | mode | size, any_register(g), any_base(g), any_offset(g), 0);
}

static void add_store(struct generator *g)
{
	u8 size = any_size(g);

	if (source_byte(g->source) & 1)
		add(g, BPF_STX | BPF_MEM | size, any_base(g), any_register(g), any_offset(g), 0);
	else
		add(g, BPF_ST | BPF_MEM | size, any_base(g), 0, any_offset(g), any_number(g));
}

static void add_spill(struct generator *g)
{
	static const u8 bytes[] = {1, 2, 4, 8};
	u8 choice = source_byte(g->source), order = choice & 3;
	u8 size = order == 0 ? BPF_B : order == 1 ? BPF_H : order == 2 ? BPF_W : BPF_DW;
	s32 off = -(s32)bytes[order] - (choice & 0x40
						? source_byte(g->source) * 2 % (COSY_FRAME_SIZE - 8)
						: 8 * (choice >> 4 & 3));

	if (choice & 4)
		add(g, BPF_LDX | BPF_MEM | size, any_register(g), 10, off, 0);
	else if (choice & 8)
		add(g, BPF_STX | BPF_MEM | size, 10, any_register(g), off, 0);
	else
		add(g, BPF_ST | BPF_MEM | size, 10, 0, off, any_number(g));
}

static void add_access(struct generator *g, u8 base, s32 off)
{
	u8 size = any_size(g), choice = source_byte(g->source);

	if (choice & 1)
		add(g, BPF_LDX | BPF_MEM | size, choice >> 1 & 3, base, off, 0);
	else if (choice & 2)
		add(g, BPF_STX | BPF_MEM | size, base, choice >> 2 & 7, off, 0);
	else
		add(g, BPF_ST | BPF_MEM | size, base, 0, off, any_number(g));
}

/* Adds accesses of one place, as of an unrolled loop: the base moves, jumps go over some. */
static void add_run(struct generator *g)
{
	u8 choice = source_byte(g->source), base = 6 + (choice & 1), count = 2 + (choice >> 1 & 7);
	s32 off = (s8)source_byte(g->source);

	while (count--) {
		choice = source_byte(g->source);
		off += choice & 7;
		switch (choice >> 3 & 15) {
		case 0:
			add(g, BPF_ALU64 | BPF_ADD | BPF_K, base, 0, 0, (s8)source_byte(g->source));
			break;
		case 1:
			add(g, BPF_ALU64 | BPF_MOV | BPF_X, 8, base, 0, 0);
			base = 8;
			break;
		case 2:
			add(g, BPF_ALU64 | BPF_ADD | BPF_X, base, any_register(g), 0, 0);
			break;
		case 3:
			add(g, BPF_JMP | BPF_JSGT | BPF_K, any_register(g), 0, 1, any_number(g));
			break;
		case 4:
			off = any_offset(g);
			break;
		}
		add_access(g, base, off);
	}
}

static void add_atomic(struct generator *g)
{
	static const s32 operations[] = {BPF_ADD,
					 BPF_OR,
					 BPF_AND,
					 BPF_XOR,
					 BPF_ADD | BPF_FETCH,
					 BPF_OR | BPF_FETCH,
					 BPF_AND | BPF_FETCH,
					 BPF_XOR | BPF_FETCH,
					 BPF_XCHG,
					 BPF_CMPXCHG};
	u8 choice = source_byte(g->source);

	add(g, BPF_STX | BPF_ATOMIC | (choice & 128 ? BPF_DW : BPF_W), any_base(g), any_register(g),
	    any_offset(g), operations[choice % 10]);
}

static void note_jump(struct generator *g)
{
	g->jumps[g->jump_count].at = g->count;
	g->jumps[g->jump_count++].where = source_byte(g->source);
}

static void add_branch(struct generator *g)
{
	static const u8 ops[] = {BPF_JEQ,  BPF_JGT, BPF_JGE, BPF_JSET, BPF_JNE, BPF_JSGT,
				 BPF_JSGE, BPF_JLT, BPF_JLE, BPF_JSLT, BPF_JSLE};
	u8 choice = source_byte(g->source), op = ops[choice % 11];
	u8 class = choice & 64 ? BPF_JMP : BPF_JMP32;

	note_jump(g);
	if (choice & 128)
		add(g, class | op | BPF_X, any_register(g), any_register(g), 0, 0);
	else
		add(g, class | op | BPF_K, any_register(g), 0, 0, any_number(g));
}

static void add_goto(struct generator *g)
{
	note_jump(g);
	add(g, (source_byte(g->source) & 1 ? BPF_JMP : BPF_JMP32) | BPF_JA, 0, 0, 0, 0);
}

static void add_call(struct generator *g)
{
	static const s32 numbers[] = {
		0,
		1,
		39,
		257,
		COSY_OP_ctx,
		COSY_OP_memcpy,
		COSY_OP_strlen,
		COSY_OP_fence,
		COSY_OP_view_read,
		COSY_OP_view_load,
		COSY_OP_view_store,
		COSY_OP_readc,
		COSY_OP_scan_dir,
		COSY_OP_lend,
		COSY_OP_count,
		COSY_OP_crc32c,
		COSY_OP_format,
	};
	u8 choice = source_byte(g->source);
	s32 number = numbers[choice % 17];

	if (choice == 255)
		number = COSY_OP_trap;
	else if (choice == 254)
		number = COSY_OP_divide_error;
	add(g, BPF_JMP | BPF_CALL, 0, 0, 0, number);
}

static void add_local_call(struct generator *g)
{
	g->calls[g->call_count].at = g->count;
	g->calls[g->call_count++].callee = source_byte(g->source);
	add(g, BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 0);
}

static void add_something(struct generator *g)
{
	switch (source_byte(g->source) % 26) {
	case 0 ... 5:
		add_arithmetic(g);
		break;
	case 6 ... 8:
		add_load(g);
		break;
	case 9 ... 11:
		add_store(g);
		break;
	case 12 ... 13:
		add_spill(g);
		break;
	case 14:
		add_atomic(g);
		break;
	case 15 ... 16:
		add_branch(g);
		break;
	case 17:
		add_goto(g);
		break;
	case 18 ... 19:
		add_call(g);
		break;
	case 20:
		if (g->functions > 1) {
			add_local_call(g);
			break;
		}
		/* fallthrough */
	case 21:
		add_pointer(g, 6);
		break;
	case 22:
		add_pointer(g, 7);
		break;
	case 23 ... 24:
		add_run(g);
		break;
	default:
		if (source_byte(g->source) < 64)
			add(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
		else
			add_arithmetic(g);
	}
}

/* Returns the instruction of a function that `where` stands for; never the second half of one. */
static u32 pick(const struct generator *g, u32 start, u32 end, u8 where)
{
	u32 at = start + (end - start) * where / 256;

	return at > start && g->insns[at - 1].code == (BPF_LD | BPF_IMM | BPF_DW) ? at - 1 : at;
}

static void add_function(struct generator *g, u32 index)
{
	u32 body = 4 + source_byte(g->source) % MAX_BODY, start = g->count, jump = g->jump_count;

	g->starts[index] = start;
	if (index == 0) {
		add_pointer(g, 6);
		add_pointer(g, 7);
	}
	while (g->count - start < body)
		add_something(g);
	if (source_byte(g->source) & 7) {
		add(g, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	} else {
		note_jump(g);
		add(g, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	}
	for (; jump < g->jump_count; jump++) {
		struct bpf_insn *insn = &g->insns[g->jumps[jump].at];
		s32 distance = (s32)pick(g, start, g->count, g->jumps[jump].where) -
			       (s32)g->jumps[jump].at - 1;

		if (insn->code == (BPF_JMP32 | BPF_JA))
			insn->imm = distance;
		else
			insn->off = distance;
	}
}

/* Spoils one field of one instruction. */
static void mutate(struct generator *g)
{
	struct bpf_insn *insn = &g->insns[source_word(g->source) % g->count];

	switch (source_byte(g->source) % 4) {
	case 0:
		insn->code ^= 1 << source_byte(g->source) % 8;
		break;
	case 1:
		((u8 *)insn)[1] = source_byte(g->source);
		break;
	case 2:
		insn->off = any_offset(g);
		break;
	default:
		insn->imm = any_number(g);
	}
}

u32 generate_program(struct source *source, const struct differential *setting,
		     struct bpf_insn *insns, bool *mutated)
{
	struct generator g = {.source = source, .setting = setting, .insns = insns};
	u8 choice = source_byte(source);
	u32 i;

	g.functions = 1 + (choice & 1 ? choice >> 1 & 3 : 0);
	for (i = 0; i < g.functions; i++)
		add_function(&g, i);
	for (i = 0; i < g.call_count; i++) {
		u32 callee = 1 + g.calls[i].callee % (g.functions - 1);

		insns[g.calls[i].at].imm = (s32)g.starts[callee] - (s32)g.calls[i].at - 1;
	}
	*mutated = choice >= 224;
	if (*mutated)
		mutate(&g);
	return g.count;
}
