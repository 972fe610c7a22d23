/* SPDX-License-Identifier: MIT */
/*
 * settings.h - settings from the environment.  Ignored in set-user-id programs.
 *
 *	COSY_MODE	auto (default), native, interp, kernel (auto, but says on
 *			standard error why a process cannot use the kernel)
 *	COSY_TIER	auto (default: a region runs in the kernel once it has earned what
 *			loading it costs), always (from the first entry on), or N: after N
 *			entries and iterations of loops
 *	COSY_BUFFER	bytes of shared buffer, k or M may follow; 0 = none
 *	COSY_FAST=0	makes every call the kernel's ordinary way, none by a specialised version
 *	COSY_DEBUG=1	says once per reason why something stayed native
 *	COSY_STATS=1	prints counts at exit
 */
#ifndef COSY_LIB_SETTINGS_H
#define COSY_LIB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

enum libcosy_mode {
	COSY_MODE_AUTO,
	COSY_MODE_NATIVE,
	COSY_MODE_INTERP,
	COSY_MODE_KERNEL,
};

#define COSY_TIER_AUTO (-1)

struct libcosy_settings {
	enum libcosy_mode mode;
	int tier; /* COSY_TIER_AUTO, or entries and rounds before the kernel: 0 always */
	bool debug;
	bool stats;
	bool ordinary;	     /* COSY_FAST=0 */
	uint64_t buffer_len; /* a power of two, or 0 */
};

#define COSY_DEFAULT_BUFFER (1u << 20)

extern struct libcosy_settings libcosy_settings;

/* Reads the environment, once; every slow path calls it before it looks. */
void libcosy_settings_init(void);

/* True if every region goes to the kernel at once, so that it pays to prepare for it. */
static inline bool libcosy_settings_force(void)
{
	libcosy_settings_init();
	if (libcosy_settings.tier != COSY_TIER_AUTO)
		return !libcosy_settings.tier;
	return libcosy_settings.mode == COSY_MODE_INTERP ||
	       libcosy_settings.mode == COSY_MODE_KERNEL;
}

/* Prints one line on standard error, without touching errno. */
void libcosy_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* COSY_LIB_SETTINGS_H */
