/* SPDX-License-Identifier: MIT */
/*
 * fault_copy.S - file/fault.h's copy: by one instruction, which leaves in rcx how much it has not
 * copied.
 */
#include "arch/x86_64/function.h"

	.hidden	fault_copy, fault_copying, fault_copied
	.globl	fault_copying, fault_copied

FUNCTION fault_copy
	endbr64
	mov	%rdx, %rcx
fault_copying:
	rep movsb
fault_copied:
	xor	%eax, %eax
	test	%rcx, %rcx
	sete	%al
	ret
END_FUNCTION fault_copy
