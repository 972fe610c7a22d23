/* SPDX-License-Identifier: MIT */
/*
 * region.h - functions for code that cosycc compiled.  The binary interface between
 * the compiler and libcosy; not for people.
 *
 * For each region cosycc emits a struct cosy_region and, in place of the region:
 *
 *	if (region.left >= 0) {				// not earned yet: see tier.h
 *		if (region.left <= COSY_LEFT_MAX) region.left -= GAIN;
 *		goto native;
 *	}
 *	ctx = __cosy_enter(&region);
 *	if (!ctx) goto native;
 *	... store inputs, addresses of globals, of tables (__cosy_table) and of errno in ctx ...
 *	exit = __cosy_run(&region, ctx);
 *	if (exit < 0) { __cosy_leave(ctx); goto native; }	// nothing was done
 *	... load outputs from ctx ...
 *	__cosy_leave(ctx);
 *	switch (exit) ...
 *
 * A loop of the native twin that makes calls has a struct cosy_region of its own, for a
 * compound that begins at the loop's head and goes on to the region's end.  The same code is
 * at the head: it counts in the region's `left`, and `native` is the loop's next iteration.
 *
 * A function whose address-taken locals a region touches keeps them in
 *
 *	frame = region.left < 0 ? __cosy_frame_enter(size) : NULL; // shared buffer, or NULL
 *	locals = frame ? frame : alloca'd space
 *	... on every return:  if (frame) __cosy_frame_leave(frame);
 */
#ifndef COSY_LIB_REGION_H
#define COSY_LIB_REGION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A function of libc's in whose place the compound makes its system call. */
struct cosy_replaced {
	uint32_t hash; /* of its name, as DT_GNU_HASH has it */
	int32_t name;  /* its name, relative to this field */
	/*
	 * The address that a call of it in the native twin reaches (the function or its PLT
	 * entry), relative to this field; 0: it is libcosy that calls it
	 */
	int32_t where;
};

/* The compound takes these for granted; where they do not hold the native twin runs. */
struct cosy_premises {
	uint32_t flags; /* COSY_PREMISE_..., and COSY_PREMISE_UNFETCHED_SHIFT */
	uint32_t count;
	struct cosy_replaced calls[];
};

/* A call has exception handlers or clean-ups around it, which a cancellation would run. */
#define COSY_PREMISE_HANDLERS 1u
/*
 * From this bit on, 8 bits: how many times what its loops lose by the estimate they lose at most
 * in a kernel without COSY_FEATURE_FETCHES; 0 or 1: the same
 */
#define COSY_PREMISE_UNFETCHED_SHIFT 8
#define COSY_PREMISE_UNFETCHED_MAX   255u

/* Lies in writable data; the container is in the read-only section "cosy_compounds". */
struct cosy_region {
	const void *compound; /* struct cosy_compound, 8-byte aligned */
	uint32_t ctx_size;    /* bytes that __cosy_enter hands out */
	uint32_t version;     /* COSY_REGION_VERSION; 1 of an older compiler ends before `left` */
	uint64_t cache;	      /* libcosy's: which program of which context; starts 0 */
	const struct cosy_premises *premises; /* NULL: of an older compiler */
	/*
	 * Instructions that the region still has to save before it is loaded.  < 0: call
	 * __cosy_enter, which sets it; above COSY_LEFT_MAX: never.  Starts below 0.  Loops that are
	 * no way in count in it below 0 as well
	 */
	int64_t left;
	struct cosy_region *entry; /* of a loop's head: the region, in whose `left` it counts */
	/*
	 * Instructions that an arrival takes off `left`; negative where entering costs more than
	 * the region is known to save
	 */
	int32_t gain;
	uint32_t share; /* load it once this many times the cost of loading would have been saved */
	uint32_t flags; /* COSY_REGION_..., and what is lost: COSY_REGION_LOST_SHIFT */
	uint32_t loops; /* heads that count in it */
	uint32_t life;	/* libcosy's: which context's life it counts in; starts 0 */
	uint32_t arrivals; /* libcosy's: under COSY_TIER=N, and of heads that waited; starts 0 */
	int64_t counted;   /* libcosy's: `left` under COSY_STATS=1; starts 0 */

	/* Only with COSY_REGION_KEYED, which a region has and a loop's head has not */
	uint64_t key[2];    /* names the region in the user's history: a digest of its container */
	uint32_t call_gain; /* instructions that each call in it saves, less no loop's loss */
	uint32_t notes;	    /* libcosy's: COSY_NOTE_...; starts 0 */
	int64_t saved;	    /* libcosy's: saved when `left` will be used up; starts 0 */
	int64_t reported;   /* libcosy's: of that, what the history has counted; starts 0 */
	int64_t lost;	    /* what loops would have lost so far, which `left` counts as well */
	uint64_t calls;	    /* only with COSY_REGION_COUNTED: calls of the native twin, in parts */
};

#define COSY_REGION_VERSION 2u

/* Parts of a call in `calls`: a call of a function may make one in some cases. */
#define COSY_CALL_PARTS 8

/* The highest budget that `left` is counted down from. */
#define COSY_LEFT_MAX 0x7fffffff

#define COSY_REGION_FORCE 1u /* -fcosy-force: into the kernel at once */
#define COSY_REGION_LOSES 2u /* by the compiler's estimate: stays native unless forced */
/* It ends before calls that it cannot hold, and is entered again in the same loop */
#define COSY_REGION_AGAIN 16u
/* From this bit on: instructions that its own code loses beside each system call in the kernel */
#define COSY_REGION_LOST_SHIFT 8
/* libcosy's, of a region in which others count: see tier.h */
#define COSY_REGION_SEEN     4u	 /* it goes to the kernel as far as nothing has to be compiled */
#define COSY_REGION_UNSEEN   8u	 /* something has to be, which it is to earn */
#define COSY_REGION_ADMITTED 64u /* it has earned to be compiled */

/* In `notes`: what the user's history advises */
#define COSY_NOTE_SLOWER 1u /* the user's processes found it slower in the kernel */
#define COSY_NOTE_PAYS	 2u /* compiling it pays over the user's processes: in the background */
/* ... and, in `notes` as well, that some program of the region has entered the kernel */
#define COSY_NOTE_ENTERED 4u

#define COSY_REGION_KEYED   32u	 /* `key` and the members after it exist */
#define COSY_REGION_COUNTED 128u /* `calls` exists, too, and the native twin counts in it */

/*
 * 16-byte aligned memory for one activation, in the shared buffer when there is
 * room, else elsewhere; NULL when the native twin should run (no module and no
 * COSY_MODE=interp, switched off, refused earlier, not earned yet).  Contents undefined.
 * Async-signal-safe after the thread's first call.
 */
void *__cosy_enter(struct cosy_region *region);

/*
 * Runs the compound to its end, in the kernel or by the interpreter or both.
 * >= 0: r0, the exit selector.  < 0: nothing was done, run the native twin.
 * errno is changed only by the compound itself.
 */
int64_t __cosy_run(struct cosy_region *region, void *ctx);

/*
 * Returns where the compound is to read a constant table: a copy in the shared buffer, made at the
 * first call, or, for want of memory, the table itself.  `slot` is the table's own, NULL at first.
 */
const void *__cosy_table(const void **slot, const void *table, size_t size);

struct libcosy_spare_streams;

/* Returns the blocks of directory streams that the thread's compounds keep (process/streams.h). */
struct libcosy_spare_streams *__cosy_streams(void);

struct libcosy_magazines;

/* Returns the blocks of malloc that the thread's compounds take (process/magazines.h). */
struct libcosy_magazines *__cosy_magazines(void);

/*
 * Called by compounds that leave for it.  Fills the magazine of a class and returns one more block,
 * or NULL with errno.
 */
void *__cosy_magazine_fill(struct libcosy_magazines *magazines, uint64_t size_class);

/* Called by compounds that leave for it.  Frees the blocks that wait for that, and `block`. */
void __cosy_magazines_free(struct libcosy_magazines *magazines, void *block);

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
