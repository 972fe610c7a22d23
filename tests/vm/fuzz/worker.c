// SPDX-License-Identifier: MIT
/* worker.c - has sequences executed by processes of nobody's, and looks after them. */
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
	CLEAN_EVERY = 8,    /* lots */
	SETUPS = 3,	    /* times that a process may fail to begin, in an empty directory */
	NOBODY = 65534
};
#define GROUP_FILE "/sys/fs/cgroup/fuzz/cgroup.procs"

/* How far a process is: it writes, we read, also when it is gone. */
struct progress {
	_Atomic uint32_t at;   /* sequence */
	_Atomic bool is_ready; /* to execute it, or executes it */
};
static struct progress *progress;

static uint32_t lots;
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
	if (chmod(directory, 0700))
		exit(2);
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

	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (progress == MAP_FAILED)
		exit(2);
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

static void rights_drop(uint32_t worker)
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
}

/* Executes from progress->at on as many as one process can. */
static void child_main(uint32_t worker, const struct sequence *sequences, uint32_t count)
{
	bool begun = false;
	pid_t self;

	rights_drop(worker);
	self = getpid();
	while (begun ? values_renew(read_only) : values_init(read_only)) {
		uint32_t at = progress->at;

		progress->is_ready = begun = true;
		if (!sequence_execute(&sequences[at], options.patience, at + 1 < count,
				      cover_thread) ||
		    getpid() != self)
			break;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		progress->is_ready = false;
		progress->at = at + 1;
	}
	_exit(VERDICT_FINE);
}

/* --- Looking after it ------------------------------------------------------------------------ */

/* Waits for the end.  Returns false when the time is over. */
static bool child_wait(int pidfd, int milliseconds)
{
	struct pollfd poll_of = { pidfd, POLLIN, 0 };

	return poll(&poll_of, 1, milliseconds) == 1;
}

/* Waits for the end as long as one sequence after the other is done. */
static bool child_wait_all(int pidfd)
{
	uint32_t at;

	do {
		at = progress->at;
		if (child_wait(pidfd, KILL_AFTER * (int)options.patience))
			return true;
	} while (at != progress->at);
	return false;
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
	bool ended = child_wait_all(pidfd);
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

/* Has a process execute from progress->at on.  Returns what is wrong, or NULL. */
static const char *child_run(uint32_t worker, const struct sequence *sequences, uint32_t count)
{
	const char *wrong;
	pid_t pid = fork();
	int pidfd;

	if (!pid)
		child_main(worker, sequences, count);
	if (pid < 0)
		return NULL;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	wrong = child_end(pid, pidfd);
	close(pidfd);
	atomic_fetch_add(&shared->processes, 1);
	return wrong;
}

static bool sequence_fails(const char *wrong, const struct sequence *sequences, uint32_t count)
{
	static char text[MAX_TEXT];

	printf("FAIL: %s\n", wrong);
	for (uint32_t i = 0; i < count; i++) {
		sequence_write(&sequences[i], text, sizeof(text));
		printf("%s\n", text);
	}
	fflush(stdout);
	return false;
}

bool worker_execute(uint32_t worker, const struct sequence *sequences, uint32_t count)
{
	uint32_t tries = 0, first;

	for (progress->at = first = 0; progress->at < count; first = progress->at) {
		const char *wrong;

		progress->is_ready = false;
		cover_begin((int)worker);
		wrong = child_run(worker, sequences, count);
		if (wrong)
			return sequence_fails(wrong, &sequences[first], progress->at - first + 1);
		atomic_fetch_add(&shared->executed, progress->at - first + progress->is_ready);
		if (progress->is_ready) {
			progress->at++;
			tries = 0;
			continue;
		}
		/* An earlier sequence left what is in the way, in the directory or the process. */
		if (progress->at == first && tries++ == SETUPS && !options.memory)
			return sequence_fails("no process could be set up", sequences, first);
		if (progress->at == first && tries > SETUPS)
			progress->at++;
		directory_clean();
	}
	if (++lots % CLEAN_EVERY == 0)
		directory_clean();
	return true;
}

/* Makes the sequences from that index on.  Returns how many. */
static uint32_t lot_make(uint64_t index, bool guided, struct sequence *ret)
{
	uint32_t count = guided ? 1 : options.lot;

	for (uint32_t i = 0; i < count; i++) {
		corpus_next(index + i, guided, &ret[i]);
		ret[i].follows = i;
	}
	return count;
}

void worker_run(uint32_t worker, bool guided)
{
	time_t end = time(NULL) + (time_t)options.seconds;
	uint64_t last = options.first + options.sequences, step = guided ? 1 : options.lot;
	static struct sequence lot[MAX_LOT];
	uint32_t points, edges, count;

	worker_init(worker);
	for (uint64_t index = options.first + worker * step; !shared->failed;
	     index += options.workers * step) {
		if (options.seconds ? time(NULL) >= end : index >= last)
			break;
		count = lot_make(index, guided, lot);
		if (guided)
			journal_note_text(worker, index, lot);
		else
			journal_note(worker, index, count);
		if (!worker_execute(worker, lot, count)) {
			printf("sequences %llu to %llu of seed %llu\n", (unsigned long long)index,
			       (unsigned long long)(index + progress->at),
			       (unsigned long long)options.seed);
			fflush(stdout);
			shared->failed = true;
		}
		cover_end(&points, &edges);
		if (points || edges)
			corpus_add(lot);
	}
	directory_clean();
}
