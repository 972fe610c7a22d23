// SPDX-License-Identifier: MIT
/* keeper.c - see keeper.h. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "keeper.h"
#include "log.h"
#include "message.h"

/* Serves one request.  False: the front is gone. */
static bool keeper_serve(int socket)
{
	struct keeper_request request;
	struct cosyd_reply reply = {.error = -EINVAL};
	int fd, last = -1;

	if (message_receive(socket, &request, sizeof(request), &fd) != sizeof(request))
		return false;
	/* No close here is the last one: the front has the file open until this is answered. */
	if (request.op == KEEPER_TAKE && fd >= 0)
		reply.error = slots_take(request.dev, request.ino, fd, &reply);
	else if (request.op == KEEPER_DROP)
		reply.error = slots_drop(request.slot, &last);
	if (message_send(socket, &reply, sizeof(reply), last, MSG_DONTWAIT))
		return false;
	if (last >= 0)
		close(last);
	return true;
}

static void keeper_loop(int socket, int signals)
{
	struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = socket, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, slots_timeout_ms()) < 0 && errno != EINTR)
			return;
		/* Answer breaks before each request: a writer waits for them. */
		if (!slots_answer(signals))
			return;
		if (fds[1].revents && !keeper_serve(socket))
			return;
	}
}

int keeper_run(int socket, struct cosyd_memory *memory, const struct slots_options *options)
{
	int signals, ret = slots_begin(memory, options, &signals);

	if (ret) {
		log_line("cannot keep leases: %s", strerror(-ret));
		return EXIT_FAILURE;
	}
	keeper_loop(socket, signals);
	slots_end();
	return EXIT_SUCCESS;
}
