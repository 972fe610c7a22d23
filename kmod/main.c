// SPDX-License-Identifier: GPL-2.0
/*
 * cosy.ko - runs compounds (include/uapi/linux/cosy.h) in the caller's process.
 *
 *	device.c	/dev/cosy: open, mmap, and which ioctl is whose
 *	context.c	what an open descriptor stands for, bound to an address space
 *	users.c		how many contexts and programs a user may have
 *	buffer.c	the shared buffer and its mapping
 *	program.c	LOAD: validate, sandbox, compile; FREE
 *	run.c		RUN: from the ioctl into the compiled code and back
 *	thunk.S		between C and compiled code: accesses, calls, leaving
 *	dispatch.c	the kernel's own table of system calls
 *	operations.c	the operations (COSY_OP_BASE up); memory_*.c those on memory
 *	frame.c		local calls on the software stack
 *	limits.c	fuel, time, signals: what a compound looks around for
 *	leave.c		the saved state, out to the user and in again
 *	stats.c		counters and tracepoints
 *	compat/		differences between kernels
 *
 * What is validated and how code is sandboxed is in ../core.
 */
#include <linux/module.h>
#include "device.h"
#include "dispatch.h"
#include "program.h"
#include "stats.h"
#include "thunk.h"

static int __init cosy_init(void)
{
	int error;

	cosy_thunk_init();

	error = cosy_dispatch_init();
	if (error)
		goto out;

	error = cosy_program_init();
	if (error)
		goto out;

	error = cosy_stats_init();
	if (error)
		goto out;

	error = cosy_device_init();
	if (error)
		goto err_stats;

	return 0;

err_stats:
	cosy_stats_exit();
out:
	return error;
}

static void __exit cosy_exit(void)
{
	cosy_device_exit();
	cosy_stats_exit();
}

module_init(cosy_init);
module_exit(cosy_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Runs compounds of system calls inside the kernel");
