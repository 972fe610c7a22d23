/* SPDX-License-Identifier: MIT */
/* filesystem.h - knows where a lease means something, for the library and the daemon. */
#ifndef COSY_RUN_FILESYSTEM_H
#define COSY_RUN_FILESYSTEM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * File systems, by statfs(2)'s f_type, on which a lease keeps every writer waiting.  Others
 * grant leases that mean nothing (proc, sysfs), see only some writers (network file
 * systems, the layers below an overlay), or ask a process that may never answer (FUSE).
 */
static inline bool filesystem_has_leases(uint32_t type)
{
	switch (type) {
	case 0xef53:	 /* ext2, ext3, ext4 */
	case 0x01021994: /* tmpfs */
	case 0x58465342: /* xfs */
	case 0x9123683e: /* btrfs */
	case 0xf2f52010: /* f2fs */
	case 0x73717368: /* squashfs */
	case 0xe0f5e1e2: /* erofs */
		return true;
	}
	return false;
}

#endif /* COSY_RUN_FILESYSTEM_H */
