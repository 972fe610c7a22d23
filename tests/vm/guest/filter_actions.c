/* SPDX-License-Identifier: MIT */
/*
 * Checks each action of seccomp filters on calls that have a specialised version and on those inside
 * of others (openat in cosy_read_file, newfstatat in cosy_scan_dir), where the filter is there before
 * the region, where the region arms it itself, and where another thread does meanwhile.  Each case
 * runs twice in processes of its own, as a region and natively, and has to come to the same.
 */
#include "check.h"
#include "filter_log.h"
#include <cosy/fast.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { ROUNDS = 3 };

/* When the filter is armed: before the region, by the region, or by another thread meanwhile. */
enum when { BEFORE, INSIDE, MEANWHILE, WHENS };

static const char *const when_names[] = { "before", "inside", "meanwhile" };

/* The outcome that both must have. */
struct outcome {
	int results[8];
	int errors[8];
	int told; /* how often the handler, the supervisor, the tracer or the log was told of it */
	int in_kernel;
	int status;
	_Atomic int ended; /* the thread has made all its calls */
};

/* A case. */
struct action {
	const char *name;
	uint32_t action;
	void (*test)(void);
};

static struct outcome *out;
static const struct action *action;
static enum when when;
static long number; /* the call that is answered; its first argument is `argument` */
static int argument;
static bool in_region;

static int reads_from, directory;
static int asked, armed; /* eventfd: the other thread arms the filter between them */
static _Atomic int listener = -1;

/* --- The filter ------------------------------------------------------------------------------- */

static unsigned int filter_flags(void)
{
	return action->action == SECCOMP_RET_USER_NOTIF ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
}

static void *arm_meanwhile(void *unused)
{
	uint64_t one = 1;
	int ret;

	MUST(read(asked, &one, sizeof(one)) == sizeof(one));
	ret = filter_arm_argument(number, (uint32_t)argument, action->action,
				  filter_flags() | SECCOMP_FILTER_FLAG_TSYNC |
					  (filter_flags() ? SECCOMP_FILTER_FLAG_TSYNC_ESRCH : 0));
	MUST(ret >= 0);
	if (filter_flags())
		listener = ret;
	MUST(write(armed, &one, sizeof(one)) == sizeof(one));
	return unused;
}

/* --- What is done under it -------------------------------------------------------------------- */

#define CALLS(r, e)                                                                                \
	do {                                                                                       \
		for (int i_ = 0; i_ < ROUNDS; i_++) {                                              \
			r[0] += getppid() > 0;                                                     \
			r[1] += (int)pread(reads_from, byte, 1, 0);                                \
			e[1] = errno;                                                              \
			r[2] += (int)cosy_read_file(directory, "entry", byte, sizeof(byte),        \
						    O_RDONLY);                                     \
			e[2] = errno;                                                              \
			lseek(directory, 0, SEEK_SET);                                             \
			r[3] += (int)cosy_scan_dir(directory, entries, sizeof(entries), 0);        \
			e[3] = ((struct cosy_dirent *)entries)->error;                             \
		}                                                                                  \
	} while (0)

/* Arms the filter where that is the region's turn. */
#define ARM(program, flags)                                                                        \
	do {                                                                                       \
		if (when == INSIDE)                                                                \
			listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,       \
						program);                                          \
		if (when == MEANWHILE) {                                                           \
			write(asked, &one, sizeof(one));                                           \
			read(armed, &one, sizeof(one));                                            \
		}                                                                                  \
	} while (0)

static void calls(int *r, int *e)
{
	struct sock_filter filter[] = FILTER_OF_ARGUMENT(number, argument, action->action);
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	char byte[64], entries[4096] __attribute__((aligned(8)));
	unsigned int flags = filter_flags();
	uint64_t one = 1;

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (in_region) {
		COSY_START;
		ARM(&program, flags);
		CALLS(r, e);
		COSY_END;
	} else {
		ARM(&program, flags);
		CALLS(r, e);
	}
}

static void run_calls(void)
{
	struct cosy_stats then = counts();
	pthread_t other;
	int ret;

	MUST((asked = eventfd(0, 0)) >= 0 && (armed = eventfd(0, 0)) >= 0);
	if (when == MEANWHILE)
		MUST(!pthread_create(&other, NULL, arm_meanwhile, NULL));
	if (when == BEFORE) {
		ret = filter_arm_argument(number, (uint32_t)argument, action->action,
					  filter_flags());
		MUST(ret >= 0);
		listener = ret;
	}
	calls(out->results, out->errors);
	if (when == MEANWHILE)
		MUST(!pthread_join(other, NULL));
	out->in_kernel = (int)(counts().calls - then.calls);
	out->ended = 1;
}

/* --- Who is told ------------------------------------------------------------------------------ */

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)sig;
	if (info->si_code == 1 /* SYS_SECCOMP */ && info->si_syscall == number)
		out->told++;
	user->uc_mcontext.gregs[REG_RAX] = -ENOTTY;
}

static void under_trap(void)
{
	struct sigaction act = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	MUST(!sigaction(SIGSYS, &act, NULL));
	run_calls();
}

static void *thread_run(void *unused)
{
	run_calls();
	return unused;
}

/* Ends that thread alone. */
static void under_kill_thread(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, thread_run, NULL));
	MUST(!pthread_join(thread, NULL));
}

static void *supervise(void *unused)
{
	struct pollfd ready = { .events = POLLIN };

	while (!out->ended) {
		struct seccomp_notif request = { 0 };
		struct seccomp_notif_resp answer = { .error = -EXFULL };

		ready.fd = listener;
		if (poll(&ready, 1, 5) != 1 || !(ready.revents & POLLIN))
			continue;
		MUST(!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request));
		CHECK(request.data.nr == number && (int)request.data.args[0] == argument,
		      "told of %d", request.data.nr);
		out->told++;
		answer.id = request.id;
		MUST(!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
	}
	return unused;
}

/* Has another thread, which is there before the filter, make its decisions. */
static void under_supervisor(void)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, supervise, NULL));
	run_calls();
	MUST(!pthread_join(thread, NULL));
}

/* Attaches a tracer that asks for nothing but what the filter tells it. */
static void under_tracer(void)
{
	pid_t pid = fork();
	int status;

	MUST(pid >= 0);
	if (!pid) {
		MUST(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		raise(SIGSTOP);
		run_calls();
		_exit(check_end());
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	for (;;) {
		MUST(!ptrace(PTRACE_CONT, pid, 0, 0));
		MUST(waitpid(pid, &status, 0) == pid);
		if (!WIFSTOPPED(status))
			break;
		out->told += status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8);
	}
	CHECK(!status, "traced: status %#x", status);
}

/* Finds each call in the log. */
static void under_log(void)
{
	int log = seccomp_log_open();

	run_calls();
	if (log >= 0)
		out->told = seccomp_log_count(log);
}

/* --- Twice each ------------------------------------------------------------------------------- */

static struct outcome outcome_of(bool region)
{
	struct outcome *shared = shared_memory(4096), ret;
	pid_t pid = child_start();

	if (!pid) {
		out = shared;
		in_region = region;
		action->test();
		_exit(check_end());
	}
	MUST(waitpid(pid, &shared->status, 0) == pid);
	ret = *shared;
	munmap(shared, 4096);
	return ret;
}

static void compare(const char *call)
{
	struct outcome native = outcome_of(false), region = outcome_of(true);

	for (int i = 0; i < 4; i++)
		CHECK(native.results[i] == region.results[i] &&
			      native.errors[i] == region.errors[i],
		      "%s, %s, %s: result %d is %d, errno %d; natively %d, errno %d", action->name,
		      call, when_names[when], i, region.results[i], region.errors[i],
		      native.results[i], native.errors[i]);
	CHECK(native.status == region.status && native.ended == region.ended,
	      "%s, %s, %s: status %#x, natively %#x", action->name, call, when_names[when],
	      region.status, native.status);
	CHECK(!WIFEXITED(native.status) || !WEXITSTATUS(native.status), "%s, %s, %s: natively",
	      action->name, call, when_names[when]);
	CHECK(native.told == region.told, "%s, %s, %s: told %d times, natively %d", action->name,
	      call, when_names[when], region.told, native.told);
	if (kernel_expected() && region.ended)
		CHECK(region.in_kernel >= 2 * ROUNDS, "%s, %s, %s: %d calls in the kernel",
		      action->name, call, when_names[when], region.in_kernel);
	/* What is not killed is told of each call, and each entry of the directory is examined. */
	if (native.ended && action->test != run_calls && (action->test != under_log || !geteuid()))
		CHECK(native.told >= ROUNDS, "%s, %s, %s: told %d times", action->name, call,
		      when_names[when], native.told);
}

int main(void)
{
	static const struct action actions[] = {
		{ "ERRNO", SECCOMP_RET_ERRNO | EPERM, run_calls },
		{ "TRAP", SECCOMP_RET_TRAP, under_trap },
		{ "LOG", SECCOMP_RET_LOG, under_log },
		{ "TRACE", SECCOMP_RET_TRACE | 7, under_tracer },
		{ "USER_NOTIF", SECCOMP_RET_USER_NOTIF, under_supervisor },
		{ "KILL_THREAD", SECCOMP_RET_KILL_THREAD, under_kill_thread },
		{ "KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, run_calls },
	};
	int file;

	seccomp_log_check();
	directory_enter();
	MUST(!mkdir("sub", 0755) && (file = open("sub/entry", O_CREAT | O_RDWR, 0644)) >= 0);
	MUST(write(file, "some bytes", 10) == 10 && !close(file));
	MUST((reads_from = open("sub/entry", O_RDONLY)) >= 0);
	MUST((directory = open("sub", O_RDONLY | O_DIRECTORY)) >= 0);
	const struct {
		const char *name;
		long number;
		int argument;
	} answered[] = {
		{ "pread64", SYS_pread64, reads_from },
		{ "openat in cosy_read_file", SYS_openat, directory },
		{ "newfstatat in cosy_scan_dir", SYS_newfstatat, directory },
	};

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		for (size_t j = 0; j < sizeof(answered) / sizeof(*answered); j++)
			for (int at = BEFORE; at < WHENS; at++) {
				action = &actions[i];
				number = answered[j].number;
				argument = answered[j].argument;
				when = (enum when)at;
				compare(answered[j].name);
			}
	MUST(!unlink("sub/entry") && !rmdir("sub"));
	directory_leave();
	return check_end();
}
