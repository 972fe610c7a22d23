// SPDX-License-Identifier: MIT
/* worker.c - has one sequence after the other executed by a process of nobody's, and looks after it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"
#include "fuzz.h"

enum {
	KILL_AFTER = 3000,  /* milliseconds until a sequence that waits is killed */
	GONE_AFTER = 60000, /* milliseconds that it may then take */
	CLEAN_EVERY = 64,   /* sequences */
	NOBODY = 65534
};
#define GROUP_FILE "/sys/fs/cgroup/fuzz/cgroup.procs"

static char directory[64];
static int read_only = -1;
static const uint8_t *read_only_bytes;
static gid_t device_group;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	return where->level ? remove(path) : 0;
}

static void directory_clean(void)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void read_only_make(uint32_t worker)
{
	static uint8_t bytes[8192];
	char path[64];
	int fd;

	memset(bytes, READ_ONLY_BYTE, sizeof(bytes));
	snprintf(path, sizeof(path), "/tmp/fuzz.ro.%u", worker);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0444);
	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		exit(2);
	close(fd);
	read_only = fcntl(open(path, O_RDONLY), F_DUPFD, 790);
	read_only_bytes = mmap(NULL, sizeof(bytes), PROT_READ, MAP_SHARED, read_only, 0);
}

void worker_init(uint32_t worker)
{
	struct stat st;

	cover_keep();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	device_group = stat("/dev/cosy", &st) ? NOBODY : st.st_gid;
	snprintf(directory, sizeof(directory), "/tmp/fuzz.%u", worker);
	mkdir(directory, 0700);
	if (chown(directory, NOBODY - worker, NOBODY) || chdir(directory))
		exit(2);
	read_only_make(worker);
}

/* --- The sequence's process ------------------------------------------------------------------ */

static void limit_set(int which, rlim_t value)
{
	struct rlimit limit = { value, value };

	setrlimit(which, &limit);
}

static void group_enter(void)
{
	int fd = open(GROUP_FILE, O_WRONLY);

	if (fd < 0 || write(fd, "0", 1) != 1)
		_exit(2);
	close(fd);
	fd = open("/proc/self/oom_score_adj", O_WRONLY);
	if (fd >= 0 && write(fd, "1000", 4) == 4)
		close(fd);
}

static void child_main(uint32_t worker, const struct sequence *sequence)
{
	uid_t user = NOBODY - worker;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (options.memory)
		group_enter();
	limit_set(RLIMIT_CORE, 0);
	limit_set(RLIMIT_FSIZE, 1 << 20);
	limit_set(RLIMIT_NPROC, 24);
	limit_set(RLIMIT_MEMLOCK, 8 << 20);
	if (setgroups(1, &device_group) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(user, user, user))
		_exit(2);
	/* What it writes to the terminal by chance is nobody's. */
	close(0);
	close(1);
	close(2);
	values_init(read_only);
	sequence_execute(sequence, options.patience, cover_thread);
}

/* --- Looking after it ------------------------------------------------------------------------ */

/* Waits for the end.  Returns false when the time is over. */
static bool child_wait(int pidfd, int milliseconds)
{
	struct pollfd poll_of = { pidfd, POLLIN, 0 };

	return poll(&poll_of, 1, milliseconds) == 1;
}

/* Kills and collects what the sequence's process left: its children are ours now. */
static bool orphans_end(void)
{
	for (int tries = 0; tries < GONE_AFTER / 10; tries++) {
		char text[512] = "";
		int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
		ssize_t size = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		char *word;

		close(fd);
		text[size > 0 ? size : 0] = 0;
		for (word = strtok(text, " "); word; word = strtok(NULL, " "))
			kill(atoi(word), SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return true;
		usleep(10000);
	}
	return false;
}

static bool read_only_is_intact(void)
{
	for (int i = 0; i < 8192; i++)
		if (read_only_bytes[i] != READ_ONLY_BYTE)
			return false;
	return true;
}

/* Returns what is wrong, or NULL. */
static const char *child_end(pid_t pid, int pidfd)
{
	bool ended = child_wait(pidfd, KILL_AFTER * (int)options.patience);
	int status = 0;

	if (!ended) {
		atomic_fetch_add(&shared->killed, 1);
		kill(pid, SIGKILL);
		if (!child_wait(pidfd, GONE_AFTER * (int)options.patience))
			return "its process could not be killed";
	}
	waitpid(pid, &status, 0);
	if (waitpid(-1, NULL, WNOHANG) >= 0 && !orphans_end())
		return "a process that it forked could not be killed";
	if (WIFSIGNALED(status))
		atomic_fetch_add(&shared->by_signal, 1);
	if (!read_only_is_intact())
		return "a file changed that it could only read";
	if (!WIFEXITED(status) || !WEXITSTATUS(status))
		return NULL;
	return verdict_text(WEXITSTATUS(status));
}

bool worker_execute(uint32_t worker, const struct sequence *sequence)
{
	static uint32_t count;
	static char text[MAX_TEXT];
	const char *wrong;
	pid_t pid;
	int pidfd;

	cover_begin((int)worker);
	pid = fork();
	if (!pid)
		child_main(worker, sequence);
	if (pid < 0)
		return true;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	wrong = child_end(pid, pidfd);
	close(pidfd);
	atomic_fetch_add(&shared->executed, 1);
	if (++count % CLEAN_EVERY == 0)
		directory_clean();
	if (!wrong)
		return true;
	sequence_write(sequence, text, sizeof(text));
	printf("FAIL: %s\n%s", wrong, text);
	fflush(stdout);
	return false;
}

void worker_run(uint32_t worker, bool guided)
{
	time_t end = time(NULL) + (time_t)options.seconds;
	uint64_t last = options.first + options.sequences;
	static struct sequence sequence;
	uint32_t points, edges;

	worker_init(worker);
	for (uint64_t index = options.first + worker; !shared->failed; index += options.workers) {
		if (options.seconds ? time(NULL) >= end : index >= last)
			break;
		corpus_next(index, guided, &sequence);
		journal_note(worker, index, &sequence);
		if (!worker_execute(worker, &sequence)) {
			printf("sequence %llu of seed %llu\n", (unsigned long long)index,
			       (unsigned long long)options.seed);
			fflush(stdout);
			shared->failed = true;
		}
		cover_end(&points, &edges);
		if (points || edges)
			corpus_add(&sequence);
	}
	directory_clean();
}
