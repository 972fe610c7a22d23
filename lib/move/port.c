// SPDX-License-Identifier: MIT
/*
 * port.c - cosy_port, cosy_pass and cosy_take of <cosy/move.h>.
 *
 * Where the module cannot serve, a port is a pair of AF_UNIX sockets that keep messages apart, one
 * only to receive and one only to send.  A message is a place in the window and a sealed memfd.
 * The window's size is where both ends find it and nothing else looks: in SO_RCVLOWAT.
 *
 * The receiver trusts nothing: it drops any other message.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cosy/move.h>
#include <linux/cosy.h>

#include "process/cancel.h"
#include "move/arena.h"
#include "move/ranges.h"

enum { TAKES, PASSES }; /* which end; the latter's SO_RCVLOWAT is one more */

/* --- Ports ----------------------------------------------------------------------------------- */

/*
 * Returns the size of a socket's window; -1 with errno: it is no port's (ENOTSOCK: no socket), or
 * the other end.
 */
static ssize_t socket_window(int fd, int end)
{
	int type, size;
	socklen_t length = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) ||
	    getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &size, &length))
		return -1;
	if (type == SOCK_SEQPACKET && size > 1 && libcosy_is_whole(NULL, (size_t)size & ~1UL)) {
		if ((size & 1) == end)
			return size & ~1;
		errno = EBADF;
	} else {
		errno = EINVAL;
	}
	return -1;
}

static int socket_port(size_t size, int *ends)
{
	int values[] = {(int)size, (int)size | PASSES}, few = 1, error;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	if (!setsockopt(ends[0], SOL_SOCKET, SO_RCVLOWAT, &values[0], sizeof(int)) &&
	    !setsockopt(ends[1], SOL_SOCKET, SO_RCVLOWAT, &values[1], sizeof(int)) &&
	    !setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &few, sizeof(few)) &&
	    !shutdown(ends[1], SHUT_RD))
		return 0;
	error = errno;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return -1;
}

int cosy_port(size_t size, int ends[2])
{
	struct cosy_move move = {
		.operation = COSY_MOVE_PORT,
		.length = size,
		.fd = -1,
		.at = (uintptr_t)ends,
	};
	int saved = errno, ret;

	if (!size || size > COSY_MAX_ARENA || !libcosy_is_whole(NULL, size)) {
		errno = EINVAL;
		return -1;
	}
	ret = (int)libcosy_move_make(&move);
	if (libcosy_move_is_refused(ret))
		ret = socket_port(size, ends);
	else
		ret = (int)libcosy_move_answer(ret);
	if (!ret)
		errno = saved;
	return ret;
}

/* --- Pass ------------------------------------------------------------------------------------ */

struct port_place {
	uint64_t at, count; /* bytes */
};

/* A message as sendmsg and recvmsg have it: a place and room for one descriptor. */
struct port_envelope {
	struct msghdr header; /* of the other two */
	struct iovec piece;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

static void envelope_make(struct port_envelope *envelope, struct port_place *place)
{
	*envelope = (struct port_envelope){
		.header =
			{
				.msg_iov = &envelope->piece,
				.msg_iovlen = 1,
				.msg_control = envelope->control,
				.msg_controllen = sizeof(envelope->control),
			},
		.piece = {place, sizeof(*place)},
	};
}

static ssize_t message_send(int port, struct port_place *place, int memfd)
{
	struct port_envelope envelope;
	struct cmsghdr *part;
	ssize_t sent;

	envelope_make(&envelope, place);
	part = CMSG_FIRSTHDR(&envelope.header);
	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &memfd, sizeof(int));
	sent = sendmsg(port, &envelope.header, MSG_NOSIGNAL);
	if (sent < 0 && (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENOTCONN))
		errno = EPIPE;
	return sent;
}

/* Passes a memfd of the bytes; not a cancellation point, since it would lose the descriptor. */
static ssize_t pass_memfd(int port, size_t window, size_t at, const void *memory, size_t count)
{
	struct port_place place = {at, count};
	ssize_t sent = -1;
	int state, memfd, error;

	if (at >= window || count > window - at) {
		errno = EINVAL;
		return -1;
	}
	state = libcosy_cancel_disable();
	memfd = libcosy_memfd_copy(memory, count);
	if (memfd >= 0) {
		sent = message_send(port, &place, memfd);
		error = errno;
		close(memfd);
		errno = error;
	}
	libcosy_cancel_restore(state);
	return sent < 0 ? -1 : (ssize_t)count;
}

/* Passes a copy of any memory. */
static ssize_t pass_copy(int port, size_t at, const void *memory, size_t count)
{
	struct cosy_port_message message;
	ssize_t window = socket_window(port, PASSES);
	int mode;

	if (window >= 0)
		return pass_memfd(port, (size_t)window, at, memory, count);
	if (errno != ENOTSOCK)
		return -1;
	/* The other end of a port would wait for a message. */
	mode = fcntl(port, F_GETFL);
	if (mode < 0)
		return -1;
	if ((mode & O_ACCMODE) != O_WRONLY || ioctl(port, COSY_IOC_PORT, &message)) {
		errno = (mode & O_ACCMODE) == O_RDONLY ? EBADF : EINVAL;
		return -1;
	}
	return pwrite(port, memory, count, (off_t)at);
}

ssize_t cosy_pass(int port, size_t at, void *memory, size_t count, enum cosy_how how)
{
	static const uint32_t operations[] = {
		[COSY_COPY] = COSY_MOVE_COPY,
		[COSY_DONATE] = COSY_MOVE_DONATE,
		[COSY_DONATE_ZERO] = COSY_MOVE_DONATE_ZERO,
	};
	int saved = errno;
	ssize_t passed;

	if (!count || count > COSY_MAX_ARENA || !libcosy_is_whole(NULL, at) || how == COSY_SHARE ||
	    (unsigned int)how > COSY_DONATE_ZERO ||
	    (how != COSY_COPY && !libcosy_is_whole(memory, count))) {
		errno = EINVAL;
		return -1;
	}
	if (libcosy_is_whole(memory, 0) && libcosy_arenas_may_have(memory, 1)) {
		struct cosy_move move = {
			.operation = COSY_MOVE_PASS,
			.address = (uintptr_t)memory,
			.length = count,
			.fd = port,
			.at = at,
			.how = operations[how],
		};
		long ret = libcosy_move_make(&move);

		if (!libcosy_move_is_refused(ret))
			return libcosy_move_answer(ret);
	}
	passed = pass_copy(port, at, memory, count);
	if (passed < 0)
		return -1;
	/* The message has gone: without memory or room for a mapping there are zeros at least. */
	if (how == COSY_DONATE_ZERO ||
	    (how == COSY_DONATE && !libcosy_ranges_take_away(memory, count)))
		cosy_flush(memory, count);
	errno = saved;
	return passed;
}

/* --- Take ------------------------------------------------------------------------------------ */

/* Ends a message's last page. */
static void window_end(char *memory, size_t count)
{
	memset(memory + count, 0, -count & (PAGE - 1));
}

/* True if a message for the place fits into `size` bytes. */
static bool place_is_within(const struct port_place *place, size_t size)
{
	return libcosy_is_whole(NULL, place->at) && place->count && place->at < size &&
	       place->count <= size - place->at;
}

/* Takes a message of the module's into memory that is no arena's. */
static ssize_t take_plain(int port, char *window, size_t size, size_t *at)
{
	struct cosy_port_message message;
	struct port_place place;
	ssize_t came;

	do {
		if (ioctl(port, COSY_IOC_PORT, &message)) {
			errno = errno == ENOTTY ? EINVAL : errno;
			return -1;
		}
		if (!message.length)
			return 0;
		place = (struct port_place){message.at, message.length};
		if (!place_is_within(&place, size)) {
			errno = EMSGSIZE;
			return -1;
		}
		if (!libcosy_own(window + place.at, place.count))
			return -1;
		came = pread(port, window + place.at, place.count, (off_t)place.at);
	} while (came < 0 && (errno == ESTALE || errno == EMSGSIZE));
	if (came <= 0)
		return came;
	*at = place.at;
	window_end(window + place.at, (size_t)came);
	return came;
}

/* Receives a message, and its descriptor, or -1, if it has one.  Its length, or -1. */
static ssize_t message_receive(int port, struct port_place *place, int *memfd)
{
	const struct cmsghdr *part;
	struct port_envelope envelope;
	ssize_t came;

	envelope_make(&envelope, place);
	/* Without the padding, which has room for a second descriptor. */
	envelope.header.msg_controllen = CMSG_LEN(sizeof(int));
	came = recvmsg(port, &envelope.header, MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);
	part = came < 0 ? NULL : CMSG_FIRSTHDR(&envelope.header);
	*memfd = -1;
	if (part && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS &&
	    part->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(memfd, CMSG_DATA(part), sizeof(int));
	else if (came == sizeof(*place) && envelope.header.msg_flags & MSG_CTRUNC)
		errno = EMFILE;
	else
		errno = 0;
	return came;
}

/* Copies a message into the window.  Its length; 0: it is none, -1 with errno. */
static ssize_t memfd_take(int memfd, const struct port_place *place, char *window)
{
	char *memory = window + place->at;
	struct stat status;

	if (!libcosy_memfd_is_copy(memfd) || fstat(memfd, &status) ||
	    (uint64_t)status.st_size != place->count)
		return 0;
	if (!libcosy_own(memory, place->count))
		return -1;
	for (size_t done = 0; done < place->count;) {
		ssize_t now = pread(memfd, memory + done, place->count - done, (off_t)done);

		if (now <= 0)
			return -1;
		done += (size_t)now;
	}
	window_end(memory, place->count);
	return (ssize_t)place->count;
}

/*
 * Takes the message that was seen first.  Its length; 0: that was none, or somebody else has taken
 * it; -1 with errno.
 */
static ssize_t socket_take_seen(int port, char *window, const struct port_place *seen, bool fits)
{
	int state = libcosy_cancel_disable(), memfd, error;
	struct port_place place;
	ssize_t came = message_receive(port, &place, &memfd);

	error = errno;
	if (came < 0)
		came = error == EAGAIN ? 0 : -1;
	else if (memfd < 0)
		came = error == EMFILE ? -1 : 0;
	else if (!fits || came != sizeof(place) || place.at != seen->at ||
		 place.count != seen->count)
		came = 0;
	else if ((came = memfd_take(memfd, &place, window)) < 0)
		error = errno;
	if (memfd >= 0)
		close(memfd);
	libcosy_cancel_restore(state);
	errno = error;
	return came;
}

/* True if a message of no bytes is the end: no sender is left, and no message waits. */
static bool socket_has_ended(int port)
{
	struct pollfd poller = {port, POLLIN, 0};
	int waiting;

	return poll(&poller, 1, 0) == 1 && poller.revents & POLLHUP &&
	       !ioctl(port, FIONREAD, &waiting) && !waiting;
}

static ssize_t socket_take(int port, size_t limit, char *window, size_t size, size_t *at)
{
	for (;;) {
		struct port_place place;
		ssize_t came = recv(port, &place, sizeof(place), MSG_PEEK | MSG_TRUNC);
		bool fits = came == sizeof(place) && place_is_within(&place, limit);

		if (came < 0 || (!came && socket_has_ended(port)))
			return came;
		if (fits && !place_is_within(&place, size)) {
			errno = EMSGSIZE;
			return -1;
		}
		/* A message that was received cannot go back. */
		if (fits && !libcosy_ranges_have_room(window + place.at, place.count))
			return -1;
		came = socket_take_seen(port, window, &place, fits);
		if (came > 0)
			*at = place.at;
		if (came)
			return came;
	}
}

ssize_t cosy_take(int port, void *window, size_t size, size_t *at, int flags)
{
	uint64_t offset = 0;
	ssize_t limit;
	long ret;

	if (!size || !libcosy_is_whole(window, size) ||
	    flags & ~(COSY_POPULATE | COSY_WILL_WRITE)) {
		errno = EINVAL;
		return -1;
	}
	if (libcosy_arenas_may_have(window, 1)) {
		struct cosy_move move = {
			.operation = COSY_MOVE_TAKE,
			.address = (uintptr_t)window,
			.length = size,
			.fd = port,
			.flags = libcosy_move_flags(flags),
			.at = (uintptr_t)&offset,
		};

		ret = libcosy_move_make(&move);
		if (ret > 0)
			*at = offset;
		if (!libcosy_move_is_refused(ret))
			return libcosy_move_answer(ret);
	}
	limit = socket_window(port, TAKES);
	if (limit >= 0)
		return socket_take(port, (size_t)limit, window, size, at);
	if (errno != ENOTSOCK)
		return -1;
	if ((fcntl(port, F_GETFL) & O_ACCMODE) == O_WRONLY) {
		errno = EBADF;
		return -1;
	}
	return take_plain(port, window, size, at);
}
