// SPDX-License-Identifier: GPL-2.0
/* symbols.c - see symbols.h. */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include "kernel/symbols.h"

int cosy_symbol_find(const char *name, void **ret)
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

	cosy_symbol_find(name, &ret);
	return ret;
}

/* Takes the place of kallsyms_lookup_name, which is not exported either, if it is not found. */
static unsigned long symbol_address_none(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(cosy_symbol_address, symbol_address_none);

const void *cosy_unexported_data(const char *name)
{
	return (const void *)static_call(cosy_symbol_address)(name);
}

void __init cosy_symbols_init(void)
{
	void *lookup = cosy_unexported("kallsyms_lookup_name");

	if (lookup)
		static_call_update(cosy_symbol_address, (typeof(&symbol_address_none))lookup);
}
