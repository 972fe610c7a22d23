// SPDX-License-Identifier: MIT
/* own.c - has functions of its own in the place of libc's, for own_test.c. */
#include "raw.h"

#ifdef OWN_CLOSE
int close(int fd)
{
	return RAW(close, fd);
}
#endif

#ifdef OWN_LSEEK
off_t lseek(int fd, off_t offset, int whence)
{
	return RAW(lseek, fd, offset, whence);
}
#endif
