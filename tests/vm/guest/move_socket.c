/* SPDX-License-Identifier: MIT */
/*
 * Tests loans to sockets (AF_UNIX and TCP): what was lent stays as it was until it is read, and
 * every call has the results of write(2) and send(2).
 */
#include "move.h"
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#define PAGES 64UL
#define SIZE  (PAGES * PAGE)

static char got[SIZE];

static struct pair unix_new(void)
{
	int fds[2];

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	return (struct pair){ fds[0], fds[1] };
}

struct kind {
	const char *name;
	struct pair (*new)(void);
};

/* --- The sender writes after it has lent ------------------------------------------------------ */

/* Lends what goes without a reader, writes over it, and reads it. */
static void scribble(const struct kind *kind)
{
	struct pair p = kind->new();
	char *memory = move_alloc(PAGES);
	struct cosy_stats before = counts();

	MUST(!fcntl(p.to, F_SETFL, O_NONBLOCK));
	for (uint64_t turn = 1; turn < 5; turn++) {
		ssize_t sent;

		move_fill(memory, SIZE, turn);
		sent = cosy_loan(p.to, memory, SIZE, turn == 2 ? MSG_NOSIGNAL : 0);
		CHECK(sent > 0, "%s: %zd: %s", kind->name, sent, strerror(errno));
		if (sent <= 0)
			break;
		move_fill(memory, SIZE, 100);
		read_all(p.from, got, (size_t)sent);
		CHECK(move_differs(got, (size_t)sent & ~7UL, turn) < 0,
		      "%s: turn %d: word %ld of %zd bytes is another", kind->name, (int)turn,
		      move_differs(got, (size_t)sent & ~7UL, turn), sent);
		CHECK(move_differs(memory, SIZE, 100) < 0, "%s: the sender's bytes", kind->name);
	}
	if (moves())
		CHECK(counts().loaned - before.loaned >= 16, "%s: %llu pages lent", kind->name,
		      (unsigned long long)(counts().loaned - before.loaned));
	cosy_move_free(memory, SIZE);
	pair_close(p);
}

/* Unmaps what is under way, and ends who lent it. */
static void outlives(const struct kind *kind)
{
	struct pair p = kind->new();
	int status, sizes[2];
	size_t sent = 0;
	pid_t pid;

	MUST(!pipe(sizes));
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		char *memory = move_alloc(PAGES);
		ssize_t now;

		MUST(!fcntl(p.to, F_SETFL, O_NONBLOCK));
		move_fill(memory, SIZE, 1);
		now = cosy_loan(p.to, memory, SIZE, COSY_GIVE);
		MUST(write(sizes[1], &now, sizeof(now)) == sizeof(now));
		CHECK(now < (ssize_t)PAGE || !memory[0], "what was given is there");
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	MUST(read(sizes[0], &sent, sizeof(sent)) == sizeof(sent));
	MUST(sent <= SIZE);
	read_all(p.from, got, sent);
	CHECK(move_differs(got, sent & ~7UL, 1) < 0, "%s: after the sender's end", kind->name);
	close(sizes[0]);
	close(sizes[1]);
	pair_close(p);
}

/* Sends what was not changed again, which costs nothing: small messages, too. */
static void again(const struct kind *kind)
{
	struct pair p = kind->new();
	char *memory = move_alloc(PAGES);
	struct cosy_stats before;
	int parcel;

	move_fill(memory, SIZE, 1);
	/* A copy that is exported freezes the pages. */
	parcel = cosy_export(memory, SIZE, COSY_COPY);
	MUST(parcel >= 0);
	before = counts();
	for (int turn = 0; turn < 40; turn++) {
		MUST(cosy_loan(p.to, memory, 4 * PAGE, 0) == (ssize_t)(4 * PAGE));
		read_all(p.from, got, 4 * PAGE);
		CHECK(move_differs(got, 4 * PAGE, 1) < 0, "%s: turn %d", kind->name, turn);
	}
	if (moves())
		CHECK(counts().loaned - before.loaned == 40 * 4, "%s: %llu pages lent", kind->name,
		      (unsigned long long)(counts().loaned - before.loaned));
	/* Bytes that are always written again are copied in the end. */
	before = counts();
	for (uint64_t turn = 2; turn < 34; turn++) {
		move_fill(memory, 16 * PAGE, turn);
		MUST(cosy_loan(p.to, memory, 16 * PAGE, 0) == (ssize_t)(16 * PAGE));
		read_all(p.from, got, 16 * PAGE);
		CHECK(move_differs(got, 16 * PAGE, turn) < 0, "%s: turn %d", kind->name, (int)turn);
	}
	CHECK(counts().loaned - before.loaned < 16 * 16, "%s: %llu pages lent", kind->name,
	      (unsigned long long)(counts().loaned - before.loaned));
	close(parcel);
	pair_close(p);
}

/* --- A thread that writes all the time -------------------------------------------------------- */

static volatile bool stop;

static void *writes(void *memory)
{
	for (uint64_t k = 1; !stop; k++)
		for (size_t i = 0; i < PAGES; i++)
			*(volatile uint64_t *)((char *)memory + i * PAGE + k % 512 * 8) = k;
	return NULL;
}

/* Has a socket's bytes read twice: they are the same, though a thread writes all the time. */
static void racing(const struct kind *kind)
{
	struct pair p = kind->new();
	char *memory = move_alloc(PAGES);
	static char seen[SIZE];
	pthread_t thread;

	stop = false;
	memset(memory, 1, SIZE);
	MUST(!fcntl(p.to, F_SETFL, O_NONBLOCK));
	MUST(!pthread_create(&thread, NULL, writes, memory));
	for (int turn = 0; turn < 40; turn++) {
		ssize_t sent = cosy_loan(p.to, memory, SIZE, turn % 5 ? 0 : COSY_GIVE), peeked;

		MUST(sent > 0);
		peeked = recv(p.from, seen, (size_t)sent, MSG_PEEK);
		MUST(peeked > 0);
		sched_yield();
		read_all(p.from, got, (size_t)sent);
		CHECK(!memcmp(got, seen, (size_t)peeked), "%s: turn %d: a write shows", kind->name,
		      turn);
	}
	stop = true;
	MUST(!pthread_join(thread, NULL));
	pair_close(p);
}

/* --- Receiving -------------------------------------------------------------------------------- */

/* Takes pages over from a socket by way of a pipe. */
static void spliced(const struct kind *kind)
{
	struct pair p = kind->new();
	char *memory = move_alloc(PAGES), *to = move_alloc(PAGES);
	int fds[2];

	MUST(!pipe(fds));
	for (uint64_t turn = 1; turn < 5; turn++) {
		size_t had = 0;

		move_fill(memory, 16 * PAGE, turn);
		MUST(cosy_loan(p.to, memory, 16 * PAGE, 0) == (ssize_t)(16 * PAGE));
		while (had < 16 * PAGE) {
			ssize_t now =
				splice(p.from, NULL, fds[1], NULL, 16 * PAGE - had, SPLICE_F_MOVE);

			MUST(now > 0);
			move_fill(memory, 16 * PAGE, 100);
			if (had + (size_t)now == 16 * PAGE && !had) {
				transfer_all(fds[0], to, 16 * PAGE, COSY_POPULATE);
			} else {
				read_all(fds[0], got, (size_t)now);
				memcpy(to + had, got, (size_t)now);
			}
			had += (size_t)now;
		}
		CHECK(move_differs(to, 16 * PAGE, turn) < 0, "%s: turn %d: word %ld", kind->name,
		      (int)turn, move_differs(to, 16 * PAGE, turn));
		move_fill(to, 16 * PAGE, 101);
	}
	close(fds[0]);
	close(fds[1]);
	pair_close(p);
}

/* Pages of a file that came by a socket are copied: who has the file may write them. */
static void file_pages(const struct kind *kind)
{
	struct pair p = kind->new();
	char *to = move_alloc(PAGES), *file;
	int fds[2], fd = memfd_create("pages", MFD_CLOEXEC);
	size_t had = 0;

	MUST(fd >= 0 && !ftruncate(fd, 8 * PAGE) && !pipe(fds));
	file = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(file != MAP_FAILED);
	move_fill(file, 8 * PAGE, 1);
	MUST(sendfile(p.to, fd, &(off_t){ 0 }, 8 * PAGE) == (ssize_t)(8 * PAGE));
	while (had < 8 * PAGE) {
		ssize_t now = splice(p.from, NULL, fds[1], NULL, PAGE, 0);

		MUST(now > 0);
		had += (size_t)now;
	}
	transfer_all(fds[0], to, 8 * PAGE, COSY_WILL_WRITE);
	move_fill(file, 8 * PAGE, 2);
	CHECK(move_differs(to, 8 * PAGE, 1) < 0, "%s: a write to the file shows", kind->name);
	move_fill(to, 8 * PAGE, 3);
	CHECK(move_differs(file, 8 * PAGE, 2) < 0, "%s: a write shows in the file", kind->name);
	munmap(file, 8 * PAGE);
	close(fd);
	close(fds[0]);
	close(fds[1]);
	pair_close(p);
}

/* --- Results ---------------------------------------------------------------------------------- */

static volatile int signals;

static void count_signal(int sig)
{
	(void)sig;
	signals++;
}

static void *reads(void *argument)
{
	read_all(*(int *)argument, got, SIZE);
	return NULL;
}

static void results(const struct kind *kind)
{
	struct pair p = kind->new();
	char *memory = move_alloc(PAGES);
	pthread_t thread;
	ssize_t sent;

	/* It waits for the reader, and all of it goes. */
	move_fill(memory, SIZE, 1);
	MUST(!pthread_create(&thread, NULL, reads, &p.from));
	sent = cosy_loan(p.to, memory, SIZE, 0);
	CHECK(sent == (ssize_t)SIZE, "%s: %zd: %s", kind->name, sent, strerror(errno));
	MUST(!pthread_join(thread, NULL));
	CHECK(move_differs(got, SIZE, 1) < 0, "%s: with a reader", kind->name);
	/* It does not wait. */
	while ((sent = cosy_loan(p.to, memory, SIZE, MSG_DONTWAIT)) > 0)
		;
	CHECK(sent == -1 && errno == EAGAIN, "%s: %zd: %s", kind->name, sent, strerror(errno));
	MUST(!fcntl(p.to, F_SETFL, O_NONBLOCK));
	sent = cosy_loan(p.to, memory, SIZE, 0);
	CHECK(sent == -1 && errno == EAGAIN, "%s: %zd: %s", kind->name, sent, strerror(errno));
	CHECK(cosy_loan(p.to, memory, SIZE, MSG_OOB) == -1, "%s: out of band", kind->name);
	/* Nobody reads it. */
	MUST(!fcntl(p.to, F_SETFL, 0));
	close(p.from);
	handle(SIGPIPE, count_signal, 0);
	while (cosy_loan(p.to, memory, SIZE, MSG_NOSIGNAL) > 0 || errno == ECONNRESET)
		;
	CHECK(errno == EPIPE && !signals, "%s: %s, %d signals", kind->name, strerror(errno),
	      signals);
	CHECK(cosy_loan(p.to, memory, SIZE, 0) == -1 && errno == EPIPE && signals == 1,
	      "%s: %s, %d signals", kind->name, strerror(errno), signals);
	close(p.to);
}

int main(void)
{
	static const struct kind kinds[] = { { "unix", unix_new }, { "tcp", tcp_new } };
	static void (*const parts[])(const struct kind *) = { scribble, outlives,   again,  racing,
							      spliced,	file_pages, results };
	bool checked = move_parameter("check_moved", "Y");

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			int status = in_child((void (*)(void *))parts[i], (void *)&kinds[k]);

			CHECK(status == 0, "%s, part %zu: %#x", kinds[k].name, i,
			      (unsigned int)status);
		}
	if (checked)
		move_parameter("check_moved", "N");
	return check_end();
}
