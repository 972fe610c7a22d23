// SPDX-License-Identifier: MIT
/*
 * map_test.c [earned] - tests mapped windows, which the environment variable COSY_RUN_EAGER=map
 * asks for: effects of a mapping that reads do not have.  With `earned`, and without the variable:
 * whether reads at random get one.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "raw.h"

#define SIZE  (1 << 20)
#define READS 100

static char path[200], sparse[200];
static char bytes[8192];

/* Counts the mappings of the file that this process has. */
static int mappings(const char *of)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[600];
	int count = 0;

	while (fgets(line, sizeof(line), maps))
		count += strstr(line, of) != NULL;
	fclose(maps);
	return count;
}

static int read_of(const char *file)
{
	int fd = open(file, O_RDONLY);

	for (int i = 0; i < READS; i++)
		CHECK(pread(fd, bytes, 10, i * 4096) == 10);
	return fd;
}

static int mapped(void)
{
	int fd = read_of(path);

	CHECK(mappings(path) == 1);
	return fd;
}

static void the_bytes_are_the_file_s(void)
{
	int fd = mapped();

	for (long at = 0; at < SIZE; at += 4099) {
		long want = SIZE - at < (long)sizeof(bytes) ? SIZE - at : (long)sizeof(bytes);

		CHECK(pread(fd, bytes, sizeof(bytes), at) == want);
		for (long i = 0; i < want; i++)
			CHECK(bytes[i] == (char)((at + i) * 7 + ((at + i) >> 8)));
	}
	CHECK(pread(fd, bytes, 10, SIZE) == 0);
	close(fd);
	CHECK(!mappings(path));
}

/* A process that truncates waits for the lease, and the mapping is gone by then. */
static void a_shorter_file_is_shorter(void)
{
	int fd = mapped();

	CHECK(!truncate(path, 5000));
	CHECK(!mappings(path));
	CHECK(pread(fd, bytes, 100, 4990) == 10);
	CHECK(pread(fd, bytes, 100, 8000) == 0);
	CHECK(!truncate(path, SIZE));
	CHECK(pread(fd, bytes, 100, 8000) == 100 && !bytes[0]);
	close(fd);
}

/* A missing page, here that of the buffer, gives EFAULT or EIO and no signal. */
static void a_page_that_cannot_be_had_is_an_error(void)
{
	int fd = mapped(), other = open(sparse, O_RDWR | O_CREAT | O_TRUNC, 0600);
	sigset_t all, old;
	char *beyond;

	CHECK(!ftruncate(other, 4096));
	beyond = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	CHECK(beyond != MAP_FAILED);
	CHECK(pread(fd, beyond + 4096, 10, 0) == -1 && errno == EFAULT);
	CHECK(read(fd, beyond + 4096, 10) == -1 && errno == EFAULT);
	/* SIGBUS, if it were blocked, would kill. */
	sigfillset(&all);
	CHECK(!sigprocmask(SIG_BLOCK, &all, &old));
	CHECK(pread(fd, beyond + 4096, 10, 0) == -1 && errno == EFAULT);
	CHECK(!sigprocmask(SIG_SETMASK, &old, NULL));
	/* The part that is there gets what fits, as from the kernel. */
	CHECK(pread(fd, beyond + 4090, 10, 0) == RAW(pread64, fd, beyond + 4090, 10, 0L));
	CHECK(pread(fd, beyond, 10, 0) == 10);
	CHECK(mappings(path) == 1);
	munmap(beyond, 8192);
	close(other);
	close(fd);
}

/* Returns the status of a child that does it, with a mapped window. */
static int child(void (*does)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		mapped();
		does();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return status;
}

static void touch_what_is_not_there(void)
{
	int fd = open(sparse, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	*(volatile char *)map;
}

static void send_it(void)
{
	kill(getpid(), SIGBUS);
}

static void reset_and_touch(void)
{
	struct sigaction old;

	CHECK(signal(SIGBUS, SIG_DFL) == SIG_DFL);
	CHECK(!sigaction(SIGBUS, NULL, &old) && old.sa_handler == SIG_DFL);
	CHECK(mappings(path) == 1);
	touch_what_is_not_there();
}

static volatile sig_atomic_t handled;

static int blocked(int signal)
{
	sigset_t set;

	CHECK(!sigprocmask(SIG_BLOCK, NULL, &set));
	return sigismember(&set, signal);
}

/* The older functions to block signals, which are deprecated. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void a_blocked_fault_kills_nobody(void)
{
	CHECK(!sigblock(~0) && blocked(SIGTERM) && !blocked(SIGBUS));
	sigsetmask(0);
	CHECK(!blocked(SIGTERM));
	sigsetmask(~0);
	CHECK(blocked(SIGTERM) && !blocked(SIGBUS));
	sigsetmask(0);
	CHECK(mappings(path) == 1);
}

/* Blocks that very signal: the program has it blocked, and no mapping. */
static void a_fault_that_is_blocked_alone(void)
{
	CHECK(!sighold(SIGBUS) && blocked(SIGBUS) && !mappings(path));
}
#pragma GCC diagnostic pop

static void handler(int signal)
{
	handled = signal;
}

static void a_handler_of_ones_own(void)
{
	struct sigaction action = {.sa_handler = handler}, old;
	int fd;

	CHECK(!sigaction(SIGBUS, &action, &old) && old.sa_handler == SIG_DFL);
	CHECK(!mappings(path));
	kill(getpid(), SIGBUS);
	CHECK(handled == SIGBUS);
	fd = read_of(path);
	CHECK(!mappings(path));
	close(fd);
}

static void a_fault_elsewhere_means_what_it_did(void)
{
	int status = child(touch_what_is_not_there);

	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = child(send_it);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	status = child(reset_and_touch);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	CHECK(!child(a_handler_of_ones_own));
	CHECK(!child(a_blocked_fault_kills_nobody));
	CHECK(!child(a_fault_that_is_blocked_alone));
}

static void address_space_that_is_limited_is_left_alone(void)
{
	struct rlimit limit = {1 << 28, RLIM_INFINITY};
	int fd;

	CHECK(!setrlimit(RLIMIT_AS, &limit));
	fd = read_of(path);
	/* The remaining mapping is the former one. */
	CHECK(mappings(path) == 1);
	close(fd);
}

static void memory_is_locked_without_files(void)
{
	int fd;

	mlockall(MCL_CURRENT);
	CHECK(!mappings(path));
	fd = read_of(path);
	CHECK(!mappings(path));
	close(fd);
}

static void children_have_no_mapping(void)
{
	int fd = mapped(), status;
	/* The library does not see this. */
	pid_t pid = RAW(clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		RAW(exit_group, mappings(path));
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	close(fd);
}

/* Reading does not fill the holes of a file in memory; a mapping would. */
static void holes_stay_holes(void)
{
	char holes[200];
	struct stat before, after;
	int fd;

	snprintf(holes, sizeof(holes), "/dev/shm/cosy-run-map.%d", getpid());
	fd = open(holes, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0) {
		printf("no /dev/shm: holes were not tried\n");
		return;
	}
	CHECK(!ftruncate(fd, SIZE) && pwrite(fd, "x", 1, 5 * 4096) == 1);
	CHECK(!fstat(fd, &before));
	close(fd);
	fd = read_of(holes);
	CHECK(!fstat(fd, &after) && after.st_blocks == before.st_blocks);
	close(fd);
	unlink(holes);
}

/* Loses in its first pass over the file, four looks an area, what it gains in all later ones. */
static void a_mapping_is_earned_after_losses(void)
{
	static char all[8 << 20];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	CHECK(write(fd, all, sizeof(all)) == sizeof(all));
	close(fd);
	fd = open(path, O_RDONLY);
	for (long i = 0; i < 20000; i++)
		CHECK(pread(fd, bytes, 8, i * 4099 % (long)(sizeof(all) - 8)) == 8);
	CHECK(mappings(path) == 1);
	close(fd);
}

static void write_file(void)
{
	static char all[SIZE];
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

	for (long at = 0; at < SIZE; at++)
		all[at] = at * 7 + (at >> 8);
	CHECK(write(fd, all, SIZE) == SIZE);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/cosy-run-map.%d", dir ? dir : "/tmp", getpid());
	snprintf(sparse, sizeof(sparse), "%s/cosy-run-sparse.%d", dir ? dir : "/tmp", getpid());
	if (argc > 1 && !strcmp(argv[1], "earned")) {
		a_mapping_is_earned_after_losses();
		unlink(path);
		return 0;
	}
	write_file();
	the_bytes_are_the_file_s();
	a_shorter_file_is_shorter();
	write_file();
	a_page_that_cannot_be_had_is_an_error();
	holes_stay_holes();
	children_have_no_mapping();
	a_fault_elsewhere_means_what_it_did();
	CHECK(!child(address_space_that_is_limited_is_left_alone));
	CHECK(!child(memory_is_locked_without_files));
	unlink(path);
	unlink(sparse);
	return 0;
}
