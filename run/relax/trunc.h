/* SPDX-License-Identifier: MIT */
/*
 * trunc.h - delays the truncation of files opened with O_TRUNC ("Poking holes" §4.2: most
 * of what squid's open, write and close cost is that blocks are freed and allocated again).
 * Until then they are written in place.  The rest of the old file after the last byte
 * written, its *old end*, is cut off when the descriptor is closed, or before any call but a
 * write to it.
 *
 * Until then the file's true end is the kernel's position: only write(2) has moved it.
 */
#ifndef COSY_RUN_TRUNC_H
#define COSY_RUN_TRUNC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

/* Counts the files that are open so; the stubs look at it. */
extern uint32_t truncs;

/* True unless the last such files were all cut before they were closed, which does not pay. */
bool trunc_pays(void);

/* True if a file of this kind may be opened so. */
bool trunc_fits(int fd, const struct stat *st);

/*
 * Notes that `fd`, just opened, was not truncated.  False: there are too many.  `appends`: the
 * program asked for O_APPEND, which the file gets when the old end is cut; until then its position
 * is its end anyway.
 */
bool trunc_begin(int fd, const struct stat *st, bool appends);

/* Gives `fd` O_APPEND. */
void trunc_append(int fd);

bool trunc_of(int fd);

/* Cuts the old end of `fd`, if it has one; keeps an error for later: relaxed_late_error. */
void trunc_cut(int fd);
void trunc_cut_all(void);

/* Does the same before close(fd). */
void trunc_close(int fd);

/* Cuts the old end of this file, whatever descriptors have it open. */
void trunc_cut_same(const struct stat *st);

#pragma GCC visibility pop

#endif /* COSY_RUN_TRUNC_H */
