/* SPDX-License-Identifier: MIT */
/*
 * Tests parcels of <cosy/move.h>: what is shared, copied and donated is what the table of UVM's
 * map-entry passing says, in this process and in others, whatever is written, forked, killed or
 * closed; and what a hostile holder of a descriptor can do.
 */
#include "move_parcel.h"
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

int check_failures;

/* --- The table -------------------------------------------------------------------------------- */

static void copies(void *unused)
{
	const int flags[] = { 0, COSY_POPULATE, COSY_WILL_WRITE };
	int parcel;

	(void)unused;
	for (int turn = 0; turn < 3; turn++) {
		fresh();
		parcel = export(from, SIZE, COSY_COPY);
		move_fill(from, SIZE, 2);
		import(parcel, to, SIZE, flags[turn]);
		CHECK(move_differs(to, SIZE, 1) < 0, "the sender's writes show");
		move_fill(to, SIZE, 3);
		import(parcel, to, SIZE, flags[turn]);
		CHECK(move_differs(to, SIZE, 1) < 0, "the receiver's writes show");
		close(parcel);
		CHECK(move_differs(from, SIZE, 2) < 0, "the sender's bytes are others");
		move_fill(to, SIZE, 4);
		done();
	}
}

static void donates(void *unused)
{
	int parcel;

	(void)unused;
	fresh();
	parcel = export(from, SIZE, COSY_DONATE);
	check_gone(from);
	check_gone(from + SIZE - PAGE);
	import(parcel, to, SIZE, COSY_WILL_WRITE);
	CHECK(move_differs(to, SIZE, 1) < 0, "what was donated is another");
	move_fill(to, SIZE, 2);
	CHECK(cosy_import(parcel, from, SIZE, 0) == -1 && errno == ENODATA, "twice: %s",
	      strerror(errno));
	close(parcel);
	check_gone(from);
	/* Fill it again in each way. */
	MUST(!cosy_flush(from, 4 * PAGE));
	CHECK(move_is_zero(from, 4 * PAGE), "after a flush");
	check_gone(from + 4 * PAGE);
	from[0] = 1;
	parcel = export(to, 4 * PAGE, COSY_DONATE_ZERO);
	CHECK(move_is_zero(to, 4 * PAGE), "what was donated is not zero");
	import(parcel, from + 4 * PAGE, 4 * PAGE, 0);
	close(parcel);
	CHECK(move_differs(from + 4 * PAGE, 4 * PAGE, 2) < 0, "imported where pages are gone");
	{
		int fds[2];

		MUST(!pipe(fds));
		MUST(write(fds[1], from + 4 * PAGE, 2 * PAGE) == (ssize_t)(2 * PAGE));
		CHECK(cosy_loan(fds[1], from + 8 * PAGE, 2 * PAGE, 0) == -1 && errno == EFAULT,
		      "%s", strerror(errno));
		transfer_all(fds[0], from + 8 * PAGE, 2 * PAGE, 0);
		CHECK(move_differs(from + 8 * PAGE, 2 * PAGE, 2) < 0, "transferred");
		close(fds[0]);
		close(fds[1]);
	}
	check_gone(from + 10 * PAGE);
	done();
}

/* Donates and copies pages that nobody has touched, and those that were lent. */
static void others(void *unused)
{
	int parcel, copy, fds[2];
	char *empty;

	(void)unused;
	fresh();
	empty = move_alloc(PAGES);
	parcel = export(empty, SIZE, COSY_DONATE_ZERO);
	copy = export(empty, SIZE, COSY_COPY);
	import(parcel, to, SIZE, COSY_WILL_WRITE);
	CHECK(move_is_zero(to, SIZE), "empty ones, donated");
	move_fill(to, SIZE, 5);
	import(copy, to, SIZE, COSY_POPULATE);
	CHECK(move_is_zero(to, SIZE), "empty ones, copied");
	close(copy);
	close(parcel);
	/* What a pipe has as well is copied when its new owner writes. */
	MUST(!pipe(fds));
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	parcel = export(from, SIZE, COSY_DONATE_ZERO);
	import(parcel, to, SIZE, COSY_WILL_WRITE);
	close(parcel);
	CHECK(move_differs(to, SIZE, 1) < 0, "lent and donated");
	move_fill(to, SIZE, 6);
	read_all(fds[0], empty, SIZE);
	CHECK(move_differs(empty, SIZE, 1) < 0, "the new owner's writes show in the pipe");
	close(fds[0]);
	close(fds[1]);
	cosy_move_free(empty, SIZE);
	done();
}

static void shares(void *unused)
{
	char *third = move_alloc(PAGES);
	int parcel, again, fds[2], status;
	pid_t pid;

	(void)unused;
	fresh();
	parcel = export(from, SIZE, COSY_SHARE);
	import(parcel, to, SIZE, 0);
	CHECK(move_differs(to, SIZE, 1) < 0, "shared");
	move_fill(from, SIZE, 2);
	CHECK(move_differs(to, SIZE, 2) < 0, "the one's writes do not show");
	move_fill(to, SIZE, 3);
	CHECK(move_differs(from, SIZE, 3) < 0, "the other's writes do not show");
	again = export(from, SIZE, COSY_SHARE);
	import(again, third, SIZE, COSY_WILL_WRITE);
	close(again);
	move_fill(third, SIZE, 4);
	CHECK(move_differs(to, SIZE, 4) < 0, "a third's writes do not show");
	/* What is lent of it, or copied, stays as it was; what comes is written into it. */
	MUST(!pipe(fds));
	MUST(cosy_loan(fds[1], from, SIZE, 0) == (ssize_t)SIZE);
	again = export(from, SIZE, COSY_COPY);
	move_fill(to, SIZE, 5);
	CHECK(move_differs(from, SIZE, 5) < 0, "no longer shared after a loan");
	transfer_all(fds[0], from, SIZE, 0);
	CHECK(move_differs(to, SIZE, 4) < 0 && move_differs(from, SIZE, 4) < 0, "a loan");
	move_fill(third, SIZE, 6);
	CHECK(move_differs(from, SIZE, 6) < 0, "no longer shared after a transfer");
	import(again, third, SIZE, 0);
	CHECK(move_differs(third, SIZE, 4) < 0 && move_differs(from, SIZE, 6) < 0, "a copy");
	close(again);
	/* A child shares. */
	pid = child_start();
	if (!pid) {
		CHECK(move_differs(from, SIZE, 6) < 0, "the child's");
		move_fill(from, SIZE, 7);
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(move_differs(to, SIZE, 7) < 0, "a child does not share");
	/* Donations and flushes end it for the one who makes them. */
	again = export(to, SIZE, COSY_DONATE_ZERO);
	move_fill(from, SIZE, 8);
	CHECK(move_is_zero(to, SIZE), "donated");
	import(again, third, SIZE, 0);
	CHECK(move_differs(third, SIZE, 7) < 0, "a donation of what is shared");
	close(again);
	import(parcel, third, SIZE, 0);
	CHECK(move_differs(third, SIZE, 8) < 0, "imported late");
	MUST(!cosy_flush(third, SIZE));
	CHECK(move_is_zero(third, SIZE) && move_differs(from, SIZE, 8) < 0, "flushed");
	move_fill(third, SIZE, 9);
	CHECK(move_differs(from, SIZE, 8) < 0, "shared after a flush");
	close(parcel);
	close(fds[0]);
	close(fds[1]);
	cosy_move_free(third, SIZE);
	done();
}

/* Shares the first pages with `to`, and has `make` put others there and in `page`, before them. */
static void replace_shared(char *page, char *memory, void (*make)(char *))
{
	int parcel;

	move_fill(memory, 4 * PAGE, 2);
	parcel = export(memory, 4 * PAGE, COSY_SHARE);
	import(parcel, to, 4 * PAGE, 0);
	close(parcel);
	make(page);
	CHECK(move_differs(to, 4 * PAGE, 2) < 0, "pages that were shared are written to");
}

static void replace_gone(char *page, char *memory, void (*make)(char *))
{
	close(export(memory, 4 * PAGE, COSY_DONATE));
	make(page);
}

static void make_flush(char *page)
{
	memset(page, 1, PAGE);
	MUST(!cosy_flush(page, 5 * PAGE));
	CHECK(move_is_zero(page, 5 * PAGE), "flushed");
}

static void make_import(char *page)
{
	int parcel = export(from, 5 * PAGE, COSY_COPY);

	import(parcel, page, 5 * PAGE, 0);
	CHECK(move_differs(page, 5 * PAGE, 1) < 0, "imported");
	close(parcel);
}

/* Memory begins before any arena, and ends in one. */
static void behind(void *unused)
{
	/* Larger than what is free between other mappings, so that nothing is before it. */
	const size_t pages = 1024;
	char *memory, *page, *there;

	(void)unused;
	fresh();
	for (unsigned int flags = 0; flags <= COSY_MOVE_PINNABLE; flags++) {
		memory = cosy_move_alloc(pages * PAGE, flags);
		MUST(memory);
		page = mmap(memory - PAGE, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		MUST(page == memory - PAGE);
		replace_shared(page, memory, make_flush);
		replace_gone(page, memory, make_flush);
		replace_shared(page, memory, make_import);
		replace_gone(page, memory, make_import);
		if (moves() && !flags) {
			there = mmap(NULL, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				     0);
			MUST(there != MAP_FAILED);
			MUST(mremap(memory, pages * PAGE, pages * PAGE,
				    MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
			memory = there;
			move_fill(memory, SIZE, 3);
			MUST(!cosy_flush(memory, SIZE));
			CHECK(move_is_zero(memory, SIZE), "flushed where it was moved to");
		}
		MUST(!munmap(page, PAGE));
		cosy_move_free(memory, pages * PAGE);
	}
	done();
}

/* Fills half of `from` by an import, and the rest by a flush, in a process without a context. */
static void refused_child(void *parcel)
{
	const struct rlimit none = { 0, 0 };

	MUST(!setrlimit(RLIMIT_NOFILE, &none));
	import(*(int *)parcel, from, SIZE / 2, 0);
	CHECK(move_differs(from, SIZE / 2, 7) < 0, "imported");
	MUST(!cosy_flush(from + SIZE / 2, SIZE / 2));
	CHECK(move_is_zero(from + SIZE / 2, SIZE / 2), "flushed");
}

static void refused(void *unused)
{
	int copy, shared;

	(void)unused;
	fresh();
	copy = export(to, SIZE / 2, COSY_COPY);
	shared = export(from, SIZE, COSY_SHARE);
	import(shared, to, SIZE, 0);
	CHECK_CHILD(in_child(refused_child, &copy));
	CHECK(move_differs(from, SIZE, 1) < 0 && move_differs(to, SIZE, 1) < 0, "shared");
	close(shared);
	close(export(from, SIZE, COSY_DONATE));
	CHECK_CHILD(in_child(refused_child, &copy));
	close(copy);
	done();
}

/* Returns ordinary memory, which libcosy has to share and donate by memfds. */
static char *ordinary_new(uint64_t message)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(memory != MAP_FAILED);
	move_fill(memory, SIZE, message);
	return memory;
}

/* Moves memory below all other, to the second page of a place. */
static char *move_away(char *memory)
{
	char *page = (char *)(1UL << 40);

	MUST(mmap(page, PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == page);
	MUST(mremap(memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, page + PAGE) == page + PAGE);
	return page + PAGE;
}

enum { MOVED_FLUSH, MOVED_TAKE, MOVED_COPY, MOVED_DONATION, MOVED_MEMFD, MOVED_WAYS };

static void moved_flush(char *memory)
{
	MUST(!cosy_flush(memory, SIZE));
	CHECK(move_is_zero(memory, SIZE), "flushed");
}

static void moved_import(char *memory, int way)
{
	enum cosy_how how = way == MOVED_DONATION ? COSY_DONATE_ZERO : COSY_COPY;
	char *source = way == MOVED_MEMFD ? ordinary_new(5) : from;
	int parcel;

	move_fill(from, SIZE, 5);
	parcel = export(source, SIZE, how);
	import(parcel, memory, SIZE, 0);
	close(parcel);
	CHECK(move_differs(memory, SIZE, 5) < 0, "imported, way %d", way);
}

static void moved_take(char *memory)
{
	int ends[2];
	size_t at;

	move_fill(from, SIZE, 5);
	MUST(!cosy_port(SIZE, ends));
	MUST(cosy_pass(ends[1], 0, from, SIZE, COSY_COPY) == (ssize_t)SIZE);
	MUST(cosy_take(ends[0], memory, SIZE, &at, 0) == (ssize_t)SIZE && !at);
	CHECK(move_differs(memory, SIZE, 5) < 0, "taken");
	close(ends[0]);
	close(ends[1]);
}

/* Puts others in place of pages that are shared, or gone, in memory that was moved. */
static void moved_replace(int way, unsigned int flags, bool gone, size_t before)
{
	char *memory = cosy_move_alloc(SIZE, flags);
	int parcel;

	MUST(memory);
	move_fill(memory, SIZE, 1);
	/* What a memfd shares must not be moved. */
	if (!moves())
		memory = move_away(memory);
	parcel = export(memory, SIZE, gone ? COSY_DONATE : COSY_SHARE);
	import(parcel, to, SIZE, 0);
	close(parcel);
	if (moves())
		memory = move_away(memory);
	if (way == MOVED_FLUSH)
		moved_flush(memory - before);
	else if (way == MOVED_TAKE)
		moved_take(memory - before);
	else
		moved_import(memory - before, way);
	CHECK(move_differs(to, SIZE, 1) < 0, "others' pages are written to: way %d, %u, %d, %zu",
	      way, flags, gone, before);
	cosy_move_free(memory - PAGE, SIZE + PAGE);
}

static void moved(void *unused)
{
	(void)unused;
	/* Where a pinnable arena is, others are asked about in another way. */
	for (unsigned int flags = 0; flags <= COSY_MOVE_PINNABLE; flags++) {
		fresh();
		for (int i = 0; i < 4 * MOVED_WAYS; i++)
			moved_replace(i / 4, flags, i & 1, i & 2 ? PAGE : 0);
		done();
	}
}

/* Shares again what is shared and was moved, and gives it away. */
static void moved_shares(void *unused)
{
	char *memory = move_alloc(PAGES), *third = move_alloc(PAGES);
	int parcel, fds[2];

	(void)unused;
	if (!moves())
		memory = move_away(memory);
	fresh();
	move_fill(memory, SIZE, 1);
	parcel = export(memory, SIZE, COSY_SHARE);
	import(parcel, to, SIZE, 0);
	close(parcel);
	if (moves())
		memory = move_away(memory);
	parcel = export(memory, SIZE, COSY_SHARE);
	import(parcel, third, SIZE, 0);
	close(parcel);
	move_fill(third, SIZE, 2);
	CHECK(move_differs(memory, SIZE, 2) < 0, "not shared where it was moved to");
	CHECK(move_differs(to, SIZE, 2) < 0, "no longer shared since it was moved");
	MUST(!pipe(fds));
	MUST(cosy_loan(fds[1], memory, SIZE, COSY_GIVE) == (ssize_t)SIZE);
	CHECK(move_is_zero(memory, SIZE), "given");
	read_all(fds[0], from, SIZE);
	CHECK(move_differs(from, SIZE, 2) < 0 && move_differs(to, SIZE, 2) < 0, "lent");
}

#define LACKS(call) CHECK((call) == -1 && errno == ENOMEM, #call ": %s", strerror(errno))

/* Flushes and imports where pages are shared, or gone, and there is no room for others. */
static void no_room(void *unused)
{
	char *shared = ordinary_new(1), *other = ordinary_new(2), *gone = ordinary_new(3);
	int parcel = export(shared, SIZE, COSY_SHARE), copy, donation, fds[2];

	(void)unused;
	fresh();
	import(parcel, other, SIZE, 0);
	close(parcel);
	close(export(gone, SIZE, COSY_DONATE));
	copy = export(to, SIZE, COSY_COPY);
	donation = export(from, SIZE, COSY_DONATE_ZERO);
	MUST(!pipe(fds) && write(fds[1], to, PAGE) == (ssize_t)PAGE);
	move_room(false);
	LACKS(cosy_flush(shared, SIZE));
	LACKS(cosy_flush(shared + PAGE, PAGE));
	LACKS(cosy_flush(gone, SIZE));
	LACKS(cosy_import(copy, shared, SIZE, 0));
	LACKS(cosy_import(donation, shared, SIZE, 0));
	LACKS(cosy_import(donation, gone, SIZE, 0));
	LACKS(cosy_export(shared, SIZE, COSY_DONATE_ZERO));
	LACKS(cosy_transfer(fds[0], gone, PAGE, 0));
	move_room(true);
	CHECK(move_differs(shared, SIZE, 1) < 0 && move_differs(other, SIZE, 1) < 0, "shared");
	check_gone(gone);
	/* It is known yet that they are shared, or gone. */
	move_fill(shared, SIZE, 4);
	CHECK(move_differs(other, SIZE, 4) < 0, "no longer shared");
	CHECK(cosy_transfer(fds[0], gone + 8, PAGE - 8, 0) == (ssize_t)PAGE - 8, "transferred: %s",
	      strerror(errno));
	import(donation, gone, SIZE, 0);
	CHECK(move_differs(gone, SIZE, 1) < 0, "a donation is not what was donated");
	import(copy, shared, SIZE, 0);
	CHECK(move_differs(shared, SIZE, 7) < 0 && move_differs(other, SIZE, 4) < 0, "imported");
	close(donation);
	close(copy);
	munmap(shared, SIZE);
	cosy_move_free(other, SIZE);
	munmap(gone, SIZE);
	done();
}

static void cut_child(void *shared)
{
	const struct rlimit none = { 0, 0 };

	MUST(!setrlimit(RLIMIT_NOFILE, &none));
	MUST(!cosy_flush((char *)shared + PAGE, PAGE) && !cosy_flush(shared, SIZE));
	CHECK(move_is_zero(shared, SIZE), "flushed");
}

/* Flushes a part of what is shared, and then the rest, in a process that opens nothing more. */
static void cut(void *unused)
{
	char *shared = ordinary_new(1);

	(void)unused;
	close(export(shared, SIZE, COSY_SHARE));
	CHECK_CHILD(in_child(cut_child, shared));
	CHECK(move_differs(shared, SIZE, 1) < 0, "what a process flushed its parent has lost");
}

/* --- Other processes -------------------------------------------------------------------------- */

/* Sends parcels for ever, and writes to what it has sent. */
static void sends(int sock)
{
	for (uint64_t turn = 0;; turn++) {
		int parcel;

		for (size_t i = 0; i < PAGES; i++)
			move_fill(from + i * PAGE, PAGE, 1);
		parcel = cosy_export(from, SIZE, turn % 2 ? COSY_COPY : COSY_DONATE_ZERO);
		if (parcel < 0)
			_exit(1);
		send_fd(sock, parcel);
		close(parcel);
		memset(from, 0xee, SIZE);
	}
}

static void processes(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < 12; turn++) {
		int socks[2], parcel;
		pid_t pid;

		fresh();
		MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks));
		fflush(stdout);
		pid = fork();
		MUST(pid >= 0);
		if (!pid) {
			close(socks[0]);
			sends(socks[1]);
		}
		close(socks[1]);
		for (int k = 0; k < turn || (parcel = receive_fd(socks[0])) >= 0; k++) {
			if (k < turn)
				parcel = receive_fd(socks[0]);
			if (k == turn)
				MUST(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
			MUST(parcel >= 0);
			import(parcel, to, SIZE, k % 3 ? COSY_WILL_WRITE : 0);
			for (size_t i = 0; i < PAGES; i++)
				CHECK(move_differs(to + i * PAGE, PAGE, 1) < 0,
				      "message %d of turn %d", k, turn);
			move_fill(to, SIZE, 4);
			close(parcel);
		}
		close(socks[0]);
		done();
	}
}

/* Gives one donation to two that want it at once: one has it, whole. */
static void contested(void *unused)
{
	int status;

	(void)unused;
	for (int turn = 0; turn < 30; turn++) {
		int parcel, had = 0;
		pid_t pid[2];

		fresh();
		parcel = export(from, SIZE, COSY_DONATE);
		fflush(stdout);
		for (int k = 0; k < 2; k++) {
			pid[k] = fork();
			MUST(pid[k] >= 0);
			if (!pid[k]) {
				ssize_t came = cosy_import(parcel, to, SIZE, 0);

				if (came != (ssize_t)SIZE)
					_exit(errno == ENODATA ? 2 : 1);
				_exit(move_differs(to, SIZE, 1) < 0 ? 0 : 1);
			}
		}
		for (int k = 0; k < 2; k++) {
			MUST(waitpid(pid[k], &status, 0) == pid[k]);
			CHECK(status == 0 || status == 2 << 8, "%#x", (unsigned int)status);
			had += status == 0;
		}
		CHECK(had == 1, "turn %d: %d have the donation", turn, had);
		close(parcel);
		done();
	}
}

/* --- The module ------------------------------------------------------------------------------- */

/* Checks that a parcel of ordinary memory ends what is shared where it is imported, as any does. */
static void ends_sharing(void *unused)
{
	char *other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const enum cosy_how how[] = { COSY_COPY, COSY_DONATE_ZERO };

	(void)unused;
	MUST(other != MAP_FAILED);
	for (int turn = 0; turn < 2; turn++) {
		int shared, parcel;

		fresh();
		shared = export(from, SIZE, COSY_SHARE);
		import(shared, to, SIZE, 0);
		move_fill(other, SIZE, 2);
		parcel = export(other, SIZE, how[turn]);
		import(parcel, to, SIZE, 0);
		CHECK(move_differs(to, SIZE, 2) < 0, "what was imported");
		CHECK(move_differs(from, SIZE, 1) < 0, "an import wrote to who had shared");
		move_fill(to, SIZE, 3);
		CHECK(move_differs(from, SIZE, 1) < 0, "the memory is shared still");
		close(parcel);
		close(shared);
		done();
	}
	munmap(other, SIZE);
}

/* Checks what is counted, and that pages come back. */
static void counted(void *unused)
{
	struct rlimit limit;
	struct cosy_stats before;
	int parcel, second;

	(void)unused;
	if (!moves())
		return;
	fresh();
	before = counts();
	parcel = export(from, SIZE, COSY_DONATE_ZERO);
	import(parcel, to, SIZE, 0);
	close(parcel);
	CHECK(counts().exported - before.exported == PAGES, "%llu exported",
	      (unsigned long long)(counts().exported - before.exported));
	CHECK(counts().imported - before.imported == PAGES, "%llu imported",
	      (unsigned long long)(counts().imported - before.imported));
	/* Root may lock what it likes. */
	if (!geteuid())
		return;
	/* Find the limit at which there is room for one. */
	MUST(!getrlimit(RLIMIT_MEMLOCK, &limit));
	before = counts();
	for (limit.rlim_cur = SIZE;; limit.rlim_cur += SIZE / 2) {
		MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
		parcel = export(to, SIZE / 2, COSY_COPY);
		if (counts().exported > before.exported)
			break;
		close(parcel);
	}
	second = export(to, SIZE / 2, COSY_COPY);
	CHECK(counts().exported - before.exported == PAGES / 2, "above RLIMIT_MEMLOCK: %llu",
	      (unsigned long long)(counts().exported - before.exported));
	import(second, from, SIZE / 2, 0);
	CHECK(move_differs(from, SIZE / 2, 1) < 0, "above RLIMIT_MEMLOCK");
	close(second);
	close(parcel);
	/* A parcel that is closed, or a donation that is imported, counts no more. */
	for (int turn = 0; turn < 20; turn++) {
		parcel = export(to, SIZE / 2, COSY_DONATE_ZERO);
		import(parcel, from, SIZE / 2, 0);
		second = export(from, SIZE / 2, COSY_DONATE_ZERO);
		close(parcel);
		import(second, to, SIZE / 2, 0);
		close(second);
		close(export(to, SIZE / 2, COSY_COPY));
	}
	CHECK(counts().exported - before.exported == PAGES / 2 + 60 * PAGES / 2, "%llu exported",
	      (unsigned long long)(counts().exported - before.exported));
	CHECK(move_differs(to, SIZE / 2, 1) < 0, "after all that");
	done();
}

static const struct part parts[] = {
	{ "copies", .run_in_child = copies },
	{ "donates", .run_in_child = donates },
	{ "others", .run_in_child = others },
	{ "shares", .run_in_child = shares },
	{ "behind", .run_in_child = behind },
	{ "refused", .run_in_child = refused },
	{ "moved", .run_in_child = moved },
	{ "moved_shares", .run_in_child = moved_shares },
	{ "no_room", .run_in_child = no_room },
	{ "cut", .run_in_child = cut },
	{ "processes", .run_in_child = processes },
	{ "contested", .run_in_child = contested },
	{ "results", .run_in_child = results },
	{ "ordinary", .run_in_child = ordinary },
	{ "counted", .run_in_child = counted },
	{ "ends_sharing", .run_in_child = ends_sharing },
};

int main(int argc, char **argv)
{
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
