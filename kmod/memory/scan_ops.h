/* SPDX-License-Identifier: GPL-2.0 */
/* scan_ops.h - a number for a range of a compound's memory; see memory.h for how they leave. */
#ifndef COSY_SCAN_OPS_H
#define COSY_SCAN_OPS_H

#include "run/activation.h"

/* How many of `length` bytes are `byte`. */
u64 cosy_count(struct cosy_activation *run, u64 from, u64 length, u8 byte);

/*
 * CRC-32C (RFC 3720, appendix B.4) of what `crc` is that of, 0 for nothing, followed
 * by the `length` bytes.
 */
u32 cosy_crc32c(struct cosy_activation *run, u32 crc, u64 from, u64 length);

#endif /* COSY_SCAN_OPS_H */
