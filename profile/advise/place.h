/* SPDX-License-Identifier: MIT */
/*
 * place.h - which function and source line an address in a file is; with debuginfod where
 * configured.
 */
#ifndef COSY_PROFILE_PLACE_H
#define COSY_PROFILE_PLACE_H

#include <stdint.h>

struct places;

struct place {
	const char *function; /* NULL: unknown */
	const char *file;     /* NULL: there is no debug information */
	int line;
};

struct places *places_create(void);
void places_destroy(struct places *places);

/* The strings live as long as the places. */
struct place place_find(struct places *places, const char *object, uint64_t address);

/*
 * Finds the line of a call in a loop of the function, in whichever function of the source the loop
 * is: where the compiler has put one function into another, the line that calls it.  `function` 0:
 * as place_find.
 */
struct place place_find_loop(struct places *places, const char *object, uint64_t function,
			     uint64_t address);

#endif /* COSY_PROFILE_PLACE_H */
