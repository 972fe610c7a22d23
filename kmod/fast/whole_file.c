// SPDX-License-Identifier: GPL-2.0
/*
 * whole_file.c - the composites read_file and write_file: open a small file, read or write it, and
 * close it.
 *
 * Open and close are the kernel's own calls, so the file has a descriptor meanwhile, as natively.
 * Reads and writes are specialised, and the compound makes one call instead of three.
 *
 * Before each call except the first it checks for filters, tracers, signals and limits, and leaves
 * with the remaining work in r1-r5 (COSY_UNDER_WAY).  The user may change these: the kernel's own
 * calls check them like any argument.
 */
#include <linux/unistd.h>
#include "fast/fast.h"
#include "fast/site.h"
#include "run/limits.h"
#include "run/ordinary.h"

/*
 * Makes one read or write of the rest.  Non-zero run->status: it is to be restarted, or a
 * signal's handler makes it fail.
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
 * Returns bytes, or the error of the call that failed.  Non-zero run->status: it leaves before the
 * next of its calls, and r1-r5 say which that is.
 */
static __always_inline s64 whole_file(struct cosy_activation *run, u64 *r, u32 operation,
				      umode_t mode)
{
	s64 result, closed;

	if (likely(!COSY_IS_UNDER_WAY(r[5]))) {
		result = cosy_ordinary(run, __NR_openat, (s32)r[1], r[2], (u32)r[5], mode);
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
	closed = cosy_ordinary(run, __NR_close, (u32)r[1], 0, 0, 0);
	result = r[2];
	return result < 0 || closed >= 0 ? result : closed;
}

/* Reads up to the end of the file, or until `size` bytes are at the user address. */
s64 cosy_op_read_file(struct cosy_activation *run, u64 *r)
{
	return whole_file(run, r, COSY_OP_read_file, 0);
}

/* Writes `size` bytes from the user address, of a file that is made as fopen(3) makes one. */
s64 cosy_op_write_file(struct cosy_activation *run, u64 *r)
{
	return whole_file(run, r, COSY_OP_write_file, 0666);
}
