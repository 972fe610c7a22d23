/* SPDX-License-Identifier: MIT */
/*
 * Waits and reads by epoll_read: two servers whose event loops have the shape of squid's and of
 * nginx's do the same, byte for byte, by plain calls, by libcosy's function, by an operation in the
 * kernel and in a region.  Signals, timeouts, deaths and forged states come in between.
 */
#include "epoll_read.h"
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

int check_failures;
int device;
char *shared;
static int epfd;

/* --- Ways to wait and read --------------------------------------------------------------------- */

int wait_plainly(int epfd, void *buffer, size_t size, int max, int timeout)
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

int wait_in_region(int epfd, void *buffer, size_t size, int max, int timeout)
{
	int n, error;

	COSY_START;
	n = cosy_epoll_read(epfd, buffer, size, max, timeout);
	error = errno;
	COSY_END;
	return n < 0 ? -error : n;
}

const struct way ways[WAYS] = {
	{ "plain", wait_plainly },
	{ "library", wait_by_library },
	{ "kernel", wait_in_kernel },
	{ "region", wait_in_region },
	{ "loop", NULL },
};
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

	for (size_t i = 1; i < WAYS - 1; i++) {
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

	for (size_t i = 0; i < WAYS - 1; i++) {
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
	for (size_t i = 1; i < WAYS - 1; i++) {
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

	for (size_t i = 0; i < WAYS - 1; i++) {
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
