// SPDX-License-Identifier: MIT
/*
 * confined.c - asks cosy-observe for what it must not give: as root in a guest it gives a copy the
 * file capabilities that packaging would, becomes another user, and attacks that copy.
 *
 *   confined COSY_OBSERVE
 *   confined show		getgid, and nothing else that is looked for
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "record/bpf/observation.h"

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF	   39
#define USER		   65534
#define OTHER		   65533
#define RACES		   300

#define HELPER "/dev/shm/cosy-observe"
#define SETUID "/dev/shm/setuid"
#define SETCAP "/dev/shm/setcap"

static bool failed;

static void expect(bool right, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf(right ? "ok: " : "FAILED: ");
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
	failed |= !right;
}

static void must(bool right, const char *what)
{
	if (right)
		return;
	printf("FAILED: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void file_copy(const char *from, const char *to, mode_t mode)
{
	char buffer[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	must(in >= 0 && out >= 0, to);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		must(write(out, buffer, n) == n, to);
	close(in);
	close(out);
	must(!chmod(to, mode), to);
}

static void file_capabilities(const char *path, __u64 set)
{
	struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	data.data[0].permitted = set;
	data.data[1].permitted = set >> 32;
	must(!setxattr(path, "security.capability", &data, sizeof(data), 0), path);
}

/* A child as `user` that does `run`, once go() has been called. */
struct victim {
	pid_t pid;
	int gate;
};

static struct victim victim_start(uid_t user, void (*run)(void))
{
	struct victim victim;
	int gate[2], there[2];
	char go;

	must(!pipe2(gate, O_CLOEXEC) && !pipe2(there, O_CLOEXEC), "pipe");
	victim.pid = fork();
	if (!victim.pid) {
		close(gate[1]);
		if (user && getuid() != user &&
		    (setresgid(user, user, user) || setresuid(user, user, user)))
			_exit(9);
		prctl(PR_SET_DUMPABLE, run ? 1 : 0);
		if (write(there[1], "", 1) == 1 && read(gate[0], &go, 1) == 1 && run)
			run();
		_exit(0);
	}
	close(gate[0]);
	must(read(there[0], &go, 1) == 1, "victim");
	close(there[0]);
	close(there[1]);
	victim.gate = gate[1];
	return victim;
}

static void victim_go(struct victim victim)
{
	must(write(victim.gate, "", 1) == 1, "gate");
	close(victim.gate);
	waitpid(victim.pid, NULL, 0);
}

struct helper {
	pid_t pid;
	int to, from;
};

static struct helper helper_start(const char *backend)
{
	char *environment[] = {"COSY_OBSERVE_SAYS=1", "LD_PRELOAD=/dev/shm/none.so",
			       "LD_LIBRARY_PATH=/dev/shm", "LIBBPF_LOG_LEVEL=debug", NULL};
	char *arguments[] = {HELPER, (char *)backend, NULL};
	struct helper helper;
	int to[2], from[2];

	must(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	helper.pid = fork();
	if (!helper.pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execve(HELPER, arguments, environment);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	helper.to = to[1];
	helper.from = from[0];
	return helper;
}

/* The next observation into `buffer`; false when there is no other. */
static bool helper_next(struct helper helper, char *buffer)
{
	struct observation *head = (struct observation *)buffer;
	size_t had = 0, size = sizeof(*head);

	while (had < size) {
		ssize_t n = read(helper.from, buffer + had, size - had);

		if (n <= 0)
			return false;
		had += n;
		if (had == sizeof(*head))
			size = head->size;
		must(size <= 4096, "an observation is too large");
	}
	return true;
}

static __s64 helper_answer(struct helper helper, __u32 kind)
{
	_Alignas(8) char buffer[4096];
	struct observation *head = (struct observation *)buffer;

	while (helper_next(helper, buffer))
		if (head->kind == kind)
			return head->arg;
	return -EPIPE;
}

static __s64 helper_attach(struct helper helper, pid_t pid)
{
	struct observe_command command = {OBSERVE_ATTACH, pid};

	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "command");
	return helper_answer(helper, OBSERVE_ANSWERED);
}

/* Ends it; how often each was observed. */
struct seen {
	unsigned int own, foreign, dropped, ends;
};

static struct seen helper_end(struct helper helper)
{
	_Alignas(8) char buffer[4096];
	struct observation *head = (struct observation *)buffer;
	struct observed_call *call = (struct observed_call *)buffer;
	struct observe_command command = {OBSERVE_STOP, 0};
	struct seen seen = {0};

	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "stop");
	while (helper_next(helper, buffer)) {
		bool is_call = head->kind >= OBSERVE_CALL && head->kind < OBSERVE_LEAVING;

		seen.own += is_call && call->nr == SYS_getuid;
		seen.foreign += is_call && call->nr == SYS_getgid;
		seen.dropped += head->kind == OBSERVE_DROPPED;
		seen.ends += head->kind == OBSERVE_END;
	}
	close(helper.to);
	close(helper.from);
	waitpid(helper.pid, NULL, 0);
	return seen;
}

/* --- What the victims do ---------------------------------------------------------------------- */

static void run_own(void)
{
	for (int i = 0; i < 10; i++)
		syscall(SYS_getuid);
}

static void run_setuid(void)
{
	run_own();
	execl(SETUID, SETUID, "show", NULL);
}

static void run_setcap(void)
{
	run_own();
	execl(SETCAP, SETCAP, "show", NULL);
}

static void run_unreadable(void)
{
	run_own();
	execl("/dev/shm/unreadable", "unreadable", "show", NULL);
}

/* --- Attacks ---------------------------------------------------------------------------------- */

static void attack_others(pid_t root, pid_t other)
{
	struct helper helper = helper_start("fentry");
	struct victim own = victim_start(USER, run_own), closed = victim_start(USER, NULL);
	__s64 ready = helper_answer(helper, OBSERVE_READY);
	struct seen seen;

	expect(ready == 3, "it loads its programs: %lld", (long long)ready);
	expect(helper_attach(helper, own.pid) == 1, "a process of one's own is watched");
	expect(helper_attach(helper, root) == -EPERM, "root's is not");
	expect(helper_attach(helper, 1) == -EPERM, "the first process is not");
	expect(helper_attach(helper, 2) == -EPERM, "a thread of the kernel's is not");
	expect(helper_attach(helper, other) == -EPERM, "another user's is not");
	expect(helper_attach(helper, closed.pid) == -EPERM,
	       "one's own that no debugger may have is not");
	expect(helper_attach(helper, helper.pid) == -EPERM, "cosy-observe itself is not");
	expect(helper_attach(helper, 0) == -EINVAL && helper_attach(helper, -1) == -EINVAL,
	       "nor all, nor a group");
	expect(helper_attach(helper, 4194303) == -ESRCH, "nor one that is not there");
	victim_go(own);
	victim_go(closed);
	seen = helper_end(helper);
	expect(seen.own == 10 && !seen.foreign && seen.ends == 1,
	       "and all that is seen is one's own: %u", seen.own);
}

static void attack_exec(void (*run)(void), const char *what)
{
	struct helper helper = helper_start("fentry");
	struct victim victim = victim_start(USER, run);
	struct seen seen;

	helper_answer(helper, OBSERVE_READY);
	expect(helper_attach(helper, victim.pid) == 1, "watched before it executes %s", what);
	victim_go(victim);
	seen = helper_end(helper);
	expect(seen.own == 10 && !seen.foreign && seen.dropped == 1, "%s is left alone: %u, %u, %u",
	       what, seen.own, seen.foreign, seen.dropped);
}

/* Own processes end, root's get their numbers, while they are asked for. */
static void attack_reuse(void)
{
	struct helper helper = helper_start("fentry");
	unsigned int watched = 0;
	struct seen seen;

	helper_answer(helper, OBSERVE_READY);
	for (int i = 0; i < RACES; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (i % 2)
			waitpid(pid, NULL, 0);
		watched += helper_attach(helper, pid) == 1;
		if (!(i % 2))
			waitpid(pid, NULL, 0);
	}
	seen = helper_end(helper);
	expect(!seen.foreign, "numbers that are used again: %u were watched, none of them root's",
	       watched);
}

static void attack_commands(void)
{
	struct observe_command strange = {77, 1};
	struct helper helper = helper_start("fentry");
	int status;

	helper_answer(helper, OBSERVE_READY);
	must(write(helper.to, &strange, sizeof(strange)) == sizeof(strange), "command");
	expect(helper_answer(helper, OBSERVE_END) > 0, "a command that it does not know ends it");
	waitpid(helper.pid, &status, 0);
	helper = helper_start("fentry");
	helper_answer(helper, OBSERVE_READY);
	must(write(helper.to, &strange, 3) == 3, "command");
	expect(helper_answer(helper, OBSERVE_END) > 0, "half a command ends it");
	waitpid(helper.pid, &status, 0);
	helper = helper_start("tracepoint");
	expect(helper_answer(helper, OBSERVE_READY) == -EPERM, "tracepoints are not for users");
	waitpid(helper.pid, &status, 0);
	expect(WIFEXITED(status) && WEXITSTATUS(status) == 1, "and it ends");
	helper = helper_start("fentry");
	helper_answer(helper, OBSERVE_READY);
	kill(helper.pid, SIGINT);
	kill(helper.pid, SIGPIPE);
	expect(helper_attach(helper, 1) == -EPERM, "^C does not end it");
	close(helper.from);
	close(helper.to);
	expect(waitpid(helper.pid, &status, 0) == helper.pid, "it ends when nobody is there");
	helper = helper_start("fentry");
	helper_answer(helper, OBSERVE_READY);
	kill(helper.pid, SIGKILL);
	expect(waitpid(helper.pid, &status, 0) == helper.pid && WIFSIGNALED(status),
	       "it can be killed");
	/* Without standard output it must not take the first file that it opens for one. */
	if (!fork()) {
		close(0);
		close(1);
		close(2);
		execl(HELPER, HELPER, "fentry", NULL);
		_exit(127);
	}
	expect(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1,
	       "it does not begin without its pipes");
}

static void run_foreign(void)
{
	for (;;) {
		pid_t pid = fork();

		if (!pid) {
			syscall(SYS_getgid);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	struct victim root, other;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 2 && !strcmp(argv[1], "show"))
		return syscall(SYS_getgid) < 0;
	must(argc == 2 && !getuid(), "usage: confined COSY_OBSERVE, as root");
	file_copy(argv[1], HELPER, 0755);
	file_capabilities(HELPER, 1ULL << CAPABILITY_BPF | 1ULL << CAPABILITY_PERFMON);
	file_copy("/proc/self/exe", SETUID, 04755);
	file_copy("/proc/self/exe", "/dev/shm/unreadable", 0711);
	file_copy("/proc/self/exe", SETCAP, 0755);
	file_capabilities(SETCAP, 1ULL << CAP_NET_RAW);
	root = victim_start(0, run_foreign);
	must(write(root.gate, "", 1) == 1, "gate");
	other = victim_start(OTHER, run_foreign);
	must(write(other.gate, "", 1) == 1, "gate");
	if (!fork()) {
		must(!setresgid(USER, USER, USER) && !setresuid(USER, USER, USER), "user");
		prctl(PR_SET_DUMPABLE, 1);
		attack_others(root.pid, other.pid);
		attack_exec(run_setuid, "a setuid program");
		attack_exec(run_setcap, "a program with capabilities");
		attack_exec(run_unreadable, "a program that may not be read");
		attack_reuse();
		attack_commands();
		_exit(failed);
	}
	for (;;) {
		int status;
		pid_t pid = wait(&status);

		if (pid == root.pid || pid == other.pid)
			continue;
		kill(root.pid, SIGKILL);
		kill(other.pid, SIGKILL);
		return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
}
