// SPDX-License-Identifier: MIT
/* compound.c - compounds of fragments; all are valid but for what `load` breaks, and code_raw. */
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "../../fuzz/generate.h"
#include "../guest/raw.h"
#include "compound.h"
#include "values.h"

/* --- Calls ----------------------------------------------------------------------------------- */

struct call {
	int number;
	const char *letters;
};

static const struct call calls[] = {
#define COSY_CALL(number, name, letters, flags) { number, letters },
#include "../../../core/ops.def"
};
static const struct call fast[] = {
#define COSY_CALL(...)
#define COSY_FAST_CALL(number, name, letters, flags, views) { number, letters },
#define COSY_THUNK_CALL(number, name, letters, flags)	    { number, letters },
#include "../../../core/ops.def"
};
static const struct call ops[] = {
#define COSY_OP(number, name, letters, flags) { (int)COSY_OP_BASE + (number), letters },
#include "../../../core/ops.def"
};

/* Calls of files and memory that the specialised ones have to live with. */
static const int beside[] = {
	SYS_open,      SYS_close,   SYS_openat, SYS_dup,      SYS_dup2,	       SYS_ftruncate,
	SYS_rename,    SYS_unlink,  SYS_link,	SYS_mkdir,    SYS_rmdir,       SYS_fcntl,
	SYS_fallocate, SYS_madvise, SYS_pipe,	SYS_sendfile, SYS_splice,      SYS_readv,
	SYS_writev,    SYS_ioctl,   SYS_chmod,	SYS_symlink,  SYS_fchmod,      SYS_poll,
	SYS_nanosleep, SYS_kill,    SYS_getcpu, SYS_setxattr, SYS_close_range,
};
/* What would last beyond the sequence, or wait for what does not come. */
static const int left_out[] = {
	SYS_shmget,	 SYS_msgget, SYS_semget, SYS_mq_open,	    SYS_add_key, SYS_keyctl,
	SYS_request_key, SYS_pause,  SYS_sync,	 SYS_rt_sigsuspend, SYS_vhangup, SYS_syslog,
};

/* What changes mappings, of ours as well. */
static const int mapping[] = { SYS_mmap,    SYS_munmap, SYS_mremap, SYS_mprotect,
			       SYS_madvise, SYS_brk,	SYS_shmat,  SYS_remap_file_pages };

static const struct call *call_find(int number)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return &calls[0];
}

int call_number(uint32_t choice, const char **letters)
{
	uint32_t rest = choice >> 4;
	const struct call *call;

	switch (choice & 15) {
	case 0 ... 6:
		call = &fast[rest % COUNT(fast)];
		break;
	case 7 ... 11:
		call = call_find(beside[rest % COUNT(beside)]);
		break;
	default:
		call = &calls[rest % COUNT(calls)];
	}
	for (size_t i = 0; i < COUNT(left_out); i++)
		if (call->number == left_out[i])
			call = &calls[0];
	for (size_t i = 0; i < COUNT(mapping); i++)
		if (call->number == mapping[i])
			values_remapped();
	*letters = call->letters;
	return call->number;
}

/* --- Fragments -------------------------------------------------------------------------------- */

static void add(struct builder *b, struct bpf_insn insn)
{
	b->insns[b->count++] = insn;
}

static void add_wide(struct builder *b, uint8_t reg, uint64_t value)
{
	const struct bpf_insn insns[] = { WIDE(reg, value) };

	add(b, insns[0]);
	add(b, insns[1]);
}

static uint8_t reg_any(uint32_t choice)
{
	return choice % 10;
}

static uint8_t size_any(uint32_t choice)
{
	static const uint8_t order[] = { BPF_B, BPF_H, BPF_W, BPF_DW };

	return order[choice & 3];
}

/* Takes an argument from r9, where the call before left its result, now and then. */
static void add_argument(struct builder *b, uint8_t reg, char letter, uint32_t choice)
{
	if (choice >> 28 == 1)
		add(b, MOVR(reg, 9));
	else
		add_wide(b, reg, value_argument(letter, choice));
}

static void add_call(struct builder *b, int number, const char *letters, const uint32_t *arg)
{
	for (uint8_t i = 0; letters[i]; i++)
		add_argument(b, i < 5 ? i + 1 : 0, letters[i], arg[i < 5 ? i : 0]);
	add(b, CALL(number));
	add(b, MOVR(9, 0));
}

static void add_alu(struct builder *b, const uint32_t *arg)
{
	static const uint8_t operations[] = {
		BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,  BPF_AND,
		BPF_LSH, BPF_RSH, BPF_MOD, BPF_XOR, BPF_MOV, BPF_ARSH
	};
	uint8_t operation = operations[arg[0] % COUNT(operations)];
	uint8_t class = arg[0] & 0x100 ? BPF_ALU64 : BPF_ALU;
	bool shift = operation == BPF_LSH || operation == BPF_RSH || operation == BPF_ARSH;
	int32_t imm = (int32_t)value_number(arg[3]);

	if (arg[0] & 0x200) {
		add(b, INSN(class | operation | BPF_X, reg_any(arg[1]), reg_any(arg[2]), 0, 0));
		return;
	}
	if (shift)
		imm &= 31;
	if ((operation == BPF_DIV || operation == BPF_MOD) && !imm)
		imm = 3;
	add(b, INSN(class | operation | BPF_K, reg_any(arg[1]), 0, 0, imm));
}

static void add_access(struct builder *b, const uint32_t *arg)
{
	uint8_t size = size_any(arg[0]), reg = reg_any(arg[2]);
	int16_t off = (int16_t)(arg[3] & 1 ? arg[3] >> 1 : arg[3] >> 1 & 127);

	if (arg[0] & 0x40)
		add_wide(b, 7, value_pointer('p', arg[1]));
	switch (arg[0] >> 2 & 3) {
	case 0 ... 1:
		add(b, LOAD(size, reg, 7, off));
		break;
	case 2:
		add(b, STORE(size, 7, off, reg));
		break;
	default:
		add(b, STOREK(size, 7, off, (int32_t)arg[4]));
	}
}

static void add_spill(struct builder *b, const uint32_t *arg)
{
	int16_t off = (int16_t)(-8 * (1 + (int)MAX_LOOPS + (int)(arg[1] % 50)));

	if (arg[0] & 4)
		add(b, LOAD(size_any(arg[0]), reg_any(arg[2]), 10, off));
	else
		add(b, STORE(size_any(arg[0]), 10, off, reg_any(arg[2])));
}

static void add_atomic(struct builder *b, const uint32_t *arg)
{
	static const int32_t operations[] = { BPF_ADD,	BPF_OR | BPF_FETCH,
					      BPF_AND,	BPF_ADD | BPF_FETCH,
					      BPF_XCHG, BPF_CMPXCHG };

	if (arg[0] & 0x100)
		add_wide(b, 7, value_pointer('p', arg[1]));
	add(b, ATOMIC(arg[0] & 0x200 ? BPF_DW : BPF_W, 7, (int16_t)(arg[3] & 15 ? 8 : arg[3] >> 16),
		      reg_any(arg[2]), operations[arg[0] % COUNT(operations)]));
}

/*
 * Has the epoll set tell of a descriptor, or no more, mostly by data that has its number and a mark;
 * then waits and reads.
 */
static void add_epoll(struct builder *b, const uint32_t *arg)
{
	static const uint32_t events[] = { EPOLLIN,
					   EPOLLIN | EPOLLET,
					   EPOLLIN | EPOLLONESHOT,
					   EPOLLIN | EPOLLOUT,
					   EPOLLEXCLUSIVE,
					   ~0u };
	static const int32_t changes[] = { EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD,
					   EPOLL_CTL_DEL };
	static const int32_t waits[] = { 0, 0, 0, 1, -1, 0x7fffffff };
	static const int often[] = { SLOT_PIPE, SLOT_SOCKET, SLOT_SOCKET + 1, SLOT_EVENT,
				     SLOT_POLL };
	int set = value_slots[SLOT_POLL], fd = value_slots[often[(arg[1] >> 3) % COUNT(often)]];
	uint32_t number = arg[0] >> 8 & 7 ? (uint32_t)fd : (uint32_t)value_descriptor(arg[1] >> 8);

	if (!(arg[1] & 7))
		fd = value_descriptor(arg[1] >> 8);
	/* In the words of the frame that nothing else has. */
	add(b, STOREK(BPF_W, 10, -448, (int32_t)events[(arg[0] & 15) % COUNT(events)]));
	add(b, STOREK(BPF_W, 10, -444, (int32_t)number));
	add(b, STOREK(BPF_W, 10, -440, arg[0] >> 4 & 7 ? 1 : 0));
	add(b, LOAD(BPF_DW, 1, 10, -448));
	add_wide(b, 7, value_own(arg[0] >> 20) & ~4095ull);
	add(b, STORE(BPF_DW, 7, 16, 1));
	add(b, LOAD(BPF_DW, 1, 10, -440));
	add(b, STORE(BPF_DW, 7, 24, 1));
	add(b, MOV(1, set));
	add(b, MOV(2, changes[(arg[0] >> 12) % COUNT(changes)]));
	add(b, MOV(3, fd));
	add(b, MOVR(4, 7));
	add(b, ADD(4, 16));
	add(b, CALL(SYS_epoll_ctl));
	add(b, MOV(1, arg[0] >> 16 & 7 ? set : value_descriptor(arg[1] >> 16)));
	add_wide(b, 2, value_pointer('p', arg[2]));
	add_wide(b, 3, arg[3] & 7 ? value_length(arg[3] >> 3) : value_number(arg[3] >> 3));
	add_wide(b, 4, arg[4] & 3 ? 1 + (arg[4] >> 2) % 8 : value_number(arg[4] >> 2));
	add_wide(b, 5,
		 arg[4] >> 28 ? (uint64_t)(int64_t)waits[(arg[4] >> 16) % COUNT(waits)]
			      : value_number(arg[4] >> 16));
	add(b, CALL_OP(RAW_OP_epoll_read));
	add(b, MOVR(9, 0));
}

static void loop_begin(struct builder *b, uint32_t choice)
{
	static const int32_t often[] = { 1, 2, 3, 5, 17, 100, 3000, 0x7fffffff };

	if (b->depth == MAX_LOOPS)
		return;
	add(b, STOREK(BPF_DW, 10, (int16_t)(-8 * (int)(b->depth + 1)), often[choice & 7]));
	b->loops[b->depth++].start = b->count;
}

static void loop_end(struct builder *b)
{
	int16_t off = (int16_t)(-8 * (int)b->depth);

	if (!b->depth)
		return;
	b->depth--;
	add(b, LOAD(BPF_DW, 8, 10, off));
	add(b, ADD(8, -1));
	add(b, STORE(BPF_DW, 10, off, 8));
	add(b, JUMP_NE(8, 0, (int16_t)((int)b->loops[b->depth].start - (int)b->count - 1)));
}

static void branch_begin(struct builder *b, const uint32_t *arg)
{
	static const uint8_t conditions[] = { BPF_JEQ,	BPF_JNE,  BPF_JGT, BPF_JSGT,
					      BPF_JSET, BPF_JSLT, BPF_JLE };
	uint8_t class = arg[0] & 0x100 ? BPF_JMP : BPF_JMP32;

	if (b->branch_cnt == MAX_BRANCHES)
		return;
	b->branches[b->branch_cnt].at = b->count;
	b->branches[b->branch_cnt++].left = 2 + arg[3] % 4;
	add(b, INSN(class | conditions[arg[0] % COUNT(conditions)] | BPF_K, reg_any(arg[1]), 0, 0,
		    (int32_t)value_number(arg[2])));
}

/* Has branches go here whose fragments are over, or all. */
static void branches_end(struct builder *b, bool all)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->branch_cnt; i++) {
		uint32_t at = b->branches[i].at;

		if (!all && --b->branches[i].left)
			b->branches[kept++] = b->branches[i];
		else
			b->insns[at].off = (int16_t)(b->count - at - 1);
	}
	b->branch_cnt = kept;
}

static void add_local(struct builder *b, uint32_t which)
{
	if (b->local_cnt == MAX_LOCALS)
		return;
	b->locals[b->local_cnt].at = b->count;
	b->locals[b->local_cnt++].which = which;
	add(b, CALL_LOCAL(0));
}

/* Has tests/fuzz/generate.c make all of it, for the first buffer's address. */
static void builder_random(struct builder *b, const uint32_t *arg)
{
	struct differential setting = { .how.user_base = REGION_PLACE(REGION_BUFFER),
					.how.size = 4096 };
	uint8_t bytes[512];
	uint64_t noise = arg[0] | (uint64_t)arg[1] << 32;
	struct source source = { bytes, sizeof(bytes) };
	bool mutated;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)((noise = world_mix(noise, i)) >> 32);
	memset(b, 0, sizeof(*b));
	b->count = generate_program(&source, &setting, b->insns, &mutated);
	b->loaded = true;
}

static void builder_begin(struct builder *b)
{
	memset(b, 0, sizeof(*b));
	add(b, MOVR(6, 1));
	add_wide(b, 7, REGION_PLACE(REGION_BUFFER));
	add(b, MOV(9, 0));
}

static void fragment_add(struct builder *b, const struct step *step)
{
	const uint32_t *arg = step->arg;
	const char *letters;
	int number;

	switch (step->kind) {
	case STEP_code_constant:
		add_wide(b, reg_any(arg[0]), value_number(arg[1]));
		break;
	case STEP_code_pointer:
		add_wide(b, 6 + arg[0] % 2, value_pointer('p', arg[1]));
		break;
	case STEP_code_call:
		number = call_number(arg[0], &letters);
		add_call(b, number, letters, &arg[1]);
		break;
	case STEP_code_op:
		add_call(b, ops[arg[0] % COUNT(ops)].number, ops[arg[0] % COUNT(ops)].letters,
			 &arg[1]);
		break;
	case STEP_code_alu:
		add_alu(b, arg);
		break;
	case STEP_code_access:
		add_access(b, arg);
		break;
	case STEP_code_spill:
		add_spill(b, arg);
		break;
	case STEP_code_atomic:
		add_atomic(b, arg);
		break;
	case STEP_code_epoll:
		add_epoll(b, arg);
		break;
	case STEP_code_loop:
		loop_begin(b, arg[0]);
		break;
	case STEP_code_end:
		loop_end(b);
		break;
	case STEP_code_branch:
		branch_begin(b, arg);
		break;
	case STEP_code_local:
		add_local(b, arg[0]);
		break;
	case STEP_code_exit:
		add(b, EXIT);
		break;
	case STEP_code_raw:
		add(b, INSN((uint8_t)arg[0], arg[1] & 15, arg[2] & 15, (int16_t)arg[3],
			    (int32_t)value_number(arg[4])));
		break;
	}
}

void builder_add(struct builder *b, const struct step *step)
{
	if (step->kind == STEP_code_random) {
		builder_random(b, step->arg);
		return;
	}
	if (!b->count || b->loaded)
		builder_begin(b);
	if (b->count > MAX_FRAGMENTS - 40)
		return;
	fragment_add(b, step);
	branches_end(b, false);
}

/* Appends a function: one that calls nothing, one that makes a call, one that calls itself. */
static void function_add(struct builder *b, uint32_t which)
{
	add(b, STORE(BPF_DW, 10, (int16_t)(-8 * (int)(1 + which / 4 % 56)), 6));
	switch (which & 3) {
	case 0:
		add(b, MOV(0, 5));
		break;
	case 1:
		add(b, CALL(SYS_getuid));
		break;
	case 2:
		add(b, CALL_OP(RAW_OP_fence));
		add(b, MOV(0, 1));
		break;
	default:
		add(b, ADD(6, 1));
		add(b, CALL_LOCAL(-3));
	}
	add(b, EXIT);
}

void builder_end(struct builder *b)
{
	if (b->loaded)
		return;
	if (!b->count)
		builder_begin(b);
	while (b->depth)
		loop_end(b);
	branches_end(b, true);
	add(b, MOVR(0, 9));
	add(b, EXIT);
	for (uint32_t i = 0; i < b->local_cnt; i++) {
		b->insns[b->locals[i].at].imm = (int32_t)(b->count - b->locals[i].at - 1);
		function_add(b, b->locals[i].which);
	}
	b->loaded = true;
}
