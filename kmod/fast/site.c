// SPDX-License-Identifier: GPL-2.0
/* site.c - counts failed guards by call site, and decides when a version is tried again. */
#include <linux/minmax.h>
#include <linux/module.h>
#include "fast/site.h"

static uint max_missed = 32;
module_param(max_missed, uint, 0600);
MODULE_PARM_DESC(max_missed,
		 "failed guards of a call until it is made without trying; 0: always try");
#define MAX_PASSED 1024U

/*
 * A failed attempt costs as much as two calls save whose guards hold: held state is dropped before
 * the kernel's own call, and the next attempt has to start again.
 */
#define MISS 2

bool cosy_site_passes(struct cosy_activation *run)
{
	struct cosy_sites *sites = &run->prog->sites;
	u32 site = run->insn % COSY_SITES;
	u32 most = min(READ_ONCE(max_missed), (u32)U8_MAX / MISS) * MISS;
	u16 passed;

	if (!most || READ_ONCE(sites->missed[site]) < most)
		return false;
	passed = READ_ONCE(sites->passed[site]) + 1;
	if (passed < MAX_PASSED) {
		WRITE_ONCE(sites->passed[site], passed);
		return true;
	}
	/* One more failure is enough. */
	WRITE_ONCE(sites->passed[site], 0);
	WRITE_ONCE(sites->missed[site], most - 1);
	return false;
}

void cosy_site_tell(struct cosy_activation *run, bool failed)
{
	struct cosy_sites *sites = &run->prog->sites;
	u32 site = run->insn % COSY_SITES;
	u8 now = READ_ONCE(sites->missed[site]);

	if (failed)
		now = min(now + MISS, U8_MAX);
	else if (now)
		now--;
	WRITE_ONCE(sites->missed[site], now);
	if (now)
		set_bit(site, &sites->missing);
	else
		clear_bit(site, &sites->missing);
}
