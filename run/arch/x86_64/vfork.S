/* SPDX-License-Identifier: MIT */
/* vfork.S - wraps vfork without a frame of its own: see share_before_vfork. */
#include "arch/x86_64/function.h"

	.globl	__vfork
	.type	__vfork, @function
FUNCTION vfork
__vfork:
	endbr64
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	share_before_vfork
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
END_FUNCTION vfork
	.size	__vfork, . - __vfork
