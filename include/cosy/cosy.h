/* SPDX-License-Identifier: MIT */
/*
 * cosy.h - mark regions (COSY_START, COSY_END), run compounds, build them by hand.
 *
 * Marking needs only this header and cosycc; with any other compiler, or with
 * -DCOSY_OFF, the marks are a plain block.  Everything else is in libcosy.
 */
#ifndef COSY_COSY_H
#define COSY_COSY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * COSY_START; ... COSY_END;	(FSL-02-01 section 2.2, HotOS IX section 2.4)
 *
 * The statements between the two become one compound.  They form a block: what
 * is declared inside ends with it.  return, break, continue and goto may leave
 * it; nothing may jump into it.  A missing or crossing mark is a syntax error.
 */
#if defined(__COSYCC__) && !defined(COSY_OFF)
int __cosy_region_start(int line) __attribute__((nothrow));
void __cosy_region_end(int *token) __attribute__((nothrow));
#define COSY_START							\
	{ int __cosy_token __attribute__((cleanup(__cosy_region_end), unused)) = \
		__cosy_region_start(__LINE__); { (void)0
#define COSY_END	} } (void)0
#else
#define COSY_START	{ { (void)0
#define COSY_END	} } (void)0
#endif

#ifdef __cplusplus
}
#endif

#endif /* COSY_COSY_H */
