/* SPDX-License-Identifier: MIT */
/*
 * Tests what an unprivileged user can do to ports: wrong requests, the wrong end, windows that come
 * and go, messages in circles, ends that travel and are closed while others wait, more ports than
 * there is memory to lock, and messages that are none.
 */
#include "move.h"
#include "raw.h"
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define PAGES 16UL
#define SIZE  (PAGES * PAGE)

static int raw_fd;

static struct cosy_moving moving_now(void)
{
	struct cosy_moving moving = { .size = sizeof(moving) };

	do
		MUST(!raw_ioctl(raw_fd, COSY_IOC_MOVING, &moving));
	while (moving.cursor[0] | moving.cursor[1]);
	return moving;
}

static long request(uint32_t operation, uint64_t address, uint64_t length, int fd, uint64_t at,
		    uint32_t how)
{
	struct cosy_move move = { .size = sizeof(move),
				  .operation = operation,
				  .address = address,
				  .length = length,
				  .fd = fd,
				  .at = at,
				  .how = how };

	return raw_ioctl(raw_fd, COSY_IOC_MOVE, &move);
}

static int fds_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Starts a process that does not outlive this one. */
static pid_t process_start(void)
{
	pid_t pid;

	pid = child_start();
	if (!pid) {
		MUST(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	}
	return pid;
}

static void process_end(pid_t pid)
{
	int status;

	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
}

/* --- Requests -------------------------------------------------------------------------- */

/* The fields that each operation uses.  All use the length, and all except PORT the address. */
static const struct {
	uint32_t operation, flags;
	bool fd, at, how;
} uses[] = {
	{ COSY_MOVE_LOAN, COSY_MOVE_GIVE | COSY_MOVE_SEND, true, false, false },
	{ COSY_MOVE_TRANSFER, COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE, true, false, false },
	{ COSY_MOVE_FLUSH, 0, false, false, false },
	{ COSY_MOVE_READY, COSY_MOVE_WILL_WRITE, false, false, false },
	{ COSY_MOVE_SHARE, 0, false, false, false },
	{ COSY_MOVE_COPY, 0, false, false, false },
	{ COSY_MOVE_DONATE, 0, false, false, false },
	{ COSY_MOVE_DONATE_ZERO, 0, false, false, false },
	{ COSY_MOVE_IMPORT, COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE, true, false, false },
	{ COSY_MOVE_PORT, 0, false, true, false },
	{ COSY_MOVE_PASS, 0, true, true, true },
	{ COSY_MOVE_TAKE, COSY_MOVE_POPULATE | COSY_MOVE_WILL_WRITE, true, true, false },
};

/* A field that an operation does not use is refused, so that it can have a meaning later. */
static void unused_fields(uint64_t memory)
{
	for (size_t i = 0; i < COUNT(uses); i++) {
		uint32_t operation = uses[i].operation;
		struct cosy_move good = { .size = sizeof(good),
					  .operation = operation,
					  .address = operation == COSY_MOVE_PORT ? 0 : memory,
					  .length = SIZE,
					  .fd = -1 };
		struct cosy_move bad[4] = { good, good, good, good };
		int count = 0;

		if (!uses[i].fd)
			bad[count++].fd = 0;
		if (!uses[i].at)
			bad[count++].at = PAGE;
		if (!uses[i].how)
			bad[count++].how = COSY_MOVE_COPY;
		if (operation == COSY_MOVE_PORT)
			bad[count++].address = memory;
		for (int k = 0; k < count; k++)
			CHECK(raw_ioctl(raw_fd, COSY_IOC_MOVE, &bad[k]) == -EINVAL,
			      "operation %u: field %d is not refused", operation, k);
		for (int bit = 0; bit < 32; bit++) {
			bad[0] = good;
			bad[0].flags = 1u << bit;
			if (!(bad[0].flags & uses[i].flags))
				CHECK(raw_ioctl(raw_fd, COSY_IOC_MOVE, &bad[0]) == -EINVAL,
				      "operation %u: flag %d is not refused", operation, bit);
		}
	}
}

static void requests(void *unused)
{
	uint64_t memory = (uintptr_t)move_alloc(PAGES), into = (uintptr_t)move_alloc(PAGES), at;
	const uint64_t wrong[] = { 1, PAGE - 1, SIZE, SIZE + PAGE, -PAGE, UINT64_MAX, 1UL << 63 };
	int both[2], open_before;

	(void)unused;
	raw_fd = raw_open();
	open_before = fds_open();
	for (size_t i = 0; i < COUNT(wrong); i++) {
		long ret = request(COSY_MOVE_PORT, 0, SIZE, -1, i % 2 ? wrong[i] : 0, 0);

		CHECK(ret == -EFAULT, "%zu: %ld", i, ret);
	}
	CHECK(request(COSY_MOVE_PORT, 0, SIZE + 1, -1, (uintptr_t)both, 0) == -EINVAL, "size");
	CHECK(request(COSY_MOVE_PORT, 0, 0, -1, (uintptr_t)both, 0) == -EINVAL, "nothing");
	CHECK(request(COSY_MOVE_PORT, 0, COSY_MAX_ARENA + PAGE, -1, (uintptr_t)both, 0) == -EINVAL,
	      "too large");
	unused_fields(memory);
	CHECK(fds_open() == open_before, "descriptors are left of what failed");
	MUST(!request(COSY_MOVE_PORT, 0, SIZE, -1, (uintptr_t)both, 0));
	for (size_t i = 0; i < COUNT(wrong); i++) {
		long ret = request(COSY_MOVE_PASS, memory, PAGE, both[1], wrong[i], COSY_MOVE_COPY);

		CHECK(ret == -EINVAL, "at %#llx: %ld", (unsigned long long)wrong[i], ret);
		CHECK(pwrite(both[1], (void *)memory, PAGE, (off_t)wrong[i]) == -1, "pwrite");
	}
	for (uint32_t how = 0; how < 16; how++) {
		if (how < COSY_MOVE_COPY || how > COSY_MOVE_DONATE_ZERO)
			CHECK(request(COSY_MOVE_PASS, memory, PAGE, both[1], 0, how) == -EINVAL,
			      "how %u", how);
	}
	CHECK(request(COSY_MOVE_PASS, memory, PAGE, both[0], 0, COSY_MOVE_COPY) == -EBADF, "end");
	CHECK(request(COSY_MOVE_TAKE, into, SIZE, both[1], (uintptr_t)&at, 0) == -EBADF, "end");
	CHECK(request(COSY_MOVE_PASS, memory, PAGE, raw_fd, 0, COSY_MOVE_COPY) == -EINVAL, "file");
	CHECK(request(COSY_MOVE_TAKE, into, SIZE, raw_fd, (uintptr_t)&at, 0) == -EINVAL, "file");
	CHECK(request(COSY_MOVE_PASS, (uintptr_t)&at & -PAGE, PAGE, both[1], 0, COSY_MOVE_COPY) ==
		      -EFAULT,
	      "no arena");
	/* Neither end can do what the other does, or anything else. */
	CHECK(read(both[1], &at, 8) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(write(both[0], &at, 8) == -1 && errno == EBADF, "%s", strerror(errno));
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, both[1], 0) == MAP_FAILED, "mapped");
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, both[0], 0) == MAP_FAILED, "mapped");
	CHECK(ioctl(both[1], COSY_IOC_PARCEL) == -1 && errno == ENOTTY, "%s", strerror(errno));
	{
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", both[1]);
		CHECK(open(path, O_RDWR) == -1, "opened for more");
	}
	/* A message of which nobody learns the place stays. */
	MUST(request(COSY_MOVE_PASS, memory, PAGE, both[1], PAGE, COSY_MOVE_COPY) == (long)PAGE);
	CHECK(request(COSY_MOVE_TAKE, into, SIZE, both[0], 8, 0) == -EFAULT, "at nowhere");
	CHECK(request(COSY_MOVE_TAKE, into, PAGE, both[0], (uintptr_t)&at, 0) == -EMSGSIZE,
	      "too small");
	CHECK(pread(both[0], (void *)into, SIZE, 0) == -1 && errno == ESTALE, "%s",
	      strerror(errno));
	CHECK(pread(both[0], (void *)into, 8, PAGE) == -1 && errno == EMSGSIZE, "%s",
	      strerror(errno));
	CHECK(request(COSY_MOVE_TAKE, into, SIZE, both[0], (uintptr_t)&at, 0) == (long)PAGE &&
		      at == PAGE,
	      "after all that");
	close(both[0]);
	close(both[1]);
}

/* --- Windows and sources that come and go ---------------------------------------------- */

static char *from, *window;
static int ends[2];
static int stop;

/* Takes rights and pages of the window away, and gives some, for ever. */
static void *harms(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		char *at = window + i % PAGES * PAGE;

		switch (i % 3) {
		case 0:
			mprotect(at, PAGE, PROT_READ);
			mprotect(at, PAGE, PROT_READ | PROT_WRITE);
			break;
		case 1:
			cosy_flush(at, PAGE);
			break;
		case 2:
			cosy_ready(at, PAGE, COSY_WILL_WRITE);
			break;
		}
	}
	return NULL;
}

/* Writes to the source, and flushes it, for ever. */
static void *writes(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		char *at = from + i % PAGES * PAGE;

		if (i % 3)
			*(volatile char *)at = (char)i;
		else
			cosy_flush(at, PAGE);
	}
	return NULL;
}

static void *takes(void *count)
{
	for (unsigned long k = 0; k < (unsigned long)count;) {
		size_t at = 0;
		ssize_t came = cosy_take(ends[0], window, SIZE, &at, k % 2 ? COSY_WILL_WRITE : 0);

		/* The module keeps a message that there is no place for. */
		k += came > 0 || !moves();
		CHECK(came > 0 || (came < 0 && errno == EFAULT), "%zd: %s", came, strerror(errno));
		CHECK(came <= (ssize_t)(SIZE - at), "%zd at %zu", came, at);
	}
	return NULL;
}

static void harmed(void *unused)
{
	const unsigned long rounds = 60;
	pthread_t receiver, harmers[2];

	(void)unused;
	from = move_alloc(PAGES);
	window = move_alloc(PAGES);
	MUST(!cosy_port(SIZE, ends));
	MUST(!pthread_create(&harmers[0], NULL, writes, NULL));
	MUST(!pthread_create(&harmers[1], NULL, harms, NULL));
	MUST(!pthread_create(&receiver, NULL, takes, (void *)rounds));
	/* Each message that goes is one that the receiver gets, or loses without the module. */
	for (unsigned long k = 0; k < rounds; k++) {
		size_t page = k % (PAGES - 4);

		MUST(cosy_pass(ends[1], page * PAGE, from + page * PAGE, 4 * PAGE,
			       k % 2 ? COSY_COPY : COSY_DONATE_ZERO) == (ssize_t)(4 * PAGE));
	}
	MUST(!pthread_join(receiver, NULL));
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	MUST(!pthread_join(harmers[0], NULL) && !pthread_join(harmers[1], NULL));
	close(ends[0]);
	close(ends[1]);
}

/* --- Circles --------------------------------------------------------------------------- */

#define ROUNDS 60

/* Sends what it takes on to the next; the first begins, and ends it. */
static void circle_member(int in, int out, bool first)
{
	char *memory = move_alloc(PAGES);
	size_t at;

	move_fill(memory, SIZE, 1);
	if (first)
		MUST(cosy_pass(out, 0, memory, SIZE, COSY_DONATE) == (ssize_t)SIZE);
	for (int k = 0; k < ROUNDS; k++) {
		ssize_t came = cosy_take(in, memory, SIZE, &at, k % 2 ? COSY_WILL_WRITE : 0);

		CHECK(came == (ssize_t)SIZE && !at, "%zd: %s", came, strerror(errno));
		CHECK(move_differs(memory, SIZE, 1) < 0, "round %d", k);
		if (first && k == ROUNDS - 1)
			break;
		came = cosy_pass(out, 0, memory, SIZE, (enum cosy_how)(COSY_COPY + k % 3));
		CHECK(came == (ssize_t)SIZE, "%zd: %s", came, strerror(errno));
		if (k % 3 == 0)
			memset(memory, 0xee, SIZE);
	}
	_exit(check_end());
}

/* Processes pass to each other in a circle. */
static void circles(void *unused)
{
	int port[3][2];
	pid_t pid[3];

	(void)unused;
	for (int members = 1; members <= 3; members++) {
		for (int i = 0; i < members; i++)
			MUST(!cosy_port(SIZE, port[i]));
		for (int i = 0; i < members; i++) {
			pid[i] = process_start();
			if (!pid[i])
				circle_member(port[i][0], port[(i + 1) % members][1], !i);
		}
		for (int i = 0; i < members; i++)
			process_end(pid[i]);
		for (int i = 0; i < members; i++) {
			close(port[i][0]);
			close(port[i][1]);
		}
	}
}

static int mutual_ends[2][2];

static void *mutual_takes(void *which)
{
	int me = (int)(uintptr_t)which;
	char *memory = move_alloc(PAGES);
	size_t at;

	for (int k = 0; k < ROUNDS; k++) {
		ssize_t came = cosy_take(mutual_ends[me][0], memory, SIZE, &at, 0);

		CHECK(came == (ssize_t)SIZE && move_differs(memory, SIZE, 2) < 0, "%zd: %s", came,
		      strerror(errno));
	}
	return NULL;
}

/* Two processes pass to each other at once, while each takes. */
static void mutual(void *unused)
{
	pid_t pid[2];

	(void)unused;
	for (int me = 0; me < 2; me++)
		MUST(!cosy_port(SIZE, mutual_ends[me]));
	for (int me = 0; me < 2; me++) {
		pid[me] = process_start();
		if (!pid[me]) {
			char *memory = move_alloc(PAGES);
			pthread_t thread;

			MUST(!pthread_create(&thread, NULL, mutual_takes, (void *)(uintptr_t)me));
			for (int k = 0; k < ROUNDS; k++) {
				move_fill(memory, SIZE, 2);
				MUST(cosy_pass(mutual_ends[!me][1], 0, memory, SIZE,
					       (enum cosy_how)(COSY_COPY + k % 2 * 2)) ==
				     (ssize_t)SIZE);
			}
			MUST(!pthread_join(thread, NULL));
			_exit(check_end());
		}
	}
	process_end(pid[0]);
	process_end(pid[1]);
}

/* --- Ends that travel, and are closed -------------------------------------------------- */

/* Sends ends through sockets, which travel through each other; all goes with the last. */
static void travels(void *unused)
{
	struct cosy_moving before, now;
	char *memory = move_alloc(PAGES);

	(void)unused;
	raw_fd = raw_open();
	before = moving_now();
	for (int turn = 0; turn < 20; turn++) {
		int socks[2], port[2];

		MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks) && !cosy_port(SIZE, port));
		MUST(cosy_pass(port[1], 0, memory, SIZE, COSY_COPY) == (ssize_t)SIZE);
		send_fd(socks[0], port[0]);
		send_fd(socks[0], port[1]);
		send_fd(socks[0], socks[1]);
		close(port[0]);
		close(port[1]);
		if (turn % 2) {
			size_t at;

			port[0] = receive_fd(socks[1]);
			MUST(cosy_take(port[0], memory, SIZE, &at, 0) == (ssize_t)SIZE);
			close(port[0]);
		}
		close(socks[0]);
		close(socks[1]);
	}
	/* The kernel looks for circles of sockets when others are closed. */
	for (int turn = 0; turn < 100; turn++) {
		int socks[2];

		now = moving_now();
		if (now.ports == before.ports)
			break;
		MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
		send_fd(socks[0], socks[1]);
		close(socks[0]);
		close(socks[1]);
		sleep_ms(20);
	}
	CHECK(now.ports == before.ports && now.port_pages == before.port_pages, "%llu ports",
	      now.ports - before.ports);
	cosy_move_free(memory, SIZE);
}

static void *passes_until_closed(void *result)
{
	char *memory = move_alloc(PAGES);
	ssize_t went;

	do
		went = cosy_pass(ends[1], 0, memory, SIZE, COSY_COPY);
	while (went > 0);
	*(int *)result = errno;
	return NULL;
}

static void *takes_until_closed(void *result)
{
	char *memory = move_alloc(PAGES);
	ssize_t came;
	size_t at;

	do
		came = cosy_take(ends[0], memory, SIZE, &at, 0);
	while (came > 0);
	*(int *)result = came ? errno : 0;
	return NULL;
}

/* Closes an end while others wait at the other one, and while it is used. */
static void closed(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < 30; turn++) {
		pthread_t threads[2];
		int result[2] = { 99, 99 };

		MUST(!cosy_port(SIZE, ends));
		for (int i = 0; i < 2; i++)
			MUST(!pthread_create(&threads[i], NULL,
					     turn % 2 ? passes_until_closed : takes_until_closed,
					     &result[i]));
		sleep_ms(turn % 5);
		close(ends[turn % 2 ? 0 : 1]);
		for (int i = 0; i < 2; i++) {
			MUST(!pthread_join(threads[i], NULL));
			CHECK(result[i] == (turn % 2 ? EPIPE : 0), "%s", strerror(result[i]));
		}
		close(ends[turn % 2 ? 1 : 0]);
	}
}

/* --- How much -------------------------------------------------------------------------- */

#define LIMIT (2UL << 20)

static void bounded(void *unused)
{
	const struct rlimit limit = { LIMIT, LIMIT };
	struct cosy_moving before, all;
	int first[2] = { -1, -1 };
	long refused = 0;
	char *memory;

	(void)unused;
	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
	raw_fd = raw_open();
	before = moving_now();
	memory = move_alloc(PAGES);
	move_fill(memory, SIZE, 1);
	/* Everything works above the limit as well, by sockets. */
	for (int i = 0; i < 60; i++) {
		int port[2];
		size_t at;

		MUST(!cosy_port(SIZE, port));
		if (!i)
			memcpy(first, port, sizeof(first));
		MUST(cosy_pass(port[1], 0, memory, SIZE, COSY_DONATE_ZERO) == (ssize_t)SIZE);
		MUST(cosy_take(port[0], memory, SIZE, &at, 0) == (ssize_t)SIZE && !at);
		CHECK(move_differs(memory, SIZE, 1) < 0, "port %d", i);
		MUST(cosy_pass(port[1], 0, memory, SIZE, COSY_COPY) == (ssize_t)SIZE);
	}
	all = moving_now();
	printf("%llu KB in %llu of 60 ports with %lu KB to lock\n", all.port_pages * 4, all.ports,
	       LIMIT >> 10);
	CHECK(all.ports > before.ports && all.ports < 60, "%llu ports", all.ports);
	CHECK((all.arena_pages + all.parcel_pages + all.port_pages) * PAGE <= LIMIT, "%llu pages",
	      all.port_pages);
	/* What programs before this one had locked may only be given back now: fill that up, too. */
	for (int i = 0; i < 60 && !refused; i++) {
		int port[2];

		refused = request(COSY_MOVE_PORT, 0, SIZE, -1, (uintptr_t)port, 0);
	}
	CHECK(refused == -ENOMEM, "60 more: %ld", refused);
	all = moving_now();
	close(first[0]);
	CHECK(moving_now().ports == all.ports, "a port of one end is not counted");
	close(first[1]);
	CHECK(moving_now().ports == all.ports - 1, "a port that is closed is counted");
	MUST(!request(COSY_MOVE_PORT, 0, SIZE, -1, (uintptr_t)first, 0));
}

/* --- Messages that are none ------------------------------------------------------------ */

struct place {
	uint64_t at, count;
};

/* Sends `count` descriptors with some bytes to a port that is a socket. */
static void garbage_send(int port, const void *bytes, size_t size, const int *fds, size_t count)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = { 0 };
	struct iovec piece = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &piece, .msg_iovlen = 1 };

	if (count) {
		struct cmsghdr *part;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		part = CMSG_FIRSTHDR(&message);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(part), fds, count * sizeof(int));
	}
	MUST(sendmsg(port, &message, MSG_NOSIGNAL) == (ssize_t)size);
}

static int memfd_of(size_t size, int seals)
{
	int fd = memfd_create("garbage", MFD_ALLOW_SEALING);

	MUST(fd >= 0 && !ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

static void garbage(void *unused)
{
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	const struct rlimit none = { 0, 0 };
	const struct place places[] = {
		{ 1, PAGE },	     { SIZE, PAGE },	   { 0, SIZE + 1 },	{ 0, 0 },
		{ -PAGE, 2 * PAGE }, { PAGE, UINT64_MAX }, { PAGE, -PAGE - 1 },
	};
	int wide = 1 << 20, fds[4], open_before;
	size_t at;

	(void)unused;
	become_nobody(true);
	from = move_alloc(PAGES);
	window = move_alloc(PAGES);
	move_fill(from, SIZE, 1);
	move_fill(window, SIZE, 7);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &none));
	MUST(!cosy_port(SIZE, ends));
	/* Its holder makes room for more. */
	MUST(!setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &wide, sizeof(wide)));
	fds[0] = memfd_of(PAGE, sealed);
	fds[1] = memfd_of(PAGE, F_SEAL_SHRINK | F_SEAL_GROW);
	fds[2] = memfd_of(8, sealed);
	fds[3] = ends[1];
	open_before = fds_open();
	garbage_send(ends[1], "", 0, NULL, 0);
	garbage_send(ends[1], "", 0, fds, 1);
	garbage_send(ends[1], "garbage", 7, fds, 1);
	garbage_send(ends[1], "garbage", 7, fds, 2);
	garbage_send(ends[1], "garbage", 7, fds, 4);
	for (size_t i = 0; i < COUNT(places); i++)
		garbage_send(ends[1], &places[i], sizeof(*places), fds, 1);
	for (int i = 1; i < 4; i++)
		garbage_send(ends[1], &(struct place){ 0, PAGE }, sizeof(*places), fds + i, 1);
	garbage_send(ends[1], &(struct place){ 0, PAGE }, sizeof(*places), NULL, 0);
	garbage_send(ends[1], (struct place[]){ { 0, PAGE }, { 0, PAGE } }, 2 * sizeof(*places),
		     fds, 1);
	MUST(cosy_pass(ends[1], PAGE, from, 2 * PAGE, COSY_COPY) == (ssize_t)(2 * PAGE));
	garbage_send(ends[1], "", 0, NULL, 0);
	CHECK(cosy_take(ends[0], window, SIZE, &at, 0) == (ssize_t)(2 * PAGE) && at == PAGE, "%s",
	      strerror(errno));
	CHECK(move_differs(window, PAGE, 7) < 0, "garbage has changed the window");
	CHECK(move_differs(window + PAGE, 2 * PAGE, 1) < 0, "after garbage");
	CHECK(fds_open() == open_before, "%d descriptors are left", fds_open() - open_before);
	close(fds[3]);
	CHECK(!cosy_take(ends[0], window, SIZE, &at, 0), "the end: %s", strerror(errno));
}

static const struct part parts[] = {
	{ "requests", .run_in_child = requests }, { "harmed", .run_in_child = harmed },
	{ "circles", .run_in_child = circles },	  { "mutual", .run_in_child = mutual },
	{ "travels", .run_in_child = travels },	  { "closed", .run_in_child = closed },
	{ "bounded", .run_in_child = bounded },	  { "garbage", .run_in_child = garbage },
};

int main(int argc, char **argv)
{
	raw_fd = raw_open();
	close(raw_fd);
	return move_main(parts, sizeof(parts) / sizeof(*parts), argc, argv);
}
