// SPDX-License-Identifier: MIT
/*
 * watch_during DIR ANSWERS SEED: one process changes files, and notes after each change what the system
 * call answers about each name, a *state*.  Meanwhile another one asks libc's functions, which a library
 * may stand before.  Each answer must be that of a state that held between the call's begin and its end;
 * a field may be of another such state than the next field, because stat(2) takes no lock.
 *
 * Bounded by answers, not by time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASKED = 8, NAMES, STATES = 128, WORDS = sizeof(struct stat) / 8 };

static const char
	*const paths[NAMES] = { "t/d/f0", "t/d/f1", "t/d/f2", "t/d/f3",	 "t/d/f4",
				"t/d/f5", "t/d/s6", "t/d/s7", "t/e/away" /* not asked for */ };

struct answer {
	unsigned long words[WORDS]; /* struct stat; 0 after an error */
	int error;
};

/* `turn` is twice the number of the state that holds, plus one while it becomes the next one. */
static struct shared {
	unsigned long turn;
	unsigned long asked;	   /* answers so far */
	unsigned long began_state; /* the oldest one that may still be needed */
	struct answer states[STATES][NAMES];
} *shared;

static unsigned int seed;

static unsigned int choose(unsigned int count)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % count;
}

static void kernel_ask(const char *path, struct answer *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->error = syscall(SYS_newfstatat, AT_FDCWD, path, ret->words, AT_SYMLINK_NOFOLLOW)
			     ? errno
			     : 0;
}

/* --- Changes: each changes an inode or a name once ------------------------------------------- */

static void change_make(void)
{
	const char *path = paths[choose(ASKED)], *other = paths[choose(ASKED)];
	const char *away = paths[ASKED];
	struct timespec times[2] = { { choose(1000), 0 }, { choose(1000), 0 } };

	switch (choose(8)) {
	case 0:
		chmod(path, 0600 | choose(0200));
		break;
	case 1:
		utimensat(AT_FDCWD, path, times, 0);
		break;
	case 2:
		if (truncate(path, choose(9000)))
			break;
		break;
	case 3:
		renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
		break;
	case 4:
		if (link(path, "t/e/link"))
			unlink("t/e/link");
		break;
	case 5:
		renameat2(AT_FDCWD, "t/d", AT_FDCWD, "t/e", RENAME_EXCHANGE);
		break;
	case 6:
		if (renameat2(AT_FDCWD, path, AT_FDCWD, away, RENAME_NOREPLACE))
			renameat2(AT_FDCWD, away, AT_FDCWD, path, RENAME_NOREPLACE);
		break;
	default:
		renameat2(AT_FDCWD, "t", AT_FDCWD, "u", RENAME_EXCHANGE);
	}
}

static void state_note(unsigned long state)
{
	for (int i = 0; i < NAMES; i++)
		kernel_ask(paths[i], &shared->states[state % STATES][i]);
}

static void processor_use(int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number % sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static unsigned long asked_now(void)
{
	return __atomic_load_n(&shared->asked, __ATOMIC_SEQ_CST);
}

static void changer(void)
{
	unsigned long state = 0, until;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	processor_use(1);
	for (;;) {
		/* The next change comes into a later call; or many come in between, some of which are served. */
		until = asked_now() + 1 + (choose(4) ? choose(3) : choose(400));
		while (asked_now() < until)
			sched_yield();
		__atomic_store_n(&shared->turn, 2 * state + 1, __ATOMIC_SEQ_CST);
		change_make();
		state_note(++state);
		__atomic_store_n(&shared->turn, 2 * state, __ATOMIC_SEQ_CST);
	}
}

/* --- Answers ------------------------------------------------------------------------------------ */

static unsigned long turn_now(void)
{
	return __atomic_load_n(&shared->turn, __ATOMIC_SEQ_CST);
}

/* Returns whether the word is in an answer about any name, from the first to the last state. */
static bool word_is_known(int word, unsigned long value, unsigned long first, unsigned long last)
{
	for (unsigned long k = first; k <= last; k++)
		for (int name = 0; name < NAMES; name++) {
			const struct answer *state = &shared->states[k % STATES][name];

			if (!state->error && state->words[word] == value)
				return true;
		}
	return false;
}

static bool answer_is_right(const struct answer *said, int name, unsigned long first,
			    unsigned long last)
{
	bool found = false;

	if (first == last)
		return !memcmp(said, &shared->states[first % STATES][name], sizeof(*said));
	for (unsigned long k = first; k <= last; k++)
		found |= shared->states[k % STATES][name].error == said->error;
	for (int word = 0; found && !said->error && word < WORDS; word++)
		found = word_is_known(word, said->words[word], first, last);
	return found;
}

static void answer_print(const char *who, const struct answer *answer)
{
	printf("  %s: errno %d:", who, answer->error);
	for (int i = 0; i < WORDS; i++)
		printf(" %lx", answer->words[i]);
	printf("\n");
}

/* Asks for a name.  Returns whether the answer is wrong; counts those that a change came into. */
static bool ask_is_wrong(int name, unsigned long *met)
{
	unsigned long begin = turn_now(), end, first = begin / 2, last;
	struct answer said;
	struct stat stat;

	memset(&said, 0, sizeof(said));
	memset(&stat, 0, sizeof(stat));
	said.error = lstat(paths[name], &stat) ? errno : 0;
	end = turn_now();
	if (!said.error)
		memcpy(said.words, &stat, sizeof(stat));
	last = (end + 1) / 2;
	*met += begin & 1 || end != begin;
	while (turn_now() < 2 * last)
		sched_yield();
	if (answer_is_right(&said, name, first, last))
		return false;
	printf("%s, states %lu to %lu\n", paths[name], first, last);
	answer_print("said", &said);
	for (unsigned long k = first; k <= last; k++)
		answer_print("state", &shared->states[k % STATES][name]);
	return true;
}

static void tree_make(void)
{
	static const char *const directories[] = { "t", "t/d", "t/e", "u", "u/d", "u/e" };
	char path[32];

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++) {
		mkdir(directories[i], 0755);
		for (int k = 0; strchr(directories[i], '/') && k < ASKED; k++) {
			sprintf(path, "%s/%s", directories[i], paths[k] + 4);
			if (k >= 6)
				mkdir(path, 0755);
			else
				close(open(path, O_CREAT | O_WRONLY, 0644));
		}
	}
	sync();
}

int main(int argc, char **argv)
{
	unsigned long answers = argc > 2 ? strtoul(argv[2], NULL, 0) : 10000, wrong = 0, met = 0;
	pid_t child;

	seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]))
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	tree_make();
	state_note(0);
	child = fork();
	if (!child)
		changer();
	processor_use(0);
	for (unsigned long k = 0; k < answers; k++) {
		/* The first wrong answers are enough. */
		if (wrong < 10)
			wrong += ask_is_wrong(k % ASKED, &met);
		__atomic_store_n(&shared->asked, k + 1, __ATOMIC_SEQ_CST);
	}
	printf("seed %s: %lu asked, a change came into %lu, after %lu changes, %lu wrong\n",
	       argc > 3 ? argv[3] : "1", answers, met, turn_now() / 2, wrong);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return wrong != 0;
}
