/* SPDX-License-Identifier: GPL-2.0 */
/* by_file.h - requests that name a parcel or a port. */
#ifndef COSY_MOVE_BY_FILE_H
#define COSY_MOVE_BY_FILE_H

struct cosy_move;
struct file;
struct file_operations;

/*
 * Has `serve` serve the request with the file that it names, after the checks that read(2)
 * (direction READ) or write(2) (WRITE) makes.  -EBADF; -EINVAL: the file has other operations.
 */
long cosy_move_by_file(const struct cosy_move *move, const struct file_operations *operations,
		       int direction, long (*serve)(struct file *, const struct cosy_move *));

#endif /* COSY_MOVE_BY_FILE_H */
