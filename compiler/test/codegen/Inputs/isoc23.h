// Declares functions as <stdlib.h> and <inttypes.h> of glibc 2.38 and later do, and two of <string.h>.
#pragma GCC system_header
#include <inttypes.h>
#include <stddef.h>

long isoc23_strtol(const char *, char **, int) __asm__("__isoc23_strtol");
long long isoc23_strtoll(const char *, char **, int) __asm__("__isoc23_strtoll");
intmax_t isoc23_strtoimax(const char *, char **, int) __asm__("__isoc23_strtoimax");
unsigned long isoc23_strtoul(const char *, char **, int) __asm__("__isoc23_strtoul");
unsigned long long isoc23_strtoull(const char *, char **, int) __asm__("__isoc23_strtoull");
uintmax_t isoc23_strtoumax(const char *, char **, int) __asm__("__isoc23_strtoumax");
size_t strlcpy(char *, const char *, size_t);
size_t strlcat(char *, const char *, size_t);
