/* SPDX-License-Identifier: GPL-2.0 */
/* mount.h - the number of a mount, as statx(2) reports it. */
#ifndef COSY_MOUNT_H
#define COSY_MOUNT_H

#include <linux/mount.h>

/* Bytes from a struct vfsmount to the number; 0 where it is not known. */
extern long cosy_mount_id_offset;

/* Finds the number's place; without it cosy_mount_ids_are_known returns false. */
void cosy_mount_init(void);

static inline bool cosy_mount_ids_are_known(void)
{
	return cosy_mount_id_offset;
}

/* Returns statx's stx_mnt_id, as with STATX_MNT_ID.  It stays the same while the mount is held. */
static inline int cosy_mount_id(const struct vfsmount *mnt)
{
	return *(const int *)((const u8 *)mnt + cosy_mount_id_offset);
}

#endif /* COSY_MOUNT_H */
