// SPDX-License-Identifier: MIT
/* signals.c - see signals.h. */
#include <signal.h>

#include "record/signals.h"

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
#define SIGNALS (sizeof(numbers) / sizeof(*numbers))

static struct sigaction former[SIGNALS];
static bool caught[SIGNALS];

bool signal_terminates(int number)
{
	return number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* Those of a lost terminal stay ignored if they were: nohup and shells want that. */
static bool signal_stays_ignored(int number)
{
	struct sigaction action;

	return (number == SIGHUP || number == SIGQUIT) && !sigaction(number, NULL, &action) &&
	       action.sa_handler == SIG_IGN;
}

void signals_catch(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	for (unsigned int i = 0; i < SIGNALS; i++)
		caught[i] = !signal_stays_ignored(numbers[i]) &&
			    !sigaction(numbers[i], &action, &former[i]);
}

void signals_release(int came)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	for (unsigned int i = 0; i < SIGNALS; i++)
		if (caught[i] && numbers[i] != SIGALRM)
			sigaction(numbers[i],
				  signal_terminates(came) && signal_terminates(numbers[i])
					  ? &ignore
					  : &former[i],
				  NULL);
}

void signals_restore(void)
{
	for (unsigned int i = 0; i < SIGNALS; i++)
		if (caught[i])
			sigaction(numbers[i], &former[i], NULL);
}
