/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * costs.h - costs in instructions.  libcosy decides by them when a region has earned a LOAD, and
 * cosycc estimates a region's gain.
 *
 * A constant with a name after it is arithmetic with cells of the tables in docs/measured, as
 * docs/measured/figures.txt has it under that name: `make tables` writes the constant again when
 * the tables have changed, and `make check` fails until then.  The others are said to be chosen.
 */
#ifndef COSY_COSTS_H
#define COSY_COSTS_H

/* --- A process and a program ---------------------------------------------------------- */

/* A context with its buffer, from open to close: once in a process. */
#define COSY_COST_CONTEXT 41423 /*=cost_context*/
/* libcosy's own work for it, with the pages of its code.  Chosen: no row measures it. */
#define COSY_COST_LIBRARY 14000
/* A LOAD of what the user has not loaded lately: what each takes, and each instruction. */
#define COSY_COST_LOAD	    47122 /*=cost_load*/
#define COSY_COST_LOAD_INSN 2673  /*=cost_load_insn*/
/* The same of what another process of the user's has loaded lately. */
#define COSY_COST_SEEN	    3619 /*=cost_seen*/
#define COSY_COST_SEEN_INSN 52	 /*=cost_seen_insn*/
/* Asking whether that is so, before there is a context.  Chosen. */
#define COSY_COST_QUESTION 15000
/* Of that: asking the history, and the time of the thread.  Chosen. */
#define COSY_COST_RECALL 3000

/* Asking libcosy once more, in vain.  Chosen. */
#define COSY_COST_ASK 200

/* --- A region --------------------------------------------------------------------------- */

/* Entering one and leaving it again. */
#define COSY_COST_RUN 1192 /*=cost_run*/

/* --- A call: its gain, and its cost outside -------------------------------------------- */

/* A call as short as umask, and outside one that does a little more. */
#define COSY_GAIN_CALL	162 /*=gain_call*/
#define COSY_PLAIN_CALL 484 /*=cost_call*/
/* A call with a specialised version: half of what a read of a byte gains, since guards fail. */
#define COSY_GAIN_FAST	532  /*=gain_fast*/
#define COSY_PLAIN_FAST 1420 /*=cost_fast*/

/*
 * A write from memory outside the shared buffer, which no specialised version makes.  Chosen:
 * pwrite of 100 and of 4096 bytes gained 12 and 14.
 */
#define COSY_GAIN_WRITE_ELSEWHERE 12

/* One that looks a name up, as an attribute call of a directory's file does: half of its gain. */
#define COSY_GAIN_PATH	939  /*=gain_path*/
#define COSY_PLAIN_PATH 2651 /*=cost_path*/
/*
 * The same of an entry that a composite finds, or a name in a list: the whole gain, since one
 * look at the directory serves all of them.
 */
#define COSY_GAIN_ENTRY	 1899 /*=gain_entry*/
#define COSY_PLAIN_ENTRY 2681 /*=cost_entry*/
#define COSY_GAIN_NAME	 1568 /*=gain_name*/

/* --- Under a seccomp filter: chosen by what was measured once, no row repeats it ---------- */

/* A call that the filter lets through: its gain, by a specialised version and otherwise. */
#define COSY_GAIN_FAST_FILTERED 1000
#define COSY_GAIN_CALL_FILTERED 350
/* A call that it wants to see: the way out and in again. */
#define COSY_LOSS_FILTERED 2000

/*
 * A program is given up when it has lost so much: a hundred such calls.  Without a filter, when it
 * has lost 1/64 of what the region cost natively, between the two.  Chosen.
 */
#define COSY_MAX_BALANCE_LOSS 200000
#define COSY_MIN_BALANCE_LOSS 40000

/* --- Computing: its cost above that outside -------------------------------------------------- */

/* A load or store in the shared buffer, and elsewhere. */
#define COSY_LOSS_SHARED    5  /*=loss_shared*/
#define COSY_LOSS_ELSEWHERE 17 /*=loss_elsewhere*/
/* Loads elsewhere that are fetched together (core/fetch.h), and each word of them. */
#define COSY_LOSS_FETCH	     17 /*=loss_fetch*/
#define COSY_LOSS_FETCH_WORD 2	/*=loss_fetch_word*/
/* A round of a loop, whose fuel is counted. */
#define COSY_LOSS_ROUND 6 /*=loss_round*/
/* An operation on a string or memory, of few bytes. */
#define COSY_LOSS_STRING 122 /*=loss_string*/
/*
 * A search through as many bytes as there are.  Chosen: about half an instruction a byte, of a
 * page, since the C library's use vector registers.
 */
#define COSY_LOSS_SEARCH 2048
/*
 * One that is expanded in place while it has few bytes (Strings.cpp).  Chosen: its bodies do 20 to
 * 35 in the shared buffer, and about twice that elsewhere.
 */
#define COSY_LOSS_SHORT 50
/*
 * What snprintf of a path costs outside.  Chosen: the operation takes no longer, but its pieces are
 * written first.
 */
#define COSY_PLAIN_FORMAT 500
/* A call for which the compound leaves and comes back.  Chosen: two entries of a region. */
#define COSY_LOSS_CALL_OUT 2500

/* --- The rule ----------------------------------------------------------------------------- */

/*
 * A program is loaded when what was run outside has cost so many times what loading does.  Loading
 * is then 1.6 % at most of what the process has needed so far, whatever comes next, which leaves
 * room below 2 % for libcosy's start.
 */
#define COSY_TIER_SHARE 64

#endif /* COSY_COSTS_H */
