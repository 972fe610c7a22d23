// SPDX-License-Identifier: MIT
/*
 * main.c [OPERATIONS [SEED [THREADS]]] - makes random operations, each by name and to the kernel,
 * until one of them gives two answers: see fuzz.h.  A timer's handler reads in the midst
 * of them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "fuzz.h"

#define MAX_THREADS 16

_Thread_local int mine, theirs, mode, own;
_Thread_local char *a, *b;
_Thread_local char path[100], other[120];
_Thread_local long step, steps;
static _Thread_local const char *operation = "the beginning";
int threads = 1;
unsigned int size;
unsigned char *text;
long seed;

void same(long got, long want, const char *what)
{
	if (got == want)
		return;
	fprintf(stderr, "seed %ld, thread %d, step %ld, %s: %s is %ld, the kernel's %ld\n", seed,
		own, step, operation, what, got, want);
	_exit(1);
}

void same_bytes(long len)
{
	if (len <= 0 || !memcmp(a, b, len))
		return;
	for (long i = 0; i < len; i++)
		if (a[i] != b[i])
			same(i, -1, "a byte that differs, at offset");
}

static const struct {
	unsigned int weight;
	void (*run)(void);
	const char *name;
} operations[] = {
#define OPERATION(weight, name, what) {weight, name, what},
#include "operations.def"
#undef OPERATION
};

static void run_one(void)
{
	unsigned int total = 0, pick;
	size_t i;

	for (i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		total += operations[i].weight;
	pick = chance(total);
	for (i = 0; pick >= operations[i].weight; i++)
		pick -= operations[i].weight;
	operation = operations[i].name;
	operations[i].run();
}

/* Reads in the midst of anything, without moving a position, and asks for it. */
static void on_timer(int signal)
{
	char bytes[50];
	int before = errno;

	(void)signal;
	if (b && pread(mine, bytes, sizeof(bytes), 100) >= 0)
		lseek(mine, 0, SEEK_CUR);
	errno = before;
}

static void start_timer(void)
{
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 700}, {0, 700}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void make_buffers(void)
{
	snprintf(other, sizeof(other), "%s.renamed", path);
	a = aligned_alloc(4096, ROOM);
	b = aligned_alloc(4096, ROOM);
}

static void run_steps(void)
{
	for (; step < steps; step++) {
		if (step % 37 == 0)
			same(lseek(mine, 0, SEEK_CUR), RAW(lseek, theirs, 0, SEEK_CUR),
			     "the position");
		run_one();
	}
	unlink(path);
}

/* Made by main for a thread, before there is any. */
struct start {
	pthread_t thread;
	uint64_t chance;
	int number, commands, answers;
	long steps;
	char path[100];
};

static void make_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%.60s/cosy-run-fuzz.%d.%d", dir ? dir : "/tmp", getpid(),
		 own);
	snprintf(other, sizeof(other), "%s.renamed", path);
	fd = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, size) != (long)size) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void *run_thread(void *start_)
{
	const struct start *start = start_;

	chance_state = start->chance;
	own = start->number;
	writer_commands = start->commands;
	writer_answers = start->answers;
	steps = start->steps;
	memcpy(path, start->path, sizeof(path));
	make_buffers();
	open_both(O_RDONLY);
	run_steps();
	return NULL;
}

static void run_threads(long operations_each)
{
	static struct start starts[MAX_THREADS];
	sigset_t alarm;

	for (own = 0; own < threads; own++) {
		struct start *start = &starts[own];

		make_file();
		writer_start();
		*start = (struct start){.chance = chance_state + own * 104729,
					.number = own,
					.commands = writer_commands,
					.answers = writer_answers,
					.steps = operations_each};
		memcpy(start->path, path, sizeof(path));
	}
	start_timer();
	for (int i = 0; i < threads; i++)
		if (pthread_create(&starts[i].thread, NULL, run_thread, &starts[i]))
			exit(1);
	/* One thread takes the alarm. */
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(starts[i].thread, NULL);
}

static void make_text(void)
{
	text = malloc(size + MAX_LENGTH);
	for (size_t i = 0; i < size + MAX_LENGTH; i++)
		text[i] = chance(256);
}

int main(int argc, char **argv)
{
	if (argc == RESUMED && !strcmp(argv[1], "--resume")) {
		resume(argv + 2);
		make_text();
		make_buffers();
		start_timer();
		step++;
		run_steps();
		printf("%ld operations\n", steps);
		return 0;
	}
	steps = argc > 1 ? atol(argv[1]) : 20000;
	seed = argc > 2 ? atol(argv[2]) : 1;
	threads = argc > 3 ? atoi(argv[3]) : 1;
	if (steps < 1 || threads < 1 || threads > MAX_THREADS) {
		fprintf(stderr, "usage: run_fuzz [OPERATIONS [SEED [THREADS, up to %d]]]\n",
			MAX_THREADS);
		return 2;
	}
	chance_state += seed * 7919ULL;
	/* Windows are of another kind above 1 MiB. */
	size = seed % 3 ? 200000 : 3000000;
	make_text();
	if (threads > 1) {
		run_threads(steps / threads);
	} else {
		make_file();
		writer_start();
		make_buffers();
		open_both(O_RDONLY);
		start_timer();
		run_steps();
	}
	printf("%ld operations\n", steps);
	return 0;
}
