/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * costs.h - costs of things, in instructions.  libcosy decides by them when a region has earned
 * the kernel, and cosycc estimates what a region gains.  The figures are those of
 * docs/measured/costs.md, measured where it says.
 */
#ifndef COSY_COSTS_H
#define COSY_COSTS_H

/* --- A process and a program (kmod_cost) -------------------------------------------- */

/* A context with its buffer, and what libcosy does about it: once in a process. */
#define COSY_COST_CONTEXT 75000
/* A LOAD of what the user has not loaded lately: what each takes, and each instruction. */
#define COSY_COST_LOAD	    37000
#define COSY_COST_LOAD_INSN 2070

/* Asking libcosy once more, in vain. */
#define COSY_COST_ASK 200

/* --- A region (the getpid rows of docs/measured/compounds.md) ----------------------- */

/* Entering one and leaving it again. */
#define COSY_COST_RUN 1100

/* --- A call: its gain, and its cost outside -------------------------------------------- */

#define COSY_GAIN_CALL	150
#define COSY_PLAIN_CALL 500
/* A call with a specialised version (read1, less what a miss costs). */
#define COSY_GAIN_FAST	400
#define COSY_PLAIN_FAST 1000

/* --- Under a seccomp filter (the filtered rows of docs/measured/compounds.md) ---------------- */

/* A call that the filter lets through: its gain, by a specialised version and otherwise. */
#define COSY_GAIN_FAST_FILTERED 1000
#define COSY_GAIN_CALL_FILTERED 350
/* A call that it wants to see: the way out and in again. */
#define COSY_LOSS_FILTERED 2000
/* A program is given up when it has lost so much: a hundred such calls. */
#define COSY_MAX_FILTER_LOSS 200000

/* --- Computing: its cost above that outside (kmod_cost) ---------------------------------- */

/* A load or store in the shared buffer, and elsewhere. */
#define COSY_LOSS_SHARED    5
#define COSY_LOSS_ELSEWHERE 17
/* A round of a loop, whose fuel is counted. */
#define COSY_LOSS_ROUND 6
/* A function on a string or memory, of few bytes. */
#define COSY_LOSS_STRING 120

/* --- The rule ----------------------------------------------------------------------------- */

/*
 * A program is loaded when what was run outside has cost so many times what loading does.  Loading
 * is then 2 % at most of what the process has needed so far, whatever comes next.
 */
#define COSY_TIER_SHARE 50

#endif /* COSY_COSTS_H */
