// SPDX-License-Identifier: MIT
/*
 * calls_test.c - makes calls that chance alone would hardly try on a specialised descriptor: each
 * leaves position, lease and signals as they would be without a window.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "raw.h"

#define SIZE  10000
#define READS 100

extern char **environ;
static char path[200];

/* Returns a descriptor at READS that reads have specialised, if anything can be. */
static int specialised(void)
{
	int fd = open(path, O_RDONLY);
	char byte;

	for (int i = 0; i < READS; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
	return fd;
}

/* Checks that windows are used: otherwise the other tests would prove nothing. */
static void windows_are_used(void)
{
	int fd = specialised();

	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
	CHECK(lseek(fd, 0, SEEK_CUR) == READS);
	close(fd);
}

/* A mapping keeps the description, and would keep the lease with it. */
static void a_mapping_keeps_no_lease(void)
{
	int fd = specialised(), writer;
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(map != MAP_FAILED);
	close(fd);
	writer = open(path, O_WRONLY | O_NONBLOCK);
	CHECK(writer >= 0);
	close(writer);
	munmap(map, SIZE);
}

static void a_write_of_ones_own_breaks_the_lease(void)
{
	int fd = specialised(), writer = open(path, O_WRONLY);
	char byte = 0;

	CHECK(writer >= 0);
	CHECK(pwrite(writer, "x", 1, READS) == 1);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'x');
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == READS + 1);
	byte = READS;
	CHECK(pwrite(writer, &byte, 1, READS) == 1);
	close(writer);
	close(fd);
}

static void a_nonblocking_write_of_ones_own_is_not_refused(void)
{
	int fd = specialised(), writer = open(path, O_WRONLY | O_NONBLOCK);

	CHECK(writer >= 0);
	close(writer);
	close(fd);
}

/* An open for reading that truncates breaks no lease. */
static void a_file_that_is_truncated_by_an_open_for_reading_is_empty(void)
{
	for (int i = 0; i < 2; i++) {
		char name[210] = "", byte;
		int fd, other;

		snprintf(name, sizeof(name), "%s.%d", path, i);
		fd = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
		CHECK(fd >= 0 && write(fd, name, sizeof(name)) == sizeof(name));
		close(fd);
		fd = open(name, O_RDONLY);
		for (int at = 0; at < READS; at++)
			CHECK(read(fd, &byte, 1) == 1);
		CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
		other = i ? (int)syscall(SYS_openat, AT_FDCWD, name, O_RDONLY | O_TRUNC)
			  : open(name, O_RDONLY | O_TRUNC);
		CHECK(other >= 0 && read(fd, &byte, 1) == 0);
		CHECK(pread(fd, &byte, 1, 3) == 0 && lseek(fd, 0, SEEK_END) == 0);
		close(other);
		close(fd);
		unlink(name);
	}
}

static void blocking_all_signals_delays_no_writer(void)
{
	int fd = specialised(), writer;
	sigset_t all, old;

	sigfillset(&all);
	CHECK(!sigprocmask(SIG_BLOCK, &all, &old));
	writer = open(path, O_WRONLY);
	CHECK(writer >= 0);
	CHECK(!sigprocmask(SIG_SETMASK, &old, NULL));
	close(writer);
	close(fd);
}

static void open_for_writing(int signal)
{
	(void)signal;
	close(open(path, O_WRONLY));
}

static void a_handler_that_blocks_everything_delays_no_writer(void)
{
	struct sigaction action = {.sa_handler = open_for_writing};
	time_t before = time(NULL);
	int fd;

	sigfillset(&action.sa_mask);
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	fd = specialised();
	CHECK(!raise(SIGUSR1));
	/* After 45 seconds the kernel would let the writer in. */
	CHECK(time(NULL) - before < 40);
	CHECK(lseek(fd, 0, SEEK_CUR) == READS);
	close(fd);
}

static void resetting_all_signals_keeps_the_process(void)
{
	int fd = specialised(), writer;

	for (int i = 1; i < 65; i++)
		signal(i, SIG_DFL);
	writer = open(path, O_WRONLY);
	CHECK(writer >= 0);
	close(writer);
	close(fd);
}

static void *specialise(void *ret)
{
	*(int *)ret = specialised();
	return NULL;
}

static void a_lease_outlives_its_thread(void)
{
	pthread_t thread;
	int fd, writer;

	CHECK(!pthread_create(&thread, NULL, specialise, &fd));
	CHECK(!pthread_join(thread, NULL));
	writer = open(path, O_WRONLY);
	CHECK(writer >= 0);
	close(writer);
	close(fd);
}

static void spawned_programs_get_the_position(void)
{
	int fd = specialised(), status = -1;
	char *argv[] = {"sh", "-c", "test $(dd bs=1 count=1 2>/dev/null | od -An -tu1) = 100",
			NULL};
	posix_spawn_file_actions_t actions;
	char byte;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, 0);
	CHECK(!posix_spawnp(&pid, "sh", &actions, NULL, argv, environ));
	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	CHECK(!status);
	CHECK(read(fd, &byte, 1) == 1 && byte == READS + 1);
	close(fd);
}

static void vfork_children_keep_to_themselves(void)
{
	int fd = specialised(), status;
	pid_t pid = vfork();
	char byte;

	if (!pid) {
		close(fd);
		if (open("/dev/null", O_RDONLY) != fd)
			_exit(1);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	for (int i = READS; i < READS + 20; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
	close(fd);
}

static int goes_on_alone(void *fd)
{
	close(*(int *)fd);
	_exit(open("/dev/null", O_RDONLY) != *(int *)fd);
}

/* Does what glibc itself does for posix_spawn, and other libraries for theirs. */
static void clones_that_are_waited_for_keep_to_themselves(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	int fd = specialised(), status = -1;
	char byte;
	pid_t pid =
		clone(goes_on_alone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &fd);

	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	CHECK(read(fd, &byte, 1) == 1 && byte == READS);
	close(fd);
	fd = specialised();
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
	close(fd);
}

int pidfd_spawn(int *pidfd, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
	__attribute__((weak));

/* A child may have the descriptor, so there is no lease from then on. */
static void spawned_programs_share_what_is_open(void)
{
	char *argv[] = {"true", NULL};
	int fd = specialised(), pidfd = -1, ret;
	siginfo_t info;

	CHECK(pidfd_spawn);
	ret = pidfd_spawn(&pidfd, "/bin/true", NULL, NULL, argv, environ);
	/* libc may have no such function. */
	CHECK(!ret || ret == ENOSYS);
	CHECK(ret || !waitid(P_PIDFD, pidfd, &info, WEXITED));
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == READS);
	close(pidfd);
	close(fd);
}

/* The kernel looks where a read would end, also of one that begins beyond the file's end. */
static void reads_may_not_end_beyond_the_last_offset(void)
{
	int fd = specialised();
	char bytes[4];

	CHECK(pread(fd, bytes, 4, INT64_MAX - 4) == 0);
	CHECK(pread(fd, bytes, 0, INT64_MAX) == 0);
	CHECK(pread(fd, bytes, 4, INT64_MAX - 3) == -1 && errno == EINVAL);
	CHECK(pread(fd, bytes, 4, INT64_MAX) == -1 && errno == EINVAL);
	CHECK(pread(fd, bytes, 4, SIZE) == 0);
	CHECK(RAW(fcntl, fd, F_GETLEASE) == F_RDLCK);
	close(fd);
}

static void an_exec_that_fails_changes_nothing(void)
{
	int fd = specialised();
	char byte;

	CHECK(execl("/no/such/program", "x", NULL) == -1 && errno == ENOENT);
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == READS);
	for (int i = READS; i < 2 * READS; i++)
		CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
	close(fd);
}

static void stdio_takes_over(void)
{
	int fd = specialised();
	FILE *stream = fdopen(fd, "r");

	CHECK(stream && getc(stream) == READS);
	fclose(stream);
	/* Without the library's knowing, open another file at the same number. */
	CHECK(RAW(openat, AT_FDCWD, "/dev/null", O_RDONLY) == fd);
	CHECK(read(fd, path + sizeof(path) - 1, 1) == 0);
	close(fd);
}

static void the_end_is_where_it_is(void)
{
	int fd = specialised(), writer;
	char bytes[20];

	CHECK(lseek(fd, -5, SEEK_END) == SIZE - 5);
	CHECK(read(fd, bytes, 20) == 5);
	CHECK(read(fd, bytes, 20) == 0);
	writer = open(path, O_WRONLY | O_APPEND);
	CHECK(write(writer, "more", 4) == 4);
	CHECK(read(fd, bytes, 20) == 4 && !memcmp(bytes, "more", 4));
	CHECK(!ftruncate(writer, SIZE));
	CHECK(read(fd, bytes, 20) == 0);
	close(writer);
	close(fd);
}

static volatile unsigned long reads_for_ever;

static void *read_for_ever(void *fd)
{
	char byte;

	for (;; reads_for_ever++)
		if (read(*(int *)fd, &byte, 1) != 1)
			lseek(*(int *)fd, 0, SEEK_SET);
	return NULL;
}

static void reads_can_be_cancelled(void)
{
	int fd = specialised();
	pthread_t thread;
	void *end;

	CHECK(!pthread_create(&thread, NULL, read_for_ever, &fd));
	while (reads_for_ever < READS)
		sched_yield();
	CHECK(!pthread_cancel(thread));
	CHECK(!pthread_join(thread, &end) && end == PTHREAD_CANCELED);
	close(fd);
}

static void the_kernel_counts_from_the_position(void)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_CUR, .l_len = 10}, found = lock;
	int fd = specialised(), other = open(path, O_RDONLY), left;

	CHECK(!fcntl(fd, F_OFD_SETLK, &lock));
	found.l_type = F_WRLCK;
	found.l_whence = SEEK_SET;
	found.l_len = 0;
	CHECK(!fcntl(other, F_OFD_GETLK, &found) && found.l_start == READS);
	close(fd);
	close(other);
	fd = specialised();
	CHECK(!ioctl(fd, FIONREAD, &left) && left == SIZE - READS);
	close(fd);
}

/* Looks for handlers, too: there are only libc's own and, with mapped windows, that of faults. */
static void a_lease_does_not_show(void)
{
	int fd = specialised();

	CHECK(!(fcntl(fd, F_GETFL) & O_ASYNC));
	CHECK(RAW(fcntl, fd, F_GETFL) & O_ASYNC);
	for (int signal = 1; signal < 65; signal++) {
		struct {
			void *handler;
			unsigned long rest[3];
		} action = {.handler = NULL};

		if (signal == SIGUSR1 || signal == 32 || signal == 33) /* the test's and libc's */
			continue;
		CHECK(!RAW(rt_sigaction, signal, NULL, &action, 8));
		CHECK(!action.handler || signal == SIGBUS);
	}
	close(fd);
}

static void a_lease_of_the_programs_own_shows(void)
{
	int fd = specialised();

	CHECK(!fcntl(fd, F_SETLEASE, F_RDLCK));
	CHECK(fcntl(fd, F_GETFL) & O_ASYNC);
	CHECK(fcntl(fd, F_GETLEASE) == F_RDLCK);
	CHECK(!fcntl(fd, F_SETLEASE, F_UNLCK));
	CHECK(!(fcntl(fd, F_GETFL) & O_ASYNC));
	close(fd);
}

static void a_refused_lease_leaves_nothing(void)
{
	int writer = open(path, O_WRONLY), fd = specialised();

	CHECK(RAW(lseek, fd, 0, SEEK_CUR) == READS);
	CHECK(!RAW(fcntl, fd, F_GETSIG) && !RAW(fcntl, fd, F_GETOWN));
	close(fd);
	close(writer);
}

/* Returns the thread that returns leases, or 0; *threads: how many there are. */
static pid_t lease_thread(int *threads)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t found = 0;

	CHECK(tasks);
	*threads = 0;
	while ((entry = readdir(tasks))) {
		char name[300], text[20] = "";
		FILE *comm;

		if (entry->d_name[0] == '.')
			continue;
		++*threads;
		snprintf(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(name, "r");
		CHECK(comm && fgets(text, sizeof(text), comm));
		fclose(comm);
		if (!strcmp(text, "cosy-leases\n"))
			found = atoi(entry->d_name);
	}
	closedir(tasks);
	return found;
}

/* Some programs that fork count their threads; and some calls need a process with one. */
static void a_process_that_forks_has_its_own_threads_only(void)
{
	int fd = specialised(), threads, status = -1;
	pid_t pid;

	CHECK(lease_thread(&threads) && threads == 2);
	pid = fork();
	if (!pid)
		_exit(lease_thread(&threads) || threads != 1);
	CHECK(!lease_thread(&threads) && threads == 1);
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close(fd);
	fd = specialised();
	CHECK(lease_thread(&threads) && threads == 2);
	CHECK(!close_range(900, ~0U, CLOSE_RANGE_UNSHARE));
	CHECK(!lease_thread(&threads));
	close(fd);
	pid = fork();
	if (!pid) {
		specialised();
		CHECK(lease_thread(&threads));
		/*
		 * Only a process with one thread may; whether any user may is the system's choice.
		 */
		_exit(unshare(CLONE_NEWUSER) && errno == EINVAL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static void forks(int signal)
{
	int error = errno;
	pid_t pid = fork();

	(void)signal;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	errno = error;
}

/* It comes while the program forks, too, which ends the library's thread. */
static void a_handler_may_fork(void)
{
	const struct itimerval never = {{0, 0}, {0, 0}};
	const struct sigaction action = {.sa_handler = forks, .sa_flags = SA_RESTART};
	struct sigaction old;

	CHECK(!sigaction(SIGALRM, &action, &old));
	for (int i = 0; i < 300; i++) {
		/* One at most each time: on a busy machine a handler that forks takes longer than this. */
		const struct itimerval soon = {{0, 0}, {0, 1 + i * 37 % 700}};
		int fd, pid;

		CHECK(!setitimer(ITIMER_REAL, &soon, NULL));
		fd = specialised();
		pid = fork();
		if (!pid)
			_exit(0);
		CHECK(waitpid(pid, NULL, 0) == pid);
		close(fd);
	}
	CHECK(!setitimer(ITIMER_REAL, &never, NULL) && !sigaction(SIGALRM, &old, NULL));
}

/* A writer waits for that thread, which must wait for a processor no longer than others do. */
static void a_neglected_program_delays_no_writer(void)
{
	struct sched_param none = {.sched_priority = 0};
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		int fd, threads;
		pid_t thread;

		CHECK(!sched_setscheduler(0, SCHED_IDLE, &none));
		CHECK(nice(40) == 19);
		fd = specialised();
		thread = lease_thread(&threads);
		if (geteuid()) {
			CHECK(!thread && RAW(lseek, fd, 0, SEEK_CUR) == READS);
			_exit(0);
		}
		CHECK(thread && sched_getscheduler(thread) == SCHED_OTHER);
		CHECK(getpriority(PRIO_PROCESS, thread) == 0 && getpriority(PRIO_PROCESS, 0) == 19);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static void *read_on(void *fd)
{
	int writer;
	char byte;

	CHECK(read(*(int *)fd, &byte, 1) == 1);
	for (int i = 0; i < READS; i++)
		CHECK(read(*(int *)fd, &byte, 1) == 1);
	/* It stays open: the next read would get a lease again, and keep the position. */
	writer = open(path, O_WRONLY);
	CHECK(writer >= 0 && read(*(int *)fd, &byte, 1) == 1);
	_exit(RAW(lseek, *(int *)fd, 0, SEEK_CUR) != 2 * READS + 2);
}

/* The number of a process stands for its first thread's descriptors. */
static void the_first_thread_may_end(void)
{
	static int fd;
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		pthread_t thread;

		fd = specialised();
		CHECK(!pthread_create(&thread, NULL, read_on, &fd));
		pthread_exit(NULL);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* closedir closes within the C library; then a stream gets the number. */
static void a_directory_leaves_nothing_behind(void)
{
	int fd = open("/", O_RDONLY), writer;
	FILE *stream;
	char byte;

	CHECK(!closedir(fdopendir(fd)));
	stream = fopen(path, "r");
	CHECK(stream && fileno(stream) == fd && !setvbuf(stream, NULL, _IONBF, 0));
	for (int i = 0; i < 2 * READS; i++)
		CHECK(pread(fd, &byte, 1, i) == 1 && byte == (char)i);
	CHECK(lseek(fd, 5, SEEK_SET) == 5);
	CHECK(!fseek(stream, 9000, SEEK_SET) && getc(stream) == 9000 % 256);
	writer = open(path, O_WRONLY);
	CHECK(getc(stream) == 9001 % 256);
	close(writer);
	fclose(stream);
}

static void a_change_of_user_leaves_no_lease(void)
{
	int changed[2], status, writer;
	char byte;
	pid_t pid;

	if (geteuid()) {
		puts("a_change_of_user_leaves_no_lease: only root can try");
		return;
	}
	CHECK(!pipe(changed) && !chown(path, 1, 1));
	pid = fork();
	if (!pid) {
		int fd = specialised();

		CHECK(!setuid(65534) && write(changed[1], "", 1) == 1);
		for (int i = READS; i < READS + 20; i++)
			CHECK(read(fd, &byte, 1) == 1 && byte == (char)i);
		pause();
	}
	CHECK(read(changed[0], &byte, 1) == 1);
	writer = open(path, O_WRONLY | O_NONBLOCK);
	CHECK(writer >= 0);
	close(writer);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(!chown(path, 0, 0));
	close(changed[0]);
	close(changed[1]);
}

/* Arms a filter that lets a program make only the calls that it lists. */
static void a_confined_program_lives(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};
	int status;
	pid_t pid = fork();

	if (!pid) {
		int fd = specialised(), another = open(path, O_RDONLY);
		char byte;

		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
		for (int i = READS; i < SIZE; i++)
			if (read(fd, &byte, 1) != 1 || byte != (char)i)
				_exit(1);
		for (int i = 0; i < SIZE; i++)
			if (read(another, &byte, 1) != 1 || byte != (char)i)
				_exit(2);
		_exit(lseek(another, 0, SEEK_CUR) == SIZE ? 0 : 3);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* What the child of a vfork gives up is its own. */
static void a_confined_child_of_vfork_leaves_windows(void)
{
	pid_t child;
	int status;

	if (!(child = vfork())) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && !status);
	windows_are_used();
}

/* A lease shows as O_ASYNC, which a file on a disk cannot give up. */
static void a_lease_is_not_the_programs_own(void)
{
	int fd = specialised(), off = 0;

	CHECK(!ioctl(fd, FIOASYNC, &off));
	CHECK(lseek(fd, 0, SEEK_CUR) == READS);
	close(fd);
}

static void bad_addresses_are_refused(void)
{
	volatile size_t too_many = -10, beyond = SSIZE_MAX;
	void *volatile nowhere = NULL;
	int fd = specialised();

	CHECK(read(fd, nowhere, 10) == -1 && errno == EFAULT);
	CHECK(pread(fd, nowhere, 10, 3) == -1 && errno == EFAULT);
	CHECK(read(fd, (void *)-4096L, 10) == -1 && errno == EFAULT);
	CHECK(read(fd, path, too_many) == -1 && errno == EFAULT);
	CHECK(read(fd, path, beyond) == -1 && errno == EFAULT);
	CHECK(lseek(fd, 0, SEEK_CUR) == READS);
	close(fd);
}

int main(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path) - 1, "%s/cosy-run-calls.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (int i = 0; i < SIZE; i++)
		CHECK(write(fd, &(char){i}, 1) == 1);
	close(fd);
	windows_are_used();
	a_mapping_keeps_no_lease();
	a_write_of_ones_own_breaks_the_lease();
	a_nonblocking_write_of_ones_own_is_not_refused();
	a_file_that_is_truncated_by_an_open_for_reading_is_empty();
	blocking_all_signals_delays_no_writer();
	a_handler_that_blocks_everything_delays_no_writer();
	resetting_all_signals_keeps_the_process();
	a_process_that_forks_has_its_own_threads_only();
	a_handler_may_fork();
	a_neglected_program_delays_no_writer();
	/* The process has had a second thread from now on. */
	a_lease_outlives_its_thread();
	spawned_programs_get_the_position();
	vfork_children_keep_to_themselves();
	clones_that_are_waited_for_keep_to_themselves();
	spawned_programs_share_what_is_open();
	a_directory_leaves_nothing_behind();
	reads_may_not_end_beyond_the_last_offset();
	an_exec_that_fails_changes_nothing();
	stdio_takes_over();
	the_end_is_where_it_is();
	the_kernel_counts_from_the_position();
	a_lease_does_not_show();
	a_lease_of_the_programs_own_shows();
	a_refused_lease_leaves_nothing();
	a_lease_is_not_the_programs_own();
	a_confined_child_of_vfork_leaves_windows();
	the_first_thread_may_end();
	bad_addresses_are_refused();
	a_change_of_user_leaves_no_lease();
	a_confined_program_lives();
	reads_can_be_cancelled();
	unlink(path);
	return 0;
}
