// SPDX-License-Identifier: MIT
/*
 * Does ls.h with the calls of ls -l for each entry of the current directory: statx(2), and whether
 * there is a label of a security module and an access control list.
 */
#define LS_LINE_ONLY
#include "ls.h"

#include <sys/xattr.h>
#include <cosy/cosy.h>

#define LONG_MASK (STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_MTIME | STATX_SIZE)

/* Takes the attributes of an entry that statx(2) was asked about. */
static void long_entry(struct entry *to, const struct statx *stx)
{
	to->st.st_mode = stx->stx_mode;
	to->st.st_nlink = stx->stx_nlink;
	to->st.st_uid = stx->stx_uid;
	to->st.st_gid = stx->stx_gid;
	to->st.st_size = (off_t)stx->stx_size;
	to->st.st_mtim.tv_sec = stx->stx_mtime.tv_sec;
	to->st.st_mtim.tv_nsec = stx->stx_mtime.tv_nsec;
}

static long ls_pass(int dir)
{
	struct entry entries[ENTRIES];
	char names[NAMES] __attribute__((aligned(16)));
	struct statx stx;
	char label[255];
	long sum = 0;
	int count;

	memset(entries, 0, sizeof(entries));
	do {
		count = 0;
		COSY_START;
		ssize_t len = getdents64(dir, names, NAMES);
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);

			entries[count].name = d->d_name;
			if (statx(AT_FDCWD, d->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
				  LONG_MASK, &stx) == 0) {
				long_entry(&entries[count++], &stx);
				sum += lgetxattr(d->d_name, "security.selinux", label,
						 sizeof(label));
				sum += getxattr(d->d_name, "system.posix_acl_access", NULL, 0);
			}
			at += d->d_reclen;
		}
		COSY_END;
		sum += ls_use(entries, count);
	} while (count);
	return sum;
}
