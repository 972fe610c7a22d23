/* SPDX-License-Identifier: MIT */
/*
 * retry.h - repeats calls that failed for a passing shortage (memory, room): after 1, 2, 4, ..
 * further needs of it, so that a failure that passes does not last and one that stays costs little.
 */
#ifndef COSY_LIB_RETRY_H
#define COSY_LIB_RETRY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct libcosy_retry {
	uint32_t left; /* needs until the next try */
	uint32_t next;
};

#define MAX_RETRY 1024u

/* True if an error of the kernel's, a negative errno, may pass. */
static inline bool libcosy_passes(long err)
{
	return err == -ENOMEM || err == -EDQUOT || err == -EAGAIN || err == -EINTR;
}

/* True if the call is to be tried now.  To be called at each need. */
static inline bool libcosy_retry_now(struct libcosy_retry *retry)
{
	if (!retry->left)
		return true;
	retry->left--;
	return false;
}

static inline void libcosy_retry_failed(struct libcosy_retry *retry)
{
	retry->next = retry->next ? retry->next * 2 : 1;
	if (retry->next > MAX_RETRY)
		retry->next = MAX_RETRY;
	retry->left = retry->next;
}

#endif /* COSY_LIB_RETRY_H */
