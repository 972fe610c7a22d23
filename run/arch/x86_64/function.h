/* SPDX-License-Identifier: MIT */
/* function.h - begins and ends functions of the assembly files. */
#ifndef COSY_RUN_FUNCTION_H
#define COSY_RUN_FUNCTION_H

/* clang-format off */
.macro FUNCTION name
	.text
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
.endm

.macro END_FUNCTION name
	.cfi_endproc
	.size	\name, . - \name
.endm

/* Each file includes this, so none asks for a stack that can be executed. */
.section .note.GNU-stack, "", @progbits
.text
/* clang-format on */

#endif /* COSY_RUN_FUNCTION_H */
