/* SPDX-License-Identifier: MIT */
/*
 * Tests lend and sendto (docs/inside/views.md), which send a view to a socket: the bytes that were
 * read are sent; each thing that keeps pages from being lent; waiting that is interrupted, or ends
 * in death.
 */
#include "script.h"
#include "sockets.h"
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#define SIZE 65536

static char text[SIZE], got[4 * SIZE];
static int file;

static void unix_pair(int *s)
{
	MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
}

static void begin(void)
{
	script_begin();
	SYS(pread64, file, script_buffer + SCRIPT_BUFFER - 8, 1, 0);
}

static size_t receive(int fd, size_t wanted)
{
	size_t have = 0;
	ssize_t n;

	while (have < wanted && (n = read(fd, got + have, sizeof(got) - have)) > 0)
		have += (size_t)n;
	return have;
}

static void lends(void (*pair)(int *))
{
	char *b = script_buffer;
	int s[2], a, c, missing = 0;

	pair(s);
	for (int turn = 0; turn < 50; turn++) {
		size_t size = 1 + chance(30000), at = chance(SIZE - size), skip = chance(size);

		begin();
		OP(view_pread, file, b + 3, size, at);
		a = OP(lend, s[0], b + 3, skip, MSG_NOSIGNAL);
		c = OP(lend, s[0], b + 3 + skip, size - skip, 0);
		script_run();
		CHECK_RESULT(a, skip);
		CHECK_RESULT(c, size - skip);
		CHECK(receive(s[1], size) == size && !memcmp(got, text + at, size),
		      "%zu bytes from %zu", size, at);
		CHECK(!memcmp(b + 3, text + at, size), "the buffer, too");
		missing += skip && GUARD_FAILED(VIEW);
	}
	/* After a RUN that left in between for other work there is no view any more. */
	CHECK(missing < 25, "%d of 50 times there was no view", missing);
	/* After a store that is kept, the bytes go by way of the buffer. */
	begin();
	OP(view_pread, file, b, 1000, 0);
	OP(view_store, b + 10, '!', 1);
	a = OP(lend, s[0], b, 1000, 0);
	/* Try no view; flags that mean something else; no socket; the other end closed. */
	c = OP(lend, s[0], b, 500, 0);
	OP(view_pread, file, b, 1000, 0);
	OP(lend, s[0], b, 1000, MSG_EOR);
	script_run();
	CHECK_RESULT(a, 1000);
	CHECK_RESULT(c, 500);
	CHECK(receive(s[1], 2500) == 2500 && got[10] == '!' && got[1010] == '!' &&
		      got[11] == text[11] && !memcmp(got + 1500, text, 1000),
	      "with a store, from memory, from memory again");
	CHECK_GUARD_FAILED(VIEW, 2);
	CHECK_GUARD_FAILED(LIMITED, 1);
	close(s[1]);
	begin();
	OP(view_pread, file, b, 1000, 0);
	OP(lend, s[0], b, 1000, MSG_NOSIGNAL);
	script_run();
	/* The answer, a reset, may take a softirq's time. */
	MUST(poll(&(struct pollfd){ .fd = s[0] }, 1, -1) == 1);
	begin();
	OP(view_pread, file, b, 1000, 0);
	c = OP(lend, s[0], b, 1000, MSG_NOSIGNAL);
	script_run();
	CHECK(script_result[c] == -EPIPE || script_result[c] == -ECONNRESET, "%lld",
	      (long long)script_result[c]);
	close(s[0]);
}

/* Sends views by send(2): what was sent stays as it was, whatever becomes of the file. */
static void sends(void (*pair)(int *))
{
	char *b = script_buffer, *other = b + 2 * SIZE;
	int s[2], a, c, d, missing = 0;

	memset(other, '#', SIZE);
	pair(s);
	for (int turn = 0; turn < 50; turn++) {
		size_t size = 1 + chance(30000), at = chance(SIZE - size), skip = chance(size);

		begin();
		OP(view_pread, file, b + 3, size, at);
		a = SYS(sendto, s[0], b + 3, skip, MSG_NOSIGNAL, 0);
		c = SYS(sendto, s[0], b + 3 + skip, size - skip, 0, 0);
		script_run();
		CHECK_RESULT(a, skip);
		CHECK_RESULT(c, size - skip);
		MUST(pwrite(file, other, size, (off_t)at) == (ssize_t)size);
		CHECK(receive(s[1], size) == size && !memcmp(got, text + at, size),
		      "%zu bytes from %zu", size, at);
		CHECK(!memcmp(b + 3, text + at, size), "the buffer, too");
		MUST(pwrite(file, text + at, size, (off_t)at) == (ssize_t)size);
		missing += skip && GUARD_FAILED(VIEW);
	}
	/* After a RUN that left in between for other work there is no view any more. */
	CHECK(missing < 25, "%d of 50 times there was no view", missing);
	/* A store that is kept is sent, too. */
	begin();
	OP(view_pread, file, b, 1000, 0);
	OP(view_store, b + 10, '!', 1);
	a = SYS(sendto, s[0], b, 1000, 0, 0);
	/* Try more than the view; flags that mean something else; an address. */
	c = SYS(sendto, s[0], b, 1500, 0, 0);
	OP(view_pread, file, b, 1000, 0);
	SYS(sendto, s[0], b, 1000, MSG_EOR, 0);
	OP(view_pread, file, b, 1000, 0);
	d = SYS(sendto, s[0], b, 1000, 0, other);
	script_run();
	CHECK_RESULT(a, 1000);
	CHECK_RESULT(c, 1500);
	CHECK_RESULT(d, 1000);
	CHECK(receive(s[1], 4500) == 4500 && got[10] == '!' && got[11] == text[11] &&
		      got[1010] == '!' && !memcmp(got + 2500, text, 1000) &&
		      !memcmp(got + 3500, text, 1000),
	      "with a store, from memory, from memory again");
	CHECK_GUARD_FAILED(VIEW, 1);
	CHECK_GUARD_FAILED(LIMITED, 2);
	close(s[0]);
	close(s[1]);
}

static void elsewhere(void)
{
	char *b = script_buffer;
	int s[2], p[2], out, a, c, d, e;

	/* A datagram is one message. */
	MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, s) && !pipe(p));
	out = open("out", O_RDWR | O_CREAT, 0644);
	begin();
	OP(view_pread, file, b, 10000, 5);
	a = OP(lend, s[0], b, 10000, 0);
	OP(view_pread, file, b, 10000, 5);
	c = OP(lend, p[1], b, 10000, 0);
	OP(view_pread, file, b, 10000, 5);
	d = OP(lend, out, b, 10000, 0);
	OP(view_pread, file, b, 10000, 5);
	e = SYS(sendto, s[0], b, 10000, 0, 0);
	script_run();
	CHECK_RESULT(a, 10000);
	CHECK_RESULT(c, 10000);
	CHECK_RESULT(d, 10000);
	CHECK_RESULT(e, 10000);
	CHECK_GUARD_FAILED(PEER, 2);
	for (int i = 0; i < 2; i++)
		CHECK(read(s[1], got, sizeof(got)) == 10000 && !memcmp(got, text + 5, 10000),
		      "a datagram");
	CHECK(read(p[0], got, sizeof(got)) == 10000 && !memcmp(got, text + 5, 10000), "a pipe");
	CHECK(pread(out, got, sizeof(got), 0) == 10000 && !memcmp(got, text + 5, 10000), "a file");
	close(s[0]);
	close(s[1]);
	close(p[0]);
	close(p[1]);
	close(out);
	unlink("out");
}

/* Fills a socket. */
static void fills(void)
{
	char *b = script_buffer;
	int s[2], a, c, step[40];
	size_t sum = 0;

	unix_pair(s);
	begin();
	for (int i = 0; i < 40; i++) {
		OP(view_pread, file, b, SIZE, 0);
		step[i] = OP(lend, s[0], b, SIZE, MSG_DONTWAIT);
	}
	script_run();
	for (int i = 0; i < 40; i++) {
		if (script_result[step[i]] > 0)
			sum += (size_t)script_result[step[i]];
	}
	CHECK_RESULT(step[39], -EAGAIN);
	CHECK(sum > 0 && sum < 40 * SIZE, "%zu", sum);
	a = fcntl(s[0], F_SETFL, O_NONBLOCK);
	begin();
	OP(view_pread, file, b, SIZE, 0);
	c = OP(lend, s[0], b, SIZE, 0);
	script_run();
	CHECK(!a && script_result[c] == -EAGAIN, "O_NONBLOCK: %lld", (long long)script_result[c]);
	begin();
	OP(view_pread, file, b, SIZE, 0);
	a = SYS(sendto, s[0], b, SIZE, 0, 0);
	OP(view_pread, file, b, SIZE, 0);
	c = SYS(sendto, s[0], b, SIZE, MSG_DONTWAIT, 0);
	script_run();
	CHECK_RESULT(a, -EAGAIN);
	CHECK_RESULT(c, -EAGAIN);
	close(s[0]);
	close(s[1]);
}

/* Returns whether a thread of this process sleeps. */
static bool thread_sleeps(pid_t thread)
{
	char path[64], line[512] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	fd = open(path, O_RDONLY);
	MUST(fd >= 0 && read(fd, line, sizeof(line) - 1) > 0);
	close(fd);
	state = strrchr(line, ')');
	return state && state[2] == 'S';
}

struct overwriting {
	pid_t sender;
	int fd;
	size_t got;
};

/* Writes over the file once its sender waits for room, and receives then. */
static void *overwrites(void *arg)
{
	struct overwriting *o = arg;
	static char other[SIZE];

	while (!thread_sleeps(o->sender))
		sleep_ms(1);
	memset(other, '#', SIZE);
	MUST(pwrite(file, other, SIZE, 0) == SIZE);
	o->got = receive(o->fd, SIZE);
	return NULL;
}

/* A send that waits for room holds nothing of the file meanwhile. */
static void send_waits(void (*pair)(int *))
{
	struct overwriting o = { .sender = (pid_t)syscall(SYS_gettid) };
	char *b = script_buffer;
	int s[2], a, small = 4096;
	pthread_t thread;

	pair(s);
	MUST(!setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
	MUST(!setsockopt(s[1], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	o.fd = s[1];
	begin();
	OP(view_pread, file, b, SIZE, 0);
	a = SYS(sendto, s[0], b, SIZE, 0, 0);
	MUST(!pthread_create(&thread, NULL, overwrites, &o));
	script_run();
	MUST(!pthread_join(thread, NULL));
	CHECK_RESULT(a, SIZE);
	CHECK(o.got == SIZE && !memcmp(got, text, SIZE), "what a waiting send had to send");
	MUST(pwrite(file, text, SIZE, 0) == SIZE);
	close(s[0]);
	close(s[1]);
}

static volatile int signals;

static void on_pipe(int signal)
{
	(void)signal;
	signals++;
}

static void *closes(void *arg)
{
	struct overwriting *o = arg;

	while (!thread_sleeps(o->sender))
		sleep_ms(1);
	MUST(!close(o->fd));
	return NULL;
}

/* Closes the other end while a send waits that has sent something: it succeeds, without a signal. */
static void send_ends(void)
{
	struct overwriting o = { .sender = (pid_t)syscall(SYS_gettid) };
	char *b = script_buffer;
	int s[2], a, small = 4096;
	pthread_t thread;

	unix_pair(s);
	handle(SIGPIPE, on_pipe, SA_RESTART);
	MUST(!setsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)));
	o.fd = s[1];
	begin();
	OP(view_pread, file, b, SIZE, 0);
	a = SYS(sendto, s[0], b, SIZE, 0, 0);
	MUST(!pthread_create(&thread, NULL, closes, &o));
	script_run();
	MUST(!pthread_join(thread, NULL));
	CHECK(script_result[a] > 0 && script_result[a] < SIZE, "%lld", (long long)script_result[a]);
	CHECK(!signals, "%d signals", signals);
	close(s[0]);
}

static volatile int alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void *drain(void *arg)
{
	int fd = *(int *)arg;
	static char buffer[SIZE];

	while (read(fd, buffer, sizeof(buffer)) > 0)
		sleep_ms(1);
	return NULL;
}

/* Sends signals while it waits: with SA_RESTART it starts over, else RUN returns -EINTR. */
static void interrupted(int flags)
{
	uint32_t program;
	long ret;

	char *b = script_buffer;
	pthread_t thread;
	int s[2], step[16];
	int64_t sum = 0;

	unix_pair(s);
	handle(SIGALRM, on_alarm, flags);
	begin();
	for (int i = 0; i < 16; i++) {
		OP(view_pread, file, b, SIZE, 0);
		step[i] = OP(lend, s[0], b, SIZE, 0);
	}
	MUST(!pthread_create(&thread, NULL, drain, &s[1]));
	alarm_us(3000, 3000);
	program = script_load();
	raw_run_init(&script_state, program, script_result);
	while ((ret = raw_run_to_end(script_fd, &script_state)) == -EINTR) {
		/* Do as the library does: it is the call's result. */
		CHECK(!flags && script_state.run.status == COSY_LEFT_CALL, "status %u",
		      script_state.run.status);
		script_state.state.reg[0] = (uint64_t)ret;
		script_state.run.resume++;
	}
	alarm_us(0, 0);
	CHECK(!ret && script_state.run.status == COSY_DONE, "%ld, status %u", ret,
	      script_state.run.status);
	script_forget(program);
	for (int i = 0; i < 16; i++) {
		int64_t r = script_result[step[i]];

		CHECK(r > 0 || (!flags && r == -EINTR), "step %d: %lld", i, (long long)r);
		if (r > 0)
			sum += r;
	}
	CHECK(sum > 0, "nothing was sent");
	shutdown(s[0], SHUT_WR);
	MUST(!pthread_join(thread, NULL));
	close(s[0]);
	close(s[1]);
}

/* Waits for ever, since nobody reads, and is killed. */
static void waits(void *arg)
{
	int *s = arg;

	script_init();
	begin();
	for (int i = 0; i < 40; i++) {
		OP(view_pread, file, script_buffer, SIZE, 0);
		OP(lend, s[0], script_buffer, SIZE, 0);
	}
	script_run();
}

static void killed(void)
{
	int s[2], status;
	pid_t pid;

	unix_pair(s);
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		waits(s);
		_exit(1);
	}
	sleep_ms(300);
	MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	close(s[0]);
	close(s[1]);
}

/* Makes views in two threads, of each its own; and unmaps the buffer under one that runs. */
static void *looks(void *arg)
{
	struct raw_run *state = malloc(sizeof(*state));
	int64_t result[SCRIPT_STEPS];

	for (int i = 0; i < 300; i++) {
		raw_run_init(state, *(uint32_t *)arg, result);
		raw_run_to_end(script_fd, state);
	}
	free(state);
	return NULL;
}

static void threads(void)
{
	char *b = script_buffer;
	pthread_t thread[2];
	uint32_t handle[2];

	for (int i = 0; i < 2; i++) {
		begin();
		for (int k = 0; k < 8; k++) {
			OP(view_pread, file, b + i * 2 * SIZE + k * 5000, 9000, k * 1000);
			OP(count, b + i * 2 * SIZE, SIZE, 'e');
			OP(view_store, b + i * 2 * SIZE + k * 100, 1, 4);
		}
		handle[i] = script_load();
	}
	for (int i = 0; i < 2; i++)
		MUST(!pthread_create(&thread[i], NULL, looks, &handle[i]));
	for (int i = 0; i < 2; i++)
		MUST(!pthread_join(thread[i], NULL));
	CHECK(!memcmp(b + 7 * 5000 + 800, text + 7800, 5000), "one thread's");
	CHECK(!memcmp(b + 2 * SIZE + 7 * 5000 + 800, text + 7800, 5000), "the other's");

	MUST(!pthread_create(&thread[0], NULL, looks, &handle[0]));
	sleep_ms(5);
	MUST(!munmap(script_buffer, SCRIPT_BUFFER));
	MUST(!pthread_join(thread[0], NULL));
}

int main(void)
{
	chance_init();
	script_init();
	directory_enter();
	for (int i = 0; i < SIZE; i++)
		text[i] = (char)('a' + chance(26));
	file = open("file", O_RDWR | O_CREAT, 0644);
	MUST(file >= 0 && write(file, text, SIZE) == SIZE);
	lends(unix_pair);
	lends(tcp_pair);
	sends(unix_pair);
	sends(tcp_pair);
	elsewhere();
	send_waits(unix_pair);
	send_waits(tcp_pair);
	send_ends();
	fills();
	interrupted(0);
	interrupted(SA_RESTART);
	killed();
	threads();
	unlink("file");
	directory_leave();
	return check_end();
}
