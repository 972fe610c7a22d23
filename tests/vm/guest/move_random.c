/* SPDX-License-Identifier: MIT */
/*
 * Makes random steps with memory that moves, against a model: three arenas and what their bytes
 * have to be, lent, given, taken over and copied by way of a pipe, written at once, flushed, moved
 * about, forked, with children killed at any moment and a thread that writes all the time to a
 * fourth.
 *
 *	move_random [STEPS [SEED]]
 *
 * Without arguments it makes so few steps that it is quick; `make move-long` takes a million.
 */
#include "move.h"
#include <pthread.h>

#define ARENAS	  3
#define PAGES	  24UL
#define MAX_PAGES 8UL /* pages in a message, at least two */

static uint64_t state;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static char *arena[ARENAS], *racing;
static char model[ARENAS][PAGES * PAGE], sent[MAX_PAGES * PAGE], got[MAX_PAGES * PAGE];
static int from, to; /* ends of the pipe */
static long steps, forks, kills;

static void compare(long step, int a, size_t at, size_t count)
{
	for (size_t i = at; i < at + count; i++) {
		CHECK(arena[a][i] == model[a][i],
		      "step %ld: arena %d, page %zu, byte %zu: %d not %d", step, a, i / PAGE,
		      i % PAGE, arena[a][i], model[a][i]);
		if (arena[a][i] != model[a][i])
			return;
	}
}

static void write_some(int a, size_t at, size_t pages)
{
	for (size_t k = 0; k < pages; k++) {
		size_t i = at + k * PAGE + any(PAGE);

		if (any(2))
			arena[a][i] = model[a][i] = (char)any(256);
	}
}

/* Lends or gives some pages, writes them at once, and receives them in one way or another. */
static void message(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	int flags = any(3) ? 0 : COSY_GIVE;
	size_t size = pages * PAGE;

	memcpy(sent, model[a] + at, size);
	if (any(8) == 0)
		MUST(write(to, sent, size) == (ssize_t)size);
	else
		MUST(cosy_loan(to, arena[a] + at, size, flags) == (ssize_t)size);
	if (flags && memcmp(arena[a] + at, model[a] + at, size))
		memset(model[a] + at, 0, size);
	write_some(a, at, pages);
	if (any(4)) {
		transfer_all(from, arena[b] + there, size,
			     any(2)   ? 0
			     : any(2) ? COSY_POPULATE
				      : COSY_WILL_WRITE);
		memcpy(model[b] + there, sent, size);
		compare(step, b, there, size);
	} else {
		read_all(from, got, size);
		CHECK(!memcmp(got, sent, size), "step %ld: what was lent has changed", step);
	}
	write_some(b, there, pages);
}

/* Checks that bytes which a thread writes meanwhile do not show once the message is there. */
static void race(long step, int b, size_t there, size_t pages)
{
	size_t size = pages * PAGE;

	MUST(cosy_loan(to, racing, size, any(4) ? 0 : COSY_GIVE) == (ssize_t)size);
	transfer_all(from, arena[b] + there, size, any(2) ? 0 : COSY_POPULATE);
	memcpy(model[b] + there, arena[b] + there, size);
	sched_yield();
	compare(step, b, there, size);
}

/* Checks that a child finds what its parent had, and writes and lends it. */
static void child(long step)
{
	bool killed = any(3) == 0;
	int status, ready[2];
	pid_t pid;
	char c = 0;

	MUST(!pipe(ready));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		check_failures = 0;
		close(ready[0]);
		for (int a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES * PAGE);
		if (killed)
			MUST(write(ready[1], &c, 1) == 1);
		do {
			for (int k = 0; k < 6; k++) {
				int a = (int)any(ARENAS);

				write_some(a, 0, PAGES);
				compare(step, a, 0, PAGES * PAGE);
				cosy_flush(arena[a] + 2 * PAGE, 2 * PAGE);
				memset(model[a] + 2 * PAGE, 0, 2 * PAGE);
			}
		} while (killed);
		_exit(check_end());
	}
	close(ready[1]);
	if (killed) {
		MUST(read(ready[0], &c, 1) == 1);
		kill(pid, SIGKILL);
		kills++;
	}
	close(ready[0]);
	write_some((int)any(ARENAS), 0, PAGES);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(killed || !status, "step %ld: the child ended with %#x", step, status);
	forks++;
}

/* Moves the mapping, or takes a right away and gives it back. */
static void remap(int a)
{
	char *there;

	if (any(2)) {
		MUST(!mprotect(arena[a], PAGES * PAGE / (1 + any(2)), PROT_READ));
		for (size_t i = 0; i < PAGES; i++)
			CHECK(arena[a][i * PAGE] == model[a][i * PAGE], "page %zu, read-only", i);
		MUST(!mprotect(arena[a], PAGES * PAGE, PROT_READ | PROT_WRITE));
		return;
	}
	there = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(there != MAP_FAILED);
	/* In two mappings since an mprotect it cannot move as one. */
	if (mremap(arena[a], PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, there) ==
	    MAP_FAILED)
		munmap(there, PAGES * PAGE);
	else
		arena[a] = there;
}

static void step_once(long step)
{
	int a = (int)any(ARENAS), b = (int)any(ARENAS);
	size_t pages = 2 + any(MAX_PAGES - 1), at = any(PAGES - pages + 1) * PAGE,
	       there = any(PAGES - pages + 1) * PAGE;

	switch (any(12)) {
	case 0:
	case 1:
		write_some(a, 0, PAGES);
		break;
	case 2:
		compare(step, a, at, pages * PAGE);
		break;
	case 3:
		race(step, b, there, pages);
		break;
	case 4:
		MUST(!cosy_ready(arena[a] + at, pages * PAGE, any(2) ? COSY_WILL_WRITE : 0));
		break;
	case 5:
		if (any(4) == 0) {
			MUST(!cosy_flush(arena[a] + at, pages * PAGE));
			memset(model[a] + at, 0, pages * PAGE);
		}
		break;
	case 6:
		if (any(16) == 0)
			remap(a);
		break;
	case 7:
		if (any(32) == 0)
			child(step);
		break;
	default:
		message(step, a, at, b, there, pages);
	}
	if (step % 256 == 255)
		for (a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES * PAGE);
}

static volatile bool stop;

static void *writes(void *unused)
{
	(void)unused;
	for (uint64_t k = 1; !stop; k++) {
		for (size_t i = 0; i < MAX_PAGES; i++)
			*(volatile uint64_t *)(racing + i * PAGE + k % 512 * 8) = k;
		if (k % 64 == 0)
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	bool checked = move_parameter("check_moved", "Y");
	pthread_t thread;
	int fds[2];

	steps = argc > 1 ? atol(argv[1]) : 1500;
	state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15u | 1;
	MUST(!pipe(fds));
	from = fds[0];
	to = fds[1];
	for (int a = 0; a < ARENAS; a++)
		arena[a] = move_alloc(PAGES);
	racing = move_alloc(MAX_PAGES);
	MUST(!pthread_create(&thread, NULL, writes, NULL));
	for (long step = 0; step < steps && check_failures < 10; step++)
		step_once(step);
	stop = true;
	MUST(!pthread_join(thread, NULL));
	printf("%ld steps, %ld forks, %ld killed, %d failures; %llu pages lent, %llu transferred\n",
	       steps, forks, kills, check_failures, (unsigned long long)counts().loaned,
	       (unsigned long long)counts().transferred);
	if (moves())
		CHECK(counts().loaned && counts().transferred, "nothing was moved");
	if (checked)
		move_parameter("check_moved", "N");
	return check_end();
}
