// SPDX-License-Identifier: MIT
/*
 * runtime.c - gives compounds bodies of libc functions for which core/ops.def has no call or
 * operation: strings, characters, numbers, signals, and calls that libc changes.
 */
#include "runtime.h"

/* --- _FORTIFY_SOURCE --- */

/* Returns, for FD_SET and its like, which word of a set has a descriptor's bit. */
long RT(__fdelt_chk)(long fd)
{
	if (fd < 0 || fd >= 1024)
		__chk_fail();
	return fd / 64;
}

/* --- Strings --- */

char *RT(strcat)(char *d, const char *s)
{
	strcpy(d + strlen(d), s);
	return d;
}

char *RT(strncat)(char *d, const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *end = d + strlen(d);

	memcpy(end, s, len);
	end[len] = 0;
	return d;
}

/* _FORTIFY_SOURCE: `size` bytes are at d. */
char *RT(__strcat_chk)(char *d, const char *s, size_t size)
{
	size_t used = strlen(d), len = strlen(s);

	if (size < used || size - used <= len)
		__chk_fail();
	memcpy(d + used, s, len + 1);
	return d;
}

char *RT(__strncat_chk)(char *d, const char *s, size_t n, size_t size)
{
	size_t used = strlen(d), len = strnlen(s, n);

	if (size < used || size - used <= len)
		__chk_fail();
	memcpy(d + used, s, len);
	d[used + len] = 0;
	return d;
}

void *RT(mempcpy)(void *d, const void *s, size_t n)
{
	return (char *)memcpy(d, s, n) + n;
}

char *RT(stpncpy)(char *d, const char *s, size_t n)
{
	size_t len = strnlen(s, n);

	memcpy(d, s, len);
	memset(d + len, 0, n - len);
	return d + len;
}

size_t RT(strlcpy)(char *d, const char *s, size_t n)
{
	size_t len = strlen(s);

	if (n) {
		size_t fit = len < n ? len : n - 1;

		memcpy(d, s, fit);
		d[fit] = 0;
	}
	return len;
}

size_t RT(strlcat)(char *d, const char *s, size_t n)
{
	size_t used = strnlen(d, n);

	return used + RT(strlcpy)(d + used, s, n - used);
}

/* _FORTIFY_SOURCE: `size` bytes are at d. */
size_t RT(__strlcpy_chk)(char *d, const char *s, size_t n, size_t size)
{
	if (size < n)
		__chk_fail();
	return RT(strlcpy)(d, s, n);
}

size_t RT(__strlcat_chk)(char *d, const char *s, size_t n, size_t size)
{
	if (size < n)
		__chk_fail();
	return RT(strlcat)(d, s, n);
}

void *RT(memccpy)(void *d, const void *s, int c, size_t n)
{
	const char *end = memchr(s, c, n);

	if (!end) {
		memcpy(d, s, n);
		return NULL;
	}
	size_t len = end - (const char *)s + 1;

	return (char *)memcpy(d, s, len) + len;
}

size_t RT(strspn)(const char *s, const char *accept)
{
	size_t i = 0;

	while (s[i] && strchr(accept, s[i]))
		i++;
	return i;
}

size_t RT(strcspn)(const char *s, const char *reject)
{
	size_t i = 0;

	if (!reject[0] || !reject[1])
		return strchrnul(s, reject[0]) - s;
	while (s[i] && !strchr(reject, s[i]))
		i++;
	return i;
}

char *RT(strpbrk)(const char *s, const char *accept)
{
	s += RT(strcspn)(s, accept);
	return *s ? (char *)s : NULL;
}

char *RT(strsep)(char **sp, const char *delim)
{
	char *s = *sp, *end;

	if (!s)
		return NULL;
	end = s + RT(strcspn)(s, delim);
	if (*end) {
		*end = 0;
		*sp = end + 1;
	} else {
		*sp = NULL;
	}
	return s;
}

char *RT(strtok_r)(char *s, const char *delim, char **save)
{
	char *end;

	if (!s)
		s = *save;
	if (!*s) {
		*save = s;
		return NULL;
	}
	s += RT(strspn)(s, delim);
	if (!*s) {
		*save = s;
		return NULL;
	}
	end = s + RT(strcspn)(s, delim);
	if (*end)
		*end++ = 0;
	*save = end;
	return s;
}

/* glibc's other name of strtok_r. */
char *RT(__strtok_r)(char *s, const char *delim, char **save)
{
	return RT(strtok_r)(s, delim, save);
}

/* --- Characters, by the thread's locale --- */

#define CTYPE(name, bit)                                                                           \
	int RT(name)(int c)                                                                        \
	{                                                                                          \
		return (*__ctype_b_loc())[c] & (bit);                                              \
	}
CTYPE(isupper, 1 << 8)
CTYPE(islower, 1 << 9)
CTYPE(isalpha, 1 << 10)
CTYPE(isdigit, 1 << 11)
CTYPE(isxdigit, 1 << 12)
CTYPE(isspace, 1 << 13)
CTYPE(isprint, 1 << 14)
CTYPE(isgraph, 1 << 15)
CTYPE(isblank, 1 << 0)
CTYPE(iscntrl, 1 << 1)
CTYPE(ispunct, 1 << 2)
CTYPE(isalnum, 1 << 3)

int RT(tolower)(int c)
{
	return c >= -128 && c < 256 ? (*__ctype_tolower_loc())[c] : c;
}

int RT(toupper)(int c)
{
	return c >= -128 && c < 256 ? (*__ctype_toupper_loc())[c] : c;
}

/* Most strings that differ do so in their first bytes. */
int RT(strncasecmp)(const char *a, const char *b, size_t n)
{
	const int *lower = *__ctype_tolower_loc();

	if (!n)
		return 0;
	if (*a != *b) {
		int d = lower[(u8)*a] - lower[(u8)*b];

		if (d)
			return d;
	}
	return __cosy_strncasecmp(a, b, n, lower);
}

int RT(strcasecmp)(const char *a, const char *b)
{
	return RT(strncasecmp)(a, b, ~0ul);
}

char *RT(strcasestr)(const char *h, const char *n)
{
	return __cosy_strcasestr(h, n, *__ctype_tolower_loc());
}

/* --- Numbers --- */

static int digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

/* Returns the length of a prefix that tells base 16 or 2: 2, or 0 if there is none. */
static int prefix(const char *s, int base, int letter, int wanted)
{
	return (base == 0 || base == wanted) && s[0] == '0' && (s[1] | 32) == letter &&
			       digit(s[2]) < wanted
		       ? 2
		       : 0;
}

#define LONG_MAX (~0ul >> 1)

/* Ways of reading a number. */
#define SIGNED	      1
#define BINARY_PREFIX 2 /* 0b before one of base 2, as C23 has it */

/* Returns the value, with its sign applied.  Sets errno if it is out of range. */
static unsigned long parse(const char *s, char **end, int base, int how)
{
	const char *start = s;
	unsigned long value = 0, max;
	int any = 0, overflow = 0, negative = 0, skip;

	if (base < 0 || base == 1 || base > 36) {
		*__errno_location() = EINVAL;
		return 0;
	}
	while (RT(isspace)((u8)*s))
		s++;
	if (*s == '-' || *s == '+')
		negative = *s++ == '-';
	if ((skip = prefix(s, base, 'x', 16)))
		base = 16;
	else if (how & BINARY_PREFIX && (skip = prefix(s, base, 'b', 2)))
		base = 2;
	else if (base == 0)
		base = s[0] == '0' ? 8 : 10;
	s += skip;
	/* Its bits are also the result for a number of larger magnitude. */
	max = !(how & SIGNED) ? ~0ul : negative ? LONG_MAX + 1 : LONG_MAX;
	for (; digit(*s) < base; s++) {
		unsigned d = digit(*s);

		any = 1;
		if (value > (max - d) / base)
			overflow = 1;
		else
			value = value * base + d;
	}
	if (end)
		*end = (char *)(any ? s : start);
	if (overflow) {
		*__errno_location() = ERANGE;
		return max;
	}
	return negative ? -value : value;
}

/* Defines both names: headers of glibc 2.38 and later turn calls of the first into the second. */
#define NUMBER(type, name, how)                                                                    \
	type RT(name)(const char *s, char **end, int base)                                         \
	{                                                                                          \
		return parse(s, end, base, how);                                                   \
	}                                                                                          \
	type RT(__isoc23_##name)(const char *s, char **end, int base)                              \
	{                                                                                          \
		return parse(s, end, base, (how) | BINARY_PREFIX);                                 \
	}
NUMBER(long, strtol, SIGNED)
NUMBER(long long, strtoll, SIGNED)
NUMBER(long, strtoimax, SIGNED)
NUMBER(unsigned long, strtoul, 0)
NUMBER(unsigned long long, strtoull, 0)
NUMBER(unsigned long, strtoumax, 0)

int RT(atoi)(const char *s)
{
	return RT(strtol)(s, NULL, 10);
}

long RT(atol)(const char *s)
{
	return RT(strtol)(s, NULL, 10);
}

long long RT(atoll)(const char *s)
{
	return RT(strtol)(s, NULL, 10);
}

unsigned RT(htonl)(unsigned x)
{
	return __builtin_bswap32(x);
}
unsigned RT(ntohl)(unsigned x)
{
	return __builtin_bswap32(x);
}
unsigned short RT(htons)(unsigned short x)
{
	return __builtin_bswap16(x);
}
unsigned short RT(ntohs)(unsigned short x)
{
	return __builtin_bswap16(x);
}

/* --- Searching --- */

void *RT(bsearch)(const void *key, const void *base, size_t n, size_t size,
		  int (*compare)(const void *, const void *))
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const char *p = (const char *)base + middle * size;
		int order = compare(key, p);

		if (order < 0)
			high = middle;
		else if (order > 0)
			low = middle + 1;
		else
			return (void *)p;
	}
	return NULL;
}

/* --- Calls whose arguments or results libc changes --- */

#define SYS_rt_sigprocmask  14
#define SYS_getcwd	    79
#define SYS_getpriority	    140
#define SYS_fadvise64	    221
#define SYS_clock_nanosleep 230
#define SYS_mknodat	    259
#define SYS_fchmodat	    268
#define SYS_ppoll	    271
#define SYS_utimensat	    280

#define AT_FDCWD		 (-100)
#define S_IFIFO			 0010000
#define TCGETS			 0x5401
#define CLOCK_REALTIME		 0
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID	 3

struct timespec {
	long tv_sec, tv_nsec;
};

/* Makes a negative result with errno a positive one without. */
#define WITHOUT_ERRNO(call)                                                                        \
	({                                                                                         \
		int saved = *__errno_location(), error = 0;                                        \
		if ((call) < 0) {                                                                  \
			error = *__errno_location();                                               \
			*__errno_location() = saved;                                               \
		}                                                                                  \
		error;                                                                             \
	})

int RT(clock_nanosleep)(int clock, int flags, const struct timespec *t, struct timespec *rest)
{
	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return EINVAL;
	if (clock == CLOCK_PROCESS_CPUTIME_ID)
		clock = -6; /* this process's, as a dynamic clock */
	return WITHOUT_ERRNO(syscall(SYS_clock_nanosleep, clock, flags, t, rest));
}

int RT(nanosleep)(const struct timespec *t, struct timespec *rest)
{
	return syscall(SYS_clock_nanosleep, CLOCK_REALTIME, 0, t, rest);
}

int RT(usleep)(unsigned us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000l};

	return RT(nanosleep)(&t, NULL);
}

unsigned RT(sleep)(unsigned seconds)
{
	struct timespec t = {seconds, 0};
	int saved = *__errno_location();

	if (RT(nanosleep)(&t, &t) < 0)
		return t.tv_sec;
	*__errno_location() = saved;
	return 0;
}

/* Passes a copy of the timeout, into which the kernel writes the rest; libc leaves it alone. */
int RT(ppoll)(void *fds, unsigned long n, const struct timespec *timeout, const void *mask)
{
	struct timespec copy;

	if (timeout)
		copy = *timeout;
	return syscall(SYS_ppoll, fds, n, timeout ? &copy : NULL, mask, 8);
}

/* Keeps the two signals that libc uses itself from being blocked, as libc does. */
int RT(sigprocmask)(int how, const unsigned long *set, unsigned long *old)
{
	unsigned long copy;

	if (set) {
		copy = *set & ~(3ul << 31);
		set = &copy;
	}
	return syscall(SYS_rt_sigprocmask, how, set, old, 8);
}

/*
 * Leaves the cases to libc in which it allocates, or goes up to the root by itself: the kernel's
 * result may begin with "(unreachable)", or be longer than a page.
 */
char *RT(getcwd)(char *path, size_t size)
{
	ssize_t length;

	if (!path || !size)
		return getcwd(path, size);
	length = syscall(SYS_getcwd, path, size);
	if (length > 0 && path[0] == '/')
		return path;
	if (length >= 0 || *__errno_location() == ENAMETOOLONG)
		return getcwd(path, size);
	return NULL;
}

/* _FORTIFY_SOURCE: `room` bytes are at `path`. */
char *RT(__getcwd_chk)(char *path, size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
	return RT(getcwd)(path, size);
}

int RT(posix_fadvise)(int fd, long offset, long len, int advice)
{
	return WITHOUT_ERRNO(syscall(SYS_fadvise64, fd, offset, len, advice));
}

int RT(mkfifo)(const char *path, unsigned mode)
{
	return syscall(SYS_mknodat, AT_FDCWD, path, mode | S_IFIFO, 0);
}

/* libc emulates flags, or uses newer calls for them. */
int RT(fchmodat)(int dir, const char *path, unsigned mode, int flags)
{
	if (flags)
		return fchmodat(dir, path, mode, flags);
	return syscall(SYS_fchmodat, dir, path, mode);
}

int RT(utimensat)(int dir, const char *path, const struct timespec *times, int flags)
{
	if (!path) {
		*__errno_location() = EINVAL;
		return -1;
	}
	return syscall(SYS_utimensat, dir, path, times, flags);
}

int RT(remove)(const char *path)
{
	if (unlink(path) == 0)
		return 0;
	if (*__errno_location() != EISDIR && *__errno_location() != EPERM)
		return -1;
	if (rmdir(path) == 0)
		return 0;
	if (*__errno_location() == ENOTDIR)
		*__errno_location() = EPERM;
	return -1;
}

int RT(isatty)(int fd)
{
	char termios[64];

	return ioctl(fd, TCGETS, termios) == 0;
}

/* Turns the kernel's result, 20 minus the priority so that it is no error, into the priority. */
int RT(getpriority)(int which, unsigned who)
{
	long r = syscall(SYS_getpriority, which, who);

	return r < 0 ? r : 20 - r;
}

/* --- Signal sets, which have room for 1024 signals, as libc's have --- */

struct sigset {
	unsigned long word[16];
};

int RT(sigemptyset)(struct sigset *set)
{
	memset(set, 0, sizeof(*set));
	return 0;
}

static int bad_signal(int sig)
{
	if (sig > 0 && sig <= 64 && sig != 32 && sig != 33)
		return 0;
	*__errno_location() = EINVAL;
	return 1;
}

int RT(sigaddset)(struct sigset *set, int sig)
{
	if (bad_signal(sig))
		return -1;
	set->word[0] |= 1ul << (sig - 1);
	return 0;
}

int RT(sigdelset)(struct sigset *set, int sig)
{
	if (bad_signal(sig))
		return -1;
	set->word[0] &= ~(1ul << (sig - 1));
	return 0;
}

int RT(sigismember)(const struct sigset *set, int sig)
{
	if (bad_signal(sig))
		return -1;
	return set->word[0] >> (sig - 1) & 1;
}

/* --- Processes --- */

/* Refuses the signals that libc keeps to itself, as libc does. */
int RT(raise)(int sig)
{
	if (sig == 32 || sig == 33)
		return *__errno_location() = EINVAL, -1;
	return tgkill(getpid(), gettid(), sig);
}
