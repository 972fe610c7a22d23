// SPDX-License-Identifier: MIT
/* build_link.c - a builder's functions joined and written out as a compound; see build.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builder/build.h"

/* STEP 1: check that every block that was begun has its end. */
static void builder_check_complete(struct cosy_builder *b)
{
	const struct libcosy_open_block *block;

	if (!b->blocks.count)
		return;
	block = &b->blocks.at[b->blocks.count - 1];
	b->statement = block->statement;
	libcosy_build_mistake(b, -EINVAL, "the block that begins here is not ended");
}

/* STEP 2: find the functions that are called at all; the others are left out. */
static void function_reach(struct cosy_builder *b)
{
	bool more = true;

	for (u32 i = 0; i < b->functions.count; i++)
		b->functions.at[i].reached = i == 0;
	while (more) {
		more = false;
		for (u32 i = 0; i < b->functions.count; i++) {
			const struct libcosy_code_of *code = &b->functions.at[i];

			for (u32 j = 0; code->reached && j < code->fixups.count; j++) {
				const struct libcosy_fixup *fixup = &code->fixups.at[j];

				if (fixup->kind != FIX_INVOKE ||
				    b->functions.at[fixup->target].reached)
					continue;
				b->functions.at[fixup->target].reached = more = true;
				if (!b->functions.at[fixup->target].defined) {
					b->statement = fixup->statement;
					libcosy_build_mistake(b, -EINVAL,
							      "function %u is not defined",
							      fixup->target);
				}
			}
		}
	}
}

/* The exit that stands at the end of the compound's own code. */
static const struct bpf_insn ending[] = {
	{.code = BPF_ALU64 | BPF_K | BPF_MOV, .dst_reg = BPF_REG_0},
	{.code = BPF_JMP | BPF_EXIT},
};
#define ENDING (sizeof(ending) / sizeof(*ending))

/* STEP 3: place the functions: starts[i] instructions come before function i. */
static u32 functions_lay_out(const struct cosy_builder *b, u32 *starts)
{
	u32 at = 0;

	for (u32 i = 0; i < b->functions.count; i++) {
		starts[i] = at;
		if (b->functions.at[i].reached)
			at += b->functions.at[i].insns.count + (i ? 0 : ENDING);
	}
	return at;
}

/* STEP 4: copy and fix. */
static void function_write(struct cosy_builder *b, u32 which, const u32 *starts,
			   struct bpf_insn *out)
{
	const struct libcosy_code_of *code = &b->functions.at[which];
	struct bpf_insn *to = out + starts[which];

	memcpy(to, code->insns.at, code->insns.count * sizeof(*to));
	if (!which)
		memcpy(to + code->insns.count, ending, sizeof(ending));
	for (u32 i = 0; i < code->fixups.count; i++) {
		const struct libcosy_fixup *fixup = &code->fixups.at[i];
		const struct libcosy_label_at *label;

		switch (fixup->kind) {
		case FIX_JUMP:
			label = &b->labels.at[fixup->target];
			if (label->insn == NOT_PLACED) {
				b->statement = fixup->statement;
				libcosy_build_mistake(b, -EINVAL, "goto label %u, which is nowhere",
						      fixup->target);
				return;
			}
			/* COSY_MAX_INSNS is within an offset's 16 bits. */
			to[fixup->insn].off = (s16)((s32)label->insn - (s32)fixup->insn - 1);
			break;
		case FIX_INVOKE:
			to[fixup->insn].imm =
				(s32)starts[fixup->target] - (s32)(starts[which] + fixup->insn) - 1;
			break;
		case FIX_STOPPED:
			to[fixup->insn].off = (s16)(b->vars * 8);
			break;
		}
	}
}

static u32 lines_write(const struct cosy_builder *b, const u32 *starts, struct cosy_line *out)
{
	u32 cnt = 0;

	for (u32 i = 0; i < b->functions.count; i++) {
		const struct libcosy_code_of *code = &b->functions.at[i];

		for (u32 j = 0; code->reached && j < code->lines.count; j++) {
			if (out) {
				out[cnt] = code->lines.at[j];
				out[cnt].insn += starts[i];
			}
			cnt++;
		}
	}
	return cnt;
}

static u32 align8(u32 bytes)
{
	return (bytes + 7) & ~7u;
}

static int functions_link(struct cosy_builder *b, u32 *starts, void **ret, size_t *len)
{
	struct cosy_compound header = {
		.magic = COSY_MAGIC,
		.version = COSY_ABI_VERSION,
		.header_size = sizeof(header),
		.insn_off = sizeof(header),
		.ctx_size = (b->vars + 1) * 8,
		.max_steps = b->max_steps,
		.max_kernel_ns = b->max_ns,
		.str_size = b->strings.count,
	};
	char *bytes;

	header.insn_cnt = functions_lay_out(b, starts);
	if (header.insn_cnt > COSY_MAX_INSNS) {
		libcosy_build_mistake(b, -E2BIG, "%u instructions, a compound has at most %u",
				      header.insn_cnt, COSY_MAX_INSNS);
		return b->failed;
	}
	header.line_cnt = lines_write(b, starts, NULL);
	header.line_off = header.insn_off + header.insn_cnt * sizeof(struct bpf_insn);
	header.str_off = header.line_off + header.line_cnt * sizeof(struct cosy_line);
	header.size = align8(header.str_off + header.str_size);

	bytes = calloc(1, header.size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &header, sizeof(header));
	for (u32 i = 0; i < b->functions.count; i++)
		if (b->functions.at[i].reached)
			function_write(b, i, starts, (struct bpf_insn *)(bytes + header.insn_off));
	lines_write(b, starts, (struct cosy_line *)(bytes + header.line_off));
	memcpy(bytes + header.str_off, b->strings.at, header.str_size);
	if (b->failed) {
		free(bytes);
		return b->failed;
	}
	*ret = bytes;
	*len = header.size;
	return 0;
}

int cosy_compile(struct cosy_builder *b, void **ret, size_t *len, struct cosy_error *error)
{
	u32 statement = b->statement, *starts = NULL;
	int err;

	if (!b->failed)
		builder_check_complete(b);
	if (!b->failed)
		function_reach(b);
	err = b->failed;
	if (!err) {
		starts = calloc(b->functions.count, sizeof(*starts));
		err = starts ? functions_link(b, starts, ret, len) : -ENOMEM;
	}
	free(starts);
	b->statement = statement;
	if (err && error) {
		*error = b->error;
		if (!b->failed)
			*error = (struct cosy_error){.insn = ~0u, .reason = "out of memory"};
	}
	return err;
}
