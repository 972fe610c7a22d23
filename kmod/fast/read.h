/* SPDX-License-Identifier: GPL-2.0 */
/*
 * read.h - read, pread64 and lseek specialised to a regular file whose pages are in the
 * cache.  Arguments and results are the system calls'; COSY_ORDINARY: see fast.h.
 */
#ifndef COSY_READ_H
#define COSY_READ_H

#include "fast/guard.h"

s64 cosy_fast_read(struct cosy_activation *run, u32 fd, u64 buffer, u64 count);
s64 cosy_fast_pread(struct cosy_activation *run, u32 fd, u64 buffer, u64 count, s64 position);
s64 cosy_fast_lseek(struct cosy_activation *run, u32 fd, s64 offset, u32 whence);

/*
 * COSY_OP readc: the next byte of `fd`, -ENODATA at the end of file or read's error, also
 * a restart code.  COSY_ORDINARY: the file can only be read into a user's memory.
 */
s64 cosy_fast_readc(struct cosy_activation *run, u32 fd);

#endif /* COSY_READ_H */
