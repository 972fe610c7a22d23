// SPDX-License-Identifier: GPL-2.0
/* jit.c - see jit.h. */
#include <linux/filter.h>
#include <linux/mutex.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "load/jit.h"
#include "load/processor.h"
#include "reject.h"

int cosy_jit_refuse_off(struct cosy_reject *why)
{
	return cosy_refuse(why, -EOPNOTSUPP, COSY_REJECT_CONTAINER,
			   "the kernel's BPF JIT is off (net.core.bpf_jit_enable)");
}

static_assert(COSY_SLOT_SIZE + COSY_FRAME_SIZE <= MAX_BPF_STACK,
	      "the sandbox's slots and the spill frame fit a BPF program's stack");

struct bpf_prog *cosy_jit_prepare(const struct cosy_code *code, bool *blinds)
{
	struct bpf_prog *bpf = bpf_prog_alloc(bpf_prog_size(code->insn_cnt), __GFP_NOWARN);

	if (!bpf)
		return NULL;
	*blinds = bpf->blinding_requested;
	/* The sandbox hides the constants; the kernel's own way takes quadratic time. */
	bpf->blinding_requested = 0;
	/*
	 * Take the type of a classic program, which to the kernel is an unprivileged user's: before
	 * it uses the memory again for such a program, it has processors forget where indirect
	 * branches led.
	 */
	bpf->type = BPF_PROG_TYPE_UNSPEC;
	bpf->len = code->insn_cnt;
	bpf->aux->stack_depth = code->stack_size;
	/* Give each based access the exception entry that the JIT wants, though none can fault. */
	bpf->aux->num_exentries = code->based_cnt;
	memcpy(bpf->insnsi, code->insns, code->insn_cnt * sizeof(*code->insns));
	return bpf;
}

struct bpf_prog *cosy_jit_compile(struct bpf_prog *bpf)
{
	int error;

	bpf = bpf_prog_select_runtime(bpf, &error);
	if (!error && bpf->jited)
		return bpf;
	bpf_prog_free(bpf);
	return NULL;
}

/* The variables of net.core.bpf_jit_enable and _harden; NULL if they are not found. */
static const int *jit_enable, *jit_harden;

/*
 * If the JIT is on and hardening is off, the two variables are the answer.  Otherwise it depends on
 * the caller's rights, and the kernel decides when a program is allocated.
 */
int cosy_jit_ask(bool *compiles, bool *blinds)
{
	struct bpf_prog *bpf;

	if (jit_enable && jit_harden && READ_ONCE(*jit_enable) && !READ_ONCE(*jit_harden)) {
		*compiles = true;
		*blinds = false;
		return 0;
	}
	bpf = bpf_prog_alloc(bpf_prog_size(1), __GFP_NOWARN);
	if (!bpf)
		return -ENOMEM;
	*compiles = bpf->jit_requested;
	*blinds = bpf->blinding_requested;
	bpf_prog_free(bpf);
	return 0;
}

/* --- The abilities of the JIT ---------------------------------------------------- */

/* The JIT's features, probed once, when there is memory for it; until then nothing is loaded. */
static struct {
	bool known;
	bool v4, gotol, based, copies_ax;
} jit;
static DEFINE_MUTEX(jit_lock);

/*
 * True if the JIT may report which access to a BPF arena faulted, as kernels newer than 6.12 do;
 * false only if this kernel is known not to.
 */
static bool jit_tells_of_arenas __ro_after_init;

/*
 * Times to try a program that does not compile although another one does.  If it never compiles,
 * the JIT does not know its instructions.
 */
#define TRIES 3

/*
 * Compiles and runs a small program.  Returns 0, with the program's result for `argument` in
 * *result; -ENOMEM; or -EOPNOTSUPP: the JIT is off.
 */
static int bpf_run_once(const struct cosy_code *code, unsigned long argument, u32 *result)
{
	bool blinds, compiles;
	struct bpf_prog *bpf = cosy_jit_prepare(code, &blinds);

	if (!bpf)
		return -ENOMEM;
	compiles = bpf->jit_requested;
	bpf = cosy_jit_compile(bpf);
	if (!bpf)
		return compiles ? -ENOMEM : -EOPNOTSUPP;
	*result = bpf_prog_run_pin_on_cpu(bpf, (void *)argument);
	bpf_prog_free(bpf);
	return 0;
}

/*
 * Does the same with a program whose instructions the JIT may not know; then *result is 0.  The JIT
 * does not say whether it refused or was short of memory, so a known program is tried as well.
 */
static int bpf_try(struct bpf_insn *insns, u32 insn_cnt, u32 based_cnt, unsigned long argument,
		   u32 *result)
{
	const struct cosy_code code = { .insns = insns,
					.insn_cnt = insn_cnt,
					.based_cnt = based_cnt };
	struct bpf_insn known_insns[] = { BPF_MOV64_IMM(BPF_REG_0, 0), BPF_EXIT_INSN() };
	const struct cosy_code known = { .insns = known_insns,
					 .insn_cnt = ARRAY_SIZE(known_insns) };
	int i, error;

	for (i = 0; i < TRIES; i++) {
		error = bpf_run_once(&code, argument, result);
		if (error == -ENOMEM && !bpf_run_once(&known, 0, result))
			continue;
		return error;
	}
	*result = 0;
	return 0;
}

/*
 * Looks for cpu v4, whose arithmetic and loads came together.  A JIT that knows none of them takes
 * a sign-extending move for a plain one.
 */
static int bpf_has_v4(bool *ret)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X,
		  .dst_reg = BPF_REG_0,
		  .src_reg = BPF_REG_1,
		  .off = 8 },
		BPF_EXIT_INSN(),
	};
	u32 result;
	int error = bpf_try(insns, ARRAY_SIZE(insns), 0, 0xff, &result);

	*ret = !error && result == ~0u;
	return error;
}

static int bpf_has_gotol(bool *ret)
{
	struct bpf_insn insns[] = {
		BPF_MOV64_REG(BPF_REG_0, BPF_REG_1),
		{ .code = BPF_JMP32 | BPF_JA, .imm = 1 },
		BPF_MOV64_IMM(BPF_REG_0, 0),
		BPF_EXIT_INSN(),
	};
	u32 result;
	int error = bpf_try(insns, ARRAY_SIZE(insns), 0, 1, &result);

	*ret = !error && result == 1;
	return error;
}

/*
 * Looks for loads and stores relative to r12, by register `offset`.  The JIT sets r12 for BPF's
 * arenas alone; for us cosy_enter does.
 */
static int bpf_has_based(u8 offset, bool *ret)
{
	/* Jump over them, since r12 is not set here. */
	struct bpf_insn insns[] = {
		BPF_MOV64_REG(BPF_REG_0, BPF_REG_1),
		BPF_JMP_IMM(BPF_JNE, BPF_REG_0, 0, 3),
		{ .code = BPF_LDX | BPF_PROBE_MEM32 | BPF_DW,
		  .dst_reg = BPF_REG_0,
		  .src_reg = offset },
		{ .code = BPF_STX | BPF_PROBE_MEM32 | BPF_B,
		  .dst_reg = offset,
		  .src_reg = BPF_REG_0 },
		{ .code = BPF_ST | BPF_PROBE_MEM32 | BPF_W, .dst_reg = offset, .imm = 1 },
		BPF_EXIT_INSN(),
	};
	u32 result;
	int error = bpf_try(insns, ARRAY_SIZE(insns), 3, 1, &result);

	*ret = !error && result == 1;
	return error;
}

/* Learns under the lock. */
static int jit_learn_locked(void)
{
	int error = bpf_has_v4(&jit.v4);

	/* Long jumps alone were backported: Linux 6.1 has them, and not the rest. */
	jit.gotol = jit.v4;
	if (!error && !jit.v4)
		error = bpf_has_gotol(&jit.gotol);
	/*
	 * A JIT that reports faults in arenas looks an access's register up in a table that lacks
	 * BPF_REG_AX.  Do not ask one that was made without based accesses: it would complain in
	 * the log.
	 */
	jit.copies_ax = jit_tells_of_arenas;
	jit.based = false;
	if (!error && COSY_JIT_MAY_BE_BASED && jit.v4)
		error = bpf_has_based(jit.copies_ax ? BPF_REG_1 : BPF_REG_AX, &jit.based);
	return error;
}

/* Probes the unknown features: 0, -ENOMEM, or -EOPNOTSUPP while the JIT is off. */
static int jit_learn(void)
{
	int error = 0;

	/* Pairs with the release below. */
	if (smp_load_acquire(&jit.known))
		return 0;
	mutex_lock(&jit_lock);
	if (!jit.known) {
		error = jit_learn_locked();
		if (!error)
			smp_store_release(&jit.known, true);
	}
	mutex_unlock(&jit_lock);
	return error;
}

int cosy_jit_abilities(struct cosy_sandbox *ret)
{
	int error = jit_learn();

	if (error)
		return error;
	ret->has_v4 = jit.v4;
	ret->has_gotol = jit.gotol;
	ret->based = jit.based;
	ret->copies_ax = jit.copies_ax;
	return 0;
}

int cosy_jit_features(u64 *features)
{
	bool compiles, blinds;
	int error = cosy_jit_ask(&compiles, &blinds);

	*features = 0;
	if (!error && compiles)
		error = jit_learn();
	else if (!error)
		return 0;
	if (error == -ENOMEM)
		return error;
	*features = COSY_FEATURE_JIT | (jit.gotol ? COSY_FEATURE_LONG_JUMP : 0) |
		    (jit.based ? COSY_FEATURE_SEEN | COSY_FEATURE_FETCHES : 0) |
		    (cosy_processor_refused(NULL) ? COSY_FEATURE_REFUSED : 0);
	return 0;
}

void cosy_jit_init(void)
{
	jit_enable = cosy_unexported_data("bpf_jit_enable");
	jit_harden = cosy_unexported_data("bpf_jit_harden");
	/* Where not even jit_enable is found, nothing can be said of the other one. */
	jit_tells_of_arenas =
		!jit_enable || cosy_unexported_data("bpf_prog_report_arena_violation");
	/* If there is no memory for it now, the first LOAD will learn it. */
	jit_learn();
}
