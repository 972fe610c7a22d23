/* SPDX-License-Identifier: MIT */
/*
 * price.h - gives what windows save and cost, and so when a file has earned one.  `cosy profile`
 * foretells with these numbers what the library will do.
 */
#ifndef COSY_PRELOAD_PRICE_H
#define COSY_PRELOAD_PRICE_H

/* Longer reads are served by a window only if it holds the whole file. */
#define WINDOW_MAX_LENGTH 16384

/*
 * Savings and costs of a window, in ns, rounded from measurements on Linux 6.18: a
 * one-byte read 440, and a copy from the window costs about 1/32 ns per byte more than
 * copying once; lease, checks and window 4000.  By Synthetix's inequality (§4.5) a file is
 * specialised when what it would have saved has paid for specialising it.
 */
#define WINDOW_SAVED	  400 /* by a read, less a part of its length: */
#define WINDOW_SAVED_LESS 32
#define WINDOW_COST	  4000

/* ns that the first lease of a process costs more, for its thread. */
#define LEASE_THREAD_COST 20000

#endif /* COSY_PRELOAD_PRICE_H */
