/* SPDX-License-Identifier: MIT */
/*
 * Tests who pays for memory that moves, and who is told of it: the counts of COSY_IOC_MOVING, that
 * a user's processes together stay within RLIMIT_MEMLOCK, and that the pages count in the memory
 * cgroup which touched them until their last holder drops them.
 */
#include "move.h"
#include "raw.h"
#include <sys/resource.h>

#define PAGES 16UL /* as many as a pipe has buffers */
#define SIZE  (PAGES * PAGE)

/* --- What is told ----------------------------------------------------------------------------- */

static struct cosy_moving moving_of(int fd)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	do {
		MUST(!raw_ioctl(fd, COSY_IOC_MOVING, &moving));
	} while (moving.cursor[0] | moving.cursor[1]);
	return moving;
}

#define CHECK_MOVING(fd, before, arenas_, pages_, frozen_, under_way_, parcels_, in_parcels_)      \
	do {                                                                                       \
		struct cosy_moving now_ = moving_of(fd);                                           \
		CHECK(now_.arenas - (before).arenas == (arenas_), "%llu", now_.arenas);            \
		CHECK(now_.arena_pages - (before).arena_pages == (pages_), "%llu",                 \
		      now_.arena_pages);                                                           \
		CHECK(now_.frozen - (before).frozen == (frozen_), "%llu", now_.frozen);            \
		CHECK(now_.under_way - (before).under_way == (under_way_), "%llu",                 \
		      now_.under_way);                                                             \
		CHECK(now_.parcels - (before).parcels == (parcels_), "%llu", now_.parcels);        \
		CHECK(now_.parcel_pages - (before).parcel_pages == (in_parcels_), "%llu",          \
		      now_.parcel_pages);                                                          \
	} while (0)

/* Returns a line's number in the module's statistics, or -1. */
static long statistic(const char *name)
{
	FILE *file = fopen("/sys/kernel/debug/cosy/stats", "re");
	char line[80];
	long value, found = -1;

	while (file && fscanf(file, "%79s %ld", line, &value) == 2)
		if (!strcmp(line, name))
			found = value;
	if (file)
		fclose(file);
	return found;
}

/* A user between two others is told of his own. */
static void stranger(void *unused)
{
	struct cosy_moving moving;
	int fd = raw_open();

	(void)unused;
	become(1, true);
	moving = moving_of(fd);
	CHECK(!moving.arenas && !moving.frozen && !moving.parcels, "%llu arenas, %llu parcels",
	      moving.arenas, moving.parcels);
}

static void told(void *unused)
{
	int fd = raw_open(), fds[2], parcel, status;
	struct cosy_moving before = moving_of(fd), forked;
	char *from = move_alloc(PAGES), *to = move_alloc(PAGES);
	pid_t pid;

	(void)unused;
	CHECK_MOVING(fd, before, 2, 2 * PAGES, 0, 0, 0, 0);
	MUST(!pipe(fds));
	move_fill(from, SIZE, 1);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, 0, 0, 0, 0);
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, PAGES, 0, 0);
	if (!geteuid()) {
		CHECK(statistic("frozen") >= (long)PAGES, "%ld", statistic("frozen"));
		CHECK(statistic("under_way") >= (long)PAGES, "%ld", statistic("under_way"));
		CHECK(statistic("arena_pages") >= 2 * (long)PAGES, "%ld", statistic("arena_pages"));
	}
	/* Both have them, then the sender alone, until it writes. */
	transfer_all(fds[0], to, SIZE / 2, 0);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES + PAGES / 2, PAGES + PAGES / 2, 0, 0);
	read_all(fds[0], to, SIZE / 2);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, 0, 0, 0);
	move_fill(from, SIZE, 2);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, 0, 0, 0, 0);
	/* A parcel, and a child, have them as well. */
	parcel = cosy_export(from, SIZE, COSY_COPY);
	MUST(parcel >= 0);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, PAGES, 1, PAGES);
	if (!geteuid())
		CHECK(statistic("parcel_pages") >= (long)PAGES, "%ld", statistic("parcel_pages"));
	close(parcel);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, 0, 0, 0);
	parcel = cosy_export(from, SIZE, COSY_DONATE_ZERO);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, 0, 0, 1, PAGES);
	MUST(cosy_import(parcel, to, SIZE, 0) == (ssize_t)SIZE);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, 0, 1, 0);
	close(parcel);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		pause();
		_exit(1);
	}
	forked = moving_of(fd);
	CHECK(forked.arenas - before.arenas == 4, "%llu arenas with a child's", forked.arenas);
	CHECK(forked.under_way - before.under_way == 2 * PAGES, "%llu pages", forked.under_way);
	MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK_MOVING(fd, before, 2, 2 * PAGES, PAGES, 0, 0, 0);
	cosy_move_free(from, SIZE);
	cosy_move_free(to, SIZE);
	CHECK_MOVING(fd, before, 0, 0, 0, 0, 0, 0);
	/* Its arguments are those of all the ioctls. */
	{
		struct cosy_moving small = { .size = 8 };

		CHECK(raw_ioctl(fd, COSY_IOC_MOVING, &small) == -EINVAL, "too small");
		CHECK(raw_ioctl(fd, COSY_IOC_MOVING, NULL) == -EFAULT, "nowhere");
	}
}

/* Has memory that moves, of the user with the highest number, until it is ended. */
static void neighbour(int ready)
{
	char *memory;

	become_nobody(true);
	memory = move_alloc(PAGES);
	move_fill(memory, SIZE, 1);
	MUST(write(ready, "x", 1) == 1);
	pause();
	_exit(1);
}

static void only_own(void *unused)
{
	int ready[2], status;
	char *memory, c;
	pid_t pid;

	(void)unused;
	if (geteuid()) {
		printf("what others have: not tried, not root\n");
		return;
	}
	memory = move_alloc(PAGES);
	move_fill(memory, SIZE, 1);
	MUST(!pipe(ready));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		neighbour(ready[1]);
	close(ready[1]);
	MUST(read(ready[0], &c, 1) == 1);
	CHECK_CHILD(in_child(stranger, NULL));
	MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	cosy_move_free(memory, SIZE);
}

/* --- A piece at a time ---------------------------------------------------------------------- */

#define A_CALL	64   /* entries, or batches of slots, that a call looks at */
#define A_BATCH 1024 /* pages */
#define SMALL	150  /* arenas and parcels of a page */
#define LARGE	(A_CALL * A_BATCH + 5000UL)

/* Counts from `start` on, and checks that each call is bounded.  Returns how many calls it took. */
static int count_all(int fd, struct cosy_moving *moving)
{
	struct cosy_moving before;
	int calls = 0;

	do {
		before = *moving;
		MUST(!raw_ioctl(fd, COSY_IOC_MOVING, moving));
		CHECK(moving->arenas - before.arenas + moving->parcels - before.parcels <= A_CALL,
		      "%llu arenas and %llu parcels in a call", moving->arenas - before.arenas,
		      moving->parcels - before.parcels);
		CHECK(moving->frozen - before.frozen <= A_CALL * A_BATCH, "%llu pages in a call",
		      moving->frozen - before.frozen);
		calls++;
	} while ((moving->cursor[0] | moving->cursor[1]) && calls < 1000);
	return calls;
}

/* Places that are none: of an arena that is gone, beyond the last, within a parcel. */
static void count_from_anywhere(int fd)
{
	static const __u64 any[] = { 1, 2, 3, 5, 1000, 1001, 1ULL << 62, ~0ULL - 1, ~0ULL };

	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
		for (size_t j = 0; j < sizeof(any) / sizeof(any[0]); j++) {
			struct cosy_moving moving = { .size = sizeof(moving),
						      .cursor = { any[i], any[j] } };

			CHECK(count_all(fd, &moving) < 100 && moving.arenas <= SMALL + 1 &&
				      moving.parcels <= SMALL,
			      "from %#llx, %#llx", any[i], any[j]);
		}
	}
}

/* Has an arena go where the count would go on. */
static void count_past_the_gone(int fd, char *large)
{
	struct cosy_moving moving = { .size = sizeof(moving) };
	char *last = move_alloc(1);

	while (!moving.cursor[1])
		MUST(!raw_ioctl(fd, COSY_IOC_MOVING, &moving));
	CHECK(moving.cursor[1] < LARGE, "goes on within the large arena at %llu", moving.cursor[1]);
	cosy_move_free(large, LARGE * PAGE);
	count_all(fd, &moving);
	CHECK(moving.arenas == SMALL + 2 && moving.parcels == SMALL, "%llu arenas, %llu parcels",
	      moving.arenas, moving.parcels);
	cosy_move_free(last, PAGE);
}

static void pieces(void *unused)
{
	struct cosy_moving moving = { .size = sizeof(moving) };
	const struct rlimit many = { 4 * SMALL, 4 * SMALL };
	char *small[SMALL], *large;
	int parcels[SMALL], fd, copy;

	(void)unused;
	if (geteuid()) {
		printf("counts in pieces: not tried, not root\n");
		return;
	}
	setrlimit(RLIMIT_NOFILE, &many);
	fd = raw_open();
	for (int i = 0; i < SMALL; i++) {
		small[i] = move_alloc(1);
		*small[i] = 1;
		parcels[i] = cosy_export(small[i], PAGE, COSY_COPY);
		MUST(parcels[i] >= 0);
	}
	/* The large one has pages at its ends and where a call stops. */
	large = move_alloc(LARGE);
	large[0] = large[A_CALL * A_BATCH * PAGE] = large[LARGE * PAGE - 1] = 1;
	copy = cosy_export(large + A_CALL * A_BATCH * PAGE, PAGE, COSY_COPY);
	MUST(copy >= 0);
	CHECK(count_all(fd, &moving) >= 2 * SMALL / A_CALL + 1, "few calls");
	CHECK(moving.arenas == SMALL + 1 && moving.arena_pages == SMALL + LARGE,
	      "%llu arenas of %llu pages", moving.arenas, moving.arena_pages);
	CHECK(moving.frozen == SMALL + 1 && moving.under_way == SMALL + 1, "%llu frozen, %llu",
	      moving.frozen, moving.under_way);
	CHECK(moving.parcels == SMALL + 1 && moving.parcel_pages == SMALL + 1,
	      "%llu parcels of %llu pages", moving.parcels, moving.parcel_pages);
	close(copy);
	count_from_anywhere(fd);
	count_past_the_gone(fd, large);
	for (int i = 0; i < SMALL; i++) {
		cosy_move_free(small[i], PAGE);
		close(parcels[i]);
	}
	moving = moving_of(fd);
	CHECK(!moving.arenas && !moving.parcels, "%llu arenas, %llu parcels", moving.arenas,
	      moving.parcels);
}

/* --- RLIMIT_MEMLOCK --------------------------------------------------------------------------- */

#define LIMIT	 (2UL << 20)
#define GREEDY	 3  /* processes */
#define ATTEMPTS 40 /* of each */

/* Takes arenas and parcels until there are none, and waits.  Everything works all the time. */
static void take_all(int ready)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		char *memory = move_alloc(PAGES);
		int parcel;

		move_fill(memory, SIZE, (uint64_t)i);
		parcel = cosy_export(memory, SIZE, i % 2 ? COSY_COPY : COSY_SHARE);
		if (parcel < 0 || move_differs(memory, SIZE, (uint64_t)i) >= 0)
			_exit(1);
	}
	MUST(write(ready, "x", 1) == 1);
	pause();
	_exit(1);
}

static void bounded(void *unused)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	struct cosy_moving before, all;
	int fd, ready[2];
	pid_t pids[GREEDY];
	char c;

	(void)unused;
	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	fd = raw_open();
	before = moving_of(fd);
	MUST(!pipe(ready));
	fflush(stdout);
	for (int i = 0; i < GREEDY; i++) {
		pids[i] = fork();
		MUST(pids[i] >= 0);
		if (!pids[i])
			take_all(ready[1]);
		MUST(read(ready[0], &c, 1) == 1);
	}
	all = moving_of(fd);
	printf("%d processes with %lu KB to lock: %llu KB in %llu arenas, %llu KB in %llu "
	       "parcels\n",
	       GREEDY, LIMIT >> 10, all.arena_pages * 4, all.arenas, all.parcel_pages * 4,
	       all.parcels);
	CHECK((all.arena_pages + all.parcel_pages) * PAGE <= LIMIT, "%llu pages",
	      all.arena_pages + all.parcel_pages);
	CHECK(all.arenas > before.arenas && all.parcels > before.parcels, "nothing was taken");
	for (int i = 0; i < GREEDY; i++)
		MUST(!kill(pids[i], SIGKILL) && waitpid(pids[i], NULL, 0) == pids[i]);
	CHECK_MOVING(fd, before, 0, 0, 0, 0, 0, 0);
}

/* --- The memory cgroup ------------------------------------------------------------------------ */

#define GROUP	 "/sys/fs/cgroup/cosy-move-account"
#define MB	 (1UL << 20)
#define IN_GROUP (4 * MB)
#define SLACK	 MB /* charges that processors keep, page tables */

static void group_enter(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	MUST(file_write(GROUP "/cgroup.procs", pid));
}

static size_t group_charged(void)
{
	char text[32] = "";
	int fd = open(GROUP "/memory.current", O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoul(text, NULL, 10);
}

/* Sends a donation of what it has touched, and waits in the group until it is told to end. */
static void donor(int to, int end)
{
	char *memory, c;
	int parcel;

	group_enter();
	memory = move_alloc(IN_GROUP / PAGE);
	memset(memory, 1, IN_GROUP);
	parcel = cosy_export(memory, IN_GROUP, COSY_DONATE_ZERO);
	MUST(parcel >= 0);
	send_fd(to, parcel);
	close(parcel);
	cosy_move_free(memory, IN_GROUP);
	MUST(read(end, &c, 1) == 0);
	_exit(0);
}

/* Checks that donated pages remain charged to the donor's group until they are given back. */
static void charged(void)
{
	char *memory = move_alloc(IN_GROUP / PAGE);
	int socks[2], end[2], parcel, status;
	size_t before = group_charged(), had;
	pid_t pid;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks) && !pipe(end));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(end[1]);
		donor(socks[1], end[0]);
	}
	parcel = receive_fd(socks[0]);
	MUST(parcel >= 0);
	MUST(cosy_import(parcel, memory, IN_GROUP, COSY_POPULATE) == (ssize_t)IN_GROUP);
	close(parcel);
	close(end[1]);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	had = group_charged();
	CHECK(had - before + SLACK >= IN_GROUP, "%zu KB of a donation charged",
	      (had - before) >> 10);
	CHECK(memory[IN_GROUP - 1] == 1, "the donation");
	MUST(!cosy_flush(memory, IN_GROUP));
	CHECK(group_charged() <= before + SLACK, "%zu KB charged, %zu before, after a flush",
	      group_charged() >> 10, before >> 10);
	cosy_move_free(memory, IN_GROUP);
}

/* Donates shared pages, which stay and are copied, and ends with all of them given back. */
static void donate_shared(void *unused)
{
	char *memory;
	int shared, parcel;

	(void)unused;
	group_enter();
	memory = move_alloc(IN_GROUP / PAGE);
	memset(memory, 1, IN_GROUP);
	shared = cosy_export(memory, IN_GROUP, COSY_SHARE);
	MUST(shared >= 0);
	parcel = cosy_export(memory, IN_GROUP, COSY_DONATE_ZERO);
	MUST(parcel >= 0);
	CHECK(move_is_zero(memory, IN_GROUP), "donated");
	close(parcel);
	close(shared);
	cosy_move_free(memory, IN_GROUP);
}

static void given_back(void)
{
	size_t before = group_charged();

	CHECK_CHILD(in_child(donate_shared, NULL));
	CHECK(group_charged() <= before + SLACK, "%zu KB charged, %zu before",
	      group_charged() >> 10, before >> 10);
}

/* Touches more than the group may have, which ends it. */
static void too_much(void *unused)
{
	char *memory;

	(void)unused;
	group_enter();
	memory = move_alloc(32 * MB / PAGE);
	memset(memory, 1, 32 * MB);
}

static void grouped(void *unused)
{
	int status;

	(void)unused;
	if (geteuid()) {
		printf("memory cgroup: not tried, not root\n");
		return;
	}
	file_write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	if (mkdir(GROUP, 0755) || access(GROUP "/memory.current", F_OK)) {
		printf("memory cgroup: not tried, there is no memory controller\n");
		rmdir(GROUP);
		return;
	}
	charged();
	given_back();
	MUST(file_write(GROUP "/memory.max", "8388608"));
	status = in_child(too_much, NULL);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x",
	      (unsigned int)status);
	CHECK(!rmdir(GROUP) || errno == EBUSY, "%s", strerror(errno));
}

int main(void)
{
	close(raw_open());
	CHECK_CHILD(in_child(told, NULL));
	CHECK_CHILD(in_child(only_own, NULL));
	CHECK_CHILD(in_child(pieces, NULL));
	CHECK_CHILD(in_child(bounded, NULL));
	CHECK_CHILD(in_child(grouped, NULL));
	return check_end();
}
