// SPDX-License-Identifier: GPL-2.0
/*
 * program.c - from a container in user memory to machine code.
 *
 * The kernel's BPF JIT compiles what core's sandbox made of the compound.  The BPF
 * verifier has no part in it: the program is harmless by construction.
 */
#include <linux/filter.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/unistd.h>
#include <linux/xarray.h>
#include "context.h"
#include "load/buffer.h"
#include "load/processor.h"
#include "load/program.h"
#include "run/limits.h"
#include "run/thunk.h"
#include "stats.h"
#include "trace.h"
#include "users.h"

static const bool never_gone;
static bool has_v4, has_gotol, has_based;
/* Whether the last program had to hide its constants; so the next one will, most likely. */
static bool blinds_lately;

static void refuse(struct cosy_reject *why, const char *reason)
{
	why->insn = ~0u;
	strscpy(why->reason, reason, sizeof(why->reason));
}

/* --- The kernel's JIT ------------------------------------------------------------- */

static_assert(COSY_SLOT_SIZE + COSY_FRAME_SIZE <= MAX_BPF_STACK,
	      "the sandbox's slots and the spill frame fit a BPF program's stack");

static struct bpf_prog *bpf_create(const struct cosy_code *code, bool *blinds)
{
	struct bpf_prog *bpf = bpf_prog_alloc(bpf_prog_size(code->insn_cnt), __GFP_NOWARN);

	if (!bpf)
		return NULL;
	*blinds = bpf->blinding_requested;
	/* Constants are hidden by the sandbox; the kernel's way takes quadratic time. */
	bpf->blinding_requested = 0;
	/*
	 * The type of a classic program, which the JIT knows for an unprivileged user's: before
	 * its memory is used again for such a one, processors forget where indirect branches led.
	 */
	bpf->type = BPF_PROG_TYPE_UNSPEC;
	bpf->len = code->insn_cnt;
	bpf->aux->stack_depth = code->stack_size;
	/* The JIT wants a place for each in an exception table, though none of them can fault. */
	bpf->aux->num_exentries = code->based_cnt;
	memcpy(bpf->insnsi, code->insns, code->insn_cnt * sizeof(*code->insns));
	return bpf;
}

/* Compiles; NULL when the kernel would only have interpreted it. */
static struct bpf_prog *bpf_compile(struct bpf_prog *bpf)
{
	int error;

	bpf = bpf_prog_select_runtime(bpf, &error);
	if (!error && bpf->jited)
		return bpf;
	bpf_prog_free(bpf);
	return NULL;
}

/* Whether the JIT is on (net.core.bpf_jit_enable): a program knows before it is compiled. */
static bool bpf_compiles(void)
{
	struct bpf_prog *bpf = bpf_prog_alloc(bpf_prog_size(1), __GFP_NOWARN);
	bool compiles;

	if (!bpf)
		return false;
	compiles = bpf->jit_requested;
	bpf_prog_free(bpf);
	return compiles;
}

/* What a small program returns for `argument`; 0 when it does not compile. */
static u32 bpf_try(struct bpf_insn *insns, u32 insn_cnt, u32 based_cnt, unsigned long argument)
{
	const struct cosy_code code = { .insns = insns, .insn_cnt = insn_cnt, .based_cnt = based_cnt };
	bool blinds;
	struct bpf_prog *bpf = bpf_create(&code, &blinds);
	u32 result = 0;

	if (bpf)
		bpf = bpf_compile(bpf);
	if (bpf) {
		result = bpf_prog_run_pin_on_cpu(bpf, (void *)argument);
		bpf_prog_free(bpf);
	}
	return result;
}

/*
 * The arithmetic and the loads of cpu v4 came together.  A JIT that knows none of
 * them takes a sign-extending move for a plain one.
 */
static bool bpf_has_v4(void)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_1, .off = 8 },
		BPF_EXIT_INSN(),
	};

	return bpf_try(insns, ARRAY_SIZE(insns), 0, 0xff) == ~0u;
}

static bool bpf_has_gotol(void)
{
	struct bpf_insn insns[] = {
		BPF_MOV64_REG(BPF_REG_0, BPF_REG_1),
		{ .code = BPF_JMP32 | BPF_JA, .imm = 1 },
		BPF_MOV64_IMM(BPF_REG_0, 0),
		BPF_EXIT_INSN(),
	};

	return bpf_try(insns, ARRAY_SIZE(insns), 0, 1) == 1;
}

/* Loads and stores relative to r12, which the JIT sets up for arenas alone; cosy_enter does for us. */
static bool bpf_has_based(void)
{
	/* Jumped over: r12 is not set here. */
	struct bpf_insn insns[] = {
		BPF_MOV64_REG(BPF_REG_0, BPF_REG_1),
		BPF_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 3),
		{ .code = BPF_LDX | BPF_PROBE_MEM32 | BPF_DW, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_AX },
		{ .code = BPF_STX | BPF_PROBE_MEM32 | BPF_B, .dst_reg = BPF_REG_AX, .src_reg = BPF_REG_0 },
		{ .code = BPF_ST | BPF_PROBE_MEM32 | BPF_W, .dst_reg = BPF_REG_AX, .imm = 1 },
		BPF_EXIT_INSN(),
	};

	return bpf_try(insns, ARRAY_SIZE(insns), 3, 1) == 1;
}

u64 cosy_program_features(void)
{
	if (!bpf_compiles())
		return 0;
	return COSY_FEATURE_JIT | (has_gotol ? COSY_FEATURE_LONG_JUMP : 0) |
	       (cosy_processor_refused(NULL) ? COSY_FEATURE_REFUSED : 0);
}

int cosy_program_init(void)
{
	has_v4 = bpf_has_v4();
	/* Long jumps alone were given to older kernels: Linux 6.1 has them, and not the rest. */
	has_gotol = has_v4 || bpf_has_gotol();
	/* Not asked of a JIT that was made without: it would complain in the log. */
	has_based = COSY_JIT_MAY_BE_BASED && has_v4 && bpf_has_based();
	return 0;
}

/* --- Loading ------------------------------------------------------------------------- */

static void read_points(struct cosy_prog *prog, const struct cosy_program *program)
{
	const struct bpf_insn *insns = program->insns;
	u32 i;

	static_assert(COSY_FRAME_SIZE / 8 + 1 <= COSY_POINT_CALL);
	for (i = 0; i < program->insn_cnt; i++) {
		if (program->marks[i] & COSY_MARK_RESUME)
			prog->points[i] |= COSY_POINT_RESUME;
		if (!(program->marks[i] & COSY_MARK_HEAD) || insns[i].code != (BPF_JMP | BPF_CALL))
			continue;
		if (insns[i].src_reg == BPF_PSEUDO_CALL)
			prog->points[i] |= cosy_function_of(program, i)->frame_words + 1;
		else if (insns[i].imm == __NR_ioctl)
			prog->may_nest = true;
	}
	for (i = 0; i < program->function_cnt; i++)
		prog->frame_words = max(prog->frame_words, program->functions[i].frame_words);
}

/*
 * Machine code of a rewritten instruction, in bytes: more than the JIT makes of nearly
 * all programs.  What it made of this one is only known once the user has it.
 */
#define CODE_PER_INSN 16

/* Charges for what `bpf` takes or will take; what was charged before is part of it. */
static int charge_code(struct cosy_prog *prog, const struct bpf_prog *bpf, u32 code_bytes,
		       struct cosy_reject *why)
{
	u32 bytes = bpf->pages * PAGE_SIZE + code_bytes;
	int error = 0;

	if (bytes > prog->code_bytes)
		error = cosy_user_charge(prog->user, COSY_CHARGE_CODE, bytes - prog->code_bytes);
	else
		cosy_user_uncharge(prog->user, COSY_CHARGE_CODE, prog->code_bytes - bytes);
	if (error)
		refuse(why, "this user's programs are as large as the module allows (max_user_code)");
	else
		prog->code_bytes = bytes;
	return error;
}

static int compile(struct cosy_prog *prog, const struct cosy_program *program,
		   struct cosy_buffer *buffer, u32 flags, struct cosy_load *load,
		   struct cosy_reject *why)
{
	struct cosy_sandbox how = {
		.has_v4 = has_v4,
		.has_gotol = has_gotol,
		.based = has_based,
		.blind = prog->blinds,
		.seed = get_random_u64(),
		.thunks = cosy_thunk_table,
	};
	struct bpf_prog *bpf;
	struct cosy_code code;
	bool blinds;
	int error;

	how.ordinary = prog->ordinary = flags & COSY_ORDINARY_CALLS;
	prog->gone = &never_gone;
	if (cosy_buffer_usable(buffer)) {
		how.user_base = buffer->user_base;
		how.kernel_base = (unsigned long)buffer->base;
		how.size = buffer->size;
		prog->gone = &buffer->gone;
		prog->buffer = buffer->base;
		prog->buffer_address = buffer->user_base;
		prog->buffer_size = buffer->size;
	}
	error = cosy_sandbox(program, &how, &code, why);
	if (error)
		return error;
	bpf = bpf_create(&code, &blinds);
	core_free(code.insns);
	if (!bpf)
		return -ENOMEM;
	if (blinds != how.blind) {
		prog->blinds = blinds;
		WRITE_ONCE(blinds_lately, blinds);
		error = -EAGAIN;
	} else if (!bpf->jit_requested) {
		refuse(why, "the kernel's BPF JIT is off (net.core.bpf_jit_enable)");
		error = -EOPNOTSUPP;
	} else {
		error = charge_code(prog, bpf, code.insn_cnt * CODE_PER_INSN, why);
	}
	if (error) {
		bpf_prog_free(bpf);
		return error;
	}
	prog->bpf = bpf_compile(bpf);
	if (!prog->bpf) {
		refuse(why, "the kernel's BPF JIT did not compile it; its memory may be used up (net.core.bpf_jit_limit)");
		return -ENOMEM;
	}
	load->rewritten = code.insn_cnt;
	load->jited = prog->bpf->jited_len;
	return charge_code(prog, prog->bpf, prog->bpf->jited_len, why);
}

/* Counted among the user's from here on. */
static struct cosy_prog *prog_create(struct cosy_user *user, u32 insn_cnt, struct cosy_reject *why)
{
	struct cosy_prog *prog = kzalloc(sizeof(*prog), GFP_KERNEL_ACCOUNT);
	int error;

	if (!prog)
		return ERR_PTR(-ENOMEM);
	refcount_set(&prog->references, 1);
	prog->insn_cnt = insn_cnt;
	prog->fuel = cosy_limits_fuel(insn_cnt);
	prog->blinds = READ_ONCE(blinds_lately);
	prog->points = kvzalloc(insn_cnt, GFP_KERNEL_ACCOUNT);
	if (!prog->points) {
		error = -ENOMEM;
		goto err_prog;
	}
	error = cosy_user_charge(user, COSY_CHARGE_PROGRAMS, 1);
	if (error) {
		refuse(why, "this user has as many programs as the module allows (max_user_programs)");
		goto err_points;
	}
	prog->user = user;
	cosy_stats_live(COSY_LIVE_PROGRAMS, 1);
	return prog;

err_points:
	kvfree(prog->points);
err_prog:
	kfree(prog);
	return ERR_PTR(error);
}

static void prog_destroy(struct cosy_prog *prog)
{
	if (prog->bpf)
		bpf_prog_free(prog->bpf);
	cosy_user_uncharge(prog->user, COSY_CHARGE_CODE, prog->code_bytes);
	cosy_user_uncharge(prog->user, COSY_CHARGE_PROGRAMS, 1);
	cosy_stats_live(COSY_LIVE_PROGRAMS, -1);
	kvfree(prog->points);
	kfree_rcu(prog, rcu);
}

static struct cosy_prog *build(struct cosy_context *context, const struct cosy_view *view,
			       struct cosy_load *load, struct cosy_reject *why)
{
	struct cosy_program program;
	struct cosy_prog *prog;
	int error;

	error = cosy_validate(view->insns, view->insn_cnt, &program, why);
	if (error)
		return ERR_PTR(error);
	prog = prog_create(context->user, view->insn_cnt, why);
	if (IS_ERR(prog))
		goto out;
	read_points(prog, &program);
	prog->max_ops = view->header->max_ops;
	prog->max_ns = view->header->max_kernel_ns;
	do {
		/* Pairs with cosy_context_set_buffer. */
		error = compile(prog, &program, smp_load_acquire(&context->buffer),
				view->header->flags | load->flags, load, why);
	} while (error == -EAGAIN);
	if (error) {
		prog_destroy(prog);
		prog = ERR_PTR(error);
	}
out:
	cosy_program_deinit(&program);
	return prog;
}

static int give_handle(struct cosy_context *context, struct cosy_prog *prog, u32 *ret)
{
	int error;

	xa_lock(&context->programs);
	error = __xa_alloc(&context->programs, ret, prog, XA_LIMIT(1, INT_MAX), GFP_KERNEL_ACCOUNT);
	if (!error && *ret < COSY_DIRECT_HANDLES)
		rcu_assign_pointer(context->direct[*ret], prog);
	xa_unlock(&context->programs);
	return error;
}

static int load_container(struct cosy_context *context, const void *data, struct cosy_load *load,
			  struct cosy_reject *why)
{
	struct cosy_prog *prog;
	struct cosy_view view;
	u32 handle;
	int error;

	error = cosy_compound_open(data, load->len, &view, why);
	if (error)
		return error;
	prog = build(context, &view, load, why);
	if (IS_ERR(prog))
		return PTR_ERR(prog);
	error = give_handle(context, prog, &handle);
	if (error) {
		prog_destroy(prog);
		return error;
	}
	load->handle = handle;
	return 0;
}

/* The reason goes to the user's log, cut to its size. */
static void write_log(const struct cosy_load *load, const struct cosy_reject *why)
{
	char text[sizeof(why->reason)];
	u32 size = min_t(u32, load->log_size, sizeof(text));

	if (!load->log || !size)
		return;
	strscpy(text, why->reason, size);
	/* A log that cannot be written is not worth another error. */
	if (copy_to_user(u64_to_user_ptr(load->log), text, strlen(text) + 1))
		return;
}

long cosy_program_load(struct cosy_context *context, struct cosy_load *load)
{
	struct cosy_reject why = { .insn = ~0u };
	void *data;
	int error;

	if (load->flags & ~COSY_ORDINARY_CALLS)
		return -EINVAL;
	load->handle = 0;
	load->rewritten = 0;
	load->jited = 0;
	load->bad_insn = ~0u;

	if (cosy_processor_refused(&why)) {
		error = -EOPNOTSUPP;
		goto out;
	}
	if (load->len > COSY_MAX_COMPOUND) {
		refuse(&why, "the container is larger than COSY_MAX_COMPOUND");
		error = -E2BIG;
		goto out;
	}
	/* Copied once: what is checked is what is compiled. */
	data = kvmalloc(max(load->len, 1u), GFP_KERNEL_ACCOUNT);
	if (!data)
		return -ENOMEM;
	if (copy_from_user(data, u64_to_user_ptr(load->compound), load->len)) {
		kvfree(data);
		return -EFAULT;
	}
	error = load_container(context, data, load, &why);
	kvfree(data);
out:
	load->bad_insn = why.insn;
	trace_cosy_load(load, error);
	if (error)
		write_log(load, &why);
	if (error == -EINVAL || error == -E2BIG)
		cosy_stats_add(&context->stats, COSY_COUNT_REJECTS, 1);
	else if (!error)
		cosy_stats_add(&context->stats, COSY_COUNT_LOADS, 1);
	return error;
}

/* --- Handles ------------------------------------------------------------------------ */

struct cosy_prog *cosy_program_get(struct cosy_context *context, u32 handle)
{
	struct cosy_prog *prog;

	rcu_read_lock();
	if (likely(handle < COSY_DIRECT_HANDLES))
		prog = rcu_dereference(context->direct[array_index_nospec(handle, COSY_DIRECT_HANDLES)]);
	else
		prog = xa_load(&context->programs, handle);
	if (prog && !refcount_inc_not_zero(&prog->references))
		prog = NULL;
	rcu_read_unlock();
	return prog;
}

void cosy_program_put(struct cosy_prog *prog)
{
	if (refcount_dec_and_test(&prog->references))
		prog_destroy(prog);
}

long cosy_program_forget(struct cosy_context *context, u32 handle)
{
	struct cosy_prog *prog;

	xa_lock(&context->programs);
	prog = __xa_erase(&context->programs, handle);
	if (handle < COSY_DIRECT_HANDLES)
		RCU_INIT_POINTER(context->direct[array_index_nospec(handle, COSY_DIRECT_HANDLES)], NULL);
	xa_unlock(&context->programs);
	if (!prog)
		return -ENOENT;
	cosy_program_put(prog);
	return 0;
}

void cosy_program_forget_all(struct cosy_context *context)
{
	struct cosy_prog *prog;
	unsigned long handle;

	xa_for_each(&context->programs, handle, prog)
		cosy_program_put(prog);
	xa_destroy(&context->programs);
}
