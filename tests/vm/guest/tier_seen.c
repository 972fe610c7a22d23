/* SPDX-License-Identifier: MIT */
/*
 * Checks that a region goes to the kernel early in a process whose user has loaded it lately, and
 * not in another user's; and that it earns the rest where it would have to be compiled.
 *
 * This program runs itself, with regions that have to earn the kernel.  No process learns from
 * others how far they got: see tier_history.c.
 */
#include "check.h"
#include "raw.h"

/* Rounds after which a region asks, and by which it has earned that it is compiled. */
#define SOME	    8000
#define MANY	    60000
#define MAX_CACHE   "/sys/module/cosy/parameters/max_user_cache"
#define MAX_HISTORY "/sys/module/cosy/parameters/max_user_history"

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

static unsigned char bytes[32];

static unsigned long bytes_hashed(void)
{
	unsigned long hash = 5381;

	for (size_t i = 0; i < sizeof(bytes); i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

/* Saves something where loads of nearby bytes share a fetch, and loses where each is alone. */
static unsigned long work_hashing(int fd, long rounds)
{
	unsigned long hash = 0;

	COSY_START;
	for (long i = 0; i < rounds; i++) {
		if (pread(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
			break;
		hash += bytes_hashed();
	}
	COSY_END;
	return hash;
}

struct ran {
	unsigned long runs, seen, unseen;
};

static unsigned long count_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

static void worker_exec(int to, const char *what, long rounds)
{
	char number[24];

	snprintf(number, sizeof(number), "%ld", rounds);
	unsetenv("COSY_TIER");
	setenv("COSY_STATS", "1", 1);
	dup2(to, 2);
	execl("/proc/self/exe", "tier_seen", what, number, NULL);
	_exit(125);
}

/* Runs a process that makes `rounds` iterations, as that user. */
static struct ran ran_as(uid_t user, const char *what, long rounds)
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
		worker_exec(fds[1], what, rounds);
	}
	close(fds[1]);
	while (size < sizeof(text) - 1 &&
	       (got = read(fds[0], text + size, sizeof(text) - 1 - size)) > 0)
		size += (size_t)got;
	close(fds[0]);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "%s %ld: status %#x: %s", what, rounds, status, text);
	return (struct ran){ count_of(text, " runs="), count_of(text, " seen="),
			     count_of(text, " unseen=") };
}

#define CHECK_RAN(what, in_kernel, is_seen)                                                        \
	do {                                                                                       \
		struct ran r = (what);                                                             \
		CHECK(!!r.runs == (in_kernel) && !!r.seen == (is_seen),                            \
		      "%lu runs, %lu seen, %lu unseen", r.runs, r.seen, r.unseen);                 \
	} while (0)

static bool kernel_has(uint64_t feature)
{
	struct cosy_version version = { .size = sizeof(version) };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_VERSION, &version));
	close(fd);
	return version.features & feature;
}

/* Drops what is cached of the caller's user, so that this run finds nothing of one before. */
static void cache_empty(void)
{
	MUST(file_write(MAX_CACHE, "1"));
	CHECK_RAN(ran_as(0, "work", MANY), true, false);
	MUST(file_write(MAX_CACHE, "2097152"));
}

static void next_process_enters_early(uid_t user, bool tells)
{
	struct ran first = ran_as(user, "work", SOME);

	CHECK(!first.runs && first.unseen == 1, "the first: %lu runs, %lu unseen", first.runs,
	      first.unseen);
	CHECK_RAN(ran_as(user, "work", MANY), true, false);
	CHECK_RAN(ran_as(user, "work", SOME), tells, tells);
	/* Nothing is asked before that. */
	first = ran_as(user, "work", 1000);
	CHECK(!first.runs && !first.unseen, "%lu runs, %lu unseen", first.runs, first.unseen);
}

/* Checks that what is evicted has to be earned, whoever was told that it is there. */
static void evicted_is_earned(bool tells)
{
	CHECK_RAN(ran_as(0, "work", SOME), tells, tells);
	MUST(file_write(MAX_CACHE, "0"));
	CHECK_RAN(ran_as(0, "work", SOME), false, false);
	CHECK_RAN(ran_as(0, "work", MANY), true, false);
	/* Compiled once more, while nothing is to be kept, it took the image's place. */
	MUST(file_write(MAX_CACHE, "2097152"));
	CHECK_RAN(ran_as(0, "work", SOME), false, false);
	CHECK_RAN(ran_as(0, "work", MANY), true, false);
	CHECK_RAN(ran_as(0, "work", SOME), tells, tells);
}

/* The compiler's estimate assumes fetches. */
static void fetches_are_needed(void)
{
	ran_as(0, "hash", MANY);
	CHECK_RAN(ran_as(0, "hash", MANY), kernel_has(COSY_FEATURE_FETCHES),
		  kernel_has(COSY_FEATURE_SEEN));
}

/* --- In the process that is run ---------------------------------------------------------- */

/* A fork child asks for itself. */
static void child_works(void *arg)
{
	long rounds = *(long *)arg;

	CHECK(work(rounds) == rounds, "a fork child's region");
}

static void worker_hashes(long rounds)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0);
	CHECK(work_hashing(fd, rounds) == rounds * bytes_hashed(), "the sum of the hashes");
	close(fd);
}

static int worker(const char *what, long rounds)
{
	if (!strcmp(what, "hash")) {
		worker_hashes(rounds);
		return check_end();
	}
	CHECK(work(rounds) == rounds, "the region's result");
	if (!strcmp(what, "fork")) {
		CHECK_CHILD(in_child(child_works, &rounds));
		CHECK(work(rounds) == rounds, "the region's result after a fork");
	}
	return check_end();
}

int main(int argc, char **argv)
{
	struct ran after_fork;
	bool tells;

	if (argc > 2)
		return worker(argv[1], atol(argv[2]));
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	tells = kernel_has(COSY_FEATURE_SEEN);
	if (geteuid()) {
		/* Other users' limits are not this one's to set: only look. */
		ran_as(0, "work", MANY);
		CHECK_RAN(ran_as(0, "work", SOME), true, tells);
		return check_end();
	}
	MUST(file_write(MAX_HISTORY, "0"));
	cache_empty();
	next_process_enters_early(0, tells);
	/* What one user has loaded says nothing to another. */
	next_process_enters_early(4243, tells);
	evicted_is_earned(tells);
	fetches_are_needed();
	/* It goes round twice, so that it may have earned all of it where it is not told. */
	after_fork = ran_as(0, "fork", SOME);
	CHECK(!!after_fork.seen == tells && after_fork.runs, "%lu runs, %lu seen", after_fork.runs,
	      after_fork.seen);
	MUST(file_write(MAX_HISTORY, "256"));
	return check_end();
}
