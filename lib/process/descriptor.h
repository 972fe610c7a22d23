/* SPDX-License-Identifier: MIT */
/* descriptor.h - the device's name, and the numbers of libcosy's descriptors. */
#ifndef COSY_LIB_DESCRIPTOR_H
#define COSY_LIB_DESCRIPTOR_H

#define COSY_DEVICE "/dev/cosy"

/*
 * Moves a descriptor to a number so high that a program's own are the same with
 * and without libcosy, close-on-exec.  Returns the new number, or the old one where that fails.
 */
int libcosy_move_fd(int fd);

#endif /* COSY_LIB_DESCRIPTOR_H */
