/* SPDX-License-Identifier: MIT */
/* mapping.h - the memory of one mapped window (map.h). */
#ifndef COSY_RUN_MAPPING_H
#define COSY_RUN_MAPPING_H

#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "syscall.h"

struct mapping {
	const unsigned char *data;
	uint64_t len;
	int readers; /* threads that copy from it, whichever file it is of */
	int state;
	unsigned long reads; /* by it; low when threads race */
};

/* Puts zeros in its place.  This drops the file; a reader copies on and then finds out. */
static inline void mapping_blank(const struct mapping *map)
{
	cosy_syscall6(SYS_mmap, (unsigned long)map->data, map->len, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

#endif /* COSY_RUN_MAPPING_H */
