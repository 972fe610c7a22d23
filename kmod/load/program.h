/* SPDX-License-Identifier: GPL-2.0 */
/* program.h - loaded compounds. */
#ifndef COSY_PROGRAM_H
#define COSY_PROGRAM_H

#include <linux/nospec.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include "core.h"
#include "load/image.h"

struct cosy_context;
struct cosy_followed;
struct cosy_user;

#define COSY_SITES 64U

/*
 * Counts failures of specialised versions by call site: the instruction's number modulo COSY_SITES.
 * The counts are hints; threads may lose updates.
 */
struct cosy_sites {
	unsigned long missing;	/* a bit for each whose guards failed lately */
	u8 missed[COSY_SITES];	/* two for each failure, less one for each time that they held */
	u16 passed[COSY_SITES]; /* how often the version was not tried since */
};

/* An image in a context, for its buffer.  Constant once loaded, but for references and sites. */
struct cosy_program {
	refcount_t references; /* the context's, while it has a handle, and each RUN's */
	/* Copies of the image's members, which RUN would otherwise reach by one more load each */
	u32 insn_cnt;			/* of the compound as loaded */
	u32 frame_words;		/* of the deepest spill frame */
	u32 fuel;			/* steps between two safepoints */
	bool may_nest;			/* makes ioctls, which RUN is one of */
	bool ordinary;			/* COSY_ORDINARY_CALLS: reads make no views either */
	const void *code;		/* the code that cosy_enter calls */
	void *buffer;			/* the shared buffer's front, kernel's mapping, ... */
	unsigned long buffer_address;	/* ... user's ... */
	u32 buffer_size;		/* ... and size; 0: none.  The context keeps it */
	const bool *gone;		/* the buffer's `gone`, or constant false */
	u64 max_steps, max_ns;		/* the compound's own limits, 0 = none */
	struct cosy_user *user;		/* the user that is charged; the context keeps it */
	const u8 *points;		/* [insn_cnt]: see cosy_program_resumes, _call_words */
	struct cosy_image *image;	/* which has code and points; a reference */
	struct cosy_followed *followed; /* counts its calls; NULL: nothing.  The context keeps it */
	struct rcu_head rcu;
	struct cosy_sites sites;
};

/* Returns where a user's address is in the shared buffer, if one of the next two finds it there. */
static __always_inline u64 cosy_buffer_offset(const struct cosy_program *prog, u64 address)
{
	return address - prog->buffer_address;
}

/* Returns whether the byte at an offset is in the shared buffer's front. */
static __always_inline bool cosy_buffer_has_byte(const struct cosy_program *prog, u64 offset)
{
	return offset < prog->buffer_size;
}

/* Returns whether `length` bytes are, all of them. */
static __always_inline bool cosy_buffer_has(const struct cosy_program *prog, u64 offset, u64 length)
{
	return cosy_buffer_has_byte(prog, offset) && length <= prog->buffer_size - offset;
}

/* Masks an offset that is in the buffer: a mispredicted test of that leads nowhere else. */
static __always_inline u64 cosy_buffer_mask(const struct cosy_program *prog, u64 offset)
{
	return offset & (prog->buffer_size - 1);
}

/* Serves LOAD.  Fills in the answers, also with -EINVAL and the like; see the uapi header. */
long cosy_program_load(struct cosy_context *context, struct cosy_load *load);

/* Serves FREE.  0 or -ENOENT. */
long cosy_program_forget(struct cosy_context *context, u32 handle);
void cosy_program_forget_all(struct cosy_context *context);

/* Returns a reference to the program of a handle, or NULL. */
struct cosy_program *cosy_program_get(struct cosy_context *context, u32 handle);
void cosy_program_put(struct cosy_program *prog);

/*
 * Returns COSY_POINT_* of an instruction whose number came from the user; 0 for one that is not
 * there.  A mispredicted test of that reads the first one's.
 */
static inline u8 cosy_program_point(const struct cosy_program *prog, u64 insn)
{
	return insn < prog->insn_cnt ? prog->points[array_index_nospec(insn, prog->insn_cnt)] : 0;
}

/* Returns whether `resume` (an instruction + 1) is a place to go on from. */
static inline bool cosy_program_resumes(const struct cosy_program *prog, u32 resume)
{
	return cosy_program_point(prog, (u64)resume - 1) & COSY_POINT_RESUME;
}

/* Returns the spill words that a local call at `insn` keeps; negative when there is none there. */
static inline int cosy_program_call_words(const struct cosy_program *prog, u64 insn)
{
	return (cosy_program_point(prog, insn) & COSY_POINT_CALL) - 1;
}

#endif /* COSY_PROGRAM_H */
