// SPDX-License-Identifier: GPL-2.0
/*
 * mount.c - see mount.h.
 *
 * The number is a member of struct mount, which is private to the kernel.  If the kernel's type
 * information does not reveal the member's offset, statx is an ordinary call.
 */
#include "fast/mount.h"
#include "kernel/symbols.h"
#include "kernel/types.h"

long cosy_mount_id_offset __ro_after_init;
const seqlock_t *cosy_mount_lock __ro_after_init;

/* Returns the offset of the member `name` of struct mount, of `size` bytes, or -ENOENT. */
static long __init mount_member(const struct btf_type *mount, const char *name, u32 size)
{
	const struct btf_type *type;
	long offset = cosy_kernel_member(mount, name, &type);

	if (offset >= 0 &&
	    (type->size != size || !(btf_type_is_int(type) || btf_type_is_struct(type))))
		return -ENOENT;
	return offset;
}

void __init cosy_mount_init(void)
{
	const struct btf_type *mount = cosy_kernel_struct("mount");
	long public = mount_member(mount, "mnt", sizeof(struct vfsmount));
	long number = mount_member(mount, "mnt_id", sizeof(int));

	if (public >= 0 && number >= 0)
		cosy_mount_id_offset = number - public;
	cosy_mount_lock = cosy_unexported_data("mount_lock");
}
