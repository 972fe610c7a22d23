/* SPDX-License-Identifier: MIT */
/*
 * Checks locked memory: neither a chain of forks nor descriptors that others hold get around
 * RLIMIT_MEMLOCK; and a process that closes a descriptor waits for nobody's memory lock.
 */
#include "raw.h"
#include "sockets.h"
#include <linux/fuse.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define LIMIT  (1 << 20)
#define HALF   (LIMIT / 2)
#define MAX_MS 20000 /* a step that takes longer never ends */

static void be_limited(void)
{
	const struct rlimit limit = { LIMIT, LIMIT };

	become_nobody(true);
	MUST(!setrlimit(RLIMIT_MEMLOCK, &limit));
}

static long set_buffer(int fd, size_t size)
{
	struct cosy_setbuf setbuf = { .size = sizeof(setbuf), .len = size };

	return raw_ioctl(fd, COSY_IOC_SETBUF, &setbuf);
}

static long fresh_buffer(size_t size)
{
	int fd = raw_open();
	long ret = set_buffer(fd, size);

	if (ret) {
		close(fd);
		return ret;
	}
	MUST(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	return 0;
}

/* --- Forks ----------------------------------------------------------------------- */

#define GENERATIONS 6

/*
 * Forks in a chain: each generation inherits copies, waits until its parent is gone with all that
 * it had, takes one buffer more and forks the next.  Tells how many buffers the last one has.
 */
static void chain(int tell)
{
	char had = 0;

	for (int n = 0; n < GENERATIONS; n++) {
		pid_t parent = getpid(), pid;

		had += !fresh_buffer(HALF);
		pid = fork();
		MUST(pid >= 0);
		if (pid)
			_exit(0);
		while (getppid() == parent)
			sleep_ms(1);
	}
	MUST(write(tell, &had, 1) == 1);
	_exit(0);
}

static void forks(void *unused)
{
	int tell[2], status;
	pid_t pid;
	char had;

	(void)unused;
	be_limited();
	MUST(!pipe(tell));
	pid = fork();
	MUST(pid >= 0);
	if (!pid) {
		close(tell[0]);
		chain(tell[1]);
	}
	close(tell[1]);
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(read(tell[0], &had, 1) == 1);
	printf("%d forks, %d KB to lock: one process with %d buffers of %d KB\n", GENERATIONS,
	       LIMIT >> 10, had, HALF >> 10);
	/* Each copy inherits its file, and so what the parent had: that counts, too. */
	CHECK(had >= 1 && had <= LIMIT / HALF, "%d buffers", had);
	/* The last of the chain may still be going. */
	for (double start = now_ms(); fresh_buffer(LIMIT) && now_ms() - start < MAX_MS;)
		sleep_ms(5);
	CHECK(fresh_buffer(HALF) == -ENOMEM, "all of it is not charged");
}

/* Checks that a fork is not refused at the limit: the program's data are in the buffer. */
static void fork_at_limit(void *unused)
{
	int fd, status;
	char *buffer;
	pid_t pid;

	(void)unused;
	be_limited();
	fd = raw_open();
	buffer = raw_buffer(fd, LIMIT);
	memset(buffer + 12345, 'x', 54321);
	pid = child_start();
	if (!pid) {
		for (int i = 0; i < LIMIT; i++)
			CHECK(buffer[i] == (i >= 12345 && i < 12345 + 54321 ? 'x' : 0),
			      "byte %d is %d", i, buffer[i]);
		memset(buffer, 'y', LIMIT);
		CHECK(fresh_buffer(4096) == -ENOMEM, "a copy is not charged");
		MUST(!munmap(buffer, LIMIT));
		CHECK(fresh_buffer(4096) == -ENOMEM,
		      "the parent's buffer is given back with the copy");
		close(fd);
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(buffer[0] == 0 && buffer[12345] == 'x', "the child changed the parent's buffer");
	MUST(!munmap(buffer, LIMIT));
	close(fd);
	CHECK(!fresh_buffer(LIMIT), "what is gone is still charged");
}

/* Checks that a copy counts beside the buffer that it was made of, as long as it is there. */
static void fork_charges(void *unused)
{
	int status;
	pid_t pid;

	(void)unused;
	be_limited();
	MUST(!fresh_buffer(HALF));
	pid = child_start();
	if (!pid) {
		CHECK(fresh_buffer(4096) == -ENOMEM, "the child's copy is not charged");
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK_CHILD(status);
	CHECK(!fresh_buffer(HALF), "a copy that is gone is still charged");
}

/* --- Descriptors that others hold -------------------------------------------------- */

static void parked(void *unused)
{
	int pair[2], fd[4], made, status;

	(void)unused;
	be_limited();
	MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	for (made = 0; made < 4; made++) {
		pid_t pid = fork();

		MUST(pid >= 0);
		if (!pid) {
			int own = raw_open();

			if (set_buffer(own, HALF))
				_exit(1);
			send_fd(pair[0], own);
			_exit(0);
		}
		MUST(waitpid(pid, &status, 0) == pid);
		if (status)
			break;
		fd[made] = receive_fd(pair[1]);
	}
	printf("descriptors of dead processes: %d with %d KB each\n", made, HALF >> 10);
	CHECK(made == 2, "%d descriptors", made);
	while (made)
		close(fd[--made]);
	CHECK(!fresh_buffer(LIMIT), "what is closed is still charged");
}

/* --- A stranger's memory lock -------------------------------------------------------- */

#define MOUNT "/tmp/hostile_memlock"

/* Serves a file system with one file, whose first READ is never answered but told to `asked`. */
static void serve(int fuse, int asked)
{
	static char in[1 << 17], out[1 << 16];

	for (;;) {
		struct fuse_in_header *request = (void *)in;
		struct fuse_out_header *answer = (void *)out;
		void *body = answer + 1;
		size_t size = 0;

		if (read(fuse, in, sizeof(in)) < 0) {
			if (errno == ENODEV)
				_exit(0);
			continue;
		}
		memset(out, 0, 512);
		answer->unique = request->unique;
		switch (request->opcode) {
		case FUSE_INIT: {
			struct fuse_init_out *init = body;

			init->major = FUSE_KERNEL_VERSION;
			init->minor = 31;
			init->max_write = 65536;
			size = sizeof(*init);
			break;
		}
		case FUSE_GETATTR: {
			struct fuse_attr_out *got = body;

			got->attr.ino = request->nodeid;
			got->attr.mode =
				request->nodeid == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0666;
			got->attr.size = 65536;
			got->attr.nlink = 1;
			size = sizeof(*got);
			break;
		}
		case FUSE_LOOKUP: {
			struct fuse_entry_out *entry = body;

			entry->nodeid = entry->attr.ino = 2;
			entry->attr.mode = S_IFREG | 0666;
			entry->attr.size = 65536;
			entry->attr.nlink = 1;
			size = sizeof(*entry);
			break;
		}
		case FUSE_OPEN:
			size = sizeof(struct fuse_open_out);
			break;
		case FUSE_READ:
			MUST(write(asked, "r", 1) == 1);
			pause();
			break;
		case FUSE_FORGET:
			continue;
		default:
			answer->error =
				request->opcode == FUSE_FLUSH || request->opcode == FUSE_RELEASE
					? 0
					: -ENOSYS;
		}
		answer->len = (uint32_t)(sizeof(*answer) + size);
		MUST(write(fuse, out, answer->len) == (ssize_t)answer->len);
	}
}

/*
 * Opens a context and gives it away, then reads its own memory where the file is: under its memory
 * lock.
 */
static void stall(int to)
{
	int fd = raw_open(), file, own;
	char *at, c;

	MUST(!set_buffer(fd, 4096));
	send_fd(to, fd);
	close(fd);
	file = open(MOUNT "/file", O_RDWR);
	MUST(file >= 0);
	at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	MUST(at != MAP_FAILED);
	own = open("/proc/self/mem", O_RDONLY);
	MUST(own >= 0);
	pread(own, &c, 1, (off_t)(uintptr_t)at);
	_exit(0);
}

static bool told(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&wait, 1, MAX_MS) == 1 && read(fd, &c, 1) == 1;
}

static void mount_stalling(int fuse)
{
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	MUST(!mkdir(MOUNT, 0755) || errno == EEXIST);
	MUST(!mount("hostile", MOUNT, "fuse", 0, options));
}

/* Closes the descriptor that it is sent once it is told to, and tells when that is done. */
static void close_it(int from, int now, int closed)
{
	int fd = receive_fd(from);
	char c;

	MUST(read(now, &c, 1) == 1);
	close(fd);
	MUST(write(closed, "c", 1) == 1);
	_exit(0);
}

static void stranger(void *unused)
{
	int fuse, asked[2], now[2], closed[2], pair[2];
	pid_t server, opener, closer;

	(void)unused;
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (geteuid() || fuse < 0) {
		printf("a stranger's memory lock: not tried, %s\n",
		       geteuid() ? "not root" : "there is no FUSE");
		return;
	}
	mount_stalling(fuse);
	MUST(!pipe(asked) && !pipe(now) && !pipe(closed) &&
	     !socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	server = fork();
	if (!server)
		serve(fuse, asked[1]);
	close(fuse); /* when the server goes every request ends */
	closer = fork();
	if (!closer)
		close_it(pair[1], now[0], closed[1]);
	opener = fork();
	if (!opener)
		stall(pair[0]);
	MUST(told(asked[0]));
	MUST(write(now[1], "n", 1) == 1);
	CHECK(told(closed[0]), "close waits for the memory lock of who opened it");
	MUST(!kill(server, SIGKILL) && waitpid(server, NULL, 0) == server);
	MUST(waitpid(closer, NULL, 0) == closer);
	kill(opener, SIGKILL);
	MUST(waitpid(opener, NULL, 0) == opener);
	MUST(!umount2(MOUNT, MNT_DETACH) && !rmdir(MOUNT));
}

int main(void)
{
	close(raw_open());
	CHECK_CHILD(in_child(forks, NULL));
	CHECK_CHILD(in_child(fork_at_limit, NULL));
	CHECK_CHILD(in_child(fork_charges, NULL));
	CHECK_CHILD(in_child(parked, NULL));
	CHECK_CHILD(in_child(stranger, NULL));
	return check_end();
}
