// SPDX-License-Identifier: MIT
/* signals.c - see signals.h. */
#include <signal.h>
#include <stdbool.h>

#include "record/signals.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGALRM};
#define SIGNALS (sizeof(numbers) / sizeof(*numbers))

static struct sigaction former[SIGNALS];
static bool caught;

void signals_catch(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	for (unsigned int i = 0; i < SIGNALS; i++)
		sigaction(numbers[i], &action, &former[i]);
	caught = true;
}

void signals_release(void)
{
	for (unsigned int i = 0; caught && i < SIGNALS; i++)
		if (numbers[i] != SIGALRM)
			sigaction(numbers[i], &former[i], NULL);
}

void signals_restore(void)
{
	for (unsigned int i = 0; caught && i < SIGNALS; i++)
		sigaction(numbers[i], &former[i], NULL);
}
