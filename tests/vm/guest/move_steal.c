/* SPDX-License-Identifier: MIT */
/*
 * Tests that no file can take over a page that was lent: a server of FUSE that moves one into its
 * file's page cache, by vmsplice with SPLICE_F_GIFT, would have a page that anybody may write and
 * that the module takes for constant once the file is truncated.
 *
 * The page gets to the server as its last holder by TCP_ZEROCOPY_RECEIVE, which maps it.
 */
#include "move.h"
#include <linux/fuse.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Not in every C library's netinet/tcp.h. */
struct zerocopy {
	uint64_t address;
	uint32_t length, skip;
};

#define PATH   "/tmp/steal"
#define DIRECT 2 /* fh of the descriptor whose reads wait for the test */

static int server;
static char *gift;	       /* what the next read is answered by */
static uint64_t direct_unique; /* of the read that waits */
static uint64_t opens, file_size = PAGE;

/* --- The file system: one file, which is its root --------------------------------------------- */

static void answer(uint64_t unique, int error, const void *data, size_t count)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + count),
					.error = error,
					.unique = unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { (void *)data, count } };

	MUST(writev(server, parts, 2) == (ssize_t)head.len);
}

static void answer_attributes(uint64_t unique)
{
	struct fuse_attr_out out = { .attr = { .ino = 1,
					       .size = file_size,
					       .mode = S_IFREG | 0644,
					       .nlink = 1,
					       .blksize = PAGE } };

	answer(unique, 0, &out, sizeof(out));
}

/* Answers by moving the page into the page cache, if the kernel takes it. */
static void answer_gift(uint64_t unique)
{
	struct fuse_out_header head = { .len = sizeof(head) + PAGE, .unique = unique };
	struct iovec page = { gift, PAGE };
	int fds[2];

	MUST(!pipe(fds));
	MUST(write(fds[1], &head, sizeof(head)) == sizeof(head));
	MUST(vmsplice(fds[1], &page, 1, SPLICE_F_GIFT) == (ssize_t)PAGE);
	MUST(!munmap(gift, PAGE));
	gift = NULL;
	MUST(splice(fds[0], NULL, server, NULL, head.len, SPLICE_F_MOVE) == (ssize_t)head.len);
	close(fds[0]);
	close(fds[1]);
}

static void serve_read(const struct fuse_in_header *head, const struct fuse_read_in *in)
{
	static const char zeros[PAGE];

	if (in->fh == DIRECT)
		__atomic_store_n(&direct_unique, head->unique, __ATOMIC_RELEASE);
	else if (gift)
		answer_gift(head->unique);
	else
		answer(head->unique, 0, zeros, file_size);
}

static void serve(const struct fuse_in_header *head, const void *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = 31,
				      .max_readahead = 131072,
				      .max_write = PAGE };
	struct fuse_open_out open_out = { 0 };

	switch (head->opcode) {
	case FUSE_INIT:
		answer(head->unique, 0, &init, sizeof(init));
		break;
	case FUSE_SETATTR:
		file_size = ((const struct fuse_setattr_in *)in)->size;
		answer_attributes(head->unique);
		break;
	case FUSE_GETATTR:
		answer_attributes(head->unique);
		break;
	case FUSE_OPEN:
		open_out.fh = ++opens;
		open_out.open_flags = opens == DIRECT ? FOPEN_DIRECT_IO : 0;
		answer(head->unique, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		serve_read(head, in);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	case FUSE_RELEASE:
		answer(head->unique, 0, NULL, 0);
		break;
	default:
		answer(head->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve_all(void *arg)
{
	static char request[65536];

	while (read(server, request, sizeof(request)) > 0)
		serve((const void *)request, request + sizeof(struct fuse_in_header));
	return arg;
}

static void file_system_end(void)
{
	umount2(PATH, MNT_FORCE | MNT_DETACH);
}

static void file_system_mount(const char *path, pthread_t *thread)
{
	char options[96];

	server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (server < 0)
		SKIP("this kernel has no FUSE: %s", strerror(errno));
	close(open(path, O_CREAT | O_RDWR, 0644));
	snprintf(options, sizeof(options), "fd=%d,rootmode=100644,user_id=0,group_id=0", server);
	if (mount("steal", path, "fuse", 0, options) && errno == EPERM)
		SKIP("mounting needs root");
	/* Whoever closes the file at the end waits for a server that is gone, if not for this. */
	atexit(file_system_end);
	MUST(!pthread_create(thread, NULL, serve_all, NULL));
}

/* --- The page --------------------------------------------------------------------------------- */

/* Lends a page and gives it up, and returns a mapping that is its only holder. */
static char *page_by_tcp(struct pair tcp)
{
	char *memory = move_alloc(2), *map, drop[2 * PAGE];
	int one = 1;
	struct zerocopy zero = { .length = PAGE };
	socklen_t length = sizeof(zero);
	int fds[2], unsent = 1;

	MUST(!setsockopt(tcp.to, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	move_fill(memory, 2 * PAGE, 1);
	/* A socket is lent what is frozen already. */
	MUST(!pipe(fds) && cosy_loan(fds[1], memory, 2 * PAGE, 0) == 2 * PAGE);
	read_all(fds[0], drop, 2 * PAGE);
	MUST(cosy_loan(tcp.to, memory, 2 * PAGE, 0) == 2 * PAGE);
	map = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, tcp.from, 0);
	MUST(map != MAP_FAILED);
	zero.address = (uintptr_t)map;
	while (recv(tcp.from, drop, 2 * PAGE, MSG_PEEK) < 2 * (ssize_t)PAGE)
		sleep_ms(1);
	MUST(!getsockopt(tcp.from, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &zero, &length));
	if (zero.length != PAGE)
		SKIP("this kernel does not map what a socket received");
	MUST(move_differs(map, PAGE, 1) == -1);
	read_all(tcp.from, drop, PAGE);
	/* The sender keeps it until it is acknowledged. */
	while (unsent) {
		MUST(!ioctl(tcp.to, SIOCOUTQ, &unsent));
		sleep_ms(1);
	}
	MUST(!cosy_flush(memory, 2 * PAGE));
	cosy_move_free(memory, 2 * PAGE);
	return map;
}

struct direct_read {
	int fd;
	char *to;
};

static void *read_direct(void *arg)
{
	struct direct_read *direct = arg;

	MUST(read(direct->fd, direct->to, PAGE) == (ssize_t)PAGE);
	return NULL;
}

static void page_is_not_stolen(const char *path)
{
	struct pair tcp = tcp_new();
	char bytes[PAGE], *received = move_alloc(2), *map;
	struct direct_read direct;
	int fd = open(path, O_RDWR), fds[2];
	pthread_t reader;

	MUST(fd >= 0 && !pipe(fds));
	/* Opened before the page is there: an open drops what the page cache has. */
	direct.fd = open(path, O_RDWR);
	MUST(direct.fd >= 0 && opens == DIRECT);
	gift = page_by_tcp(tcp);
	MUST(pread(fd, bytes, PAGE, 0) == (ssize_t)PAGE);
	CHECK(move_differs(bytes, PAGE, 1) == -1, "the file has other bytes");

	/* The file's page into a pipe whose buffers nobody may steal, as those of loans are. */
	MUST(sendfile(tcp.to, fd, &(off_t){ 0 }, PAGE) == (ssize_t)PAGE);
	MUST(splice(tcp.from, NULL, fds[1], NULL, PAGE, 0) == (ssize_t)PAGE);

	/* Somebody who is to write it soon. */
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(map != MAP_FAILED);
	direct.to = map;
	MUST(!pthread_create(&reader, NULL, read_direct, &direct));
	WAIT_FOR(0, __atomic_load_n(&direct_unique, __ATOMIC_ACQUIRE));

	/* Now the page is no file's. */
	MUST(!ftruncate(fd, 0));
	MUST(cosy_transfer(fds[0], received, 2 * PAGE, 0) == (ssize_t)PAGE);
	CHECK(move_differs(received, PAGE, 1) == -1, "other bytes were received");
	move_fill(bytes, PAGE, 2);
	answer(direct_unique, 0, bytes, PAGE);
	MUST(!pthread_join(reader, NULL));
	CHECK(move_differs(received, PAGE, 1) == -1, "what was received has changed");
}

int main(void)
{
	const char *path = PATH;
	pthread_t thread;

	if (!moves())
		SKIP("without the module nothing moves");
	file_system_mount(path, &thread);
	page_is_not_stolen(path);
	return check_end();
}
