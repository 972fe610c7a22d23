// SPDX-License-Identifier: GPL-2.0 OR MIT
/* ops.c - ops.def as a table that is indexed by number. */
#include "core.h"

#define CALL(number_, name_, args_, flags_, thunk_)                                                \
	[number_] = {number_, #name_, args_, COSY_CALL_ALLOWED | (flags_), thunk_, NULL},

static const struct cosy_call system_calls[] = {
#define COSY_CALL(number_, name_, args_, flags_)                                                   \
	CALL(number_, name_, args_, flags_, COSY_THUNK_SYSCALL)
#define COSY_FAST_CALL(number_, name_, args_, flags_, views_)                                      \
	CALL(number_, name_, args_, flags_, COSY_THUNK_CALL_##name_)
#define COSY_THUNK_CALL(number_, name_, args_, flags_)                                             \
	CALL(number_, name_, args_, flags_, COSY_THUNK_CALL_##name_)
#define COSY_DENY(number_, name_, reason_)                                                         \
	[number_] = {number_, #name_, "", 0, COSY_THUNK_SYSCALL, reason_},
#include "ops.def"
};

static const struct cosy_call operations[] = {
#define COSY_OP(number_, name_, args_, flags_)                                                     \
	[number_] = {COSY_OP_BASE + (number_), #name_, args_, COSY_CALL_ALLOWED | (flags_),        \
		     COSY_THUNK_OP_##name_,    NULL},
#include "ops.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct cosy_call *cosy_call_find(u32 number)
{
	const struct cosy_call *call = NULL;

	if (number < COUNT(system_calls))
		call = &system_calls[number];
	else if (number >= COSY_OP_BASE && number - COSY_OP_BASE < COUNT(operations))
		call = &operations[number - COSY_OP_BASE];
	return call && call->name ? call : NULL;
}
