// SPDX-License-Identifier: GPL-2.0
/* types.c - see types.h. */
#include <linux/bpf.h>
#include <linux/err.h>
#include <linux/static_call.h>
#include "kernel/symbols.h"
#include "kernel/types.h"

#if IS_ENABLED(CONFIG_DEBUG_INFO_BTF) && IS_ENABLED(CONFIG_BPF_SYSCALL)

static struct btf *types_none(void)
{
	return NULL;
}

static s32 find_none(const struct btf *btf, const char *name, u8 kind)
{
	return -ENOENT;
}

static const char *name_none(const struct btf *btf, u32 offset)
{
	return NULL;
}

DEFINE_STATIC_CALL(cosy_btf_types, types_none);
DEFINE_STATIC_CALL(cosy_btf_find, find_none);
DEFINE_STATIC_CALL(cosy_btf_name, name_none);

/* The kernel's types, to which the kernel itself keeps a reference.  NULL: not known. */
static struct btf *kernel_btf __initdata;

void __init cosy_kernel_types_init(void)
{
	void *types = cosy_unexported("bpf_get_btf_vmlinux");
	void *find = cosy_unexported("btf_find_by_name_kind");
	void *name = cosy_unexported("btf_name_by_offset");
	struct btf *btf;

	/* Compare with the types that the headers declare. */
	static_assert(__same_type(&bpf_get_btf_vmlinux, &types_none));
	static_assert(__same_type(&btf_find_by_name_kind, &find_none));
	static_assert(__same_type(&btf_name_by_offset, &name_none));
	if (!types || !find || !name)
		return;
	static_call_update(cosy_btf_types, (typeof(&types_none))types);
	static_call_update(cosy_btf_find, (typeof(&find_none))find);
	static_call_update(cosy_btf_name, (typeof(&name_none))name);
	btf = static_call(cosy_btf_types)();
	if (!IS_ERR_OR_NULL(btf))
		kernel_btf = btf;
}

const struct btf_type *__init cosy_kernel_struct(const char *name)
{
	s32 id;

	if (!kernel_btf)
		return NULL;
	id = static_call(cosy_btf_find)(kernel_btf, name, BTF_KIND_STRUCT);
	return id < 0 ? NULL : btf_type_by_id(kernel_btf, id);
}

const struct btf_type *__init cosy_kernel_type(u32 id)
{
	return kernel_btf ? btf_type_by_id(kernel_btf, id) : NULL;
}

long __init cosy_kernel_member(const struct btf_type *structure, const char *name,
			       const struct btf_type **member_type)
{
	const struct btf_member *member;
	const char *member_name;
	u32 i, bit;

	if (!structure)
		return -ENOENT;
	for_each_member(i, structure, member) {
		member_name = static_call(cosy_btf_name)(kernel_btf, member->name_off);
		if (!member_name || strcmp(member_name, name))
			continue;
		bit = __btf_member_bit_offset(structure, member);
		*member_type = cosy_kernel_type(member->type);
		if (!*member_type || __btf_member_bitfield_size(structure, member) ||
		    bit % BITS_PER_BYTE)
			return -ENOENT;
		return bit / BITS_PER_BYTE;
	}
	return -ENOENT;
}

#else

void __init cosy_kernel_types_init(void) {}

const struct btf_type *__init cosy_kernel_struct(const char *name)
{
	return NULL;
}

const struct btf_type *__init cosy_kernel_type(u32 id)
{
	return NULL;
}

long __init cosy_kernel_member(const struct btf_type *structure, const char *name,
			       const struct btf_type **member_type)
{
	return -ENOENT;
}

#endif
