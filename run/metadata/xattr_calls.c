// SPDX-License-Identifier: MIT
/* xattr_calls.c - getxattr(2), listxattr(2) and their kin, of attributes that a file does not have. */
#include <errno.h>
#include <sys/xattr.h>

#include "metadata/metadata.h"
#include "next.h"

static ssize_t absent(int error)
{
	errno = error;
	return -1;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	int error = metadata_xattr_error(path, name);

	return error ? absent(error) : NEXT(getxattr)(path, name, value, size);
}

/* Symbolic links are in no table, so both mean the same file. */
ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	int error = metadata_xattr_error(path, name);

	return error ? absent(error) : NEXT(lgetxattr)(path, name, value, size);
}

ssize_t listxattr(const char *path, char *list, size_t size)
{
	return metadata_has_no_xattrs(path) ? 0 : NEXT(listxattr)(path, list, size);
}

ssize_t llistxattr(const char *path, char *list, size_t size)
{
	return metadata_has_no_xattrs(path) ? 0 : NEXT(llistxattr)(path, list, size);
}
