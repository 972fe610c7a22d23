// SPDX-License-Identifier: MIT
/*
 * interp_fast.c - the operations of core/ops.def that stand for system calls, in user
 * mode: as the calls themselves, one behind the other.
 */
#include <sys/syscall.h>

#include "access.h"
#include "fast_calls.h"
#include "interp_ops.h"
#include "syscall.h"

#define P(n) ((void *)r[n])
#define I(n) ((int)r[n])

/* Views are of the kernel: here what was read is in memory, and they are plain accesses. */
static u64 load(u64 address, u64 size)
{
	switch (size) {
	case 1:
		return libcosy_load(address, BPF_LDX | BPF_MEM | BPF_B);
	case 2:
		return libcosy_load(address, BPF_LDX | BPF_MEM | BPF_H);
	case 4:
		return libcosy_load(address, BPF_LDX | BPF_MEM | BPF_W);
	default:
		return libcosy_load(address, BPF_LDX | BPF_MEM | BPF_DW);
	}
}

static void store(u64 address, u64 value, u64 size)
{
	switch (size) {
	case 1:
		return libcosy_store(address, value, BPF_B);
	case 2:
		return libcosy_store(address, value, BPF_H);
	case 4:
		return libcosy_store(address, value, BPF_W);
	default:
		return libcosy_store(address, value, BPF_DW);
	}
}

bool libcosy_interp_fast_op(struct libcosy_interp *in, u32 number, u64 *ret)
{
	const u64 *r = in->state->reg;

	switch (number) {
	case COSY_OP_NUMBER_view_read:
		*ret = cosy_syscall3(SYS_read, r[1], r[2], r[3]);
		break;
	case COSY_OP_NUMBER_view_pread:
		*ret = cosy_syscall6(SYS_pread64, r[1], r[2], r[3], r[4], 0, 0);
		break;
	case COSY_OP_NUMBER_readc:
		*ret = libcosy_do_readc(I(1));
		break;
	case COSY_OP_NUMBER_seek_read:
		*ret = libcosy_do_seek_read(I(1), P(2), r[3], r[4], I(5));
		break;
	case COSY_OP_NUMBER_seek_write:
		*ret = libcosy_do_seek_write(I(1), P(2), r[3], r[4], I(5));
		break;
	case COSY_OP_NUMBER_read_file:
		*ret = libcosy_do_read_file(I(1), P(2), P(3), r[4], I(5));
		break;
	case COSY_OP_NUMBER_scan_dir:
		*ret = libcosy_do_scan_dir(I(1), P(2), r[3], I(4));
		break;
	case COSY_OP_NUMBER_lend:
		*ret = libcosy_do_lend(I(1), P(2), r[3], I(4));
		break;
	case COSY_OP_NUMBER_view_load:
		*ret = load(r[1], r[2]);
		return true;
	case COSY_OP_NUMBER_view_store:
		store(r[1], r[2], r[3]);
		*ret = 0;
		return true;
	case COSY_OP_NUMBER_count:
		*ret = libcosy_do_count(P(1), r[2], r[3]);
		return true;
	case COSY_OP_NUMBER_crc32c:
		*ret = libcosy_do_crc32c(r[1], P(2), r[3]);
		return true;
	case COSY_OP_NUMBER_discard:
		/* Here there are no views, and the bytes stay. */
		*ret = 0;
		return true;
	default:
		return false;
	}
	in->calls++;
	return true;
}
