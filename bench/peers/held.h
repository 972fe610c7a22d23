/* SPDX-License-Identifier: MIT */
/* held.h - gives serve.h its files: HELD keeps them open, else each is opened and closed. */
#ifndef HELD_H
#define HELD_H

#include "serve.h"

static int held[FILES];

static void serve_begin(void)
{
#ifdef HELD
	char name[8];

	for (int i = 0; i < FILES; i++) {
		serve_name(name, i);
		held[i] = BENCH_TRY(open(name, O_RDONLY));
	}
#endif
}

static inline int held_get(int i)
{
#ifdef HELD
	return held[i];
#else
	char name[8];

	(void)held;
	serve_name(name, i);
	return BENCH_TRY(open(name, O_RDONLY));
#endif
}

static inline void held_put(int fd)
{
#ifdef HELD
	(void)fd;
#else
	close(fd);
#endif
}

#endif /* HELD_H */
