/* SPDX-License-Identifier: MIT */
/* mix.h - a digest of words, for tables and keys that no attacker gains by guessing. */
#ifndef COSY_LIB_MIX_H
#define COSY_LIB_MIX_H

#include <stdint.h>

/* Returns the digest of the words of `digest` and one more. */
static inline uint64_t cosy_mix(uint64_t digest, uint64_t word)
{
	digest = (digest ^ word) * 0x9e3779b97f4a7c15;
	return digest ^ digest >> 32;
}

#endif /* COSY_LIB_MIX_H */
