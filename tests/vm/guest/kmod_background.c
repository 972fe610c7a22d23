/* SPDX-License-Identifier: MIT */
/*
 * Checks compounds that a thread of the kernel compiles: the user's later LOADs find them, also when
 * the process that handed them over is dead; they are compiled by that process's rights, memory
 * cgroup and limits; and a user who hands over all there is gets refusals and harms nobody else.
 */
#include "raw.h"
#include <sys/mount.h>
#include <sys/resource.h>

#define PARAMETER "/sys/module/cosy/parameters/background_insns"
#define HARDEN	  "/proc/sys/net/core/bpf_jit_harden"
#define FRONT	  65536
#define BOTH	  (COSY_LOAD_SEEN | COSY_LOAD_ASK)

static int first; /* of this test run: no other run used its numbers */

static int unique(int number)
{
	return first << 10 | number;
}

/* Makes a LOAD of a compound of so many instructions that gives `number`; the answer is in *load. */
static long load_of(int fd, int number, size_t count, uint32_t flags, uint32_t front,
		    struct cosy_load *load)
{
	static struct raw_container c;
	static struct bpf_insn insns[COSY_MAX_INSNS];

	for (size_t i = 0; i < count - 1; i++)
		insns[i] = MOV(0, number);
	insns[count - 1] = EXIT;
	raw_container(&c, insns, count);
	*load = (struct cosy_load){ .size = sizeof(*load),
				    .len = c.header.size,
				    .compound = (uintptr_t)&c,
				    .flags = flags,
				    .front = front };
	return raw_ioctl(fd, COSY_IOC_LOAD, load);
}

static struct cosy_stats stats_of(int fd)
{
	struct cosy_stats stats = { .size = sizeof(stats) };

	MUST(!raw_ioctl(fd, COSY_IOC_STATS, &stats));
	return stats;
}

/* Hands a compound over by a context of its own, or only asks for it. */
static long hand(int number, size_t count, uint32_t front)
{
	struct cosy_load load;
	int fd = raw_open();
	long ret = load_of(fd, number, count, BOTH | COSY_LOAD_BACKGROUND, front, &load);

	CHECK(!load.handle, "a program of what was handed over");
	CHECK(stats_of(fd).queued == (ret == -EINPROGRESS) &&
		      stats_of(fd).queue_refused == (ret == -EBUSY),
	      "%ld is counted wrongly", ret);
	close(fd);
	return ret;
}

static long ask(int number, size_t count, uint32_t front)
{
	struct cosy_load load;
	int fd = raw_open();
	long ret = load_of(fd, number, count, BOTH, front, &load);

	close(fd);
	return ret;
}

/* Hands it over and over until it is compiled, or is not to be.  The thread gets to it at last. */
static long handed(int number, size_t count, uint32_t front)
{
	long ret;

	while ((ret = hand(number, count, front)) == -EINPROGRESS)
		sleep_ms(1);
	return ret;
}

static void forget(void)
{
	struct cosy_recall recall = { .size = sizeof(recall), .flags = COSY_RECALL_FORGET };
	int fd = raw_open();

	MUST(!raw_ioctl(fd, COSY_IOC_RECALL, &recall));
	close(fd);
}

static int *users; /* that children have become: the module remembers what each has used */

/* Becomes a user with no history, credit of the start, and no locked memory. */
static void become_new(void)
{
	if (!geteuid())
		become((uid_t)(20000 + first % 1000 * 32 + (*users)++), true);
}

/* --- Compiled ------------------------------------------------------------------------------ */

static void run_it(int number, bool buffer)
{
	static struct raw_run r;
	struct cosy_load load;
	int fd = raw_open();

	if (buffer)
		raw_buffer(fd, FRONT);
	MUST(!load_of(fd, number, 8, COSY_LOAD_SEEN, 0, &load));
	CHECK(stats_of(fd).cache_hits == 1 && !stats_of(fd).cache_misses, "not from the cache");
	raw_run_init(&r, load.handle, NULL);
	CHECK(!raw_run_to_end(fd, &r) && r.run.status == COSY_DONE && r.run.ret == number,
	      "status %u, %lld", r.run.status, (long long)r.run.ret);
	close(fd);
}

static void compiles(void)
{
	CHECK(ask(unique(1), 8, 0) == -ENOENT, "there in advance");
	CHECK(hand(unique(1), 8, 0) == -EINPROGRESS, "not taken");
	CHECK(!handed(unique(1), 8, 0), "not compiled");
	run_it(unique(1), false);
	if (!jit_is_based()) {
		CHECK(hand(unique(2), 8, FRONT) == -EOPNOTSUPP, "taken for nobody's buffer");
		return;
	}
	CHECK(!handed(unique(2), 8, FRONT), "not compiled for a front");
	CHECK(ask(unique(2), 8, 0) == -ENOENT, "found without a buffer");
	run_it(unique(2), true);
}

static void hands_and_dies(void *arg)
{
	MUST(hand(*(int *)arg, 4000, 0) == -EINPROGRESS);
	raise(SIGKILL);
}

static void outlives_its_process(void)
{
	int number = unique(3), status = in_child(hands_and_dies, &number);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	while (ask(number, 4000, 0) == -ENOENT)
		sleep_ms(1);
}

/* --- Not compiled --------------------------------------------------------------------------- */

static void wrong_ones(void)
{
	static const uint32_t fronts[] = { 1, 4095, 12288, 2048, COSY_MAX_BUFFER * 2, ~0u };
	struct cosy_load load;
	int fd = raw_open();

	for (size_t i = 0; i < COUNT(fronts); i++)
		CHECK(hand(unique(4), 8, fronts[i]) == -EINVAL, "front %#x", fronts[i]);
	CHECK(load_of(fd, 1, 8, COSY_LOAD_BACKGROUND, 0, &load) == -EINVAL, "without a question");
	CHECK(load_of(fd, 1, 8, COSY_LOAD_SEEN | COSY_LOAD_BACKGROUND, 0, &load) == -EINVAL,
	      "without a question");
	load_of(fd, unique(4), 8, BOTH, 0, &load);
	load.flags |= COSY_LOAD_BACKGROUND;
	load.len--;
	CHECK(raw_ioctl(fd, COSY_IOC_LOAD, &load) == -EINVAL, "a container cut short");
	close(fd);
}

/* Hands over a compound that the validator refuses. */
static long hand_invalid(void)
{
	static struct raw_container c;
	const struct bpf_insn insns[] = { MOV(0, unique(5)), JUMP(100), EXIT };
	struct cosy_load load = { .size = sizeof(load),
				  .compound = (uintptr_t)&c,
				  .flags = BOTH | COSY_LOAD_BACKGROUND };
	int fd = raw_open();
	long ret;

	raw_container(&c, insns, COUNT(insns));
	load.len = c.header.size;
	ret = raw_ioctl(fd, COSY_IOC_LOAD, &load);
	close(fd);
	return ret;
}

static void failures_are_remembered(void)
{
	long ret;

	CHECK(hand_invalid() == -EINPROGRESS, "not taken");
	while ((ret = hand_invalid()) == -EINPROGRESS)
		sleep_ms(1);
	CHECK(ret == -ENOENT && hand_invalid() == -ENOENT, "tried again: %ld", ret);
	forget();
	CHECK(hand_invalid() == -EINPROGRESS, "not forgotten");
}

static void forgotten_ones_are_not_kept(void)
{
	for (int i = 0; i < 20; i++) {
		int number = unique(20 + i);

		MUST(hand(number, 8, 0) == -EINPROGRESS);
		forget();
		/* What comes after it was queued after it, so when that is compiled it is done. */
		MUST(!handed(unique(60 + i), 8, 0));
		CHECK(ask(number, 8, 0) == -ENOENT, "%d is kept after all", i);
	}
}

/* --- Whose it is ------------------------------------------------------------------------------- */

static void as_other(void *arg)
{
	become_new();
	CHECK(ask(*(int *)arg, 8, 0) == -ENOENT, "told to another user");
	CHECK(hand(*(int *)arg, 8, 0) == -EINPROGRESS, "another user has none of its own");
	CHECK(!handed(*(int *)arg, 8, 0), "nor gets it");
}

static void as_two(void *arg)
{
	int fd = raw_open();
	struct cosy_load load;

	(void)arg;
	MUST(!seteuid(65534));
	CHECK(load_of(fd, unique(6), 8, BOTH | COSY_LOAD_BACKGROUND, 0, &load) == -ENOENT,
	      "compiled for who is two users");
	close(fd);
}

static void users_are_apart(void)
{
	int number = unique(7);

	MUST(!handed(number, 8, 0));
	CHECK_CHILD(in_child(as_other, &number));
	CHECK_CHILD(in_child(as_two, NULL));
}

/*
 * Whether constants are hidden goes by the rights of the process: code that was compiled by other
 * rights is found by nobody.
 */
static void as_hardened(void *arg)
{
	long ret = -EINPROGRESS;

	(void)arg;
	become_new();
	for (int i = 0; i < 2000 && ret == -EINPROGRESS; i++) {
		ret = hand(unique(8), 8, 0);
		sleep_ms(1);
	}
	CHECK(!ret, "compiled by other rights than the user's: %ld", ret);
}

static void compiled_by_the_users_rights(void)
{
	MUST(file_write(HARDEN, "1"));
	CHECK(!handed(unique(9), 8, 0), "not by root's");
	CHECK_CHILD(in_child(as_hardened, NULL));
	MUST(file_write(HARDEN, "0"));
}

/* Nothing is kept for a user who may lock nothing, whatever the thread may. */
static void as_lockless(void *arg)
{
	struct rlimit none = { 0, 0 };

	(void)arg;
	become_new();
	MUST(!setrlimit(RLIMIT_MEMLOCK, &none));
	CHECK(handed(unique(10), 8, 0) == -ENOENT, "kept though nothing may be locked");
}

/* --- Memory cgroup ---------------------------------------------------------------------------- */

static char group[80];

static long group_memory(void)
{
	char path[100], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/memory.current", group);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	MUST(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atol(text);
}

static void in_group(void *arg)
{
	char path[100];

	(void)arg;
	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	MUST(file_write(path, "0"));
	MUST(hand(unique(11), COSY_MAX_INSNS, 0) == -EINPROGRESS);
}

static void charged_to_its_cgroup(void)
{
	char path[100];
	long before;

	directory_enter();
	MUST(!mount("none", check_directory, "cgroup2", 0, NULL));
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", check_directory);
	snprintf(group, sizeof(group), "%s/handing", check_directory);
	if (!file_write(path, "+memory") || mkdir(group, 0755)) {
		printf("the memory cgroup is not tried: %s\n", strerror(errno));
	} else {
		CHECK_CHILD(in_child(in_group, NULL));
		while (ask(unique(11), COSY_MAX_INSNS, 0) == -ENOENT)
			sleep_ms(1);
		before = group_memory();
		/* The container and the program have 128 KB each. */
		CHECK(before >= 256 << 10, "only %ld bytes are charged", before);
		forget();
		for (int i = 0; i < 2000 && group_memory() > before - (256 << 10); i++)
			sleep_ms(5);
		CHECK(group_memory() <= before - (256 << 10), "%ld of %ld stay charged",
		      group_memory(), before);
		MUST(!rmdir(group));
	}
	MUST(!chdir("/") && !umount2(check_directory, MNT_DETACH));
	directory_leave();
}

/* --- Bounds --------------------------------------------------------------------------------------- */

#define GREED 40

/* Hands over as much as it can.  Returns how many were taken before the first was not. */
static int fill(void)
{
	int taken = 0;

	for (int i = 0; i < GREED; i++) {
		long ret = hand(unique(100 + i), COSY_MAX_INSNS, 0);

		CHECK(ret == -EINPROGRESS || ret == -EBUSY, "%d: %ld", i, ret);
		taken += ret == -EINPROGRESS;
	}
	return taken;
}

static void as_greedy(void *arg)
{
	int taken;

	(void)arg;
	become_new();
	taken = fill();
	printf("a greedy user: %d of %d taken\n", taken, GREED);
	/* Its credit is that of 65536 instructions, and that of the time this has taken. */
	CHECK(taken >= 1 && taken < 8, "%d of %d taken", taken, GREED);
	/* The same one twice is one. */
	CHECK(ask(unique(100), COSY_MAX_INSNS, 0) == 0 ||
		      hand(unique(100), COSY_MAX_INSNS, 0) == -EINPROGRESS ||
		      ask(unique(100), COSY_MAX_INSNS, 0) == 0,
	      "the same one again");
}

static void as_modest(void *arg)
{
	(void)arg;
	become_new();
	CHECK(!handed(unique(12), 8, 0), "another user's greed is in the way");
}

/* Nothing is kept of this user's but what it has used and what failed. */
static void as_forgetful(void *arg)
{
	const struct rlimit none = { 0, 0 };
	long ret = -EINPROGRESS;

	(void)arg;
	become_new();
	MUST(!setrlimit(RLIMIT_MEMLOCK, &none));
	MUST(hand(unique(100), COSY_MAX_INSNS, 0) == -EINPROGRESS);
	for (int i = 0; i < 5000 && ret == -EINPROGRESS; i++) {
		sleep_ms(2);
		ret = hand(unique(100), COSY_MAX_INSNS, 0);
	}
	/* By now nothing of its own is open, waits, or is kept. */
	for (int i = 0; i < 20 && ret == -ENOENT; i++) {
		sleep_ms(10);
		ret = hand(unique(100), COSY_MAX_INSNS, 0);
	}
	CHECK(ret == -ENOENT, "its account began anew: %ld", ret);
}

static void bounded(void)
{
	CHECK_CHILD(in_child(as_forgetful, NULL));
	CHECK_CHILD(in_child(as_greedy, NULL));
	CHECK_CHILD(in_child(as_modest, NULL));
}

static void can_be_switched_off(void)
{
	MUST(file_write(PARAMETER, "0"));
	CHECK(hand(unique(13), 8, 0) == -EBUSY, "compiled against the administrator's will");
	MUST(file_write(PARAMETER, "256"));
	CHECK(!handed(unique(13), 8, 0), "not compiled afterwards");
}

int main(void)
{
	first = getpid();
	users = mmap(NULL, sizeof(*users), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	MUST(users != MAP_FAILED);
	close(raw_open());
	compiles();
	outlives_its_process();
	wrong_ones();
	failures_are_remembered();
	forgotten_ones_are_not_kept();
	if (!geteuid()) {
		users_are_apart();
		compiled_by_the_users_rights();
		CHECK_CHILD(in_child(as_lockless, NULL));
		charged_to_its_cgroup();
		bounded();
		can_be_switched_off();
	}
	forget();
	return check_end();
}
