// SPDX-License-Identifier: GPL-2.0
/* ordinary.c - see ordinary.h. */
#include <linux/ptrace.h>
#include <linux/unistd.h>
#include "context.h"
#include "fast/descriptor.h"
#include "fast/fresh.h"
#include "run/dispatch.h"
#include "run/held.h"
#include "run/ordinary.h"

s64 cosy_ordinary_regs(struct cosy_activation *run, u32 number, const struct pt_regs *regs)
{
	s64 result;

	/* A program that makes files makes calls by name before and after. */
	if (run->held || number == __NR_openat || number == __NR_open)
		cosy_held_drop_for(run, number, regs->di, regs->si, regs->dx);
	cosy_descriptors_forget(&run->descriptors);
	result = static_call(cosy_dispatch)(regs, number);
	if (run->fresh.wanted)
		cosy_fresh_end(&run->fresh, &run->context->fresh, result);
	return cosy_call_result(run, result);
}

s64 cosy_ordinary(struct cosy_activation *run, u32 number, u64 a, u64 b, u64 c, u64 d)
{
	return cosy_ordinary_regs(run, number,
				  &(struct pt_regs){ .di = a, .si = b, .dx = c, .r10 = d });
}
