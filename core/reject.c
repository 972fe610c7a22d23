// SPDX-License-Identifier: GPL-2.0 OR MIT
/* reject.c - see reject.h. */
#include "reject.h"

int cosy_refuse(struct cosy_reject *why, int error, u32 insn, const char *format, ...)
{
	va_list args;

	if (!why)
		return error;
	why->insn = insn;
	va_start(args, format);
	vsnprintf(why->reason, sizeof(why->reason), format, args);
	va_end(args);
	return error;
}
