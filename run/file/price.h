/* SPDX-License-Identifier: MIT */
/*
 * price.h - savings and costs of windows, which decide when a file has earned one.  `cosy
 * profile` predicts the library's decisions by these numbers.
 */
#ifndef COSY_RUN_PRICE_H
#define COSY_RUN_PRICE_H

/*
 * Longer reads are served by a window only if it holds the whole file: where a crossing is cheap
 * (160 ns for a read), copying 8 KB twice costs a tenth more than it saves.
 */
#define WINDOW_MAX_LENGTH 4096

/*
 * Savings and costs of a window, in ns, rounded from measurements on Linux 6.18: a
 * one-byte read 440, and a copy from the window costs about 1/32 ns per byte more than
 * copying once; lease, checks and window 4000.  By Synthetix's inequality (§4.5) a file is
 * specialised when what it would have saved has paid for specialising it.
 */
#define WINDOW_SAVED	  400 /* by a read, less a part of its length: */
#define WINDOW_SAVED_LESS 32
#define WINDOW_COST	  4000

/*
 * Bytes of a window's first fetch, and capacities: of one that is filled with what comes next, each
 * time twice as much, and of one that holds the whole file.
 */
#define FIRST_FETCH 4096
#define STORE_SMALL 65536
#define STORE_WHOLE (1 << 20)

/* ns that the first lease of a process costs more, for its thread. */
#define LEASE_THREAD_COST 20000

/*
 * The same of a mapped window (map.h), for reads at random: a read saves so much, the mapping costs
 * mmap, advice and munmap, and each area of 1 << MAP_AREA_SHIFT bytes is charged when it is read
 * for the first time.
 */
#define MAP_READ_SAVED	400
#define MAP_COST	20000
#define MAP_AREA_SHIFT	16
#define MAP_AREA_CHARGE 8000

#endif /* COSY_RUN_PRICE_H */
