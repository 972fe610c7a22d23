// SPDX-License-Identifier: GPL-2.0
/*
 * holding.c - a module for tests.  It holds a thread where cosy.ko asks for a permission, for
 * attributes, or whether a read or write is allowed, by kprobes, so that another thread can come in
 * between.
 *
 * Write `place`, one of the PLACE_ values below, and `until`, then `thread`, a number of the first
 * namespace.  `asked` counts the questions that cosy.ko asks there for that thread from then on.
 * At each above `until` the thread is held until that is raised.  Nothing sleeps in a kprobe, and
 * interrupts may be off there: so the thread spins, and whoever raises `until` needs another
 * processor.  A thread that was held for too long goes on, and `late` counts it.
 */
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>

/* Less than what the kernel takes for a stall, as holding.sh sets it. */
#define MAX_HELD_US (60 * USEC_PER_SEC)
#define SPIN_US	    10

enum { PLACE_PERMISSION, PLACE_ATTRIBUTES, PLACE_TRANSFER, PLACES };

static int thread, place, asked, until, late;

static bool asker_is_cosy(const struct pt_regs *regs)
{
	char caller[KSYM_SYMBOL_LEN];

	sprint_symbol(caller, *(unsigned long *)regs->sp);
	return strstr(caller, "[cosy]");
}

static int place_enter(struct kprobe *probe, struct pt_regs *regs);

static struct kprobe places[PLACES] = {
	[PLACE_PERMISSION] = { .symbol_name = "inode_permission", .pre_handler = place_enter },
	[PLACE_ATTRIBUTES] = { .symbol_name = "cosy_attributes", .pre_handler = place_enter },
	[PLACE_TRANSFER] = { .symbol_name = "rw_verify_area", .pre_handler = place_enter },
};

static int place_enter(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long spins;
	int question;

	if (READ_ONCE(thread) != current->pid || probe != &places[place] || !asker_is_cosy(regs))
		return 0;
	question = asked + 1;
	/* Show what this processor did before. */
	smp_store_release(&asked, question);
	for (spins = 0; READ_ONCE(until) < question; spins++) {
		if (spins == MAX_HELD_US / SPIN_US) {
			WRITE_ONCE(late, late + 1);
			break;
		}
		udelay(SPIN_US);
	}
	/* See what was done before `until` was raised. */
	smp_mb();
	return 0;
}

static int thread_set(const char *value, const struct kernel_param *param)
{
	WRITE_ONCE(thread, 0);
	WRITE_ONCE(asked, 0);
	return param_set_int(value, param);
}

static const struct kernel_param_ops thread_ops = { .set = thread_set, .get = param_get_int };
module_param_cb(thread, &thread_ops, &thread, 0600);
module_param(place, int, 0600);
module_param(asked, int, 0400);
module_param(until, int, 0600);
module_param(late, int, 0400);

static void places_unregister(int count)
{
	while (count--)
		unregister_kprobe(&places[count]);
}

static int __init holding_init(void)
{
	int i, error;

	for (i = 0; i < PLACES; i++) {
		error = register_kprobe(&places[i]);
		if (error) {
			places_unregister(i);
			return error;
		}
	}
	return 0;
}

static void __exit holding_exit(void)
{
	places_unregister(PLACES);
}

module_init(holding_init);
module_exit(holding_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds a thread at a place in cosy.ko, for its tests");
