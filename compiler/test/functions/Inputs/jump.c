// Takes the calls by functions that are one jump through memory, as a PLT entry is.
#define _GNU_SOURCE
#include <sys/types.h>
#include <unistd.h>

#ifdef GOT
// -fno-plt: it jumps through the GOT, by another function's slot.
__attribute__((visibility("hidden"))) uid_t getuid(void)
{
	return geteuid();
}
#else
static uid_t other(void)
{
	return 4711;
}

__attribute__((visibility("hidden"))) uid_t (*jump_to)(void) = other;

__attribute__((visibility("hidden"))) uid_t getuid(void)
{
	return jump_to();
}
#endif
