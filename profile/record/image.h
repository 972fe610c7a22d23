/* SPDX-License-Identifier: MIT */
/*
 * image.h - copies of ELF files, with the parts that are read.  Others may cut a file short or
 * rewrite it at any time.  A mapping of the file would then end this process by SIGBUS, and checked
 * bytes could change before their use.
 */
#ifndef COSY_PROFILE_IMAGE_H
#define COSY_PROFILE_IMAGE_H

/* Parts that a copy has besides headers and tables; all else in it is zeros. */
enum image_parts {
	IMAGE_FRAMES, /* call-frame information and exported names */
	IMAGE_CODE,   /* executable segments */
	IMAGE_NAMES,  /* symbols and debug information */
};

/*
 * Copies an ELF file of 64 bits, open at `file`, as it is now.  Returns a descriptor of memory that
 * nobody can change, of the file's size and with each part at its offset, for the caller to close;
 * or -EINVAL: it is no such file; -EFBIG: the parts are more than 256 MB, or 1 GB of names;
 * or another negative errno.
 */
int image_copy(int file, enum image_parts parts);

/* The same of a file by its path, which may name a device or a pipe: neither is waited for. */
int image_copy_path(const char *path, enum image_parts parts);

#endif /* COSY_PROFILE_IMAGE_H */
