/* SPDX-License-Identifier: GPL-2.0 */
/* processor.h - processors on which compounds would bypass mitigations of processor leaks. */
#ifndef COSY_PROCESSOR_H
#define COSY_PROCESSOR_H

#include <linux/types.h>

struct cosy_reject;

/* Returns whether LOAD is refused on this processor; if so, `why` (may be NULL) gets the reason. */
bool cosy_processor_refused(struct cosy_reject *why);

/* Checks this processor, once, and reports in the log if it is such a processor. */
void cosy_processor_init(void);

#endif /* COSY_PROCESSOR_H */
