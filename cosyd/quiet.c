// SPDX-License-Identifier: MIT
/* quiet.c - see quiet.h. */
#include <sys/random.h>
#include <time.h>

#include "quiet.h"

#define ENTRIES_LOG2 12

static struct {
	uint64_t until; /* ms */
	uint32_t length;
} entries[1 << ENTRIES_LOG2];
static uint64_t secret[2];

static uint64_t quiet_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ULL + time.tv_nsec / 1000000;
}

void quiet_init(void)
{
	/* Early in boot there may be no random bytes.  Then clients may learn which files share. */
	if (getrandom(secret, sizeof(secret), GRND_NONBLOCK) != sizeof(secret))
		secret[0] = secret[1] = quiet_clock() * 0x9e3779b97f4a7c15ULL;
}

static unsigned int quiet_entry(uint64_t dev, uint64_t ino)
{
	uint64_t mixed = (dev ^ secret[0]) * (secret[1] | 1) + ino;

	mixed = (mixed ^ mixed >> 32) * (secret[0] | 1);
	return mixed >> (64 - ENTRIES_LOG2);
}

void quiet_begin(uint64_t dev, uint64_t ino, unsigned int first)
{
	unsigned int entry = quiet_entry(dev, ino);
	uint64_t length = (uint64_t)entries[entry].length * QUIET_FACTOR, time = quiet_clock();

	if (time >= entries[entry].until + MAX_QUIET || length < first)
		length = first;
	if (length > MAX_QUIET && length > first)
		length = first > MAX_QUIET ? first : MAX_QUIET;
	entries[entry].length = length;
	entries[entry].until = time + length;
}

bool quiet_now(uint64_t dev, uint64_t ino)
{
	return entries[quiet_entry(dev, ino)].until > quiet_clock();
}
