/* SPDX-License-Identifier: MIT */
/*
 * lease_thread.S - where the handler of the lease thread's signal returns to.
 *
 * Debuggers know a signal's frame by its two instructions, and look for the function one byte
 * before the address that a frame returns to.
 */
#include <sys/syscall.h>

#include "arch/x86_64/function.h"

	.text
	.hidden	lease_thread_restorer
	.globl	lease_thread_restorer
	.type	lease_thread_restorer, @function
	nop
lease_thread_restorer:
	mov	$SYS_rt_sigreturn, %rax
	syscall
	.size	lease_thread_restorer, . - lease_thread_restorer
