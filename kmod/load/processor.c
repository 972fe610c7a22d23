// SPDX-License-Identifier: GPL-2.0
/*
 * processor.c - processors on which compounds are refused.
 *
 * A compound is user-chosen code in kernel mode.  Kernel code that handles other users' data runs
 * before and after it.  The kernel's mitigations protect such data at the boundary to user mode, so
 * not between a compound and that code.  The thunks repeat these mitigations (calling.h), but
 * interrupts also arrive in a compound and return to it.  So if the processor needs such a
 * mitigation, no compound is loaded. docs/inside/security.md lists all mitigations.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include "compat/compat.h"
#include "load/processor.h"
#include "reject.h"

static bool allow_processor;
module_param(allow_processor, bool, 0644);
MODULE_PARM_DESC(allow_processor, "also run compounds on processors where they get around what the "
				  "kernel does against leaks");

#define BUFFERS	   "clears its buffers on the way to user mode"
#define RETURNS	   "untrains its returns on the way into the kernel"
#define PREDICTORS "flushes its predictors on the way into the kernel"
#define DIVIDER	   "clears its divider on the way to user mode"
#define UNKNOWN	   "a weakness unknown here"

/* Because of `bug` the kernel does `what`; it does so where `measure` is set. */
static const struct {
	u16 measure, bug;
	const char *name, *what;
} weaknesses[] = {
	{ X86_FEATURE_CLEAR_CPU_BUF, X86_BUG_MDS, "MDS", BUFFERS },
	{ X86_FEATURE_CLEAR_CPU_BUF, X86_BUG_RFDS, "RFDS", BUFFERS },
	{ X86_FEATURE_CLEAR_CPU_BUF, X86_BUG_TSA, "TSA", BUFFERS },
	{ X86_FEATURE_UNRET, X86_BUG_RETBLEED, "Retbleed", RETURNS },
	{ X86_FEATURE_UNRET, X86_BUG_SRSO, "SRSO", RETURNS },
	{ X86_FEATURE_ENTRY_IBPB, X86_BUG_RETBLEED, "Retbleed", PREDICTORS },
	{ X86_FEATURE_ENTRY_IBPB, X86_BUG_SRSO, "SRSO", PREDICTORS },
	{ X86_BUG_DIV0, X86_BUG_DIV0, "DIV0", DIVIDER },
	/* Reasons that other kernels may have. */
	{ X86_FEATURE_UNRET, X86_FEATURE_UNRET, UNKNOWN, RETURNS },
	{ X86_FEATURE_ENTRY_IBPB, X86_FEATURE_ENTRY_IBPB, UNKNOWN, PREDICTORS },
};

/* The mitigation that a compound would get around here; NULL: none. */
static const char *weakness_name, *weakness_what;

static bool processor_has(u16 bit)
{
	return bit != COSY_NO_BIT && test_cpu_cap(&boot_cpu_data, bit);
}

static void weakness_find(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(weaknesses); i++) {
		if (processor_has(weaknesses[i].measure) && processor_has(weaknesses[i].bug)) {
			weakness_name = weaknesses[i].name;
			weakness_what = weaknesses[i].what;
			return;
		}
	}
	/*
	 * For TAA alone the kernel clears its buffers, too, but reading them takes a transaction,
	 * which compounds cannot begin.
	 */
	if (processor_has(X86_FEATURE_CLEAR_CPU_BUF) && !processor_has(X86_BUG_TAA)) {
		weakness_name = UNKNOWN;
		weakness_what = BUFFERS;
	}
}

bool cosy_processor_refused(struct cosy_reject *why)
{
	if (likely(!weakness_name) || READ_ONCE(allow_processor))
		return false;
	cosy_refuse(why, 0, COSY_REJECT_CONTAINER,
		    "this processor has %s: the kernel %s, and compounds get around that "
		    "(cosy(4), allow_processor)",
		    weakness_name, weakness_what);
	return true;
}

void cosy_processor_init(void)
{
	weakness_find();
	if (weakness_name)
		pr_notice("cosy: this processor has %s: the kernel %s, and compounds get around "
			  "that; they are %s\n",
			  weakness_name, weakness_what,
			  allow_processor ? "allowed all the same" : "refused (allow_processor)");
}
