/* SPDX-License-Identifier: MIT */
/*
 * limits.h - bounds of the profile's tables, so that memory does not grow with the recording.
 * Entries beyond them are only counted (profile.forgotten).  The fuzzer uses small ones, to reach
 * them.
 */
#ifndef COSY_PROFILE_LIMITS_H
#define COSY_PROFILE_LIMITS_H

#ifdef FOLD_SMALL
#define LIMIT_SITES	 48
#define LIMIT_SYMBOLS	 96
#define LIMIT_STACKS	 6
#define LIMIT_OBJECTS	 3
#define LIMIT_ROWS	 8
#define LIMIT_EDGES	 24
#define LIMIT_SESSIONS	 6
#define LIMIT_THREADS	 5
#define LIMIT_OPEN	 12
#define LIMIT_NAMES	 16
#define LIMIT_LINE	 12
#define LIMIT_FILE_NAMES 6
#define LIMIT_RUN_FILES	 2
#define LIMIT_WAITS	 2
#else
#define LIMIT_SITES	 16384
#define LIMIT_SYMBOLS	 65536
#define LIMIT_STACKS	 32768
#define LIMIT_OBJECTS	 1024
#define LIMIT_ROWS	 2048
#define LIMIT_EDGES	 8192
#define LIMIT_SESSIONS	 512
#define LIMIT_THREADS	 4096  /* at a time */
#define LIMIT_OPEN	 65536 /* files, in all processes */
#define LIMIT_NAMES	 16384 /* answers that are remembered; a power of two */
#define LIMIT_LINE	 64    /* nodes of a thread */
#define LIMIT_FILE_NAMES 65536 /* files whose contents or emptiness is known */
#define LIMIT_RUN_FILES	 256   /* files counted one by one that `cosy run` would serve */
#define LIMIT_WAITS	 256   /* threads whose last call is known to be a wait */
#endif

#define LIMIT_FRAMES (16 * LIMIT_STACKS)

#endif /* COSY_PROFILE_LIMITS_H */
