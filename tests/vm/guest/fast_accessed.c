// SPDX-License-Identifier: MIT
/*
 * Times of access after reads by a region are those after plain reads.  Where the kernel has
 * multigrain timestamps, a change after its time was asked for is finer than the clock's tick; a
 * read within the same tick then sets a time of access that is not before it.
 */
#include "check.h"
#include "guards.h"

enum { TURNS = 100, MAX_TURNS = 5000, READS = 3, MAX_WAIT = 100000000 };

static const char name[] = "file";

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static bool is_equal(const struct timespec *a, const struct timespec *b)
{
	return !is_before(a, b) && !is_before(b, a);
}

static struct timespec tick_now(void)
{
	struct timespec now;

	MUST(!clock_gettime(CLOCK_REALTIME_COARSE, &now));
	return now;
}

/* Waits until the clock's next tick begins. */
static void tick_wait(void)
{
	const struct timespec then = tick_now();

	for (long i = 0; i < MAX_WAIT; i++) {
		const struct timespec now = tick_now();

		if (!is_equal(&now, &then))
			return;
	}
	MUST(!"the clock stands");
}

static long read_plainly(int fd, char *bytes)
{
	long sum = 0;

	for (int i = 0; i < READS; i++)
		sum += pread(fd, bytes, 8, 0);
	return sum;
}

static long read_in_region(int fd, char *bytes)
{
	long sum = 0;

	COSY_START;
	for (int i = 0; i < READS; i++)
		sum += pread(fd, bytes, 8, 0);
	COSY_END;
	return sum;
}

/* Counts of turns. Those in which the clock ticked show nothing, and are not counted. */
struct seen {
	int turns, stale; /* the time of access is before that of modification */
	int fine;	  /* the time of modification is no tick's */
	int changed;	  /* the time of access is that of the last change */
};

/*
 * Reads when a tick has begun, so that the time of access is the tick's; queries the times; changes
 * the file, and reads again within the tick.
 */
static struct seen turn_all(int fd, char *bytes, long (*reads)(int fd, char *bytes))
{
	struct seen seen = { 0 };

	for (int i = 0; i < MAX_TURNS && seen.turns < TURNS; i++) {
		struct timespec tick, now;
		struct stat st;

		tick_wait();
		tick = tick_now();
		MUST(pwrite(fd, "x", 1, 0) == 1 && reads(fd, bytes) == READS * 8);
		MUST(!fstat(fd, &st) && pwrite(fd, "y", 1, 0) == 1);
		MUST(reads(fd, bytes) == READS * 8 && !fstat(fd, &st));
		now = tick_now();
		if (!is_equal(&tick, &now))
			continue;
		seen.turns++;
		seen.stale += is_before(&st.st_atim, &st.st_mtim);
		seen.fine += !is_equal(&st.st_mtim, &tick);
		seen.changed += is_equal(&st.st_atim, &st.st_mtim);
	}
	return seen;
}

/* --- Reads that find nothing ---------------------------------------------------------------- */

static long read_once(int fd, char *bytes, off_t at)
{
	return pread(fd, bytes, 8, at);
}

static long read_once_in_region(int fd, char *bytes, off_t at)
{
	long ret;

	COSY_START;
	ret = pread(fd, bytes, 8, at);
	COSY_END;
	return ret;
}

/* Returns whether a read sets a time of access that is long ago. */
static bool sets_time(int fd, char *bytes, off_t at, long (*reads)(int fd, char *bytes, off_t at))
{
	const struct timespec ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
	struct stat st;

	MUST(!futimens(fd, ago));
	CHECK(!reads(fd, bytes, at), "bytes at %lld", (long long)at);
	MUST(!fstat(fd, &st));
	return st.st_atim.tv_sec != 1000;
}

/* At the end of file, and beyond the last byte that a file system could have. */
static void read_nothing(int fd, char *bytes)
{
	static const off_t places[] = { 10, 4096, 1ll << 40, 1ll << 50, 1ll << 62 };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		bool plain = sets_time(fd, bytes, places[i], read_once);
		bool region = sets_time(fd, bytes, places[i], read_once_in_region);

		CHECK(plain == region, "a read at %lld %s the time of access", (long long)places[i],
		      region ? "sets" : "does not set");
	}
}

int main(void)
{
	char *bytes = cosy_calloc(1, 64);
	struct cosy_stats then;
	struct seen plain, region;
	int fd;

	directory_enter();
	fd = open(name, O_RDWR | O_CREAT, 0644);
	MUST(fd >= 0 && write(fd, "some bytes", 10) == 10);
	plain = turn_all(fd, bytes, read_plainly);
	then = counts();
	region = turn_all(fd, bytes, read_in_region);
	printf("plain: of %d turns %d have finer changes, %d the same time of access, %d stale; "
	       "region: of %d %d, %d, %d\n",
	       plain.turns, plain.fine, plain.changed, plain.stale, region.turns, region.fine,
	       region.changed, region.stale);
	if (!plain.turns || !region.turns)
		SKIP("the clock ticks within every turn");
	/* The first read of a file may be an ordinary one. */
	CHECK_FAST(then, region.turns * 2 * READS - 1);
	CHECK(!plain.stale == !region.stale, "times of access are not those of plain reads");
	CHECK(!plain.fine == !region.fine, "changes have other times");
	CHECK((plain.changed == plain.turns) == (region.changed == region.turns),
	      "times of access are not those of changes");
	MUST(!ftruncate(fd, 10));
	read_nothing(fd, bytes);
	close(fd);
	unlink(name);
	cosy_free(bytes);
	directory_leave();
	return check_end();
}
