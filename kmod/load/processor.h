/* SPDX-License-Identifier: GPL-2.0 */
/* processor.h - processors on which compounds would bypass mitigations of processor leaks. */
#ifndef COSY_PROCESSOR_H
#define COSY_PROCESSOR_H

#include <linux/types.h>

struct cosy_reject;

/* Tells whether no program may be loaded; if so, `why` (or NULL) gets the reason. */
bool cosy_processor_refused(struct cosy_reject *why);

/* Finds out whether this is one, and says so in the log. */
void cosy_processor_init(void);

#endif /* COSY_PROCESSOR_H */
