// SPDX-License-Identifier: GPL-2.0
/* dispatch.c - see dispatch.h. */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include "compat/compat.h"
#include "run/dispatch.h"

long cosy_dispatch_none(const struct pt_regs *regs, unsigned int number)
{
	return -ENOSYS;
}

DEFINE_STATIC_CALL(cosy_dispatch, cosy_dispatch_none);

/* Finds a function by a kprobe.  -ENOENT: the kernel has none; -ENOMEM. */
static int symbol_find(const char *name, void **ret)
{
	struct kprobe probe = { .symbol_name = name };
	int error = register_kprobe(&probe);

	if (error) {
		pr_info("cosy: cannot find %s (kprobe: %d)\n", name, error);
		return error;
	}
	unregister_kprobe(&probe);
	*ret = probe.addr;
	return 0;
}

void *cosy_unexported(const char *name)
{
	void *ret = NULL;

	symbol_find(name, &ret);
	return ret;
}

/* Stands for kallsyms_lookup_name, which is not exported either, where that is not found. */
static unsigned long symbol_address_none(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(cosy_symbol_address, symbol_address_none);

const void *cosy_unexported_data(const char *name)
{
	return (const void *)static_call(cosy_symbol_address)(name);
}

int cosy_dispatch_init(void)
{
	void *dispatcher, *lookup_function;
	int error;

#if defined(X86_FEATURE_CLEAR_BHB_LOOP) && !defined(COSY_CLEARS_HISTORY)
	if (boot_cpu_has(X86_FEATURE_CLEAR_BHB_LOOP)) {
		pr_err("cosy: this processor needs its branch history cleared, and this kernel "
		       "does not export clear_bhb_loop\n");
		return -EOPNOTSUPP;
	}
#endif
	error = symbol_find("x64_sys_call", &dispatcher);
	if (error) {
		pr_err("cosy: cannot use x64_sys_call, the dispatcher of system calls\n");
		return error;
	}
	static_call_update(cosy_dispatch, (typeof(&cosy_dispatch_none))dispatcher);
	lookup_function = cosy_unexported("kallsyms_lookup_name");
	if (lookup_function)
		static_call_update(cosy_symbol_address,
				   (typeof(&symbol_address_none))lookup_function);
	return 0;
}
