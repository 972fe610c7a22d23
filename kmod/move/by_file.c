// SPDX-License-Identifier: GPL-2.0
/* by_file.c - see by_file.h. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/cosy.h>
#include "compat/compat.h"
#include "move/by_file.h"

long cosy_move_by_file(const struct cosy_move *move, const struct file_operations *operations,
		       int direction, long (*serve)(struct file *, const struct cosy_move *))
{
	struct fd f = fdget(move->fd);
	loff_t none = 0;
	long ret = -EBADF;

	if (!fd_file(f))
		return ret;
	ret = -EINVAL;
	if (fd_file(f)->f_op == operations)
		ret = rw_verify_area(direction, fd_file(f), &none, move->length);
	if (!ret)
		ret = serve(fd_file(f), move);
	fdput(f);
	return ret;
}
