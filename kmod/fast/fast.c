// SPDX-License-Identifier: GPL-2.0
/* fast.c - the entry of each specialised call and composite, generated from ops.def. */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include "fast/fast.h"
#include "fast/site.h"
#include "load/program.h"
#include "run/limits.h"
#include "run/ordinary.h"
#include "view/view.h"

u64 cosy_ask_pid(struct cosy_activation *run)
{
	run->pid = task_tgid_vnr(current);
	return run->pid;
}

/* The column `views` of ops.def: how a call deals with views before it begins. */
enum call_views { VIEWS_KEPT, VIEWS_TARGET, VIEWS_WRITTEN_BACK };

static __always_inline void call_begin(struct cosy_activation *run, const u64 *r, u32 word,
				       enum call_views views)
{
	run->insn = word >> 16;
	if (likely(views == VIEWS_KEPT || !cosy_has_views(run)))
		return;
	if (views == VIEWS_TARGET)
		cosy_views_write_back_memory(run, r[2], r[3]);
	else
		cosy_views_write_back(run);
}

/* Returns whether a failed guard of this call costs so much that its sites are watched. */
static __always_inline bool call_has_sites(u32 number)
{
	switch (number) {
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_stat:
	case __NR_lstat:
	case __NR_newfstatat:
	case __NR_statx:
	case __NR_getxattr:
	case __NR_lgetxattr:
	case __NR_readlink:
	case __NR_readlinkat:
	case __NR_access:
	case __NR_open:
	case __NR_openat:
	case __NR_close:
	case __NR_faccessat:
	case __NR_faccessat2:
	case __NR_chmod:
	case __NR_fchmodat:
	case __NR_utimensat:
		return true;
	default:
		return false;
	}
}

/* --- Entries ---------------------------------------------------------------------------------- */

/*
 * Makes the kernel's own call.  Out of line: the registers would take room on the stack that no
 * specialised version needs.
 */
static noinline u64 call_ordinary(struct cosy_activation *run, const u64 *r, u32 number)
{
	/* Calls look at their arguments alone. */
	struct pt_regs regs __cosy_uninitialized;

	regs.di = r[1];
	regs.si = r[2];
	regs.dx = r[3];
	regs.r10 = r[4];
	regs.r8 = r[5];
	regs.r9 = r[0];
	return cosy_ordinary_regs(run, number, &regs);
}

/* Counts the failed guard if the call has sites, and makes the kernel's own call. */
static __always_inline u64 call_failed(struct cosy_activation *run, const u64 *r, u32 number)
{
	if (call_has_sites(number))
		cosy_site_tell(run, true);
	return call_ordinary(run, r, number);
}

/*
 * Defines the call of a version, where no site of the program has failed lately, and its call
 * where one has.  The latter is out of line, so that the former keeps no more than it needs.
 */
#define CALL_WITH_SITES(name, number)                                                              \
	static noinline u64 call_watched_##name(struct cosy_activation *run, const u64 *r)         \
	{                                                                                          \
		s64 result = cosy_site_try(run, r, call_try_##name);                               \
                                                                                                   \
		if (result == COSY_ORDINARY)                                                       \
			return call_ordinary(run, r, number);                                      \
		run->fast++;                                                                       \
		return result;                                                                     \
	}                                                                                          \
	static __always_inline u64 call_make_##name(struct cosy_activation *run, const u64 *r)     \
	{                                                                                          \
		s64 result;                                                                        \
                                                                                                   \
		if (call_has_sites(number) && unlikely(cosy_sites_any(run)))                       \
			return call_watched_##name(run, r);                                        \
		result = call_try_##name(run, r);                                                  \
		if (unlikely(result == COSY_ORDINARY))                                             \
			return call_failed(run, r, number);                                        \
		run->fast++;                                                                       \
		return result;                                                                     \
	}

#define COSY_FAST_CALL(number, name, args, flags, views)                                           \
	static __always_inline s64 call_try_##name(struct cosy_activation *run, const u64 *r)      \
	{                                                                                          \
		return cosy_fast_##name(run, r);                                                   \
	}                                                                                          \
	CALL_WITH_SITES(name, number)                                                              \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word)                        \
	{                                                                                          \
		call_begin(run, r, word, VIEWS_##views);                                           \
		return call_make_##name(run, r);                                                   \
	}
#define COSY_COMPOSITE(number, name, args, flags, views, ...)                                      \
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word)                        \
	{                                                                                          \
		call_begin(run, r, word, VIEWS_##views);                                           \
		return cosy_op_##name(run, r);                                                     \
	}
#include "ops.def"

/* --- Composites that are a few calls in a row ------------------------------------------- */

/*
 * Marks in r5 that the seek is done, so that a call that is interrupted or left from here on does
 * not start over.
 */
static void seek_mark(u64 *r)
{
	r[5] = COSY_UNDER_WAY | (u32)r[5];
}

/*
 * Makes the seek before the read or write; `tries`: by its specialised version.  True: the
 * operation ends here, with a result since the seek failed, or with run->status: it has to leave
 * before the second call.
 */
static __always_inline bool seek_ends(struct cosy_activation *run, u64 *r, enum cosy_op op,
				      bool tries, s64 *result)
{
	const u64 seek[] = { 0, r[1], r[4], r[5] };

	if (unlikely(COSY_IS_UNDER_WAY(r[5])))
		return false;
	*result = tries ? cosy_fast_lseek(run, seek) : COSY_ORDINARY;
	if (*result == COSY_ORDINARY)
		*result = cosy_ordinary(run, __NR_lseek, r[1], r[4], r[5], 0);
	if (unlikely(*result < 0))
		return true;
	if (likely(!cosy_between_calls(run, op)))
		return false;
	seek_mark(r);
	return true;
}

static __always_inline s64 seek_result(struct cosy_activation *run, u64 *r, s64 result)
{
	if (unlikely(run->status != COSY_DONE))
		seek_mark(r);
	return result;
}

s64 cosy_op_seek_read(struct cosy_activation *run, u64 *r)
{
	bool missing, tries = cosy_site_tries(run, &missing);
	s64 result;

	if (unlikely(seek_ends(run, r, COSY_OP_seek_read, tries, &result)))
		return result;
	result = COSY_ORDINARY;
	if (tries) {
		result = cosy_fast_read(run, r);
		cosy_site_note(run, missing, result);
	}
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_read, r[1], r[2], r[3], 0);
	return seek_result(run, r, result);
}

s64 cosy_op_seek_write(struct cosy_activation *run, u64 *r)
{
	bool missing, tries = cosy_site_tries(run, &missing);
	s64 result;

	if (unlikely(seek_ends(run, r, COSY_OP_seek_write, tries, &result)))
		return result;
	result = COSY_ORDINARY;
	if (tries) {
		result = cosy_fast_write(run, r);
		cosy_site_note(run, missing, result);
	}
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_write, r[1], r[2], r[3], 0);
	return seek_result(run, r, result);
}

/* A read that makes views, or with COSY_ORDINARY_CALLS an ordinary one. */
#define VIEW_READ(name, number, ...)                                                               \
	static __always_inline s64 call_try_##name(struct cosy_activation *run, const u64 *r)      \
	{                                                                                          \
		return cosy_##name(run, __VA_ARGS__);                                              \
	}                                                                                          \
	CALL_WITH_SITES(name, number)                                                              \
	s64 cosy_op_##name(struct cosy_activation *run, u64 *r)                                    \
	{                                                                                          \
		if (unlikely(run->prog->ordinary))                                                 \
			return call_ordinary(run, r, number);                                      \
		return call_make_##name(run, r);                                                   \
	}

VIEW_READ(view_read, __NR_read, r[1], r[2], r[3])
VIEW_READ(view_pread, __NR_pread64, r[1], r[2], r[3], r[4])
