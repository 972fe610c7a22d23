/* SPDX-License-Identifier: MIT */
/*
 * Checks that a region most of whose calls a seccomp filter wants to see stops paying a RUN for
 * each of them: after some hundred it stays native, in the middle of a loop too, for the process's
 * life and its fork children's.  One that gains more by its other calls goes on, and so does one
 * that is forced into the kernel.  RUNs are counted.
 */
#include "again.h"
#include "raw.h"
#include "../../filter_arm.h"
#include <sys/syscall.h>

#define ROUNDS 3000
/*
 * RUNs of a region that is given up: two for each of a hundred calls that the filter sees until
 * then, for the region's compound and for that of its loop.
 */
#define MAX_RUNS 450

static int in;
static volatile int forbidden = 99;

/* Has a filter look at each dup: the argument decides, so the module cannot know. */
static void dup_arm(void)
{
	MUST(!filter_arm_argument(SYS_dup, 99, SECCOMP_RET_ERRNO | EDOM, 0));
}

/* Makes in each round calls that the filter answers, and others that it lets through. */
#define BODY                                                                                       \
	do {                                                                                       \
		while (rounds--) {                                                                 \
			for (int i_ = 0; i_ < answered; i_++)                                      \
				ret += dup(forbidden) == -1 && errno == EDOM;                      \
			for (int i_ = 0; i_ < others; i_++)                                        \
				ret += (int)pread(in, &byte, 1, 0);                                \
		}                                                                                  \
	} while (0)

static int mixed(int rounds, int answered, int others)
{
	int ret = 0;
	char byte;

	COSY_START;
	BODY;
	COSY_END;
	return ret;
}

static int another(int rounds, int answered, int others)
{
	int ret = 0;
	char byte;

	COSY_START;
	BODY;
	COSY_END;
	return ret;
}

/* Does `activations` of `rounds` each; of ten activations `quiet` make no call that is answered. */
static void activations(int (*region)(int, int, int), int count, int rounds, int others, int quiet)
{
	for (int i = 0; i < count; i++) {
		int answered = i % 10 >= quiet, ret = region(rounds, answered, others);

		CHECK(ret == rounds * (answered + others), "%d of %d", ret,
		      rounds * (answered + others));
	}
}

/* Returns how many RUNs that took. */
#define RUNS_OF(...)                                                                               \
	({                                                                                         \
		unsigned long then_ = counts().runs;                                               \
		activations(__VA_ARGS__);                                                          \
		(unsigned long)counts().runs - then_;                                              \
	})

/* --- Cases, each in a process of its own --------------------------------------------------- */

static void in_one_activation(void)
{
	unsigned long first = RUNS_OF(mixed, 1, ROUNDS, 0, 0);
	unsigned long then = RUNS_OF(mixed, ROUNDS, 1, 0, 0);

	CHECK(first >= 50 && first <= MAX_RUNS, "%lu RUNs in one activation", first);
	CHECK(then <= MAX_RUNS, "%lu RUNs afterwards", then);
	CHECK(!RUNS_OF(mixed, ROUNDS, 1, 0, 0), "RUNs of what was given up");
}

static void over_many(void)
{
	unsigned long all = RUNS_OF(mixed, ROUNDS, 1, 0, 0);
	int status;
	pid_t pid;

	CHECK(all >= 50 && all <= MAX_RUNS, "%lu RUNs in all", all);
	/* The child has the filter, and knows what it costs. */
	pid = child_start();
	if (!pid) {
		CHECK(!RUNS_OF(mixed, 100, 1, 0, 0), "RUNs in a fork child");
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "the child: %#x", status);
	/* Another region has a balance of its own. */
	all = RUNS_OF(another, ROUNDS, 1, 8, 0);
	CHECK(all >= ROUNDS, "another region: %lu RUNs", all);
}

/* Gains more by other calls than it loses: in a round, or in activations that lose nothing. */
static void worth_it(void)
{
	unsigned long all = RUNS_OF(mixed, 1, ROUNDS, 10, 0);

	CHECK(all >= ROUNDS - 10, "%lu RUNs in one activation", all);
	all = RUNS_OF(another, ROUNDS, 1, 1, 8);
	CHECK(all >= ROUNDS, "%lu RUNs where one activation of five loses", all);
}

#define PARAMETER "/sys/module/cosy/parameters/max_user_programs"

static void max_user_programs(const char *value)
{
	int fd = open(PARAMETER, O_WRONLY);

	MUST(fd >= 0 && write(fd, value, strlen(value)) == (ssize_t)strlen(value));
	close(fd);
}

/* Has programs given up that are loaded by hand: what they had in the kernel goes with them. */
static void unloaded(void)
{
	static struct raw_container container;
	const struct bpf_insn insns[] = {
		MOV(6, 300), MOV(1, 99), CALL(SYS_dup), ADD(6, -1), JUMP_NE(6, 0, -4), EXIT,
	};
	unsigned long then = counts().runs;
	struct cosy *cosy;

	if (access(PARAMETER, W_OK)) {
		printf("programs loaded by hand: not tried, not root\n");
		return;
	}
	raw_container(&container, insns, COUNT(insns));
	MUST(!cosy_init(&cosy));
	max_user_programs("40");
	for (int i = 0; i < 100; i++) {
		struct cosy_loaded *loaded;
		int64_t ret = 0;

		MUST(!cosy_load(cosy, &container, container.header.size, &loaded, NULL));
		MUST(!cosy_run(cosy, loaded, NULL, 0, &ret, NULL));
		CHECK(ret == -EDOM, "%lld", (long long)ret);
		cosy_unload(loaded);
	}
	max_user_programs("4096");
	cosy_release(cosy);
	/* Each gets into the kernel, and is given up after a hundred calls. */
	then = counts().runs - then;
	CHECK(then >= 100 * 50 && then <= 100 * MAX_RUNS, "%lu RUNs of 100 programs", then);
	CHECK(counts().loads >= 100, "%llu LOADs", (unsigned long long)counts().loads);
}

static void forced(void)
{
	unsigned long all = RUNS_OF(mixed, 1, ROUNDS, 0, 0);

	CHECK(all >= ROUNDS, "%lu RUNs", all);
}

static void under_filter(void (*test)(void))
{
	int status;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		dup_arm();
		test();
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "status %#x", status);
}

int main(int argc, char **argv)
{
	const char *tier = getenv("COSY_TIER");

	(void)argc;
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	MUST((in = open("/proc/self/exe", O_RDONLY)) >= 0);
	if (tier && !strcmp(tier, "always")) {
		under_filter(forced);
		run_again(argv);
		return check_end();
	}
	under_filter(in_one_activation);
	under_filter(over_many);
	under_filter(worth_it);
	under_filter(unloaded);
	return check_end();
}
