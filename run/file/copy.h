/* SPDX-License-Identifier: MIT */
/* copy.h - copies from a window: mostly a few bytes. */
#ifndef COSY_RUN_COPY_H
#define COSY_RUN_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "next.h"

/* Copies a length of one to two words by two moves that may overlap. */
#define COPY_BY(type, to, from, len)                                                               \
	do {                                                                                       \
		type first_, last_;                                                                \
                                                                                                   \
		memcpy(&first_, (from), sizeof(type));                                             \
		memcpy(&last_, (from) + (len) - sizeof(type), sizeof(type));                       \
		memcpy((to), &first_, sizeof(type));                                               \
		memcpy((to) + (len) - sizeof(type), &last_, sizeof(type));                         \
	} while (0)

static inline void copy_bytes(void *to_, const void *from_, size_t len)
{
	const char *from = from_;
	char *to = to_;

	if (len == 1)
		*to = *from;
	else if (len > 16)
		NEXT(memcpy)(to, from, len);
	else if (len >= 8)
		COPY_BY(uint64_t, to, from, len);
	else if (len >= 4)
		COPY_BY(uint32_t, to, from, len);
	else if (len >= 2)
		COPY_BY(uint16_t, to, from, len);
}

#endif /* COSY_RUN_COPY_H */
