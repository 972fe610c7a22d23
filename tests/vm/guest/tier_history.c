/* SPDX-License-Identifier: MIT */
/*
 * Checks what a process makes of how far the user's earlier processes got: it enters after a few
 * calls where they made many, and stays native where they made few, wherever in the region they
 * entered.  Other programs do not count, copies of the program do.
 *
 * This program runs itself, with regions that have to earn the kernel.
 */
#include "../../../core/costs.h"
#include "check.h"
#include "raw.h"

/*
 * Rounds below the first level of savings, above it, and far above; none earns a LOAD by itself.
 * Each is far from a level, and LONG far from what makes it worth compiling the region, so that the
 * costs may be measured again without a change here.
 */
#define ROUNDS(saved) ((int)((saved) / COSY_GAIN_FAST))
#define FEW	      ROUNDS(COSY_RECALL_LEVEL(0) / 2)
#define SHORT	      ROUNDS(COSY_RECALL_LEVEL(0) * 2)
#define LONG	      ROUNDS(COSY_RECALL_LEVEL(5) * 3 / 2)

static long work(long rounds)
{
	long made = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++)
		if (getppid() >= 0)
			made++;
	COSY_END;
	return made;
}

#define RARELY(n)                                                                                  \
	do {                                                                                       \
		if (i == -(n))                                                                     \
			made += getppid() + getuid() * (n);                                        \
	} while (0)

/* Rounds that save more than compiling a region of this size costs, but not much more. */
#define LARGE ROUNDS(COSY_RECALL_LEVEL(4) * 5 / 4)

static long work_large(long rounds)
{
	long made = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		if (getppid() >= 0)
			made++;
		RARELY(1);
		RARELY(2);
		RARELY(3);
		RARELY(4);
		RARELY(5);
		RARELY(6);
		RARELY(7);
		RARELY(8);
		RARELY(9);
		RARELY(10);
		RARELY(11);
		RARELY(12);
		RARELY(13);
		RARELY(14);
		RARELY(15);
		RARELY(16);
		RARELY(17);
		RARELY(18);
	}
	COSY_END;
	return made;
}

struct ran {
	unsigned long runs, calls, seen, unseen, remembered, queued;
};

static unsigned long count_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

static void worker_exec(const char *program, int to, const char *tier, long rounds)
{
	char number[24];

	snprintf(number, sizeof(number), "%ld", rounds);
	if (tier)
		setenv("COSY_TIER", tier, 1);
	else
		unsetenv("COSY_TIER");
	setenv("COSY_STATS", "1", 1);
	dup2(to, 2);
	execl(program, "tier_history", number, NULL);
	_exit(125);
}

/* Runs a process that makes `rounds` iterations, as that user. */
static struct ran ran_by(const char *program, uid_t user, const char *tier, long rounds)
{
	char text[4096] = "";
	size_t size = 0;
	int status, fds[2];
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	MUST(!pipe2(fds, O_CLOEXEC));
	MUST((pid = fork()) >= 0);
	if (!pid) {
		if (user)
			become(user, true);
		worker_exec(program, fds[1], tier, rounds);
	}
	close(fds[1]);
	while (size < sizeof(text) - 1 &&
	       (got = read(fds[0], text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fds[0]);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "%ld: status %#x: %s", rounds, status, text);
	return (struct ran){ count_of(text, " runs="),	     count_of(text, " kernel_calls="),
			     count_of(text, " seen="),	     count_of(text, " unseen="),
			     count_of(text, " remembered="), count_of(text, " queued=") };
}

static struct ran ran(long rounds)
{
	return ran_by("/proc/self/exe", 0, NULL, rounds);
}

#define CHECK_STAYS(what, why)                                                                     \
	do {                                                                                       \
		struct ran r_ = (what);                                                            \
		CHECK(!r_.runs, why ": %lu runs, %lu calls", r_.runs, r_.calls);                   \
	} while (0)

/* It makes all but few of its calls in the kernel. */
#define CHECK_ENTERS(what, rounds, why)                                                            \
	do {                                                                                       \
		struct ran r_ = (what);                                                            \
		CHECK(r_.remembered == 1 && r_.calls > (rounds) - SHORT && r_.calls < (rounds),    \
		      why ": %lu calls of %d, %lu remembered, %lu seen, %lu unseen", r_.calls,     \
		      (rounds), r_.remembered, r_.seen, r_.unseen);                                \
	} while (0)

static uint32_t recall(uint32_t flags)
{
	struct cosy_recall r = { .size = sizeof(r), .flags = flags };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
	return r.regions;
}

static void forget(void)
{
	recall(COSY_RECALL_FORGET);
}

static bool kernel_tells(void)
{
	struct cosy_version version = { .size = sizeof(version) };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_VERSION, &version));
	close(fd);
	return version.features & COSY_FEATURE_SEEN;
}

/* --- The tests ----------------------------------------------------------------------------- */

static void next_process_compiles(bool tells)
{
	struct ran r;

	forget();
	CHECK_STAYS(ran(LONG), "the first process");
	r = ran(LONG);
	CHECK(r.runs && r.remembered && !r.seen, "the second: %lu runs, %lu remembered, %lu seen",
	      r.runs, r.remembered, r.seen);
	if (tells)
		for (int i = 0; i < 20; i++)
			CHECK_ENTERS(ran(LONG), LONG, "a later process");
}

/* A wrong estimate would cost each user a large part of such a run. */
static void large_regions_are_not_tried(void)
{
	forget();
	for (int i = 0; i < 4; i++)
		CHECK_STAYS(ran(-LARGE), "a region that costs much to compile");
}

/* Where a thread of the kernel compiles, no run pays for it, and later ones enter. */
static void large_regions_are_compiled_meanwhile(void)
{
	struct ran r;
	int runs = 0;

	forget();
	CHECK_STAYS(ran(-LARGE), "the first process");
	r = ran(-LARGE);
	CHECK(r.queued, "the second hands nothing over: %lu remembered", r.remembered);
	while (!r.seen && runs++ < 1000)
		r = ran(-LARGE);
	CHECK(r.seen == 1 && r.runs && r.remembered, "after %d runs: %lu runs, %lu remembered",
	      runs, r.runs, r.remembered);
}

static void few_calls_ask_nothing(void)
{
	forget();
	for (int i = 0; i < 5; i++)
		CHECK_STAYS(ran(FEW), "a process of few calls");
	CHECK(!recall(0), "%u regions of processes of few calls", recall(0));
}

/* Once short ones are as many, they do not pay for a long one any more. */
static void follows_its_input(bool tells)
{
	forget();
	ran(LONG);
	ran(LONG);
	for (int i = 0; i < 5; i++)
		ran(SHORT);
	for (int i = 0; i < 5; i++)
		CHECK_STAYS(ran(SHORT), "a short process after others");
	for (int i = 0; i < 12; i++)
		ran(LONG);
	if (tells)
		CHECK_ENTERS(ran(LONG), LONG, "a long process after others");
}

/* What was entered at the region's start counts for a process that asks at its loop's head. */
static void entry_and_head_are_one(void)
{
	struct ran r;

	forget();
	ran_by("/proc/self/exe", 0, "always", LONG);
	CHECK(recall(0) == 1, "%u regions", recall(0));
	r = ran(LONG);
	CHECK(r.runs && r.remembered, "%lu runs, %lu remembered", r.runs, r.remembered);
}

static void copies_share_a_history(bool tells)
{
	char copy[] = "/tmp/tier_history.XXXXXX", text[300];
	int fd = mkstemp(copy);

	MUST(fd >= 0);
	close(fd);
	snprintf(text, sizeof(text), "cp /proc/%d/exe %s && chmod 755 %s", getpid(), copy, copy);
	MUST(!system(text));
	forget();
	ran(LONG);
	ran(LONG);
	if (tells)
		CHECK_ENTERS(ran_by(copy, 0, NULL, LONG), LONG, "a copy of the program");
	unlink(copy);
}

/* A program with the same region may do something else beside it. */
static void programs_have_their_own_history(bool tells)
{
	char other[300], *end;
	struct ran r;
	ssize_t size = readlink("/proc/self/exe", other, sizeof(other) - sizeof("_other"));

	MUST(size > 0);
	end = other + size;
	strcpy(end, "_other");
	forget();
	ran(LONG);
	ran(LONG);
	if (tells)
		CHECK_ENTERS(ran(LONG), LONG, "the program");
	CHECK(recall(0) == 1, "%u regions of one program", recall(0));
	/* It finds the region compiled, but no history. */
	r = ran_by(other, 0, NULL, LONG);
	CHECK(!r.remembered, "another program remembered %lu after %lu calls", r.remembered,
	      r.calls);
	CHECK(recall(0) == 2, "%u regions of two programs", recall(0));
	ran_by(other, 0, NULL, LONG);
	if (tells)
		CHECK_ENTERS(ran_by(other, 0, NULL, LONG), LONG, "another program's third process");
}

static void another_user_learns_nothing(void)
{
	forget();
	ran(LONG);
	ran(LONG);
	CHECK_STAYS(ran_by("/proc/self/exe", 4244, NULL, LONG), "another user's first process");
}

int main(int argc, char **argv)
{
	bool tells;

	if (argc > 1) {
		long rounds = atol(argv[1]);

		if (rounds < 0)
			CHECK(work_large(-rounds) == -rounds, "the large region's result");
		else
			CHECK(work(rounds) == rounds, "the region's result");
		return check_end();
	}
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	tells = kernel_tells();
	next_process_compiles(tells);
	if (tells)
		large_regions_are_compiled_meanwhile();
	else
		large_regions_are_not_tried();
	few_calls_ask_nothing();
	follows_its_input(tells);
	entry_and_head_are_one();
	copies_share_a_history(tells);
	programs_have_their_own_history(tells);
	if (!geteuid())
		another_user_learns_nothing();
	forget();
	return check_end();
}
