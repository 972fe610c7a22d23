// SPDX-License-Identifier: GPL-2.0
/*
 * holding.c - a module for tests.  It holds a thread where cosy.ko asks for a permission, for
 * attributes, or whether a read or write is allowed, gives its turn to another thread, or takes a
 * spinlock, by kprobes, so that another thread can come in between; and where a file system is about to
 * change an inode's attributes.
 *
 * Write `place`, one of the PLACE_ values below, and `until`, then `thread`, a number of the first
 * namespace.  `asked` counts the questions that cosy.ko asks there for that thread from then on.
 * At each above `until` the thread is held until that is raised.  Nothing sleeps in a kprobe, and
 * interrupts may be off there: so the thread spins, and whoever raises `until` needs another
 * processor.  A thread that was held for too long goes on, and `late` counts it.  That may happen to
 * any test: a processor that waits for all others, to flush what they have cached of the page tables
 * for example, waits until the thread goes on.
 */
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/version.h>
#include <asm/text-patching.h>

#define SPIN_US 10

enum {
	PLACE_PERMISSION,
	PLACE_ATTRIBUTES,
	PLACE_TRANSFER,
	PLACE_TURN,
	PLACE_CHANGE,
	PLACES,
	PLACE_LOCK = PLACES,
};
enum { MAX_LOCKS = 256 };

static int thread, place, asked, until, late;
/* In microseconds; less than what the kernel takes for a stall, as holding.sh sets it. */
static unsigned int longest = 60 * USEC_PER_SEC;

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
	[PLACE_TURN] = { .symbol_name = "yield_to", .pre_handler = place_enter },
	[PLACE_CHANGE] = { .symbol_name = "setattr_copy", .pre_handler = place_enter },
};

/* Before the calls in cosy.ko that take a spinlock: the function itself is no place for a kprobe. */
static struct kprobe locks[MAX_LOCKS];
static int lock_count;

static int place_enter(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long spins;
	u64 began;
	int question;

	if (READ_ONCE(thread) != current->pid)
		return 0;
	if (place == PLACE_LOCK
		    ? probe < locks || probe >= locks + MAX_LOCKS
		    : probe != &places[place] || (place != PLACE_CHANGE && !asker_is_cosy(regs)))
		return 0;
	question = asked + 1;
	/* Show what this processor did before. */
	smp_store_release(&asked, question);
	began = ktime_get_mono_fast_ns();
	for (spins = 0; READ_ONCE(until) < question; spins++) {
		/* On a busy machine udelay may have been calibrated to less than it says. */
		if (spins >= longest / SPIN_US &&
		    ktime_get_mono_fast_ns() - began > longest * NSEC_PER_USEC) {
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
	WRITE_ONCE(late, 0);
	return param_set_int(value, param);
}

static const struct kernel_param_ops thread_ops = { .set = thread_set, .get = param_get_int };
module_param_cb(thread, &thread_ops, &thread, 0600);
module_param(place, int, 0600);
module_param(asked, int, 0400);
module_param(until, int, 0600);
module_param(late, int, 0400);
module_param(longest, uint, 0600);

static void places_unregister(int count)
{
	while (lock_count)
		unregister_kprobe(&locks[--lock_count]);
	while (count--)
		unregister_kprobe(&places[count]);
}

/* Returns the module of that name if it is the one loaded just before this one. */
static const struct module *module_before(const char *name)
{
	const struct module *module = list_next_entry(THIS_MODULE, list);

	return strcmp(module->name, name) ? NULL : module;
}

/* Plants a kprobe at each direct call of _raw_spin_lock in cosy.ko.  Returns how many there are. */
static int locks_register(void)
{
	const struct module *cosy = module_before("cosy");
	const u8 *at, *end;

	if (!cosy)
		return -ENOENT;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	at = cosy->mem[MOD_TEXT].base;
	end = at + cosy->mem[MOD_TEXT].size;
#else
	at = cosy->core_layout.base;
	end = at + cosy->core_layout.text_size;
#endif
	for (; at + CALL_INSN_SIZE <= end && lock_count < MAX_LOCKS; at++) {
		struct kprobe *lock = &locks[lock_count];

		if (*at != CALL_INSN_OPCODE ||
		    at + CALL_INSN_SIZE + *(const s32 *)(at + 1) != (const u8 *)_raw_spin_lock)
			continue;
		*lock = (struct kprobe){ .addr = (kprobe_opcode_t *)at,
					 .pre_handler = place_enter };
		/* What is no instruction is refused. */
		lock_count += !register_kprobe(lock);
	}
	return lock_count;
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
	error = locks_register();
	pr_info("holding: %d spinlocks of cosy.ko\n", error);
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
