// SPDX-License-Identifier: GPL-2.0
/*
 * dispatch.c - finds x64_sys_call, the one function that is not exported.
 *
 * A kprobe on it knows its address.  It is only ever called directly, by way of
 * the static call: what the kprobe knows lies behind the ENDBR that an indirect
 * call would need, and an indirect call would be a target for speculation.
 */
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

int cosy_dispatch_init(void)
{
	struct kprobe probe = { .symbol_name = "x64_sys_call" };
	int error;

#if defined(X86_FEATURE_CLEAR_BHB_LOOP) && !defined(COSY_CLEARS_HISTORY)
	if (boot_cpu_has(X86_FEATURE_CLEAR_BHB_LOOP)) {
		pr_err("cosy: this processor needs its branch history cleared, and this kernel does not export clear_bhb_loop\n");
		return -EOPNOTSUPP;
	}
#endif
	error = register_kprobe(&probe);
	if (error) {
		pr_err("cosy: cannot find x64_sys_call, the system call dispatcher (kprobe: %d)\n",
		       error);
		return -ENOENT;
	}
	static_call_update(cosy_dispatch, (typeof(&cosy_dispatch_none))probe.addr);
	unregister_kprobe(&probe);
	return 0;
}
