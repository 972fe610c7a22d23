/* SPDX-License-Identifier: GPL-2.0 */
/*
 * call.S - a compound's calls: system calls through the kernel's dispatcher, specialised calls and
 * operations through C functions of their own (core/ops.def), and local calls.
 */
#include <linux/errno.h>
#include "run/calling.h"

.text

/* --- System calls ----------------------------------------------------------------- */

/*
 * Asks C whether somebody is to see the call AX = insn << 16 | (number - r9d).  Every register
 * of the program and r10 survive.  Returns r9d = 0: nobody is; otherwise the caller leaves.  r11
 * = RUN.
 */
SYM_START(cosy_ask_watched, SYM_L_LOCAL, .balign 16)
	ANNOTATE_NOENDBR
	push	%r10
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%r10d, %esi
	mov	%r9d, %edx
	call	cosy_leave_watched
	movzbl	%al, %r9d
	CLEAR_AFTER_C
	RESTORE_R0_TO_R5
	pop	%r10
	mov	STATE, %r11
	RET
SYM_END(cosy_ask_watched, SYM_T_FUNC)

/* Leaves after the call in slot INSN, which is done.  r11 is RUN with its status set. */
SYM_CODE_START_LOCAL(cosy_leave_after)
	UNWIND_HINT_FUNC
	mov	INSN, %r9
	shr	$16, %r9d
	inc	%r9d
	mov	%r9d, RUN_INSN(%r11)
	jmp	cosy_leave
SYM_CODE_END(cosy_leave_after)

/*
 * Gives signals, most task work, other tasks and a limit of time their turn after a call, whose
 * result is in place.
 */
SYM_CODE_START_LOCAL(cosy_after_call)
	UNWIND_HINT_FUNC
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	STATE, %rdi
	call	cosy_safepoint_after
	mov	%eax, %r9d
	CLEAR_AFTER_C
	RESTORE_R0_TO_R5
	mov	STATE, %r11
	test	%r9d, %r9d
	jnz	1f
	RET
1:	mov	%r9d, RUN_STATUS(%r11)
	jmp	cosy_leave_after
SYM_CODE_END(cosy_after_call)

/* Makes a system call.  AX = insn << 16 | number, arguments in r1-r5 and r0. */
THUNK cosy_thunk_syscall
	SPEND_FUEL .Lcall_refuel
	LEAVE_IF_WATCHED .Lcall_watched
	cmpl	$0, RUN_HELD(%r11)
	jne	.Lcall_drop
.Lcall_dropped:
	movq	$KNOWN_NONE, RUN_KNOWN(%r11)
	movq	$KNOWN_NONE, RUN_KNOWN + 8(%r11)
	incq	RUN_CALLS(%r11)
	sub	$PT_SIZE, %rsp
	mov	%r10, INSN
	mov	%rdi, PT_DI(%rsp)
	mov	%rsi, PT_SI(%rsp)
	mov	%rdx, PT_DX(%rsp)
	mov	%rcx, PT_R10(%rsp)
	mov	%r8, PT_R8(%rsp)
	mov	%rax, PT_R9(%rsp)
	FORGET_BRANCHES
	movzwl	%r10w, %esi
	mov	%rsp, %rdi
	STATIC_CALL cosy_dispatch
	lea	ERESTART_RESTARTBLOCK(%rax), %r9
	cmp	$(ERESTART_RESTARTBLOCK - ERESTARTSYS), %r9
	jbe	.Lcall_restart
.Lcall_done:
	add	$PT_SIZE, %rsp
	ZERO_AFTER_C
	mov	STATE, %r11
	RETURN_FROM_CALL

	/*
	 * An ordinary call may sleep, and may read memory into which a view has not been written
	 * back.
	 */
.Lcall_drop:
	push	%r10
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	%rdx, %r8
	mov	%rsi, %rcx
	mov	%rdi, %rdx
	movzwl	%r10w, %esi
	mov	%r11, %rdi
	call	cosy_held_drop_for
	RESTORE_R0_TO_R5
	pop	%r10
	mov	STATE, %r11
	jmp	.Lcall_dropped

	REFUEL .Lcall_refuel
	WATCHED .Lcall_watched

	/* -ERESTARTSYS to -ERESTART_RESTARTBLOCK are restart codes, except -ENOIOCTLCMD. */
.Lcall_restart:
	cmp	$(ERESTART_RESTARTBLOCK - ENOIOCTLCMD), %r9
	je	.Lcall_done
	mov	STATE, %r11
	mov	%rax, RUN_CODE(%r11)
	movl	$LEFT_CALL, RUN_STATUS(%r11)
	mov	INSN, %r9
	shr	$16, %r9d
	mov	%r9d, RUN_INSN(%r11)
	mov	PT_DI(%rsp), %rdi
	mov	PT_SI(%rsp), %rsi
	mov	PT_DX(%rsp), %rdx
	mov	PT_R10(%rsp), %rcx
	mov	PT_R8(%rsp), %r8
	mov	PT_R9(%rsp), %rax
	add	$PT_SIZE, %rsp
	jmp	cosy_leave_unspent

THUNK_END cosy_thunk_syscall

/* --- Calls and operations by C functions of their own ------------------------------ */

/* Bytes of PUSH_ARRAY. */
#define ARGUMENTS_SIZE (6 * 8)

/*
 * Calls cosy_call_NAME(r11 = RUN, the arguments as an array, AX).  RUN_STATUS then says whether to
 * leave.
 */
.macro CALL_BY_ARRAY name
	PUSH_ARRAY
	FORGET_BRANCHES
	mov	%r11, %rdi
	mov	%rsp, %rsi
	mov	%r10d, %edx
	call	cosy_call_\name
	mov	STATE, %r11
	cmpl	$0, RUN_STATUS(%r11)
	jne	.Lleave_\name
	add	$ARGUMENTS_SIZE, %rsp
	ZERO_AFTER_C
.endm

/*
 * Leaves with the arguments as C has left them: an operation that resumes has brought r1-r5 up to
 * date.
 */
.macro LEAVE_BY_ARRAY name
.Lleave_\name:
	POP_ARRAY
	jmp	cosy_leave_unspent
	REFUEL .Lrefuel_\name
.endm

/* Makes an operation on memory.  AX = insn << 16 | operation, arguments in r1-r5. */
.macro OP_THUNK name
THUNK cosy_thunk_\name
	SPEND_FUEL .Lrefuel_\name
	mov	STATE, %r11
	CALL_BY_ARRAY \name
	RET
	LEAVE_BY_ARRAY \name
THUNK_END cosy_thunk_\name
.endm

/*
 * Makes a specialised call or, where `watched` is WATCHED_OP, a composite.  AX = insn << 16 |
 * number, arguments in r1-r5 and r0.
 */
.macro CALL_THUNK name, watched
THUNK cosy_thunk_\name
	SPEND_FUEL .Lrefuel_\name
	LEAVE_IF_WATCHED .Lwatched_\name
	testl	$HELD_FAULTS, RUN_HELD(%r11)
	jnz	.Lfaults_\name
.Lfaults_\name\()_allowed:
	incq	RUN_CALLS(%r11)
	mov	%r10, INSN
	CALL_BY_ARRAY \name
	RETURN_FROM_CALL
	LEAVE_BY_ARRAY \name
	/* cosy_faults_allow */
.Lfaults_\name:
	andl	$~HELD_FAULTS, RUN_HELD(%r11)
	decl	TASK_NO_FAULTS(%r9)
	jmp	.Lfaults_\name\()_allowed
	\watched .Lwatched_\name
THUNK_END cosy_thunk_\name
.endm

#define COSY_FAST_CALL(number, name, args, flags, views)	  CALL_THUNK name, WATCHED;
#define COSY_COMPOSITE(number, name, args, flags, views, ...) CALL_THUNK name, WATCHED_OP;
#define COSY_OP(number, name, args, flags)			  OP_THUNK name;
#include "ops.def"

/* Answers getpid, which takes no arguments and does not sleep.  AX = insn << 16 | its number. */
THUNK cosy_thunk_getpid
	SPEND_FUEL .Lpid_refuel
	LEAVE_IF_WATCHED .Lpid_watched
	incq	RUN_CALLS(%r11)
	mov	RUN_PID(%r11), %rax
	test	%rax, %rax
	jz	.Lpid_ask
.Lpid_known:
	ZERO_R1_TO_R5
	testl	$CALL_WORK, TASK_FLAGS(%r9)
	jnz	.Lpid_work
	RET

.Lpid_ask:
	push	%r10
	FORGET_BRANCHES
	mov	%r11, %rdi
	call	cosy_ask_pid
	CLEAR_AFTER_C
	pop	%r10
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	jmp	.Lpid_known
.Lpid_work:
	mov	%r10, INSN
	jmp	cosy_after_call
	REFUEL .Lpid_refuel
	WATCHED .Lpid_watched
THUNK_END cosy_thunk_getpid

/* --- Local calls ------------------------------------------------------------------- */

/* Calls a function of frame.h with the registers saved here, the end of the frame, and AX. */
.macro CALL_FRAME function
	SAVE_R0_TO_R5
	SAVE_R6_TO_R9
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%rsp, %rsi
	lea	-SLOT_SIZE(%rbp), %rdx
	mov	%r10d, %ecx
	call	\function
.endm

/* Pushes a frame.  AX = insn << 16 | caller's words << 8 | callee's words. */
THUNK cosy_thunk_push
	SPEND_FUEL .Lpush_refuel
	CALL_FRAME cosy_frame_push
	mov	%eax, %r9d
	RESTORE_R6_TO_R9
	RESTORE_R0_TO_R5
	test	%r9d, %r9d
	jnz	.Lpush_leave
	RET
.Lpush_leave:
	mov	STATE, %r11
	jmp	cosy_leave_unspent
	REFUEL .Lpush_refuel
THUNK_END cosy_thunk_push

/* Pops a frame.  AX = insn; returns AX = the local call to go on after. */
THUNK cosy_thunk_pop
	SPEND_FUEL .Lpop_refuel
	CALL_FRAME cosy_frame_pop
	mov	%rax, %r10
	RESTORE_R6_TO_R9
	RESTORE_R0_TO_R5
	test	%r10, %r10
	js	.Lpop_leave
	RET
.Lpop_leave:
	mov	STATE, %r11
	jmp	cosy_leave_unspent
	REFUEL .Lpop_refuel, 0
THUNK_END cosy_thunk_pop
