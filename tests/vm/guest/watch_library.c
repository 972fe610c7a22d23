// SPDX-License-Identifier: MIT
/*
 * watch_library DIR: what programs do that the library serves stat(2) to: they replace and close
 * descriptors by system calls, install filters, share memory and descriptors with children, pass bad
 * pointers.  Each answer is compared with the system call's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "watch_checks.h"

enum { NAMES = 24, OWN = 600, NUMBER = 40 };

static const char *name_of(unsigned int i)
{
	static char name[16];

	sprintf(name, "file%02u", i % NAMES);
	return name;
}

/* Makes a directory whose files have `size` bytes. */
static void make_directory(const char *path, int size)
{
	char name[64];
	int fd;

	mkdir(path, 0755);
	for (unsigned int i = 0; i < NAMES; i++) {
		sprintf(name, "%s/%s", path, name_of(i));
		fd = open(name, O_CREAT | O_WRONLY, 0644);
		CHECK(!ftruncate(fd, size));
		close(fd);
	}
}

/* Returns whether libc's answer is the system call's. */
static bool is_same(int dirfd, const char *path)
{
	struct stat said, is;
	int error, true_error;

	memset(&said, 0, sizeof(said));
	memset(&is, 0, sizeof(is));
	error = fstatat(dirfd, path, &said, AT_SYMLINK_NOFOLLOW) ? errno : 0;
	true_error = syscall(SYS_newfstatat, dirfd, path, &is, AT_SYMLINK_NOFOLLOW) ? errno : 0;
	return error == true_error && (error || !memcmp(&said, &is, sizeof(is)));
}

static bool all_are_same(int dirfd, const char *prefix)
{
	bool same = true;
	char path[64];

	for (unsigned int i = 0; i < NAMES; i++) {
		sprintf(path, "%s%s", prefix, name_of(i));
		same &= is_same(dirfd, path);
	}
	return same;
}

/* Asks until the library answers; then for all names of a directory again. */
static void warm(int dirfd, const char *prefix)
{
	for (int i = 0; i < 8; i++)
		CHECK(all_are_same(dirfd, prefix));
}

/* Opens a directory as NUMBER, and is answered about it. */
static void open_number(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY);

	CHECK(dup2(fd, NUMBER) == NUMBER);
	close(fd);
	warm(NUMBER, "");
}

static void raw_dup2(void)
{
	int other = open("two", O_RDONLY | O_DIRECTORY);

	open_number("one");
	CHECK(syscall(SYS_dup2, other, NUMBER) == NUMBER);
	CHECK(all_are_same(NUMBER, ""));
}

static void raw_dup3(void)
{
	int other = open("two", O_RDONLY | O_DIRECTORY);

	open_number("one");
	CHECK(syscall(SYS_dup3, other, NUMBER, O_CLOEXEC) == NUMBER);
	CHECK(all_are_same(NUMBER, ""));
}

static void raw_close(void)
{
	open_number("one");
	CHECK(!syscall(SYS_close, NUMBER));
	CHECK(all_are_same(NUMBER, ""));
}

static void raw_close_range(void)
{
	open_number("one");
	CHECK(!syscall(SYS_close_range, NUMBER, NUMBER + 1, 0));
	CHECK(all_are_same(NUMBER, ""));
}

static void reopened_stream(void)
{
	FILE *stream;

	open_number("one");
	stream = fdopen(NUMBER, "r");
	CHECK(stream && freopen("one/file00", "r", stream) && fileno(stream) == NUMBER);
	CHECK(all_are_same(NUMBER, ""));
}

static void *close_unshared(void *unused)
{
	(void)unused;
	CHECK(!close_range(NUMBER, NUMBER, CLOSE_RANGE_UNSHARE));
	CHECK(all_are_same(NUMBER, ""));
	return NULL;
}

static void table_of_its_own(void)
{
	pthread_t thread;

	open_number("one");
	CHECK(!pthread_create(&thread, NULL, close_unshared, NULL));
	pthread_join(thread, NULL);
}

/* A filter that ends the process, or fails, for one system call. */
static int filter(int number, unsigned int action, bool by_prctl)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	return by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
			: syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* The program itself never makes this call. */
static void filter_that_kills(void)
{
	warm(AT_FDCWD, "one/");
	CHECK(!filter(SYS_ioctl, SECCOMP_RET_KILL_PROCESS, true));
	warm(AT_FDCWD, "two/");
}

static void raw_filter_that_kills(void)
{
	warm(AT_FDCWD, "one/");
	CHECK(!filter(SYS_ioctl, SECCOMP_RET_KILL_PROCESS, false));
	warm(AT_FDCWD, "two/");
}

static long instruction(long number, long a, long b, void *c)
{
	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return number;
}

/* The library does not see it begin. */
static void filter_without_libc(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	warm(AT_FDCWD, "one/");
	/* As root: there is no PR_SET_NO_NEW_PRIVS before it. */
	CHECK(!instruction(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	warm(AT_FDCWD, "one/");
	warm(AT_FDCWD, "two/");
}

static void filter_before_the_first(void)
{
	CHECK(!filter(SYS_ioctl, SECCOMP_RET_KILL_PROCESS, true));
	warm(AT_FDCWD, "one/");
}

static void inherited_filter(void)
{
	CHECK(!filter(SYS_ioctl, SECCOMP_RET_KILL_PROCESS, false));
	execl("/proc/self/exe", "watch_library", "inherited", NULL);
}

/* The library asked for filters by this call, which a list of calls need not have. */
static void inherited_filter_of_prctl(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_GET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	execl("/proc/self/exe", "watch_library", "inherited", NULL);
}

static void filter_that_refuses(void)
{
	warm(AT_FDCWD, "one/");
	CHECK(!filter(SYS_newfstatat, SECCOMP_RET_ERRNO | EPERM, true));
	CHECK(all_are_same(AT_FDCWD, "one/"));
}

static void *filter_in_thread(void *unused)
{
	(void)unused;
	CHECK(!filter(SYS_newfstatat, SECCOMP_RET_ERRNO | EPERM, false));
	for (int i = 0; i < 4; i++)
		CHECK(all_are_same(AT_FDCWD, "two/"));
	return NULL;
}

static void filter_of_one_thread(void)
{
	pthread_t thread;

	warm(AT_FDCWD, "one/");
	warm(AT_FDCWD, "two/");
	CHECK(!pthread_create(&thread, NULL, filter_in_thread, NULL));
	pthread_join(thread, NULL);
	warm(AT_FDCWD, "one/");
}

static void descriptor_send(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec byte = { "x", 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	CHECK(sendmsg(socket, &message, 0) == 1);
}

/* The number is opened without a call that the library or the module could see. */
static int descriptor_receive(int socket)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control;
	char byte;
	struct iovec where = { &byte, 1 };
	struct msghdr message = { .msg_iov = &where,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(socket, &message, 0) == 1)
		memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

/* What a number names, and how large the files in it are.  An odd turn: it is being closed. */
static struct {
	unsigned int turn, asked, wrong;
	int number, size;
	bool end;
} named;

static void *ask_by_number(void *unused)
{
	struct stat said;
	(void)unused;

	while (!__atomic_load_n(&named.end, __ATOMIC_ACQUIRE)) {
		unsigned int turn = __atomic_load_n(&named.turn, __ATOMIC_ACQUIRE);
		int size = named.size;

		for (unsigned int i = 0; i < 4; i++) {
			bool fails = fstatat(named.number, name_of(i), &said, 0);

			if (!(turn & 1) && !fails && said.st_size != size &&
			    __atomic_load_n(&named.turn, __ATOMIC_ACQUIRE) == turn)
				named.wrong++;
		}
		__atomic_fetch_add(&named.asked, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* One thread closes a range of numbers, by one of which the other asks. */
static void number_of_two_threads(void)
{
	int ends[2], dirs[] = { open("one", O_RDONLY | O_DIRECTORY),
				open("two", O_RDONLY | O_DIRECTORY) };
	pthread_t thread;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	warm(AT_FDCWD, "one/");
	descriptor_send(ends[0], dirs[0]);
	named.number = descriptor_receive(ends[1]);
	named.size = 100;
	CHECK(named.number > ends[1]);
	CHECK(!pthread_create(&thread, NULL, ask_by_number, NULL));
	for (int i = 1; i < 5000 && !failures && !named.wrong; i++) {
		unsigned int asked = __atomic_load_n(&named.asked, __ATOMIC_ACQUIRE);

		for (int j = 0; j < 100000; j++) {
			if (__atomic_load_n(&named.asked, __ATOMIC_ACQUIRE) - asked >= 3)
				break;
			sched_yield();
		}
		__atomic_fetch_add(&named.turn, 1, __ATOMIC_SEQ_CST);
		descriptor_send(ends[0], dirs[i & 1]);
		/* Many numbers, so that the library forgets this one a while before. */
		CHECK(!close_range(named.number, 450, 0));
		CHECK(descriptor_receive(ends[1]) == named.number);
		named.size = i & 1 ? 200 : 100;
		__atomic_fetch_add(&named.turn, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&named.end, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	CHECK(!named.wrong);
}

static int change_directory(void *path)
{
	return chdir(path);
}

static int replace_number(void *other)
{
	return dup2(*(int *)other, NUMBER) != NUMBER;
}

static void clone_run(int (*what)(void *), int flags, void *argument)
{
	static char stack[1 << 18] __attribute__((aligned(16)));
	int status = -1;

	CHECK(clone(what, stack + sizeof(stack), flags | SIGCHLD, argument) > 0);
	CHECK(wait(&status) > 0 && !status);
}

static void directory_shared_with_a_child(void)
{
	warm(AT_FDCWD, "one/");
	CHECK(!chdir("one"));
	warm(AT_FDCWD, "");
	clone_run(change_directory, CLONE_FS, "../two");
	CHECK(all_are_same(AT_FDCWD, ""));
}

static void descriptors_shared_with_a_child(void)
{
	int other = open("two", O_RDONLY | O_DIRECTORY);

	open_number("one");
	clone_run(replace_number, CLONE_FILES, &other);
	CHECK(all_are_same(NUMBER, ""));
}

static int ask_elsewhere(void *unused)
{
	(void)unused;
	return chdir("../two") || !all_are_same(AT_FDCWD, "");
}

static void child_of_vfork(void)
{
	pid_t child;
	int status = -1;

	CHECK(!chdir("one"));
	warm(AT_FDCWD, "");
	child = vfork();
	if (!child)
		_exit(ask_elsewhere(NULL));
	CHECK(wait(&status) == child && !status);
	CHECK(all_are_same(AT_FDCWD, ""));
}

static void bad_pointers(void)
{
	struct stat *volatile nowhere = (struct stat *)16;
	const char *volatile no_path = (const char *)16;
	struct stat is;

	warm(AT_FDCWD, "one/");
	errno = 0;
	CHECK(stat(no_path, &is) && errno == EFAULT);
	errno = 0;
	CHECK(stat((const char *)(1ul << 63), &is) && errno == EFAULT);
	for (unsigned int i = 0; i < NAMES; i++) {
		char path[64];

		sprintf(path, "one/%s", name_of(i));
		errno = 0;
		CHECK(stat(path, nowhere) && errno == EFAULT);
	}
}

/* A child closes all that it does not know, and then has the numbers for itself. */
/* Names that no file can have, whose last byte is the last one before an unmapped page. */
static void names_that_are_too_long(void)
{
	char *map =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *end = map + 2 * 4096;

	CHECK(map != MAP_FAILED && !mprotect(end, 4096, PROT_NONE));
	memset(map, 'a', 2 * 4096);
	end[-1] = 0;
	for (int shift = 0; shift < 8; shift++) {
		char *path = map + 64 + shift;

		warm(AT_FDCWD, "one/");
		memcpy(path, "one/", 4);
		CHECK(is_same(AT_FDCWD, path));
		memset(path, 'a', 4);
	}
}

static void child_that_closes(void)
{
	int status, fds[OWN], made = 0;

	warm(AT_FDCWD, "one/");
	if (!fork()) {
		syscall(SYS_close_range, 3, ~0u, 0);
		while (made < OWN && (fds[made] = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0)
			made++;
		CHECK(made == OWN);
		warm(AT_FDCWD, "one/");
		for (int i = 0; i < made; i++)
			CHECK(fcntl(fds[i], F_GETFD) >= 0);
		fflush(stdout);
		_exit(failures != 0);
	}
	wait(&status);
	CHECK(!status);
}

/* The library does not see the child of such a clone begin. */
static int unseen_raw_filter(void *unused)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	(void)unused;
	CHECK(!syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	CHECK(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
	warm(AT_FDCWD, "one/");
	fflush(stdout);
	return failures != 0;
}

static int unseen_raw_dup2(void *unused)
{
	(void)unused;
	raw_dup2();
	fflush(stdout);
	return failures != 0;
}

static void filter_of_an_unseen_child(void)
{
	warm(AT_FDCWD, "one/");
	clone_run(unseen_raw_filter, 0, NULL);
}

static void number_of_an_unseen_child(void)
{
	clone_run(unseen_raw_dup2, 0, NULL);
}

/* Stacks that are in one million bytes, so that their threads take the same tables. */
static char stacks[1 << 20] __attribute__((aligned(1 << 20)));
static char *const stack_a = stacks + (1 << 18), *const stack_b = stacks + (1 << 19);
static volatile bool asked_enough;

static void *ask_on(void *unused)
{
	(void)unused;
	while (!asked_enough)
		all_are_same(AT_FDCWD, "");
	return NULL;
}

/* Returns to nobody: its address is all that is on its stack. */
static void ask_in_another_directory(void)
{
	bool same = !chdir("../two");

	for (int i = 0; i < 500; i++)
		same &= all_are_same(AT_FDCWD, "");
	instruction(SYS_exit_group, !same, 0, NULL);
}

/* A child with this memory and a directory of its own, while another thread asks. */
static void raw_child_of_vfork(void)
{
	void (**top)(void) = (void (**)(void))(stack_b - 64);
	pthread_attr_t attributes;
	pthread_t thread;
	int status = -1;

	CHECK(!chdir("one"));
	warm(AT_FDCWD, "");
	pthread_attr_init(&attributes);
	CHECK(!pthread_attr_setstack(&attributes, stacks, 1 << 18));
	CHECK(!pthread_create(&thread, &attributes, ask_on, NULL));
	*top = ask_in_another_directory;
	CHECK(syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, top, 0, 0, 0) > 0);
	CHECK(wait(&status) > 0 && !status);
	asked_enough = true;
	pthread_join(thread, NULL);
}

static int ask_in_thread(void *prefix)
{
	bool same = true;

	for (int i = 0; i < 2000; i++)
		same &= all_are_same(AT_FDCWD, prefix);
	CHECK(same);
	return 0;
}

/* Threads that libc does not know take the same tables. */
static void threads_of_clone(void)
{
	static volatile int first = 1, second = 1;
	int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
		    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;

	warm(AT_FDCWD, "one/");
	CHECK(clone(ask_in_thread, stack_a, flags, "one/", NULL, NULL, (pid_t *)&first) > 0);
	CHECK(clone(ask_in_thread, stack_b, flags, "two/", NULL, NULL, (pid_t *)&second) > 0);
	while (first || second)
		sched_yield();
}

static void *wait_for_byte(void *fd)
{
	char byte;

	CHECK(!read(*(int *)fd, &byte, 1));
	return NULL;
}

/* A process that cannot have a watcher does not ask for it at each call. */
static void threads_at_first(void)
{
	int events = inotify_init1(IN_NONBLOCK), ends[2], opened = 0;
	char buffer[4096];
	pthread_t thread;

	CHECK(!pipe(ends));
	CHECK(inotify_add_watch(events, "/dev/cosy", IN_OPEN) >= 0);
	CHECK(!pthread_create(&thread, NULL, wait_for_byte, ends));
	/* Equal events that follow each other are one, unless they are read in between. */
	for (unsigned int i = 0; i < 200; i++) {
		CHECK(all_are_same(AT_FDCWD, i & 1 ? "one/" : "two/"));
		opened += read(events, buffer, sizeof(buffer)) > 0;
	}
	/* It waits for twice as many calls each time. */
	CHECK(opened <= 16);
	close(ends[1]);
	pthread_join(thread, NULL);
}

static void set_watchers(const char *count)
{
	int fd = open("/sys/module/cosy/parameters/max_user_watchers", O_WRONLY);

	CHECK(write(fd, count, strlen(count)) == (ssize_t)strlen(count));
	close(fd);
}

/* Returns whether the library has a watcher in this process. */
static bool has_watcher(void)
{
	char path[64], name[64];

	for (int fd = 0; fd < 1024; fd++) {
		sprintf(path, "/proc/self/fd/%d", fd);
		memset(name, 0, sizeof(name));
		if (readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "cosy watcher"))
			return true;
	}
	return false;
}

/* What others of the same user have may be too much for a while. */
static void quota_that_is_used_up(void)
{
	set_watchers("0");
	warm(AT_FDCWD, "one/");
	CHECK(!has_watcher());
	set_watchers("256");
	for (int i = 0; i < 50 && !has_watcher(); i++)
		warm(AT_FDCWD, "one/");
	CHECK(has_watcher());
}

int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		raw_dup2,
		raw_dup3,
		raw_close,
		raw_close_range,
		reopened_stream,
		table_of_its_own,
		filter_that_kills,
		raw_filter_that_kills,
		filter_without_libc,
		filter_before_the_first,
		inherited_filter,
		inherited_filter_of_prctl,
		filter_that_refuses,
		filter_of_one_thread,
		number_of_two_threads,
		directory_shared_with_a_child,
		descriptors_shared_with_a_child,
		child_of_vfork,
		bad_pointers,
		names_that_are_too_long,
		child_that_closes,
		threads_at_first,
		quota_that_is_used_up,
		filter_of_an_unseen_child,
		number_of_an_unseen_child,
		raw_child_of_vfork,
		threads_of_clone,
	};

	if (argc == 2 && !strcmp(argv[1], "inherited")) {
		warm(AT_FDCWD, "one/");
		fflush(stdout);
		_exit(failures != 0);
	}
	if (argc < 2 || (mkdir(argv[1], 0755) && errno != EEXIST) || chdir(argv[1]))
		return 1;
	make_directory("one", 100);
	make_directory("two", 200);
	sync();
	return tests_run(tests, sizeof(tests) / sizeof(*tests));
}
