/* SPDX-License-Identifier: GPL-2.0 */
/*
 * thunk.S - between C and compiled compounds.
 *
 * The kernel's JIT keeps the program's registers thus:
 *
 *	r0 rax   r1 rdi   r2 rsi   r3 rdx   r4 rcx   r5 r8
 *	r6 rbx   r7 r13   r8 r14   r9 r15   frame rbp   AX r10
 *
 * r12 is the base of based code (core.h), r9 and r11 are free.  A thunk gets its argument in AX and in slots below rbp
 * (enum cosy_slot), answers in AX, and keeps every register of the program but
 * those that core.h names.  r11 mostly holds the struct cosy_activation, RUN.
 *
 * A leave saves the program's registers and spill frame as they stand, so where
 * a thunk leaves they must be the program's, never the kernel's.
 */
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

#define BPF_ATOMIC_WIDE	0x100

/* Reached by direct calls from compiled code alone: no ENDBR, which would cost. */
.macro THUNK name
SYM_START(\name, SYM_L_GLOBAL, .balign 16)
	ANNOTATE_NOENDBR
.endm
.macro THUNK_END name
SYM_END(\name, SYM_T_FUNC)
.endm

/*
 * Forgets the branches that the compound took, as the kernel's entry code forgets
 * user mode's, so that they steer no indirect branch of the kernel's: before every
 * call of C and at the end.  The bytes are IBHF, which older processors take for
 * the no-op that would have to stand here anyway; a virtual machine cannot know
 * which kind its next host will be.  Processors that need their returns untrained,
 * which have no IBHF, go to do that instead.  Changes rax, rcx and rdx.
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

/* r0-r5 as an array for C */
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
 * The same on the way back from C, with nothing of what C worked on left in the processor's
 * buffers where the kernel clears them on the way to user mode (processor.c).  Changes flags.
 */
.macro ZERO_BEHIND_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE __stringify(ZERO_R1_TO_R5), "call cosy_clear_and_zero", \
		    X86_FEATURE_CLEAR_CPU_BUF
#else
	ZERO_R1_TO_R5
#endif
.endm

/* Likewise on the way in: r11 = the code, r1 = its argument. */
#define MOVE_TO_ENTER mov %rdi, %r11; mov %rsi, %rdi
.macro MOVE_BEHIND_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE __stringify(MOVE_TO_ENTER), "call cosy_clear_and_move", \
		    X86_FEATURE_CLEAR_CPU_BUF
#else
	MOVE_TO_ENTER
#endif
.endm

/*
 * For the slow ways back, since this is one instruction more.  Not where C only accesses the
 * user's own memory: what a fault does there it does at the compound's own accesses, too.
 */
.macro CLEAR_BEHIND_C
#ifdef COSY_CLEARS_BUFFERS
	ALTERNATIVE "", "call cosy_clear_buffers", X86_FEATURE_CLEAR_CPU_BUF
#endif
.endm

.text

#ifdef COSY_UNTRAINS_RETURNS
SYM_CODE_START_LOCAL(cosy_untrain_returns)
	UNWIND_HINT_FUNC
	ALTERNATIVE_2 "", "call entry_untrain_ret", X86_FEATURE_UNRET, \
			  "call srso_alias_untrain_ret", X86_FEATURE_SRSO_ALIAS
	ALTERNATIVE "", "call entry_ibpb", X86_FEATURE_ENTRY_IBPB
	RET
SYM_CODE_END(cosy_untrain_returns)
#endif

#ifdef COSY_CLEARS_BUFFERS
SYM_CODE_START_LOCAL(cosy_clear_and_zero)
	UNWIND_HINT_FUNC
	verw	x86_verw_sel(%rip)
	ZERO_R1_TO_R5
	RET
SYM_CODE_END(cosy_clear_and_zero)

SYM_CODE_START_LOCAL(cosy_clear_and_move)
	UNWIND_HINT_FUNC
	verw	x86_verw_sel(%rip)
	MOVE_TO_ENTER
	RET
SYM_CODE_END(cosy_clear_and_move)

SYM_CODE_START_LOCAL(cosy_clear_buffers)
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
	/* Of based code's accesses; the program does not name it, thunks and C leave it as it is. */
	mov	RUN_BASE(%rsi), %r12
	MOVE_BEHIND_C
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

/* r11 is RUN, whose status, insn and detail are set: cosy_enter returns. */
SYM_CODE_START_LOCAL(cosy_leave)
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
	 * The processor expects two returns: the thunk's into the compiled code and the
	 * compiled code's to cosy_enter.  It gets both, lest it takes later returns for
	 * these.  The first it will predict wrongly, so all that the compiled code would
	 * go on with are the program's own frame, r6-r9 and zeros.
	 */
	lea	.Lleave_expected(%rip), %rax
	mov	%rax, (%rsp)
	ZERO_R1_TO_R5
	xor	%r10d, %r10d
	xor	%eax, %eax
	RET
.Lleave_expected:
	UNWIND_HINT_FUNC
	mov	RUN_STACK_POINTER(%r11), %rsp
	sub	$8, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_CODE_END(cosy_leave)

/* --- Loads and stores outside the shared buffer ---------------------------------- */

/*
 * A fault at `access` goes on at `fault`.  So does a memory error in the user's page, from
 * which the kernel would not recover without MCE_SAFE: the interpreter repeats the access,
 * and the process gets the SIGBUS that it would have had.
 */
#define USER_ACCESS(access, fault) _ASM_EXTABLE_TYPE(access, fault, EX_TYPE_DEFAULT_MCE_SAFE)

/*
 * r10 = r10 when it is a user address, else all ones, without a branch that could
 * be mispredicted.  The page above the limit is never mapped, so that an access
 * may start at the last byte below it.
 */
.macro MASK_USER_ADDRESS
	ALTERNATIVE __stringify(movabs $((1 << 47) - PAGE_SIZE), %r11), \
		    __stringify(movabs $((1 << 56) - PAGE_SIZE), %r11), X86_FEATURE_LA57
	cmp	%r10, %r11
	sbb	%r11, %r11
	or	%r11, %r10
.endm

/* The address is in r10, the instruction in its slot. */
SYM_CODE_START_LOCAL(cosy_fault)
	UNWIND_HINT_FUNC
	ASM_CLAC
	mov	STATE, %r11
	mov	INSN, %r9
	mov	%r9d, RUN_INSN(%r11)
	movl	$LEFT_FAULT, RUN_STATUS(%r11)
	mov	%r10, RUN_DETAIL(%r11)
	jmp	cosy_leave
SYM_CODE_END(cosy_fault)

.macro LOAD name, insn:vararg
THUNK \name
	MASK_USER_ADDRESS
	ASM_STAC
1:	\insn
	ASM_CLAC
	RET
	USER_ACCESS(1b, cosy_fault)
THUNK_END \name
.endm

LOAD cosy_thunk_load1 movzbl (%r10), %r10d
LOAD cosy_thunk_load2 movzwl (%r10), %r10d
LOAD cosy_thunk_load4 movl (%r10), %r10d
LOAD cosy_thunk_load8 movq (%r10), %r10
LOAD cosy_thunk_loads1 movsbq (%r10), %r10
LOAD cosy_thunk_loads2 movswq (%r10), %r10
LOAD cosy_thunk_loads4 movslq (%r10), %r10

.macro STORE name, insn:vararg
THUNK \name
	MASK_USER_ADDRESS
	mov	VALUE, %r11
	ASM_STAC
1:	\insn
	ASM_CLAC
	RET
	USER_ACCESS(1b, cosy_fault)
THUNK_END \name
.endm

STORE cosy_thunk_store1 movb %r11b, (%r10)
STORE cosy_thunk_store2 movw %r11w, (%r10)
STORE cosy_thunk_store4 movl %r11d, (%r10)
STORE cosy_thunk_store8 movq %r11, (%r10)

/* --- Atomics ----------------------------------------------------------------------- */

/*
 * Only naturally aligned: a locked access across cache lines is an alignment
 * check exception on some processors, fatal in the kernel.  Others are left to
 * the interpreter, as if they faulted.
 */
SYM_CODE_START_LOCAL(cosy_atomic_misaligned)
	UNWIND_HINT_FUNC
	mov	STATE, %r11
	mov	INSN, %r9
	shr	$16, %r9
	mov	%r9d, RUN_INSN(%r11)
	movl	$LEFT_FAULT, RUN_STATUS(%r11)
	mov	%r10, RUN_DETAIL(%r11)
	jmp	cosy_leave
SYM_CODE_END(cosy_atomic_misaligned)

/* r9 holds the program's r0, which a compare-exchange loop may have changed. */
SYM_CODE_START_LOCAL(cosy_atomic_fault)
	UNWIND_HINT_FUNC
	ASM_CLAC
	mov	%r9, %rax
	jmp	cosy_atomic_misaligned
SYM_CODE_END(cosy_atomic_fault)

.macro ATOMIC_DONE old
	ASM_CLAC
	mov	\old
	mov	%r9, %rax
	RET
.endm

.macro ATOMIC_FETCH_OP op
	testl	$BPF_ATOMIC_WIDE, INSN
	jz	20f
	ASM_STAC
10:	movq	(%r10), %rax
11:	mov	%rax, %r11
	\op	VALUE, %r11
12:	lock cmpxchgq %r11, (%r10)
	jne	11b
	ATOMIC_DONE "%rax, %r10"
20:	ASM_STAC
21:	movl	(%r10), %eax
22:	mov	%eax, %r11d
	\op	VALUE, %r11d
23:	lock cmpxchgl %r11d, (%r10)
	jne	22b
	ATOMIC_DONE "%eax, %r10d"
	USER_ACCESS(10b, cosy_atomic_fault)
	USER_ACCESS(12b, cosy_atomic_fault)
	USER_ACCESS(21b, cosy_atomic_fault)
	USER_ACCESS(23b, cosy_atomic_fault)
.endm

/* AX address, slot VALUE operand, slot INSN insn << 16 | wide | BPF's number of the operation */
THUNK cosy_thunk_atomic
	MASK_USER_ADDRESS
	mov	%rax, %r9
	mov	INSN, %r11
	test	$BPF_ATOMIC_WIDE, %r11d
	jz	1f
	test	$7, %r10b
	jnz	cosy_atomic_misaligned
	jmp	2f
1:	test	$3, %r10b
	jnz	cosy_atomic_misaligned
2:	cmp	$0xf1, %r11b
	je	.Lcompare_exchange
	cmp	$0xe1, %r11b
	je	.Lexchange
	and	$0xfe, %r11b
	jz	.Ladd
	cmp	$0x40, %r11b
	je	.Lor
	cmp	$0x50, %r11b
	je	.Land
	ATOMIC_FETCH_OP xor
.Lor:	ATOMIC_FETCH_OP or
.Land:	ATOMIC_FETCH_OP and

.Ladd:	test	$BPF_ATOMIC_WIDE, %r11d
	mov	VALUE, %r11
	jz	2f
	ASM_STAC
1:	lock xaddq %r11, (%r10)
	ATOMIC_DONE "%r11, %r10"
2:	ASM_STAC
3:	lock xaddl %r11d, (%r10)
	ATOMIC_DONE "%r11d, %r10d"
	USER_ACCESS(1b, cosy_atomic_fault)
	USER_ACCESS(3b, cosy_atomic_fault)

.Lexchange:
	test	$BPF_ATOMIC_WIDE, %r11d
	mov	VALUE, %r11
	jz	2f
	ASM_STAC
1:	xchgq	%r11, (%r10)
	ATOMIC_DONE "%r11, %r10"
2:	ASM_STAC
3:	xchgl	%r11d, (%r10)
	ATOMIC_DONE "%r11d, %r10d"
	USER_ACCESS(1b, cosy_atomic_fault)
	USER_ACCESS(3b, cosy_atomic_fault)

.Lcompare_exchange:
	test	$BPF_ATOMIC_WIDE, %r11d
	mov	VALUE, %r11
	jz	2f
	ASM_STAC
1:	lock cmpxchgq %r11, (%r10)
	ATOMIC_DONE "%rax, %r10"
2:	ASM_STAC
3:	lock cmpxchgl %r11d, (%r10)
	ATOMIC_DONE "%eax, %r10d"
	USER_ACCESS(1b, cosy_atomic_fault)
	USER_ACCESS(3b, cosy_atomic_fault)
THUNK_END cosy_thunk_atomic

/* --- Signed division ----------------------------------------------------------------- */

/*
 * AX = AX op VALUE.  By zero: 0 and the dividend.  By -1: the negation, which
 * wraps where the processor would trap, and 0.
 */
THUNK cosy_thunk_sdiv64
	mov	VALUE, %r11
	test	%r11, %r11
	jz	1f
	cmp	$-1, %r11
	je	2f
	mov	%rax, %r9
	push	%rdx
	mov	%r10, %rax
	cqo
	idiv	%r11
	mov	%rax, %r10
	pop	%rdx
	mov	%r9, %rax
	RET
1:	xor	%r10d, %r10d
	RET
2:	neg	%r10
	RET
THUNK_END cosy_thunk_sdiv64

THUNK cosy_thunk_smod64
	mov	VALUE, %r11
	test	%r11, %r11
	jz	1f
	cmp	$-1, %r11
	je	2f
	mov	%rax, %r9
	push	%rdx
	mov	%r10, %rax
	cqo
	idiv	%r11
	mov	%rdx, %r10
	pop	%rdx
	mov	%r9, %rax
1:	RET
2:	xor	%r10d, %r10d
	RET
THUNK_END cosy_thunk_smod64

THUNK cosy_thunk_sdiv32
	mov	VALUE, %r11
	test	%r11d, %r11d
	jz	1f
	cmp	$-1, %r11d
	je	2f
	mov	%rax, %r9
	push	%rdx
	mov	%r10d, %eax
	cdq
	idiv	%r11d
	mov	%eax, %r10d
	pop	%rdx
	mov	%r9, %rax
	RET
1:	xor	%r10d, %r10d
	RET
2:	neg	%r10d
	RET
THUNK_END cosy_thunk_sdiv32

THUNK cosy_thunk_smod32
	mov	VALUE, %r11
	test	%r11d, %r11d
	jz	1f
	cmp	$-1, %r11d
	je	2f
	mov	%rax, %r9
	push	%rdx
	mov	%r10d, %eax
	cdq
	idiv	%r11d
	mov	%edx, %r10d
	pop	%rdx
	mov	%r9, %rax
	RET
1:	mov	%r10d, %r10d
	RET
2:	xor	%r10d, %r10d
	RET
THUNK_END cosy_thunk_smod32

/* --- Fuel -------------------------------------------------------------------------------- */

/*
 * Asks C what to do at the instruction in r9d; every register of the program and r10
 * survive.  r9d = 0: there is new fuel.  Otherwise to leave, with r11 = RUN.
 */
SYM_START(cosy_refuel, SYM_L_LOCAL, .balign 16)
	ANNOTATE_NOENDBR
	push	%r10
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%r9d, %esi
	call	cosy_tick
	mov	%eax, %r9d
	CLEAR_BEHIND_C
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

/* AX = the target of a back edge, which is taken already */
THUNK cosy_thunk_tick
	mov	%r10d, %r9d
	call	cosy_refuel
	test	%r9d, %r9d
	jnz	cosy_leave
	RET
THUNK_END cosy_thunk_tick

/*
 * Spends one fuel on an operation.  AX = insn << 16 | anything, or, with a shift of 0, the
 * instruction.  `refuel` is where REFUEL stands, out of the way.
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

/* r11 is RUN: leaves before an operation that its fuel was spent on. */
SYM_CODE_START_LOCAL(cosy_leave_unspent)
	UNWIND_HINT_FUNC
	incq	FUEL
	jmp	cosy_leave
SYM_CODE_END(cosy_leave_unspent)

/*
 * A call by the name that the compiler would give it.  objtool makes it known to
 * the static call, for which it has to see the name of its key here, too.
 */
.macro STATIC_CALL name
	call	__SCT__\name
	.pushsection .discard.addressable, "aw"
	.quad	__SCK__\name
	.popsection
.endm

/* --- System calls --------------------------------------------------------------------------- */

/* r11 is RUN, r9 the task, r10d insn << 16 | number: a tracer is to see this call. */
SYM_CODE_START_LOCAL(cosy_leave_traced)
	UNWIND_HINT_FUNC
	mov	TASK_SYSCALL_WORK(%r9), %r9
	mov	%r9, RUN_DETAIL(%r11)
	movl	$LEFT_TRACED, RUN_STATUS(%r11)
	shr	$16, %r10d
	mov	%r10d, RUN_INSN(%r11)
	jmp	cosy_leave_unspent
SYM_CODE_END(cosy_leave_traced)

/* r11 is RUN with its status set, slot INSN the call that is done: goes on behind it. */
SYM_CODE_START_LOCAL(cosy_leave_behind)
	UNWIND_HINT_FUNC
	mov	INSN, %r9
	shr	$16, %r9d
	inc	%r9d
	mov	%r9d, RUN_INSN(%r11)
	jmp	cosy_leave
SYM_CODE_END(cosy_leave_behind)

/*
 * Behind a call, whose result is in place: signals, most task work, other tasks and a
 * limit of time go before the next instruction.
 */
SYM_CODE_START_LOCAL(cosy_behind_call)
	UNWIND_HINT_FUNC
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	STATE, %rdi
	call	cosy_look_around
	mov	%eax, %r9d
	CLEAR_BEHIND_C
	RESTORE_R0_TO_R5
	mov	STATE, %r11
	test	%r9d, %r9d
	jnz	1f
	RET
1:	mov	%r9d, RUN_STATUS(%r11)
	jmp	cosy_leave_behind
SYM_CODE_END(cosy_behind_call)

/* AX = insn << 16 | number, arguments in r1-r5 and r0 */
THUNK cosy_thunk_syscall
	SPEND_FUEL .Lcall_refuel
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	testq	$TRACED, TASK_SYSCALL_WORK(%r9)
	jnz	cosy_leave_traced
	cmpl	$0, RUN_HELD(%r11)
	jne	.Lcall_settle
.Lcall_settled:
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
	lea	516(%rax), %r9
	cmp	$4, %r9
	jbe	.Lcall_restart
.Lcall_done:
	add	$PT_SIZE, %rsp
	ZERO_BEHIND_C
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	testl	$CALL_WORK, TASK_FLAGS(%r9)
	jnz	cosy_behind_call
	mov	RUN_LOOK(%r11), %r9
	cmpb	$0, (%r9)
	jne	cosy_behind_call
	RET

	/* An ordinary call may sleep, and may read what a view has not put in place yet. */
.Lcall_settle:
	push	%r10
	SAVE_R0_TO_R5
	FORGET_BRANCHES
	mov	%r11, %rdi
	call	cosy_settle
	RESTORE_R0_TO_R5
	pop	%r10
	mov	STATE, %r11
	jmp	.Lcall_settled

	REFUEL .Lcall_refuel

	/* -512, -513, -514 and -516 are restart codes, -515 is not. */
.Lcall_restart:
	cmp	$1, %r9
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
	jmp	cosy_leave_unspent

THUNK_END cosy_thunk_syscall

/* --- Calls and operations by C functions of their own (core/ops.def) ------------------------- */

/* AX = insn << 16 | operation, arguments in r1-r5: an operation on memory */
.macro OP_THUNK name
THUNK cosy_thunk_\name
	SPEND_FUEL .Lrefuel_\name
	mov	STATE, %r11
	PUSH_ARRAY
	FORGET_BRANCHES
	mov	%r11, %rdi
	mov	%rsp, %rsi
	mov	%r10d, %edx
	call	cosy_call_\name
	mov	STATE, %r11
	cmpl	$0, RUN_STATUS(%r11)
	jne	.Lleave_\name
	add	$48, %rsp
	ZERO_BEHIND_C
	RET
	/* The operation has brought r1-r3 up to date. */
.Lleave_\name:
	POP_ARRAY
	jmp	cosy_leave_unspent
	REFUEL .Lrefuel_\name
THUNK_END cosy_thunk_\name
.endm

/* AX = insn << 16 | number, arguments in r1-r5 and r0: a specialised call, a composite */
.macro CALL_THUNK name
THUNK cosy_thunk_\name
	SPEND_FUEL .Lrefuel_\name
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	testq	$TRACED, TASK_SYSCALL_WORK(%r9)
	jnz	cosy_leave_traced
	incq	RUN_CALLS(%r11)
	mov	%r10, INSN
	PUSH_ARRAY
	FORGET_BRANCHES
	mov	%r11, %rdi
	mov	%rsp, %rsi
	mov	%r10d, %edx
	call	cosy_call_\name
	mov	STATE, %r11
	cmpl	$0, RUN_STATUS(%r11)
	jne	.Lleave_\name
	add	$48, %rsp
	ZERO_BEHIND_C
	mov	RUN_TASK(%r11), %r9
	testl	$CALL_WORK, TASK_FLAGS(%r9)
	jnz	cosy_behind_call
	mov	RUN_LOOK(%r11), %r9
	cmpb	$0, (%r9)
	jne	cosy_behind_call
	RET
.Lleave_\name:
	POP_ARRAY
	jmp	cosy_leave_unspent
	REFUEL .Lrefuel_\name
THUNK_END cosy_thunk_\name
.endm

#define COSY_FAST_CALL(number, name, args, flags, views) CALL_THUNK name;
#define COSY_COMPOSITE(number, name, args, flags, views) CALL_THUNK name;
#define COSY_OP(number, name, args, flags)		 OP_THUNK name;
#include "ops.def"

/* AX = insn << 16 | number of getpid, which takes no arguments and does not sleep */
THUNK cosy_thunk_getpid
	SPEND_FUEL .Lpid_refuel
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	testq	$TRACED, TASK_SYSCALL_WORK(%r9)
	jnz	cosy_leave_traced
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
	CLEAR_BEHIND_C
	pop	%r10
	mov	STATE, %r11
	mov	RUN_TASK(%r11), %r9
	jmp	.Lpid_known
.Lpid_work:
	mov	%r10, INSN
	jmp	cosy_behind_call
	REFUEL .Lpid_refuel
THUNK_END cosy_thunk_getpid

/* --- Local calls ---------------------------------------------------------------------------------- */

/* r6-r9 as an array for C */
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

/* AX = insn << 16 | caller's words << 8 | callee's words */
THUNK cosy_thunk_push
	SPEND_FUEL .Lpush_refuel
	SAVE_R0_TO_R5
	SAVE_R6_TO_R9
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%rsp, %rsi
	lea	-SLOT_SIZE(%rbp), %rdx
	mov	%r10d, %ecx
	call	cosy_frame_push
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

/* AX = insn; AX = the call to return behind */
THUNK cosy_thunk_pop
	SPEND_FUEL .Lpop_refuel
	SAVE_R0_TO_R5
	SAVE_R6_TO_R9
	FORGET_BRANCHES
	mov	STATE, %rdi
	mov	%rsp, %rsi
	lea	-SLOT_SIZE(%rbp), %rdx
	mov	%r10d, %ecx
	call	cosy_frame_pop
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
