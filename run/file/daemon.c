// SPDX-License-Identifier: MIT
/* daemon.c - see daemon.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "../cosyd/protocol.h"
#include "environment.h"
#include "file/daemon.h"
#include "filter.h"
#include "lock.h"
#include "mask.h"
#include "syscall.h"

/* The connection's number, where the program does not look for descriptors of its own. */
#define SOCKET_AT 1000
/* Daemons, one after the other, whose guard memory is mapped for good. */
#define MAX_DAEMONS 8

static struct {
	enum { UNTRIED, CONNECTED, NONE } state;
	int socket;
	pid_t pid; /* the process that has the connection */
	dev_t dev; /* the socket's identity: programs close descriptors that they do not know */
	ino_t ino;
	unsigned int daemons;
	const struct cosyd_memory *memory;
} connection;
static uint32_t connection_lock; /* taken with all signals blocked, since a handler might read */
static bool dropped;		 /* since the last SYNC */

static bool connection_intact(void)
{
	struct stat st;

	return connection.state == CONNECTED &&
	       cosy_syscall3(SYS_getpid, 0, 0, 0) == connection.pid && !filter_is_there() &&
	       !cosy_syscall3(SYS_fstat, connection.socket, (unsigned long)&st, 0) &&
	       st.st_dev == connection.dev && st.st_ino == connection.ino;
}

/* Closes the connection, and all leases go with it; the words show that. */
static void connection_end(void)
{
	if (connection_intact())
		cosy_syscall3(SYS_close, connection.socket, 0, 0);
	connection.state = connection.daemons < MAX_DAEMONS ? UNTRIED : NONE;
}

static bool request_send(int socket, enum cosyd_op op, uint32_t slot, int fd)
{
	struct cosyd_request request = {.version = COSYD_VERSION, .op = op, .slot = slot};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(sizeof(int))}};
	struct iovec part = {.iov_base = &request, .iov_len = sizeof(request)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	return cosy_syscall3(SYS_sendmsg, socket, (unsigned long)&message,
			     MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(request);
}

/* Waits for a reply.  *ret_fd: the descriptor that came with it, or -1. */
static bool reply_receive(int socket, struct cosyd_reply *reply, int *ret_fd)
{
	struct pollfd ready = {.fd = socket, .events = POLLIN};
	/* Tests that want windows at once wait longer, since their machine may be busy. */
	long seconds = environment_get(ENVIRONMENT_EAGER) ? 60 : 0;
	struct timespec timeout = {.tv_sec = seconds, .tv_nsec = DAEMON_TIMEOUT_MS * 1000000L};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = {.iov_base = reply, .iov_len = sizeof(*reply)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_LEN(sizeof(int))};
	long got;

	*ret_fd = -1;
	if (cosy_syscall6(SYS_ppoll, (unsigned long)&ready, 1, (unsigned long)&timeout, 0, 0, 0) !=
	    1)
		return false;
	got = cosy_syscall3(SYS_recvmsg, socket, (unsigned long)&message,
			    MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (got > 0 && CMSG_FIRSTHDR(&message) && control.header.cmsg_level == SOL_SOCKET &&
	    control.header.cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(&control.header), sizeof(*ret_fd));
	return got == sizeof(*reply);
}

/* True if COSY_RUN_DAEMON is `what`: 0 for no daemon, "first" for tests of its leases only. */
static bool wanted_is(const char *what)
{
	const char *wanted = environment_get(ENVIRONMENT_DAEMON);

	return wanted && !strcmp(wanted, what);
}

bool daemon_preferred(void)
{
	static enum { UNREAD, NO, YES } preferred;

	if (preferred == UNREAD)
		preferred = wanted_is("first") ? YES : NO;
	return preferred == YES;
}

/* Maps guard memory that cannot shrink under its readers.  NULL: it cannot be had. */
static const struct cosyd_memory *memory_map(int fd)
{
	const struct cosyd_memory *memory;
	struct stat st;
	long mapping;

	if (cosy_syscall3(SYS_fstat, fd, (unsigned long)&st, 0) ||
	    (size_t)st.st_size < sizeof(*memory) ||
	    !(cosy_syscall3(SYS_fcntl, fd, F_GET_SEALS, 0) & F_SEAL_SHRINK))
		return NULL;
	mapping = cosy_syscall6(SYS_mmap, 0, sizeof(*memory), PROT_READ, MAP_SHARED, fd, 0);
	if (mapping < 0 && mapping >= -4095)
		return NULL;
	memory = (const struct cosyd_memory *)mapping;
	return memory->version == COSYD_VERSION ? memory : NULL;
}

/* Returns a connected socket, at a high number, or -1. */
static int socket_connect(void)
{
	const char *path = environment_get(ENVIRONMENT_SOCKET);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	long low, high;

	path = path ? path : COSYD_SOCKET;
	if (strlen(path) >= sizeof(address.sun_path))
		return -1;
	strcpy(address.sun_path, path);
	low = cosy_syscall3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (low < 0)
		return -1;
	high = -1;
	if (!cosy_syscall3(SYS_connect, low, (unsigned long)&address, sizeof(address)))
		high = cosy_syscall3(SYS_fcntl, low, F_DUPFD_CLOEXEC, SOCKET_AT);
	cosy_syscall3(SYS_close, low, 0, 0);
	return high < 0 ? -1 : high;
}

static void connection_make(void)
{
	struct cosyd_reply reply;
	struct stat st;
	int fd = -1;

	connection.state = NONE;
	if (wanted_is("0") || filter_is_there())
		return;
	connection.socket = socket_connect();
	if (connection.socket < 0)
		return;
	connection.memory = NULL;
	if (request_send(connection.socket, COSYD_HELLO, 0, -1) &&
	    reply_receive(connection.socket, &reply, &fd) && !reply.error && fd >= 0)
		connection.memory = memory_map(fd);
	if (fd >= 0)
		cosy_syscall3(SYS_close, fd, 0, 0);
	if (!connection.memory ||
	    cosy_syscall3(SYS_fstat, connection.socket, (unsigned long)&st, 0)) {
		cosy_syscall3(SYS_close, connection.socket, 0, 0);
		return;
	}
	connection.pid = cosy_syscall3(SYS_getpid, 0, 0, 0);
	connection.dev = st.st_dev;
	connection.ino = st.st_ino;
	connection.daemons++;
	connection.state = CONNECTED;
}

/* Connects unless that has been tried; locked.  True: there is a connection. */
static bool connection_get(void)
{
	if (connection.state == CONNECTED && !connection_intact()) {
		/* The child of a vfork does not use its parent's connection. */
		if (cosy_syscall3(SYS_getpid, 0, 0, 0) != connection.pid)
			return false;
		connection_end();
	}
	if (connection.state == UNTRIED)
		connection_make();
	return connection.state == CONNECTED;
}

bool daemon_there(void)
{
	bool there;

	if (__atomic_load_n(&connection.state, __ATOMIC_RELAXED) != UNTRIED)
		return connection.state == CONNECTED;
	lock_take(&connection_lock);
	there = connection_get();
	lock_drop(&connection_lock);
	return there;
}

/* Sends a request and waits for its reply; locked. */
static bool request_exchange(enum cosyd_op op, int fd, struct cosyd_reply *reply)
{
	int none;

	if (!connection_get())
		return false;
	if (request_send(connection.socket, op, 0, fd) &&
	    reply_receive(connection.socket, reply, &none))
		return true;
	/* A reply that came later would be taken for another request's. */
	connection_end();
	return false;
}

bool daemon_take(struct file *file, int fd, enum guard *why)
{
	struct cosyd_reply reply;
	const struct cosyd_memory *memory;
	bool answered;

	lock_take(&connection_lock);
	answered = request_exchange(COSYD_TAKE, fd, &reply);
	memory = connection.memory;
	lock_drop(&connection_lock);
	*why = answered && reply.error == -EAGAIN ? GUARD_READ_ONLY : GUARD_LEASE_PERMITTED;
	if (!answered || reply.error || reply.slot >= COSYD_SLOTS)
		return false;
	file->keeper = &memory->keeper;
	file->guard_value = reply.value;
	__atomic_store_n(&file->guard, &memory->words[reply.slot], __ATOMIC_RELEASE);
	return true;
}

void daemon_drop(struct file *file)
{
	const uint64_t *word = file->guard;

	if (!word)
		return;
	__atomic_store_n(&file->guard, NULL, __ATOMIC_RELEASE);
	lock_take(&connection_lock);
	/* A lease of an earlier daemon went with that connection. */
	if (connection_intact() && &connection.memory->keeper == file->keeper &&
	    !request_send(connection.socket, COSYD_DROP, word - connection.memory->words, -1))
		connection_end();
	__atomic_store_n(&dropped, true, __ATOMIC_RELAXED);
	lock_drop(&connection_lock);
}

void daemon_sync(void)
{
	struct cosyd_reply reply;
	uint64_t signals;

	if (!__atomic_load_n(&dropped, __ATOMIC_RELAXED))
		return;
	signals = mask_block_all();
	lock_take(&connection_lock);
	__atomic_store_n(&dropped, false, __ATOMIC_RELAXED);
	if (connection_intact())
		request_exchange(COSYD_SYNC, -1, &reply);
	lock_drop(&connection_lock);
	mask_set(signals);
}

void daemon_share_child(void)
{
	/* Close it here: it would keep the parent's leases when the parent has ended. */
	if (connection.state == CONNECTED) {
		connection.pid = cosy_syscall3(SYS_getpid, 0, 0, 0);
		connection_end();
	}
	connection_lock = 0;
}
