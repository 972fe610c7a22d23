/* SPDX-License-Identifier: GPL-2.0 */
/*
 * site.h - call sites whose guards keep failing.
 *
 * A guard that has often failed at a site, and seldom held in between, is likely to fail again.  A
 * number of the site's next calls is then made by the kernel's own call, without trying the
 * specialised version (Synthetix, SOSP 1995, section 3: a quasi-invariant that is often broken is
 * not worth a guard).  A site is an instruction of a loaded program: a call, or a composite with
 * all calls that it makes.
 */
#ifndef COSY_SITE_H
#define COSY_SITE_H

#include "fast/guard.h"
#include "load/program.h"

/* Returns whether the version at a site where guards failed lately is not to be tried now. */
bool cosy_site_passes(struct cosy_activation *run);

/* Counts a failed guard at a site, or that the guards held where some failed lately. */
void cosy_site_tell(struct cosy_activation *run, bool failed);

/* Returns whether guards failed lately at any site of the program. */
static __always_inline bool cosy_sites_any(const struct cosy_activation *run)
{
	return READ_ONCE(run->prog->sites.missing);
}

/*
 * Returns whether the specialised version of the call under way is to be tried.  `*missing` is then
 * for cosy_site_note.
 */
static __always_inline bool cosy_site_tries(struct cosy_activation *run, bool *missing)
{
	*missing = READ_ONCE(run->prog->sites.missing) >> (run->insn % COSY_SITES) & 1;
	return likely(!*missing) || !cosy_site_passes(run);
}

/* Notes whether a guard failed: what the version that was tried returned. */
static __always_inline void cosy_site_note(struct cosy_activation *run, bool missing, s64 result)
{
	if (unlikely(missing || result == COSY_ORDINARY))
		cosy_site_tell(run, result == COSY_ORDINARY);
}

/*
 * Returns the result of the specialised version, or COSY_ORDINARY: a guard failed, or its site is
 * passed over.
 */
static __always_inline s64 cosy_site_try(struct cosy_activation *run, const u64 *r,
					 s64 (*version)(struct cosy_activation *, const u64 *))
{
	s64 result = COSY_ORDINARY;
	bool missing;

	if (cosy_site_tries(run, &missing)) {
		result = version(run, r);
		cosy_site_note(run, missing, result);
	}
	return result;
}

#endif /* COSY_SITE_H */
