// SPDX-License-Identifier: MIT
/* bound.c - a library whose calls are bound to libc's functions if it is loaded RTLD_DEEPBIND. */
#include <unistd.h>

int bound_close(int fd);

int bound_close(int fd)
{
	return close(fd);
}
