// SPDX-License-Identifier: GPL-2.0
/*
 * frame.c - the software stack.
 *
 * One native frame serves a whole compound.  A local call saves the caller's state in memory that
 * the user may change at any time.  So every word that is read back is checked (the return point,
 * the next frame) or harmless (the program's own registers and spilled words).
 */
#include <linux/align.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "load/program.h"
#include "memory/access.h"
#include "memory/operations.h"
#include "run/frame.h"
#include "view/view.h"

#define STACK_ALIGN 16

static void stack_leave_full(struct cosy_activation *run, u32 insn, u64 needed)
{
	cosy_leave_at(run, COSY_LEFT_STACK, insn, needed);
}

static void stack_leave_fault(struct cosy_activation *run, u32 insn, u64 offset)
{
	cosy_leave_at(run, COSY_LEFT_FAULT, insn, (unsigned long)run->stack + offset);
}

/* Finds where the next `size` bytes of the stack start; false when it has no room for them. */
static bool stack_has_room(const struct cosy_activation *run, u64 size, u64 *at)
{
	*at = ALIGN(run->sp, STACK_ALIGN);
	return *at >= run->sp && *at <= run->stack_size && run->stack_size - *at >= size;
}

static u64 frame_size(u32 words)
{
	return ALIGN(sizeof(struct cosy_frame) + words * sizeof(u64), STACK_ALIGN);
}

static bool frame_write(struct cosy_frame __user *frame, u64 call, u64 fp, const u64 *saved,
			const u64 *spill, u32 words)
{
	u32 i;

	if (!user_write_access_begin(frame, sizeof(*frame) + words * sizeof(u64)))
		return false;
	unsafe_put_user(call, &frame->call, fault);
	unsafe_put_user(fp, &frame->fp, fault);
	for (i = 0; i < 4; i++)
		unsafe_put_user(saved[i], frame->reg + i, fault);
	for (i = 0; i < words; i++)
		unsafe_put_user(spill[i], frame->spill + i, fault);
	user_write_access_end();
	return true;

fault:
	user_write_access_end();
	return false;
}

u32 cosy_frame_push(struct cosy_activation *run, const u64 *saved, u64 *top, u32 word)
{
	u32 insn = word >> 16, words = word >> 8 & 0xff, callee_words = word & 0xff;
	u64 at;

	if (!stack_has_room(run, frame_size(words), &at)) {
		stack_leave_full(run, insn, ALIGN(run->sp, STACK_ALIGN) + frame_size(words));
		return 1;
	}
	if (!frame_write(run->stack + at, insn, run->fp, saved, top - words, words)) {
		stack_leave_fault(run, insn, at);
		return 1;
	}
	run->fp = at;
	run->sp = at + frame_size(words);
	memset(top - callee_words, 0, callee_words * sizeof(*top));
	return 0;
}

static bool frame_read(const struct cosy_frame __user *frame, u64 *fp, u64 *saved, u64 *spill,
		       u32 words)
{
	const struct cosy_frame *from = (const void __force *)frame;
	int fault = 0;
	u32 i;

	if (!user_read_access_begin(frame, sizeof(*frame) + words * sizeof(u64)))
		return false;
	*fp = cosy_peek_word(&from->fp, &fault);
	for (i = 0; i < 4; i++)
		saved[i] = cosy_peek_word(from->reg + i, &fault);
	for (i = 0; i < words; i++)
		spill[i] = cosy_peek_word(from->spill + i, &fault);
	user_read_access_end();
	if (likely(!fault))
		return true;
	/* A read that faulted may leave words of the kernel's there, which a leave would show. */
	memset(saved, 0, 4 * sizeof(*saved));
	memset(spill, 0, words * sizeof(*spill));
	return false;
}

s64 cosy_frame_pop(struct cosy_activation *run, u64 *saved, u64 *top, u32 insn)
{
	const struct cosy_frame __user *frame;
	u64 at = run->fp, call, fp;
	int words;

	if (at % sizeof(u64) || at >= run->stack_size ||
	    run->stack_size - at < sizeof(struct cosy_frame))
		goto trap;
	frame = run->stack + at;
	if (get_user(call, &frame->call))
		goto fault;
	words = cosy_program_call_words(run->prog, call);
	if (words < 0 || run->stack_size - at < frame_size(words))
		goto trap;
	if (!frame_read(frame, &fp, saved, top - words, words))
		goto fault;
	if (unlikely(cosy_has_views(run)))
		cosy_views_end_memory(run, (unsigned long)run->stack + at, run->sp - at);
	run->fp = fp;
	run->sp = at;
	return call;

trap:
	cosy_leave_at(run, COSY_LEFT_TRAP, insn, 0);
	return -1;
fault:
	stack_leave_fault(run, insn, at);
	return -1;
}

u64 cosy_op_alloca(struct cosy_activation *run, u64 *r)
{
	u64 size = r[1], at;

	if (!stack_has_room(run, size, &at) || ALIGN(size, STACK_ALIGN) > run->stack_size - at) {
		stack_leave_full(run, run->insn, ALIGN(run->sp, STACK_ALIGN) + size);
		return 0;
	}
	run->sp = at + ALIGN(size, STACK_ALIGN);
	return (unsigned long)run->stack + at;
}
