/* SPDX-License-Identifier: GPL-2.0 */
/*
 * calling.h - the calling convention between C and compiled compounds, for enter.S, access.S
 * and call.S.
 *
 * The kernel's JIT keeps the program's registers thus:
 *
 *	r0 rax   r1 rdi   r2 rsi   r3 rdx   r4 rcx   r5 r8
 *	r6 rbx   r7 r13   r8 r14   r9 r15   frame rbp   AX r10
 *
 * r12 is the base of based code (core.h), r9 and r11 are free.  A thunk gets its argument in
 * AX and in slots below rbp (enum cosy_slot), answers in AX, and keeps every register of the
 * program except those that core.h names.  r11 mostly holds the struct cosy_activation, RUN.
 *
 * A leave saves the program's registers and spill frame as they are.  So when a thunk leaves, they
 * must have the program's values, never the kernel's.
 */
/* The assembler's macros: */
/* clang-format off */
#ifndef COSY_CALLING_H
#define COSY_CALLING_H

#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/alternative.h>
#include <asm/asm.h>
#include <asm/cpufeatures.h>
#include <asm/nospec-branch.h>
#include <asm/page_types.h>
#include <asm/smap.h>
#include <asm/unwind_hints.h>
#include "compat/compat.h"
#include "run/offsets.h"

#define STATE	SLOT_STATE(%rbp)
#define FUEL	SLOT_FUEL(%rbp)
#define VALUE	SLOT_VALUE(%rbp)
#define INSN	SLOT_INSN(%rbp)
#define INSN_TOP (SLOT_INSN + 3)(%rbp)

/* A thunk has no ENDBR, which would cost: only direct calls from compiled code reach it. */
.macro THUNK name
SYM_START(\name, SYM_L_GLOBAL, .balign 16)
	ANNOTATE_NOENDBR
.endm
.macro THUNK_END name
SYM_END(\name, SYM_T_FUNC)
.endm

/*
 * Clears the branch history of the compound, as the kernel's entry code clears that of user mode,
 * so that it steers no indirect branch of the kernel.  Used before every call of C and at the end.
 * The bytes are the instruction IBHF, in all kernels: a virtual machine cannot know which kind of
 * processor its next host will have, and older ones take it for a no-op.  Processors that need
 * their returns untrained have no IBHF and do that instead.  Changes rax, rcx and rdx.
 */
#define IBHF .byte 0xf3, 0x48, 0x0f, 0x1e, 0xf8
.macro FORGET_BRANCHES
#ifdef COSY_CLEARS_HISTORY
	ALTERNATIVE "", "call clear_bhb_loop", X86_FEATURE_CLEAR_BHB_LOOP
#endif
#ifdef COSY_UNTRAINS_RETURNS
	ALTERNATIVE_2 __stringify(IBHF), \
		      "call cosy_untrain_returns", X86_FEATURE_UNRET, \
		      "call cosy_untrain_returns", X86_FEATURE_ENTRY_IBPB
#else
	IBHF
#endif
.endm

.macro SAVE_R0_TO_R5
	push	%rax
	push	%rdi
	push	%rsi
	push	%rdx
	push	%rcx
	push	%r8
.endm
.macro RESTORE_R0_TO_R5
	pop	%r8
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	pop	%rax
.endm

/* Pushes r0-r5 as an array for C. */
.macro PUSH_ARRAY
	push	%r8
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%rax
.endm
.macro POP_ARRAY
	pop	%rax
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%r8
.endm

#define ZERO_R1_TO_R5 \
	xor	%edi, %edi; \
	xor	%esi, %esi; \
	xor	%edx, %edx; \
	xor	%ecx, %ecx; \
	xor	%r8d, %r8d

/*
 * Zeroes r1-r5 on the way back from C.  Where the kernel clears the processor's buffers on the
 * way to user mode (load/processor.c), it clears them, too, so that nothing of C's work is left
 * in them.  Changes flags.
 */
.macro ZERO_AFTER_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE __stringify(ZERO_R1_TO_R5), "call cosy_clear_and_zero", \
		    X86_FEATURE_CLEAR_CPU_BUF
#else
	ZERO_R1_TO_R5
#endif
.endm

/* Clears the buffers likewise on the way in: r11 = the code, r1 = its argument. */
#define MOVE_TO_ENTER mov %rdi, %r11; mov %rsi, %rdi
.macro MOVE_AFTER_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE __stringify(MOVE_TO_ENTER), "call cosy_clear_and_move", \
		    X86_FEATURE_CLEAR_CPU_BUF
#else
	MOVE_TO_ENTER
#endif
.endm

/*
 * Clears the buffers on the slow ways back from C, where one instruction more does not matter.
 * Not needed where C only accesses the user's own memory: a fault there leaves no more in the
 * buffers than one at the compound's own accesses.
 */
.macro CLEAR_AFTER_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE "", "call cosy_clear_buffers", X86_FEATURE_CLEAR_CPU_BUF
#endif
.endm

/* Pushes r6-r9 as an array for C. */
.macro SAVE_R6_TO_R9
	push	%r15
	push	%r14
	push	%r13
	push	%rbx
.endm
.macro RESTORE_R6_TO_R9
	pop	%rbx
	pop	%r13
	pop	%r14
	pop	%r15
.endm

/*
 * Spends one fuel on an operation.  AX = insn << 16 | anything; or, with a shift of 0, the
 * instruction.  `refuel` is the label of REFUEL, which stands out of line.
 */
.macro SPEND_FUEL refuel
	decq	FUEL
	jle	\refuel
\refuel\()_done:
.endm
.macro REFUEL refuel, shift=16
\refuel:
	mov	%r10d, %r9d
	.if	\shift
	shr	$\shift, %r9d
	.endif
	call	cosy_refuel
	test	%r9d, %r9d
	jz	\refuel\()_done
	jmp	cosy_leave_unspent
.endm

/*
 * Leaves if a tracer, filter or auditor must see this call.  r11 = RUN, r9 = the task.
 * `watched` is the label of WATCHED or WATCHED_OP, which stands out of line.
 */
.macro LEAVE_IF_WATCHED watched
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	testq	$TRACED, TASK_SYSCALL_WORK(%r9)
	jnz	\watched
\watched\()_not:
.endm

/*
 * Decides about a call with an armed observer.  AX = insn << 16 | number, r9 = the task.
 * Where only filters are armed, the newest one's bitmap says whether all of them let this call,
 * the one that libc makes in its place, and RUN through, as cosy_filter_allows reads it.  Otherwise
 * C decides.
 */
.macro WATCHED watched
\watched:
#ifdef CONFIG_SECCOMP_FILTER
	mov	TASK_SYSCALL_WORK(%r9), %r11
	and	$TRACED, %r11
	cmp	$FILTERED, %r11
	jne	\watched\()_ask
	mov	TASK_FILTER(%r9), %r11
	test	%r11, %r11
	jz	\watched\()_ask
	movzwl	%r10w, %r9d
	cmp	cosy_filter_call_cnt(%rip), %r9d
	jae	\watched\()_ask
	add	cosy_filter_bitmap_offset(%rip), %r11
	bt	%r9, (%r11)
	jnc	\watched\()_ask
	xorw	cosy_filter_also(, %r9, 2), %r9w
	bt	%r9, (%r11)
	jnc	\watched\()_ask
	testb	$1 << (NR_IOCTL % 8), NR_IOCTL / 8(%r11)
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	jnz	\watched\()_not
\watched\()_ask:
#endif
	WATCHED_BY_C \watched, 0
.endm

/* Has C decide about the calls that an operation makes.  AX = insn << 16 | operation. */
.macro WATCHED_OP watched
\watched:
	WATCHED_BY_C \watched, OP_BASE
.endm

.macro WATCHED_BY_C watched, base
	mov	$\base, %r9d
	call	cosy_ask_watched
	test	%r9d, %r9d
	mov	RUN_TASK(%r11), %r9
	jz	\watched\()_not
	jmp	cosy_leave_unspent
.endm

/* Returns to the program, unless something is due or may be (cosy_after_call).  r11 is RUN. */
.macro RETURN_FROM_CALL
	mov	RUN_TASK(%r11), %r9
	testl	$CALL_WORK, TASK_FLAGS(%r9)
	jnz	cosy_after_call
	mov	RUN_ATTENTION(%r11), %r9
	cmpb	$0, (%r9)
	jne	cosy_after_call
	RET
.endm

/*
 * Makes a static call, by the name that the compiler would give its trampoline.  objtool notes
 * the place, for which it has to see the name of the call's key here, too.
 */
.macro STATIC_CALL name
	call	__SCT__\name
	.pushsection .discard.addressable, "aw"
	.quad	__SCK__\name
	.popsection
.endm

#endif /* COSY_CALLING_H */
