/* SPDX-License-Identifier: MIT */
/* holding.h - says to holding.ko whom it is to hold, and where. */
#ifndef COSY_HOLDING_H
#define COSY_HOLDING_H

#include "../guest/check.h"
#include <sched.h>

#define PARAMETERS "/sys/module/holding/parameters/"

/* As in holding.c. */
enum place {
	PLACE_PERMISSION,
	PLACE_ATTRIBUTES,
	PLACE_TRANSFER,
	PLACE_TURN,
	PLACE_CHANGE,
	PLACE_LOCK,
};

HELPER void parameter_set(const char *path, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	MUST(file_write(path, text));
}

HELPER int parameter(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoi(text);
}

/* For tests that try again what was held for too long. */
HELPER void holds_shorten(void)
{
	parameter_set(PARAMETERS "longest", 20000000);
}

HELPER void processor_take(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	MUST(!sched_setaffinity(0, sizeof(set), &set));
}

/* Begins a test of this folder: skips it without holding.ko, root and two processors. */
HELPER void holding_begin(void)
{
	if (access(PARAMETERS, F_OK))
		SKIP("holding.ko is not loaded");
	if (geteuid() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP("this takes root and two processors");
	processor_take(1);
}

#endif /* COSY_HOLDING_H */
