// As fakeroot and libfaketime do it.
#include <sys/types.h>
#include <unistd.h>

uid_t getuid(void)
{
	return 4711;
}
