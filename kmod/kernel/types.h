/* SPDX-License-Identifier: GPL-2.0 */
/*
 * types.h - members of structures that are private to the kernel.
 *
 * No header or exported function describes them, but the running kernel's type information (BTF)
 * does.  A caller also checks the member's type, and does without the member if anything differs
 * from its expectation.
 *
 * Only for the module's start: main.c calls cosy_kernel_types_init before the others.
 */
#ifndef COSY_KERNEL_TYPES_H
#define COSY_KERNEL_TYPES_H

#include <linux/btf.h>
#include <linux/types.h>

/* Finds the kernel's types.  Without them every look-up below fails. */
void cosy_kernel_types_init(void);

/* Returns the structure of that name, as in `struct mount`, or NULL. */
const struct btf_type *cosy_kernel_struct(const char *name);

/* Returns the type with that number, as a member or an array's elements refer to it, or NULL. */
const struct btf_type *cosy_kernel_type(u32 id);

/*
 * Returns the offset in bytes of the member `name` of a structure, and in *member_type its type,
 * of which typedefs and const are not looked through.  -ENOENT: there is none, or it is a bit
 * field.
 */
long cosy_kernel_member(const struct btf_type *structure, const char *name,
			const struct btf_type **member_type);

#endif /* COSY_KERNEL_TYPES_H */
