// SPDX-License-Identifier: MIT
/* insn.c - see insn.h; Capstone decodes. */
#include <capstone/capstone.h>
#include <errno.h>

#include "advise/insn.h"

struct decoder {
	csh capstone;
	cs_insn *insn;
};

struct decoder *decoder_create(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->capstone) == CS_ERR_OK) {
		cs_option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON);
		decoder->insn = cs_malloc(decoder->capstone);
	}
	if (decoder->insn)
		return decoder;
	decoder_destroy(decoder);
	return NULL;
}

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	if (decoder->capstone)
		cs_close(&decoder->capstone);
	free(decoder);
}

/* Takes a jump that may not be made. */
static enum insn_kind branch_kind(unsigned int id)
{
	return id == X86_INS_JE	   ? INSN_BRANCH_EQUAL
	       : id == X86_INS_JNE ? INSN_BRANCH_UNEQUAL
				   : INSN_BRANCH;
}

/* Takes a jump or a call by a register or memory. */
static void pointer_classify(const cs_insn *insn, struct insn *ret)
{
	const cs_x86_op *to = insn->detail->x86.operands;

	if (insn->id == X86_INS_JMP) {
		/*
		 * A table of addresses, or a call at the end, which is of a member or a variable.
		 */
		ret->kind = to->type == X86_OP_REG || to->mem.index != X86_REG_INVALID
				    ? INSN_POINTER_JUMP
				    : INSN_END;
	} else if (to->type == X86_OP_MEM && to->mem.base == X86_REG_RIP) {
		ret->kind = INSN_MEMORY_CALL;
		ret->target = insn->size + to->mem.disp;
	} else {
		ret->kind = INSN_POINTER_CALL;
	}
}

static void insn_classify(csh capstone, const cs_insn *insn, struct insn *ret)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *first = x86->operands;

	if (insn->id == X86_INS_CALL || cs_insn_group(capstone, insn, X86_GRP_JUMP)) {
		if (first->type != X86_OP_IMM) {
			pointer_classify(insn, ret);
			return;
		}
		ret->kind = insn->id == X86_INS_CALL  ? INSN_CALL
			    : insn->id == X86_INS_JMP ? INSN_JUMP
						      : branch_kind(insn->id);
		ret->target = first->imm;
	} else if (cs_insn_group(capstone, insn, X86_GRP_RET) || insn->id == X86_INS_HLT ||
		   insn->id == X86_INS_INT3 || insn->id == X86_INS_UD2) {
		ret->kind = INSN_END;
	} else if (insn->id == X86_INS_CMP && x86->op_count == 2 && first->size == 4 &&
		   first[1].type == X86_OP_IMM && first[1].imm == EINTR) {
		ret->kind = INSN_COMPARE_EINTR;
	}
}

unsigned int insn_decode(struct decoder *decoder, const uint8_t *code, size_t size,
			 struct insn *ret)
{
	uint64_t address = 0;

	*ret = (struct insn){INSN_OTHER, 0};
	if (!cs_disasm_iter(decoder->capstone, &code, &size, &address, decoder->insn))
		return 0;
	insn_classify(decoder->capstone, decoder->insn, ret);
	return decoder->insn->size;
}
