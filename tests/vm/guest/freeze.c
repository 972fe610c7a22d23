// SPDX-License-Identifier: MIT
/*
 * Freezes a cgroup (cgroup.freeze) while a compound runs in it: one that computes, one that makes
 * calls, and one that sleeps in a call.  It stops within its RUN's next safepoint, does nothing while
 * it is frozen, goes on afterwards, and can be killed while it is frozen.
 */
#include "raw.h"
#include <sys/mount.h>

static char group[64];

static bool group_write(const char *file, const char *text)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return file_write(path, text);
}

static bool group_is_frozen(void)
{
	char path[96], events[256] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.events", group);
	fd = open(path, O_RDONLY);
	MUST(fd >= 0 && read(fd, events, sizeof(events) - 1) > 0);
	close(fd);
	return strstr(events, "frozen 1");
}

/* How far the compound is: in memory of both. */
static volatile uint64_t *progress;

/* Counts up without end: by itself, by calls, or by bytes that come through a pipe. */
static void endless(int fd, const char *what, int from)
{
	const struct bpf_insn computes[] = { MOVR(6, 1), LOAD(BPF_DW, 7, 6, 0), ADD(7, 1),
					     STORE(BPF_DW, 6, 0, 7), JUMP(-4) };
	const struct bpf_insn calls[] = { MOVR(6, 1), CALL(SYS_getppid),      LOAD(BPF_DW, 7, 6, 0),
					  ADD(7, 1),  STORE(BPF_DW, 6, 0, 7), JUMP(-5) };
	const struct bpf_insn sleeps[] = { MOVR(6, 1),
					   MOV(1, from),
					   MOVR(2, 6),
					   ADD(2, 8),
					   MOV(3, 1),
					   CALL(SYS_read),
					   LOAD(BPF_DW, 7, 6, 0),
					   ADD(7, 1),
					   STORE(BPF_DW, 6, 0, 7),
					   JUMP(-9) };
	struct raw_run *run = aligned_alloc(16, sizeof(*run));
	uint32_t handle = !strcmp(what, "computes") ? raw_load(fd, computes, COUNT(computes))
			  : !strcmp(what, "calls")  ? raw_load(fd, calls, COUNT(calls))
						    : raw_load(fd, sleeps, COUNT(sleeps));

	raw_run_init(run, handle, (void *)progress);
	for (;;)
		MUST(!raw_run(fd, run));
}

/* Waits until the compound has gone on. */
static void goes_on(pid_t pid, int to)
{
	uint64_t then = *progress;

	if (to >= 0)
		MUST(write(to, "x", 1) == 1);
	WAIT_FOR(pid, *progress != then);
}

static void freeze(const char *what)
{
	bool sleeps = !strcmp(what, "sleeps");
	int fds[2], status;
	uint64_t then;
	char text[16];
	pid_t pid;

	MUST(!pipe(fds));
	*progress = 0;
	pid = child_start();
	if (!pid) {
		int fd = raw_open();

		close(fds[1]);
		endless(fd, what, fds[0]);
	}
	snprintf(text, sizeof(text), "%d", pid);
	MUST(group_write("cgroup.procs", text));
	for (int turn = 0; turn < 3; turn++) {
		goes_on(pid, sleeps ? fds[1] : -1);
		MUST(group_write("cgroup.freeze", "1"));
		WAIT_FOR(pid, group_is_frozen());
		then = *progress;
		if (sleeps)
			MUST(write(fds[1], "x", 1) == 1);
		sleep_ms(20);
		CHECK(*progress == then, "%s: went on while frozen", what);
		MUST(group_write("cgroup.freeze", "0"));
		WAIT_FOR(pid, *progress != then);
	}
	MUST(group_write("cgroup.freeze", "1"));
	WAIT_FOR(pid, group_is_frozen());
	MUST(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%s: status %#x", what, status);
	MUST(group_write("cgroup.freeze", "0"));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	char path[64];

	directory_enter();
	snprintf(path, sizeof(path), "%s", check_directory);
	if (mount("none", path, "cgroup2", 0, NULL))
		SKIP("no cgroups: %s", strerror(errno));
	snprintf(group, sizeof(group), "%s/frozen", path);
	MUST(!mkdir(group, 0755));
	progress = shared_memory(4096);
	freeze("computes");
	freeze("calls");
	freeze("sleeps");
	MUST(!rmdir(group) && !chdir("/") && !umount2(path, MNT_DETACH));
	directory_leave();
	return check_end();
}
