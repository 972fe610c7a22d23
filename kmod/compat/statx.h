/* SPDX-License-Identifier: GPL-2.0 */
/* statx.h - the fields of struct statx that this kernel has. */
#ifndef COSY_COMPAT_STATX_H
#define COSY_COMPAT_STATX_H

#include <linux/stat.h>
#include <linux/uaccess.h>

/*
 * Returns whether all fields are known here: a later kernel's come out of the padding of struct
 * statx.
 */
#define COSY_STATX_PADDING (sizeof(((struct statx *)NULL)->__spare3) / sizeof(u64))
#if defined(COSY_HAVE_STATX_MAX_OPT)
#define COSY_STATX_IS_KNOWN (COSY_STATX_PADDING == 8)
#elif defined(STATX_WRITE_ATOMIC)
#define COSY_STATX_IS_KNOWN (COSY_STATX_PADDING == 9)
#elif defined(STATX_SUBVOL)
#define COSY_STATX_IS_KNOWN (COSY_STATX_PADDING == 11)
#else
#define COSY_STATX_IS_KNOWN (COSY_STATX_PADDING == 12)
#endif

/* Where the known fields end. */
#if defined(COSY_HAVE_STATX_MAX_OPT)
#define COSY_STATX_END offsetofend(struct statx, stx_atomic_write_unit_max_opt)
#elif defined(STATX_DIO_READ_ALIGN)
#define COSY_STATX_END offsetofend(struct statx, stx_dio_read_offset_align)
#elif defined(STATX_WRITE_ATOMIC)
#define COSY_STATX_END offsetofend(struct statx, stx_atomic_write_segments_max)
#elif defined(STATX_SUBVOL)
#define COSY_STATX_END offsetofend(struct statx, stx_subvol)
#else
#define COSY_STATX_END offsetofend(struct statx, stx_dio_offset_align)
#endif

/* Answers that a file system may add for the kernel alone. */
#ifdef STATX_CHANGE_COOKIE
#define COSY_STATX_OWN	    STATX_CHANGE_COOKIE
#define COSY_STATX_ATTR_OWN STATX_ATTR_CHANGE_MONOTONIC
#else
#define COSY_STATX_OWN	    0
#define COSY_STATX_ATTR_OWN 0ull
#endif

#define COSY_STATX_PUT(field, value) unsafe_put_user(value, &to->field, fault)

#ifdef STATX_SUBVOL
#define COSY_STATX_PUT_SUBVOL() COSY_STATX_PUT(stx_subvol, stat->subvol)
#else
#define COSY_STATX_PUT_SUBVOL()
#endif
#ifdef STATX_WRITE_ATOMIC
#define COSY_STATX_PUT_ATOMIC()                                                                    \
	COSY_STATX_PUT(stx_atomic_write_unit_min, stat->atomic_write_unit_min);                    \
	COSY_STATX_PUT(stx_atomic_write_unit_max, stat->atomic_write_unit_max);                    \
	COSY_STATX_PUT(stx_atomic_write_segments_max, stat->atomic_write_segments_max)
#else
#define COSY_STATX_PUT_ATOMIC()
#endif
#ifdef STATX_DIO_READ_ALIGN
#define COSY_STATX_PUT_READ_ALIGN()                                                                \
	COSY_STATX_PUT(stx_dio_read_offset_align, stat->dio_read_offset_align)
#else
#define COSY_STATX_PUT_READ_ALIGN()
#endif
#ifdef COSY_HAVE_STATX_MAX_OPT
#define COSY_STATX_PUT_MAX_OPT()                                                                   \
	COSY_STATX_PUT(stx_atomic_write_unit_max_opt, stat->atomic_write_unit_max_opt)
#else
#define COSY_STATX_PUT_MAX_OPT()
#endif

/*
 * Writes the fields that not every kernel has from the struct kstat `stat` to the struct statx
 * `to`, between cosy_access_begin and cosy_access_end; jumps to `fault` at one.
 */
#define COSY_STATX_PUT_LATER()                                                                     \
	do {                                                                                       \
		COSY_STATX_PUT_SUBVOL();                                                           \
		COSY_STATX_PUT_ATOMIC();                                                           \
		COSY_STATX_PUT_READ_ALIGN();                                                       \
		COSY_STATX_PUT_MAX_OPT();                                                          \
	} while (0)

#endif /* COSY_COMPAT_STATX_H */
