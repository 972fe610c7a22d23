// SPDX-License-Identifier: MIT
/*
 * observe.c - cosy-observe: loads the BPF programs of observe.bpf.c and passes on what they
 * observe.
 *
 *   cosy-observe fentry|tracepoint	commands on standard input, observations on standard output
 *
 * It is the only part of `cosy profile` that needs a privilege.  Either root starts it, or it has
 * CAP_BPF and CAP_PERFMON as file capabilities and group cosy may execute it; then an unprivileged
 * user controls it, and the programs watch only that user's processes (task_allowed).  It reads
 * only commands, writes only observations, and opens nothing by a given name.  When either end of
 * its pipes is closed, it ends, and the programs with it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "record/event.h"
#include "record/bpf/admit.h"
#include "record/bpf/observation.h"
#include "record/bpf/refusal.h"
#include "record/bpf/tasks.h"
#include "observe.skel.h"

#define BUFFER		      (1 << 18)
#define LOOK_MS		      5	  /* between two reads of the ring */
#define MIN_LOOKS	      2	  /* at all tasks before a process is said not to be there, */
#define MAX_LOOKS	      100 /* and while its threads change */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCU

struct observer {
	struct observe *programs;
	struct ring_buffer *ring;
	int threads; /* the iterator over all tasks that attaches, */
	int release; /* and the program that drops them */
	__u64 lost;  /* already reported */
	size_t used;
	bool broken;
	_Alignas(8) char buffer[BUFFER];
};

static __u64 clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* --- Towards the reader --------------------------------------------------------------- */

static void observer_flush(struct observer *observer)
{
	size_t done = 0;

	while (!observer->broken && done < observer->used) {
		ssize_t n = write(STDOUT_FILENO, observer->buffer + done, observer->used - done);

		if (n > 0)
			done += n;
		else if (errno != EINTR)
			observer->broken = true;
	}
	observer->used = 0;
}

static void observer_put(struct observer *observer, const void *bytes, size_t size)
{
	if (size > sizeof(observer->buffer) - observer->used)
		observer_flush(observer);
	memcpy(observer->buffer + observer->used, bytes, size);
	observer->used += size;
}

static int observer_take(void *context, void *bytes, size_t size)
{
	struct observer *observer = context;

	if (size <= sizeof(observer->buffer))
		observer_put(observer, bytes, size);
	return observer->broken ? -EPIPE : 0;
}

static void observer_say(struct observer *observer, __u32 kind, __u32 tid, __s64 arg)
{
	struct observation said = {
		.kind = kind, .size = sizeof(said), .tid = tid, .time = clock_now(), .arg = arg};

	observer_put(observer, &said, sizeof(said));
}

/* Passes on the ring's contents, and the number of calls that it had no room for. */
static void observer_drain(struct observer *observer)
{
	__u64 lost;

	ring_buffer__consume(observer->ring);
	lost = __atomic_load_n(&observer->programs->bss->lost, __ATOMIC_RELAXED);
	if (lost > observer->lost)
		observer_say(observer, OBSERVE_LOST, 0, lost - observer->lost);
	observer->lost = lost;
	observer_flush(observer);
}

/* Returns how many runs of the programs the kernel left out, since one was running. */
static __u64 observer_missed(struct observer *observer)
{
	struct bpf_program *program;
	__u64 missed = 0;

	bpf_object__for_each_program(program, observer->programs->obj) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

/* --- Commands ------------------------------------------------------------------------- */

/*
 * Asks the kernel whether this process could attach to each thread by ptrace(2): that opening its
 * memory is allowed says so.  So Yama as it is set now and every other security module are asked.
 * The threads' watches are there already, not armed, and end with an execve: the answer is about
 * those whose watches are armed afterwards.
 */
static int threads_permitted(__s32 pid)
{
	char name[64];
	struct dirent *entry;
	int error = 0;
	DIR *threads;

	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	threads = opendir(name);
	if (!threads)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!error && (entry = readdir(threads))) {
		int memory;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%.20s/mem", entry->d_name);
		memory = openat(dirfd(threads), name, O_RDONLY | O_CLOEXEC);
		if (memory >= 0)
			close(memory);
		else if (errno != ENOENT && errno != ESRCH)
			error = errno == EACCES ? -EPERM : -errno;
	}
	closedir(threads);
	return error;
}

static int tasks_step(struct observer *observer, enum observe_attach step)
{
	observer->programs->bss->attach_step = step;
	return tasks_iterate(observer->threads);
}

/* Makes watches for threads that have none, asks, and arms them. */
static int threads_attach(struct observer *observer, __s32 pid)
{
	int error = tasks_step(observer, ATTACH_FIND);

	if (error || !observer->programs->bss->attach_found)
		return error;
	if (observer->programs->rodata->confined)
		error = threads_permitted(pid);
	if (!error)
		return tasks_step(observer, ATTACH_ARM);
	tasks_step(observer, ATTACH_GIVE_UP);
	return error;
}

/*
 * Visits every task until no new thread has appeared and none has executed a program meanwhile.
 * One more visit finds a thread that took its process's number during the first.
 */
static int observer_attach(struct observer *observer, __s32 pid)
{
	struct observe__bss *shared = observer->programs->bss;
	unsigned int looks = 0;
	int error;

	if (pid <= 0)
		return -EINVAL;
	shared->attach_pid = pid;
	shared->attach_added = 0;
	do {
		shared->attach_found = shared->attach_refused = shared->attach_changed = 0;
		error = threads_attach(observer, pid);
		if (error)
			return error;
		looks++;
	} while (looks < MAX_LOOKS && (shared->attach_found || shared->attach_changed ||
				       (looks < MIN_LOOKS && !shared->attach_added)));
	if (shared->attach_added)
		return shared->attach_added;
	return shared->attach_refused ? -EPERM : shared->attach_changed ? -EAGAIN : -ESRCH;
}

/* Returns false when it is to end. */
static bool observer_command(struct observer *observer)
{
	struct observe_command command;
	ssize_t n = read(STDIN_FILENO, &command, sizeof(command));

	if (n < 0 && errno == EINTR)
		return true;
	if (n != sizeof(command) || command.order != OBSERVE_ATTACH)
		return false;
	n = observer_attach(observer, command.pid);
	observer_drain(observer);
	observer_say(observer, OBSERVE_ANSWERED, command.pid, n);
	observer_flush(observer);
	return true;
}

static void observer_serve(struct observer *observer)
{
	struct pollfd wait[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = ring_buffer__epoll_fd(observer->ring), .events = POLLIN},
	};
	bool more = true;

	while (more && !observer->broken) {
		if (poll(wait, 2, LOOK_MS) < 0 && errno != EINTR)
			break;
		observer_drain(observer);
		if (wait[0].revents)
			more = observer_command(observer);
	}
}

/* --- Programs --------------------------------------------------------------------------- */

/*
 * Root's own processes are no secret to root.  For others see task_allowed; and Yama must leave
 * debuggers alone, as we cannot tell whose descendant a caller's process is to be.  Tracepoints
 * would have the compounds of every process run natively.
 */
static int observer_confine(struct observe *programs, enum event_backend backend)
{
	FILE *file;
	int scope = 0, error;

	programs->rodata->confined = getuid() != 0;
	if (!programs->rodata->confined)
		return 0;
	programs->rodata->only_uid = getuid();
	programs->rodata->only_gid = getgid();
	programs->rodata->ring_size = CONFINED_RING;
	error = bpf_map__set_max_entries(programs->maps.ring, CONFINED_RING);
	file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	/* Only a kernel without Yama has no such file. */
	if (file ? fscanf(file, "%d", &scope) != 1 : errno != ENOENT)
		scope = -1;
	if (file)
		fclose(file);
	if (scope || backend != EVENT_BACKEND_FENTRY)
		error = -EPERM;
	return error ? error : observer_admit();
}

static int observer_load(struct observer *observer, enum event_backend backend)
{
	struct observe *programs = observe__open();
	bool fentry = backend == EVENT_BACKEND_FENTRY;
	int error;

	if (!programs)
		return -errno;
	observer->programs = programs;
	bpf_program__set_autoload(programs->progs.fentry_begin, fentry);
	bpf_program__set_autoload(programs->progs.fentry_end, fentry);
	bpf_program__set_autoload(programs->progs.tracepoint_begin, !fentry);
	bpf_program__set_autoload(programs->progs.tracepoint_end, !fentry);
	for (unsigned int nr = 0; nr < OBSERVATION_CALLS; nr++) {
		programs->rodata->argument_path[nr] = call_path(nr) + 1;
		programs->rodata->argument_given[nr] = call_given(nr) + 1;
		programs->rodata->argument_made[nr] = call_made(nr) + 1;
	}
	error = observer_confine(programs, backend);
	if (!error)
		error = observe__load(programs);
	if (!error)
		error = observe__attach(programs);
	if (error)
		return error;
	observer->threads = bpf_link__fd(programs->links.attach_task);
	observer->release = bpf_link__fd(programs->links.release_task);
	observer->ring =
		ring_buffer__new(bpf_map__fd(programs->maps.ring), observer_take, observer, NULL);
	return observer->ring ? 0 : -errno;
}

/* Numbers of processes are those of the first namespace here, and so must be the reader's. */
static bool namespace_is_first(void)
{
	char name[64] = "";
	unsigned int number;

	return readlink("/proc/self/ns/pid", name, sizeof(name) - 1) > 0 &&
	       sscanf(name, "pid:[%u]", &number) == 1 && number == INITIAL_PID_NAMESPACE;
}

static int libbpf_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level == LIBBPF_WARN && getenv("COSY_OBSERVE_SAYS")
		       ? vfprintf(stderr, format, arguments)
		       : 0;
}

/* Nothing that the caller chose is left but its pipes. */
static bool surroundings_clean(void)
{
	bool says = getenv("COSY_OBSERVE_SAYS") && getuid() == 0;
	struct rlimit files = {64, 64}, cores = {0, 0};

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return false;
	clearenv();
	if (says)
		setenv("COSY_OBSERVE_SAYS", "1", 1);
	close_range(3, ~0U, 0);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &cores);
	/* Leave ^C and the like to the reader, which says when to end. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return chdir("/") == 0;
}

static __u64 own_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

int main(int argc, char **argv)
{
	static struct observer observer;
	enum event_backend backend;
	int error = -EINVAL;

	if (argc == 2 && !strcmp(argv[1], "fentry"))
		backend = EVENT_BACKEND_FENTRY;
	else if (argc == 2 && !strcmp(argv[1], "tracepoint"))
		backend = EVENT_BACKEND_TRACEPOINT;
	else
		return 2;
	if (!surroundings_clean())
		return 1;
	libbpf_set_print(libbpf_silent);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (namespace_is_first())
		error = observer_load(&observer, backend);
	if (isatty(STDOUT_FILENO) && observe_refusal(error))
		fprintf(stderr, "cosy-observe: %s\n", observe_refusal(error));
	observer_say(&observer, OBSERVE_READY, 0, error ? error : (int)backend);
	observer_flush(&observer);
	if (!error) {
		observer_serve(&observer);
		tasks_iterate(observer.release);
		observe__detach(observer.programs);
		observer_drain(&observer);
		if (observer_missed(&observer))
			observer_say(&observer, OBSERVE_LOST, 0, observer_missed(&observer));
		observer_say(&observer, OBSERVE_END, 0, own_time());
		observer_flush(&observer);
	}
	ring_buffer__free(observer.ring);
	observe__destroy(observer.programs);
	return error || observer.broken;
}
