// SPDX-License-Identifier: MIT
/*
 * libc.c - small functions of the C library, for this library alone.  An imported function is
 * bound when the program starts, which each exec pays for, or when it is first called, on a stack
 * that may be too small for that (next.h).  The compiler makes calls of some of these by itself.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "next.h"

#define OWN __attribute__((visibility("hidden")))

OWN void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(len) : : "memory");
	return to;
}

OWN void *memset(void *to, int byte, size_t len)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(len) : "a"(byte) : "memory");
	return to;
}

OWN void *memchr(const void *at, int byte, size_t len)
{
	for (const unsigned char *next = at; len; next++, len--)
		if (*next == (unsigned char)byte)
			return (void *)next;
	return NULL;
}

OWN size_t strlen(const char *text)
{
	size_t len = 0;

	while (text[len])
		len++;
	return len;
}

OWN int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

OWN char *strcpy(char *restrict to, const char *restrict from)
{
	memcpy(to, from, strlen(from) + 1);
	return to;
}

OWN char *strchr(const char *text, int c)
{
	return memchr(text, c, strlen(text) + 1);
}

OWN char *strrchr(const char *text, int c)
{
	const char *found = NULL;

	for (; *text; text++)
		if (*text == (char)c)
			found = text;
	return (char *)found;
}

OWN char *strstr(const char *text, const char *part)
{
	for (; *text; text++) {
		size_t len = 0;

		while (part[len] && text[len] == part[len])
			len++;
		if (!part[len])
			return (char *)text;
	}
	return NULL;
}

/* Callers name signals that exist. */
static uint64_t *bits_of(const sigset_t *set)
{
	return (uint64_t *)set;
}

static uint64_t bit_of(int signal)
{
	return 1ULL << (signal - 1);
}

OWN int sigfillset(sigset_t *set)
{
	memset(set, 0xff, sizeof(*set));
	return 0;
}

OWN int sigdelset(sigset_t *set, int signal)
{
	*bits_of(set) &= ~bit_of(signal);
	return 0;
}

OWN int sigismember(const sigset_t *set, int signal)
{
	return (*bits_of(set) & bit_of(signal)) != 0;
}

OWN int *__errno_location(void)
{
	return NEXT(__errno_location)();
}

OWN int __libc_current_sigrtmin(void)
{
	return NEXT(__libc_current_sigrtmin)();
}

OWN int __libc_current_sigrtmax(void)
{
	return NEXT(__libc_current_sigrtmax)();
}
