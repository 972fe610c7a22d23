// SPDX-License-Identifier: MIT
/* descriptors_kinds.c - the kinds of descriptors that descriptors.c compares calls on. */
#include "descriptors.h"
#include <arpa/inet.h>
#include <linux/if_alg.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/tipc.h>
#include <linux/tls.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#ifndef SOL_TLS
#define SOL_TLS 282
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static const char text[] = "hello world";
static int rest[4], rest_count;

static int keep(int fd)
{
	MUST(rest_count < 4);
	return rest[rest_count++] = fd;
}

void kind_close_rest(void)
{
	while (rest_count)
		close(rest[--rest_count]);
}

/* --- Files ------------------------------------------------------------------------------------- */

static int memory_file(unsigned int flags, int seals)
{
	int fd = memfd_create("m", flags);

	if (fd < 0)
		return fd;
	(void)!write(fd, text, 11);
	lseek(fd, 2, SEEK_SET);
	if (seals)
		MUST(!fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

/* Returns a new file of three pages and a few bytes. */
static int file_new(int flags)
{
	static char page[4096];
	int fd = open("file", O_CREAT | O_RDWR | O_TRUNC, 0600);

	MUST(fd >= 0);
	for (int i = 0; i < 3; i++) {
		memset(page, 'a' + i, sizeof(page));
		MUST(write(fd, page, sizeof(page)) == sizeof(page));
	}
	MUST(write(fd, "tail", 4) == 4);
	close(fd);
	fd = open("file", flags);
	unlink("file");
	return fd;
}

static int directory_gone(void)
{
	int fd;

	MUST(!mkdir("gone", 0700));
	fd = open("gone", O_RDONLY);
	rmdir("gone");
	return fd;
}

static int fifo_new(void)
{
	MUST(!mkfifo("fifo", 0600));
	int fd = open("fifo", O_RDWR | O_NONBLOCK);

	unlink("fifo");
	(void)!write(fd, text, 5);
	return fd;
}

static int queue_new(void)
{
	struct mq_attr attr = { .mq_maxmsg = 2, .mq_msgsize = 64 };
	int fd = mq_open("/descriptors", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attr);

	mq_unlink("/descriptors");
	return fd;
}

/* Returns one end of a pipe: 0 to read, 1 to write; the other end is kept. */
static int pipe_end(int end, int flags, size_t bytes)
{
	int fds[2];

	MUST(!pipe2(fds, flags | O_NONBLOCK));
	(void)!write(fds[1], text, bytes);
	keep(fds[!end]);
	return fds[end];
}

static int pipe_full(void)
{
	static char page[4096];
	int fd = pipe_end(1, 0, 0);

	while (write(fd, page, sizeof(page)) > 0)
		;
	return fd;
}

static int pipe_alone(void)
{
	int fd = pipe_end(0, 0, 0);

	kind_close_rest();
	return fd;
}

/* --- Sockets ----------------------------------------------------------------------------------- */

static int pair_new(int family, int type)
{
	int fds[2];

	if (socketpair(family, type, 0, fds))
		return -1;
	(void)!write(fds[0], text, 5);
	keep(fds[0]);
	return fds[1];
}

/* Returns a socket that `sent` bytes have come to; its peer is kept. */
static int internet(int family, int type, int protocol, size_t sent)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr *address = family == AF_INET ? (void *)&v4 : (void *)&v6;
	socklen_t size = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int bound = socket(family, type, protocol), peer, fd = bound;

	if (bound < 0)
		return -1;
	if (bind(bound, address, size) || (type == SOCK_STREAM && listen(bound, 1)) ||
	    getsockname(bound, address, &size)) {
		close(bound);
		return -1;
	}
	peer = socket(family, type, protocol);
	MUST(peer >= 0 && !connect(peer, address, size));
	if (type == SOCK_STREAM) {
		fd = accept(bound, NULL, NULL);
		MUST(fd >= 0);
		close(bound);
	}
	if (sent) {
		MUST(write(peer, text, sent) == (ssize_t)sent);
		MUST(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1) == 1);
	}
	keep(peer);
	return fd;
}

static int tls_new(void)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info = { .version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128 }
	};
	int fd = internet(AF_INET, SOCK_STREAM, 0, 0), peer = rest[rest_count - 1];

	if (setsockopt(fd, SOL_TCP, TCP_ULP, "tls", 4) ||
	    setsockopt(peer, SOL_TCP, TCP_ULP, "tls", 4) ||
	    setsockopt(peer, SOL_TLS, TLS_TX, &info, sizeof(info)) ||
	    setsockopt(fd, SOL_TLS, TLS_RX, &info, sizeof(info)) ||
	    setsockopt(fd, SOL_TLS, TLS_TX, &info, sizeof(info))) {
		close(fd);
		return -1;
	}
	MUST(write(peer, text, 1) == 1);
	MUST(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1) == 1);
	return fd;
}

static int listening(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	MUST(!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, 1));
	return fd;
}

static int unix_shut(void)
{
	int fd = pair_new(AF_UNIX, SOCK_STREAM);

	shutdown(fd, SHUT_RDWR);
	return fd;
}

static int unix_left(void)
{
	int fd = pair_new(AF_UNIX, SOCK_STREAM);

	kind_close_rest();
	return fd;
}

static int netlink_asked(void)
{
	struct {
		struct nlmsghdr header;
		char body[16];
	} request = { .header = { .nlmsg_len = sizeof(request),
				  .nlmsg_type = 18, /* RTM_GETLINK */
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	MUST(fd < 0 || send(fd, &request, sizeof(request), 0) == sizeof(request));
	return fd;
}

/* Has a cipher ready to give the first byte. */
static void cipher_feed(int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4) + CMSG_SPACE(4 + 16)];
	} control = { 0 };
	struct iovec byte = { (void *)text, 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *part = CMSG_FIRSTHDR(&message);

	part->cmsg_level = SOL_ALG;
	part->cmsg_type = ALG_SET_OP;
	part->cmsg_len = CMSG_LEN(4);
	*(uint32_t *)CMSG_DATA(part) = ALG_OP_ENCRYPT;
	part = CMSG_NXTHDR(&message, part);
	part->cmsg_level = SOL_ALG;
	part->cmsg_type = ALG_SET_IV;
	part->cmsg_len = CMSG_LEN(4 + 16);
	*(uint32_t *)CMSG_DATA(part) = 16;
	MUST(sendmsg(fd, &message, 0) == 1);
}

static int algorithm(const char *type, const char *name, const char *key)
{
	struct sockaddr_alg address = { .salg_family = AF_ALG };
	int bound = socket(AF_ALG, SOCK_SEQPACKET, 0), fd = -1;

	if (bound < 0)
		return -1;
	strcpy((char *)address.salg_type, type);
	strcpy((char *)address.salg_name, name);
	if (!bind(bound, (struct sockaddr *)&address, sizeof(address)) &&
	    (!key || !setsockopt(bound, SOL_ALG, ALG_SET_KEY, key, (socklen_t)strlen(key))))
		fd = accept(bound, NULL, NULL);
	close(bound);
	if (fd >= 0 && !strcmp(type, "skcipher"))
		cipher_feed(fd);
	if (fd >= 0 && !strcmp(type, "hash"))
		(void)!write(fd, "abc", 3);
	return fd;
}

/* --- Others ------------------------------------------------------------------------------------ */

static int signals_new(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return signalfd(-1, &set, 0);
}

static int uring_new(void)
{
	struct io_uring_params params = { 0 };

	return (int)syscall(SYS_io_uring_setup, 4, &params);
}

static int perf_new(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.exclude_kernel = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int ruleset_new(void)
{
	uint64_t handled = 1;

	return (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
}

/* KIND(name, flags, expression that opens one) */
#define KINDS                                                                                      \
	KIND(memfd, REPEATS | SERVED, memory_file(0, 0))                                           \
	KIND(memfd_sealed, REPEATS | SERVED, memory_file(MFD_ALLOW_SEALING, F_SEAL_WRITE))         \
	KIND(memfd_huge, RARE | LEFT, memory_file(MFD_HUGETLB, 0))                                 \
	KIND(memfd_secret, RARE, syscall(SYS_memfd_secret, 0))                                     \
	KIND(file, REPEATS | SERVED, file_new(O_RDWR))                                             \
	KIND(file_append, REPEATS | SERVED, file_new(O_RDWR | O_APPEND))                           \
	KIND(file_read_only, REPEATS | SERVED, file_new(O_RDONLY))                                 \
	KIND(file_write_only, REPEATS, file_new(O_WRONLY))                                         \
	KIND(file_sync, REPEATS | SERVED, file_new(O_RDWR | O_SYNC))                               \
	KIND(file_no_atime, REPEATS | SERVED, file_new(O_RDWR | O_NOATIME))                        \
	KIND(file_direct, RARE | LEFT, file_new(O_RDWR | O_DIRECT))                                \
	KIND(directory, 0, open(".", O_RDONLY | O_DIRECTORY))                                      \
	KIND(directory_gone, 0, directory_gone())                                                  \
	KIND(path_directory, 0, open(".", O_PATH))                                                 \
	KIND(path_file, 0, open("/proc/version", O_PATH))                                          \
	KIND(fuse_direct, RARE | REPEATS | SERVED, open("served/direct", O_RDWR))                  \
	KIND(pipe, SERVED, pipe_end(0, 0, 5))                                                      \
	KIND(pipe_to_write, 0, pipe_end(1, 0, 0))                                                  \
	KIND(pipe_of_packets, SERVED, pipe_end(0, O_DIRECT, 5))                                    \
	KIND(pipe_alone, SERVED, pipe_alone())                                                     \
	KIND(pipe_full, 0, pipe_full())                                                            \
	KIND(fifo, SERVED, fifo_new())                                                             \
	KIND(unix_stream, SERVED, pair_new(AF_UNIX, SOCK_STREAM))                                  \
	KIND(unix_datagram, SERVED, pair_new(AF_UNIX, SOCK_DGRAM))                                 \
	KIND(unix_packet, SERVED, pair_new(AF_UNIX, SOCK_SEQPACKET))                               \
	KIND(unix_left, SERVED, unix_left())                                                       \
	KIND(unix_shut, SERVED, unix_shut())                                                       \
	KIND(tcp, SERVED, internet(AF_INET, SOCK_STREAM, 0, 5))                                    \
	KIND(tcp_v6, RARE | SERVED, internet(AF_INET6, SOCK_STREAM, 0, 5))                         \
	KIND(tcp_listening, SERVED, listening())                                                   \
	KIND(tcp_unconnected, SERVED, socket(AF_INET, SOCK_STREAM, 0))                             \
	KIND(tls, SERVED, tls_new())                                                               \
	KIND(udp, SERVED, internet(AF_INET, SOCK_DGRAM, 0, 5))                                     \
	KIND(udp_v6, RARE | SERVED, internet(AF_INET6, SOCK_DGRAM, 0, 5))                          \
	KIND(mptcp, SERVED, internet(AF_INET, SOCK_STREAM, IPPROTO_MPTCP, 5))                      \
	KIND(sctp, LEFT, internet(AF_INET, SOCK_STREAM, IPPROTO_SCTP, 5))                          \
	KIND(tipc, SERVED, pair_new(AF_TIPC, SOCK_STREAM))                                         \
	KIND(alg_hash, LEFT, algorithm("hash", "sha256", NULL))                                    \
	KIND(alg_skcipher, LEFT, algorithm("skcipher", "ctr(aes)", "0123456789abcdef"))            \
	KIND(alg_aead, RARE | LEFT, algorithm("aead", "gcm(aes)", "0123456789abcdef"))             \
	KIND(alg_rng, RARE | VARIES | LEFT, algorithm("rng", "stdrng", NULL))                      \
	KIND(netlink, LEFT, socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))                           \
	KIND(netlink_asked, VARIES | LEFT, netlink_asked())                                        \
	KIND(vsock, RARE | LEFT, socket(AF_VSOCK, SOCK_STREAM, 0))                                 \
	KIND(can, RARE | LEFT, socket(AF_CAN, SOCK_RAW, 1))                                        \
	KIND(kcm, RARE | LEFT, socket(AF_KCM, SOCK_DGRAM, 0))                                      \
	KIND(smc, RARE | LEFT, socket(AF_SMC, SOCK_STREAM, 0))                                     \
	KIND(ping, RARE | LEFT, socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP))                         \
	KIND(eventfd, VARIES | LEFT, eventfd(3, 0))                                                \
	KIND(timerfd, LEFT, timerfd_create(CLOCK_MONOTONIC, 0))                                    \
	KIND(signalfd, LEFT, signals_new())                                                        \
	KIND(epoll, 0, epoll_create1(0))                                                           \
	KIND(inotify, LEFT, inotify_init())                                                        \
	KIND(fanotify, RARE | LEFT, fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID, 0))            \
	KIND(userfaultfd, RARE | LEFT, syscall(SYS_userfaultfd, 1 | O_NONBLOCK))                   \
	KIND(pidfd, 0, syscall(SYS_pidfd_open, getpid(), 0))                                       \
	KIND(io_uring, RARE, uring_new())                                                          \
	KIND(perf, RARE | VARIES | LEFT, perf_new())                                               \
	KIND(landlock, RARE, ruleset_new())                                                        \
	KIND(queue, RARE | VARIES | LEFT, queue_new())                                             \
	KIND(mount, RARE, syscall(SYS_open_tree, AT_FDCWD, "/tmp", O_CLOEXEC))                     \
	KIND(cosy, 0, open("/dev/cosy", O_RDWR))                                                   \
	KIND(dev_null, LEFT, open("/dev/null", O_RDWR))                                            \
	KIND(dev_zero, LEFT, open("/dev/zero", O_RDWR))                                            \
	KIND(dev_full, LEFT, open("/dev/full", O_RDWR))                                            \
	KIND(dev_fuse, RARE | LEFT, open("/dev/fuse", O_RDWR))                                     \
	KIND(dev_tty, RARE | LEFT, open("/dev/tty", O_RDWR))                                       \
	KIND(dev_ptmx, RARE | LEFT, open("/dev/ptmx", O_RDWR | O_NOCTTY))                          \
	KIND(proc_mem, VARIES | LEFT, open("/proc/self/mem", O_RDWR))                              \
	KIND(proc_status, VARIES, open("/proc/self/status", O_RDONLY))                             \
	KIND(proc_version, SERVED, open("/proc/version", O_RDONLY))                                \
	KIND(proc_sysctl, SERVED, open("/proc/sys/kernel/osrelease", O_RDONLY))                    \
	KIND(proc_pagemap, VARIES | LEFT, open("/proc/self/pagemap", O_RDONLY))                    \
	KIND(proc_maps, VARIES, open("/proc/self/maps", O_RDONLY))                                 \
	KIND(proc_directory, VARIES, open("/proc/self/fd", O_RDONLY))                              \
	KIND(proc_namespace, 0, open("/proc/self/ns/user", O_RDONLY))                              \
	KIND(proc_kallsyms, VARIES, open("/proc/kallsyms", O_RDONLY))                              \
	KIND(proc_cmdline, VARIES | LEFT, open("/proc/self/cmdline", O_RDONLY))                    \
	KIND(proc_environ, VARIES | LEFT, open("/proc/self/environ", O_RDONLY))                    \
	KIND(proc_mounts, VARIES, open("/proc/self/mounts", O_RDONLY))                             \
	KIND(proc_score, LEFT, open("/proc/self/oom_score_adj", O_RDWR))                           \
	KIND(proc_pressure, RARE | VARIES, open("/proc/pressure/cpu", O_RDONLY))                   \
	KIND(sysfs, SERVED, open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY))         \
	KIND(sysfs_types, RARE, open("/sys/kernel/btf/vmlinux", O_RDONLY))                         \
	KIND(none, 0, 999)

#define KIND(name, flags, expression)                                                              \
	static int name##_open(void)                                                               \
	{                                                                                          \
		return (int)(expression);                                                          \
	}
KINDS
#undef KIND

const struct kind kinds[] = {
#define KIND(name, flags, expression) { #name, name##_open, flags },
	KINDS
#undef KIND
};
const size_t kinds_count = COUNT(kinds);
