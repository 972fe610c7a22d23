// SPDX-License-Identifier: MIT
/* relaxed.c - see relaxed.h. */
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "alone.h"
#include "environment.h"
#include "file/file.h"
#include "file/filesystem.h"
#include "file/policy.h"
#include "mask.h"
#include "next.h"
#include "relax/exit_signals.h"
#include "relax/relaxed.h"
#include "syscall.h"
#include "vfork.h"

/* For each descriptor the errno of an error that came too late for the call that caused it. */
static uint8_t late_errors[FILES];

uint32_t relaxed_compared[FILES];
uint32_t relaxed_changes = 1;
void (*relaxed_settle_all)(void);
bool relaxed_over;

uint64_t relaxed_block_signals(void)
{
	return mask_block_all();
}

void relaxed_restore_signals(uint64_t signals)
{
	mask_restore(signals);
}

void relaxed_late_error(int fd, long error)
{
	/* Keep the first. */
	if ((unsigned int)fd < FILES && !late_errors[fd])
		late_errors[fd] = -error;
}

int relaxed_take_error(int fd)
{
	int error;

	if ((unsigned int)fd >= FILES || !late_errors[fd])
		return 0;
	error = late_errors[fd];
	late_errors[fd] = 0;
	return error;
}

void relaxed_changed(void)
{
	relaxed_renew();
	exit_signals_prepare(relaxed_settle_all);
}

/* The kinds of relaxing that the command line names; a rule may add to them. */
static unsigned int asked;

unsigned int relaxed_now(void)
{
	static bool looked, by_rule;

	if (!looked) {
		const char *list = environment_get(ENVIRONMENT_RELAX);

		if (list && strstr(list, "trunc"))
			asked |= RELAX_TRUNC;
		if (list && strstr(list, "coalesce"))
			asked |= RELAX_COALESCE;
		if (list && strstr(list, "reflink"))
			asked |= RELAX_REFLINK;
		by_rule = policy_relaxes();
		looked = true;
	}
	if (!alone() || relaxed_over || !next_is_libc() || file_sharing() || vfork_in_child())
		return 0;
	return by_rule ? RELAX_TRUNC | RELAX_COALESCE | RELAX_REFLINK : asked;
}

bool relaxed_allows(int fd, unsigned int what)
{
	struct policy policy;

	if (!(relaxed_now() & what))
		return false;
	policy_find(fd, asked, &policy);
	return !policy.off && (policy.relax & what);
}

/* Asks the kernel only for another file system than the last time. */
bool relaxed_local(int fd, dev_t dev)
{
	static dev_t last;
	struct statfs fs;

	if (dev == last)
		return true;
	if (cosy_syscall3(SYS_fstatfs, fd, (unsigned long)&fs, 0) ||
	    !filesystem_has_leases(fs.f_type))
		return false;
	last = dev;
	return true;
}
