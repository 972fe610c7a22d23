// SPDX-License-Identifier: GPL-2.0
/*
 * image.c - from a container to machine code.
 *
 * The kernel's BPF JIT compiles the program that core's sandbox made from the compound.  The BPF
 * verifier is not involved: the program is harmless by construction.
 */
#include <linux/filter.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "load/image.h"
#include "load/processor.h"
#include "reject.h"
#include "run/limits.h"
#include "run/thunk.h"
#include "stats.h"
#include "users.h"

/* True if the last image had to hide its constants: most likely the next one has to, too. */
static bool blinds_lately;

static int jit_refuse_off(struct cosy_reject *why)
{
	return cosy_refuse(why, -EOPNOTSUPP, COSY_REJECT_CONTAINER,
			   "the kernel's BPF JIT is off (net.core.bpf_jit_enable)");
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

/* The variables of net.core.bpf_jit_enable and _harden; NULL where the kernel does not tell. */
static const int *jit_enable, *jit_harden;

/*
 * Finds out whether the kernel would compile a program of the caller's now, and hide its constants.
 * 0 or -ENOMEM.  Where nobody has to hide anything, the two variables say so.  Otherwise it depends
 * on the caller, and the kernel decides only when a program is allocated.
 */
static int jit_ask(bool *compiles, bool *blinds)
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

bool cosy_image_fits(const struct cosy_image *image)
{
	bool compiles, blinds;

	return !jit_ask(&compiles, &blinds) && compiles && blinds == image->blinds;
}

/* --- The abilities of the JIT ---------------------------------------------------- */

/* The JIT's features, probed once, when there is memory for it; until then nothing is loaded. */
static struct {
	bool known;
	bool v4, gotol, based, copies_ax;
} jit;
static DEFINE_MUTEX(jit_lock);

/*
 * True unless the kernel is known not to say in a program's log which access to an arena faulted
 * (newer than 6.12).
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
	struct bpf_prog *bpf = bpf_create(code, &blinds);

	if (!bpf)
		return -ENOMEM;
	compiles = bpf->jit_requested;
	bpf = bpf_compile(bpf);
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

int cosy_image_features(u64 *features)
{
	bool compiles, blinds;
	int error = jit_ask(&compiles, &blinds);

	*features = 0;
	if (!error && compiles)
		error = jit_learn();
	else if (!error)
		return 0;
	if (error == -ENOMEM)
		return error;
	*features = COSY_FEATURE_JIT | (jit.gotol ? COSY_FEATURE_LONG_JUMP : 0) |
		    (jit.based ? COSY_FEATURE_SEEN : 0) |
		    (cosy_processor_refused(NULL) ? COSY_FEATURE_REFUSED : 0);
	return 0;
}

void cosy_image_init(void)
{
	jit_enable = cosy_unexported_data("bpf_jit_enable");
	jit_harden = cosy_unexported_data("bpf_jit_harden");
	/* Where not even jit_enable is found, nothing can be said of the other one. */
	jit_tells_of_arenas =
		!jit_enable || cosy_unexported_data("bpf_prog_report_arena_violation");
	/* If there is no memory for it now, the first LOAD will learn it. */
	jit_learn();
}

/* --- Images --------------------------------------------------------------------------- */

static void image_read_points(struct cosy_image *image, const struct cosy_validated *program)
{
	const struct bpf_insn *insns = program->insns;
	u32 i;

	static_assert(COSY_FRAME_SIZE / 8 + 1 <= COSY_POINT_CALL);
	for (i = 0; i < program->insn_cnt; i++) {
		if (program->marks[i] & COSY_MARK_RESUME)
			image->points[i] |= COSY_POINT_RESUME;
		if (!(program->marks[i] & COSY_MARK_HEAD) || insns[i].code != (BPF_JMP | BPF_CALL))
			continue;
		if (insns[i].src_reg == BPF_PSEUDO_CALL)
			image->points[i] |= cosy_function_of(program, i)->frame_words + 1;
		else if (insns[i].imm == __NR_ioctl)
			image->may_nest = true;
	}
	for (i = 0; i < program->function_cnt; i++)
		image->frame_words = max(image->frame_words, program->functions[i].frame_words);
}

/*
 * Bytes of machine code to charge for a rewritten instruction: more than the JIT makes of one in
 * nearly all programs.  How much it really makes is known only when it has used the memory.
 */
#define CODE_PER_INSN 16

/*
 * Raises or lowers the image's charge to the memory that `bpf` takes with `code_bytes` of machine
 * code.
 */
static int image_charge(struct cosy_image *image, const struct bpf_prog *bpf, u32 code_bytes,
			struct cosy_reject *why)
{
	u32 bytes = bpf->pages * PAGE_SIZE + code_bytes;
	int error = 0;

	if (bytes <= image->code_bytes) {
		cosy_user_uncharge(image->user, COSY_CHARGE_CODE, image->code_bytes - bytes);
	} else {
		error = cosy_user_charge(image->user, COSY_CHARGE_CODE, bytes - image->code_bytes);
	}
	if (error)
		return cosy_refuse(why, error, COSY_REJECT_CONTAINER,
				   "this user's programs are as large as the module allows "
				   "(max_user_code)");
	image->code_bytes = bytes;
	return 0;
}

/* Refuses code that the sandbox should not have made. */
static int code_verify(const struct cosy_code *code, const struct cosy_sandbox *how,
		       struct cosy_reject *why)
{
	const char *problem = NULL;
	int error = how->based ? cosy_verify(code, how->size, &problem) : 0;

	if (error)
		core_free(code->insns);
	if (problem)
		return cosy_refuse(why, error, COSY_REJECT_CONTAINER, "%s", problem);
	return error;
}

static int image_compile(struct cosy_image *image, const struct cosy_validated *program,
			 struct cosy_sandbox *how, struct cosy_reject *why)
{
	struct bpf_prog *bpf;
	struct cosy_code code;
	bool blinds;
	int error;

	how->blind = image->blinds;
	how->seed = get_random_u64();
	error = cosy_sandbox(program, how, &code, why);
	if (!error)
		error = code_verify(&code, how, why);
	if (error)
		return error;
	bpf = bpf_create(&code, &blinds);
	core_free(code.insns);
	if (!bpf)
		return -ENOMEM;
	if (blinds != image->blinds) {
		image->blinds = blinds;
		WRITE_ONCE(blinds_lately, blinds);
		error = -EAGAIN;
	} else if (!bpf->jit_requested) {
		error = jit_refuse_off(why);
	} else {
		error = image_charge(image, bpf, code.insn_cnt * CODE_PER_INSN, why);
	}
	if (error) {
		bpf_prog_free(bpf);
		return error;
	}
	image->bpf = bpf_compile(bpf);
	if (!image->bpf)
		return cosy_refuse(why, -ENOMEM, COSY_REJECT_CONTAINER,
				   "the kernel's BPF JIT did not compile it; its memory may be "
				   "used up (net.core.bpf_jit_limit)");
	image->code = image->bpf->bpf_func;
	image->rewritten = code.insn_cnt;
	image->jited = image->bpf->jited_len;
	return image_charge(image, image->bpf, image->jited, why);
}

static struct cosy_image *image_alloc(struct cosy_user *user,
				      const struct cosy_container *container)
{
	struct cosy_image *image = kzalloc(sizeof(*image), GFP_KERNEL_ACCOUNT);

	if (!image)
		return NULL;
	image->points = kvzalloc(container->insn_cnt, GFP_KERNEL_ACCOUNT);
	if (!image->points) {
		kfree(image);
		return NULL;
	}
	refcount_set(&image->references, 1);
	image->user = cosy_user_hold(user);
	image->insn_cnt = container->insn_cnt;
	image->fuel = cosy_limits_fuel(container->insn_cnt);
	image->blinds = READ_ONCE(blinds_lately);
	image->max_steps = container->header->max_steps;
	image->max_ns = container->header->max_kernel_ns;
	cosy_stats_live(COSY_LIVE_IMAGES, 1);
	return image;
}

struct cosy_image *cosy_image_create(struct cosy_user *user, const struct cosy_container *container,
				     const struct cosy_target *target, struct cosy_reject *why)
{
	struct cosy_sandbox how = {
		.user_base = target->address,
		.kernel_base = (unsigned long)target->base,
		.size = target->size,
		.ordinary = target->ordinary,
		.thunks = cosy_thunk_table,
	};
	struct cosy_validated program;
	struct cosy_image *image;
	int error;

	error = cosy_validate(container->insns, container->insn_cnt, &program, why);
	if (error)
		return ERR_PTR(error);
	error = jit_learn();
	if (error == -EOPNOTSUPP)
		jit_refuse_off(why);
	if (error)
		goto out;
	how.has_v4 = jit.v4;
	how.has_gotol = jit.gotol;
	how.based = jit.based;
	how.copies_ax = jit.copies_ax;
	image = image_alloc(user, container);
	if (!image) {
		error = -ENOMEM;
		goto out;
	}
	image->portable = how.based || !target->size;
	image_read_points(image, &program);
	do
		error = image_compile(image, &program, &how, why);
	while (error == -EAGAIN);
	if (error)
		cosy_image_put(image);
out:
	cosy_validated_deinit(&program);
	return error ? ERR_PTR(error) : image;
}

void cosy_image_put(struct cosy_image *image)
{
	if (!image || !refcount_dec_and_test(&image->references))
		return;
	if (image->bpf)
		bpf_prog_free(image->bpf);
	cosy_user_uncharge(image->user, COSY_CHARGE_CODE, image->code_bytes);
	cosy_user_put(image->user);
	cosy_stats_live(COSY_LIVE_IMAGES, -1);
	kvfree(image->entry.container);
	kvfree(image->points);
	kfree(image);
}
