/* SPDX-License-Identifier: MIT */
/* seeks.h - the price, in seeks, of a position that is kept in user space. */
#ifndef COSY_RUN_SEEKS_H
#define COSY_RUN_SEEKS_H

#include "file/file.h"

/*
 * Seeks to earn before a position is kept: looking at the file and locking it costs about four,
 * giving the position back two more.  A file that wants it back sooner pays more the next time.
 */
#define SEEKS_PRICE	8
#define SEEKS_MAX_PRICE (SEEKS_PRICE << 7)

/* Learns whether a position that is kept no longer was worth it; under LOCKED. */
static inline void seeks_learn(struct file *file)
{
	if (file->seeks >= 2 * SEEKS_PRICE)
		file->price = SEEKS_PRICE;
	else if (file->price < SEEKS_MAX_PRICE)
		file->price *= 2;
	file->seeks = 0;
}

#endif /* COSY_RUN_SEEKS_H */
