// SPDX-License-Identifier: GPL-2.0
/*
 * image.c - from a container to machine code.
 *
 * The kernel's BPF JIT compiles the program that core's sandbox made from the compound.  The BPF
 * verifier is not involved: the program is harmless by construction.
 */
#include <linux/filter.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/unistd.h>
#include "compat/compat.h"
#include "load/image.h"
#include "load/jit.h"
#include "reject.h"
#include "run/limits.h"
#include "run/thunk.h"
#include "stats.h"
#include "users.h"

/* True if the last image had to hide its constants: most likely the next one has to, too. */
static bool blinds_lately;

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
	int error = how->based ? cosy_verify(code, how, &problem) : 0;

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
	bpf = cosy_jit_prepare(&code, &blinds);
	core_free(code.insns);
	if (!bpf)
		return -ENOMEM;
	if (blinds != image->blinds) {
		image->blinds = blinds;
		WRITE_ONCE(blinds_lately, blinds);
		error = -EAGAIN;
	} else if (!bpf->jit_requested) {
		error = cosy_jit_refuse_off(why);
	} else {
		error = image_charge(image, bpf, code.insn_cnt * CODE_PER_INSN, why);
	}
	if (error) {
		bpf_prog_free(bpf);
		return error;
	}
	image->bpf = cosy_jit_compile(bpf);
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
	error = cosy_jit_abilities(&how);
	if (error == -EOPNOTSUPP)
		cosy_jit_refuse_off(why);
	if (error)
		goto out;
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

int cosy_image_is_portable(const struct cosy_target *target)
{
	struct cosy_sandbox how = {};
	int error = cosy_jit_abilities(&how);

	return error ? error : how.based || !target->size ? 0 : -EOPNOTSUPP;
}

bool cosy_image_fits(const struct cosy_image *image)
{
	bool compiles, blinds;

	return !cosy_jit_ask(&compiles, &blinds) && compiles && blinds == image->blinds;
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
