// SPDX-License-Identifier: MIT
/* move_random_pages.c - move_random's steps with pages of 4 KB. */
#include "move_random.h"
#include <netinet/tcp.h>
#include <sys/uio.h>

#define ARENAS		3
#define PAGES		24UL
#define SPLIT		2   /* the arena that mprotect splits */
#define RENEWAL		256 /* steps until the next of the arenas is renewed */
#define LACKING_RENEWAL 32

static char *arena[ARENAS];
static uint64_t model[ARENAS][PAGES * LINES], sent[MAX_PAGES * LINES];
static char got[MAX_PAGES * PAGE];
/*
 * Places for arenas to move to, between two arenas: libcosy asks the kernel about no memory above
 * or below all that it has allocated.
 */
#define PLACES 16
static char *room;
static int port[2];	  /* of a window like an arena; both do not block */
static int sockets[2][2]; /* AF_UNIX and TCP; [1] is written */
static int pinning[2];	  /* a pipe; it does not block */
long pins;

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

/* --- Pages of 4 KB ---------------------------------------------------------------------------- */

/* Writes all of it, in as many calls as that takes. */
static void write_all(const char *memory, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t now;

		LASTING(now, write(to, memory + done, size - done));
		MUST(now > 0);
		done += (size_t)now;
	}
}

/* Lends or gives all of it likewise.  What is given is zeros, whole pages of each call. */
static void loan_all(int fd, int a, size_t at, size_t size, int flags)
{
	for (size_t done = 0; done < size;) {
		ssize_t now;

		LASTING(now, cosy_loan(fd, arena[a] + at * PAGE + done, size - done, flags));
		MUST(now > 0 && (lacking || (size_t)now == size));
		if (flags & COSY_GIVE && done % PAGE == 0)
			model_zeros(a, at + done / PAGE, (size_t)now / PAGE);
		done += (size_t)now;
	}
}

/* Takes all of it over. */
static void receive_all(int b, size_t there, size_t size, int flags)
{
	for (size_t done = 0; done < size;) {
		ssize_t now;

		LASTING(now,
			cosy_transfer(from, arena[b] + there * PAGE + done, size - done, flags));
		MUST(now > 0);
		done += (size_t)now;
	}
}

static int export_pages(int a, size_t at, size_t pages, enum cosy_how how)
{
	int fd;

	LASTING(fd, cosy_export(arena[a] + at * PAGE, pages * PAGE, how));
	MUST(fd >= 0);
	return fd;
}

static void import_pages(int fd, int b, size_t there, size_t pages, int flags)
{
	ssize_t came;

	LASTING(came, cosy_import(fd, arena[b] + there * PAGE, pages * PAGE, flags));
	MUST(came == (ssize_t)(pages * PAGE));
}

/* Lends or gives some pages, writes them at once, and receives them in one way or another. */
static void message(long step, int a, size_t at, int b, size_t there, size_t pages)
{
	int flags = any(3) ? 0 : COSY_GIVE;
	size_t size = pages * PAGE;

	send_from(a, at, pages);
	if (any(8) == 0) {
		write_all(arena[a] + at * PAGE, size);
	} else {
		loan_all(to, a, at, size, flags);
	}
	write_some(a, at, pages);
	if (any(4)) {
		receive_all(b, there, size, any(2) ? 0 : any(2) ? COSY_POPULATE : COSY_WILL_WRITE);
		model_sent(b, there, pages);
		compare(step, b, there, pages);
	} else {
		read_all(from, got, size);
		compare_got(step, pages, "lent");
	}
	write_some(b, there, pages);
}

/* Looks at pages that were exported or passed, and writes to where they were. */
static void sender_goes_on(long step, int a, size_t at, size_t pages, enum cosy_how how)
{
	/* What is gone would kill us. */
	if (how == COSY_DONATE)
		MUST(!cosy_flush(arena[a] + at * PAGE, pages * PAGE));
	if (how != COSY_COPY)
		model_zeros(a, at, pages);
	compare(step, a, at, pages);
	write_some(a, at, pages);
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
	fd = export_pages(a, at, pages, how);
	sender_goes_on(step, a, at, pages, how);
	switch (any(8)) {
	case 0:
		break;
	case 1:
		MUST(pread(fd, got, size, 0) == (ssize_t)size);
		compare_got(step, pages, "a parcel's");
		break;
	default:
		import_pages(fd, b, there, pages, any(2) ? 0 : COSY_WILL_WRITE);
		model_sent(b, there, pages);
		compare(step, b, there, pages);
		if (how == COSY_COPY) {
			write_some(b, there, pages);
			import_pages(fd, a, at, pages, 0);
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
	int flags = any(2) ? 0 : COSY_WILL_WRITE;
	ssize_t came;

	LASTING(came, cosy_take(port[0], arena[b], PAGES * PAGE, &at, flags));
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
	ssize_t passed;
	uint64_t last;

	send_from(a, at, pages);
	LASTING(passed, cosy_pass(port[1], there * PAGE, arena[a] + at * PAGE, size, how));
	MUST(passed == (ssize_t)size);
	sender_goes_on(step, a, at, pages, how);
	last = model[a][other * LINES];
	if (any(4) == 0) {
		if (kernel_expected())
			CHECK(cosy_pass(port[1], there * PAGE, arena[a], PAGE, COSY_COPY) == -1 &&
				      errno == EAGAIN,
			      "step %ld: %s", step, strerror(errno));
		LASTING(passed,
			cosy_pass(port[1], other * PAGE, arena[a] + other * PAGE, 8, COSY_COPY));
		MUST(passed == 8);
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
	fd = export_pages(a, at, pages, COSY_SHARE);
	import_pages(fd, b, there, pages, any(2) ? 0 : COSY_WILL_WRITE);
	write_some(a, at, pages);
	send_from(a, at, pages);
	model_sent(b, there, pages);
	compare(step, b, there, pages);
	write_some(b, there, pages);
	send_from(b, there, pages);
	model_sent(a, at, pages);
	compare(step, a, at, pages);
	send_from(a, at, pages);
	copy = export_pages(b, there, pages, any(2) ? COSY_COPY : COSY_DONATE_ZERO);
	write_some(a, at, pages);
	/* A donation imported where it was, a copy too, ends the sharing. */
	import_pages(copy, b, there, pages, 0);
	model_sent(b, there, pages);
	write_some(b, there, pages);
	compare(step, a, at, pages);
	compare(step, b, there, pages);
	close(copy);
	close(fd);
	send_from(a, at, pages);
	loan_all(to, a, at, size, COSY_GIVE);
	compare(step, a, at, pages);
	receive_all(a, at, size, 0);
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
	close(export_pages(a, at, pages, COSY_COPY));
	loan_all(ends[1], a, at, size, flags);
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
			receive_all(b, there + done / PAGE, (size_t)now, 0);
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
	int flags = any(4) ? 0 : COSY_GIVE;

	races++;
	for (size_t done = 0; done < size;) {
		ssize_t now;

		LASTING(now, cosy_loan(to, racing + done, size - done, flags));
		MUST(now > 0 && (lacking || (size_t)now == size));
		done += (size_t)now;
	}
	receive_all(b, there, size, any(2) ? 0 : COSY_POPULATE);
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
	pid = child_start();
	if (!pid) {
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

/* --- Steps ----------------------------------------------------------------------------------- */

static void pages_act(long step)
{
	int a = (int)any(ARENAS), b = (int)any(ARENAS);
	size_t pages = 2 + any(MAX_PAGES - 1), at = any(PAGES - pages + 1),
	       there = any(PAGES - pages + 1);

	if (with_pinned && any(8) == 0)
		pin(a, at, pages);
	if (raced && any(4)) {
		race(step, b, there, pages);
		return;
	}
	switch (any(20)) {
	case 0:
	case 1:
		write_some(a, 0, PAGES);
		break;
	case 2:
		compare(step, a, at, pages);
		break;
	case 4:
		MUST(!cosy_ready(arena[a] + at * PAGE, pages * PAGE,
				 any(2) ? COSY_WILL_WRITE : 0) ||
		     lacked());
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
		message(step, a, at, b, there, pages);
	}
}

void pages_step(long step)
{
	/* What is shared or donated without memory for that is no arena's any more. */
	long renewal = lacking ? LACKING_RENEWAL : RENEWAL;

	lack_begin();
	pages_act(step);
	lack_end();
	if (step % renewal == renewal - 1)
		arena_renew((int)(step / renewal % ARENAS));
	if (step % 256 == 255)
		for (int a = 0; a < ARENAS; a++)
			compare(step, a, 0, PAGES);
}

static void sockets_new(void)
{
	struct pair tcp = tcp_new();
	int yes = 1;

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[0]));
	sockets[1][0] = tcp.from;
	sockets[1][1] = tcp.to;
	/* Else the end of a message may wait for the beginning's acknowledgement, which is delayed. */
	MUST(!setsockopt(tcp.to, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)));
}

void pages_new(void)
{
	MUST(!pipe2(pinning, O_NONBLOCK | O_CLOEXEC));
	sockets_new();
	MUST(!cosy_port(PAGES * PAGE, port));
	for (int i = 0; i < 2; i++)
		MUST(!fcntl(port[i], F_SETFL, fcntl(port[i], F_GETFL) | O_NONBLOCK));
	room = mmap(NULL, PLACES * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(room != MAP_FAILED);
	for (int a = 0; a < ARENAS; a++)
		arena[a] = arena_new(PAGES);
}
