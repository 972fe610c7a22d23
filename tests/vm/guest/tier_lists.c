/* SPDX-License-Identifier: MIT */
/*
 * Checks that a region earns the kernel by what its calls save above what its walks along lists
 * lose there: only one walk in some is counted, and stands for the others.
 *
 * This program runs itself, with regions that have to earn the kernel.
 */
#include "check.h"

/* Rounds by which the calls alone have earned that the region is compiled, several times over. */
#define ROUNDS 200000
#define NODES  64

struct node {
	struct node *next;
	long number;
};

static struct node nodes[NODES];

static struct node *list_of(int length)
{
	for (int i = 0; i < length; i++)
		nodes[i] = (struct node){ i + 1 < length ? &nodes[i + 1] : NULL, i };
	return nodes;
}

/* Looks `number` up in the list in each round; returns how often it was there. */
#define LOOK_UP(name)                                                                              \
	static long name(struct node *first, long number, long rounds)                             \
	{                                                                                          \
		long found = 0;                                                                    \
                                                                                                   \
		COSY_START;                                                                        \
		for (long i = 0; i < rounds; i++) {                                                \
			if (getppid() < 0)                                                         \
				break;                                                             \
			for (struct node *node = first; node; node = node->next)                   \
				if (node->number == number) {                                      \
					found++;                                                   \
					break;                                                     \
				}                                                                  \
		}                                                                                  \
		COSY_END;                                                                          \
		return found;                                                                      \
	}

/* Each region counts for itself. */
LOOK_UP(look_up_near)
LOOK_UP(look_up_far)
LOOK_UP(look_up_in_turn)

static unsigned long long calls_since(struct cosy_stats then)
{
	return counts().calls - then.calls;
}

static int worker(void)
{
	struct node *list = list_of(NODES);
	struct cosy_stats then = counts();
	long found = 0;

	/* 64 nodes a round lose more than a call saves. */
	CHECK(look_up_far(list, NODES - 1, ROUNDS) == ROUNDS, "the last node was not found");
	CHECK(!calls_since(then), "%llu calls in the kernel, of a region that loses there",
	      calls_since(then));
	/* Few of its walks are short. */
	for (long i = 0; i < ROUNDS / 10; i++)
		found += look_up_in_turn(list, i % 10 ? NODES - 1 : 0, 10);
	CHECK(found == ROUNDS / 10 * 10, "%ld found in turn", found);
	CHECK(!calls_since(then), "%llu calls in the kernel, most beside long walks",
	      calls_since(then));
	CHECK(look_up_near(list, 0, ROUNDS) == ROUNDS, "the first node was not found");
	CHECK(calls_since(then) > ROUNDS / 4, "only %llu calls in the kernel", calls_since(then));
	return check_end();
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc > 1)
		return worker();
	if (!kernel_expected())
		SKIP("no region runs in the kernel here");
	fflush(stdout);
	MUST((pid = fork()) >= 0);
	if (!pid) {
		unsetenv("COSY_TIER");
		execl("/proc/self/exe", argv[0], "worker", NULL);
		_exit(125);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "with regions that have to earn it: %#x", status);
	return check_end();
}
