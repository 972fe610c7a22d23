// SPDX-License-Identifier: MIT
/*
 * confined.c - asks cosy-observe for what it must not give: as root in a guest it gives a copy the
 * file capabilities that packaging would, becomes another user, and attacks that copy.
 *
 *   confined COSY_OBSERVE
 *   confined show		getgid, and nothing else that is looked for
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "../../tests/scale.h"
#include "confined.h"

#define RACES 150 /* of `make test` */

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

/* Has all capabilities in a namespace of its own afterwards. */
static void run_unshare(void)
{
	run_own();
	if (!unshare(CLONE_NEWUSER))
		syscall(SYS_getgid);
}

static void run_clone(void)
{
	pid_t pid;

	run_own();
	pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid) {
		syscall(SYS_getgid);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		_exit(9);
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

/* Rights that change without an execve.  `drops`: the process's own do, not a child's. */
static void attack_rights(void (*run)(void), unsigned int drops, const char *what)
{
	struct helper helper = helper_start("fentry");
	struct victim victim = victim_start(USER, run);
	struct seen seen;

	helper_answer(helper, OBSERVE_READY);
	expect(helper_attach(helper, victim.pid) == 1, "watched before %s", what);
	victim_go(victim);
	seen = helper_end(helper);
	expect(seen.own == 10 && !seen.foreign && seen.dropped == drops,
	       "%s is left alone: %u, %u, %u", what, seen.own, seen.foreign, seen.dropped);
}

/* Has the administrator restrict debuggers while cosy-observe runs. */
static void attack_restricted(void)
{
	static const char scope[] = "/proc/sys/kernel/yama/ptrace_scope";
	struct helper helper = helper_start("fentry");
	struct victim before = victim_start(USER, run_own), after = victim_start(USER, run_own);
	struct seen seen;

	helper_answer(helper, OBSERVE_READY);
	expect(helper_attach(helper, before.pid) == 1, "watched before debuggers are restricted");
	for (int i = 1; i <= 3; i++) {
		file_write(scope, (char)('0' + i));
		expect(helper_attach(helper, after.pid) == -EPERM,
		       "not watched while kernel.yama.ptrace_scope is %d", i);
		/* The last one is for good. */
		if (i == 1) {
			file_write(scope, '0');
			expect(helper_attach(helper, after.pid) == 1, "watched again at 0");
			victim_go(after);
			after = victim_start(USER, run_own);
		}
	}
	/* Of the other one the calls were passed over with the answers. */
	victim_go(before);
	victim_go(after);
	seen = helper_end(helper);
	expect(seen.own == 10 && !seen.foreign, "and what was watched before is seen: %u",
	       seen.own);
	helper = helper_start("fentry");
	expect(helper_answer(helper, OBSERVE_READY) == -EPERM, "nor does it begin then");
	waitpid(helper.pid, NULL, 0);
}

/* Of all processes here: whether those of other users make children as fast as they can. */
static volatile bool *racing;

/* Own processes end, root's get their numbers, while they are asked for. */
static void attack_reuse(void)
{
	struct helper helper = helper_start("fentry");
	unsigned int watched = 0;
	unsigned long races = scale_steps(RACES);
	struct seen seen;

	helper_answer(helper, OBSERVE_READY);
	*racing = true;
	for (unsigned long i = 0; i < races; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (i % 2)
			waitpid(pid, NULL, 0);
		watched += helper_attach(helper, pid) == 1;
		if (!(i % 2))
			waitpid(pid, NULL, 0);
	}
	*racing = false;
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
		execl(OBSERVER_COPY, OBSERVER_COPY, "fentry", NULL);
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
		if (!*racing)
			usleep(2000);
	}
}

int main(int argc, char **argv)
{
	struct victim root, other;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 2 && !strcmp(argv[1], "show"))
		return syscall(SYS_getgid) < 0;
	must(argc == 2 && !getuid(), "usage: confined COSY_OBSERVE, as root");
	racing = mmap(NULL, sizeof(*racing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	must(racing != MAP_FAILED, "mmap");
	observer_copy(argv[1]);
	file_copy("/proc/self/exe", SETUID, 04755);
	file_copy("/proc/self/exe", "/dev/shm/unreadable", 0711);
	file_copy("/proc/self/exe", SETCAP, 0755);
	file_capabilities(SETCAP, 1ULL << CAP_NET_RAW);
	root = victim_start(0, run_foreign);
	must(write(root.gate, "", 1) == 1, "gate");
	other = victim_start(OTHER, run_foreign);
	must(write(other.gate, "", 1) == 1, "gate");
	if (!fork()) {
		must(user_become(USER), "user");
		prctl(PR_SET_DUMPABLE, 1);
		attack_others(root.pid, other.pid);
		attack_exec(run_setuid, "a setuid program");
		attack_exec(run_setcap, "a program with capabilities");
		attack_exec(run_unreadable, "a program that may not be read");
		attack_rights(run_unshare, 1, "a process in a user namespace of its own");
		attack_rights(run_clone, 0, "a child in a user namespace of its own");
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
		failed |= !WIFEXITED(status) || WEXITSTATUS(status);
		/* As root, and last: the restriction stays. */
		attack_restricted();
		return failed;
	}
}
