/* SPDX-License-Identifier: MIT */
/*
 * Makes random steps with memory that moves, against a model: three arenas and what their bytes
 * have to be, lent, given, taken over and copied by way of a pipe or a socket, shared, copied and
 * donated by way of parcels and ports, written at once, flushed, moved about, forked, with children killed at
 * any moment and a thread that writes all the time to a fourth.
 *
 *	move_random [STEPS [SEED]]
 *
 * Without arguments it makes so few steps that it is quick; `make move-long` takes a million.
 */
#include "move.h"
#include <pthread.h>
#include <sys/socket.h>

#define ARENAS	  3
#define PAGES	  24UL
#define SPLIT	  2   /* the arena that mprotect splits */
#define RENEWAL	  256 /* steps until the next of the arenas is renewed */
#define MAX_PAGES 8UL /* pages in a message, at least two */

static uint64_t state;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static char *arena[ARENAS], *racing;
static char model[ARENAS][PAGES * PAGE], sent[MAX_PAGES * PAGE], got[MAX_PAGES * PAGE];
/*
 * Places for arenas to move to, between two arenas: libcosy asks the kernel about no memory above
 * or below all that it has allocated.
 */
#define PLACES 16
static char *room;
static int from, to;	  /* ends of the pipe */
static int port[2];	  /* of a window like an arena; both do not block */
static int sockets[2][2]; /* AF_UNIX and TCP; [1] is written */
static long steps, forks, kills;

static void compare(long step, int a, size_t at, size_t count)
{
	for (size_t i = at; i < at + count; i++) {
		CHECK(arena[a][i] == model[a][i],
		      "step %ld: arena %d, page %zu, byte %zu: %d not %d", step, a, i / PAGE,
		      i % PAGE, arena[a][i], model[a][i]);
		if (arena[a][i] != model[a][i])
			return;
	}
}

static void write_some(int a, size_t at, size_t pages)
{
	for (size_t k = 0; k < pages; k++) {
		size_t i = at + k * PAGE + any(PAGE);

		if (any(2))
			arena[a][i] = model[a][i] = (char)any(256);
	}
}

/* Lends or gives some pages, writes them at once, and receives them in one way or another. */
static void message(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	int flags = any(3) ? 0 : COSY_GIVE;
	size_t size = pages * PAGE;

	memcpy(sent, model[a] + at, size);
	if (any(8) == 0)
		MUST(write(to, sent, size) == (ssize_t)size);
	else
		MUST(cosy_loan(to, arena[a] + at, size, flags) == (ssize_t)size);
	if (flags && memcmp(arena[a] + at, model[a] + at, size))
		memset(model[a] + at, 0, size);
	write_some(a, at, pages);
	if (any(4)) {
		transfer_all(from, arena[b] + there, size,
			     any(2)   ? 0
			     : any(2) ? COSY_POPULATE
				      : COSY_WILL_WRITE);
		memcpy(model[b] + there, sent, size);
		compare(step, b, there, size);
	} else {
		read_all(from, got, size);
		CHECK(!memcmp(got, sent, size), "step %ld: what was lent has changed", step);
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

	memcpy(sent, model[a] + at, size);
	fd = cosy_export(arena[a] + at, size, how);
	MUST(fd >= 0);
	/* What is gone would kill us. */
	if (how == COSY_DONATE)
		MUST(!cosy_flush(arena[a] + at, size));
	if (how != COSY_COPY)
		memset(model[a] + at, 0, size);
	compare(step, a, at, size);
	write_some(a, at, pages);
	switch (any(8)) {
	case 0:
		break;
	case 1:
		MUST(pread(fd, got, size, 0) == (ssize_t)size);
		CHECK(!memcmp(got, sent, size), "step %ld: a parcel that was read", step);
		break;
	default:
		MUST(cosy_import(fd, arena[b] + there, size, any(2) ? 0 : COSY_WILL_WRITE) ==
		     (ssize_t)size);
		memcpy(model[b] + there, sent, size);
		compare(step, b, there, size);
		if (how == COSY_COPY) {
			write_some(b, there, pages);
			MUST(cosy_import(fd, arena[a] + at, size, 0) == (ssize_t)size);
			memcpy(model[a] + at, sent, size);
			compare(step, a, at, size);
		}
	}
	write_some(b, there, pages);
	close(fd);
}

/* Takes the first message of the port, which is `size` bytes of `sent` for `there`, into an arena. */
static void take(long step, int b, size_t there, size_t size)
{
	size_t at = 1;
	ssize_t came =
		cosy_take(port[0], arena[b], PAGES * PAGE, &at, any(2) ? 0 : COSY_WILL_WRITE);

	CHECK(came == (ssize_t)size && at == there, "step %ld: %zd at %zu", step, came, at);
	memcpy(model[b] + there, sent, size);
	memset(model[b] + there + size, 0, -size % PAGE);
	compare(step, b, there, size + -size % PAGE);
}

/*
 * Passes some bytes by the port, and writes to where they were.  Another message to the same pages
 * has to wait, one to others goes, and comes after it.
 */
static void pass(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	enum cosy_how how = COSY_COPY + any(3);
	size_t size = pages * PAGE - (how == COSY_COPY && any(4) == 0 ? any(PAGE) : 0);
	size_t other = there >= PAGE ? 0 : PAGES * PAGE - PAGE;
	char last = model[a][other];

	memcpy(sent, model[a] + at, size);
	MUST(cosy_pass(port[1], there, arena[a] + at, size, how) == (ssize_t)size);
	/* What is gone would kill us. */
	if (how == COSY_DONATE)
		MUST(!cosy_flush(arena[a] + at, size));
	if (how != COSY_COPY)
		memset(model[a] + at, 0, size);
	compare(step, a, at, pages * PAGE);
	write_some(a, at, pages);
	last = model[a][other];
	if (any(4) == 0) {
		if (kernel_expected())
			CHECK(cosy_pass(port[1], there, arena[a], PAGE, COSY_COPY) == -1 &&
				      errno == EAGAIN,
			      "step %ld: %s", step, strerror(errno));
		MUST(cosy_pass(port[1], other, arena[a] + other, 1, COSY_COPY) == 1);
		take(step, b, there, size);
		sent[0] = last;
		take(step, b, other, 1);
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
	fd = cosy_export(arena[a] + at, size, COSY_SHARE);
	MUST(fd >= 0);
	MUST(cosy_import(fd, arena[b] + there, size, any(2) ? 0 : COSY_WILL_WRITE) ==
	     (ssize_t)size);
	write_some(a, at, pages);
	memcpy(model[b] + there, model[a] + at, size);
	compare(step, b, there, size);
	write_some(b, there, pages);
	memcpy(model[a] + at, model[b] + there, size);
	compare(step, a, at, size);
	memcpy(sent, model[a] + at, size);
	copy = cosy_export(arena[b] + there, size, any(2) ? COSY_COPY : COSY_DONATE_ZERO);
	MUST(copy >= 0);
	write_some(a, at, pages);
	/* A donation imported where it was, a copy too, ends the sharing. */
	MUST(cosy_import(copy, arena[b] + there, size, 0) == (ssize_t)size);
	memcpy(model[b] + there, sent, size);
	write_some(b, there, pages);
	compare(step, a, at, size);
	compare(step, b, there, size);
	close(copy);
	close(fd);
	MUST(cosy_loan(to, arena[a] + at, size, COSY_GIVE) == (ssize_t)size);
	memcpy(sent, model[a] + at, size);
	memset(model[a] + at, 0, size);
	compare(step, a, at, size);
	transfer_all(from, arena[a] + at, size, 0);
	memcpy(model[a] + at, sent, size);
	compare(step, a, at, size);
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

	memcpy(sent, model[a] + at, size);
	close(cosy_export(arena[a] + at, size, COSY_COPY));
	MUST(cosy_loan(ends[1], arena[a] + at, size, flags) == (ssize_t)size);
	if (flags)
		memset(model[a] + at, 0, size);
	compare(step, a, at, size);
	write_some(a, at, pages);
	if (any(2)) {
		read_all(ends[0], got, size);
		CHECK(!memcmp(got, sent, size), "step %ld: what a socket had has changed", step);
		return;
	}
	for (size_t done = 0; done < size;) {
		ssize_t now = splice(ends[0], NULL, to, NULL, size - done, 0);

		MUST(now > 0);
		if (!(((size_t)now | done) % PAGE)) {
			transfer_all(from, arena[b] + there + done, (size_t)now, 0);
		} else {
			read_all(from, got, (size_t)now);
			memcpy(arena[b] + there + done, got, (size_t)now);
		}
		done += (size_t)now;
	}
	memcpy(model[b] + there, sent, size);
	compare(step, b, there, size);
	write_some(b, there, pages);
}

/* Checks that bytes which a thread writes meanwhile do not show once the message is there. */
static void race(long step, int b, size_t there, size_t pages)
{
	size_t size = pages * PAGE;

	MUST(cosy_loan(to, racing, size, any(4) ? 0 : COSY_GIVE) == (ssize_t)size);
	transfer_all(from, arena[b] + there, size, any(2) ? 0 : COSY_POPULATE);
	memcpy(model[b] + there, arena[b] + there, size);
	sched_yield();
	compare(step, b, there, size);
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
			compare(step, a, 0, PAGES * PAGE);
		if (killed)
			MUST(write(ready[1], &c, 1) == 1);
		do {
			for (int k = 0; k < 6; k++) {
				int a = (int)any(ARENAS);

				write_some(a, 0, PAGES);
				compare(step, a, 0, PAGES * PAGE);
				cosy_flush(arena[a] + 2 * PAGE, 2 * PAGE);
				memset(model[a] + 2 * PAGE, 0, 2 * PAGE);
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
		CHECK(arena[a][i * PAGE] == model[a][i * PAGE], "page %zu, read-only", i);
	MUST(!mprotect(arena[a], PAGES * PAGE, PROT_READ | PROT_WRITE));
}

/*
 * Frees an arena and goes on in a new one: pages that a memfd has shared are no arena's any more.
 */
static void arena_renew(int a)
{
	char *old = arena[a];

	arena[a] = move_alloc(PAGES);
	memcpy(arena[a], old, PAGES * PAGE);
	cosy_move_free(old, PAGES * PAGE);
	if (old >= room && old < room + PLACES * PAGES * PAGE)
		place_keep(old);
}

/* --- 2 MB as one ------------------------------------------------------------------------------- */

#define HUGE	     (2UL << 20)
#define HUGE_ARENAS  2
#define HUGE_COUNT   2UL /* times 2 MB in each */
#define HUGE_RENEWAL 64	 /* steps of these until an arena is renewed */

static char *huge[HUGE_ARENAS], *huge_model[HUGE_ARENAS];
static long huge_steps;

/* Writes to some pages of 2 MB, of which there are many. */
static void huge_write(int a, size_t which)
{
	for (size_t k = any(6); k > 0; k--) {
		size_t i = which * HUGE + any(HUGE);

		huge[a][i] = huge_model[a][i] = (char)any(256);
	}
}

/* Compares all of 2 MB now and then, else some pages. */
static void huge_compare(long step, int a, size_t which)
{
	bool all = any(8) == 0;

	for (size_t k = 0; k < (all ? HUGE / PAGE : 24); k++) {
		size_t i = which * HUGE + (all ? k : any(HUGE / PAGE)) * PAGE;

		CHECK(!memcmp(huge[a] + i, huge_model[a] + i, PAGE),
		      "step %ld: arena %d of 2 MB, page %zu", step, a, i / PAGE);
	}
}

/* Sends 2 MB by a parcel, whole, or to no multiple of 2 MB, and writes to both at once. */
static void huge_parcel(long step, int a, size_t from_which, int b, size_t to_which)
{
	enum cosy_how how = any(2) ? COSY_COPY : COSY_DONATE_ZERO;
	size_t from_at = from_which * HUGE, at = to_which * HUGE;
	int fd = cosy_export(huge[a] + from_at, HUGE, how);
	char *was = malloc(HUGE);

	MUST(fd >= 0 && was);
	if (!to_which && any(4) == 0)
		at += any(HUGE / PAGE) * PAGE;
	memcpy(was, huge_model[a] + from_at, HUGE);
	if (how == COSY_DONATE_ZERO)
		memset(huge_model[a] + from_at, 0, HUGE);
	huge_write(a, from_which);
	if (any(8)) {
		MUST(cosy_import(fd, huge[b] + at, HUGE, any(2) ? 0 : COSY_WILL_WRITE) ==
		     (ssize_t)HUGE);
		memcpy(huge_model[b] + at, was, HUGE);
	}
	if (any(2))
		huge_write(b, to_which);
	huge_compare(step, b, to_which);
	huge_compare(step, a, from_which);
	close(fd);
	free(was);
}

/* Lends a part by the pipe, and takes it over into 2 MB. */
static void huge_message(int a, size_t from_which, int b, size_t to_which)
{
	size_t pages = 2 + any(MAX_PAGES - 1), size = pages * PAGE;
	size_t at = from_which * HUGE + any(HUGE / PAGE - pages) * PAGE,
	       there = to_which * HUGE + any(HUGE / PAGE - pages) * PAGE;

	memcpy(sent, huge_model[a] + at, size);
	MUST(cosy_loan(to, huge[a] + at, size, 0) == (ssize_t)size);
	huge[a][at] = huge_model[a][at] = (char)any(256);
	transfer_all(from, huge[b] + there, size, 0);
	memcpy(huge_model[b] + there, sent, size);
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
	char *at = huge[a] + which * HUGE, *away;

	if (any(2)) {
		MUST(!mprotect(at + PAGE, HUGE / 2, PROT_READ));
		CHECK(at[PAGE] == huge_model[a][which * HUGE + PAGE], "a page that is read-only");
		MUST(!mprotect(at + PAGE, HUGE / 2, PROT_READ | PROT_WRITE));
		return;
	}
	away = mmap(NULL, 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(away != MAP_FAILED);
	if (mremap(at, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, away + PAGE) == away + PAGE) {
		CHECK(away[2 * PAGE] == huge_model[a][which * HUGE + PAGE], "a page that moved");
		away[PAGE] = huge_model[a][which * HUGE] = (char)any(256);
		MUST(mremap(away + PAGE, HUGE, HUGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
	}
	munmap(away, 2 * HUGE);
}

static void huge_renew(int a)
{
	cosy_move_free(huge[a], HUGE_COUNT * HUGE);
	huge[a] = move_alloc(HUGE_COUNT * HUGE / PAGE);
	memset(huge_model[a], 0, HUGE_COUNT * HUGE);
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
		huge_message(a, x, b, y);
		break;
	case 3:
		if (any(4) == 0)
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
		huge_parcel(step, a, x, b, y);
	}
	if (++huge_steps % HUGE_RENEWAL == 0)
		huge_renew((int)any(HUGE_ARENAS));
}

static void step_once(long step)
{
	int a = (int)any(ARENAS), b = (int)any(ARENAS);
	size_t pages = 2 + any(MAX_PAGES - 1), at = any(PAGES - pages + 1) * PAGE,
	       there = any(PAGES - pages + 1) * PAGE;

	switch (any(20)) {
	case 0:
	case 1:
		write_some(a, 0, PAGES);
		break;
	case 2:
		compare(step, a, at, pages * PAGE);
		break;
	case 3:
		race(step, b, there, pages);
		break;
	case 4:
		MUST(!cosy_ready(arena[a] + at, pages * PAGE, any(2) ? COSY_WILL_WRITE : 0));
		break;
	case 5:
		if (any(4) == 0) {
			MUST(!cosy_flush(arena[a] + at, pages * PAGE));
			memset(model[a] + at, 0, pages * PAGE);
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
	case 19:
		if (any(4) == 0)
			huge_step(step);
		break;
	case 12:
		share(step, a, at, b, there, pages);
		break;
	default:
		message(step, a, at, b, there, pages);
	}
	if (step % RENEWAL == RENEWAL - 1)
		arena_renew((int)(step / RENEWAL % ARENAS));
	if (step % 256 == 255)
		for (a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES * PAGE);
}

static volatile bool stop;

static void *writes(void *unused)
{
	(void)unused;
	for (uint64_t k = 1; !stop; k++) {
		for (size_t i = 0; i < MAX_PAGES; i++)
			*(volatile uint64_t *)(racing + i * PAGE + k % 512 * 8) = k;
		if (k % 64 == 0)
			sched_yield();
	}
	return NULL;
}

static void sockets_new(void)
{
	struct pair tcp = tcp_new();

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[0]));
	sockets[1][0] = tcp.from;
	sockets[1][1] = tcp.to;
}

int main(int argc, char **argv)
{
	bool checked = move_parameter("check_moved", "Y");
	pthread_t thread;
	int fds[2];

	steps = argc > 1 ? atol(argv[1]) : 1500;
	state = (argc > 2 ? strtoull(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15u | 1;
	MUST(!pipe(fds));
	sockets_new();
	from = fds[0];
	to = fds[1];
	MUST(!cosy_port(PAGES * PAGE, port));
	for (int i = 0; i < 2; i++)
		MUST(!fcntl(port[i], F_SETFL, fcntl(port[i], F_GETFL) | O_NONBLOCK));
	racing = move_alloc(MAX_PAGES);
	room = mmap(NULL, PLACES * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(room != MAP_FAILED);
	for (int a = 0; a < ARENAS; a++)
		arena[a] = move_alloc(PAGES);
	for (int a = 0; a < HUGE_ARENAS; a++) {
		huge[a] = move_alloc(HUGE_COUNT * HUGE / PAGE);
		huge_model[a] = calloc(HUGE_COUNT, HUGE);
		MUST(huge_model[a]);
	}
	MUST(!pthread_create(&thread, NULL, writes, NULL));
	for (long step = 0; step < steps && check_failures < 10; step++)
		step_once(step);
	stop = true;
	MUST(!pthread_join(thread, NULL));
	printf("%ld steps, %ld forks, %ld killed, %d failures; %llu pages lent, %llu transferred, "
	       "%llu imported\n",
	       steps, forks, kills, check_failures, (unsigned long long)counts().loaned,
	       (unsigned long long)counts().transferred, (unsigned long long)counts().imported);
	if (moves())
		CHECK(counts().loaned > (uint64_t)steps && counts().transferred > (uint64_t)steps &&
			      counts().imported > (uint64_t)steps / 4,
		      "little was moved");
	if (checked)
		move_parameter("check_moved", "N");
	return check_end();
}
