// SPDX-License-Identifier: MIT
/*
 * relax_test.c - runs under `cosy run --relax=trunc,coalesce` and does what chance would hardly
 * try.  However a process ends, whoever looks, nothing of it shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "raw.h"
#include "syscall.h"

enum { OLD = 10000, WRITES = 100 };

static char path[200];

/* Returns the size that the kernel knows, asked past the library. */
static long kernel_size(void)
{
	struct stat st;

	CHECK(!cosy_syscall3(SYS_stat, (unsigned long)path, (unsigned long)&st, 0));
	return st.st_size;
}

static void make_old_file(void)
{
	int fd = cosy_syscall3(SYS_open, (unsigned long)path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	char old[OLD];

	memset(old, 'o', OLD);
	CHECK(cosy_syscall3(SYS_write, fd, (unsigned long)old, OLD) == OLD);
	cosy_syscall3(SYS_close, fd, 0, 0);
}

/* Returns a descriptor with something that is not settled: an old end, and coalesced bytes. */
static int relaxed(void)
{
	int fd;

	make_old_file();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CHECK(kernel_size() == OLD);
	for (int i = 0; i < WRITES; i++)
		CHECK(write(fd, "n", 1) == 1);
	CHECK(kernel_size() == OLD);
	return fd;
}

static void closing_settles(void)
{
	CHECK(!close(relaxed()));
	CHECK(kernel_size() == WRITES);
}

static void nothing_written_is_an_empty_file(void)
{
	make_old_file();
	CHECK(!close(open(path, O_WRONLY | O_TRUNC)));
	CHECK(kernel_size() == 0);
	make_old_file();
	CHECK(!close(creat(path, 0600)));
	CHECK(kernel_size() == 0);
}

/* Ends in each way that a program chooses. */
static void end_by_exit(void)
{
	exit(0);
}

static void end_by__exit(void)
{
	_exit(0);
}

static void end_by_quick_exit(void)
{
	quick_exit(0);
}

static void end_by_exec(void)
{
	execlp("true", "true", NULL);
}

static void end_by_abort(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	abort();
}

static void end_by_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void every_end_settles(void)
{
	static void (*const ends[])(void) = {end_by_exit, end_by__exit, end_by_quick_exit,
					     end_by_exec, end_by_abort, end_by_kill};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			relaxed();
			ends[i]();
			_exit(99);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
		CHECK(kernel_size() == WRITES);
	}
}

/* Opens files that are truncated at once after all: too large, too many, no write. */
static void what_is_not_relaxed_is_truncated(void)
{
	enum { MANY = 60 };
	int fds[MANY];
	char name[sizeof(path) + 10];

	make_old_file();
	CHECK(!truncate(path, 100 << 20));
	fds[0] = open(path, O_WRONLY | O_TRUNC);
	CHECK(kernel_size() == 0);
	close(fds[0]);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "%s.%d", path, i);
		fds[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0400);
		CHECK(fds[i] >= 0);
	}
	for (int i = 0; i < MANY; i++) {
		struct stat st;

		CHECK(write(fds[i], name, i) == i);
		CHECK(!fstat(fds[i], &st) && st.st_size == i && (st.st_mode & 0777) == 0400);
		close(fds[i]);
		snprintf(name, sizeof(name), "%s.%d", path, i);
		unlink(name);
	}
}

/* Sends a signal from outside, at a time when the process makes no calls. */
static void every_deadly_signal_settles(void)
{
	const int signals[] = {SIGHUP,	SIGINT, SIGTERM, SIGUSR1, SIGALRM,  SIGSEGV,
			       SIGPIPE, SIGBUS, SIGIO,	 SIGPWR,  SIGRTMIN, SIGRTMAX};
	struct rlimit none = {0, 0};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		int ready[2], status;
		struct sigaction action;
		pid_t pid;
		char byte = 0;

		CHECK(!pipe(ready));
		pid = fork();
		if (!pid) {
			setrlimit(RLIMIT_CORE, &none);
			relaxed();
			/* The program must not see the handler. */
			if (sigaction(signals[i], NULL, &action) || action.sa_handler != SIG_DFL ||
			    signal(signals[i], SIG_DFL) != SIG_DFL)
				_exit(1);
			CHECK(kernel_size() == OLD);
			cosy_syscall3(SYS_write, ready[1], (unsigned long)&byte, 1);
			for (;;)
				;
		}
		CHECK(read(ready[0], &byte, 1) == 1);
		CHECK(!kill(pid, signals[i]));
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
		CHECK(kernel_size() == WRITES);
		close(ready[0]);
		close(ready[1]);
	}
}

/* Faults: the fault must be where it happens. */
static void a_fault_settles(void)
{
	volatile int *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit none = {0, 0};
	pid_t pid = fork();
	int status;

	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		relaxed();
		*nowhere = 1;
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK(kernel_size() == WRITES);
}

/* Sends SIGKILL, which is what the options give up. */
static void sigkill_does_not_settle(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		relaxed();
		cosy_syscall3(SYS_kill, getpid(), SIGKILL, 0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK(kernel_size() == OLD);
}

static void another_program_finds_it(void)
{
	int fd = relaxed();
	char command[300];

	snprintf(command, sizeof(command), "test $(wc -c <%s) = %d", path, WRITES);
	CHECK(!system(command));
	CHECK(write(fd, "more", 4) == 4);
	close(fd);
	CHECK(kernel_size() == WRITES + 4);
}

static void a_vfork_child_keeps_to_itself(void)
{
	int fd = relaxed(), status;
	pid_t pid = vfork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_TRUNC);

		for (int i = 0; i < WRITES; i++)
			if (write(null, "n", 1) != 1)
				_exit(1);
		execlp("true", "true", NULL);
		_exit(2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close(fd);
	CHECK(kernel_size() == WRITES);
}

static void errors_come_late_but_come(void)
{
	struct rlimit old, small;
	int fd = relaxed();

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){WRITES, old.rlim_max};
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	for (int i = 0; i < 10; i++)
		CHECK(write(fd, "x", 1) == 1);
	CHECK(close(fd) == -1 && errno == EFBIG);
	CHECK(fcntl(fd, F_GETFD) == -1 && errno == EBADF);
	fd = open(path, O_WRONLY | O_APPEND);
	CHECK(!close(fd));
	CHECK(!setrlimit(RLIMIT_FSIZE, &old));
	fd = relaxed();
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	CHECK(write(fd, "x", 1) == 1);
	CHECK(fsync(fd) == -1 && errno == EFBIG);
	/* The error is reported once. */
	CHECK(!close(fd));
	CHECK(!setrlimit(RLIMIT_FSIZE, &old));
	signal(SIGXFSZ, SIG_DFL);
	CHECK(kernel_size() == WRITES);
}

static void only_regular_files(void)
{
	char fifo[sizeof(path) + 8], byte;
	int fd, reader;

	fd = open("/dev/null", O_WRONLY | O_TRUNC | O_CREAT, 0600);
	for (int i = 0; i < WRITES; i++)
		CHECK(write(fd, "x", 1) == 1);
	CHECK(!close(fd));
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	CHECK(!mkfifo(fifo, 0600));
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	fd = open(fifo, O_WRONLY | O_TRUNC);
	for (int i = 0; i < WRITES; i++)
		CHECK(write(fd, "x", 1) == 1 &&
		      cosy_syscall3(SYS_read, reader, (unsigned long)&byte, 1) == 1);
	close(fd);
	close(reader);
	unlink(fifo);
	CHECK(open("/tmp", O_WRONLY | O_TRUNC) == -1 && errno == EISDIR);
	CHECK(open("/no/such", O_WRONLY | O_TRUNC | O_CREAT, 0600) == -1 && errno == ENOENT);
	CHECK(open(path, O_WRONLY | O_TRUNC | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
}

static void bad_addresses_are_refused(void)
{
	void *volatile nowhere = NULL;
	int fd = relaxed();

	CHECK(write(fd, nowhere, 10) == -1 && errno == EFAULT);
	CHECK(!close(fd));
	CHECK(kernel_size() == WRITES);
}

/* Ways to map a file in the middle of small writes to it. */
enum mapping {
	SHARED,
	PRIVATE,
	OF_A_COPY,
	OF_A_STREAM, /* of a copy that is not relaxed itself */
	COPIED,	     /* and go on with a copy that is made after it */
	MAPPINGS
};

/* Each byte written is seen in the mapping at once, and what is stored there stays. */
static void what_is_mapped_is_not_coalesced(enum mapping kind, int before)
{
	int fd, mapped, copy = -1;
	char *map;

	make_old_file();
	fd = mapped = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < before; i++)
		CHECK(write(fd, "n", 1) == 1);
	CHECK(kernel_size() == OLD);
	if (kind == OF_A_COPY || kind == OF_A_STREAM)
		mapped = copy = dup(fd);
	if (kind == OF_A_STREAM)
		CHECK(fdopen(copy, "r+"));
	/* One that fails changes nothing. */
	CHECK(mmap(NULL, 0, PROT_READ, MAP_SHARED, mapped, 0) == MAP_FAILED && errno == EINVAL);
	map = mmap(NULL, OLD, PROT_READ | PROT_WRITE, kind == PRIVATE ? MAP_PRIVATE : MAP_SHARED,
		   mapped, 0);
	CHECK(map != MAP_FAILED);
	CHECK(!ftruncate(fd, OLD));
	if (kind == COPIED)
		copy = dup(fd);
	for (int i = before; i < before + WRITES; i++) {
		CHECK(write(kind == COPIED ? copy : fd, "n", 1) == 1);
		CHECK(map[i] == 'n');
		if (kind != PRIVATE)
			map[i] = 's';
	}
	CHECK(!close(fd) && (copy < 0 || !close(copy)));
	for (int i = before; i < before + WRITES; i++)
		CHECK(map[i] == (kind == PRIVATE ? 'n' : 's'));
	CHECK(!munmap(map, OLD));
}

static void mappings_show_writes(void)
{
	for (enum mapping kind = SHARED; kind < MAPPINGS; kind++) {
		what_is_mapped_is_not_coalesced(kind, 0);
		what_is_mapped_is_not_coalesced(kind, WRITES);
	}
	/* Other files go on being relaxed. */
	closing_settles();
}

/*
 * Writes whole lines in the program and in a signal handler that comes at any point of it.  In the
 * end each is there once, whole, and in its writer's order.
 */
static int lines_fd;
static volatile int handler_lines;

static void write_line(char who, int number)
{
	char line[20];
	/* stdio would settle. */
	int len = 0, power = 1000000;

	line[len++] = who;
	for (; power; power /= 10)
		line[len++] = '0' + number / power % 10;
	line[len++] = '\n';
	CHECK(write(lines_fd, line, len) == len);
}

static void on_timer(int signal)
{
	(void)signal;
	write_line('h', handler_lines++);
	/* Now and then make a call that settles. */
	if (handler_lines % 8 == 0)
		CHECK(lseek(lines_fd, 0, SEEK_CUR) > 0);
}

static void handlers_may_write_too(void)
{
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	int lines = 0, seen[2] = {0, 0}, number;
	char who;
	FILE *file;

	make_old_file();
	lines_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handler_lines < 2000 || lines < 200000)
		write_line('m', lines++);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	CHECK(!close(lines_fd));
	file = fopen(path, "r");
	while (fscanf(file, "%c%d\n", &who, &number) == 2) {
		CHECK(who == 'm' || who == 'h');
		CHECK(number == seen[who == 'h']++);
	}
	CHECK(feof(file));
	fclose(file);
	CHECK(seen[0] == lines && seen[1] == handler_lines);
}

static void *write_some(void *fd)
{
	for (int i = 0; i < 2000; i++)
		CHECK(write(*(int *)fd, "t", 1) == 1);
	return NULL;
}

/* Closes unseen: the number is something else's when it is used again. */
static void a_number_may_come_to_stand_for_something_else(void)
{
	int fd = relaxed(), ends[2];
	char bytes[10];

	CHECK(!pipe2(ends, O_NONBLOCK));
	CHECK(!syscall(SYS_close, fd));
	CHECK(kernel_size() == WRITES);
	CHECK(cosy_syscall3(SYS_dup2, ends[1], fd, 0) == fd);
	CHECK(write(fd, "abc", 3) == 3);
	CHECK(cosy_syscall3(SYS_read, ends[0], (unsigned long)bytes, sizeof(bytes)) == 3);
	CHECK(!close(fd) && !close(ends[0]) && !close(ends[1]));
}

/* Or it names a file with a window, whose lease is nobody else's to return. */
static void a_number_may_come_to_be_a_windows(void)
{
	int fd = relaxed(), other, in;
	char source[210], byte;

	snprintf(source, sizeof(source), "%s.source", path);
	CHECK(!rename(path, source));
	CHECK(!syscall(SYS_close, fd));
	in = open(source, O_RDONLY);
	CHECK(in == fd);
	for (int i = 0; i < WRITES; i++)
		CHECK(read(in, &byte, 1) == 1);
	CHECK(cosy_syscall3(SYS_fcntl, in, F_GETLEASE, 0) == F_RDLCK);
	/* Coalesce another file, in place of the old one. */
	other = relaxed();
	CHECK(cosy_syscall3(SYS_fcntl, in, F_GETLEASE, 0) == F_RDLCK);
	CHECK(!close(other) && !close(in) && !unlink(source));
}

static void threads_lose_nothing(void)
{
	pthread_t threads[3];
	int fd = relaxed();

	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, write_some, &fd));
	write_some(&fd);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(threads[i], NULL));
	CHECK(kernel_size() == WRITES + 8000);
	CHECK(!close(fd));
}

int main(void)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/cosy-relax.%d", dir ? dir : "/tmp", getpid());
	closing_settles();
	nothing_written_is_an_empty_file();
	every_end_settles();
	what_is_not_relaxed_is_truncated();
	every_deadly_signal_settles();
	a_fault_settles();
	sigkill_does_not_settle();
	another_program_finds_it();
	a_vfork_child_keeps_to_itself();
	errors_come_late_but_come();
	only_regular_files();
	bad_addresses_are_refused();
	mappings_show_writes();
	handlers_may_write_too();
	a_number_may_come_to_stand_for_something_else();
	a_number_may_come_to_be_a_windows();
	/* The process has had a second thread from now on. */
	threads_lose_nothing();
	unlink(path);
	return 0;
}
