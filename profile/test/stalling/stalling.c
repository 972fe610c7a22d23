// SPDX-License-Identifier: GPL-2.0
/*
 * stalling.c - holds cosy-observe in the middle of its BPF programs, by kprobes on the kernel's
 * functions that these programs call, so that a process that is being looked at can change between
 * any two looks.
 *
 * Write `until`, then `process`, the first thread of cosy-observe.  `asked` counts that thread's
 * calls of these functions from then on.  At the first above `until` the thread is held until that
 * is raised.  Nothing sleeps in a kprobe, so the thread spins, and the raising of `until` needs
 * another processor.  A thread that was held for too long goes on, and `late` counts it.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

/* Less than what the kernel takes for a stall, as stalled.sh sets it. */
#define MAX_HELD_US (60 * USEC_PER_SEC)
#define SPIN_US	    10

static int process, asked, until, late;

static int place_enter(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned long spins;
	u64 began;
	int question;

	if (READ_ONCE(process) != current->pid)
		return 0;
	question = asked + 1;
	/* Show what this processor did before. */
	smp_store_release(&asked, question);
	began = ktime_get_mono_fast_ns();
	for (spins = 0; READ_ONCE(until) < question; spins++) {
		/* On a busy machine udelay may have been calibrated to less than it says. */
		if (spins >= MAX_HELD_US / SPIN_US &&
		    ktime_get_mono_fast_ns() - began > MAX_HELD_US * NSEC_PER_USEC) {
			WRITE_ONCE(late, late + 1);
			break;
		}
		udelay(SPIN_US);
	}
	/* See what was done before `until` was raised. */
	smp_mb();
	return 0;
}

static struct kprobe places[] = {
	{.symbol_name = "bpf_probe_read_kernel", .pre_handler = place_enter},
	{.symbol_name = "bpf_ringbuf_reserve", .pre_handler = place_enter},
};

static int process_set(const char *value, const struct kernel_param *param)
{
	WRITE_ONCE(process, 0);
	WRITE_ONCE(asked, 0);
	return param_set_int(value, param);
}

static const struct kernel_param_ops process_ops = {.set = process_set, .get = param_get_int};
module_param_cb(process, &process_ops, &process, 0600);
module_param(asked, int, 0400);
module_param(until, int, 0600);
module_param(late, int, 0400);

static int __init stalling_init(void)
{
	int i, error = 0;

	for (i = 0; i < ARRAY_SIZE(places) && !error; i++)
		error = register_kprobe(&places[i]);
	if (error)
		for (i--; i--;)
			unregister_kprobe(&places[i]);
	return error;
}

static void __exit stalling_exit(void)
{
	int i = ARRAY_SIZE(places);

	while (i--)
		unregister_kprobe(&places[i]);
}

module_init(stalling_init);
module_exit(stalling_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds cosy-observe in its BPF programs, for its tests");
