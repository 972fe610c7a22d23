// Defines the names of glibc 2.38, for the native twin where libc lacks them.  Where libc has
// them, strtol below would be __isoc23_strtol itself, which libc's headers make of it.
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if !__GLIBC_PREREQ(2, 38)
// Drops a prefix 0b that digits follow.
static const char *binary(const char *s, char *copy, int *base)
{
	const char *at = s;
	size_t sign;

	while (*at == ' ')
		at++;
	sign = *at == '-' || *at == '+';
	if ((*base && *base != 2) || at[sign] != '0' || (at[sign + 1] | 32) != 'b' ||
	    (at[sign + 2] != '0' && at[sign + 2] != '1'))
		return s;
	*base = 2;
	memcpy(copy, at, sign);
	strcpy(copy + sign, at + sign + 2);
	return copy;
}

#define NUMBER(type, name)                                                     \
	type __isoc23_##name(const char *s, char **end, int base)              \
	{                                                                      \
		char copy[100], *stop = NULL;                                         \
		const char *from = binary(s, copy, &base);                     \
		type value = name(from, &stop, base);                          \
                                                                               \
		if (end && stop)                                               \
			*end = (char *)s + strlen(s) - strlen(stop);           \
		return value;                                                  \
	}
NUMBER(long, strtol)
NUMBER(long long, strtoll)
NUMBER(intmax_t, strtoimax)
NUMBER(unsigned long, strtoul)
NUMBER(unsigned long long, strtoull)
NUMBER(uintmax_t, strtoumax)

__attribute__((weak)) size_t strlcpy(char *d, const char *s, size_t n)
{
	size_t len = strlen(s);

	if (n) {
		memcpy(d, s, len < n ? len : n - 1);
		d[len < n ? len : n - 1] = 0;
	}
	return len;
}

__attribute__((weak)) size_t strlcat(char *d, const char *s, size_t n)
{
	size_t used = strnlen(d, n);

	return used + strlcpy(d + used, s, n - used);
}
#endif
