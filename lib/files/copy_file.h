/* SPDX-License-Identifier: MIT */
/* copy_file.h - copies one regular file for cosy_copy_tree. */
#ifndef COSY_LIB_FILES_COPY_FILE_H
#define COSY_LIB_FILES_COPY_FILE_H

#include <sys/stat.h>

#include <cosy/files.h>

/* Bytes of the buffer that files are copied through. */
#define COPY_BUFFER 65536

/* With COSY_COPY_*: the directory was there before the copy. */
#define COPY_MERGED (1u << 31)

/* Returns the permissions that COSY_COPY_MODE asks for. */
static inline mode_t libcosy_copy_mode(const struct stat *stat, uint32_t flags)
{
	return stat->st_mode & (flags & COSY_COPY_OWNER ? 07777 : 0777);
}

/*
 * Copies the regular file `name` to a new one of that name.  0, or an errno; EEXIST: nothing done.
 */
int libcosy_copy_file(int from_dirfd, int to_dirfd, const char *name, uint32_t flags, char *buffer);

/* Gives an open file or directory the source's attributes, as far as `flags` ask for. */
int libcosy_copy_attributes(int fd, const struct stat *stat, uint32_t flags);

#endif /* COSY_LIB_FILES_COPY_FILE_H */
