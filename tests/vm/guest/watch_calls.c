// SPDX-License-Identifier: MIT
/*
 * watch_calls DIR: as watch_guard, by rarer ways: io_uring, descriptors that are received, open for
 * neither reading nor writing or by O_PATH, handles, and the newer calls for mounts.
 */
#define _GNU_SOURCE
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "watch_cases.h"

/* Of headers that are younger than Debian 12's. */
enum {
	RING_FIXED_FD_INSTALL = 54,
	RING_FTRUNCATE = 55,
	MOUNT_BENEATH = 0x200,
};

#define OTHER "top/other"

/* --- io_uring -------------------------------------------------------------------------------- */

static struct {
	int fd;
	unsigned int *tail, *array, *end;
	struct io_uring_sqe *entry;
	struct io_uring_cqe *results;
	unsigned int mask, seen;
} ring;

static char *ring_map(size_t size, off_t at)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, at);
}

static void ring_make(void)
{
	struct io_uring_params is = { .flags = 0 };
	char *requests, *results;

	ring.fd = (int)syscall(SYS_io_uring_setup, 1, &is);
	if (ring.fd < 0) {
		perror("io_uring_setup");
		return;
	}
	requests = ring_map(is.sq_off.array + sizeof(unsigned int), IORING_OFF_SQ_RING);
	results = ring_map(is.cq_off.cqes + is.cq_entries * sizeof(*ring.results),
			   IORING_OFF_CQ_RING);
	ring.entry = (void *)ring_map(sizeof(*ring.entry), IORING_OFF_SQES);
	ring.tail = (void *)(requests + is.sq_off.tail);
	ring.array = (void *)(requests + is.sq_off.array);
	ring.end = (void *)(results + is.cq_off.tail);
	ring.results = (void *)(results + is.cq_off.cqes);
	ring.mask = is.cq_entries - 1;
}

/* Makes one request, and returns its result. */
static int ring_ask(struct io_uring_sqe request)
{
	*ring.entry = request;
	ring.array[0] = 0;
	__atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -1;
	while (__atomic_load_n(ring.end, __ATOMIC_ACQUIRE) == ring.seen)
		;
	return ring.results[ring.seen++ & ring.mask].res;
}

/* A request that a thread of the kernel's makes. */
#define REQUEST(...) ((struct io_uring_sqe){ .flags = IOSQE_ASYNC, __VA_ARGS__ })
#define TEXT(text)   ((unsigned long)(text))

static void ring_unlink(void)
{
	DO(ring_ask(
		REQUEST(.opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD, .addr = TEXT(FILE_PATH))));
}
static void ring_rename(void)
{
	DO(ring_ask(REQUEST(.opcode = IORING_OP_RENAMEAT, .fd = AT_FDCWD, .addr = TEXT(FILE_PATH),
			    .len = (unsigned int)AT_FDCWD, .off = TEXT("top/moved"))));
}
static void ring_link(void)
{
	DO(ring_ask(REQUEST(.opcode = IORING_OP_LINKAT, .fd = AT_FDCWD, .addr = TEXT(FILE_PATH),
			    .len = (unsigned int)AT_FDCWD, .off = TEXT("top/linked"))));
}
static void ring_mkdir(void)
{
	DO(ring_ask(REQUEST(.opcode = IORING_OP_MKDIRAT, .fd = AT_FDCWD,
			    .addr = TEXT(DIRECTORY "/new"), .len = 0755)));
}
static void ring_cut(void)
{
	int fd = ring_ask(REQUEST(.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD,
				  .addr = TEXT(FILE_PATH), .open_flags = O_WRONLY));

	DO(ring_ask(REQUEST(.opcode = RING_FTRUNCATE, .fd = fd, .off = 7)));
	close(fd);
}
/* The ring keeps the file open. */
static void ring_keep(const char *path, int flags)
{
	int fd = open(path, flags);

	ring_make();
	if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, &fd, 1))
		perror("io_uring_register");
	close(fd);
}
static void ring_keep_to_write(void)
{
	ring_keep(FILE_PATH, O_WRONLY);
}
static void ring_write(void)
{
	DO(ring_ask((struct io_uring_sqe){ .opcode = IORING_OP_WRITE,
					   .flags = IOSQE_FIXED_FILE,
					   .addr = TEXT("abc"),
					   .len = 3,
					   .off = 200 }));
}

/* --- Numbers ----------------------------------------------------------------------------------- */

/* A close that no library sees. */
static void number_close(void)
{
	syscall(SYS_close, before_fd);
}
static void other_make(void)
{
	mkdir(OTHER, 0755);
	file_put(OTHER "/file", 33);
	open_directory();
}
static void ring_and_other(void)
{
	other_make();
	ring_make();
}
static void ring_close_and_open(void)
{
	ring_ask(REQUEST(.opcode = IORING_OP_CLOSE, .fd = before_fd));
	done = ring_ask(REQUEST(.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = TEXT(OTHER),
				.open_flags = O_RDONLY | O_DIRECTORY)) == before_fd;
}
static void ring_keep_other(void)
{
	other_make();
	ring_keep(OTHER, O_RDONLY);
}
static void ring_install(void)
{
	number_close();
	done = ring_ask((struct io_uring_sqe){ .opcode = RING_FIXED_FD_INSTALL,
					       .flags = IOSQE_FIXED_FILE }) == before_fd;
}

static int sockets[2];

/* A message with room for one descriptor. */
#define MESSAGE(name)                                                                              \
	char byte_ = 0, control_[CMSG_SPACE(sizeof(int))] = { 0 };                                 \
	struct iovec bytes_ = { &byte_, 1 };                                                       \
	struct msghdr name = { .msg_iov = &bytes_,                                                 \
			       .msg_iovlen = 1,                                                    \
			       .msg_control = control_,                                            \
			       .msg_controllen = sizeof(control_) }

static void send_other(void)
{
	MESSAGE(message);
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int fd;

	other_make();
	fd = open(OTHER, O_RDONLY);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || sendmsg(sockets[0], &message, 0) != 1)
		perror("sendmsg");
	close(fd);
}
static void receive(void)
{
	MESSAGE(message);
	int fd = -1;

	number_close();
	if (recvmsg(sockets[1], &message, 0) == 1)
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	done = fd == before_fd;
}

static int holder; /* a descriptor of a process that has OTHER open, by number 77 */

static void hold_other(void)
{
	int ends[2];
	char byte;
	pid_t child;

	other_make();
	if (pipe(ends))
		perror("pipe");
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(open(OTHER, O_RDONLY), 77) == 77 && write(ends[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	if (read(ends[0], &byte, 1) != 1)
		perror("read");
	holder = (int)syscall(SYS_pidfd_open, child, 0);
}
static void take_from_holder(void)
{
	number_close();
	done = syscall(SYS_pidfd_getfd, holder, 77, 0) == before_fd;
}
static void tree_open(void)
{
	number_close();
	done = syscall(SYS_open_tree, AT_FDCWD, OTHER, 0) == before_fd;
}
static void tree_clone(void)
{
	number_close();
	done = syscall(SYS_open_tree, AT_FDCWD, OTHER, OPEN_TREE_CLONE) == before_fd;
}

/* --- Open, but not for reading or writing -------------------------------------------------------- */

static void open_for_nothing(void)
{
	before_fd = open(FILE_PATH, O_ACCMODE);
}
static void number_chmod(void)
{
	DO(fchmod(before_fd, 0600));
}
static void number_xattr(void)
{
	DO(fsetxattr(before_fd, "trusted.cosy", "2", 1, 0));
}
static void number_touch(void)
{
	DO(futimens(before_fd, NULL));
}
static void number_flags(void)
{
	int flags = FS_NODUMP_FL;

	DO(ioctl(before_fd, FS_IOC_SETFLAGS, &flags));
}
static void open_path(void)
{
	chmod(FILE_PATH, 0755);
	before_fd = open(FILE_PATH, O_PATH);
}
static const char *path_of(int fd)
{
	static char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}
static void path_chown(void)
{
	DO(fchownat(before_fd, "", 5, 5, AT_EMPTY_PATH));
}
static void path_link(void)
{
	DO(linkat(before_fd, "", AT_FDCWD, "top/linked", AT_EMPTY_PATH));
}
static void path_cut(void)
{
	DO(truncate(path_of(before_fd), 3));
}
static void path_write(void)
{
	later_fd = open(path_of(before_fd), O_WRONLY | O_APPEND);
	DO(write(later_fd, "x", 1));
}
static void path_exec(void)
{
	char *const arguments[] = { "x", NULL };
	pid_t child = fork();

	if (!child) {
		syscall(SYS_execveat, before_fd, "", arguments, NULL, AT_EMPTY_PATH);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	done = true;
}
static void white_out(void)
{
	DO(syscall(SYS_renameat2, AT_FDCWD, FILE_PATH, AT_FDCWD, "top/white", RENAME_WHITEOUT));
}

static union {
	struct file_handle handle;
	char bytes[sizeof(struct file_handle) + MAX_HANDLE_SZ];
} kept;

static void keep_handle(void)
{
	int id;

	kept.handle.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(AT_FDCWD, FILE_PATH, &kept.handle, &id, 0))
		perror("name_to_handle_at");
	before_fd = open("top", O_RDONLY);
}
static void handle_write(void)
{
	later_fd = open_by_handle_at(before_fd, &kept.handle, O_WRONLY | O_APPEND);
	DO(write(later_fd, "x", 1));
}
static void handle_read(void)
{
	char byte;

	later_fd = open_by_handle_at(before_fd, &kept.handle, O_RDONLY);
	DO(read(later_fd, &byte, 1));
}

/* --- Mounts ------------------------------------------------------------------------------------ */

static void mount_new(void)
{
	int fs = fsopen("tmpfs", 0);

	fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	DO(move_mount(fsmount(fs, 0, 0), "", AT_FDCWD, DIRECTORY, MOVE_MOUNT_F_EMPTY_PATH));
}
static void mount_over(void)
{
	mkdir(OTHER, 0755);
	if (mount(OTHER, DIRECTORY, NULL, MS_BIND, NULL))
		perror("mount");
	file_put(FILE_PATH, 55);
}
static void mount_copy(const char *from, const char *to, unsigned int flags)
{
	int tree = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE);

	DO(move_mount(tree, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH | flags));
}
/* What is mounted beneath shows when the mount above it is gone. */
static void mount_beneath(void)
{
	mount_copy("top/mid", DIRECTORY, MOUNT_BENEATH);
	umount2(DIRECTORY, MNT_DETACH);
}
static void mount_above(void)
{
	mkdir(OTHER, 0755);
	mount_copy(OTHER, "top/mid", 0);
}
static void mount_other(void)
{
	mkdir(OTHER, 0755);
	if (mount("t", OTHER, "tmpfs", 0, NULL))
		perror("mount");
}
static void mount_move(void)
{
	DO(mount(OTHER, DIRECTORY, NULL, MS_MOVE, NULL));
}

static int to_namespace[2], from_namespace[2];

/* Another mount namespace, whose mounts appear here as well. */
static void share_mounts(void)
{
	char here[256], byte;

	if (mount(".", ".", NULL, MS_BIND, NULL) || !getcwd(here, sizeof(here)) || chdir(here) ||
	    mount(NULL, ".", NULL, MS_SHARED, NULL) || pipe(to_namespace) || pipe(from_namespace))
		perror("share_mounts");
	if (!fork()) {
		byte = unshare(CLONE_NEWNS) || chdir(here);
		if (write(from_namespace[1], &byte, 1) != 1 || read(to_namespace[0], &byte, 1) != 1)
			_exit(1);
		byte = !!mount("t", DIRECTORY, "tmpfs", 0, NULL);
		_exit(write(from_namespace[1], &byte, 1) != 1);
	}
	close(to_namespace[0]);
	close(from_namespace[1]);
	if (read(from_namespace[0], &byte, 1) != 1 || byte)
		perror("unshare");
}
static void mount_there(void)
{
	char byte = 1;

	done = write(to_namespace[1], "x", 1) == 1 && read(from_namespace[0], &byte, 1) == 1 &&
	       !byte;
}

static const struct change_case cases[] = {
	{ "unlink by a ring", ring_make, ring_unlink, BY_PATH, ALONE },
	{ "rename by a ring", ring_make, ring_rename, BY_PATH, ALONE },
	{ "link by a ring", ring_make, ring_link, BY_PATH, ALONE },
	{ "mkdir by a ring", ring_make, ring_mkdir, THE_DIRECTORY, ALONE },
	{ "truncate by a ring", ring_make, ring_cut, BY_PATH, ALONE },
	{ "write to a ring's file", ring_keep_to_write, ring_write, BY_PATH, ALONE },
	{ "close and open by a ring", ring_and_other, ring_close_and_open, BY_NUMBER, ALONE },
	{ "file that a ring installs", ring_keep_other, ring_install, BY_NUMBER, ALONE },
	{ "file of a message", send_other, receive, BY_NUMBER, ALONE },
	{ "pidfd_getfd", hold_other, take_from_holder, BY_NUMBER, ALONE },
	{ "open_tree", other_make, tree_open, BY_NUMBER, ALONE },
	{ "open_tree of a copy", other_make, tree_clone, BY_NUMBER, ALONE },
	{ "fchmod, open for nothing", open_for_nothing, number_chmod, BY_PATH, ALONE },
	{ "setxattr, open for nothing", open_for_nothing, number_xattr, BY_PATH, ALONE },
	{ "utimes, open for nothing", open_for_nothing, number_touch, BY_PATH, ALONE },
	{ "SETFLAGS, open for nothing", open_for_nothing, number_flags, BY_PATH, ALONE },
	{ "chown by O_PATH", open_path, path_chown, BY_PATH, ALONE },
	{ "link by O_PATH", open_path, path_link, BY_PATH, ALONE },
	{ "truncate by O_PATH", open_path, path_cut, BY_PATH, ALONE },
	{ "write by O_PATH", open_path, path_write, BY_PATH, ALONE },
	{ "exec by O_PATH", open_path, path_exec, BY_PATH, ALONE },
	{ "whiteout", nothing, white_out, BY_PATH, ALONE },
	{ "write by a handle", keep_handle, handle_write, BY_PATH, ALONE },
	{ "read by a handle", keep_handle, handle_read, BY_PATH, ALONE },
	{ "fsmount over its directory", nothing, mount_new, BY_PATH, ALONE },
	{ "mount beneath", mount_over, mount_beneath, BY_PATH, ALONE },
	{ "copy of a mount above", nothing, mount_above, BY_PATH, ALONE },
	{ "mount that is moved there", mount_other, mount_move, BY_PATH, ALONE },
	{ "mount of another namespace", share_mounts, mount_there, BY_PATH, ALONE },
};

int main(int argc, char **argv)
{
	return cases_main(argc, argv, cases, sizeof(cases) / sizeof(*cases), 20);
}
