// SPDX-License-Identifier: GPL-2.0
/* fast.c - which specialised version is whose, and the ordinary way. */
#include <linux/fcntl.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/unistd.h>
#include "fast/descriptor.h"
#include "fast/fast.h"
#include "fast/getdents.h"
#include "fast/identity.h"
#include "fast/read.h"
#include "fast/read_file.h"
#include "fast/stat.h"
#include "load/program.h"
#include "view/view.h"

u64 cosy_ask_pid(struct cosy_activation *run)
{
	run->pid = task_tgid_vnr(current);
	return run->pid;
}

/* As it is in the low half of an instruction's word. */
#define FAST_OP(name) ((COSY_OP_##name - COSY_OP_BASE) | COSY_FAST_OP)

/* All but what looks for views itself is to find the bytes in the buffer. */
static __always_inline void settle_for(struct cosy_activation *run, const u64 *r, u32 number)
{
	switch (number) {
	case __NR_write:
	case __NR_pwrite64:
	case __NR_lseek:
	case FAST_OP(view_read):
	case FAST_OP(view_pread):
	case FAST_OP(lend):
	case FAST_OP(readc):
	case FAST_OP(seek_write):
		return;
	case __NR_read:
	case __NR_pread64:
	case FAST_OP(seek_read):
		cosy_views_settle_memory(run, r[2], r[3]);
		return;
	default:
		cosy_views_settle(run);
	}
}

/* The calls that core/ops.def marks: no other ever comes here. */
enum {
#define COSY_CALL(number, name, args, flags) MARKED_##name = !!((flags) & COSY_CALL_FAST),
#include "ops.def"
};

/* The number of a call that has a version here; one without its mark does not compile. */
#define VERSION(name) (__NR_##name + BUILD_BUG_ON_ZERO(!MARKED_##name))

/*
 * With a number that is constant nothing is left of it but one call.  Attributes are any
 * file system's, and those of remote ones are interrupted by signals.
 */
static __always_inline s64 specialised(struct cosy_activation *run, const u64 *r, u32 number)
{
	switch (number) {
	case VERSION(read):
		return cosy_fast_read(run, r[1], r[2], r[3]);
	case VERSION(pread64):
		return cosy_fast_pread(run, r[1], r[2], r[3], r[4]);
	case VERSION(lseek):
		return cosy_fast_lseek(run, r[1], r[2], r[3]);
	case VERSION(stat):
		return cosy_call_result(run, cosy_fast_fstatat(run, AT_FDCWD, r[1], r[2], 0));
	case VERSION(lstat):
		return cosy_call_result(run, cosy_fast_fstatat(run, AT_FDCWD, r[1], r[2], AT_SYMLINK_NOFOLLOW));
	case VERSION(newfstatat):
		return cosy_call_result(run, cosy_fast_fstatat(run, r[1], r[2], r[3], r[4]));
	case VERSION(fstat):
		return cosy_call_result(run, cosy_fast_fstat(run, r[1], r[2]));
	case VERSION(write):
		return cosy_view_write(run, r[1], r[2], r[3]);
	case VERSION(pwrite64):
		return cosy_view_pwrite(run, r[1], r[2], r[3], r[4]);
	case VERSION(getdents64):
		return cosy_fast_getdents(run, r[1], r[2], r[3]);
	case VERSION(gettid):
	case VERSION(getppid):
	case VERSION(getuid):
	case VERSION(geteuid):
	case VERSION(getgid):
	case VERSION(getegid):
		return cosy_pure_identity(number);
	case VERSION(clock_gettime):
		return cosy_pure_clock(run, r[1], (void __user *)r[2]);
	case VERSION(gettimeofday):
		return cosy_pure_timeofday(run, (void __user *)r[1], (void __user *)r[2]);
	case VERSION(time):
		return cosy_pure_time(run, (void __user *)r[1]);
	default:
		return COSY_ORDINARY;
	}
}

/* Out of line: the registers would be room on the stack that no specialised version needs. */
static noinline u64 ordinarily(struct cosy_activation *run, const u64 *r, u32 number)
{
	return cosy_ordinary_regs(run, number,
			&(struct pt_regs){ .di = r[1], .si = r[2], .dx = r[3], .r10 = r[4], .r8 = r[5], .r9 = r[0] });
}

/* What a specialised version answered, or the ordinary way. */
static __always_inline u64 answer(struct cosy_activation *run, const u64 *r, u32 number, s64 result)
{
	if (unlikely(result == COSY_ORDINARY))
		return ordinarily(run, r, number);
	run->fast++;
	return result;
}

/* A byte that can only be read into a user's memory is left to the interpreter. */
static s64 readc(struct cosy_activation *run, u32 fd)
{
	s64 result = cosy_fast_readc(run, fd);

	if (unlikely(result == COSY_ORDINARY)) {
		cosy_leave_at(run, COSY_LEFT_FAULT, run->insn, 0);
		return 0;
	}
	run->fast++;
	return cosy_call_result(run, result);
}

/* The seek has been done, so a second half that was interrupted must not start over. */
static s64 end_here(struct cosy_activation *run, s64 result)
{
	if (likely(run->status == COSY_DONE))
		return result;
	run->status = COSY_DONE;
	return -EINTR;
}

/* What both begin with: the new position, or an error. */
static s64 seek(struct cosy_activation *run, const u64 *r)
{
	s64 result = cosy_fast_lseek(run, r[1], r[4], r[5]);

	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_lseek, r[1], r[4], r[5], 0);
	return result;
}

static s64 seek_read(struct cosy_activation *run, const u64 *r)
{
	s64 result = seek(run, r);

	if (result < 0)
		return result;
	result = cosy_fast_read(run, r[1], r[2], r[3]);
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_read, r[1], r[2], r[3], 0);
	return end_here(run, result);
}

static s64 seek_write(struct cosy_activation *run, const u64 *r)
{
	s64 result = seek(run, r);

	if (result < 0)
		return result;
	result = cosy_view_write(run, r[1], r[2], r[3]);
	if (result == COSY_ORDINARY)
		result = cosy_ordinary(run, __NR_write, r[1], r[2], r[3], 0);
	return end_here(run, result);
}

static __always_inline s64 view_read(struct cosy_activation *run, const u64 *r)
{
	return answer(run, r, __NR_read, run->prog->ordinary ? COSY_ORDINARY :
					 cosy_view_read(run, r[1], r[2], r[3]));
}

static __always_inline s64 view_pread(struct cosy_activation *run, const u64 *r)
{
	return answer(run, r, __NR_pread64, run->prog->ordinary ? COSY_ORDINARY :
					    cosy_view_pread(run, r[1], r[2], r[3], r[4]));
}

/* Where there is nothing to lend: a socket is sent to, whatever else is written to. */
static s64 lend(struct cosy_activation *run, const u64 *r)
{
	u32 number;
	s64 result = cosy_lend(run, r[1], r[2], r[3], r[4], &number);

	if (likely(result != COSY_ORDINARY)) {
		run->fast++;
		return result;
	}
	return cosy_ordinary(run, number, r[1], r[2], r[3], number == __NR_write ? 0 : r[4]);
}

static __always_inline s64 operation(struct cosy_activation *run, u64 *r, u32 number)
{
	switch (COSY_OP_BASE + number) {
	case COSY_OP_view_read:
		return view_read(run, r);
	case COSY_OP_view_pread:
		return view_pread(run, r);
	case COSY_OP_lend:
		return lend(run, r);
	case COSY_OP_scan_dir:
		return cosy_scan_directory(run, r[1], r[2], r[3], r[4]);
	case COSY_OP_read_file:
		return cosy_read_whole(run, r[1], r[2], r[3], r[4], r[5]);
	case COSY_OP_readc:
		return readc(run, r[1]);
	case COSY_OP_seek_read:
		return seek_read(run, r);
	case COSY_OP_seek_write:
		return seek_write(run, r);
	default:
		/* The validator knows no other. */
		cosy_leave_at(run, COSY_LEFT_TRAP, run->insn, 0);
		return 0;
	}
}

static __always_inline void begin(struct cosy_activation *run, const u64 *r, u32 word, u32 number)
{
	run->insn = word >> 16;
	if (unlikely(cosy_has_views(run)))
		settle_for(run, r, number);
}

u64 cosy_fast(struct cosy_activation *run, u64 *r, u32 word)
{
	u32 number = word & 0xffff;

	begin(run, r, word, number);
	if (number & COSY_FAST_OP)
		return operation(run, r, number & ~COSY_FAST_OP);
	return answer(run, r, number, specialised(run, r, number));
}

#define CALL_THUNK(number, name)							\
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word)		\
	{										\
		begin(run, r, word, number);						\
		return answer(run, r, number, specialised(run, r, number));		\
	}
#define MAKER_THUNK(name)								\
	u64 cosy_call_##name(struct cosy_activation *run, u64 *r, u32 word)		\
	{										\
		begin(run, r, word, FAST_OP(name));					\
		return operation(run, r, COSY_OP_##name - COSY_OP_BASE);		\
	}
#include "run/call_thunks.def"
#undef MAKER_THUNK
#undef CALL_THUNK
