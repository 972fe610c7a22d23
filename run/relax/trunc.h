/* SPDX-License-Identifier: MIT */
/*
 * trunc.h - delays the truncation of files opened with O_TRUNC ("Poking holes" §4.2: most of the
 * cost of squid's open, write and close is that blocks are freed and allocated again).
 *
 * The program writes over the old bytes.  The *old end*, the old file's bytes after the last
 * written byte, is cut off when the descriptor is closed, or before any call on it other than
 * write(2).  Until then the kernel's position is where the truncated file would end, because only
 * write(2) has moved it.
 */
#ifndef COSY_RUN_TRUNC_H
#define COSY_RUN_TRUNC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

/* The number of open files with a delayed truncation.  The stubs (relax_calls.S) test it. */
extern uint32_t truncs;

/*
 * True if delaying pays: not if the last such files were all cut before they were closed.  Even
 * then true for one file in 64.
 */
bool trunc_pays(void);

/* True if the truncation of `fd`, a file with these attributes, may be delayed. */
bool trunc_fits(int fd, const struct stat *st);

/*
 * Notes that the truncation of `fd`, just opened without O_TRUNC, is delayed.  False: there are too
 * many such files.  `appends`: the program asked for O_APPEND.  The file gets it when the old end
 * is cut; until then writes go to the position, which is its end.
 */
bool trunc_begin(int fd, const struct stat *st, bool appends);

/* Sets O_APPEND on the open file of `fd`. */
void trunc_append(int fd);

/* True if the truncation of `fd` is delayed. */
bool trunc_of(int fd);

/* Cuts the old end of `fd`, if it has one.  Keeps an error by relaxed_late_error. */
void trunc_cut(int fd);
/* Cuts all old ends. */
void trunc_cut_all(void);

/* Does trunc_cut for close(fd), which needs no O_APPEND and counts as a delay that paid. */
void trunc_close(int fd);

/* Cuts the old ends of this file at all descriptors. */
void trunc_cut_same(const struct stat *st);

#pragma GCC visibility pop

#endif /* COSY_RUN_TRUNC_H */
