// SPDX-License-Identifier: MIT
/* client.c - see client.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define MAX_FDS 8

static char folder[64], path[128];
static pid_t daemon_pid, keeper_pid;
static unsigned int files;

static void clean(void)
{
	char command[100];

	if (daemon_pid)
		daemon_end();
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		perror(command);
}

static pid_t cleaner;

static void clean_once(void)
{
	if (getpid() == cleaner)
		clean();
}

void daemon_start(const char *program, const char *const *more)
{
	const char *args[16] = {program, "--socket", path};
	char said[200] = "";
	int pipes[2], count = 3;
	size_t len = 0;

	strcpy(folder, "/tmp/cosyd-test.XXXXXX");
	CHECK(mkdtemp(folder) && !chmod(folder, 0755));
	cleaner = getpid();
	atexit(clean_once);
	snprintf(path, sizeof(path), "%s/socket", folder);
	while (more && *more)
		args[count++] = *more++;
	CHECK(!pipe(pipes));
	daemon_pid = fork();
	CHECK(daemon_pid >= 0);
	if (!daemon_pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipes[1], 2);
		close(pipes[0]);
		close(pipes[1]);
		execv(program, (char **)args);
		_exit(127);
	}
	close(pipes[1]);
	/* Read its first lines; nobody reads the later ones. */
	while (len < sizeof(said) - 1 && read(pipes[0], said + len, 1) == 1)
		if (said[len++] == '\n' && strstr(said, "ready"))
			break;
	CHECK(sscanf(strstr(said, "ready") ?: "", "ready; the keeper of leases is process %d",
		     &keeper_pid) == 1);
	signal(SIGPIPE, SIG_IGN);
}

pid_t daemon_front(void)
{
	return daemon_pid;
}

pid_t daemon_keeper(void)
{
	return keeper_pid;
}

void daemon_end(void)
{
	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, NULL, 0);
	daemon_pid = 0;
}

const char *file_make(void)
{
	static char name[128];
	int fd;

	snprintf(name, sizeof(name), "%s/file%u", folder, files++);
	fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
	CHECK(fd >= 0 && write(fd, "something", 9) == 9 && !close(fd));
	return name;
}

int client_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	CHECK(client >= 0);
	if (!connect(client, (struct sockaddr *)&address, sizeof(address)))
		return client;
	close(client);
	return -1;
}

bool client_send(int client, const void *bytes, size_t len, const int *fds, size_t count)
{
	struct iovec part = {.iov_base = (void *)bytes, .iov_len = len};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(MAX_FDS * sizeof(int))];
	} control = {.header = {.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(count * sizeof(int))}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	CHECK(count <= MAX_FDS);
	if (count) {
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	return sendmsg(client, &message, MSG_NOSIGNAL) == (ssize_t)len;
}

bool client_ask(int client, enum cosyd_op op, uint32_t slot, int fd)
{
	struct cosyd_request request = {.version = COSYD_VERSION, .op = op, .slot = slot};

	return client_send(client, &request, sizeof(request), &fd, fd >= 0);
}

bool client_answer(int client, struct cosyd_reply *ret, int *ret_fd)
{
	struct iovec part = {.iov_base = ret, .iov_len = sizeof(*ret)};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.room)};
	ssize_t got = recvmsg(client, &message, MSG_CMSG_CLOEXEC);

	if (ret_fd && got > 0 && CMSG_FIRSTHDR(&message))
		memcpy(ret_fd, CMSG_DATA(&control.header), sizeof(int));
	return got == sizeof(*ret);
}

struct cosyd_reply client_take(int client, int fd)
{
	struct cosyd_reply reply;

	CHECK(client_ask(client, COSYD_TAKE, 0, fd) && client_answer(client, &reply, NULL));
	return reply;
}

const struct cosyd_memory *client_memory(int client, int *ret_fd)
{
	struct cosyd_reply reply;
	const struct cosyd_memory *memory;
	int fd = -1;

	CHECK(client_ask(client, COSYD_HELLO, 0, -1) && client_answer(client, &reply, &fd));
	CHECK(!reply.error && fd >= 0);
	memory = mmap(NULL, sizeof(*memory), PROT_READ, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	if (ret_fd)
		*ret_fd = fd;
	else
		close(fd);
	return memory;
}

void wait_until(bool (*so)(const void *context), const void *context)
{
	bool fine = so(context);

	for (int i = 0; i < 60000 && !fine; i++) {
		usleep(10000);
		fine = so(context);
	}
	CHECK(fine);
}
