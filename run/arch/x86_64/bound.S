/* SPDX-License-Identifier: MIT */
/*
 * bound.S - wraps functions that look at who calls them: each calls bound.c first, and then jumps
 * to libc's.
 */
#include "arch/x86_64/function.h"

.macro SAVE register
	push	%\register
	.cfi_adjust_cfa_offset 8
.endm

.macro RESTORE register
	pop	%\register
	.cfi_adjust_cfa_offset -8
.endm

/* Calls `before` with the function's arguments, and jumps to what that returns. */
.macro JUMP_AFTER before
	SAVE	rdi
	SAVE	rsi
	SAVE	rdx
	call	\before
	RESTORE	rdx
	RESTORE	rsi
	RESTORE	rdi
	jmp	*%rax
.endm

/* RTLD_DEFAULT is 0 and RTLD_NEXT -1; jumps to `handle` with anything else. */
.macro UNLESS_HANDLE handle
	lea	1(%rdi), %rax
	cmp	$1, %rax
	ja	\handle
.endm

FUNCTION dlsym
	endbr64
	UNLESS_HANDLE bound_dlsym
	JUMP_AFTER bound_next_dlsym
END_FUNCTION dlsym

FUNCTION dlvsym
	endbr64
	UNLESS_HANDLE bound_dlvsym
	JUMP_AFTER bound_next_dlvsym
END_FUNCTION dlvsym

FUNCTION dlopen
	endbr64
	JUMP_AFTER bound_before_dlopen
END_FUNCTION dlopen

FUNCTION dlmopen
	endbr64
	JUMP_AFTER bound_before_dlmopen
END_FUNCTION dlmopen
