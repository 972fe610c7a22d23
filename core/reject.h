/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* reject.h - reports a refusal, with an instruction and a reason, in core and the module. */
#ifndef COSY_REJECT_H
#define COSY_REJECT_H

#include "core.h"

#define COSY_REJECT_CONTAINER (~0u) /* cosy_reject.insn: not one instruction's fault */

/* Fills in `why` (which may be NULL) and returns `error`. */
__printf(4, 5) int cosy_refuse(struct cosy_reject *why, int error, u32 insn, const char *format,
			       ...);

#endif /* COSY_REJECT_H */
