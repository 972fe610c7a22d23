// Counts the calls of one function, NAME, and passes them on.
#include <dlfcn.h>

#define TEXT(name)  #name
#define QUOTE(name) TEXT(name)

typedef long forward(long a, long b, long c, long d, long e, long f);

int called;

long NAME(long a, long b, long c, long d, long e, long f)
{
	forward *next = (forward *)dlsym(RTLD_NEXT, QUOTE(NAME));

	called++;
	return next(a, b, c, d, e, f);
}
