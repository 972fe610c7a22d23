/* SPDX-License-Identifier: GPL-2.0 */
/*
 * enter.S - entry into compiled code and exit from it: cosy_enter, a leave in the middle, the
 * safepoint after the last fuel, and clearing the processor's state in between.
 */
#include "run/calling.h"

.text

#ifdef COSY_UNTRAINS_RETURNS
SYM_CODE_START(cosy_untrain_returns)
	UNWIND_HINT_FUNC
	ALTERNATIVE_2 "", "call entry_untrain_ret", X86_FEATURE_UNRET, \
			  "call srso_alias_untrain_ret", X86_FEATURE_SRSO_ALIAS
	ALTERNATIVE "", "call entry_ibpb", X86_FEATURE_ENTRY_IBPB
	RET
SYM_CODE_END(cosy_untrain_returns)
#endif

#ifdef COSY_CLEARS_BUFFERS
SYM_CODE_START(cosy_clear_and_zero)
	UNWIND_HINT_FUNC
	verw	x86_verw_sel(%rip)
	ZERO_R1_TO_R5
	RET
SYM_CODE_END(cosy_clear_and_zero)

SYM_CODE_START(cosy_clear_and_move)
	UNWIND_HINT_FUNC
	verw	x86_verw_sel(%rip)
	MOVE_TO_ENTER
	RET
SYM_CODE_END(cosy_clear_and_move)

SYM_CODE_START(cosy_clear_buffers)
	UNWIND_HINT_FUNC
	verw	x86_verw_sel(%rip)
	RET
SYM_CODE_END(cosy_clear_buffers)
#endif

/* --- Entering and leaving ----------------------------------------------------- */

/* u64 cosy_enter(const void *code, struct cosy_activation *run) */
SYM_FUNC_START(cosy_enter)
	push	%rbp
	push	%rbx
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, RUN_STACK_POINTER(%rsi)
	/*
	 * The base of based code's accesses.  The program cannot name the register; thunks and C
	 * keep it.
	 */
	mov	RUN_BASE(%rsi), %r12
	MOVE_AFTER_C
	CALL_NOSPEC r11
	mov	%rax, %rbx
	FORGET_BRANCHES
	mov	%rbx, %rax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbx
	pop	%rbp
	RET
SYM_FUNC_END(cosy_enter)

/*
 * Saves the program's registers and spill frame and has cosy_enter return.  r11 is RUN, whose
 * status, insn and detail are set.
 */
SYM_CODE_START(cosy_leave)
	UNWIND_HINT_FUNC
	mov	%rax, RUN_REG + 0 * 8(%r11)
	mov	%rdi, RUN_REG + 1 * 8(%r11)
	mov	%rsi, RUN_REG + 2 * 8(%r11)
	mov	%rdx, RUN_REG + 3 * 8(%r11)
	mov	%rcx, RUN_REG + 4 * 8(%r11)
	mov	%r8, RUN_REG + 5 * 8(%r11)
	mov	%rbx, RUN_REG + 6 * 8(%r11)
	mov	%r13, RUN_REG + 7 * 8(%r11)
	mov	%r14, RUN_REG + 8 * 8(%r11)
	mov	%r15, RUN_REG + 9 * 8(%r11)
	mov	FUEL, %rax
	mov	%rax, RUN_FUEL(%r11)
	mov	RUN_FRAME_WORDS(%r11), %rcx
	lea	(, %rcx, 8), %rax
	lea	-SLOT_SIZE(%rbp), %rsi
	lea	RUN_FRAME + SPILL_SIZE(%r11), %rdi
	sub	%rax, %rsi
	sub	%rax, %rdi
	rep movsq
	/*
	 * The processor expects two returns: the thunk's into the compiled code and the compiled
	 * code's to cosy_enter.  It gets both, so that it does not take later returns for these.
	 * It mispredicts the first: the compiled code then continues with only the
	 * program's own frame, r6-r9 and zeros.
	 */
	lea	.Lleave_expected(%rip), %rax
	mov	%rax, (%rsp)
	ZERO_R1_TO_R5
	xor	%r10d, %r10d
	xor	%eax, %eax
	RET
.Lleave_expected:
	ANNOTATE_NOENDBR /* only the RET above leads here */
	UNWIND_HINT_FUNC
	mov	RUN_STACK_POINTER(%r11), %rsp
	sub	$8, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(cosy_leave)

/* Leaves before an operation that fuel was spent on already; that is given back.  r11 is RUN. */
SYM_CODE_START(cosy_leave_unspent)
	UNWIND_HINT_FUNC
	incq	FUEL
	jmp	cosy_leave
SYM_CODE_END(cosy_leave_unspent)

/* --- Fuel --------------------------------------------------------------------- */

/*
 * Has C decide at the instruction in r9d.  Every register of the program and r10 survive.
 * Returns r9d = 0: there is new fuel; otherwise the caller leaves, with r11 = RUN.
 */
SYM_START(cosy_refuel, SYM_L_GLOBAL, .balign 16)
	ANNOTATE_NOENDBR
	push	%r10
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%r9d, %esi
	call	cosy_safepoint
	mov	%eax, %r9d
	CLEAR_AFTER_C
	RESTORE_R0_TO_R5
	pop	%r10
	mov	STATE, %r11
	test	%r9d, %r9d
	jnz	1f
	mov	RUN_FUEL(%r11), %r9
	mov	%r9, FUEL
	xor	%r9d, %r9d
1:	RET
SYM_END(cosy_refuel, SYM_T_FUNC)

/* Refills fuel at a back edge, or leaves.  AX = its target: the branch is taken already. */
THUNK cosy_thunk_safepoint
	mov	%r10d, %r9d
	call	cosy_refuel
	test	%r9d, %r9d
	jnz	cosy_leave
	RET
THUNK_END cosy_thunk_safepoint
