/* SPDX-License-Identifier: MIT */
/*
 * Checks what RECALL keeps of a region: which levels earlier processes reached, by what they said
 * and by the calls that their programs made, even when they were killed; that it is bounded, ages
 * by its use, can be forgotten, and is another user's in no way.
 */
#include "raw.h"
#include <stddef.h>

#define MAX_HISTORY "/sys/module/cosy/parameters/max_user_history"
#define LEVEL(n)    COSY_RECALL_LEVEL(n)

static uint64_t first; /* of this test run: no other run used its keys */

static struct cosy_recall recall_of(uint64_t key, uint64_t saved)
{
	return (struct cosy_recall){ .size = sizeof(struct cosy_recall),
				     .key = { first, key },
				     .saved = saved };
}

/* Makes a RECALL by a context of its own, as each process does. */
static struct cosy_recall recall(uint64_t key, uint64_t saved)
{
	struct cosy_recall r = recall_of(key, saved);
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
	return r;
}

static uint32_t regions(void)
{
	struct cosy_recall r = { .size = sizeof(r) };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
	return r.regions;
}

static void forget(void)
{
	struct cosy_recall r = { .size = sizeof(r), .flags = COSY_RECALL_FORGET };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
}

/* --- What is counted ---------------------------------------------------------------------- */

static void levels_are_counted(void)
{
	struct cosy_recall r = recall(1, LEVEL(2));

	CHECK(!r.reached[0] && !r.slower, "the first process finds %u", r.reached[0]);
	CHECK(r.regions >= 1, "%u regions", r.regions);
	r = recall(1, LEVEL(0));
	CHECK(r.reached[0] == 1 && r.reached[2] == 1 && !r.reached[3], "%u %u %u", r.reached[0],
	      r.reached[2], r.reached[3]);
	/* Below the first level nothing is counted, and nothing is begun. */
	r = recall(1, LEVEL(0) - 1);
	CHECK(r.reached[0] == 2 && r.reached[1] == 1, "%u %u", r.reached[0], r.reached[1]);
	r = recall(1, 0);
	CHECK(r.reached[0] == 2, "%u", r.reached[0]);
	r = recall(2, LEVEL(0) - 1);
	CHECK(r.regions == regions() && !r.reached[0], "a process that saved little began one");
}

/* A process that reports again counts once on each level. */
static void reports_add_up(void)
{
	struct cosy_recall r = recall_of(3, LEVEL(1));
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	r.reported = r.saved;
	r.saved = LEVEL(COSY_RECALL_LEVELS - 1);
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
	r = recall(3, 0);
	for (int i = 0; i < COSY_RECALL_LEVELS; i++)
		CHECK(r.reached[i] == 1, "level %d: %u", i, r.reached[i]);
}

static void newest_count_most(void)
{
	struct cosy_recall r;

	for (int i = 0; i < 100; i++)
		recall(4, LEVEL(3));
	for (int i = 0; i < 40; i++)
		recall(4, LEVEL(0));
	r = recall(4, 0);
	CHECK(r.reached[0] >= 8 && r.reached[0] < 16, "%u", r.reached[0]);
	CHECK(r.reached[3] * 2 < r.reached[0], "%u of %u are long ago", r.reached[3], r.reached[0]);
}

/* A process may say that it reached high levels but no low one, as often as it likes. */
static void counts_do_not_wrap(void)
{
	int fd = raw_open();
	struct cosy_recall r;

	for (int i = 0; i < 70000; i++) {
		r = recall_of(22, LEVEL(3));
		r.reported = LEVEL(0);
		MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	}
	close(fd);
	CHECK(!r.reached[0] && r.reached[1] == 16 && r.reached[3] == 16 && !r.reached[4],
	      "%u %u %u %u", r.reached[0], r.reached[1], r.reached[3], r.reached[4]);
	/* Once enough processes have reached the lowest level, all are halved. */
	for (int i = 0; i < 16; i++)
		recall(22, LEVEL(0));
	r = recall(22, 0);
	CHECK(r.reached[0] == 8 && r.reached[3] == 8, "%u %u", r.reached[0], r.reached[3]);
}

static void slower_is_kept_for_a_while(void)
{
	struct cosy_recall r = recall_of(5, 0);
	int fd = raw_open(), processes = 0;

	r.flags = COSY_RECALL_SLOWER;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.slower, "not slower at once");
	close(fd);
	CHECK(recall(5, LEVEL(0)).slower, "the next process does not find it");
	while (processes < 1000 && recall(5, LEVEL(0)).slower)
		processes++;
	CHECK(processes >= 16 && processes < 100, "tried again after %d processes", processes);
}

static void paces_are_averaged(void)
{
	struct cosy_recall r = recall_of(20, LEVEL(1));
	int fd = raw_open();

	r.pace = 4000;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.pace == 4000, "%u", r.pace);
	r.pace = 0;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.pace == 4000, "not measured, and then %u", r.pace);
	r.pace = 8000;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	close(fd);
	CHECK(recall(20, 0).pace == 5000, "%u", recall(20, 0).pace);
	CHECK(!recall(21, LEVEL(1)).pace, "of another region %u", recall(21, 0).pace);
}

/* Checks that a pace is kept for the level that was reached, and that an older libcosy gets none. */
static void paces_are_kept_for_each_level(void)
{
	struct cosy_recall r = recall_of(22, LEVEL(2));
	int fd = raw_open();

	r.pace = 4000;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.paces[2] == 4000 && !r.paces[1] && !r.paces[3], "%u %u %u", r.paces[1], r.paces[2],
	      r.paces[3]);
	/* This one reaches no level. */
	r.reported = LEVEL(2);
	r.pace = 8000;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.paces[2] == 4000 && r.pace == 5000, "%u %u", r.paces[2], r.pace);
	r.reported = LEVEL(2);
	r.saved = LEVEL(4);
	r.pace = 6000;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.paces[2] == 4000 && !r.paces[3] && r.paces[4] == 6000, "%u %u %u", r.paces[2],
	      r.paces[3], r.paces[4]);
	r = recall_of(22, 0);
	r.size = offsetof(struct cosy_recall, paces);
	r.paces[2] = 7;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	CHECK(r.pace && r.paces[2] == 7, "%u %u", r.pace, r.paces[2]);
	close(fd);
}

/* --- What the module counts itself ---------------------------------------------------------- */

#define CALLS 100

/* Makes that many calls in the kernel, each of which saves LEVEL(0), under a key. */
static void run_followed(int fd, uint64_t key, uint32_t run_loss)
{
	const struct bpf_insn insns[] = { MOV(6, CALLS),     CALL(SYS_umask), ADD(6, -1),
					  JUMP_NE(6, 0, -3), MOV(0, 0),	      EXIT };
	static struct raw_container c;
	static struct raw_run r;
	struct cosy_load load = { .size = sizeof(load),
				  .compound = (uintptr_t)&c,
				  .key = { first, key } };
	struct cosy_recall recall = recall_of(key, LEVEL(1));

	recall.call_gain = LEVEL(0);
	recall.run_loss = run_loss;
	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &recall));
	raw_container(&c, insns, COUNT(insns));
	load.len = c.header.size;
	MUST(!raw_ioctl(fd, COSY_IOC_LOAD, &load));
	raw_run_init(&r, load.handle, NULL);
	MUST(!raw_run_to_end(fd, &r));
	CHECK(r.run.status == COSY_DONE, "status %u", r.run.status);
}

static void killed_after_run(void *arg)
{
	run_followed(raw_open(), *(uint64_t *)arg, 0);
	raise(SIGKILL);
}

static void programs_are_counted(void)
{
	struct cosy_recall r;
	uint64_t key = 7;
	int fd = raw_open(), status;
	pid_t pid;

	run_followed(fd, 6, 0);
	r = recall(6, 0);
	CHECK(r.reached[1] == 1 && !r.reached[2], "before the end %u %u", r.reached[1],
	      r.reached[2]);
	close(fd);
	/* 100 calls of LEVEL(0) are above LEVEL(5), 64 times LEVEL(0). */
	r = recall(6, 0);
	CHECK(r.reached[0] == 1 && r.reached[5] == 1 && !r.reached[6], "%u %u %u", r.reached[0],
	      r.reached[5], r.reached[6]);
	fflush(stdout);
	MUST((pid = fork()) >= 0);
	if (!pid)
		killed_after_run(&key);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status), "status %#x", status);
	r = recall(7, 0);
	CHECK(r.reached[5] == 1, "of a killed process %u", r.reached[5]);
	/* A RUN that costs as much as its calls save adds nothing. */
	fd = raw_open();
	run_followed(fd, 8, UINT32_MAX);
	close(fd);
	r = recall(8, 0);
	CHECK(r.reached[1] == 1 && !r.reached[2], "of a RUN that loses %u", r.reached[2]);
}

/* --- Errors ------------------------------------------------------------------------------------ */

#define REFUSED(...)                                                                               \
	do {                                                                                       \
		struct cosy_recall wrong_ = { .size = sizeof(wrong_), __VA_ARGS__ };               \
		long ret_ = raw_ioctl(fd, COSY_IOC_RECALL, &wrong_);                               \
		CHECK(ret_ == -EINVAL, #__VA_ARGS__ ": %ld", ret_);                                \
	} while (0)

static void wrong_ones_are_refused(void)
{
	int fd = raw_open();

	REFUSED(.flags = 1u << 2);
	REFUSED(.pace = 1);
	REFUSED(.saved = LEVEL(0));
	REFUSED(.call_gain = 1);
	REFUSED(.run_loss = 1);
	REFUSED(.flags = COSY_RECALL_SLOWER);
	REFUSED(.key = { 1 }, .flags = COSY_RECALL_FORGET);
	REFUSED(.key = { 1 }, .saved = 1, .reported = 2);
	close(fd);
}

/* Checks that LOAD works for a libcosy that does not know its key. */
static void older_load_works(void)
{
	const struct bpf_insn insns[] = { MOV(0, 1), EXIT };
	static struct raw_container c;
	struct cosy_load load = { .size = offsetof(struct cosy_load, key),
				  .compound = (uintptr_t)&c,
				  .key = { 1, 1 } };
	int fd = raw_open();

	raw_container(&c, insns, COUNT(insns));
	load.len = c.header.size;
	CHECK(!raw_ioctl(fd, COSY_IOC_LOAD, &load), "LOAD without a key");
	/* A key that no RECALL named counts nowhere. */
	load.size = sizeof(load);
	CHECK(!raw_ioctl(fd, COSY_IOC_LOAD, &load), "LOAD with an unknown key");
	close(fd);
}

/* --- Bounds, and others ---------------------------------------------------------------------- */

static void fill(uint64_t from, int count)
{
	int fd = raw_open();

	for (int i = 0; i < count; i++) {
		struct cosy_recall r = recall_of(from + (uint64_t)i, LEVEL(9));

		r.call_gain = 1;
		MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &r));
	}
	close(fd);
}

static void as_other(void *arg)
{
	struct cosy_recall r;

	(void)arg;
	become(4243, true);
	r = recall(9, 0);
	CHECK(!r.reached[0] && !r.regions, "another user finds %u, %u regions", r.reached[0],
	      r.regions);
	/* Nor does it drop what is the first one's. */
	fill(1000, 5000);
	CHECK(regions() <= 256, "another user has %u", regions());
	recall(9, LEVEL(9));
}

static void bounded_and_apart(void)
{
	struct cosy_recall r;

	recall(9, LEVEL(1));
	CHECK_CHILD(in_child(as_other, NULL));
	r = recall(9, 0);
	CHECK(r.reached[1] == 1 && !r.reached[9], "another user changed it: %u %u", r.reached[1],
	      r.reached[9]);
	fill(1000, 5000);
	CHECK(regions() <= 256, "%u regions", regions());
	/* The least recently used made room. */
	CHECK(!recall(9, 0).reached[1], "5000 regions left room for one before them");
	CHECK(recall(1000 + 4999, 0).reached[9] == 1, "the last one is not there");
}

static void forgets(void)
{
	recall(10, LEVEL(1));
	forget();
	CHECK(!regions(), "%u regions are left", regions());
	CHECK(!recall(10, 0).reached[0], "it was not forgotten");
}

static void off_keeps_nothing(void)
{
	MUST(file_write(MAX_HISTORY, "0"));
	recall(11, LEVEL(1));
	MUST(file_write(MAX_HISTORY, "256"));
	CHECK(!recall(11, 0).reached[0], "kept while it was off");
}

int main(void)
{
	close(raw_open());
	first = (uint64_t)getpid() << 32 | 1;
	levels_are_counted();
	reports_add_up();
	newest_count_most();
	counts_do_not_wrap();
	slower_is_kept_for_a_while();
	paces_are_averaged();
	paces_are_kept_for_each_level();
	programs_are_counted();
	wrong_ones_are_refused();
	older_load_works();
	forgets();
	if (!geteuid()) {
		bounded_and_apart();
		off_keeps_nothing();
	}
	forget();
	return check_end();
}
