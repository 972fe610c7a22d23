// SPDX-License-Identifier: MIT
/* access_calls.c - access(2) and faccessat(2), of files that are known to permit it. */
#include <fcntl.h>
#include <unistd.h>

#include "metadata/metadata.h"
#include "next.h"

int access(const char *path, int mode)
{
	return metadata_serve_access(AT_FDCWD, path, mode) ? 0 : NEXT(access)(path, mode);
}

int faccessat(int dirfd, const char *path, int mode, int flags)
{
	return !flags && metadata_serve_access(dirfd, path, mode)
		       ? 0
		       : NEXT(faccessat)(dirfd, path, mode, flags);
}
