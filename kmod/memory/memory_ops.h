/* SPDX-License-Identifier: GPL-2.0 */
/*
 * memory_ops.h - mem* and str*: as the libc functions of those names, on a compound's
 * memory, with addresses for pointers.  See memory.h for how they leave.
 */
#ifndef COSY_MEMORY_OPS_H
#define COSY_MEMORY_OPS_H

#include "run/activation.h"

/* memory_find.c: an address, or 0 for none. */
u64 cosy_find_byte(struct cosy_activation *run, u64 from, u64 length, u8 byte);	/* memchr */
u64 cosy_find_byte_or_end(struct cosy_activation *run, u64 from, u8 byte);	/* strchrnul */
u64 cosy_strchr(struct cosy_activation *run, u64 from, u8 byte);
u64 cosy_strrchr(struct cosy_activation *run, u64 from, u8 byte);
u64 cosy_memrchr(struct cosy_activation *run, u64 from, u8 byte, u64 length);
u64 cosy_strnlen(struct cosy_activation *run, u64 from, u64 length);

/* memory_compare.c */
s64 cosy_memcmp(struct cosy_activation *run, u64 a, u64 b, u64 length);
s64 cosy_strncmp(struct cosy_activation *run, u64 a, u64 b, u64 length);
u64 cosy_memmem(struct cosy_activation *run, u64 hay, u64 hay_length, u64 needle, u64 needle_length);

/* memory_single.c: `size` bytes, 1, 2, 4 or 8; others are a trap. */
u64 cosy_load(struct cosy_activation *run, u64 address, u64 size);
void cosy_store(struct cosy_activation *run, u64 address, u64 value, u64 size);

/* memory_copy.c: by reference is what remains when it leaves. */
void cosy_memmove(struct cosy_activation *run, u64 *to, u64 *from, u64 *length);
bool cosy_memset(struct cosy_activation *run, u64 *to, u8 byte, u64 *length);
u64 cosy_stpcpy(struct cosy_activation *run, u64 to, u64 from);
void cosy_strncpy(struct cosy_activation *run, u64 to, u64 from, u64 length);

#endif /* COSY_MEMORY_OPS_H */
