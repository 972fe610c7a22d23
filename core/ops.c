// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * ops.c - ops.def as a table that is indexed by number.  No pointer is in it: a program that
 * holds it has nothing to relocate when it starts.
 */
#include "core.h"

/* The reasons why calls are denied: a member for each, and `denied` is its offset. */
static const struct reasons {
	char none;
#define COSY_DENY(number_, name_, reason_) char name_[sizeof(reason_)];
#include "ops.def"
} reasons = {
#define COSY_DENY(number_, name_, reason_) .name_ = reason_,
#include "ops.def"
};

#define CALL(number_, name_, args_, flags_, thunk_)                                                \
	{number_, #name_, args_, COSY_CALL_ALLOWED | (flags_), thunk_, 0}

static const struct cosy_call system_calls[] = {
#define COSY_CALL(number_, name_, args_, flags_)                                                   \
	[number_] = CALL(number_, name_, args_, flags_, COSY_THUNK_SYSCALL),
#define COSY_FAST_CALL(number_, name_, args_, flags_, views_)                                      \
	[number_] = CALL(number_, name_, args_, flags_, COSY_THUNK_CALL_##name_),
#define COSY_THUNK_CALL(number_, name_, args_, flags_)                                             \
	[number_] = CALL(number_, name_, args_, flags_, COSY_THUNK_CALL_##name_),
#define COSY_DENY(number_, name_, reason_)                                                         \
	[number_] = {number_, #name_, "", 0, COSY_THUNK_SYSCALL, offsetof(struct reasons, name_)},
#include "ops.def"
};

static const struct cosy_call operations[] = {
#define COSY_OP(number_, name_, args_, flags_)                                                     \
	[number_] = CALL(COSY_OP_BASE + (number_), name_, args_, flags_, COSY_THUNK_OP_##name_),
#include "ops.def"
};

#define FITS(name_, args_)                                                                         \
	_Static_assert(sizeof(#name_) <= sizeof(system_calls->name) &&                             \
			       sizeof(args_) <= sizeof(system_calls->args),                        \
		       "longer than struct cosy_call allows: " #name_);
#define COSY_CALL(number_, name_, args_, flags_) FITS(name_, args_)
#define COSY_DENY(number_, name_, reason_)	 FITS(name_, "")
#define COSY_OP(number_, name_, args_, flags_)	 FITS(name_, args_)
#include "ops.def"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct cosy_call *cosy_call_find(u32 number)
{
	const struct cosy_call *call = NULL;

	if (number < COUNT(system_calls))
		call = &system_calls[number];
	else if (number >= COSY_OP_BASE && number - COSY_OP_BASE < COUNT(operations))
		call = &operations[number - COSY_OP_BASE];
	return call && *call->name ? call : NULL;
}

const char *cosy_call_denied(const struct cosy_call *call)
{
	return call->denied ? (const char *)&reasons + call->denied : NULL;
}
