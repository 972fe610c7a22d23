// SPDX-License-Identifier: MIT
/*
 * main.c - random sequences of ioctls and system calls on /dev/cosy, as nobody.
 *
 *	fuzz_module [--seed N] [--first N] [--sequences N | --seconds N] [--workers N]
 *		    [--memory MB] [--patience TIMES] [--lot N] [--corpus FILE] [--minimize]
 *		    [--replay FILE [--times N] | --print]
 *
 * Started by root, since only root may have coverage, and since a sequence could otherwise kill the
 * process that looks after it.  Where the kernel tells the coverage of cosy.ko, what reached
 * something new is kept and mutated; otherwise a sequence depends on seed and index alone, and
 * a process executes up to --lot of them.  --print writes them, and needs no machine.
 * Status 1: a sequence failed, or something is left of one.  The kernel's log is vm.py's to look
 * at.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

enum { SAY_EVERY = 30 };

struct options options = {
	.seed = 1, .sequences = 1000, .times = 50, .workers = 2, .patience = 1, .lot = MAX_LOT
};
struct shared *shared;

static const struct {
	const char *name;
	uint64_t *number;
} numbers[] = {
	{ "--seed", &options.seed },	       { "--first", &options.first },
	{ "--sequences", &options.sequences }, { "--seconds", &options.seconds },
	{ "--times", &options.times },
};

static void option_read(const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(name, numbers[i].name)) {
			*numbers[i].number = strtoull(value, NULL, 0);
			return;
		}
	if (!strcmp(name, "--workers") && atoi(value) > 0 && atoi(value) <= MAX_WORKERS)
		options.workers = (uint32_t)atoi(value);
	else if (!strcmp(name, "--patience") && atoi(value) > 0 && atoi(value) <= 8)
		options.patience = (uint32_t)atoi(value);
	else if (!strcmp(name, "--lot") && atoi(value) > 0 && atoi(value) <= MAX_LOT)
		options.lot = (uint32_t)atoi(value);
	else if (!strcmp(name, "--memory"))
		options.memory = (uint32_t)atoi(value);
	else if (!strcmp(name, "--corpus"))
		options.corpus = value;
	else if (!strcmp(name, "--replay"))
		options.replay = value;
	else
		exit(2);
}

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
}

/* Bounds the memory of all sequences together. */
static void group_make(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", options.memory << 20);
	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	mkdir("/sys/fs/cgroup/fuzz", 0755);
	file_write("/sys/fs/cgroup/fuzz/memory.max", text);
}

static void counts_print(time_t start)
{
	uint64_t seconds = (uint64_t)(time(NULL) - start);

	printf("%llu sequences, %llu/s, %llu processes, %llu ended by a signal, %llu killed for "
	       "time",
	       (unsigned long long)shared->executed,
	       (unsigned long long)(shared->executed / (seconds ? seconds : 1)),
	       (unsigned long long)shared->processes, (unsigned long long)shared->by_signal,
	       (unsigned long long)shared->killed);
	if (shared->points)
		printf(", %llu points of cosy.ko, corpus %u", (unsigned long long)shared->points,
		       shared->corpus_cnt);
	printf("\n");
	fflush(stdout);
}

/* Prints what the module counted.  Returns whether nothing is left of any sequence. */
static bool module_is_empty(void)
{
	static const char *const live[] = { "contexts", "programs", "arenas", "parcels", "ports" };
	char name[64];
	unsigned long long value;
	bool empty = true;
	FILE *stats = fopen("/sys/kernel/debug/cosy/stats", "r");

	if (!stats) {
		printf("FAIL: no statistics\n");
		return false;
	}
	while (fscanf(stats, "%63s %llu", name, &value) == 2) {
		for (size_t i = 0; i < sizeof(live) / sizeof(live[0]); i++)
			if (!strcmp(name, live[i]) && value) {
				printf("FAIL: %llu %s are left\n", value, name);
				empty = false;
			}
		if (value)
			printf("%s %llu, ", name, value);
	}
	printf("\n");
	fclose(stats);
	return empty;
}

/* Gives what RCU and work queues free a little time. */
static bool module_empties(void)
{
	char name[64];
	unsigned long long value = 1;

	for (int tries = 0; tries < 50 && value; tries++) {
		FILE *stats = fopen("/sys/kernel/debug/cosy/stats", "r");

		value = 0;
		while (stats && fscanf(stats, "%63s %llu", name, &value) == 2)
			if (!strcmp(name, "contexts") && value)
				break;
			else
				value = 0;
		if (stats)
			fclose(stats);
		if (value)
			usleep(100000);
	}
	return module_is_empty();
}

static void workers_run(bool guided)
{
	time_t start = time(NULL), said = start;
	uint32_t left = options.workers;
	int status;

	for (uint32_t i = 0; i < options.workers; i++)
		if (!fork()) {
			madvise(shared, sizeof(*shared), MADV_DONTFORK);
			worker_run(i, guided);
			exit(0);
		}
	while (left) {
		while (waitpid(-1, &status, WNOHANG) > 0) {
			left--;
			/* A worker that is gone has executed nothing. */
			if (status)
				shared->failed = true;
		}
		usleep(50000);
		if (time(NULL) - said >= SAY_EVERY) {
			said = time(NULL);
			counts_print(start);
		}
	}
	counts_print(start);
	if (!shared->executed)
		shared->failed = true;
}

/* Executes those of the file, each some times, since what threads do differs. */
static void replay(void)
{
	uint32_t count, lot;

	corpus_read(options.replay);
	count = shared->corpus_cnt;
	worker_init(0);
	for (uint32_t i = 0; i < count && !shared->failed; i += lot) {
		for (lot = 1; i + lot < count && shared->corpus[i + lot].follows;)
			lot++;
		for (uint64_t k = 0; k < options.times && !shared->failed; k++)
			shared->failed = !worker_execute(0, &shared->corpus[i], lot);
	}
	printf("%u sequences, %llu times each\n", count, (unsigned long long)options.times);
}

/*
 * Executes the corpus, last first, and keeps what reaches points that no other did, or changes
 * counters that no other did.
 */
static void minimize(bool guided)
{
	static struct sequence kept[MAX_CORPUS];
	uint32_t count = shared->corpus_cnt, left = 0, points, edges;

	worker_init(0);
	cover_counters();
	while (count--) {
		worker_execute(0, &shared->corpus[count], 1);
		cover_end(&points, &edges);
		if (!guided)
			points = cover_counters();
		if (!points)
			continue;
		kept[left] = shared->corpus[count];
		kept[left++].follows = false;
	}
	shared->corpus_cnt = 0;
	for (uint32_t i = 0; i < left; i++)
		corpus_add(&kept[i]);
	printf("%u kept, which %s\n", left, guided ? "reach all points" : "change all counters");
}

/* Has the heap be where no region is: it is anywhere up to 1 GB above the program otherwise. */
static void memory_fix(char **argv)
{
	int now = personality(0xffffffff);

	if (now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", argv);
}

/* Prints the sequences from the first on, as one process executes them. */
static int print_all(void)
{
	static struct sequence sequence;
	static char text[MAX_TEXT];

	for (uint64_t i = 0; i < options.sequences; i++) {
		chance_seed(options.seed, options.first + i);
		sequence_generate(&sequence);
		sequence.follows = i;
		sequence_write(&sequence, text, sizeof(text));
		printf("# sequence %llu\n%s\n", (unsigned long long)(options.first + i), text);
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool guided;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--nothing"))
			return 0;
		if (!strcmp(argv[i], "--minimize"))
			options.minimize = true;
		else if (!strcmp(argv[i], "--print"))
			options.print = true;
		else if (i + 1 < argc)
			option_read(argv[i], argv[i + 1]), i++;
	}
	if (options.print)
		return print_all();
	memory_fix(argv);
	if (geteuid() || access("/dev/cosy", R_OK)) {
		printf("SKIP: it is root who starts this, where /dev/cosy is\n");
		return 77;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 2;
	journal_init();
	guided = cover_init();
	printf("seed %llu, %s\n", (unsigned long long)options.seed,
	       guided ? "guided by coverage" : "unguided");
	fflush(stdout);
	if (options.memory)
		group_make();
	if (options.corpus)
		corpus_read(options.corpus);
	if (options.replay)
		replay();
	else if (options.minimize)
		minimize(guided);
	else
		workers_run(guided);
	if (guided) {
		cover_print();
		journal_keep();
	} else if (options.minimize) {
		journal_keep();
	}
	return !module_empties() || shared->failed;
}
