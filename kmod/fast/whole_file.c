// SPDX-License-Identifier: GPL-2.0
/*
 * whole_file.c - the composites read_file and write_file: open a small file, read or write it, and
 * close it.
 *
 * The file has a descriptor meanwhile, as natively.  All calls are specialised if their guards
 * hold, and the compound makes one call instead of three.
 *
 * Before each call except the first it checks for filters, tracers, signals and limits, and leaves
 * with the remaining work in r1-r5 (COSY_UNDER_WAY).  The user may change these: the kernel's own
 * calls check them like any argument.
 */
#include <linux/unistd.h>
#include "fast/fast.h"
#include "fast/open.h"
#include "fast/site.h"
#include "run/limits.h"
#include "run/ordinary.h"

/*
 * Does cosy_site_try for an open or a close, but counts failures only: success here does not show
 * that the site's reads and writes succeed.
 */
static __always_inline s64 site_try_beside(struct cosy_activation *run, const u64 *call,
					   s64 (*version)(struct cosy_activation *, const u64 *))
{
	s64 result = COSY_ORDINARY;
	bool missing;

	if (cosy_site_tries(run, &missing)) {
		result = version(run, call);
		if (result == COSY_ORDINARY)
			cosy_site_tell(run, true);
	}
	return result;
}

/*
 * Opens as openat(2) does.  Flags that are never served count as no failed guard, because the
 * site's reads and writes may be specialised all the same.
 */
static __always_inline s64 file_open(struct cosy_activation *run, s32 dirfd, u64 path, u32 flags,
				     umode_t mode)
{
	const u64 call[] = { 0, dirfd, path, flags, mode };
	s64 result = COSY_ORDINARY;

	if (cosy_open_is_served(flags))
		result = site_try_beside(run, call, cosy_fast_openat);

	return result == COSY_ORDINARY ? cosy_ordinary(run, __NR_openat, dirfd, path, flags, mode)
				       : result;
}

static __always_inline s64 file_close(struct cosy_activation *run, u32 number)
{
	const u64 call[] = { 0, number };
	s64 result = site_try_beside(run, call, cosy_fast_close);

	return result == COSY_ORDINARY ? cosy_ordinary(run, __NR_close, number, 0, 0, 0) : result;
}

/*
 * Makes one read or write of the remaining bytes.  A non-zero run->status means that it is to be
 * restarted, or fails because of a signal's handler.
 */
static __always_inline void file_some(struct cosy_activation *run, u64 *r, u32 operation)
{
	const u64 call[] = { 0, (u32)r[1], r[3], r[4] };
	bool reads = operation == COSY_OP_read_file;
	s64 result = reads ? cosy_site_try(run, call, cosy_fast_read)
			   : cosy_site_try(run, call, cosy_fast_write);

	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, reads ? __NR_read : __NR_write, (u32)r[1], r[3], r[4],
				       0);
	if (unlikely(run->status != COSY_DONE))
		return;
	if (result <= 0) {
		r[4] = 0;
		if (result < 0)
			r[2] = result;
		return;
	}
	r[2] += result;
	r[3] += result;
	r[4] -= result;
}

/*
 * Makes openat(dirfd, path, flags, mode), reads or writes until nothing remains, and closes.
 * Returns bytes, or the error of the call that failed.  A non-zero run->status means that it leaves
 * before its next call, which r1-r5 encode.
 */
static __always_inline s64 whole_file(struct cosy_activation *run, u64 *r, u32 operation,
				      umode_t mode)
{
	s64 result, closed;

	if (likely(!COSY_IS_UNDER_WAY(r[5]))) {
		result = file_open(run, r[1], r[2], r[5], mode);
		if (result < 0)
			return result;
		r[1] = result;
		r[2] = 0;
		r[5] = COSY_UNDER_WAY | (u32)r[5];
		if (cosy_between_many_calls(run, operation))
			return 0;
	}
	while (r[4] && (s64)r[2] >= 0) {
		file_some(run, r, operation);
		if (run->status != COSY_DONE || cosy_between_many_calls(run, operation))
			return 0;
	}
	/* close is never restarted. */
	closed = file_close(run, r[1]);
	result = r[2];
	return result < 0 || closed >= 0 ? result : closed;
}

/* Reads up to the end of the file, or until `size` bytes are at the user address. */
s64 cosy_op_read_file(struct cosy_activation *run, u64 *r)
{
	return whole_file(run, r, COSY_OP_read_file, 0);
}

/* Writes `size` bytes from the user address to a file, which it creates with fopen(3)'s mode. */
s64 cosy_op_write_file(struct cosy_activation *run, u64 *r)
{
	return whole_file(run, r, COSY_OP_write_file, 0666);
}
