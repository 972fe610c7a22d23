/* SPDX-License-Identifier: GPL-2.0 */
/*
 * symbols.h - functions and variables that the kernel does not export.
 *
 * A function is to be called by a static call only, which is direct: the address lies after the
 * ENDBR that an indirect call would need, and an indirect call would be a target for speculation.
 */
#ifndef COSY_SYMBOLS_H
#define COSY_SYMBOLS_H

#include <linux/static_call.h>

/* Finds a function by a kprobe.  -ENOENT, with a line in the log: there is none; -ENOMEM. */
int cosy_symbol_find(const char *name, void **ret);

/* Returns a function, or NULL, with a line in the log, when there is none. */
void *cosy_unexported(const char *name);

/*
 * Has the static call `call` call a function.  Returns whether there is one; without, the static call
 * stays as it was defined.
 */
#define cosy_static_call_find(call, name)                                                          \
	({                                                                                         \
		void *found_ = cosy_unexported(name);                                              \
		if (found_)                                                                        \
			static_call_update(call, (typeof(&STATIC_CALL_TRAMP(call)))found_);        \
		found_ != NULL;                                                                    \
	})

/* Returns a variable, or NULL when it has no symbol, as without CONFIG_KALLSYMS_ALL. */
const void *cosy_unexported_data(const char *name);

/* Finds the kernel's look-up of symbols; main.c calls this before anything looks one up. */
void cosy_symbols_init(void);

#endif /* COSY_SYMBOLS_H */
