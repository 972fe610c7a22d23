// SPDX-License-Identifier: GPL-2.0
/*
 * mount.c - see mount.h.
 *
 * The number is a member of struct mount, which the kernel keeps to itself: neither a
 * header nor an exported function tells of it.  What does is the kernel's description of
 * its own types (BTF), of the very kernel that runs.  Without one statx is the ordinary call.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/err.h>
#include <linux/static_call.h>
#include "fast/mount.h"
#include "run/dispatch.h"

long cosy_mount_id_offset __ro_after_init;

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

static bool __init functions_find(void)
{
	void *types = cosy_unexported("bpf_get_btf_vmlinux");
	void *find = cosy_unexported("btf_find_by_name_kind");
	void *name = cosy_unexported("btf_name_by_offset");

	/* As the headers declare them. */
	static_assert(__same_type(&bpf_get_btf_vmlinux, &types_none));
	static_assert(__same_type(&btf_find_by_name_kind, &find_none));
	static_assert(__same_type(&btf_name_by_offset, &name_none));
	if (!types || !find || !name)
		return false;
	static_call_update(cosy_btf_types, (typeof(&types_none))types);
	static_call_update(cosy_btf_find, (typeof(&find_none))find);
	static_call_update(cosy_btf_name, (typeof(&name_none))name);
	return true;
}

/* Where the member `name` of `size` bytes is, or -ENOENT. */
static int __init member_offset(const struct btf *btf, const struct btf_type *type,
				const char *name, u32 size)
{
	const struct btf_member *member;
	const struct btf_type *of;
	const char *called;
	u32 i;

	for_each_member(i, type, member)
	{
		called = static_call(cosy_btf_name)(btf, member->name_off);
		if (!called || strcmp(called, name) || __btf_member_bitfield_size(type, member))
			continue;
		of = btf_type_by_id(btf, member->type);
		if (!of || of->size != size || !(btf_type_is_int(of) || btf_type_is_struct(of)))
			return -ENOENT;
		return __btf_member_bit_offset(type, member) / 8;
	}
	return -ENOENT;
}

void __init cosy_mount_init(void)
{
	const struct btf_type *type;
	int mount, number;
	struct btf *btf;
	s32 id;

	if (!functions_find())
		return;
	btf = static_call(cosy_btf_types)();
	if (IS_ERR_OR_NULL(btf))
		return;
	id = static_call(cosy_btf_find)(btf, "mount", BTF_KIND_STRUCT);
	if (id < 0)
		return;
	type = btf_type_by_id(btf, id);
	mount = member_offset(btf, type, "mnt", sizeof(struct vfsmount));
	number = member_offset(btf, type, "mnt_id", sizeof(int));
	if (mount < 0 || number < 0)
		return;
	cosy_mount_id_offset = number - mount;
}

#else

void __init cosy_mount_init(void) {}

#endif
