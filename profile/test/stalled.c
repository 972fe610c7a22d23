// SPDX-License-Identifier: MIT
/*
 * stalled.c - has a process execute another program while cosy-observe decides whether to watch it.
 * stalling.ko holds cosy-observe at its first look into the kernel, then at the second, and so on:
 * wherever the exec comes, nothing of a set-user-ID program may be observed, and an ordinary program
 * is watched.
 *
 *   stalled COSY_OBSERVE	as root, on two processors, the first of which cosy-observe gets
 *   stalled show		10 getgids, once standard input says so
 */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include "confined.h"

#define PARAMETERS "/sys/module/stalling/parameters/"
#define PLAIN	   "/dev/shm/plain"
#define CALLS	   10
#define LOOKS	   200 /* more than there are while one process is attached */

enum { OBSERVER_PROCESSOR, OWN_PROCESSOR };

static void parameter_set(const char *path, int value)
{
	char text[16];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int size = snprintf(text, sizeof(text), "%d", value);

	must(fd >= 0 && write(fd, text, size) == size, path);
	close(fd);
}

static int parameter(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	return atoi(text);
}

static void processor_take(pid_t pid, int number)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	must(!sched_setaffinity(pid, sizeof(set), &set), "processor");
}

/* --- A process that executes a program when it is told to ------------------------------------ */

struct kind {
	const char *name, *program;
	bool by_thread; /* another thread than the first executes it */
	bool foreign;	/* it has other rights */
};

static const struct kind kinds[] = {
	{"a set-user-ID program", SETUID, false, true},
	{"a set-user-ID program, by a thread", SETUID, true, true},
	{"a program with capabilities", SETCAP, false, true},
	{"an ordinary program", PLAIN, false, false},
	{"an ordinary program, by a thread", PLAIN, true, false},
};

struct subject {
	pid_t pid;
	int to, from;
};

static void *subject_execute(void *program)
{
	execl(program, program, "show", NULL);
	_exit(9);
}

/* What it writes says how far it is; it goes on by a byte. */
static void subject_run(const struct kind *kind)
{
	pthread_t thread;
	char go;

	prctl(PR_SET_DUMPABLE, 1);
	if (write(1, "r", 1) != 1 || read(0, &go, 1) != 1)
		_exit(9);
	if (kind->by_thread &&
	    !pthread_create(&thread, NULL, subject_execute, (void *)kind->program))
		pause();
	subject_execute((void *)kind->program);
}

static int show(void)
{
	char go;

	if (write(1, "s", 1) != 1 || read(0, &go, 1) != 1)
		return 1;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getgid);
	return 0;
}

static void subject_await(struct subject subject, char wanted)
{
	char said = 0;

	must(read(subject.from, &said, 1) == 1 && said == wanted, "the subject's word");
}

static struct subject subject_start(const struct kind *kind)
{
	struct subject subject;
	int to[2], from[2];

	must(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	subject.pid = fork();
	if (!subject.pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		if (!user_become(USER))
			_exit(9);
		subject_run(kind);
	}
	close(to[0]);
	close(from[1]);
	subject.to = to[1];
	subject.from = from[0];
	subject_await(subject, 'r');
	return subject;
}

/* Has it execute its program, and waits until that runs. */
static void subject_go(struct subject subject)
{
	must(write(subject.to, "", 1) == 1, "go");
	subject_await(subject, 's');
}

/* Has the program make its calls and end. */
static void subject_end(struct subject subject)
{
	must(write(subject.to, "", 1) == 1, "end");
	close(subject.to);
	close(subject.from);
	must(waitpid(subject.pid, NULL, 0) == subject.pid, "subject");
}

/* --- The exec at one look -------------------------------------------------------------------- */

/* Takes observations until the process has ended, or, if it is not watched, until ATTACH is answered. */
struct outcome {
	__s64 answer;
	unsigned int attached, dropped, foreign;
};

static void outcome_take(struct outcome *outcome, const struct observation *head, pid_t pid)
{
	const struct observed_call *call = (const struct observed_call *)head;
	bool is_call = head->kind >= OBSERVE_CALL && head->kind < OBSERVE_LEAVING;

	if ((pid_t)head->pid != pid)
		return;
	outcome->attached += head->kind == OBSERVE_ATTACHED;
	outcome->dropped += head->kind == OBSERVE_DROPPED;
	outcome->foreign += is_call && call->nr == SYS_getgid;
}

/*
 * Attaches to a new process, which executes its program at cosy-observe's look `look`.  Returns false
 * if there are fewer: then it has not executed it before the answer.
 */
static bool attach_at(struct helper helper, const struct kind *kind, int look,
		      struct outcome *outcome)
{
	_Alignas(8) char buffer[4096];
	struct observation *head = (struct observation *)buffer;
	struct subject subject = subject_start(kind);
	/* Its end is in the ring after all that is to be counted. */
	struct subject last = subject_start(kind);
	struct observe_command command = {OBSERVE_ATTACH, subject.pid};
	bool held = false, answered = false;

	*outcome = (struct outcome){0};
	parameter_set(PARAMETERS "until", look - 1);
	parameter_set(PARAMETERS "process", helper.pid);
	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "command");
	while (!held && !answered) {
		struct pollfd wait = {.fd = helper.from, .events = POLLIN};

		held = parameter(PARAMETERS "asked") >= look;
		if (held || poll(&wait, 1, 0) <= 0)
			continue;
		must(helper_next(helper, buffer), "cosy-observe has ended");
		outcome_take(outcome, head, subject.pid);
		answered = head->kind == OBSERVE_ANSWERED;
	}
	subject_go(subject);
	parameter_set(PARAMETERS "until", INT_MAX);
	while (!answered) {
		must(helper_next(helper, buffer), "cosy-observe has ended");
		outcome_take(outcome, head, subject.pid);
		answered = head->kind == OBSERVE_ANSWERED;
	}
	outcome->answer = head->arg;
	subject_end(subject);
	/* Observations of one thread after another's are in the order of the ring. */
	command.pid = last.pid;
	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "command");
	for (answered = false; !answered; answered = head->kind == OBSERVE_ANSWERED) {
		must(helper_next(helper, buffer), "cosy-observe has ended");
		outcome_take(outcome, head, subject.pid);
	}
	subject_go(last);
	subject_end(last);
	return held;
}

static void attach_at_each(struct helper helper, const struct kind *kind)
{
	struct outcome outcome;
	unsigned int seen = 0, watched = 0, refused = 0, wrong = 0;
	int look = 1;

	for (; look < LOOKS && attach_at(helper, kind, look, &outcome); look++) {
		if (outcome.foreign && seen++ < 3 && kind->foreign)
			printf("look %d: %u calls of it were observed, answer %lld\n", look,
			       outcome.foreign, (long long)outcome.answer);
		watched += outcome.answer > 0;
		refused += outcome.answer == -EPERM;
		/* Whatever was announced as watched is either seen on or said to be dropped. */
		wrong += outcome.attached && outcome.answer <= 0;
	}
	printf("%s: held at %d looks; %u times watched, %u refused\n", kind->name, look - 1,
	       watched, refused);
	expect(look > 10 && look < LOOKS, "%s: it was held", kind->name);
	expect(!wrong, "%s: the answer says what was announced", kind->name);
	if (kind->foreign)
		expect(!seen, "%s: nothing of it is observed", kind->name);
	else
		expect(seen == watched && seen == (unsigned int)look - 1,
		       "%s: it is watched: %u times", kind->name, seen);
}

int main(int argc, char **argv)
{
	struct helper helper;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 2 && !strcmp(argv[1], "show"))
		return show();
	must(argc == 2 && !getuid(), "usage: stalled COSY_OBSERVE, as root");
	observer_copy(argv[1]);
	file_copy("/proc/self/exe", SETUID, 04755);
	file_copy("/proc/self/exe", PLAIN, 0755);
	file_copy("/proc/self/exe", SETCAP, 0755);
	file_capabilities(SETCAP, 1ULL << CAP_NET_RAW);
	/* No other processor makes calls while the programs are attached (CMakeLists.txt says why). */
	processor_take(0, OBSERVER_PROCESSOR);
	helper = helper_start("fentry");
	must(helper_answer(helper, OBSERVE_READY) == 3, "cosy-observe");
	processor_take(0, OWN_PROCESSOR);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		attach_at_each(helper, &kinds[i]);
	expect(!parameter(PARAMETERS "late"), "nothing was held for too long");
	processor_take(0, OBSERVER_PROCESSOR);
	helper_end(helper);
	return failed;
}
