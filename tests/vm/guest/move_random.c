/* SPDX-License-Identifier: MIT */
/*
 * Makes random steps with memory that moves, against a model: arenas and what their bytes have to
 * be, lent, given, taken over and copied by way of a pipe or a socket, shared, copied and donated
 * by way of parcels and ports, written at once, flushed, moved about, forked, with children killed
 * at any moment and, for some of the steps, a thread that writes all the time.
 *
 *	move_random [STEPS [SEED [pages|huge|both|pinned [lacking]]]]
 *
 * `pages` makes steps with pages of 4 KB, `huge` such with 2 MB at once, `both` mixes them.
 * `pinned` makes those with 4 KB in memory of which most may be pinned: pipes pin it, and it is
 * written and read by calls that do.
 * With `lacking` the module lacks memory now and then (tests/vm/failing), at any of its points.
 * Without arguments it makes so few steps that it is quick; `make move-long` takes a million.
 *
 * All that is written is stamps (stamps.h): at the beginning of each cache line, or of each eighth
 * of a page of 2 MB.  To look at all of them costs a tenth of comparing all bytes; that the bytes
 * between them are zeros is looked at now and then.
 *
 * The thread does not write during all the steps: while it does, each removal of an entry waits for
 * its processor, in a virtual machine for milliseconds.
 */
#include "move_random.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/uio.h>

#define RACE_EACH 2048 /* steps, at whose beginning the thread writes */
#define RACE_LAST 8    /* for so many steps */

/* --- Shared ----------------------------------------------------------------------------------- */

int check_failures;
uint64_t state, stamps;
int from, to;
bool with_pinned;
long forks, kills, races;
static bool with_pages, with_huge;
static long steps;

char *arena_new(size_t pages)
{
	char *memory = with_pinned && any(4) ? cosy_move_alloc(pages * PAGE, COSY_MOVE_PINNABLE)
					     : move_alloc(pages);

	MUST(memory);
	return memory;
}

/* --- Lack of memory ----------------------------------------------------------------------------- */

#define LACK_POINT 16 /* the first of a step's that fails is one of so many */
#define LACK_TRIES 4  /* calls of a step that fail: some ask for memory too often to go through */

bool lacking;
long lacks;
static int lack_fd, lack_tries;

static void lack_from(unsigned int point)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", point);

	MUST(pwrite(lack_fd, text, (size_t)length, 0) == length);
}

void lack_begin(void)
{
	lack_tries = 0;
	if (lacking)
		lack_from(1 + (unsigned int)any(LACK_POINT));
}

void lack_end(void)
{
	if (lacking)
		lack_from(0);
}

bool lacked(void)
{
	/* A call that reaches user memory says EFAULT when that lacks memory. */
	bool is = lacking && (errno == ENOMEM || errno == EFAULT);

	lacks += is;
	if (is)
		lack_from(++lack_tries < LACK_TRIES ? 1 + (unsigned int)any(LACK_POINT) : 0);
	return is;
}

static void lack_new(void)
{
	if (lacking)
		lack_fd = open("/sys/module/failing/parameters/nth", O_WRONLY | O_CLOEXEC);
	MUST(lack_fd >= 0);
}

/* --- The thread ------------------------------------------------------------------------------- */

char *racing, *volatile huge_racing;
volatile bool raced;
static sem_t starts;
static volatile bool stop, writing;
static long raced_steps;

/* Writes by a pin, and takes entries away. */
static void race_pinned(uint64_t k)
{
	char *at = racing + k % MAX_PAGES * PAGE + k % LINES * LINE;
	struct iovec local = { &k, sizeof(k) }, remote = { at, sizeof(k) };

	process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
	if (kernel_expected() && k % 16 == 0)
		madvise(racing, MAX_PAGES * PAGE, MADV_DONTNEED);
}

static void *writes(void *unused)
{
	uint64_t k = 0;

	(void)unused;
	for (;;) {
		sem_wait(&starts);
		if (stop)
			return NULL;
		for (; raced; writing = true) {
			k++;
			for (size_t i = 0; i < MAX_PAGES; i++)
				*(volatile uint64_t *)(racing + i * PAGE + k % LINES * LINE) = k;
			if (with_pinned && k % 4 == 0)
				race_pinned(k);
			if (huge_racing)
				*(volatile uint64_t *)(huge_racing + k % 4096 * 512) = k;
			if (k % 64 == 0)
				sched_yield();
		}
		writing = false;
	}
}

void race_begin(void)
{
	raced = true;
	sem_post(&starts);
	while (!writing)
		sched_yield();
}

void race_end(void)
{
	raced = false;
	while (writing)
		sched_yield();
}

/* --- Steps ------------------------------------------------------------------------------------ */

#define HUGE_SHARE 64 /* one step of so many is with 2 MB when both kinds are made */

static void step_once(long step)
{
	if (with_pages && (!with_huge || any(HUGE_SHARE)))
		pages_step(step);
	else
		huge_step(step);
}

static void pipe_new(void)
{
	int ends[2];

	MUST(!pipe(ends));
	from = ends[0];
	to = ends[1];
}

static void memory_new(void)
{
	racing = arena_new(MAX_PAGES);
	if (with_pages)
		pages_new();
	if (with_huge)
		huge_new();
}

static void steps_make(void)
{
	pthread_t thread;

	MUST(!sem_init(&starts, 0, 0));
	MUST(!pthread_create(&thread, NULL, writes, NULL));
	for (long step = 0; step < steps && check_failures < 10; step++) {
		if (step % RACE_EACH == 0)
			race_begin();
		raced_steps += raced;
		step_once(step);
		if (step % RACE_EACH == RACE_LAST - 1)
			race_end();
	}
	race_end();
	stop = true;
	sem_post(&starts);
	MUST(!pthread_join(thread, NULL));
}

/* Says what was done, and checks that it was. */
static void steps_tell(void)
{
	uint64_t pages_steps = (uint64_t)(steps - huge_counts.steps);
	struct cosy_stats moved = counts();

	printf("%llu steps with 4 KB, %ld with 2 MB (%lu pages of 2 MB seen in %ld looks), "
	       "%ld raced, in %ld messages, %ld forks, %ld killed, %ld pinned, %ld lacked, "
	       "%d failures; ",
	       (unsigned long long)pages_steps, huge_counts.steps, huge_counts.seen,
	       huge_counts.looks, raced_steps, races, forks, kills, pins, lacks, check_failures);
	printf("%llu pages lent, %llu transferred, %llu imported\n",
	       (unsigned long long)moved.loaned, (unsigned long long)moved.transferred,
	       (unsigned long long)moved.imported);
	if (!moves())
		return;
	/* What lacks memory is copied. */
	if (lacking) {
		CHECK((lacks || steps < 1000) && moved.loaned >= pages_steps / 4 &&
			      moved.imported >= pages_steps / 16,
		      "little was moved, or could not be");
		return;
	}
	/* A user's limit of locked memory has no room for more than a few parcels of 2 MB. */
	CHECK(moved.loaned >= pages_steps && moved.transferred >= pages_steps &&
		      moved.imported >=
			      pages_steps / 4 + (geteuid() ? 0 : (uint64_t)huge_counts.steps * 64),
	      "little was moved");
}

int main(int argc, char **argv)
{
	bool checked = move_check();
	const char *kind = argc > 3 ? argv[3] : "both";

	lacking = argc > 4;
	lack_new();
	steps = argc > 1 ? atol(argv[1]) : 6000;
	state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15u | 1;
	with_pages = !!strcmp(kind, "huge");
	with_pinned = !strcmp(kind, "pinned");
	with_huge = !!strcmp(kind, "pages") && !with_pinned;
	pipe_new();
	memory_new();
	steps_make();
	steps_tell();
	if (checked)
		move_parameter("check_moved", "N");
	return check_end();
}
