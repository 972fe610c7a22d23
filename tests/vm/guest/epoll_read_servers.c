// SPDX-License-Identifier: MIT
/* epoll_read_servers.c - epoll_read's two servers, whose loops are squid's and nginx's. */
#include "epoll_read.h"
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { CLIENTS = 16, BIGGEST = 300, TURNS = 400, MAX_LINE = 256, LOG = 4 << 20 };

static wait_function *waits;

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
	for (size_t i = 0; i < 2 * WAYS; i++) {
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

void test_squid(void)
{
	serve_alike(&squid);
}

void test_nginx(void)
{
	serve_alike(&nginx);
}
