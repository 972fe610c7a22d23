// SPDX-License-Identifier: GPL-2.0
/* dispatch.c - see dispatch.h. */
#include <linux/module.h>
#include <linux/ptrace.h>
#include "compat/compat.h"
#include "kernel/symbols.h"
#include "run/dispatch.h"

long cosy_dispatch_none(const struct pt_regs *regs, unsigned int number)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_dispatch, cosy_dispatch_none);

int cosy_dispatch_init(void)
{
	void *dispatcher;
	int error;

#if defined(X86_FEATURE_CLEAR_BHB_LOOP) && !defined(COSY_CLEARS_HISTORY)
	if (boot_cpu_has(X86_FEATURE_CLEAR_BHB_LOOP)) {
		pr_err("cosy: this processor needs its branch history cleared, and this kernel "
		       "does not export clear_bhb_loop\n");
		return -EOPNOTSUPP;
	}
#endif
	error = cosy_symbol_find("x64_sys_call", &dispatcher);
	if (error) {
		pr_err("cosy: cannot use x64_sys_call, the dispatcher of system calls\n");
		return error;
	}
	static_call_update(cosy_dispatch, (typeof(&cosy_dispatch_none))dispatcher);
	return 0;
}
