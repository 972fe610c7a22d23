// Wraps a function as fakeroot and libfaketime do.
#include <sys/types.h>
#include <unistd.h>

#ifdef READ
ssize_t read(int fd, void *buffer, size_t size)
{
	(void)fd;
	(void)buffer;
	return (ssize_t)size;
}
#else
uid_t getuid(void)
{
	return 4711;
}
#endif
