// SPDX-License-Identifier: MIT
/* verify.c - see verify.h. */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verify/verify.h"

#define MAX_ROUNDS 100

/* Parts of the whole by which two measurements of the same differ in any case. */
#define TOLERANCE 0.04

/* ns that two starts of a program differ by at least, however few were seen. */
#define MIN_START_SPREAD 300000

/* The command that started this program, or the one that PATH has. */
static void cosy_path(char *ret, size_t size)
{
	static const char *const places[] = {"../bin/cosy", "../../bin/cosy", "../../../bin/cosy"};
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	snprintf(ret, size, "cosy");
	if (len <= 0)
		return;
	self[len] = 0;
	slash = strrchr(self, '/');
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self), self, places[i]);
		if (!access(path, X_OK)) {
			snprintf(ret, size, "%s", path);
			return;
		}
	}
}

static double time_ns(struct timeval time)
{
	return time.tv_sec * 1e9 + time.tv_usec * 1e3;
}

/* ns of processor time, its children's with it; below 0: it could not be run. */
static double command_time(char *const *command)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(command[0], command);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid ||
	    (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return -1;
	return time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
}

static int double_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle_of(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), double_order);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Half of what the middle half of them spans; they are in order. */
static double spread_of(const double *values, unsigned int n)
{
	return (values[n - 1 - n / 4] - values[n / 4]) / 2;
}

/* In turn, so that what changes on the machine changes for both. */
static bool times_take(char *const *plain, char *const *run, unsigned int rounds,
		       double *plain_times, double *run_times)
{
	for (unsigned int i = 0; i < rounds; i++) {
		plain_times[i] = command_time(plain);
		run_times[i] = command_time(run);
		if (plain_times[i] < 0 || run_times[i] < 0)
			return false;
	}
	return true;
}

const char *verify_run(const struct advice *advice, char *const *program, unsigned int rounds,
		       struct verify_result *ret)
{
	static double plain[MAX_ROUNDS], run[MAX_ROUNDS], parts[MAX_ROUNDS];
	static char cosy[2 * PATH_MAX];
	char *nothing[] = {(char *)"true", NULL};
	char *run_nothing[] = {cosy, (char *)"run", (char *)"--", (char *)"true", NULL};
	unsigned int n = 0;
	char **command;
	double start, start_spread;

	if (rounds > MAX_ROUNDS)
		rounds = MAX_ROUNDS;
	cosy_path(cosy, sizeof(cosy));
	while (program[n])
		n++;
	command = calloc(n + 4, sizeof(*command));
	if (!command)
		return "there is no memory";
	memcpy(command, run_nothing, 3 * sizeof(*command));
	memcpy(command + 3, program, n * sizeof(*command));
	/* `cosy run` itself starts first; what its library costs each exec is in the prediction. */
	if (!times_take(nothing, run_nothing, rounds, plain, run)) {
		free(command);
		return "cosy run cannot be started";
	}
	start = middle_of(run, rounds) - middle_of(plain, rounds);
	start_spread = fmax(spread_of(run, rounds) + spread_of(plain, rounds), MIN_START_SPREAD);
	/* Once for what comes into memory. */
	if (command_time(program) < 0 || !times_take(program, command, rounds, plain, run)) {
		free(command);
		return "the program cannot be run again";
	}
	free(command);
	for (unsigned int i = 0; i < rounds; i++)
		parts[i] = plain[i] > 0 ? 1 - (run[i] - start) / plain[i] : 0;
	ret->rounds = rounds;
	ret->measured = middle_of(parts, rounds);
	ret->plain = middle_of(plain, rounds);
	/* A start is a large part of short programs, and of those that start many. */
	ret->noise = spread_of(parts, rounds);
	if (ret->plain > 0)
		ret->noise += start_spread * advice->profile->run.programs / ret->plain;
	ret->run = middle_of(run, rounds) - start;
	ret->low = ret->plain > 0 ? advice->run.low / ret->plain : 0;
	ret->high = ret->plain > 0 ? fmin(advice->run.high / ret->plain, 1) : 0;
	/* Nothing is served, nothing is lost but what each exec costs. */
	if (!advice->profile->run.calls[RUN_SERVED])
		ret->high = fmax(ret->high, 0);
	ret->in = ret->measured >= ret->low - TOLERANCE - ret->noise &&
		  ret->measured <= ret->high + TOLERANCE + ret->noise;
	return NULL;
}
