/* SPDX-License-Identifier: MIT */
/*
 * Waits and reads by epoll_read: two servers whose event loops have the shape of squid's and of
 * nginx's do the same, byte for byte, by plain calls, by libcosy's function, by an operation in the
 * kernel and in a region.  Signals, timeouts, deaths and forged states come in between.
 */
#include "raw.h"
#include <cosy/fast.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { CLIENTS = 16, MAX = 6, SHARE = 96, BIGGEST = 300, TURNS = 400, MAX_LINE = 256 };
enum { SIZE = MAX * (sizeof(struct cosy_arrival) + SHARE), LOG = 4 << 20 };

/* What epoll_ctl is given: the number of the connection lies above the mark. */
#define READ(fd, number)                                                                           \
	((union epoll_data){ .u64 = (uint32_t)(fd) | COSY_ARRIVAL_READ | (uint64_t)(number) << 33 })
#define NUMBER(arrival) ((int)((arrival)->data >> 33))
#define FD(arrival)	((int)(arrival)->data)

static int device;
static char *shared; /* the shared buffer */

/* --- Ways to wait and read: each returns how many are ready, or a negative errno --------------- */

typedef int wait_function(int epfd, void *buffer, size_t size, int max, int timeout);

static wait_function *waits;

/* Makes the plain calls; shares no code with core/epoll_read.h. */
static int wait_plainly(int epfd, void *buffer, size_t size, int max, int timeout)
{
	struct epoll_event event[MAX];
	struct cosy_arrival *arrival = buffer;
	size_t share = (size / (size_t)max - 16) / 8 * 8;
	char *to = (char *)(arrival + max);
	int n = epoll_wait(epfd, event, max, timeout);

	for (int i = 0; i < n; i++, to += share) {
		arrival[i].data = event[i].data.u64;
		arrival[i].events = event[i].events;
		arrival[i].result = COSY_NOT_READ;
		if (!(event[i].data.u64 >> 32 & 1) || !(event[i].events & EPOLLIN) ||
		    event[i].events & EPOLLERR)
			continue;
		arrival[i].result = (int)read(event[i].data.fd, to, share);
		if (arrival[i].result < 0)
			arrival[i].result = -errno;
	}
	return n < 0 ? -errno : n;
}

static int wait_by_library(int epfd, void *buffer, size_t size, int max, int timeout)
{
	int n = cosy_epoll_read(epfd, buffer, size, max, timeout);

	return n < 0 ? -errno : n;
}

static struct raw_run the_run;
static uint32_t kernel_program;

/* Loads a program that makes the operation with the five arguments that its context holds. */
static uint32_t load_operation(void)
{
	static const struct bpf_insn insns[] = {
		MOVR(6, 1),
		LOAD(BPF_DW, 1, 6, 0),
		LOAD(BPF_DW, 2, 6, 8),
		LOAD(BPF_DW, 3, 6, 16),
		LOAD(BPF_DW, 4, 6, 24),
		LOAD(BPF_DW, 5, 6, 32),
		MOV(0, 0),
		CALL_OP(RAW_OP_epoll_read),
		STORE(BPF_DW, 6, 40, 0),
		EXIT,
	};

	return raw_load(device, insns, COUNT(insns));
}
enum { AT_CALL = 7 };

static int wait_in_kernel(int epfd, void *buffer, size_t size, int max, int timeout)
{
	uint64_t words[6] = { (uint64_t)epfd, (uintptr_t)buffer, size, (uint64_t)max,
			      (uint64_t)timeout };

	if (!kernel_program)
		kernel_program = load_operation();
	raw_run_init(&the_run, kernel_program, words);
	MUST(!raw_run_to_end(device, &the_run) && the_run.run.status == COSY_DONE);
	return (int)words[5];
}

static int wait_in_region(int epfd, void *buffer, size_t size, int max, int timeout)
{
	int n, error;

	COSY_START;
	n = cosy_epoll_read(epfd, buffer, size, max, timeout);
	error = errno;
	COSY_END;
	return n < 0 ? -error : n;
}

static const struct way {
	const char *name;
	wait_function *waits; /* NULL: a turn is a region as a whole */
} ways[] = {
	{ "plain", wait_plainly },
	{ "library", wait_by_library },
	{ "kernel", wait_in_kernel },
	{ "region", wait_in_region },
	{ "loop", NULL },
};

/* --- What a server did, and what its clients got ----------------------------------------------- */

static char *log_bytes;
static size_t logged;

static void log_add(const void *bytes, size_t count)
{
	MUST(logged + count <= LOG);
	memcpy(log_bytes + logged, bytes, count);
	logged += count;
}

static void log_number(long number)
{
	log_add(&number, sizeof(number));
}

/* Logs what a turn found, but for the descriptors. */
static void log_turn(char *buffer, int n)
{
	const struct cosy_arrival *arrival = (struct cosy_arrival *)buffer;

	log_number(n);
	for (int i = 0; i < n; i++) {
		log_number(NUMBER(&arrival[i]));
		log_number(arrival[i].events);
		log_number(arrival[i].result);
		if (arrival[i].result > 0)
			log_add(COSY_ARRIVAL_BYTES(buffer, SIZE, MAX, i),
				(size_t)arrival[i].result);
	}
}

/* --- Clients ----------------------------------------------------------------------------------- */

static int client[CLIENTS], epfd, listener;
static bool ended[CLIENTS]; /* clients that send no more */
static unsigned int sleeps; /* turns that found nothing */

static void client_receive(int number)
{
	char got[4096];
	ssize_t n;

	while ((n = recv(client[number], got, sizeof(got), MSG_DONTWAIT)) > 0) {
		log_number(number);
		log_add(got, (size_t)n);
	}
	if (!n) {
		log_number(-number - 1);
		close(client[number]);
		client[number] = -1;
	}
}

static void client_end(int number)
{
	shutdown(client[number], SHUT_WR);
	ended[number] = true;
}

static void client_send(int number, size_t count, char end)
{
	char text[BIGGEST];

	if (ended[number])
		return;

	for (size_t i = 0; i < count; i++)
		text[i] = (char)('a' + chance(26));
	text[count - 1] = end;
	MUST(send(client[number], text, count, MSG_NOSIGNAL) == (ssize_t)count);
}

/* --- squid's loop: wait, read each, write to each ---------------------------------------------- */

static void squid_connect(int number)
{
	struct epoll_event event = { .events = EPOLLIN };
	int pair[2];

	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	MUST(!fcntl(pair[1], F_SETFL, O_NONBLOCK));
	client[number] = pair[0];
	ended[number] = false;
	event.data = READ(pair[1], number);
	MUST(!epoll_ctl(epfd, EPOLL_CTL_ADD, pair[1], &event));
}

/* Handles what was found: whoever sent bytes gets them back, and who ended is closed. */
#define SQUID_TURN(n, buffer)                                                                      \
	do {                                                                                       \
		struct cosy_arrival *arrival_ = (struct cosy_arrival *)(buffer);                   \
                                                                                                   \
		for (int i_ = 0; i_ < (n); i_++, arrival_++) {                                     \
			if (arrival_->result > 0)                                                  \
				write((int)arrival_->data,                                         \
				      COSY_ARRIVAL_BYTES(buffer, SIZE, MAX, i_),                   \
				      (size_t)arrival_->result);                                   \
			else if (arrival_->result != COSY_NOT_READ && arrival_->result != -EAGAIN) \
				close((int)arrival_->data);                                        \
		}                                                                                  \
	} while (0)

static int squid_turn_natively(char *buffer)
{
	int n = waits(epfd, buffer, SIZE, MAX, 0);

	SQUID_TURN(n, buffer);
	return n;
}

static int squid_turn_in_region(char *buffer)
{
	int n, poll = epfd;

	COSY_START;
	n = cosy_epoll_read(poll, buffer, SIZE, MAX, 0);
	SQUID_TURN(n, buffer);
	COSY_END;
	return n;
}

static void squid_begin(void)
{
	for (int i = 0; i < CLIENTS; i++)
		squid_connect(i);
}

static void squid_act(void)
{
	int number = (int)chance(CLIENTS);

	if (client[number] < 0)
		squid_connect(number);
	switch (chance(8)) {
	case 0:
	case 1:
	case 2:
		break;
	case 3:
		client_end(number);
		break;
	default:
		client_send(number, 1 + chance(BIGGEST), 'z');
	}
}

/* --- nginx's loop: wait, accept, receive, writev, by edges -------------------------------------- */

static struct line {
	char text[MAX_LINE];
	size_t count;
} lines[TURNS];
static int accepted; /* connections so far */

static void nginx_connect(int number)
{
	static const struct sockaddr_un address = { AF_UNIX, "nginx" };

	MUST((client[number] = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
	MUST(!connect(client[number], (struct sockaddr *)&address, sizeof(address)));
	ended[number] = false;
}

/*
 * Accepts on the listener, whose data has no mark; answers each whole line; closes at the end.  A
 * full share is followed by more receives, as an edge is told once.
 */
#define NGINX_TURN(n, buffer)                                                                      \
	do {                                                                                       \
		struct cosy_arrival *arrival_ = (struct cosy_arrival *)(buffer);                   \
                                                                                                   \
		for (int i_ = 0; i_ < (n); i_++, arrival_++) {                                     \
			int fd_ = (int)arrival_->data;                                             \
			char *bytes_ = COSY_ARRIVAL_BYTES(buffer, SIZE, MAX, i_);                  \
			long left_ = arrival_->result;                                             \
                                                                                                   \
			if (!(arrival_->data & COSY_ARRIVAL_READ)) {                               \
				while ((fd_ = accept4(listen, NULL, NULL, SOCK_NONBLOCK)) >= 0) {  \
					struct epoll_event event_;                                 \
                                                                                                   \
					event_.events = EPOLLIN | EPOLLRDHUP | EPOLLET;            \
					event_.data.u64 = (uint32_t)fd_ | COSY_ARRIVAL_READ |      \
							  (uint64_t)accepted++ << 33;              \
					epoll_ctl(poll, EPOLL_CTL_ADD, fd_, &event_);              \
				}                                                                  \
				continue;                                                          \
			}                                                                          \
			while (left_ > 0) {                                                        \
				struct line *line_ = &lines[arrival_->data >> 33];                 \
                                                                                                   \
				for (long k_ = 0; k_ < left_; k_++) {                              \
					line_->text[line_->count++ % MAX_LINE] = bytes_[k_];       \
					if (bytes_[k_] != '\n')                                    \
						continue;                                          \
					struct iovec answer_[2];                                   \
                                                                                                   \
					answer_[0].iov_base = head;                                \
					answer_[0].iov_len = 4;                                    \
					answer_[1].iov_base = line_->text;                         \
					answer_[1].iov_len = line_->count % MAX_LINE;              \
					writev(fd_, answer_, 2);                                   \
					line_->count = 0;                                          \
				}                                                                  \
				if (left_ < SHARE)                                                 \
					break;                                                     \
				left_ = recv(fd_, bytes_, SHARE, 0);                               \
			}                                                                          \
			if (!arrival_->result || arrival_->events & EPOLLRDHUP) {                  \
				lines[arrival_->data >> 33].count = 0;                             \
				close(fd_);                                                        \
			}                                                                          \
		}                                                                                  \
	} while (0)

static char head[] = "200 ";

static int nginx_turn_natively(char *buffer)
{
	int listen = listener, poll = epfd, n = waits(poll, buffer, SIZE, MAX, 0);

	NGINX_TURN(n, buffer);
	return n;
}

static int nginx_turn_in_region(char *buffer)
{
	int listen = listener, poll = epfd, n;

	COSY_START;
	n = cosy_epoll_read(poll, buffer, SIZE, MAX, 0);
	NGINX_TURN(n, buffer);
	COSY_END;
	return n;
}

static void nginx_begin(void)
{
	const struct sockaddr_un address = { AF_UNIX, "nginx" };
	struct epoll_event event = { .events = EPOLLIN };

	unlink("nginx");
	MUST((listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)) >= 0);
	MUST(!bind(listener, (struct sockaddr *)&address, sizeof(address)));
	MUST(!listen(listener, 64));
	event.data.u64 = (uint32_t)listener;
	MUST(!epoll_ctl(epfd, EPOLL_CTL_ADD, listener, &event));
	accepted = 0;
	memset(lines, 0, sizeof(lines));
}

static void nginx_act(void)
{
	int number = (int)chance(CLIENTS);

	if (client[number] < 0)
		nginx_connect(number);
	else if (!chance(30))
		client_end(number);
	else
		for (uint64_t pieces = chance(3); pieces--;)
			client_send(number, 1 + chance(60), chance(2) ? '\n' : 'z');
}

/* --- The same bytes ---------------------------------------------------------------------------- */

static const struct server {
	const char *name;
	void (*begin)(void);
	void (*act)(void); /* makes the clients do something before a turn */
	int (*turn_natively)(char *buffer);
	int (*turn_in_region)(char *buffer);
} squid = { "squid's loop", squid_begin, squid_act, squid_turn_natively, squid_turn_in_region },
  nginx = { "nginx's loop", nginx_begin, nginx_act, nginx_turn_natively, nginx_turn_in_region };

/* Has the server close what its clients have left. */
static void server_end(const struct server *server, char *buffer)
{
	for (int i = 0; i < CLIENTS; i++)
		if (client[i] >= 0)
			close(client[i]);
	waits = wait_plainly;
	while (server->turn_natively(buffer) > 0)
		;
	close(epfd);
	if (listener >= 0)
		close(listener);
}

/* Lets a server run from a fresh start. */
static void serve_once(const struct server *server, const struct way *way, bool in_shared)
{
	static char private_area[SIZE] __attribute__((aligned(8)));
	char *buffer = in_shared ? shared : private_area;
	struct cosy_stats then = counts();

	waits = way->waits;
	logged = sleeps = 0;
	raw_seed = 7;
	listener = -1;
	for (int i = 0; i < CLIENTS; i++)
		client[i] = -1;
	MUST((epfd = epoll_create1(0)) >= 0);
	server->begin();
	for (int turn = 0; turn < TURNS; turn++) {
		int n;

		server->act();
		n = waits ? server->turn_natively(buffer) : server->turn_in_region(buffer);
		log_turn(buffer, n);
		sleeps += !n;
		for (int i = 0; i < CLIENTS; i++)
			if (client[i] >= 0)
				client_receive(i);
	}
	server_end(server, buffer);
	if (!way->waits || way->waits == wait_in_region)
		CHECK_KERNEL(then, TURNS, TURNS);
}

static void serve_alike(const struct server *server)
{
	char *want = malloc(LOG);
	int descriptor = dup(0), other;
	size_t wanted = 0;

	MUST(want && (log_bytes = malloc(LOG)));
	close(descriptor);
	for (size_t i = 0; i < 2 * COUNT(ways); i++) {
		const struct way *way = &ways[i / 2];

		serve_once(server, way, i % 2);
		if (!i) {
			memcpy(want, log_bytes, wanted = logged);
			CHECK(wanted > 20000 && sleeps > 10 && sleeps < 3 * TURNS / 4,
			      "%s: %zu bytes, %u of %d turns found nothing", server->name, wanted,
			      sleeps, TURNS);
		}
		CHECK(logged == wanted && !memcmp(log_bytes, want, wanted),
		      "%s by %s: other bytes (%zu, not %zu)", server->name, way->name, logged,
		      wanted);
	}
	other = dup(0);
	close(other);
	CHECK(other <= descriptor + 1, "%s: descriptor %d is free, %d was", server->name, other,
	      descriptor);
	free(want);
	free(log_bytes);
}

static void test_squid(void)
{
	serve_alike(&squid);
}

static void test_nginx(void)
{
	serve_alike(&nginx);
}

/* --- Arguments --------------------------------------------------------------------------------- */

static void expect(const char *name, int got, int want)
{
	CHECK(got == want, "%s: %d, not %d", name, got, want);
}

static void watch(int poll, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = data };

	MUST(!epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event));
}

static void test_arguments(void)
{
	struct cosy_arrival *arrival = (struct cosy_arrival *)shared;
	int wire[2], other;

	for (size_t i = 1; i < COUNT(ways) - 1; i++) {
		wait_function *wait = ways[i].waits;

		MUST(!pipe(wire) && (epfd = epoll_create1(0)) >= 0);
		watch(epfd, wire[0], READ(wire[0], 5).u64);
		expect("none ready", wait(epfd, shared, SIZE, MAX, 0), 0);
		expect("none ready in 5 ms", wait(epfd, shared, SIZE, MAX, 5), 0);
		expect("no descriptor", wait(-1, shared, SIZE, MAX, 0), -EBADF);
		expect("no epoll", wait(wire[0], shared, SIZE, MAX, 0), -EINVAL);
		expect("max 0", wait(epfd, shared, SIZE, 0, 0), -EINVAL);
		expect("max -1", wait(epfd, shared, SIZE, -1, 0), -EINVAL);
		expect("max 1025", wait(epfd, shared, 1 << 19, 1025, 0), -EINVAL);
		expect("max 1024", wait(epfd, shared, 1 << 19, 1024, 0), 0);
		expect("small", wait(epfd, shared, 23, 1, 0), -EINVAL);
		MUST(write(wire[1], "0123456789", 10) == 10);
		expect("no memory", wait(epfd, NULL, SIZE, MAX, 0), -EFAULT);
		memset(shared, 0x55, 64);
		expect("least", wait(epfd, shared, 24, 1, -1), 1);
		CHECK(arrival->result == 8 && arrival->events == EPOLLIN && NUMBER(arrival) == 5 &&
			      FD(arrival) == wire[0] &&
			      !memcmp(shared + 16, "01234567\x55\x55", 10),
		      "%s: %d bytes", ways[i].name, arrival->result);
		/* One that is not marked; the end; data that is no descriptor. */
		MUST((other = dup(wire[0])) >= 0);
		watch(epfd, other, (uint32_t)other);
		expect("two", wait(epfd, shared, SIZE, MAX, 0), 2);
		CHECK(arrival[0].result == 2 && arrival[1].result == COSY_NOT_READ, "%s: %d and %d",
		      ways[i].name, arrival[0].result, arrival[1].result);
		close(other);
		close(wire[1]);
		expect("hung up", wait(epfd, shared, SIZE, MAX, 0), 2);
		CHECK(arrival[0].events == EPOLLHUP && arrival[0].result == COSY_NOT_READ,
		      "%s: %#x", ways[i].name, arrival[0].events);
		close(wire[0]);
		/* A connection that was reset has EPOLLIN, too. */
		MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, wire) && write(wire[0], "x", 1) == 1);
		watch(epfd, wire[0], READ(wire[0], 1).u64);
		close(wire[1]);
		expect("reset", wait(epfd, shared, SIZE, MAX, 0), 1);
		CHECK(arrival->events == (EPOLLIN | EPOLLERR | EPOLLHUP) &&
			      arrival->result == COSY_NOT_READ,
		      "%s: %#x, %d", ways[i].name, arrival->events, arrival->result);
		close(wire[0]);
		MUST(!pipe(wire) && write(wire[1], "x", 1) == 1);
		watch(epfd, wire[0], COSY_ARRIVAL_READ | 999);
		expect("no such", wait(epfd, shared, SIZE, MAX, 0), 1);
		expect("read of none", arrival->result, -EBADF);
		close(wire[0]);
		close(wire[1]);
		close(epfd);
	}
}

/* --- Waiting ----------------------------------------------------------------------------------- */

static volatile sig_atomic_t signals;
static int signal_writes = -1;

static void on_alarm(int sig)
{
	(void)sig;
	signals++;
	if (signal_writes >= 0)
		write(signal_writes, "late", 4);
}

static void *write_later(void *fd)
{
	sleep_ms(150);
	MUST(write(*(int *)fd, "woken", 5) == 5);
	return NULL;
}

static void test_waiting(void)
{
	struct cosy_arrival *arrival = (struct cosy_arrival *)shared;
	pthread_t thread;
	int wire[2], twin;

	for (size_t i = 0; i < COUNT(ways) - 1; i++) {
		wait_function *wait = ways[i].waits;
		const char *name = ways[i].name;
		double begun = now_ms();

		MUST(!pipe(wire) && (twin = dup(wire[0])) >= 0);
		MUST((epfd = epoll_create1(0)) >= 0);
		watch(epfd, wire[0], READ(wire[0], 1).u64);
		expect(name, wait(epfd, shared, SIZE, MAX, 120), 0);
		CHECK(now_ms() - begun >= 119, "%s: %g ms", name, now_ms() - begun);
		MUST(!pthread_create(&thread, NULL, write_later, &wire[1]));
		expect(name, wait(epfd, shared, SIZE, MAX, -1), 1);
		CHECK(arrival->result == 5, "%s: %d bytes", name, arrival->result);
		pthread_join(thread, NULL);
		/* A signal ends the wait, whatever sigaction says of restarting. */
		for (int flags = 0; flags < 2; flags++) {
			handle(SIGALRM, on_alarm, flags ? SA_RESTART : 0);
			signals = 0;
			alarm_us(50000, 0);
			expect(name, wait(epfd, shared, SIZE, MAX, -1), -EINTR);
			expect("signals", signals, 1);
		}
		if (wait == wait_in_kernel)
			goto next; /* an interrupted read is libcosy's to finish: see below */
		/* Two descriptors of one pipe: the second read finds nothing left, and sleeps. */
		watch(epfd, twin, READ(twin, 2).u64);
		for (int restart = 0; restart < 2; restart++) {
			handle(SIGALRM, on_alarm, restart ? SA_RESTART : 0);
			signal_writes = restart ? wire[1] : -1;
			signals = 0;
			MUST(write(wire[1], "first", 5) == 5);
			alarm_us(80000, 0);
			expect(name, wait(epfd, shared, SIZE, MAX, -1), 2);
			CHECK(arrival[0].result == 5 &&
				      arrival[1].result == (restart ? 4 : -EINTR) && signals == 1,
			      "%s: %d and %d, %d signals", name, arrival[0].result,
			      arrival[1].result, signals);
		}
		signal_writes = -1;
next:
		close(wire[0]);
		close(wire[1]);
		close(twin);
		close(epfd);
	}
}

static void test_killed(void)
{
	int wire[2], status;
	pid_t pid;

	MUST(!pipe(wire));
	for (int twice = 0; twice < 2; twice++) {
		fflush(stdout);
		MUST((pid = fork()) >= 0);
		if (!pid) {
			int twin = dup(wire[0]);

			MUST((epfd = epoll_create1(0)) >= 0);
			watch(epfd, wire[0], READ(wire[0], 1).u64);
			if (twice)
				watch(epfd, twin, READ(twin, 1).u64);
			MUST(!twice || write(wire[1], "x", 1) == 1);
			device = raw_open();
			kernel_program = 0;
			wait_in_kernel(epfd, malloc(SIZE), SIZE, MAX, -1);
			_exit(1);
		}
		sleep_ms(200);
		MUST(!waitpid(pid, &status, WNOHANG));
		MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %#x", status);
	}
	close(wire[0]);
	close(wire[1]);
}

/* --- Memory that changes, or is not all there --------------------------------------------------- */

enum { MANY = 1024, PAGE = 4096 };

static char *guarded; /* the page below the events, which cannot be written at first */
static volatile sig_atomic_t faults;

static void on_fault(int sig)
{
	(void)sig;
	faults++;
	MUST(!mprotect(guarded, PAGE, PROT_READ | PROT_WRITE));
}

/* Arms an edge that is told once, and memory of which only the place of the events can be written. */
static void guard_arm(int *wire, size_t size)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET | EPOLLONESHOT };

	MUST(!pipe(wire) && (epfd = epoll_create1(0)) >= 0);
	event.data = READ(wire[0], 1);
	MUST(!epoll_ctl(epfd, EPOLL_CTL_ADD, wire[0], &event) && write(wire[1], "once", 4) == 4);
	guarded = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(guarded != MAP_FAILED && !mprotect(guarded, PAGE, PROT_READ));
	faults = 0;
}

static void guard_end(int *wire, size_t size)
{
	munmap(guarded, size);
	close(wire[0]);
	close(wire[1]);
	close(epfd);
}

/*
 * Arrivals that cannot be written fault as they do in user mode, where a handler may mend that; what
 * epoll_wait tells once is not lost.
 */
static void test_guarded(void)
{
	const size_t size = MANY * (sizeof(struct cosy_arrival) + 8);
	struct epoll_event event;
	int wire[2];

	handle(SIGSEGV, on_fault, 0);
	for (size_t i = 1; i < COUNT(ways) - 1; i++) {
		const struct cosy_arrival *arrival;

		guard_arm(wire, size);
		arrival = (struct cosy_arrival *)guarded;
		if (ways[i].waits == wait_in_kernel) {
			uint64_t words[6] = { (uint64_t)epfd, (uintptr_t)guarded, size, MANY, 0 };

			if (!kernel_program)
				kernel_program = load_operation();
			raw_run_init(&the_run, kernel_program, words);
			CHECK(!raw_run_to_end(device, &the_run) &&
				      the_run.run.status == COSY_LEFT_FAULT,
			      "status %u, result %d", the_run.run.status, (int)words[5]);
			expect("what is told once", epoll_wait(epfd, &event, 1, 0), 1);
			guard_end(wire, size);
			continue;
		}
		expect(ways[i].name, ways[i].waits(epfd, guarded, size, MANY, 0), 1);
		CHECK(faults == 1 && arrival->result == 4 && NUMBER(arrival) == 1,
		      "%s: %d faults, %d bytes", ways[i].name, faults, arrival->result);
		guard_end(wire, size);
	}
	signal(SIGSEGV, SIG_DFL);
}

struct changing {
	struct cosy_arrival *arrival;
	pid_t reader;
	int fd;
};

/* Changes an arrival's data and events while its read sleeps, then ends the read. */
static void *change_arrival(void *of)
{
	struct changing *c = of;

	while (c->arrival[1].result != COSY_NOT_READ || c->arrival[0].result != 5 ||
	       !is_asleep(c->reader))
		sleep_ms(1);
	c->arrival[1].data = 77;
	c->arrival[1].events = 88;
	MUST(write(c->fd, "late", 4) == 4);
	return NULL;
}

/* A read writes its result and nothing else of the arrival. */
static void test_changing(void)
{
	struct changing changing = { (struct cosy_arrival *)shared, getpid(), -1 };
	struct cosy_arrival *arrival = changing.arrival;

	for (size_t i = 0; i < COUNT(ways) - 1; i++) {
		int wire[2], twin;
		pthread_t thread;

		MUST(!pipe(wire) && (twin = dup(wire[0])) >= 0);
		MUST((epfd = epoll_create1(0)) >= 0);
		watch(epfd, wire[0], READ(wire[0], 1).u64);
		watch(epfd, twin, READ(twin, 2).u64);
		MUST(write(wire[1], "first", 5) == 5);
		memset(shared, 0, SIZE);
		changing.fd = wire[1];
		MUST(!pthread_create(&thread, NULL, change_arrival, &changing));
		expect(ways[i].name, ways[i].waits(epfd, shared, SIZE, MAX, -1), 2);
		pthread_join(thread, NULL);
		CHECK(arrival[1].result == 4 && arrival[1].data == 77 && arrival[1].events == 88,
		      "%s: %d bytes, data %#llx, events %u", ways[i].name, arrival[1].result,
		      (unsigned long long)arrival[1].data, arrival[1].events);
		close(wire[0]);
		close(wire[1]);
		close(twin);
		close(epfd);
	}
}

/* --- States that nobody left ------------------------------------------------------------------- */

/* Goes on from r1-r5 as somebody forged them; whatever comes of it, it ends. */
static int64_t forged(uint64_t count, uint64_t buffer, uint64_t size, uint64_t max, uint64_t next)
{
	static uint32_t program;
	static uint64_t words[6];
	const uint64_t r[] = { 0, count, buffer, size, max, COSY_UNDER_WAY | (uint32_t)next };

	if (!program)
		program = load_operation();
	raw_run_init(&the_run, program, words);
	memset(&the_run.state, 0, sizeof(the_run.state));
	memcpy(the_run.state.reg, r, sizeof(r));
	the_run.state.reg[6] = (uintptr_t)words;
	the_run.state.fp = ~0ull;
	the_run.run.resume = AT_CALL + 1;
	CHECK(!raw_run_to_end(device, &the_run) && the_run.run.status == COSY_DONE,
	      "%#llx, %#llx, %#llx, %#llx, %#llx: status %u", (unsigned long long)count,
	      (unsigned long long)buffer, (unsigned long long)size, (unsigned long long)max,
	      (unsigned long long)next, the_run.run.status);
	return (int64_t)words[5];
}

static void test_forged(void)
{
	struct cosy_arrival *arrival = (struct cosy_arrival *)shared;
	uint64_t at = (uintptr_t)shared;
	int zero = open("/dev/zero", O_RDONLY), few = eventfd(~0u, EFD_SEMAPHORE);

	for (int i = 0; i < MAX; i++)
		arrival[i] =
			(struct cosy_arrival){ (uint32_t)zero | COSY_ARRIVAL_READ, EPOLLIN, 7 };
	CHECK(forged(MAX, at, SIZE, MAX, 2) == MAX, "not six");
	for (int i = 0; i < MAX; i++)
		expect("read from the third on", arrival[i].result, i < 2 ? 7 : SHARE);
	CHECK(forged(MAX, at, SIZE, MAX, ~0u) == MAX, "none left");
	CHECK(forged(MAX + 1, at, SIZE, MAX, 0) == -EINVAL, "more than may be");
	CHECK(forged(~0ull, at, SIZE, MAX, 0) == -EINVAL, "-1 of them");
	CHECK(forged(1, at, 0, MAX, 0) == -EINVAL, "no room");
	CHECK(forged(1, at, SIZE, 0, 0) == -EINVAL, "max 0");
	CHECK(forged(1, 0, SIZE, MAX, 0) == -EFAULT, "no memory");
	/* From here on a share may have any size, so that a read must not be of many bytes. */
	for (int i = 0; i < MAX; i++)
		arrival[i].data = (uint32_t)few | COSY_ARRIVAL_READ;
	for (int shift = 0; shift < 64; shift++) {
		forged(1, ~0ull << shift, SIZE, MAX, 0);
		forged(1, at, ~0ull << shift, MAX, 0);
		forged(1ull << shift, at, SIZE, MAX, 1ull << shift);
		forged(1, at + (1 << 20) - (1 << shift % 20), SIZE, MAX, 0);
		forged(MAX, at, SIZE, 1ull << shift, 0);
	}
	close(zero);
	close(few);
}

int main(int argc, char **argv)
{
	static const struct part parts[] = {
		{ "squid", .run = test_squid },		{ "nginx", .run = test_nginx },
		{ "arguments", .run = test_arguments }, { "waiting", .run = test_waiting },
		{ "guarded", .run = test_guarded },	{ "changing", .run = test_changing },
		{ "killed", .run = test_killed },	{ "forged", .run = test_forged },
	};
	int status;

	signal(SIGPIPE, SIG_IGN);
	directory_enter();
	device = raw_open();
	shared = raw_buffer(device, 1 << 20);
	status = part_main(parts, COUNT(parts), argc, argv);
	unlink("nginx");
	directory_leave();
	return status | check_end();
}
