// SPDX-License-Identifier: GPL-2.0
/*
 * watch.c - see watch.h.
 *
 * Without the parameter `metadata` no function is traced and the ioctl is refused.  With it, there
 * are watchers if the kernel is one on which the guard was tested, all hooks were registered, and
 * the changes of the self-test were noted.  Each second the heartbeat checks that the traced
 * functions still call their hooks; if not, all watchers end, for as long as the module is loaded.
 */
#include <linux/module.h>
#include <linux/utsname.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include "compat/compat.h"
#include "watch/admit.h"
#include "watch/children.h"
#include "watch/descriptor.h"
#include "watch/hooks.h"
#include "watch/process.h"
#include "watch/self_test.h"
#include "watch/watch.h"
#include "watch/watcher.h"

static bool metadata;
module_param(metadata, bool, 0444);
MODULE_PARM_DESC(
	metadata,
	"let unprivileged processes watch attributes of files (experimental; default: no)");

/* Why there are no watchers; NULL: there are. */
static const char *refusal = "the module was loaded without metadata=1";
static bool ready;
static bool stuck; /* hooks that could not be taken away are still called */

static int state_get(char *buffer, const struct kernel_param *param)
{
	const char *why = READ_ONCE(refusal);

	return scnprintf(buffer, PAGE_SIZE, "%s\n", why ? why : "on");
}

static const struct kernel_param_ops state_ops = { .get = state_get };
module_param_cb(metadata_state, &state_ops, NULL, 0444);
MODULE_PARM_DESC(metadata_state, "on, or why attributes cannot be watched");

/*
 * Kernels on which the guard was tested.  This is about code that no header shows, which is why it
 * is no question of a probe.
 */
static bool __init kernel_is_tested(void)
{
	static const char *const series[] __initconst = { "6.12.", "7.3." };
	u32 i;

	/* Some vendors' kernels have other file systems by the same version. */
#if defined(RHEL_RELEASE_CODE) || defined(CONFIG_SUSE_KERNEL)
	return false;
#endif
	for (i = 0; i < ARRAY_SIZE(series); i++) {
		if (!strncmp(utsname()->release, series[i], strlen(series[i])))
			return true;
	}
	return false;
}

/* --- The heartbeat --------------------------------------------------------------------------- */

#define MISSING_BEATS 3

static void beat(struct work_struct *unused);
static DECLARE_DELAYED_WORK(heart, beat);

/*
 * A tracer that is being attached to the same function replaces the call for a moment, so only one
 * that is missing at several beats in a row is lost.  Until then there are no READs, and no answer
 * of before holds.  Hooks that cannot be taken away any more keep the module.
 */
static void beat(struct work_struct *unused)
{
	static u32 missing;

	missing = cosy_hooks_are_in_place() ? 0 : missing + 1;
	cosy_watch_pause(missing);
	if (missing == MISSING_BEATS || !cosy_hooks_can_be_removed()) {
		WRITE_ONCE(refusal, "a traced function no longer calls its hook");
		cosy_watch_end_all();
		__module_get(THIS_MODULE);
		pr_warn("cosy: %s: no more metadata windows\n", refusal);
		return;
	}
	schedule_delayed_work(&heart, HZ);
}

/* --- Start and end --------------------------------------------------------------------------- */

/* Takes the hooks away, and frees what they use.  If some stay, so does that. */
static void watch_stop(void)
{
	stuck = !cosy_hooks_unregister();
	if (!stuck)
		cosy_watchers_exit();
}

/* NULL, or why there are no watchers. */
static const char *__init watch_start(void)
{
	const char *why;

	if (!metadata)
		return refusal;
	if (!kernel_is_tested())
		return "not tested on this kernel series";
	why = cosy_watch_process_init();
	if (why)
		return why;
	cosy_watch_admit_init();
	cosy_watch_children_init();
	if (cosy_watchers_init())
		return "out of memory";
	why = cosy_hooks_register();
	if (!why)
		why = cosy_watch_self_test();
	if (why)
		watch_stop();
	return why;
}

void __init cosy_watch_init(void)
{
	refusal = watch_start();
	if (refusal && metadata)
		pr_info("cosy: no metadata windows: %s\n", refusal);
	if (stuck)
		__module_get(THIS_MODULE);
	ready = !refusal;
	if (ready)
		schedule_delayed_work(&heart, HZ);
}

void cosy_watch_exit(void)
{
	if (ready) {
		cancel_delayed_work_sync(&heart);
		watch_stop();
	}
	if (!stuck)
		return;
	/* The kernel calls code of this module for good, and nothing else can keep it now. */
	pr_err("cosy: tracing has failed, so the module stays and its unloading does not end\n");
	for (;;)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
}

long cosy_watch(const struct cosy_watch *request)
{
	return READ_ONCE(refusal) ? -EOPNOTSUPP : cosy_watch_open(request);
}
