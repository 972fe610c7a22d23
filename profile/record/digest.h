/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * digest.h - the digest of a call's first bytes, by the back ends in user space and in the kernel
 * alike.
 */
#ifndef COSY_PROFILE_DIGEST_H
#define COSY_PROFILE_DIGEST_H

#define DIGEST_BYTES 64
#define DIGEST_WORDS (DIGEST_BYTES / 8)

/*
 * Number for `size` bytes, with zeros up to a whole word; never 0, which means that there is none.
 */
static inline unsigned int digest_words(const unsigned long long *words, unsigned long long size)
{
	unsigned long long hash = 0x9e3779b97f4a7c15ULL;

	for (unsigned int i = 0; i < DIGEST_WORDS && i * 8 < size; i++) {
		hash = (hash ^ words[i]) * 0xff51afd7ed558ccdULL;
		hash ^= hash >> 29;
	}
	return (unsigned int)(hash ^ hash >> 32) | 1;
}

#endif /* COSY_PROFILE_DIGEST_H */
