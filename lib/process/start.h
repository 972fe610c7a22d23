/* SPDX-License-Identifier: MIT */
/* start.h - data of what each program runs of libcosy when it starts. */
#ifndef COSY_LIB_START_H
#define COSY_LIB_START_H

/*
 * Puts a variable that is 0 at first, and that the first arrival at a region looks at, beside the
 * region's own counts.  After the program's variables it might be alone in its page, which the
 * kernel would have to clear and map.
 */
#define LIBCOSY_EARLY_DATA __attribute__((section(".data")))

#endif /* COSY_LIB_START_H */
