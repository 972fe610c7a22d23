/* SPDX-License-Identifier: MIT */
/*
 * access.h - a compound's loads, stores and atomics as plain ones of the
 * process: exactly the bytes of the access, at any alignment, in one
 * instruction, so that a bad address faults there and can be repeated.
 */
#ifndef COSY_LIB_ACCESS_H
#define COSY_LIB_ACCESS_H

#include "../../core/core.h"

/* The addresses are the program's business: a sanitizer would report, not fault. */
#define COSY_UNCHECKED __attribute__((no_sanitize("address", "thread", "undefined")))

#define COSY_BARRIER() __asm__ volatile("" ::: "memory")

typedef u8 __attribute__((may_alias)) libcosy_u8;
typedef u16 __attribute__((may_alias, aligned(1))) libcosy_u16;
typedef u32 __attribute__((may_alias, aligned(1))) libcosy_u32;
typedef u64 __attribute__((may_alias, aligned(1))) libcosy_u64;

COSY_UNCHECKED
static inline u64 libcosy_load(u64 addr, u8 code)
{
	bool is_signed = BPF_MODE(code) == BPF_MEMSX;
	u64 value;

	switch (BPF_SIZE(code)) {
	case BPF_B:
		value = *(volatile libcosy_u8 *)addr;
		return is_signed ? (u64)(s8)value : value;
	case BPF_H:
		value = *(volatile libcosy_u16 *)addr;
		return is_signed ? (u64)(s16)value : value;
	case BPF_W:
		value = *(volatile libcosy_u32 *)addr;
		return is_signed ? (u64)(s32)value : value;
	default:
		return *(volatile libcosy_u64 *)addr;
	}
}

COSY_UNCHECKED
static inline void libcosy_store(u64 addr, u64 value, u8 code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		*(volatile libcosy_u8 *)addr = (u8)value;
		break;
	case BPF_H:
		*(volatile libcosy_u16 *)addr = (u16)value;
		break;
	case BPF_W:
		*(volatile libcosy_u32 *)addr = (u32)value;
		break;
	default:
		*(volatile libcosy_u64 *)addr = value;
		break;
	}
}

/* clang-format off */
#define COSY_ATOMIC(type)								\
	do {										\
		type *at = (type *)addr;						\
		u64 old = 0;								\
											\
		switch (insn->imm & ~BPF_FETCH) {					\
		case BPF_ADD:								\
			old = __atomic_fetch_add(at, (type)*src, __ATOMIC_SEQ_CST);	\
			break;								\
		case BPF_OR:								\
			old = __atomic_fetch_or(at, (type)*src, __ATOMIC_SEQ_CST);	\
			break;								\
		case BPF_AND:								\
			old = __atomic_fetch_and(at, (type)*src, __ATOMIC_SEQ_CST);	\
			break;								\
		case BPF_XOR:								\
			old = __atomic_fetch_xor(at, (type)*src, __ATOMIC_SEQ_CST);	\
			break;								\
		case BPF_XCHG & ~BPF_FETCH:						\
			old = __atomic_exchange_n(at, (type)*src, __ATOMIC_SEQ_CST);	\
			break;								\
		default: { /* BPF_CMPXCHG */						\
			type expected = (type)*r0;					\
											\
			__atomic_compare_exchange_n(at, &expected, (type)*src, false,	\
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
			*r0 = expected;							\
			return;								\
		}									\
		}									\
		if (insn->imm & BPF_FETCH)						\
			*src = old;							\
	} while (0)
/* clang-format on */

/* `src` is the operand and takes the old value of a fetch; compare-exchange uses r0. */
COSY_UNCHECKED
static inline void libcosy_atomic(u64 addr, const struct bpf_insn *insn, u64 *src, u64 *r0)
{
	if (BPF_SIZE(insn->code) == BPF_DW)
		COSY_ATOMIC(u64);
	else
		COSY_ATOMIC(u32);
}

#endif /* COSY_LIB_ACCESS_H */
