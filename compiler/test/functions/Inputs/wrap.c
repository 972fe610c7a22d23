// Takes the calls by -Wl,--wrap=getuid.
#include <sys/types.h>
#include <unistd.h>

uid_t __wrap_getuid(void)
{
	return 4711;
}
