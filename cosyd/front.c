// SPDX-License-Identifier: MIT
/* front.c - see front.h. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run/file/filesystem.h"
#include "front.h"
#include "keeper.h"
#include "log.h"
#include "message.h"
#include "protocol.h"

#define STACK_SIZE (128 << 10)
#define MAX_HELD   1024 /* for one connection: as many as the library has files */
#define RETRY_US   10000

struct client {
	int socket;
	uid_t uid;
	pid_t pid;
	struct user *user;
	unsigned int refs;
	uint32_t held[MAX_HELD]; /* slots, one for each TAKE */
};

static const struct front_options *options;
static int keeper, memory;
static pthread_mutex_t keeper_lock = PTHREAD_MUTEX_INITIALIZER;

static void front_end(const char *why)
{
	log_line("%s: all leases are returned", why);
	_exit(EXIT_FAILURE);
}

/* Sends a request to the keeper and waits for its reply.  *ret_fd: a descriptor to close, or -1. */
static struct cosyd_reply keeper_ask(const struct keeper_request *request, int fd, int *ret_fd)
{
	struct cosyd_reply reply;

	pthread_mutex_lock(&keeper_lock);
	if (message_send(keeper, request, sizeof(*request), fd, 0) ||
	    message_receive(keeper, &reply, sizeof(reply), ret_fd) != sizeof(reply))
		front_end("the keeper is gone");
	pthread_mutex_unlock(&keeper_lock);
	return reply;
}

/*
 * Opens the client's file again.  A lease on the client's own description could be undone by
 * the client (F_SETOWN, F_SETSIG), at the cost of writers and of other readers.  The price
 * is that this process may read the file as well.
 */
static int client_reopen(int fd, struct stat *ret)
{
	char path[32];
	int flags = fcntl(fd, F_GETFL), own;
	struct statfs fs;
	struct stat st;

	if (flags < 0 || (flags & (O_ACCMODE | O_PATH | O_DIRECT)) != O_RDONLY)
		return -EACCES;
	if (fstatfs(fd, &fs) || !filesystem_has_leases(fs.f_type))
		return -EACCES;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Do not wait for a lease of others. */
	own = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -EACCES;
	if (!fstat(own, ret) && ret->st_dev == st.st_dev && ret->st_ino == st.st_ino)
		return own;
	close(own);
	return -EACCES;
}

static struct cosyd_reply client_take(struct client *client, int fd)
{
	struct keeper_request request = {.op = KEEPER_TAKE};
	struct cosyd_reply reply = {.error = -EMFILE};
	struct stat st;
	int own, none;

	if (client->refs == MAX_HELD || !user_add_file(client->user, &options->limits))
		return reply;
	own = client_reopen(fd, &st);
	reply.error = own;
	if (own >= 0) {
		request.dev = st.st_dev;
		request.ino = st.st_ino;
		reply = keeper_ask(&request, own, &none);
		close(own);
	}
	if (reply.error)
		user_remove_file(client->user);
	else
		client->held[client->refs++] = reply.slot;
	return reply;
}

/* Drops the client's reference at `place` in `held`. */
static void client_drop(struct client *client, unsigned int place)
{
	struct keeper_request request = {.op = KEEPER_DROP, .slot = client->held[place]};
	int last;

	keeper_ask(&request, -1, &last);
	client->held[place] = client->held[--client->refs];
	user_remove_file(client->user);
	/* Close it here, not in the keeper: if it has been deleted meanwhile that takes long. */
	if (last >= 0)
		close(last);
}

static bool client_drop_slot(struct client *client, uint32_t slot)
{
	for (unsigned int place = client->refs; place--;) {
		if (client->held[place] == slot) {
			client_drop(client, place);
			return true;
		}
	}
	return false;
}

/* Serves one request.  False: end the connection. */
static bool client_serve(struct client *client)
{
	struct cosyd_request request;
	struct cosyd_reply reply = {.error = -EINVAL};
	int fd, send = -1;
	ssize_t got = message_receive(client->socket, &request, sizeof(request), &fd);
	bool answer = true;

	if (got != sizeof(request) || request.version != COSYD_VERSION) {
		answer = false;
		if (got && got != -ECONNRESET && options->verbose)
			log_line("process %d of user %u: closed, its message is not of version %d",
				 client->pid, client->uid, COSYD_VERSION);
	} else if (request.op == COSYD_HELLO) {
		reply.error = 0;
		send = memory;
	} else if (request.op == COSYD_TAKE && fd >= 0) {
		reply = client_take(client, fd);
	} else if (request.op == COSYD_SYNC) {
		reply.error = 0;
	} else if (request.op == COSYD_DROP && client_drop_slot(client, request.slot)) {
		if (fd >= 0)
			close(fd);
		return true;
	}
	/* End the connection of a client that does not take its answers. */
	if (answer)
		answer = !message_send(client->socket, &reply, sizeof(reply), send, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	return answer;
}

static void *client_run(void *client_)
{
	struct client *client = client_;

	while (client_serve(client))
		;
	while (client->refs)
		client_drop(client, client->refs - 1);
	close(client->socket);
	user_leave(client->user);
	free(client);
	return NULL;
}

/*
 * Closes a connection.  Sockets in its queue may linger, so an alarm interrupts the close; it
 * is unblocked in this thread only.
 */
static void connection_refuse(int socket)
{
	struct itimerval soon = {.it_value.tv_usec = RETRY_US, .it_interval.tv_usec = RETRY_US};
	struct itimerval never = {};

	setitimer(ITIMER_REAL, &soon, NULL);
	close(socket);
	setitimer(ITIMER_REAL, &never, NULL);
}

static bool connection_start(int socket, const pthread_attr_t *attributes)
{
	struct client *client = calloc(1, sizeof(*client));
	struct ucred peer;
	socklen_t len = sizeof(peer);
	pthread_t thread;

	if (!client || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		goto fail;
	client->socket = socket;
	client->uid = peer.uid;
	client->pid = peer.pid;
	client->user = user_enter(peer.uid, &options->limits);
	if (!client->user) {
		if (options->verbose)
			log_line(
				"process %d of user %u: refused, the user has too many connections",
				peer.pid, peer.uid);
		goto fail;
	}
	if (!pthread_create(&thread, attributes, client_run, client))
		return true;
	user_leave(client->user);
fail:
	free(client);
	return false;
}

static void *keeper_watch(void *pid)
{
	while (waitpid((intptr_t)pid, NULL, 0) < 0 && errno == EINTR)
		;
	front_end("the keeper has ended");
	return NULL;
}

static void alarm_interrupts(int signal)
{
	(void)signal;
}

void front_run(int listener, int keeper_, pid_t keeper_pid, int memory_,
	       const struct front_options *options_)
{
	struct sigaction action = {.sa_handler = alarm_interrupts}; /* without SA_RESTART */
	sigset_t alarm;
	pthread_attr_t attributes;
	pthread_t thread;
	int socket;

	options = options_;
	keeper = keeper_;
	memory = memory_;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	if (pthread_create(&thread, &attributes, keeper_watch, (void *)(intptr_t)keeper_pid))
		front_end("no thread can be made");
	for (;;) {
		socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (socket >= 0 && connection_start(socket, &attributes))
			continue;
		pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
		if (socket >= 0)
			connection_refuse(socket);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			usleep(RETRY_US); /* until one of the connections ends */
		else if (errno != EINTR && errno != ECONNABORTED)
			front_end(strerror(errno));
		pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	}
}
