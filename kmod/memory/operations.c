// SPDX-License-Identifier: GPL-2.0
/* operations.c - which operation (COSY_OP_BASE up) is whose. */
#include <linux/cosy.h>
#include "memory/memory_ops.h"
#include "memory/operations.h"
#include "memory/scan_ops.h"
#include "run/frame.h"
#include "view/view.h"

/* The numbers of ops.def. */
enum {
#define COSY_OP(number, name, args, flags) OP_##name = (number),
#include "ops.def"
};

u64 cosy_op(struct cosy_activation *run, u64 *r, u32 word)
{
	u64 to = r[1];
	u8 byte = r[2];

	run->ops++;
	run->insn = word >> 16;
	run->op_work = 0;
	run->op_resumes = false;
	switch (word & 0xffff) {
	case OP_ctx:
		return run->ctx;
	case OP_trap:
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	case OP_fence:
		smp_mb();
		return 0;
	case OP_alloca:
		return cosy_frame_alloca(run, r[1], run->insn);
	case OP_memcpy:
	case OP_memmove:
		run->op_resumes = true;
		cosy_memmove(run, &r[1], &r[2], &r[3]);
		return 0;
	case OP_memset:
		run->op_resumes = true;
		cosy_memset(run, &r[1], byte, &r[3]);
		return 0;
	case OP_memcmp:
		return cosy_memcmp(run, r[1], r[2], r[3]);
	case OP_memchr:
		return cosy_find_byte(run, r[1], r[3], byte);
	case OP_memrchr:
		return cosy_memrchr(run, r[1], byte, r[3]);
	case OP_memmem:
		return cosy_memmem(run, r[1], r[2], r[3], r[4]);
	case OP_strlen:
		return cosy_strnlen(run, r[1], ~0ull);
	case OP_strnlen:
		return cosy_strnlen(run, r[1], r[2]);
	case OP_strcmp:
		return cosy_strncmp(run, r[1], r[2], ~0ull);
	case OP_strncmp:
		return cosy_strncmp(run, r[1], r[2], r[3]);
	case OP_strchr:
		return cosy_strchr(run, r[1], byte);
	case OP_strrchr:
		return cosy_strrchr(run, r[1], byte);
	case OP_strcpy:
		cosy_stpcpy(run, r[1], r[2]);
		return to;
	case OP_stpcpy:
		return cosy_stpcpy(run, r[1], r[2]);
	case OP_strncpy:
		cosy_strncpy(run, r[1], r[2], r[3]);
		return to;
	case OP_strchrnul:
		return cosy_find_byte_or_end(run, r[1], byte);
	case OP_rawmemchr:
		return cosy_find_byte(run, r[1], ~0ull, byte);
	case OP_view_load:
		return cosy_load(run, r[1], r[2]);
	case OP_view_store:
		cosy_store(run, r[1], r[2], r[3]);
		return 0;
	case OP_count:
		return cosy_count(run, r[1], r[2], r[3]);
	case OP_crc32c:
		return cosy_crc32c(run, r[1], r[2], r[3]);
	case OP_discard:
		cosy_views_end_memory(run, r[1], r[2]);
		return 0;
	default:
		/* The validator knows no other. */
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	}
}
