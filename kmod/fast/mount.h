/* SPDX-License-Identifier: GPL-2.0 */
/* mount.h - the number of a mount, as statx(2) reports it, and changes of the mounts. */
#ifndef COSY_MOUNT_H
#define COSY_MOUNT_H

#include <linux/mount.h>
#include <linux/seqlock.h>

/* Bytes from a struct vfsmount to the number; 0 where it is not known. */
extern long cosy_mount_id_offset;

/* The kernel's lock of what is mounted where; NULL where it is not found. */
extern const seqlock_t *cosy_mount_lock;

/* Finds both; without the number's place cosy_mount_ids_are_known returns false. */
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

/* A value of cosy_mounts_now that says nothing. */
#define COSY_MOUNTS_UNKNOWN 1

/*
 * Returns a number that stays the same until the next mount or unmount, or an odd one: ask the kernel.
 * What is read after it was so at that number, or later.
 */
static inline u32 cosy_mounts_now(void)
{
	return likely(cosy_mount_lock) ? raw_read_seqcount(&cosy_mount_lock->seqcount)
				       : COSY_MOUNTS_UNKNOWN;
}

#endif /* COSY_MOUNT_H */
