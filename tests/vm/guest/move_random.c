/* SPDX-License-Identifier: MIT */
/*
 * Makes random steps with memory that moves, against a model: arenas and what their bytes have to
 * be, lent, given, taken over and copied by way of a pipe or a socket, shared, copied and donated
 * by way of parcels and ports, written at once, flushed, moved about, forked, with children killed
 * at any moment and, for some of the steps, a thread that writes all the time.
 *
 *	move_random [STEPS [SEED [pages|huge|both|pinned]]]
 *
 * `pages` makes steps with pages of 4 KB, `huge` such with 2 MB at once, `both` mixes them.
 * `pinned` makes those with 4 KB in memory of which most may be pinned: pipes pin it, and it is
 * written and read by calls that do.
 * Without arguments it makes so few steps that it is quick; `make move-long` takes a million.
 *
 * All that is written is stamps (stamps.h): at the beginning of each cache line, or of each eighth
 * of a page of 2 MB.  To look at all of them costs a tenth of comparing all bytes; that the bytes
 * between them are zeros is looked at now and then.
 *
 * The thread does not write during all the steps: while it does, each removal of an entry waits for
 * its processor, in a virtual machine for milliseconds.
 */
#include "stamps.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define ARENAS	  3
#define PAGES	  24UL
#define SPLIT	  2   /* the arena that mprotect splits */
#define RENEWAL	  256 /* steps until the next of the arenas is renewed */
#define MAX_PAGES 8UL /* pages in a message, at least two */
#define RACE_EACH 512 /* steps, at whose beginning the thread writes */
#define RACE_LAST 8   /* for so many steps */

#define LINE  64UL
#define LINES (PAGE / LINE) /* and stamps of a page */

static char *arena[ARENAS], *racing;
static uint64_t model[ARENAS][PAGES * LINES], sent[MAX_PAGES * LINES];
static char got[MAX_PAGES * PAGE];
/*
 * Places for arenas to move to, between two arenas: libcosy asks the kernel about no memory above
 * or below all that it has allocated.
 */
#define PLACES 16
static char *room;
static int from, to;	  /* ends of the pipe */
static int port[2];	  /* of a window like an arena; both do not block */
static int sockets[2][2]; /* AF_UNIX and TCP; [1] is written */
static long steps, forks, kills, pins;
static bool with_pages, with_huge, with_pinned;
static int pinning[2]; /* a pipe; it does not block */

/* --- Pins ------------------------------------------------------------------------------------- */

/* Writes the last stamp by a pin of the page, if that can be had. */
static bool write_pinned(uint64_t *at)
{
	struct iovec local = { &stamps, sizeof(stamps) }, remote = { at, sizeof(stamps) };

	return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)sizeof(stamps);
}

static void compare_pinned(long step, int a, size_t at, size_t pages)
{
	static char bytes[MAX_PAGES * PAGE];
	struct iovec local = { bytes, pages * PAGE };
	struct iovec remote = { arena[a] + at * PAGE, pages * PAGE };
	long i;

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)(pages * PAGE))
		return;
	i = stamps_differ(bytes, model[a] + at * LINES, pages * LINES, LINE);
	CHECK(i < 0, "step %ld: arena %d, line %ld, by a pin", step, a, i);
}

/* Has a pipe pin some pages for a time. */
static void pin(int a, size_t at, size_t pages)
{
	struct iovec piece = { arena[a] + at * PAGE, pages * PAGE };
	static char drop[16 * PAGE];

	if (any(4) == 0)
		while (read(pinning[0], drop, sizeof(drop)) > 0)
			;
	pins += vmsplice(pinning[1], &piece, 1, SPLICE_F_NONBLOCK) > 0;
}

static char *arena_new(size_t pages)
{
	char *memory = with_pinned && any(4) ? cosy_move_alloc(pages * PAGE, COSY_MOVE_PINNABLE)
					     : move_alloc(pages);

	MUST(memory);
	return memory;
}

/* --- Stamps ----------------------------------------------------------------------------------- */

static void compare(long step, int a, size_t at, size_t pages)
{
	char *memory = arena[a] + at * PAGE;
	long i = stamps_differ(memory, model[a] + at * LINES, pages * LINES, LINE);
	size_t page = any(pages * 16);

	if (with_pinned && any(8) == 0 && pages <= MAX_PAGES)
		compare_pinned(step, a, at, pages);
	CHECK(i < 0, "step %ld: arena %d, page %zu, line %ld: %llu not %llu", step, a,
	      at + (size_t)i / LINES, i % (long)LINES,
	      (unsigned long long)*stamp_at(memory, (size_t)i, LINE),
	      (unsigned long long)model[a][at * LINES + (size_t)i]);
	if (page >= pages)
		return;
	i = page_dirt(memory + page * PAGE, LINE);
	CHECK(i < 0, "step %ld: arena %d, page %zu, byte %ld is not 0", step, a, at + page, i);
}

/* Compares what was read with what was sent. */
static void compare_got(long step, size_t pages, const char *how)
{
	long i = stamps_differ(got, sent, pages * LINES, LINE);

	CHECK(i < 0, "step %ld: line %ld of what was %s", step, i, how);
}

static void write_some(int a, size_t at, size_t pages)
{
	for (size_t k = at; k < at + pages; k++) {
		size_t i = k * LINES + any(LINES);

		if (any(2)) {
			model[a][i] = ++stamps;
			if (!with_pinned || any(4) || !write_pinned(stamp_at(arena[a], i, LINE)))
				*stamp_at(arena[a], i, LINE) = stamps;
		}
	}
}

/* Has the model follow: what was sent is there, or zeros are. */
static void model_sent(int b, size_t there, size_t pages)
{
	memcpy(model[b] + there * LINES, sent, pages * LINES * sizeof(*sent));
}

static void model_zeros(int a, size_t at, size_t pages)
{
	memset(model[a] + at * LINES, 0, pages * LINES * sizeof(*sent));
}

/* Remembers what is about to be sent. */
static void send_from(int a, size_t at, size_t pages)
{
	memcpy(sent, model[a] + at * LINES, pages * LINES * sizeof(*sent));
}

/* --- The thread ------------------------------------------------------------------------------- */

static sem_t starts;
static volatile bool stop, raced, writing;
static char *volatile huge_racing;
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

/* Has the thread write from now on, and waits until it does. */
static void race_begin(void)
{
	raced = true;
	sem_post(&starts);
	while (!writing)
		sched_yield();
}

/* Ends that, and waits until it has. */
static void race_end(void)
{
	raced = false;
	while (writing)
		sched_yield();
}

/* --- Pages of 4 KB ---------------------------------------------------------------------------- */

/* Lends or gives some pages, writes them at once, and receives them in one way or another. */
static void message(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	int flags = any(3) ? 0 : COSY_GIVE;
	size_t size = pages * PAGE;

	send_from(a, at, pages);
	if (any(8) == 0) {
		MUST(write(to, arena[a] + at * PAGE, size) == (ssize_t)size);
	} else {
		MUST(cosy_loan(to, arena[a] + at * PAGE, size, flags) == (ssize_t)size);
		if (flags)
			model_zeros(a, at, pages);
	}
	write_some(a, at, pages);
	if (any(4)) {
		transfer_all(from, arena[b] + there * PAGE, size,
			     any(2)   ? 0
			     : any(2) ? COSY_POPULATE
				      : COSY_WILL_WRITE);
		model_sent(b, there, pages);
		compare(step, b, there, pages);
	} else {
		read_all(from, got, size);
		compare_got(step, pages, "lent");
	}
	write_some(b, there, pages);
}

/*
 * Sends some pages by a parcel, writes to where they were, and imports it: into an arena, or by
 * pread(2), or nobody does.
 */
static void parcel(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	enum cosy_how how = COSY_COPY + any(3);
	size_t size = pages * PAGE;
	int fd;

	send_from(a, at, pages);
	fd = cosy_export(arena[a] + at * PAGE, size, how);
	MUST(fd >= 0);
	/* What is gone would kill us. */
	if (how == COSY_DONATE)
		MUST(!cosy_flush(arena[a] + at * PAGE, size));
	if (how != COSY_COPY)
		model_zeros(a, at, pages);
	compare(step, a, at, pages);
	write_some(a, at, pages);
	switch (any(8)) {
	case 0:
		break;
	case 1:
		MUST(pread(fd, got, size, 0) == (ssize_t)size);
		compare_got(step, pages, "a parcel's");
		break;
	default:
		MUST(cosy_import(fd, arena[b] + there * PAGE, size, any(2) ? 0 : COSY_WILL_WRITE) ==
		     (ssize_t)size);
		model_sent(b, there, pages);
		compare(step, b, there, pages);
		if (how == COSY_COPY) {
			write_some(b, there, pages);
			MUST(cosy_import(fd, arena[a] + at * PAGE, size, 0) == (ssize_t)size);
			model_sent(a, at, pages);
			compare(step, a, at, pages);
		}
	}
	write_some(b, there, pages);
	close(fd);
}

/*
 * Takes the first message of the port, which is `size` bytes of `sent` for page `there`, into an
 * arena.  No stamp is divided.
 */
static void take(long step, int b, size_t there, size_t size)
{
	size_t at = 1, pages = (size + PAGE - 1) / PAGE, lines = (size + LINE - 1) / LINE;
	ssize_t came =
		cosy_take(port[0], arena[b], PAGES * PAGE, &at, any(2) ? 0 : COSY_WILL_WRITE);

	CHECK(came == (ssize_t)size && at == there * PAGE, "step %ld: %zd at %zu", step, came, at);
	model_sent(b, there, pages);
	memset(model[b] + there * LINES + lines, 0, (pages * LINES - lines) * sizeof(**model));
	compare(step, b, there, pages);
}

/*
 * Passes some bytes by the port, and writes to where they were.  Another message to the same pages
 * has to wait, one to others goes, and comes after it.
 */
static void pass(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	enum cosy_how how = COSY_COPY + any(3);
	size_t size = pages * PAGE - (how == COSY_COPY && any(4) == 0 ? any(PAGE / 8) * 8 : 0);
	size_t other = there ? 0 : PAGES - 1;
	uint64_t last;

	send_from(a, at, pages);
	MUST(cosy_pass(port[1], there * PAGE, arena[a] + at * PAGE, size, how) == (ssize_t)size);
	/* What is gone would kill us. */
	if (how == COSY_DONATE)
		MUST(!cosy_flush(arena[a] + at * PAGE, size));
	if (how != COSY_COPY)
		model_zeros(a, at, pages);
	compare(step, a, at, pages);
	write_some(a, at, pages);
	last = model[a][other * LINES];
	if (any(4) == 0) {
		if (kernel_expected())
			CHECK(cosy_pass(port[1], there * PAGE, arena[a], PAGE, COSY_COPY) == -1 &&
				      errno == EAGAIN,
			      "step %ld: %s", step, strerror(errno));
		MUST(cosy_pass(port[1], other * PAGE, arena[a] + other * PAGE, 8, COSY_COPY) == 8);
		take(step, b, there, size);
		sent[0] = last;
		take(step, b, other, 8);
	} else {
		take(step, b, there, size);
	}
	write_some(b, there, pages);
}

/*
 * Shares some pages with another arena for a time, in which both write, lend and copy; then each
 * has its own again.
 */
static void share(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	size_t size = pages * PAGE;
	int fd, copy;

	/*
	 * What is in several mappings is shared by a memfd, and no arena's any more: seldom, so
	 * that some of it stays.
	 */
	if (a == b || ((a == SPLIT || b == SPLIT) && any(128)))
		return;
	fd = cosy_export(arena[a] + at * PAGE, size, COSY_SHARE);
	MUST(fd >= 0);
	MUST(cosy_import(fd, arena[b] + there * PAGE, size, any(2) ? 0 : COSY_WILL_WRITE) ==
	     (ssize_t)size);
	write_some(a, at, pages);
	send_from(a, at, pages);
	model_sent(b, there, pages);
	compare(step, b, there, pages);
	write_some(b, there, pages);
	send_from(b, there, pages);
	model_sent(a, at, pages);
	compare(step, a, at, pages);
	send_from(a, at, pages);
	copy = cosy_export(arena[b] + there * PAGE, size, any(2) ? COSY_COPY : COSY_DONATE_ZERO);
	MUST(copy >= 0);
	write_some(a, at, pages);
	/* A donation imported where it was, a copy too, ends the sharing. */
	MUST(cosy_import(copy, arena[b] + there * PAGE, size, 0) == (ssize_t)size);
	model_sent(b, there, pages);
	write_some(b, there, pages);
	compare(step, a, at, pages);
	compare(step, b, there, pages);
	close(copy);
	close(fd);
	MUST(cosy_loan(to, arena[a] + at * PAGE, size, COSY_GIVE) == (ssize_t)size);
	send_from(a, at, pages);
	model_zeros(a, at, pages);
	compare(step, a, at, pages);
	transfer_all(from, arena[a] + at * PAGE, size, 0);
	model_sent(a, at, pages);
	compare(step, a, at, pages);
}

/*
 * Lends some pages to a socket, which takes such as are frozen, and writes them at once.  They are
 * read, or come by a pipe.
 */
static void stream(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	const int *ends = sockets[any(2)];
	int flags = any(3) ? 0 : COSY_GIVE;
	size_t size = pages * PAGE;

	send_from(a, at, pages);
	close(cosy_export(arena[a] + at * PAGE, size, COSY_COPY));
	MUST(cosy_loan(ends[1], arena[a] + at * PAGE, size, flags) == (ssize_t)size);
	if (flags)
		model_zeros(a, at, pages);
	compare(step, a, at, pages);
	write_some(a, at, pages);
	if (any(2)) {
		read_all(ends[0], got, size);
		compare_got(step, pages, "a socket's");
		return;
	}
	for (size_t done = 0; done < size;) {
		ssize_t now = splice(ends[0], NULL, to, NULL, size - done, 0);

		MUST(now > 0);
		if (!(((size_t)now | done) % PAGE)) {
			transfer_all(from, arena[b] + there * PAGE + done, (size_t)now, 0);
		} else {
			read_all(from, got, (size_t)now);
			memcpy(arena[b] + there * PAGE + done, got, (size_t)now);
		}
		done += (size_t)now;
	}
	model_sent(b, there, pages);
	compare(step, b, there, pages);
	write_some(b, there, pages);
}

/* Checks that bytes which a thread writes meanwhile do not show once the message is there. */
static void race(long step, int b, size_t there, size_t pages)
{
	size_t size = pages * PAGE;

	MUST(cosy_loan(to, racing, size, any(4) ? 0 : COSY_GIVE) == (ssize_t)size);
	transfer_all(from, arena[b] + there * PAGE, size, any(2) ? 0 : COSY_POPULATE);
	for (size_t i = there * LINES; i < (there + pages) * LINES; i++)
		model[b][i] = *stamp_at(arena[b], i, LINE);
	sched_yield();
	compare(step, b, there, pages);
}

/* Checks that a child finds what its parent had, and writes and lends it. */
static void child(long step)
{
	bool killed = any(3) == 0;
	int status, ready[2];
	pid_t pid;
	char c = 0;

	MUST(!pipe(ready));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		check_failures = 0;
		close(ready[0]);
		for (int a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES);
		if (killed)
			MUST(write(ready[1], &c, 1) == 1);
		do {
			for (int k = 0; k < 6; k++) {
				int a = (int)any(ARENAS);

				write_some(a, 0, PAGES);
				compare(step, a, 0, PAGES);
				cosy_flush(arena[a] + 2 * PAGE, 2 * PAGE);
				model_zeros(a, 2, 2);
			}
		} while (killed);
		_exit(check_end());
	}
	close(ready[1]);
	if (killed) {
		MUST(read(ready[0], &c, 1) == 1);
		kill(pid, SIGKILL);
		kills++;
	}
	close(ready[0]);
	write_some((int)any(ARENAS), 0, PAGES);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(killed || !status, "step %ld: the child ended with %#x", step, status);
	forks++;
}

/* Keeps a place in `room` from others. */
static void place_keep(char *at)
{
	MUST(mmap(at, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
	     at);
}

/* Moves the mapping to another place; in two mappings since an mprotect it cannot move as one. */
static void move_mapping(int a)
{
	char *there = room + any(PLACES) * PAGES * PAGE, *old = arena[a];

	for (int b = 0; b < ARENAS; b++)
		if (arena[b] == there)
			return;
	if (mremap(old, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, there) ==
	    MAP_FAILED) {
		place_keep(there);
		return;
	}
	arena[a] = there;
	if (old >= room && old < room + PLACES * PAGES * PAGE)
		place_keep(old);
}

/* Moves the mapping, or takes a right away and gives it back. */
static void remap(int a)
{
	if (any(2)) {
		move_mapping(a);
		return;
	}
	MUST(!mprotect(arena[a], a == SPLIT ? PAGES * PAGE / 2 : PAGES * PAGE, PROT_READ));
	for (size_t i = 0; i < PAGES; i++)
		CHECK(*stamp_at(arena[a], i, PAGE) == model[a][i * LINES], "page %zu, read-only",
		      i);
	MUST(!mprotect(arena[a], PAGES * PAGE, PROT_READ | PROT_WRITE));
}

/*
 * Frees an arena and goes on in a new one: pages that a memfd has shared are no arena's any more.
 */
static void arena_renew(int a)
{
	char *old = arena[a];

	arena[a] = arena_new(PAGES);
	memcpy(arena[a], old, PAGES * PAGE);
	cosy_move_free(old, PAGES * PAGE);
	if (old >= room && old < room + PLACES * PAGES * PAGE)
		place_keep(old);
}

/* --- 2 MB as one ------------------------------------------------------------------------------ */

#define HUGE	     (2UL << 20)
#define HUGE_ARENAS  2
#define HUGE_COUNT   2UL /* times 2 MB in each */
#define HUGE_RENEWAL 8	 /* steps of these until an arena is renewed */
#define HUGE_LINE    512UL
#define HUGE_LINES   (HUGE / HUGE_LINE) /* and stamps of 2 MB */
#define PAGE_STAMPS  (PAGE / HUGE_LINE)

static char *huge[HUGE_ARENAS];
static uint64_t huge_model[HUGE_ARENAS][HUGE_COUNT * HUGE_LINES], huge_sent[HUGE_LINES];
static long huge_steps, huge_seen, huge_looks;

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

/* Sends 2 MB by a parcel, whole, or to no multiple of 2 MB, and writes to both at once. */
static void huge_parcel(long step, int a, size_t from_which, int b, size_t to_which)
{
	enum cosy_how how = any(2) ? COSY_COPY : COSY_DONATE_ZERO;
	uint64_t *have = huge_model[a] + from_which * HUGE_LINES;
	size_t page = !to_which && any(4) == 0 ? any(HUGE / PAGE) : 0;
	size_t at = to_which * HUGE + page * PAGE;
	int fd = cosy_export(huge[a] + from_which * HUGE, HUGE, how);

	MUST(fd >= 0);
	memcpy(huge_sent, have, sizeof(huge_sent));
	if (how == COSY_DONATE_ZERO)
		memset(have, 0, sizeof(huge_sent));
	if (any(2))
		huge_write(a, from_which);
	if (any(8)) {
		MUST(cosy_import(fd, huge[b] + at, HUGE, any(2) ? 0 : COSY_WILL_WRITE) ==
		     (ssize_t)HUGE);
		memcpy(huge_model[b] + at / HUGE_LINE, huge_sent, sizeof(huge_sent));
	}
	if (any(4) == 0)
		huge_write(b, to_which);
	huge_compare(step, b, to_which);
	huge_compare(step, a, from_which);
	close(fd);
}

/* Lends a part by the pipe, and takes it over into 2 MB. */
static void huge_message(int a, size_t from_which, int b, size_t to_which)
{
	size_t pages = 2 + any(MAX_PAGES - 1), size = pages * PAGE;
	size_t page = from_which * (HUGE / PAGE) + any(HUGE / PAGE - pages);
	size_t there = to_which * (HUGE / PAGE) + any(HUGE / PAGE - pages);

	memcpy(huge_sent, huge_model[a] + page * PAGE_STAMPS, pages * PAGE_STAMPS * sizeof(*sent));
	MUST(cosy_loan(to, huge[a] + page * PAGE, size, 0) == (ssize_t)size);
	*stamp_at(huge[a], page, PAGE) = huge_model[a][page * PAGE_STAMPS] = ++stamps;
	transfer_all(from, huge[b] + there * PAGE, size, 0);
	memcpy(huge_model[b] + there * PAGE_STAMPS, huge_sent, pages * PAGE_STAMPS * sizeof(*sent));
}

/* Checks that what the thread writes meanwhile to 2 MB does not show once they are sent. */
static void huge_race(long step, int b, size_t which)
{
	enum cosy_how how = any(2) ? COSY_COPY : COSY_DONATE_ZERO;
	int fd = cosy_export(huge_racing, HUGE, how);

	MUST(fd >= 0);
	MUST(cosy_import(fd, huge[b] + which * HUGE, HUGE, 0) == (ssize_t)HUGE);
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
	huge_racing = move_alloc(HUGE / PAGE);
	race_begin();
}

static void huge_child(long step)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		check_failures = 0;
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
	huge_looks++;
	huge_seen += moving.huge > 0;
}

static void huge_step(long step)
{
	int a = (int)any(HUGE_ARENAS), b = (int)any(HUGE_ARENAS);
	size_t x = any(HUGE_COUNT), y = any(HUGE_COUNT);

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
		MUST(!cosy_ready(huge[a] + x * HUGE, HUGE, any(2) ? COSY_WILL_WRITE : 0));
		break;
	default:
		if (raced)
			huge_race(step, b, y);
		else
			huge_parcel(step, a, x, b, y);
	}
	if (++huge_steps % HUGE_RENEWAL == 0)
		huge_renew((int)any(HUGE_ARENAS));
	if (any(16) == 0)
		each_context(huge_look, NULL);
}

/* --- Steps ------------------------------------------------------------------------------------ */

#define HUGE_SHARE 64 /* one step of so many is with 2 MB when both kinds are made */

static void pages_step(long step)
{
	int a = (int)any(ARENAS), b = (int)any(ARENAS);
	size_t pages = 2 + any(MAX_PAGES - 1), at = any(PAGES - pages + 1),
	       there = any(PAGES - pages + 1);

	if (with_pinned && any(8) == 0)
		pin(a, at, pages);
	switch (any(20)) {
	case 0:
	case 1:
		write_some(a, 0, PAGES);
		break;
	case 2:
		compare(step, a, at, pages);
		break;
	case 4:
		MUST(!cosy_ready(arena[a] + at * PAGE, pages * PAGE, any(2) ? COSY_WILL_WRITE : 0));
		break;
	case 5:
		if (any(4) == 0) {
			MUST(!cosy_flush(arena[a] + at * PAGE, pages * PAGE));
			model_zeros(a, at, pages);
		}
		break;
	case 6:
		if (any(16) == 0)
			remap(a);
		break;
	case 7:
		if (any(32) == 0)
			child(step);
		break;
	case 8:
	case 9:
		parcel(step, a, at, b, there, pages);
		break;
	case 10:
	case 11:
		stream(step, a, at, b, there, pages);
		break;
	case 13:
	case 14:
		pass(step, a, at, b, there, pages);
		break;
	case 12:
		share(step, a, at, b, there, pages);
		break;
	default:
		if (raced && any(2))
			race(step, b, there, pages);
		else
			message(step, a, at, b, there, pages);
	}
	if (step % RENEWAL == RENEWAL - 1)
		arena_renew((int)(step / RENEWAL % ARENAS));
	if (step % 256 == 255)
		for (a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES);
}

static void step_once(long step)
{
	if (with_pages && (!with_huge || any(HUGE_SHARE)))
		pages_step(step);
	else
		huge_step(step);
}

static void sockets_new(void)
{
	struct pair tcp = tcp_new();

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[0]));
	sockets[1][0] = tcp.from;
	sockets[1][1] = tcp.to;
}

static void memory_new(void)
{
	racing = arena_new(MAX_PAGES);
	room = mmap(NULL, PLACES * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(room != MAP_FAILED);
	for (int a = 0; a < ARENAS; a++)
		arena[a] = arena_new(PAGES);
	for (int a = 0; with_huge && a < HUGE_ARENAS; a++)
		huge[a] = move_alloc(HUGE_COUNT * HUGE / PAGE);
	if (with_huge)
		huge_racing = move_alloc(HUGE / PAGE);
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

int main(int argc, char **argv)
{
	bool checked = move_check();
	const char *kind = argc > 3 ? argv[3] : "both";
	uint64_t pages_steps;
	int fds[2];

	steps = argc > 1 ? atol(argv[1]) : 6000;
	state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15u | 1;
	with_pages = !!strcmp(kind, "huge");
	with_pinned = !strcmp(kind, "pinned");
	with_huge = !!strcmp(kind, "pages") && !with_pinned;
	MUST(!pipe2(pinning, O_NONBLOCK | O_CLOEXEC));
	MUST(!pipe(fds));
	sockets_new();
	from = fds[0];
	to = fds[1];
	MUST(!cosy_port(PAGES * PAGE, port));
	for (int i = 0; i < 2; i++)
		MUST(!fcntl(port[i], F_SETFL, fcntl(port[i], F_GETFL) | O_NONBLOCK));
	memory_new();
	steps_make();
	pages_steps = (uint64_t)(steps - huge_steps);
	printf("%llu steps with 4 KB, %ld with 2 MB, one page in %ld of %ld looks; %ld raced, "
	       "%ld forks, %ld killed, %ld pinned, %d failures; ",
	       (unsigned long long)pages_steps, huge_steps, huge_seen, huge_looks, raced_steps,
	       forks, kills, pins, check_failures);
	printf("%llu pages lent, %llu transferred, %llu imported\n",
	       (unsigned long long)counts().loaned, (unsigned long long)counts().transferred,
	       (unsigned long long)counts().imported);
	/* A user's limit of locked memory has no room for more than a few parcels of 2 MB. */
	if (moves())
		CHECK(counts().loaned >= pages_steps && counts().transferred >= pages_steps &&
			      counts().imported >=
				      pages_steps / 4 + (geteuid() ? 0 : (uint64_t)huge_steps * 64),
		      "little was moved");
	if (checked)
		move_parameter("check_moved", "N");
	return check_end();
}
