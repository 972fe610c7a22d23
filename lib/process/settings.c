// SPDX-License-Identifier: MIT
/* settings.c - see settings.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/cosy.h>

#include "../../core/printable.h"
#include "process/settings.h"
#include "process/start.h"
#include "process/stats.h"
#include "syscall.h"

#define MIN_BUFFER 4096u

struct libcosy_settings libcosy_settings = {
	.tier = COSY_TIER_AUTO,
	.buffer_len = COSY_DEFAULT_BUFFER,
};

/*
 * Under COSY_STATS=1, standard error as it was when the settings were read: programs that check
 * their output close theirs before libcosy prints.
 */
static struct {
	int fd;
	dev_t device;
	ino_t inode;
} kept_stderr = {.fd = -1};

/* Above what programs that count their descriptors use. */
#define KEPT_STDERR_FROM 200

static void keep_stderr(void)
{
	struct stat st;

	if (fstat(STDERR_FILENO, &st))
		return;
	kept_stderr.device = st.st_dev;
	kept_stderr.inode = st.st_ino;
	kept_stderr.fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, KEPT_STDERR_FROM);
}

/* True if a descriptor is standard error as it was: the program may have closed it. */
static bool is_kept_stderr(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_dev == kept_stderr.device &&
	       st.st_ino == kept_stderr.inode;
}

static int fd_to_say_on(void)
{
	return kept_stderr.fd >= 0 && !is_kept_stderr(STDERR_FILENO) &&
			       is_kept_stderr(kept_stderr.fd)
		       ? kept_stderr.fd
		       : STDERR_FILENO;
}

__attribute__((cold)) void libcosy_say(const char *format, ...)
{
	int saved = errno, n;
	char line[1400];
	va_list args;

	n = snprintf(line, sizeof(line), "cosy: ");
	va_start(args, format);
	n += vsnprintf(line + n, sizeof(line) - n, format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 2)
		line[sizeof(line) - 2] = 0;
	/* Names of functions and regions are the program's, and values are the environment's. */
	printable_clean(line);
	n = strlen(line);
	line[n++] = '\n';
	cosy_syscall3(SYS_write, fd_to_say_on(), (unsigned long)line, n);
	errno = saved;
}

static enum libcosy_mode parse_mode(const char *text)
{
	/* Arrays: the dynamic linker would relocate pointers in each process. */
	static const char names[][8] = {
		[COSY_MODE_AUTO] = "auto",
		[COSY_MODE_NATIVE] = "native",
		[COSY_MODE_INTERP] = "interp",
		[COSY_MODE_KERNEL] = "kernel",
	};

	if (!text || !*text)
		return COSY_MODE_AUTO;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			return i;
	libcosy_say("COSY_MODE=%s is not auto, native, interp or kernel: using auto", text);
	return COSY_MODE_AUTO;
}

static int parse_tier(const char *text)
{
	unsigned long count;
	char *end;

	if (!text || !*text || !strcmp(text, "auto"))
		return COSY_TIER_AUTO;
	if (!strcmp(text, "always"))
		return 0;
	count = strtoul(text, &end, 10);
	if (!*end && count <= INT_MAX)
		return count;
	libcosy_say("COSY_TIER=%s is not auto, always or a number: using auto", text);
	return COSY_TIER_AUTO;
}

static uint64_t parse_buffer(const char *text)
{
	uint64_t len, rounded = MIN_BUFFER;
	char *end;

	if (!text || !*text)
		return COSY_DEFAULT_BUFFER;
	len = strtoull(text, &end, 0);
	if (*end == 'k' || *end == 'K')
		len <<= 10, end++;
	else if (*end == 'm' || *end == 'M')
		len <<= 20, end++;
	if (*end || len > COSY_MAX_BUFFER) {
		libcosy_say("COSY_BUFFER=%s is not a size of at most %u bytes: using %u", text,
			    COSY_MAX_BUFFER, COSY_DEFAULT_BUFFER);
		return COSY_DEFAULT_BUFFER;
	}
	if (!len)
		return 0;
	while (rounded < len)
		rounded <<= 1;
	return rounded;
}

static bool parse_switch(const char *text, bool otherwise)
{
	return text && *text ? strcmp(text, "0") : otherwise;
}

static bool is_named(const char *variable, const char *name, const char **value)
{
	size_t length = strlen(name);

	*value = variable + length + 1;
	return !strncmp(variable, name, length) && variable[length] == '=';
}

/* Calls no function, which the dynamic linker would have to look up. */
static bool is_prefixed(const char *variable)
{
	for (const char *prefix = "COSY_"; *prefix; prefix++, variable++)
		if (*variable != *prefix)
			return false;
	return true;
}

/* Takes a variable, given without its prefix COSY_. */
__attribute__((cold, noinline)) static void read_variable(const char *variable)
{
	const char *value;

	if (is_named(variable, "DEBUG", &value)) {
		libcosy_settings.debug = parse_switch(value, false);
	} else if (is_named(variable, "STATS", &value)) {
		libcosy_settings.stats = parse_switch(value, false);
		if (libcosy_settings.stats)
			keep_stderr();
	} else if (is_named(variable, "FAST", &value)) {
		libcosy_settings.ordinary = !parse_switch(value, true);
	} else if (is_named(variable, "MODE", &value)) {
		libcosy_settings.mode = parse_mode(value);
	} else if (is_named(variable, "TIER", &value)) {
		libcosy_settings.tier = parse_tier(value);
	} else if (is_named(variable, "BUFFER", &value)) {
		libcosy_settings.buffer_len = parse_buffer(value);
	}
}

/* Makes one pass over the environment, since each program that comes to a region pays for it. */
void libcosy_settings_init(void)
{
	static int done LIBCOSY_EARLY_DATA;
	char **last = environ;

	if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		return;
	/* Two threads that race here read the same environment. */
	while (last && *last)
		last++;
	/* Go backwards: of two of one name the first holds, as for getenv. */
	while (last != environ)
		if (**--last == 'C' && is_prefixed(*last)) {
			int saved = errno;

			if (!getauxval(AT_SECURE))
				read_variable(*last + 5);
			errno = saved;
		}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
}
