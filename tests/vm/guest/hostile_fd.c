/* SPDX-License-Identifier: MIT */
/*
 * Puts the descriptor into wrong hands: another process (sent over a socket, inherited by fork,
 * kept across exec, taken by pidfd_getfd) may do nothing with it, and nothing it tries disturbs the
 * owner.
 */
#include "raw.h"
#include "sockets.h"
#include <sys/socket.h>

static const struct bpf_insn forty_two[] = { MOV(0, 42), EXIT };

/* Tries everything that a stranger may.  Returns how many answers were wrong. */
static int stranger(int fd, uint32_t handle)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 4096 };
	struct cosy_limits limits = { .size = sizeof(limits), .max_steps = 1 };
	struct cosy_free free = { .size = sizeof(free), .handle = handle };
	struct cosy_stats stats = { .size = sizeof(stats) };
	struct cosy_move move = { .size = sizeof(move), .operation = COSY_MOVE_FLUSH };
	static struct raw_run r;
	struct cosy_load load;
	int wrong = 0;

	raw_run_init(&r, handle, NULL);
	r.run.ret = 7;
	wrong += raw_run(fd, &r) != -EXDEV;
	wrong += r.run.ret != 7;
	wrong += raw_try_load(fd, forty_two, 2, &load) != -EXDEV;
	wrong += raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf) != -EXDEV;
	wrong += raw_ioctl(fd, COSY_IOC_LIMITS, &limits) != -EXDEV;
	wrong += raw_ioctl(fd, COSY_IOC_FREE, &free) != -EXDEV;
	wrong += raw_ioctl(fd, COSY_IOC_STATS, &stats) != -EXDEV;
	wrong += raw_ioctl(fd, COSY_IOC_MOVE, &move) != -EXDEV;
	wrong += mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED;
	wrong += mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED;
	return wrong;
}

static struct {
	int fd;
	uint32_t handle;
	char *buffer;
} owner;

static void owner_is_well(const char *after)
{
	static struct raw_run r;
	long ret;

	raw_run_init(&r, owner.handle, NULL);
	ret = raw_run_to_end(owner.fd, &r);
	CHECK(!ret && r.run.status == COSY_DONE && r.run.ret == 42,
	      "after %s: RUN is %ld, status %u, result %lld", after, ret, r.run.status,
	      (long long)r.run.ret);
	CHECK(!strcmp(owner.buffer, "mine"), "after %s: the buffer holds %.8s", after,
	      owner.buffer);
}

static void in_fork(void *unused)
{
	static struct raw_run r;
	int own, wrong = stranger(owner.fd, owner.handle);

	(void)unused;
	CHECK(!wrong, "fork: %d wrong answers", wrong);
	/* The inherited mapping is the child's own copy. */
	CHECK(!strcmp(owner.buffer, "mine"), "fork: the child's buffer holds %.8s", owner.buffer);
	strcpy(owner.buffer, "child's");
	own = raw_open();
	raw_run_init(&r, raw_load(own, forty_two, 2), NULL);
	CHECK(!raw_run_to_end(own, &r) && r.run.ret == 42,
	      "fork: the child's own context does not run");
	close(owner.fd);
}

static void sent(int socket)
{
	int fd = receive_fd(socket), wrong;

	MUST(fd >= 0);
	wrong = stranger(fd, owner.handle);
	CHECK(!wrong, "sent: %d wrong answers", wrong);
}

static void by_socket(void)
{
	int pair[2], status;
	pid_t pid;

	MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	pid = child_start();
	if (!pid) {
		close(owner.fd);
		sent(pair[1]);
		_exit(check_end());
	}
	send_fd(pair[0], owner.fd);
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	/* A descriptor in flight in a socket that dies is released with it. */
	send_fd(pair[0], owner.fd);
	close(pair[0]);
	close(pair[1]);
}

static void by_exec(void *unused)
{
	char fd[16], handle[16];

	(void)unused;
	snprintf(fd, sizeof(fd), "%d", owner.fd);
	snprintf(handle, sizeof(handle), "%u", owner.handle);
	fcntl(owner.fd, F_SETFD, 0);
	execl("/proc/self/exe", "hostile_fd", fd, handle, (char *)NULL);
	MUST(!"exec");
}

/* Execs in the owner itself: the same process, another address space. */
static void own_exec(void *unused)
{
	owner.fd = raw_open();
	owner.handle = raw_load(owner.fd, forty_two, 2);
	by_exec(unused);
}

static void maps_first(void *arg)
{
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, *(int *)arg, 0) == MAP_FAILED &&
		      errno == EXDEV,
	      "mapped by a child: %s", strerror(errno));
}

/* Checks that a buffer that its owner has not mapped yet is nobody else's. */
static void not_mapped_yet(void)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = 4096 };
	int fd = raw_open();
	void *at;

	MUST(!raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf));
	CHECK_CHILD(in_child(maps_first, &fd));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED && !munmap(at, 4096), "not mapped by its owner: %s",
	      strerror(errno));
	close(fd);
}

static void duplicates(void)
{
	static struct raw_run r;
	int fd = raw_open(), twin = dup(fd);
	uint32_t handle = raw_load(fd, forty_two, 2);

	close(fd);
	raw_run_init(&r, handle, NULL);
	CHECK(!raw_run_to_end(twin, &r) && r.run.ret == 42, "dup: the twin does not run");
	CHECK(raw_run(fd, &r) == -EBADF, "dup: the closed one does");
	close(twin);
}

static void others_calls(void)
{
	static unsigned char tells[4096], own[4096];
	int fd = raw_open();
	ssize_t got = read(owner.fd, tells, sizeof(tells));
	char c[16];

	/* It tells of the caller's filters, whoever opened it. */
	CHECK(got > 0 && got == read(fd, own, sizeof(own)) && !memcmp(tells, own, got), "read: %zd",
	      got);
	close(fd);
	CHECK(write(owner.fd, c, 1) == -1, "write works");
	CHECK(lseek(owner.fd, 0, SEEK_END) <= 0, "lseek works");
	CHECK(ftruncate(owner.fd, 0) == -1, "ftruncate works");
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		int wrong = stranger(atoi(argv[1]), (uint32_t)atoi(argv[2]));

		CHECK(!wrong, "exec: %d wrong answers", wrong);
		return check_end();
	}
	owner.fd = raw_open();
	owner.buffer = raw_buffer(owner.fd, 1 << 16);
	owner.handle = raw_load(owner.fd, forty_two, 2);
	strcpy(owner.buffer, "mine");
	CHECK_CHILD(in_child(in_fork, NULL));
	owner_is_well("fork");
	by_socket();
	owner_is_well("a socket");
	CHECK_CHILD(in_child(by_exec, NULL));
	owner_is_well("exec");
	CHECK_CHILD(in_child(own_exec, NULL));
	not_mapped_yet();
	duplicates();
	others_calls();
	owner_is_well("all");
	return check_end();
}
