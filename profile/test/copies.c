// SPDX-License-Identifier: MIT
/*
 * copies.c - starts more copies of cosy-observe than users may have: as root in a guest, for several
 * users, in other namespaces, at once, stopped and killed.  Root's own must always begin.
 *
 *   copies COSY_OBSERVE COSY_PROFILE
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>

#include "confined.h"
#include "record/bpf/admit.h"

#define COPIES	 20
#define AT_ONCE	 6
#define FIRST	 60000 /* users FIRST, FIRST + 1 .. */
#define CALLS	 20000
#define PROFILE	 "/dev/shm/cosy-profile"
#define MESSAGES "/dev/shm/messages"
#define FENTRY	 3 /* EVENT_BACKEND_FENTRY */

/* Starts a copy and returns what it answers; it runs on in *ret. */
static __s64 copy_start(uid_t user, struct helper *ret)
{
	*ret = helper_start_as(user, "fentry");
	return helper_answer(*ret, OBSERVE_READY);
}

static void copy_end(struct helper helper)
{
	kill(helper.pid, SIGKILL);
	close(helper.to);
	close(helper.from);
	must(waitpid(helper.pid, NULL, 0) == helper.pid, "copy");
}

/* Starts one that should be refused. */
static void copy_refused(uid_t user, __s64 wanted, const char *what)
{
	struct helper helper;
	__s64 answer = copy_start(user, &helper);

	expect(answer == wanted, "%s: %lld", what, (long long)answer);
	copy_end(helper);
}

/* ns that a call of root's takes. */
static double call_cost(void)
{
	double least = 1e9;

	for (int i = 0; i < 5; i++) {
		struct timespec from, to;
		double took;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int call = 0; call < CALLS; call++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &to);
		took = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / CALLS;
		least = took < least ? took : least;
	}
	return least;
}

static void one_for_each_user(void)
{
	struct helper mine[ADMIT_USERS], own;
	unsigned int ready = 0, refused = 0;

	printf("a getppid of root's takes %.0f ns\n", call_cost());
	expect(copy_start(USER, &mine[0]) == FENTRY, "a user's first copy begins");
	for (int i = 1; i < COPIES; i++) {
		struct helper helper;
		__s64 answer = copy_start(USER, &helper);

		ready += answer >= 0;
		refused += answer == -EALREADY;
		copy_end(helper);
	}
	expect(!ready && refused == COPIES - 1, "the others do not: %u of %u refused", refused,
	       COPIES - 1);
	for (int i = 1; i < ADMIT_USERS; i++)
		expect(copy_start(FIRST + i, &mine[i]) == FENTRY, "user %d's begins", i + 1);
	printf("with %d copies it takes %.0f ns\n", ADMIT_USERS, call_cost());
	copy_refused(FIRST + ADMIT_USERS, -EUSERS, "one user more is refused");
	/* Those of a user who is refused do not count. */
	copy_refused(FIRST + ADMIT_USERS + 1, -EUSERS, "and another one");
	expect(copy_start(0, &own) == FENTRY, "root's own begins");
	copy_end(own);
	kill(mine[1].pid, SIGSTOP);
	copy_refused(FIRST + 1, -EALREADY, "one that is stopped counts");
	kill(mine[1].pid, SIGKILL);
	/* It is not waited for: a zombie observes nothing. */
	expect(copy_start(FIRST + ADMIT_USERS, &own) == FENTRY, "one that is killed does not");
	copy_end(own);
	for (int i = 0; i < ADMIT_USERS; i++)
		copy_end(mine[i]);
}

/* The same user in other namespaces, which root has made: a user alone gets none where it may load programs. */
static void in_namespaces(void)
{
	static const int spaces[] = {CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWIPC | CLONE_NEWUTS,
				     CLONE_NEWCGROUP};
	struct helper mine;
	int status;

	expect(copy_start(USER, &mine) == FENTRY, "a user's copy begins");
	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
		if (!fork()) {
			must(!unshare(spaces[i]), "unshare");
			if (spaces[i] == CLONE_NEWNS)
				must(!mount("none", "/tmp", "tmpfs", 0, NULL), "mount");
			copy_refused(USER, -EALREADY,
				     "in another namespace there is no second one");
			_exit(failed);
		}
		must(wait(&status) > 0, "wait");
		failed |= status != 0;
	}
	/* In a user namespace its capabilities are worth nothing. */
	if (!fork()) {
		struct helper helper;

		must(user_become(USER) && prctl(PR_SET_DUMPABLE, 1) == 0, "user");
		must(!unshare(CLONE_NEWUSER), "unshare");
		helper = helper_start_as(USER, "fentry");
		expect(helper_answer(helper, OBSERVE_READY) < 0,
		       "in a user's own namespace none begins");
		_exit(failed);
	}
	must(wait(&status) > 0, "wait");
	failed |= status != 0;
	copy_end(mine);
}

/* Processes of other users' that have the name, but not the capabilities, take no place. */
static void with_names(void)
{
	pid_t pids[ADMIT_USERS];
	struct helper mine;

	for (int i = 0; i < ADMIT_USERS; i++) {
		int there[2];
		char byte;

		must(!pipe(there), "pipe");
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_NAME, ADMIT_NAME);
			if (user_become(i ? FIRST + i : USER) && write(there[1], "", 1) == 1)
				pause();
			_exit(1);
		}
		must(read(there[0], &byte, 1) == 1, "namesake");
		close(there[0]);
		close(there[1]);
	}
	expect(copy_start(USER, &mine) == FENTRY, "a name alone takes no place");
	copy_end(mine);
	for (int i = 0; i < ADMIT_USERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void at_once(void)
{
	struct helper helpers[AT_ONCE];
	unsigned int ready = 0, refused = 0;

	for (int i = 0; i < AT_ONCE; i++)
		helpers[i] = helper_start_as(USER, "fentry");
	for (int i = 0; i < AT_ONCE; i++) {
		__s64 answer = helper_answer(helpers[i], OBSERVE_READY);

		ready += answer == FENTRY;
		refused += answer == -EALREADY;
	}
	expect(ready <= 1 && ready + refused == AT_ONCE, "of %d that begin at once %u does",
	       AT_ONCE, ready);
	for (int i = 0; i < AT_ONCE; i++)
		copy_end(helpers[i]);
}

/* Runs `cosy profile` as a user; true if it says `text` and ends with `status`. */
static bool profile_says(const char *backend, const char *text, int wanted)
{
	static char said[8192];
	int status, fd, size;
	pid_t pid = fork();

	if (!pid) {
		fd = open(MESSAGES, O_CREAT | O_TRUNC | O_WRONLY, 0666);
		dup2(fd, 1);
		dup2(fd, 2);
		if (!user_become(USER))
			_exit(126);
		if (backend)
			execl(PROFILE, PROFILE, "--backend", backend, "--", "/bin/true", NULL);
		else
			execl(PROFILE, PROFILE, "--", "/bin/true", NULL);
		_exit(127);
	}
	must(waitpid(pid, &status, 0) == pid, "wait");
	fd = open(MESSAGES, O_RDONLY);
	size = (int)read(fd, said, sizeof(said) - 1);
	close(fd);
	said[size > 0 ? size : 0] = 0;
	if (strstr(said, text) && WIFEXITED(status) && WEXITSTATUS(status) == wanted)
		return true;
	printf("status %x, and it says: %s\n", status, said);
	return false;
}

static void messages(void)
{
	static const char own[] =
		"cosy profile: you record by BPF programs already, which each user "
		"may do once at a time: end that recording first, or use --backend "
		"ptrace\n";
	struct helper mine[ADMIT_USERS];

	expect(copy_start(USER, &mine[0]) == FENTRY, "a user's copy begins");
	expect(profile_says("fentry", own, 1), "cosy profile says why it does not record");
	expect(profile_says(NULL, own, 0) && profile_says(NULL, "recording by ptrace", 0),
	       "and otherwise records by ptrace");
	copy_end(mine[0]);
	for (int i = 0; i < ADMIT_USERS; i++)
		expect(copy_start(FIRST + i, &mine[i]) == FENTRY, "user %d's begins", i + 1);
	expect(profile_says("fentry", "4 other users record by BPF programs", 1),
	       "cosy profile says that there are too many users");
	for (int i = 0; i < ADMIT_USERS; i++)
		copy_end(mine[i]);
	expect(profile_says("fentry", "recorded by fentry", 0), "later it records by fentry");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	must(argc == 3 && !getuid(), "usage: copies COSY_OBSERVE COSY_PROFILE, as root");
	observer_copy(argv[1]);
	file_copy(argv[2], PROFILE, 0755);
	one_for_each_user();
	in_namespaces();
	with_names();
	at_once();
	messages();
	return failed;
}
