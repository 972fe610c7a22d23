/* SPDX-License-Identifier: MIT */
/* relax_calls.S - the stubs of relax/relax_calls.def: see relax_calls.c. */
#include "arch/x86_64/function.h"

/*
 * Saves all argument registers around relax_prepare: six, rax (which counts the vector registers
 * for a variadic function), and eight vector registers.  In: the struct call in r11.
 */
	.type	relax_call_slow, @function
relax_call_slow:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	subq	$192, %rsp
	movq	%rdi, 0(%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)
	movups	%xmm0, 64(%rsp)
	movups	%xmm1, 80(%rsp)
	movups	%xmm2, 96(%rsp)
	movups	%xmm3, 112(%rsp)
	movups	%xmm4, 128(%rsp)
	movups	%xmm5, 144(%rsp)
	movups	%xmm6, 160(%rsp)
	movups	%xmm7, 176(%rsp)
	movl	%edi, %esi
	movq	%r11, %rdi
	call	relax_prepare
	movq	%rax, %r11
	movq	0(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	48(%rsp), %rax
	movups	64(%rsp), %xmm0
	movups	80(%rsp), %xmm1
	movups	96(%rsp), %xmm2
	movups	112(%rsp), %xmm3
	movups	128(%rsp), %xmm4
	movups	144(%rsp), %xmm5
	movups	160(%rsp), %xmm6
	movups	176(%rsp), %xmm7
	leave
	.cfi_def_cfa 7, 8
	jmp	*%r11
	.cfi_endproc
	.size	relax_call_slow, . - relax_call_slow

.macro STUB name
	.balign	16
FUNCTION \name
	endbr64
	movl	truncs(%rip), %r11d
	orl	coalesce_word(%rip), %r11d
	jne	1f
	movq	relax_call_\name(%rip), %r11
	testq	%r11, %r11
	je	1f
	jmp	*%r11
1:	leaq	relax_call_\name(%rip), %r11
	jmp	relax_call_slow
END_FUNCTION \name
.endm

#define CALL(name, class) STUB name
#include "relax/relax_calls.def"
