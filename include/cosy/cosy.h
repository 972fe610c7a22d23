/* SPDX-License-Identifier: MIT */
/*
 * cosy.h - marks regions (COSY_START, COSY_END), runs compounds, shares a buffer
 * with the kernel.  <cosy/builder.h> builds compounds by hand.
 *
 * Marking needs only this header and cosycc; with any other compiler, or with
 * -DCOSY_OFF, the marks are a plain block.  Everything else is in libcosy.
 *
 * Functions return 0 or a negative errno unless they say otherwise, are
 * thread-safe, and work the same in a fork child.  Where the module is missing
 * or refuses, compounds run in libcosy's interpreter, with the same results.
 */
#ifndef COSY_COSY_H
#define COSY_COSY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * COSY_START; ... COSY_END;	(FSL-02-01 section 2.2, HotOS IX section 2.4)
 *
 * The statements between the two become one compound.  They form a block:
 * declarations inside end with it.  return, break, continue and goto may leave
 * it; nothing may jump into it.  A missing or crossing mark is a syntax error.
 */
/* clang-format off */
#if defined(__COSYCC__) && !defined(COSY_OFF)
int __cosy_region_start(int line) __attribute__((nothrow));
void __cosy_region_end(int *token) __attribute__((nothrow));
#define COSY_START							\
	{ int __cosy_token __attribute__((cleanup(__cosy_region_end), unused)) = \
		__cosy_region_start(__LINE__); { (void)0
#define COSY_END	} } (void)0
#else
#define COSY_START	{ { (void)0
#define COSY_END	} } (void)0
#endif
/* clang-format on */

#pragma GCC visibility push(default)

/* --- Contexts (FSL-02-01 section 2.4) ------------------------------------------- */

/*
 * A handle on the process's one context, which all handles and all marked regions
 * share: the descriptor of /dev/cosy and the shared buffer.
 */
struct cosy;

/*
 * Opens the context unless it is open, and returns a handle in *ret, which the
 * caller gives back with cosy_free.  A missing module is no error.  -ENOMEM.
 */
int cosy_init(struct cosy **ret);

/* Gives a handle back; the context stays for the regions.  NULL is allowed. */
void cosy_release(struct cosy *cosy);

/* Returns NULL when compounds run in the kernel, else one line of text that says why not. */
const char *cosy_native_reason(struct cosy *cosy);

/* --- Compounds -------------------------------------------------------------------- */

/* Says why something was refused or ended.  Any `error` argument may be NULL. */
struct cosy_error {
	uint32_t statement; /* of a compound that was built, from 1; 0 = not known or none */
	uint32_t insn;	    /* instruction, from 0; ~0 = the container or none */
	char reason[184];   /* one line */
};

/* A compound that has been checked and can be run. */
struct cosy_loaded;

/*
 * Checks the compound (struct cosy_compound of <linux/cosy.h>) of `len` bytes and
 * returns it, copied, in *ret; the caller gives it back with cosy_unload.
 * -EINVAL or -E2BIG with `error` for a malformed one, -ENOMEM.
 */
int cosy_load(struct cosy *cosy, const void *compound, size_t len, struct cosy_loaded **ret,
	      struct cosy_error *error);

/* Frees a compound, which no thread may be running.  NULL is allowed. */
void cosy_unload(struct cosy_loaded *loaded);

/*
 * Runs a compound from its start to its end.  `ctx` has `len` bytes of input, and
 * receives the results (for a built compound: int64_t[], indexed by cosy_var's
 * return value); the rest of a longer context begins as zeros.  *ret
 * (may be NULL) is its exit value.
 *
 * -EDQUOT: it reached its limit of steps; -ETIME: its time limit; ctx and
 * `error` then show how far it came.  -ENOMEM: it did not start.
 */
int cosy_run(struct cosy *cosy, struct cosy_loaded *loaded, void *ctx, size_t len, int64_t *ret,
	     struct cosy_error *error);

/* --- The shared buffer (FSL-02-01 section 2.3) --------------------------------------- */

/*
 * Work like malloc and its family, but the kernel and the process share the memory,
 * so compounds load and store there at full speed and need no copy.  16-byte
 * aligned.  When the buffer is full or missing they return ordinary memory, so a
 * program needs no other path; NULL without ordinary memory.
 */
void *cosy_malloc(size_t size) __attribute__((malloc));
void *cosy_calloc(size_t count, size_t size) __attribute__((malloc));
/*
 * `memory` comes from this family or is NULL; it is unchanged on failure.  Size 0 returns memory as
 * well, as cosy_malloc does.
 */
void *cosy_realloc(void *memory, size_t size);
void cosy_mem_free(void *memory);
/* True if the address is in the shared buffer. */
int cosy_is_shared(const void *memory);

#pragma GCC visibility pop

#ifdef __cplusplus
}

/* Overloads cosy_free: the papers have two calls of that name. */
static inline void cosy_free(struct cosy *cosy)
{
	cosy_release(cosy);
}
static inline void cosy_free(void *memory)
{
	cosy_mem_free(memory);
}
static inline void cosy_free(decltype(nullptr)) {}
#else
/*
 * The papers call both cosy_free: releasing a handle of cosy_init (FSL-02-01
 * section 2.4) and freeing memory of cosy_malloc (section 2.3).
 */
#define cosy_free(it) _Generic((it), struct cosy *: cosy_release, default: cosy_mem_free)(it)
#endif

#endif /* COSY_COSY_H */
