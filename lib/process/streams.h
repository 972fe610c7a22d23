/* SPDX-License-Identifier: MIT */
/*
 * streams.h - the C library's directory streams, which compounds read themselves.
 *
 * A compound's stream is glibc's DIR, so that it may come from outside and go there.  Its layout is
 * glibc's own affair: libcosy tries it out once, and regions with such functions run natively where
 * it is another.
 */
#ifndef COSY_LIB_STREAMS_H
#define COSY_LIB_STREAMS_H

#include <stdbool.h>

/* Streams that compounds have closed, for the next one that they open: blocks of malloc's. */
struct libcosy_spare_streams {
	void *at[4];
};

/*
 * Returns whether the layout is the one that compounds know.  Opens a directory at the first call.
 */
bool libcosy_streams_are_known(void);

/* True for the functions of which a compound's bodies rely on it. */
bool libcosy_is_of_streams(const char *name);

#endif /* COSY_LIB_STREAMS_H */
