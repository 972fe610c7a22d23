/* SPDX-License-Identifier: GPL-2.0 */
/* jit.h - the kernel's BPF JIT: its abilities, and the compilation of one program. */
#ifndef COSY_JIT_H
#define COSY_JIT_H

#include <linux/types.h>
#include "core.h"

struct bpf_prog;

/* Refuses with -EOPNOTSUPP, since the JIT is off. */
int cosy_jit_refuse_off(struct cosy_reject *why);

/*
 * Makes a program of the code, to be compiled or freed (bpf_prog_free).  NULL without memory.
 * *blinds: the kernel would have its constants hidden, which the sandbox does.
 */
struct bpf_prog *cosy_jit_prepare(const struct cosy_code *code, bool *blinds);

/* Compiles it; NULL, and it is freed, when the kernel would only have interpreted it. */
struct bpf_prog *cosy_jit_compile(struct bpf_prog *bpf);

/*
 * Checks whether the kernel would compile a program of the caller's now, and hide its constants.
 * 0 or -ENOMEM.
 */
int cosy_jit_ask(bool *compiles, bool *blinds);

/*
 * Fills in which instructions the JIT has: has_v4, has_gotol, based and copies_ax.  0, -ENOMEM, or
 * -EOPNOTSUPP while the JIT is off and they are not known.
 */
int cosy_jit_abilities(struct cosy_sandbox *ret);

/* Finds out COSY_FEATURE_* of this kernel as it is set up now.  0 or -ENOMEM. */
int cosy_jit_features(u64 *features);

void cosy_jit_init(void);

#endif /* COSY_JIT_H */
