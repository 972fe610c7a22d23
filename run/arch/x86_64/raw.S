/* SPDX-License-Identifier: MIT */
/*
 * raw.S - wraps syscall(2).  It has no frame: the child of a clone with a stack of its own returns
 * by what is on top of that.
 */
#include "arch/x86_64/function.h"

FUNCTION syscall
	endbr64
#ifndef COSY_RELAX
	cmp	$512, %rdi
	jae	1f
	lea	raw_wrapped(%rip), %rax
	cmpb	$0, (%rax, %rdi)
	jne	2f
1:	mov	raw_next(%rip), %r11
	test	%r11, %r11
	jne	3f
#endif
2:	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%r9
	.cfi_adjust_cfa_offset 8
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	raw_before
	mov	%rax, %r11
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%r9
	.cfi_adjust_cfa_offset -8
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
3:	xor	%eax, %eax
	jmp	*%r11
END_FUNCTION syscall
