// SPDX-License-Identifier: MIT
/* move_random_huge.c - move_random's steps with 2 MB at once. */
#include "move_random.h"

#define HUGE	     (2UL << 20)
#define HUGE_ARENAS  2
#define HUGE_COUNT   2UL /* times 2 MB in each */
#define HUGE_RENEWAL 8	 /* steps of these until an arena is renewed */
#define HUGE_LINE    512UL
#define HUGE_LINES   (HUGE / HUGE_LINE) /* and stamps of 2 MB */
#define PAGE_STAMPS  (PAGE / HUGE_LINE)

static char *huge[HUGE_ARENAS];
static uint64_t huge_model[HUGE_ARENAS][HUGE_COUNT * HUGE_LINES], huge_sent[HUGE_LINES];
struct huge_counts huge_counts;

/* Writes to some pages of 2 MB, of which there are many. */
static void huge_write(int a, size_t which)
{
	for (size_t k = any(6); k > 0; k--) {
		size_t i = which * HUGE_LINES + any(HUGE_LINES);

		*stamp_at(huge[a], i, HUGE_LINE) = huge_model[a][i] = ++stamps;
	}
}

static void huge_compare(long step, int a, size_t which)
{
	char *memory = huge[a] + which * HUGE;
	long i = stamps_differ(memory, huge_model[a] + which * HUGE_LINES, HUGE_LINES, HUGE_LINE);
	size_t page = any(HUGE / PAGE);

	CHECK(i < 0, "step %ld: arena %d of 2 MB, page %ld", step, a, i / (long)PAGE_STAMPS);
	i = page_dirt(memory + page * PAGE, HUGE_LINE);
	CHECK(i < 0, "step %ld: arena %d of 2 MB, page %zu, byte %ld", step, a, page, i);
}

static int huge_export(char *memory, enum cosy_how how)
{
	int fd;

	LASTING(fd, cosy_export(memory, HUGE, how));
	MUST(fd >= 0);
	return fd;
}

static void huge_import(int fd, char *memory, int flags)
{
	ssize_t came;

	LASTING(came, cosy_import(fd, memory, HUGE, flags));
	MUST(came == (ssize_t)HUGE);
}

/* Sends 2 MB by a parcel, whole, or to no multiple of 2 MB, and writes to both at once. */
static void huge_parcel(long step, int a, size_t from_which, int b, size_t to_which)
{
	enum cosy_how how = any(2) ? COSY_COPY : COSY_DONATE_ZERO;
	uint64_t *have = huge_model[a] + from_which * HUGE_LINES;
	size_t page = !to_which && any(12) == 0 ? any(HUGE / PAGE) : 0;
	size_t at = to_which * HUGE + page * PAGE;
	int fd = huge_export(huge[a] + from_which * HUGE, how);

	memcpy(huge_sent, have, sizeof(huge_sent));
	if (how == COSY_DONATE_ZERO)
		memset(have, 0, sizeof(huge_sent));
	/* Written while others have it, it is no longer one page. */
	if (any(how == COSY_COPY ? 8 : 2) == 0)
		huge_write(a, from_which);
	if (any(8)) {
		huge_import(fd, huge[b] + at, any(2) ? 0 : COSY_WILL_WRITE);
		memcpy(huge_model[b] + at / HUGE_LINE, huge_sent, sizeof(huge_sent));
	}
	if (any(4) == 0)
		huge_write(b, to_which);
	huge_compare(step, b, to_which);
	/* What is donated are zeros again, which cost more than all else once they are touched. */
	if (how == COSY_COPY || any(4) == 0)
		huge_compare(step, a, from_which);
	close(fd);
}

/* Lends a part by the pipe, and takes it over into 2 MB. */
static void huge_message(int a, size_t from_which, int b, size_t to_which)
{
	size_t pages = 2 + any(MAX_PAGES - 1), size = pages * PAGE;
	size_t page = from_which * (HUGE / PAGE) + any(HUGE / PAGE - pages);
	size_t there = to_which * (HUGE / PAGE) + any(HUGE / PAGE - pages);
	ssize_t now;

	memcpy(huge_sent, huge_model[a] + page * PAGE_STAMPS,
	       pages * PAGE_STAMPS * sizeof(*huge_sent));
	for (size_t done = 0; done < size; done += (size_t)now) {
		LASTING(now, cosy_loan(to, huge[a] + page * PAGE + done, size - done, 0));
		MUST(now > 0 && (lacking || (size_t)now == size));
	}
	*stamp_at(huge[a], page, PAGE) = huge_model[a][page * PAGE_STAMPS] = ++stamps;
	for (size_t done = 0; done < size; done += (size_t)now) {
		LASTING(now, cosy_transfer(from, huge[b] + there * PAGE + done, size - done, 0));
		MUST(now > 0);
	}
	memcpy(huge_model[b] + there * PAGE_STAMPS, huge_sent,
	       pages * PAGE_STAMPS * sizeof(*huge_sent));
}

/* Checks that what the thread writes meanwhile to 2 MB does not show once they are sent. */
static void huge_race(long step, int b, size_t which)
{
	enum cosy_how how = any(2) ? COSY_COPY : COSY_DONATE_ZERO;
	int fd = huge_export(huge_racing, how);

	races++;
	huge_import(fd, huge[b] + which * HUGE, 0);
	for (size_t i = which * HUGE_LINES; i < (which + 1) * HUGE_LINES; i++)
		huge_model[b][i] = *stamp_at(huge[b], i, HUGE_LINE);
	sched_yield();
	huge_compare(step, b, which);
	close(fd);
	if (how != COSY_COPY)
		return;
	/* Written while others had it, it is no longer one page. */
	race_end();
	cosy_move_free(huge_racing, HUGE);
	lack_end();
	huge_racing = move_alloc(HUGE / PAGE);
	race_begin();
}

static void huge_child(long step)
{
	int status;
	pid_t pid;

	pid = child_start();
	if (!pid) {
		for (int a = 0; a < HUGE_ARENAS; a++) {
			huge_compare(step, a, 0);
			huge_write(a, 1);
			huge_compare(step, a, 1);
		}
		_exit(check_end());
	}
	huge_write(0, any(HUGE_COUNT));
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "step %ld: the child ended with %#x", step, status);
	forks++;
}

/* Takes a right to a part away for a time, or moves 2 MB by no multiple of 2 MB and back. */
static void huge_remap(int a, size_t which)
{
	const uint64_t *have = huge_model[a] + which * HUGE_LINES;
	char *at = huge[a] + which * HUGE, *away;

	if (any(2)) {
		MUST(!mprotect(at + PAGE, HUGE / 2, PROT_READ));
		CHECK(*stamp_at(at, 1, PAGE) == have[PAGE_STAMPS], "a page that is read-only");
		MUST(!mprotect(at + PAGE, HUGE / 2, PROT_READ | PROT_WRITE));
		return;
	}
	away = mmap(NULL, 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(away != MAP_FAILED);
	if (mremap(at, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, away + PAGE) == away + PAGE) {
		CHECK(*stamp_at(away, 2, PAGE) == have[PAGE_STAMPS], "a page that moved");
		*stamp_at(away, 1, PAGE) = huge_model[a][which * HUGE_LINES] = ++stamps;
		MUST(mremap(away + PAGE, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
	}
	munmap(away, 2 * HUGE);
}

static void huge_renew(int a)
{
	cosy_move_free(huge[a], HUGE_COUNT * HUGE);
	huge[a] = move_alloc(HUGE_COUNT * HUGE / PAGE);
	memset(huge_model[a], 0, sizeof(huge_model[a]));
}

/* Counts how often there were 2 MB that are one page. */
static void huge_look(int fd, void *unused)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	(void)unused;
	if (ioctl(fd, COSY_IOC_MOVING, &moving))
		return;
	huge_counts.looks++;
	huge_counts.seen += moving.huge;
}

static void huge_act(long step)
{
	int a = (int)any(HUGE_ARENAS), b = (int)any(HUGE_ARENAS);
	size_t x = any(HUGE_COUNT), y = any(HUGE_COUNT);

	if (raced && any(4)) {
		huge_race(step, b, y);
		return;
	}
	switch (any(9)) {
	case 0:
		huge_write(a, x);
		break;
	case 1:
		huge_compare(step, a, x);
		break;
	case 2:
		if (any(4) == 0)
			huge_message(a, x, b, y);
		break;
	case 3:
		if (any(16) == 0)
			huge_child(step);
		break;
	case 4:
		if (any(8) == 0)
			huge_remap(a, x);
		break;
	case 5:
		MUST(!cosy_ready(huge[a] + x * HUGE, HUGE, any(2) ? COSY_WILL_WRITE : 0) ||
		     lacked());
		break;
	default:
		huge_parcel(step, a, x, b, y);
	}
}

void huge_step(long step)
{
	lack_begin();
	huge_act(step);
	lack_end();
	if (++huge_counts.steps % HUGE_RENEWAL == 0)
		huge_renew((int)any(HUGE_ARENAS));
	if (any(256) == 0)
		each_context(huge_look, NULL);
}

void huge_new(void)
{
	for (int a = 0; a < HUGE_ARENAS; a++)
		huge[a] = move_alloc(HUGE_COUNT * HUGE / PAGE);
	huge_racing = move_alloc(HUGE / PAGE);
}
