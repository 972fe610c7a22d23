// The linker binds calls of it in the same program to it, and the dynamic linker never hears of it.
#include <sys/types.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uid_t getuid(void)
{
	return 4711;
}
