/* SPDX-License-Identifier: MIT */
/*
 * region.h - what code compiled by cosycc calls.  The binary interface between
 * the compiler and libcosy; not for people.
 *
 * For each region cosycc emits a struct cosy_region and, in place of the region:
 *
 *	ctx = __cosy_enter(&region);
 *	if (!ctx) goto native;
 *	... store inputs, addresses of globals and of errno in ctx ...
 *	exit = __cosy_run(&region, ctx);
 *	if (exit < 0) { __cosy_leave(ctx); goto native; }	// nothing was done
 *	... load outputs from ctx ...
 *	__cosy_leave(ctx);
 *	switch (exit) ...
 *
 * A function whose address-taken locals a region touches keeps them in
 *
 *	frame = __cosy_frame_enter(size);	// shared-buffer memory, or NULL
 *	locals = frame ? frame : alloca'd space
 *	... on every return:  if (frame) __cosy_frame_leave(frame);
 */
#ifndef COSY_LIB_REGION_H
#define COSY_LIB_REGION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A function of libc's that the compound has a system call for. */
struct cosy_replaced {
	uint32_t hash; /* of its name, as DT_GNU_HASH has it */
	int32_t name;  /* its name, relative to this field */
	/*
	 * What a call of it in the native twin reaches, the function or an entry of the PLT,
	 * relative to this field; 0: it is libcosy that calls it
	 */
	int32_t where;
};

/* What the compound takes for granted; where it does not hold the native twin runs. */
struct cosy_premises {
	uint32_t flags; /* COSY_PREMISE_HANDLERS or 0 */
	uint32_t count;
	struct cosy_replaced calls[];
};

/* Exception handlers or clean-ups are around some call, which a cancellation would run. */
#define COSY_PREMISE_HANDLERS 1u

/* In writable data; the container is in read-only section "cosy_compounds". */
struct cosy_region {
	const void *compound; /* struct cosy_compound, 8-byte aligned */
	uint32_t ctx_size;    /* bytes that __cosy_enter hands out */
	uint32_t version;     /* 1 */
	uint64_t cache;	      /* libcosy's: which program of which context; starts 0 */
	const struct cosy_premises *premises; /* NULL: of an older compiler */
};

/*
 * 16-byte aligned memory for one activation, in the shared buffer when there is
 * room, else elsewhere; NULL when the native twin should run (no module and no
 * COSY_MODE=interp, switched off, refused earlier).  Contents undefined.
 * Async-signal-safe after the thread's first call.
 */
void *__cosy_enter(struct cosy_region *region);

/*
 * Runs the compound to its end, in the kernel or by the interpreter or both.
 * >= 0: r0, the exit selector.  < 0: nothing was done, run the native twin.
 * errno is changed only by the compound itself.
 */
int64_t __cosy_run(struct cosy_region *region, void *ctx);

/* Ends an activation.  Activations end in reverse order, or by longjmp. */
void __cosy_leave(void *ctx);

/* 16-byte aligned shared-buffer memory for moved locals, or NULL. */
void *__cosy_frame_enter(uint64_t size);
void __cosy_frame_leave(void *frame);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* COSY_LIB_REGION_H */
