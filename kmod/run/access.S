/* SPDX-License-Identifier: GPL-2.0 */
/*
 * access.S - thunks for loads, fetches, stores and atomics outside the shared buffer, which may
 * fault, and for signed division.  Not every kernel's JIT has instructions for them.
 */
#include "run/calling.h"

/* In slot INSN, above BPF's number of the operation: 8 bytes, not 4. */
#define ATOMIC_WIDE	0x100
/* Numbers of the operations, without the bit that asks for the old value; two always ask. */
#define ATOMIC_FETCH	0x01
#define ATOMIC_OR	0x40
#define ATOMIC_AND	0x50
#define ATOMIC_XCHG	(0xe0 | ATOMIC_FETCH)
#define ATOMIC_CMPXCHG	(0xf0 | ATOMIC_FETCH)

.text

/* --- Loads and stores ----------------------------------------------------------- */

/*
 * Has a fault at `access` go on at `fault`, and so a memory error in the user's page, from which
 * the kernel would not recover without MCE_SAFE.  The interpreter then repeats the access, and
 * the process gets the SIGBUS that it would have had.
 */
#define USER_ACCESS(access, fault) _ASM_EXTABLE_TYPE(access, fault, EX_TYPE_DEFAULT_MCE_SAFE)

/*
 * Keeps r10 when it is a user address, else makes it all ones, without a branch that could be
 * mispredicted.  The page above the limit is never mapped, so that an access may start at the
 * last byte below it.
 */
.macro MASK_USER_ADDRESS
	ALTERNATIVE __stringify(movabs $((1 << 47) - PAGE_SIZE), %r11), \
		    __stringify(movabs $((1 << 56) - PAGE_SIZE), %r11), X86_FEATURE_LA57
	cmp	%r10, %r11
	sbb	%r11, %r11
	or	%r11, %r10
.endm

/* Leaves at instruction r9, whose access to the address in r10 faulted. */
.macro LEAVE_FAULT
	mov	STATE, %r11
	mov	%r9d, RUN_INSN(%r11)
	movl	$LEFT_FAULT, RUN_STATUS(%r11)
	mov	%r10, RUN_DETAIL(%r11)
	jmp	cosy_leave
.endm

/* Leaves at an access that faulted.  The address is in r10, the instruction in slot INSN. */
SYM_CODE_START_LOCAL(cosy_fault)
	UNWIND_HINT_FUNC
	ASM_CLAC
	mov	INSN, %r9
	LEAVE_FAULT
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

/* --- Fetches ---------------------------------------------------------------------- */

/* Leaves at the load that leads a fetch.  Which word has faulted is not known. */
SYM_CODE_START_LOCAL(cosy_fetch_fault)
	UNWIND_HINT_FUNC
	ASM_CLAC
	movzwl	INSN, %r9d
	xor	%r10d, %r10d
	LEAVE_FAULT
SYM_CODE_END(cosy_fetch_fault)

/*
 * Copies words of user memory from r10 on to the frame.  The mask keeps the place in the frame
 * whatever slot INSN holds, even a value that a later store has not replaced yet.  The words are
 * read in ascending order; if r10 is no user address, the first one faults.
 */
.macro FETCH words
THUNK cosy_thunk_fetch\words
	MASK_USER_ADDRESS
	movzbl	INSN_TOP, %r9d
	and	$(FETCH_WORDS - 1), %r9d
	lea	FETCH_PLACE(%rbp, %r9, 8), %r9
	ASM_STAC
	.set	fetch_at, 0
	.rept	\words
1:	mov	fetch_at(%r10), %r11
	USER_ACCESS(1b, cosy_fetch_fault)
	mov	%r11, fetch_at(%r9)
	.set	fetch_at, fetch_at + 8
	.endr
	ASM_CLAC
	RET
THUNK_END cosy_thunk_fetch\words
.endm

.irp words, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
FETCH \words
.endr

/* --- Atomics --------------------------------------------------------------------- */

/*
 * Leaves a misaligned atomic to the interpreter, as if it had faulted: a locked access across
 * cache lines is an alignment check exception on some processors, fatal in the kernel.
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

/* Leaves at an atomic that faulted.  r9 holds the program's r0, since rax may be changed. */
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
	testl	$ATOMIC_WIDE, INSN
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

/*
 * Makes an atomic operation by the processor's one instruction for it, which puts the old value
 * into `old`.
 */
.macro ATOMIC_INSN insn, old, old_half
	test	$ATOMIC_WIDE, %r11d
	mov	VALUE, %r11
	jz	2f
	ASM_STAC
1:	\insn\()q %r11, (%r10)
	ATOMIC_DONE "\old, %r10"
2:	ASM_STAC
3:	\insn\()l %r11d, (%r10)
	ATOMIC_DONE "\old_half, %r10d"
	USER_ACCESS(1b, cosy_atomic_fault)
	USER_ACCESS(3b, cosy_atomic_fault)
.endm

/*
 * Makes an atomic operation.  AX = the address, slot VALUE = the operand, slot INSN = insn << 16
 * | wide | BPF's number of the operation.
 */
THUNK cosy_thunk_atomic
	MASK_USER_ADDRESS
	mov	%rax, %r9
	mov	INSN, %r11
	test	$ATOMIC_WIDE, %r11d
	jz	1f
	test	$7, %r10b
	jnz	cosy_atomic_misaligned
	jmp	2f
1:	test	$3, %r10b
	jnz	cosy_atomic_misaligned
2:	cmp	$ATOMIC_CMPXCHG, %r11b
	je	.Lcompare_exchange
	cmp	$ATOMIC_XCHG, %r11b
	je	.Lexchange
	and	$~ATOMIC_FETCH & 0xff, %r11b
	jz	.Ladd
	cmp	$ATOMIC_OR, %r11b
	je	.Lor
	cmp	$ATOMIC_AND, %r11b
	je	.Land
	ATOMIC_FETCH_OP xor
.Lor:	ATOMIC_FETCH_OP or
.Land:	ATOMIC_FETCH_OP and

.Ladd:
	ATOMIC_INSN "lock xadd", %r11, %r11d
.Lexchange:
	ATOMIC_INSN "xchg", %r11, %r11d
.Lcompare_exchange:
	ATOMIC_INSN "lock cmpxchg", %rax, %eax
THUNK_END cosy_thunk_atomic

/* --- Signed division ------------------------------------------------------------- */

/*
 * Computes AX = AX op VALUE, with RFC 9669's results where the processor would trap.  By zero a
 * division gives 0, a modulo the dividend; by -1 a division gives the negation, which wraps, a
 * modulo 0.
 */
.macro SIGNED_DIVISION name, ax, value, rax, extend, result, by_zero, by_minus_one
THUNK \name
	mov	VALUE, %r11
	test	\value, \value
	jz	1f
	cmp	$-1, \value
	je	2f
	mov	%rax, %r9
	push	%rdx
	mov	\ax, \rax
	\extend
	idiv	\value
	mov	\result, \ax
	pop	%rdx
	mov	%r9, %rax
	.ifnb	\by_zero
	RET
1:	\by_zero
	RET
	.else
1:	RET
	.endif
2:	\by_minus_one
	RET
THUNK_END \name
.endm

#define WIDE   %r10, %r11, %rax, cqo
#define NARROW %r10d, %r11d, %eax, cdq

SIGNED_DIVISION cosy_thunk_sdiv64, WIDE, %rax, "xor %r10d, %r10d", "neg %r10"
SIGNED_DIVISION cosy_thunk_smod64, WIDE, %rdx, "", "xor %r10d, %r10d"
SIGNED_DIVISION cosy_thunk_sdiv32, NARROW, %eax, "xor %r10d, %r10d", "neg %r10d"
SIGNED_DIVISION cosy_thunk_smod32, NARROW, %edx, "mov %r10d, %r10d", "xor %r10d, %r10d"
