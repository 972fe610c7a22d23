/* SPDX-License-Identifier: MIT */
/*
 * Checks that under a seccomp filter a region makes in the kernel what all filters allow, and that
 * the filters see every other call as they see a native program's: each action, rules about
 * arguments, filters on top of each other.  Each case runs twice in processes of its own that begin
 * under the filter, as a region and natively, and has to come to the same.
 */
#include "check.h"
#include "filter_log.h"
#include <cosy/fast.h>
#include <linux/audit.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NR	 offsetof(struct seccomp_data, nr)
#define ARG(n)	 (offsetof(struct seccomp_data, args) + 8 * (n))

/* The outcome that both must have. */
struct outcome {
	int results[16];
	int errors[16];
	_Atomic int traps; /* SIGSYS that were handled */
	int in_kernel;	   /* calls that a compound made */
	int status;	   /* of the process */
	_Atomic int ended; /* the thread has made all its calls */
};

static struct outcome *out;
static volatile int rounds = 3;

/* --- Filters -------------------------------------------------------------------------------- */

/* --- What is done under them ------------------------------------------------------------------ */

/* Makes some calls that are let through between others that are not. */
#define CALLS(r, e)                                                                                \
	do {                                                                                       \
		for (int i_ = 0; i_ < rounds; i_++) {                                              \
			r[0] += getppid() > 0;                                                     \
			r[1] = mkdir("made", 0700);                                                \
			e[1] = errno;                                                              \
			r[0] += getppid() > 0;                                                     \
			r[2] += rmdir("made");                                                     \
			r[3] += (int)write(writes_to, "x", 1);                                     \
			e[3] = errno;                                                              \
			r[4] += (int)pread(reads_from, byte, 1, 0);                                \
		}                                                                                  \
		r[5] = (int)cosy_read_file(AT_FDCWD, "file", byte, sizeof(byte), O_RDONLY);        \
		e[5] = errno;                                                                      \
		r[6] = (int)cosy_seek_read(reads_from, byte, 2, 1, SEEK_SET);                      \
		e[6] = errno;                                                                      \
		r[7] = (int)cosy_scan_dir(directory, entries, sizeof(entries), 0);                 \
		r[8] = ((struct cosy_dirent *)entries)->error;                                     \
		r[9] = clock_gettime(CLOCK_MONOTONIC, &time);                                      \
		tree.head = (struct cosy_tree){ .size = sizeof(tree), .dirfd = directory };        \
		lseek(directory, 0, SEEK_SET);                                                     \
		r[12] = (int)cosy_scan_tree(&tree.head, entries, sizeof(entries));                 \
		e[12] = errno;                                                                     \
		r[13] = ((struct cosy_dirent *)entries)->error;                                    \
		r[14] = cosy_epoll_read(polls, entries, sizeof(entries), 2, 0);                    \
		e[14] = errno;                                                                     \
		r[15] = ((struct cosy_arrival *)entries)->result;                                  \
	} while (0)

static int writes_to, reads_from, directory, polls;

static void calls_natively(int *r, int *e)
{
	char byte[64], entries[4096] __attribute__((aligned(8)));
	struct timespec time;
	struct {
		struct cosy_tree head;
		char room[4096];
	} tree;

	CALLS(r, e);
}

static void calls_in_region(int *r, int *e)
{
	char byte[64], entries[4096] __attribute__((aligned(8)));
	struct timespec time;
	struct {
		struct cosy_tree head;
		char room[4096];
	} tree;

	COSY_START;
	CALLS(r, e);
	COSY_END;
}

static void prepare(void)
{
	struct epoll_event event = { .events = EPOLLIN };

	MUST((reads_from = open("file", O_RDONLY)) >= 0);
	MUST((writes_to = open("/dev/null", O_WRONLY)) >= 0);
	MUST((directory = open("sub", O_RDONLY | O_DIRECTORY)) >= 0);
	/* An event that is always ready: each read takes one from it. */
	MUST((event.data.fd = eventfd(1000, EFD_SEMAPHORE)) >= 0 &&
	     (polls = epoll_create1(0)) >= 0);
	event.data.u64 |= COSY_ARRIVAL_READ;
	MUST(!epoll_ctl(polls, EPOLL_CTL_ADD, event.data.fd, &event));
}

static void run_calls(bool region)
{
	struct cosy_stats then = counts();

	if (region)
		calls_in_region(out->results, out->errors);
	else
		calls_natively(out->results, out->errors);
	out->in_kernel = (int)(counts().calls - then.calls);
}

/*
 * --- Twice each ---------------------------------------------------------------------------------
 */

/* Runs `filters`, then `test` in a process that begins under them. */
static struct outcome outcome_of(void (*filters)(void), void (*test)(bool region), bool region)
{
	struct outcome *shared = shared_memory(4096), ret;
	pid_t pid;
	int status;

	pid = child_start();
	if (!pid) {
		out = shared;
		prepare();
		filters();
		MUST((pid = fork()) >= 0);
		if (!pid) {
			test(region);
			_exit(check_end());
		}
		MUST(waitpid(pid, &shared->status, 0) == pid);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	ret = *shared;
	if (status)
		ret.status = -status;
	rmdir("made");
	munmap(shared, 4096);
	return ret;
}

static void compare(const char *name, void (*filters)(void), void (*test)(bool), int min_calls)
{
	struct outcome native = outcome_of(filters, test, false);
	struct outcome region = outcome_of(filters, test, true);

	for (size_t i = 0; i < COUNT(native.results); i++)
		CHECK(native.results[i] == region.results[i] &&
			      native.errors[i] == region.errors[i],
		      "%s: result %zu is %d, errno %d; natively %d, errno %d", name, i,
		      region.results[i], region.errors[i], native.results[i], native.errors[i]);
	CHECK(!WIFEXITED(native.status) || !WEXITSTATUS(native.status),
	      "%s: natively a check of its own failed", name);
	CHECK(native.status == region.status, "%s: status %#x, natively %#x", name, region.status,
	      native.status);
	CHECK(native.traps == region.traps && native.ended == region.ended,
	      "%s: %d SIGSYS, natively %d", name, region.traps, native.traps);
	if (kernel_expected())
		CHECK(region.in_kernel >= min_calls, "%s: %d calls in the kernel, at least %d",
		      name, region.in_kernel, min_calls);
}

/*
 * --- Actions ------------------------------------------------------------------------------------
 */

static void filter_errno(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM, 0));
}

static void filter_trap(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_TRAP, 0));
}

static void filter_trace(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_TRACE | 7, 0));
}

static void filter_log(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_LOG, 0));
}

static void filter_kill(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_KILL_PROCESS, 0));
}

static void filter_kill_thread(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_KILL_THREAD, 0));
}

static void filter_argument(void)
{
	MUST(!filter_arm_argument(SYS_write, writes_to, SECCOMP_RET_ERRNO | EDOM, 0));
}

static void filter_other_argument(void)
{
	MUST(!filter_arm_argument(SYS_write, 99, SECCOMP_RET_KILL_PROCESS, 0));
}

static void filter_read(void)
{
	MUST(!filter_arm(SYS_read, SECCOMP_RET_ERRNO | EXDEV, 0));
}

static void filter_one_read(void)
{
	MUST(!filter_arm_argument(SYS_read, reads_from, SECCOMP_RET_ERRNO | EXDEV, 0));
}

static void filter_stat(void)
{
	MUST(!filter_arm_argument(SYS_newfstatat, directory, SECCOMP_RET_ERRNO | EXDEV, 0));
}

static void filter_open(void)
{
	MUST(!filter_arm_argument(SYS_openat, directory, SECCOMP_RET_ERRNO | EXDEV, 0));
}

static void filter_clock(void)
{
	MUST(!filter_arm(SYS_clock_gettime, SECCOMP_RET_ERRNO | EXDEV, 0));
}

static void filter_stack(void)
{
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM, 0));
	MUST(!filter_arm(SYS_rmdir, SECCOMP_RET_ERRNO | EDOM, 0));
	MUST(!filter_arm_argument(SYS_mkdir, 1, SECCOMP_RET_TRAP, 0));
}

/* Answers ioctl, so that RUN may be refused, or worse. */
static void filter_ioctl(void)
{
	MUST(!filter_arm_argument(SYS_ioctl, 99, SECCOMP_RET_KILL_PROCESS, 0));
}

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)sig;
	if (info->si_code == 1 /* SYS_SECCOMP */ && info->si_syscall == SYS_mkdir)
		out->traps++;
	user->uc_mcontext.gregs[REG_RAX] = -ENOTTY;
}

static void under_trap(bool region)
{
	struct sigaction act = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };

	MUST(!sigaction(SIGSYS, &act, NULL));
	run_calls(region);
}

static void *thread_calls(void *region)
{
	run_calls(region != NULL);
	out->ended = 1;
	return NULL;
}

/* Ends the thread alone, in its first mkdir. */
static void under_kill_thread(bool region)
{
	pthread_t thread;

	MUST(!pthread_create(&thread, NULL, thread_calls, region ? out : NULL));
	MUST(!pthread_join(thread, NULL));
}

/* Finds each call once in the log. */
static void under_log(bool region)
{
	int log = seccomp_log_open();

	run_calls(region);
	if (log < 0)
		return; /* seccomp_log_check says so */
	out->results[10] = seccomp_log_count(log);
	CHECK(out->results[10] == rounds, "%d records of %d calls", out->results[10], rounds);
}

static void no_filter(void) {}

/* Enters strict mode in the middle of a region: read and write go on, all else kills. */
static void strict_inside(bool region)
{
	int *r = out->results, *e = out->errors;
	char byte;

	run_calls(region); /* so that the region is loaded, and this one soon is */
#define STRICT                                                                                     \
	do {                                                                                       \
		e[10] = getppid() > 0;                                                             \
		r[10] = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);                       \
		for (int i_ = 0; i_ < rounds; i_++) {                                              \
			e[11] += (int)write(writes_to, "x", 1);                                    \
			r[11] += (int)read(reads_from, &byte, 1);                                  \
		}                                                                                  \
	} while (0)
	if (region) {
		COSY_START;
		STRICT;
		COSY_END;
	} else {
		STRICT;
	}
	out->ended = 1;
	if (out->errors[0]) /* strict_kills asks for this */
		getppid();
	syscall(SYS_exit, 0);
}

static void strict_kills(bool region)
{
	out->errors[0] = 1;
	strict_inside(region);
}

/* Arms the filter in the process itself, before its first region. */
static void under_own(bool region)
{
	filter_errno();
	run_calls(region);
}

/* Arms the filter, which forbids mkdir, in the middle. */
static void inside(bool region)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(filter), filter };
	struct cosy_stats then = counts();
	int *r = out->results, *e = out->errors;

	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
#define INSIDE                                                                                     \
	do {                                                                                       \
		r[0] = mkdir("made", 0700);                                                        \
		r[1] = rmdir("made");                                                              \
		r[2] = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);                 \
		for (int i_ = 0; i_ < rounds; i_++) {                                              \
			r[3] = mkdir("made", 0700);                                                \
			e[3] = errno;                                                              \
			r[4] += getppid() > 0;                                                     \
		}                                                                                  \
	} while (0)
	if (region) {
		COSY_START;
		INSIDE;
		COSY_END;
	} else {
		INSIDE;
	}
	out->in_kernel = (int)(counts().calls - then.calls);
}

static char *closed_page;

static void on_closed_page(int sig)
{
	(void)sig;
	MUST(!mprotect(closed_page, 4096, PROT_READ | PROT_WRITE));
}

/*
 * Arms a filter in the middle that does not let RUN through.  What leaves the kernel after it, here
 * for memory that a handler has to open, stays out.
 */
static void inside_ioctl(bool region)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, NR),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT(filter), filter };
	struct sigaction act = { .sa_handler = on_closed_page };
	int *r = out->results;
	volatile char *page;

	page = closed_page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(page != MAP_FAILED && !sigaction(SIGSEGV, &act, NULL));
	MUST(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
#define INSIDE_IOCTL                                                                               \
	do {                                                                                       \
		r[0] = getppid() > 0;                                                              \
		r[1] = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);                 \
		page[0] = 'x';                                                                     \
		for (int i_ = 0; i_ < rounds; i_++)                                                \
			r[2] += getppid() > 0;                                                     \
	} while (0)
	if (region) {
		COSY_START;
		INSIDE_IOCTL;
		COSY_END;
	} else {
		INSIDE_IOCTL;
	}
	out->ended = 1;
	syscall(SYS_exit_group, 0);
}

/*
 * --- Who is told
 * ----------------------------------------------------------------------------------
 */

/* Has a supervisor make a filter's decisions: one for each call, with its number. */
static void notified(bool region)
{
	int listener =
		filter_arm(SYS_mkdir, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	pid_t pid;
	int status;

	MUST(listener >= 0);
	MUST((pid = fork()) >= 0);
	if (!pid) {
		run_calls(region);
		_exit(0);
	}
	for (;;) {
		struct seccomp_notif request = { 0 };
		struct seccomp_notif_resp answer = { .error = -EXFULL };
		struct pollfd ready = { .fd = listener, .events = POLLIN };

		if (poll(&ready, 1, 20) == 1 && (ready.revents & POLLIN)) {
			MUST(!ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request));
			CHECK(request.data.nr == SYS_mkdir && request.pid == (uint32_t)pid &&
				      (request.data.args[1] & 07777) == 0700,
			      "notified of %d by %d", request.data.nr, request.pid);
			out->results[10]++;
			answer.id = request.id;
			MUST(!ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
			continue;
		}
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
	}
	CHECK(!status, "notified: status %#x", status);
}

/* Attaches a tracer that asks for nothing but what the filter tells it. */
static void traced(bool region)
{
	pid_t pid;
	int status;

	MUST((pid = fork()) >= 0);
	if (!pid) {
		MUST(!ptrace(PTRACE_TRACEME, 0, 0, 0));
		raise(SIGSTOP);
		run_calls(region);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
	MUST(!ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	for (;;) {
		unsigned long message = 0;

		MUST(!ptrace(PTRACE_CONT, pid, 0, 0));
		MUST(waitpid(pid, &status, 0) == pid);
		if (!WIFSTOPPED(status))
			break;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			MUST(!ptrace(PTRACE_GETEVENTMSG, pid, 0, &message));
			out->results[10]++;
			out->results[11] += (int)message;
		}
	}
	CHECK(!status, "traced: status %#x", status);
}

static volatile char selector;

static void on_dispatch(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)sig;
	selector = SYSCALL_DISPATCH_FILTER_ALLOW;
	if (info->si_code == 2 /* SYS_USER_DISPATCH */ && info->si_syscall == SYS_getppid)
		out->traps++;
	user->uc_mcontext.gregs[REG_RAX] = -ENOTTY;
}

/*
 * Has the thread's own calls dispatched to a handler from the middle on.  The filter lets them
 * through, but it is not alone any more.
 */
static void dispatched(bool region)
{
	struct sigaction act = { .sa_sigaction = on_dispatch, .sa_flags = SA_SIGINFO };
	int *r = out->results;

	MUST(!sigaction(SIGSYS, &act, NULL));
#define DISPATCHED                                                                                 \
	do {                                                                                       \
		r[0] = getppid() > 0;                                                              \
		r[1] = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector);   \
		selector = SYSCALL_DISPATCH_FILTER_BLOCK;                                          \
		r[2] = getppid() > 0;                                                              \
		r[3] = getppid() > 0;                                                              \
		r[4] = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);          \
	} while (0)
	if (region) {
		COSY_START;
		DISPATCHED;
		COSY_END;
	} else {
		DISPATCHED;
	}
	CHECK(out->traps == 1 && !r[2] && r[3], "%d calls dispatched, of %d", out->traps, r[2]);
}

/*
 * --- What the device tells
 * -------------------------------------------------------------------------
 */

static bool is_let_through(int fd, int number)
{
	uint8_t calls[64] = { 0 };
	ssize_t bytes = read(fd, calls, sizeof(calls));

	return number / 8 < bytes && calls[number / 8] >> number % 8 & 1;
}

static void told(bool region)
{
	int fd = open("/dev/cosy", O_RDWR | O_CLOEXEC);

	(void)region;
	if (fd < 0)
		return;
	CHECK(is_let_through(fd, SYS_mkdir) && is_let_through(fd, SYS_ioctl), "without a filter");
	MUST(!filter_arm(SYS_mkdir, SECCOMP_RET_ERRNO | EPERM, 0));
	CHECK(!is_let_through(fd, SYS_mkdir) && is_let_through(fd, SYS_ioctl), "of one filter");
	MUST(!filter_arm_argument(SYS_write, 99, SECCOMP_RET_ERRNO | EPERM, 0));
	CHECK(!is_let_through(fd, SYS_mkdir) && !is_let_through(fd, SYS_write) &&
		      is_let_through(fd, SYS_ioctl),
	      "of two filters");
	/*
	 * Callers by the 32-bit and x32 tables get nothing, whatever the filter says of those
	 * numbers.
	 */
	{
		long ret;

		__asm__ volatile("int $0x80"
				 : "=a"(ret)
				 : "a"(54), "b"(fd), "c"(COSY_IOC_VERSION), "d"(0)
				 : "memory", "r8", "r9", "r10", "r11");
		CHECK(ret == -EOPNOTSUPP || ret == -ENOSYS, "int 0x80: %ld", ret);
	}
}

int main(void)
{
	static const struct {
		const char *name;
		void (*filters)(void);
		void (*test)(bool region);
		int min_calls;
	} cases[] = {
		{ "ERRNO", filter_errno, run_calls, 10 },
		{ "TRAP", filter_trap, under_trap, 10 },
		{ "LOG", filter_log, under_log, 10 },
		{ "TRACE without a tracer", filter_trace, run_calls, 10 },
		{ "TRACE", filter_trace, traced, 10 },
		{ "user dispatch, inside", filter_errno, dispatched, 0 },
		{ "KILL_PROCESS", filter_kill, run_calls, 0 },
		{ "KILL_THREAD", filter_kill_thread, under_kill_thread, 0 },
		{ "USER_NOTIF", no_filter, notified, 10 },
		{ "an argument", filter_argument, run_calls, 10 },
		{ "another argument", filter_other_argument, run_calls, 10 },
		{ "read", filter_read, run_calls, 0 }, /* libcosy asks by read */
		{ "read of one file", filter_one_read, run_calls, 10 },
		{ "newfstatat", filter_stat, run_calls, 10 },
		/* libcosy opens the device by that call, too: all is native. */
		{ "openat of a tree", filter_open, run_calls, 0 },
		{ "clock_gettime", filter_clock, run_calls, 10 },
		{ "three filters", filter_stack, run_calls, 5 },
		{ "ioctl", filter_ioctl, run_calls, 0 },
		{ "before the first region", no_filter, under_own, 10 },
		{ "inside", no_filter, inside, 4 },
		{ "strict", no_filter, strict_inside, 10 },
		{ "strict, and another call", no_filter, strict_kills, 10 },
		{ "ioctl, inside", no_filter, inside_ioctl, 0 },
		{ "told", no_filter, told, 0 },
	};
	int file;

	seccomp_log_check();
	directory_enter();
	MUST((file = open("file", O_CREAT | O_RDWR, 0644)) >= 0);
	MUST(write(file, "some bytes", 10) == 10 && !close(file));
	MUST(!mkdir("sub", 0755) && !mkdir("sub/low", 0755) &&
	     (file = open("sub/entry", O_CREAT | O_RDWR, 0644)) >= 0);
	close(file);
	for (size_t i = 0; i < COUNT(cases); i++)
		compare(cases[i].name, cases[i].filters, cases[i].test, cases[i].min_calls);
	MUST(!unlink("sub/entry") && !rmdir("sub/low") && !rmdir("sub") && !unlink("file"));
	directory_leave();
	return check_end();
}
