/* SPDX-License-Identifier: GPL-2.0 */
/* image.h - compiled compounds, each shared by several programs. */
#ifndef COSY_IMAGE_H
#define COSY_IMAGE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include "core.h"
#include "load/locked.h"

struct bpf_prog;
struct cosy_user;

#define COSY_POINT_RESUME 0x80 /* RUN may go on here */
#define COSY_POINT_CALL	  0x7f /* words of the caller's spill frame + 1 at a local call, or 0 */

/* cache.c's part of an image, under its lock, while the image is in its user's cache. */
struct cosy_cache_entry {
	struct list_head node;
	const void *container; /* the bytes that the image was made from; the image's */
	u32 len, hash;
	u32 buffer_size;
	bool ordinary;
	unsigned int spaces[2]; /* the numbers of the user namespace and the PID namespace */
	unsigned long used;	/* jiffies */
	u64 unproven;		/* in the background, for nobody yet: its digest; else 0 */
	struct cosy_locked locked;
};

/* Only the reference count and the cache's entry change after it is made. */
struct cosy_image {
	refcount_t references; /* each program's, and the cache's */
	u32 insn_cnt;	       /* of the compound as loaded */
	u32 frame_words;       /* of the deepest spill frame */
	u32 fuel;	       /* steps between two safepoints */
	u32 code_bytes;	       /* charged */
	u32 rewritten, jited;  /* for LOAD's answer: instructions, bytes */
	bool may_nest;	       /* makes ioctls, which RUN is one of */
	bool blinds;	       /* its constants are hidden in its code */
	bool portable;	       /* holds no address: serves every buffer of that size */
	u64 max_steps, max_ns; /* the compound's own limits, 0 = none */
	u8 *points;	       /* [insn_cnt]: COSY_POINT_*, see program.h */
	const void *code;      /* the code that cosy_enter calls */
	struct bpf_prog *bpf;
	struct cosy_user *user; /* the user that is charged; a reference */
	struct cosy_cache_entry entry;
};

/* The buffer, and the flags, that an image is made for. */
struct cosy_target {
	void *base;	       /* the shared buffer's front, kernel's mapping, ... */
	unsigned long address; /* ... user's ... */
	u32 size;	       /* ... and size; 0: none */
	bool ordinary;	       /* COSY_ORDINARY_CALLS */
};

/*
 * Checks, sandboxes and compiles a container, charged to `user`.  Returns a reference; or -EINVAL,
 * -E2BIG, -EDQUOT, -EOPNOTSUPP with `why` filled in, or -ENOMEM.
 */
struct cosy_image *cosy_image_create(struct cosy_user *user, const struct cosy_container *container,
				     const struct cosy_target *target, struct cosy_reject *why);
void cosy_image_put(struct cosy_image *image);

/*
 * Tells whether an image for such a target serves every buffer of that size.  0, or -EOPNOTSUPP, or
 * -ENOMEM.
 */
int cosy_image_is_portable(const struct cosy_target *target);

/* Tells whether compiling now would give such an image: the JIT is on, and blinds as it did. */
bool cosy_image_fits(const struct cosy_image *image);

#endif /* COSY_IMAGE_H */
