/* SPDX-License-Identifier: MIT */
/* descriptor.h - the device's path, and the numbers of libcosy's descriptors. */
#ifndef COSY_LIB_DESCRIPTOR_H
#define COSY_LIB_DESCRIPTOR_H

#define COSY_DEVICE "/dev/cosy"

/*
 * Moves a descriptor to a high number, so that the program's own descriptors have the same numbers
 * with and without libcosy, and makes it close-on-exec.  Returns the new number, which replaces the
 * old one.  If that fails, returns the old number, and nothing has changed.
 */
int libcosy_move_fd(int fd);

#endif /* COSY_LIB_DESCRIPTOR_H */
