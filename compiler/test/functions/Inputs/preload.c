// Wraps a function as fakeroot and libfaketime do.
#include <sys/types.h>
#include <unistd.h>

uid_t getuid(void)
{
	return 4711;
}
