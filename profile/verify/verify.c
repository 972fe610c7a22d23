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

#include "record/child.h"
#include "record/signals.h"
#include "verify/server.h"
#include "verify/verify.h"

#define MAX_ROUNDS 100

/* Parts of the whole by which two measurements of the same differ in any case. */
#define TOLERANCE 0.04

/* Parts of the whole that the runs may differ by, if the prediction is to be judged. */
#define MAX_NOISE 0.25

/* Least ns by which two starts of a program differ, however few were seen. */
#define MIN_START_SPREAD 300000

/* Finds the command that started this program, or the one in PATH. */
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

static void command_execute(char *const *command)
{
	int null = open("/dev/null", O_RDWR);

	signals_restore();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execvp(command[0], command);
	_exit(127);
}

static double time_ns(struct timeval time)
{
	return time.tv_sec * 1e9 + time.tv_usec * 1e3;
}

/* Returns ns of processor time, its children's with it; below 0: it could not be run. */
static double command_time(char *const *command, int *status)
{
	struct rusage usage;
	int ended;
	pid_t pid = fork();

	if (!pid)
		command_execute(command);
	if (pid < 0 || wait4(pid, &ended, 0, &usage) != pid)
		return -1;
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	return time_ns(usage.ru_utime) + time_ns(usage.ru_stime);
}

/* Does the same for a server, from start to end under load; the load itself does not count. */
static double server_time(char *const *command, const char *load)
{
	pid_t pid = fork();
	int status;
	double ns;

	if (!pid)
		command_execute(command);
	if (pid < 0)
		return -1;
	status = load_run(load);
	ns = server_end();
	return status ? -1 : ns;
}

/* `status` is as the shell has it; 0 for a server, which was ended. */
static double work_time(char *const *command, const char *load, int *status)
{
	*status = 0;
	return load ? server_time(command, load) : command_time(command, status);
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

/* Returns 50 % of the distance between the quartiles of the ordered values. */
static double spread_of(const double *values, unsigned int n)
{
	return (values[n - 1 - n / 4] - values[n / 4]) / 2;
}

/*
 * Measures in turn, so that changes of the machine affect both.  Returns NULL, or the error.  Runs
 * that end with different statuses are not comparable, and an error.
 */
static const char *times_take(char *const *plain, char *const *other, const char *load,
			      unsigned int rounds, double *plain_times, double *other_times)
{
	static char why[120];

	for (unsigned int i = 0; i < rounds; i++) {
		int status, other_status;

		plain_times[i] = work_time(plain, load, &status);
		other_times[i] = work_time(other, load, &other_status);
		if (plain_times[i] < 0 || other_times[i] < 0)
			return load ? "the program cannot be run again, or the load failed"
				    : "the program cannot be run again";
		if (status != other_status) {
			snprintf(why, sizeof(why),
				 "the program ends with status %d, but %d the other way, so that "
				 "they cannot be compared",
				 status, other_status);
			return why;
		}
	}
	return NULL;
}

struct times {
	double plain[MAX_ROUNDS], other[MAX_ROUNDS];
	double start, start_spread; /* of `cosy run` itself */
};

/* Measures the start of `cosy run` itself; the prediction has what its library costs each exec. */
static bool start_take(struct times *times, char *cosy, unsigned int rounds)
{
	char *nothing[] = {(char *)"true", NULL};
	char *run_nothing[] = {cosy, (char *)"run", (char *)"--", (char *)"true", NULL};

	if (times_take(nothing, run_nothing, NULL, rounds, times->plain, times->other))
		return false;
	times->start = middle_of(times->other, rounds) - middle_of(times->plain, rounds);
	times->start_spread =
		fmax(spread_of(times->other, rounds) + spread_of(times->plain, rounds),
		     MIN_START_SPREAD);
	return true;
}

/* Returns the program under `cosy run`, or the marked one with the same arguments. */
static char **other_command(const struct verify_plan *plan, char *cosy)
{
	unsigned int n = 0, first = plan->marked ? 0 : 3;
	char **ret;

	while (plan->program[n])
		n++;
	ret = calloc(n + 4, sizeof(*ret));
	if (!ret)
		return NULL;
	ret[0] = cosy;
	ret[1] = (char *)"run";
	ret[2] = (char *)"--";
	memcpy(ret + first, plan->program, n * sizeof(*ret));
	if (plan->marked)
		ret[0] = (char *)plan->marked;
	return ret;
}

/* Predicts a range: from the best loop marked alone to all of them. */
static void predict_regions(const struct advice *advice, double *low, double *high)
{
	bool first = true;

	*low = *high = 0;
	for (uint32_t i = 0; i < advice->n; i++) {
		const struct finding *finding = &advice->findings[i];

		/* A finding without a row covers calls that other findings also cover. */
		if (finding->way != WAY_REGION || !finding->row)
			continue;
		if (first)
			*low = finding->low;
		first = false;
		*high += finding->high;
	}
}

static void verify_judge(const struct advice *advice, const struct verify_plan *plan,
			 struct times *times, unsigned int rounds, struct verified *ret)
{
	static double parts[MAX_ROUNDS];
	double low = advice->run.low, high = advice->run.high, whole;

	for (unsigned int i = 0; i < rounds; i++)
		parts[i] = times->plain[i] > 0
				   ? 1 - (times->other[i] - times->start) / times->plain[i]
				   : 0;
	if (plan->region) {
		low = plan->region->low;
		high = plan->region->high;
	} else if (plan->marked)
		predict_regions(advice, &low, &high);
	ret->way = plan->marked ? "regions" : "cosy run";
	ret->rounds = rounds;
	ret->measured = middle_of(parts, rounds);
	ret->plain = middle_of(times->plain, rounds);
	/* A start is a large part of a short program, and of one that starts many. */
	ret->noise = spread_of(parts, rounds);
	if (ret->plain > 0 && !plan->marked)
		ret->noise += times->start_spread * advice->profile->run.programs / ret->plain;
	ret->other = middle_of(times->other, rounds) - times->start;
	/* Use the shown figures: shares of the recorded time, or times if shares are unknown. */
	whole = advise_measures(advice->profile) ? (double)advice->cpu : ret->plain;
	ret->low = whole > 0 ? low / whole : 0;
	ret->high = whole > 0 ? high / whole : 0;
	/* Nothing is served, nothing is lost but what each exec costs. */
	if (!plan->marked && !advice->reads.calls[RUN_SERVED])
		ret->high = fmax(ret->high, 0);
	ret->judged = ret->noise <= MAX_NOISE;
	ret->in = ret->judged && ret->measured >= ret->low - TOLERANCE - ret->noise &&
		  ret->measured <= ret->high + TOLERANCE + ret->noise;
}

const char *verify(const struct advice *advice, const struct verify_plan *plan,
		   struct verified *ret)
{
	unsigned int rounds = plan->rounds < MAX_ROUNDS ? plan->rounds : MAX_ROUNDS;
	static char cosy[2 * PATH_MAX];
	static struct times times;
	const char *why;
	char **command;
	int status;

	cosy_path(cosy, sizeof(cosy));
	if (plan->marked && access("/dev/cosy", R_OK | W_OK))
		return "/dev/cosy cannot be opened here, so that regions run natively";
	if (plan->marked && program_find(plan->marked))
		return "the marked program cannot be run";
	if (program_find(plan->program[0]))
		return "the program cannot be run again";
	if (!plan->marked && !start_take(&times, cosy, rounds))
		return "cosy run cannot be started";
	command = other_command(plan, cosy);
	if (!command)
		return "there is no memory";
	/* Run once to bring the files into memory. */
	work_time(plan->program, plan->load, &status);
	why = times_take(plan->program, command, plan->load, rounds, times.plain, times.other);
	free(command);
	if (why)
		return why;
	verify_judge(advice, plan, &times, rounds, ret);
	return NULL;
}
