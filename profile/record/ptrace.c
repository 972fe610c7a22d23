// SPDX-License-Identifier: MIT
/*
 * ptrace.c - a back end that stops each thread twice a call.  It needs no privilege and sees
 * everything, but makes a call some 20 times slower.  Processor time is the scheduler's
 * (schedstat), read while the thread is stopped.  Most of it is the time of stopping itself, which
 * is calibrated and measured repeatedly (struct probes).  The remainder after subtraction is
 * accurate to about a microsecond a call, too coarse for cheap calls.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <linux/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "record/child.h"
#include "record/digest.h"
#include "record/observed.h"
#include "record/record.h"
#include "record/space.h"
#include "record/tell.h"

#define STACK_WORDS 1024
#define PAGE_BYTES  4096
#define PAGES_MAX   (STACK_WORDS * 8 / PAGE_BYTES + 1) /* that a stack's words are in, or a path */
#define PROBE_TURNS 8				       /* calls of a thread between two probes */
#define PROBES	    64				       /* that the mean is of, about */
#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	 PTRACE_O_TRACEEXEC)

/*
 * The processor time that a stop costs a thread: 2 to 30 us, depending on the processors of tracer
 * and thread, and on other load.  Now and then a thread is stopped a second time after a call,
 * before it returns to the program: the time in between is that of one stop.
 */
struct probes {
	unsigned int n;
	double mean;		    /* ns, of the last ones */
	double calibrated;	    /* while the back end was calibrated; 0: it is now */
	double call_cost, gap_cost; /* and what recording added to a call then, and between two */
};

/* A thread without a process is stopped until its parent's event identifies it. */
struct traced_thread {
	struct observed_thread observed;
	int schedstat;
	bool in_call, probed;
	unsigned int turns;	     /* calls since the last probe */
	uint64_t cpu, slices;	     /* at the last stop */
	int64_t call_owed, gap_owed; /* ns, see time_level */
	char path[EVENT_MAX_PATH];
	size_t path_size;
	struct event_call call;
};

struct tracer {
	struct record_sink sink;
	struct observed observed;
	pid_t program;
	int status;
	uint64_t calls;
	struct probes probes;
	uint64_t words[STACK_WORDS];
};

/* --- Processes and threads ------------------------------------------------------ */

static struct traced_thread *traced_find(struct tracer *tracer, pid_t tid)
{
	return (struct traced_thread *)*thread_place(&tracer->observed, tid);
}

static struct traced_thread *traced_add(struct tracer *tracer, pid_t tid)
{
	struct traced_thread *thread = (struct traced_thread *)thread_add(&tracer->observed, tid);

	if (thread)
		thread->schedstat = -1;
	return thread;
}

static bool traced_join(struct tracer *tracer, struct traced_thread *thread, pid_t pid)
{
	char name[64];

	if (!thread_join(&tracer->observed, &thread->observed, pid))
		return false;
	snprintf(name, sizeof(name), "/proc/%d/task/%d/schedstat", (int)pid,
		 (int)thread->observed.tid);
	thread->schedstat = open(name, O_RDONLY | O_CLOEXEC);
	return true;
}

static void traced_end(struct observed_thread *thread)
{
	int schedstat = ((struct traced_thread *)thread)->schedstat;

	if (schedstat >= 0)
		close(schedstat);
}

static void traced_destroy(struct tracer *tracer, struct traced_thread *thread)
{
	thread_destroy(&tracer->observed, thread_place(&tracer->observed, thread->observed.tid));
}

/* Reads the thread's ns on a processor, and how many times it was given one. */
static bool thread_times(const struct traced_thread *thread, uint64_t *cpu, uint64_t *slices)
{
	char text[96];
	ssize_t len =
		thread->schedstat < 0 ? -1 : pread(thread->schedstat, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return false;
	text[len] = 0;
	return sscanf(text, "%lu %*u %lu", cpu, slices) == 2 && *cpu;
}

static pid_t thread_group(pid_t tid)
{
	char name[64], line[256];
	int pid = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)tid);
	file = fopen(name, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	if (file)
		fclose(file);
	return pid;
}

/* --- Events --------------------------------------------------------------------- */

static void tell_fork(struct tracer *tracer, struct traced_thread *thread, pid_t parent,
		      unsigned int flags)
{
	struct event_fork fork = {.pid = thread->observed.process->pid, .parent = parent};

	fork.event.flags = flags;
	event_tell(&tracer->sink, &fork.event, EVENT_FORK, sizeof(fork), thread->observed.tid);
}

static void tell_call(struct tracer *tracer, struct traced_thread *thread)
{
	_Alignas(8) char buffer[sizeof(struct event_call) + EVENT_MAX_PATH];
	struct event_call *call = (struct event_call *)buffer;

	if (thread->observed.process->quiet)
		return;
	memset(buffer, 0, sizeof(buffer));
	*call = thread->call;
	memcpy(call->path, thread->path, thread->path_size);
	call->path_size = thread->path_size;
	tracer->calls++;
	event_tell(&tracer->sink, &call->event, EVENT_CALL, sizeof(*call) + call->path_size,
		   thread->observed.tid);
}

/* --- Memory of watched processes -------------------------------------------------- */

static ssize_t memory_read(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &here, 1, &there, 1, 0);
}

/*
 * Reads up to `size` bytes, page by page, until the first unreadable page, because a stack may be
 * shorter.  `size` is at most PAGES_MAX pages less one.
 */
static size_t memory_read_some(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = {to, size}, there[PAGES_MAX];
	unsigned int n = 0;
	ssize_t had;

	for (size_t at = 0; at < size && n < PAGES_MAX; at += there[n++].iov_len) {
		size_t page = PAGE_BYTES - (address + at) % PAGE_BYTES;

		there[n].iov_base = (void *)(uintptr_t)(address + at);
		there[n].iov_len = page < size - at ? page : size - at;
	}
	had = process_vm_readv(pid, &here, 1, there, n, 0);
	return had > 0 ? had : 0;
}

static uint32_t memory_digest(pid_t pid, uint64_t address, uint64_t size)
{
	unsigned long long words[DIGEST_WORDS] = {0};

	if (!size || !address)
		return 0;
	if (size > DIGEST_BYTES)
		size = DIGEST_BYTES;
	return memory_read(pid, address, words, size) == (ssize_t)size ? digest_words(words, size)
								       : 0;
}

static void path_read(struct traced_thread *thread, uint64_t address)
{
	size_t had = memory_read_some(thread->observed.process->pid, address, thread->path,
				      sizeof(thread->path) - 1);

	thread->path[had] = 0;
	thread->path_size = had ? strlen(thread->path) + 1 : 0;
	if (thread->path_size == sizeof(thread->path))
		thread->call.event.flags |= EVENT_PATH_CUT;
}

static bool lock_from_position(pid_t pid, const struct event_call *call)
{
	struct flock lock;

	return call_locks(call->nr, call->args[1]) &&
	       memory_read(pid, call->args[2], &lock, sizeof(lock)) == sizeof(lock) &&
	       lock.l_whence == SEEK_CUR;
}

/* --- The time of a stop -------------------------------------------------------------- */

/* Stops a thread that is at a call's end once more on its way to the program. */
static void probe_begin(struct traced_thread *thread)
{
	if (++thread->turns < PROBE_TURNS)
		return;
	thread->turns = 0;
	thread->probed = !ptrace(PTRACE_INTERRUPT, thread->observed.tid, NULL, NULL);
}

static void probe_end(struct tracer *tracer, struct traced_thread *thread)
{
	struct probes *probes = &tracer->probes;
	uint64_t cpu, slices;

	if (!thread_times(thread, &cpu, &slices))
		return;
	if (probes->n < PROBES)
		probes->n++;
	probes->mean += ((double)(cpu - thread->cpu) - probes->mean) / probes->n;
	thread->cpu = cpu;
	thread->slices = slices;
}

/*
 * Returns a time that contains a stop, adjusted to the stop's calibrated time `cost`.  A result
 * below 0 becomes 0, and the rest is owed: it is subtracted from the thread's next times.
 */
static uint64_t time_level(const struct probes *probes, uint64_t time, double cost, int64_t *owed)
{
	int64_t ret;

	if (!probes->calibrated || !probes->n)
		return time;
	ret = (int64_t)time - *owed - (int64_t)(cost * (probes->mean / probes->calibrated - 1));
	*owed = ret < 0 ? -ret : 0;
	return ret < 0 ? 0 : ret;
}

/* --- A call's two stops ------------------------------------------------------------- */

static void call_begin(struct tracer *tracer, struct traced_thread *thread,
		       const struct ptrace_syscall_info *info)
{
	struct event_call *call = &thread->call;
	struct space_registers registers = {
		.ip = info->instruction_pointer,
		.sp = info->stack_pointer,
		.words = tracer->words,
	};
	pid_t pid = thread->observed.process->pid;
	uint64_t cpu, slices;
	int argument;

	memset(call, 0, sizeof(*call));
	call->pid = pid;
	call->nr = info->entry.nr;
	for (int i = 0; i < 6; i++)
		call->args[i] = info->entry.args[i];
	thread->path_size = 0;
	argument = call_path(call->nr);
	if (argument >= 0)
		path_read(thread, call->args[argument]);
	argument = call_given(call->nr);
	if (argument >= 0)
		call->given = memory_digest(pid, call->args[argument], call->args[argument + 1]);
	if (call->nr == SYS_fcntl && lock_from_position(pid, call))
		call->event.flags |= EVENT_FROM_POSITION;
	registers.n_words =
		memory_read_some(pid, registers.sp, tracer->words, sizeof(tracer->words)) / 8;
	registers.bp = ptrace(PTRACE_PEEKUSER, thread->observed.tid,
			      offsetof(struct user_regs_struct, rbp), NULL);
	call->stack = space_stack(thread->observed.process->space, &registers);
	if (thread_times(thread, &cpu, &slices)) {
		call->event.flags |= EVENT_CPU;
		call->user = time_level(&tracer->probes, cpu - thread->cpu, tracer->probes.gap_cost,
					&thread->gap_owed);
		thread->cpu = cpu;
		thread->slices = slices;
	}
	thread->in_call = true;
	call->event.time = clock_now();
}

static void call_end(struct tracer *tracer, struct traced_thread *thread,
		     const struct ptrace_syscall_info *info)
{
	struct event_call *call = &thread->call;
	uint64_t cpu, slices;
	int argument;

	if (!thread->in_call)
		return;
	thread->in_call = false;
	call->took = clock_now() - call->event.time;
	call->ret = info->exit.rval;
	if (thread_times(thread, &cpu, &slices)) {
		call->cpu = time_level(&tracer->probes, cpu - thread->cpu, tracer->probes.call_cost,
				       &thread->call_owed);
		/* It got a processor once, to go on; more often if it slept or others ran. */
		if (slices > thread->slices + 1)
			call->event.flags |= EVENT_SLEPT;
		thread->cpu = cpu;
		thread->slices = slices;
	}
	argument = call_made(call->nr);
	if (argument >= 0 && call->ret > 0)
		call->made = memory_digest(call->pid, call->args[argument], call->ret);
	tell_call(tracer, thread);
	/* One that failed may have to be made again, which another stop must not decide. */
	if (call->ret >= 0)
		probe_begin(thread);
}

static void syscall_stop(struct tracer *tracer, struct traced_thread *thread)
{
	struct ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->observed.tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
		call_begin(tracer, thread, &info);
	else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
		call_end(tracer, thread, &info);
}

/* --- Births, other programs, deaths ------------------------------------------------- */

static unsigned int fork_flags(const struct traced_thread *parent, bool thread)
{
	uint64_t flags = 0;

	if (parent->call.nr == SYS_clone)
		flags = parent->call.args[0];
	else if (parent->call.nr == SYS_clone3)
		memory_read(parent->observed.process->pid, parent->call.args[0], &flags,
			    sizeof(flags));
	return (thread ? EVENT_FORK_THREAD : 0) | (flags & CLONE_FILES ? EVENT_FORK_FILES : 0);
}

static void fork_stop(struct tracer *tracer, struct traced_thread *parent)
{
	unsigned long tid;
	struct traced_thread *child;
	bool early;
	pid_t pid;

	if (ptrace(PTRACE_GETEVENTMSG, parent->observed.tid, NULL, &tid))
		return;
	child = traced_find(tracer, tid);
	early = child;
	pid = thread_group(tid);
	if (!child)
		child = traced_add(tracer, tid);
	if (!child || !pid || !traced_join(tracer, child, pid))
		return;
	tell_fork(tracer, child, parent->observed.process->pid,
		  fork_flags(parent, pid == parent->observed.process->pid));
	thread_times(child, &child->cpu, &child->slices);
	if (early)
		ptrace(PTRACE_SYSCALL, tid, NULL, NULL);
}

/*
 * Returns the ns that a thread has computed since its last call.  A call in progress has no
 * recorded end: exit_group never ends, and another may outlast the recording.
 */
static uint64_t thread_gap(const struct traced_thread *thread)
{
	uint64_t cpu, slices;

	if (thread->in_call)
		return thread->call.user;
	return thread_times(thread, &cpu, &slices) && cpu > thread->cpu ? cpu - thread->cpu : 0;
}

static void thread_tell_gap(struct tracer *tracer, const struct traced_thread *thread)
{
	if (thread->observed.process && !thread->observed.process->quiet)
		tell_gap(&tracer->sink, thread->observed.process->pid, thread->observed.tid, 0,
			 thread_gap(thread));
}

static void thread_tell_exit(struct tracer *tracer, const struct traced_thread *thread)
{
	struct event_exit exit = {.pid = thread->observed.process->pid,
				  .last = thread->observed.process->threads == 1};

	event_tell(&tracer->sink, &exit.event, EVENT_EXIT, sizeof(exit), thread->observed.tid);
}

/* Notes an exec: the thread has the process's number now, and all others are gone. */
static void exec_stop(struct tracer *tracer, struct traced_thread *thread)
{
	unsigned long former = thread->observed.tid;

	ptrace(PTRACE_GETEVENTMSG, thread->observed.tid, NULL, &former);
	if ((pid_t)former != thread->observed.tid) {
		struct traced_thread *other = traced_find(tracer, former);

		if (other) {
			/* The first thread has ended without an event. */
			if (thread->in_call)
				thread_tell_gap(tracer, thread);
			thread->call = other->call;
			thread->in_call = other->in_call;
			memcpy(thread->path, other->path, sizeof(thread->path));
			thread->path_size = other->path_size;
			thread_tell_exit(tracer, other);
			traced_destroy(tracer, other);
		}
		thread_times(thread, &thread->cpu, &thread->slices);
	}
	space_forget(thread->observed.process->space);
	thread->observed.process->quiet = false;
	tell_exec(&tracer->sink, thread->observed.process->pid, thread->observed.tid, 0, NULL);
}

static void thread_exited(struct tracer *tracer, struct traced_thread *thread, int status)
{
	if (thread->observed.tid == tracer->program)
		tracer->status = status;
	if (thread->observed.process)
		thread_tell_exit(tracer, thread);
	traced_destroy(tracer, thread);
}

static void thread_stopped(struct tracer *tracer, pid_t tid, int status)
{
	struct traced_thread *thread = traced_find(tracer, tid);
	int signal = WSTOPSIG(status), event = status >> 16;
	bool probed = thread && thread->probed;

	if (!thread) {
		/* A child whose parent has not reported it yet waits until then. */
		traced_add(tracer, tid);
		return;
	}
	if (!thread->observed.process)
		return;
	thread->probed = false;
	switch (event) {
	case 0:
		if (signal == (SIGTRAP | 0x80)) {
			syscall_stop(tracer, thread);
			signal = 0;
		}
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		fork_stop(tracer, thread);
		signal = 0;
		break;
	case PTRACE_EVENT_EXEC:
		exec_stop(tracer, thread);
		signal = 0;
		break;
	case PTRACE_EVENT_STOP:
		if (probed && signal == SIGTRAP)
			probe_end(tracer, thread);
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		    signal == SIGTTOU) {
			ptrace(PTRACE_LISTEN, tid, NULL, NULL);
			return;
		}
		signal = 0;
		break;
	default:
		signal = 0;
	}
	ptrace(PTRACE_SYSCALL, tid, NULL, signal);
}

/* --- From the first to the last --------------------------------------------------- */

static int thread_seize(struct tracer *tracer, pid_t pid, pid_t tid, bool quiet)
{
	struct traced_thread *thread;
	struct observed_process *process;

	if (traced_find(tracer, tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, OPTIONS) || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return -errno;
	thread = traced_add(tracer, tid);
	if (!thread || !traced_join(tracer, thread, pid))
		return -ENOMEM;
	process = thread->observed.process;
	tell_fork(tracer, thread, 0, process->threads > 1 ? EVENT_FORK_THREAD : 0);
	if (process->threads == 1) {
		process->quiet = quiet;
		if (!quiet)
			tell_exec(&tracer->sink, thread->observed.process->pid,
				  thread->observed.tid, 0, NULL);
		tell_descriptors(&tracer->sink, pid, thread->observed.tid);
	}
	thread_times(thread, &thread->cpu, &thread->slices);
	return 0;
}

/*
 * Seizes all threads of a process, including threads that begin meanwhile or outlived the first.
 */
static int process_seize(struct tracer *tracer, pid_t pid, bool quiet)
{
	unsigned int before, first = tracer->observed.n_threads;
	char name[64];
	int ret = thread_seize(tracer, pid, pid, quiet);

	snprintf(name, sizeof(name), "/proc/%d/task", (int)pid);
	do {
		DIR *directory = opendir(name);
		struct dirent *entry;

		before = tracer->observed.n_threads;
		while (directory && (entry = readdir(directory)))
			if (atoi(entry->d_name))
				thread_seize(tracer, pid, atoi(entry->d_name), quiet);
		if (directory)
			closedir(directory);
	} while (tracer->observed.n_threads > before);
	if (tracer->observed.n_threads > first)
		return 0;
	/* One that waits for its parent is refused as if it were another's. */
	return ret == -EPERM && record_ended(pid) ? -ESRCH : ret;
}

static int process_attach(void *tracer, pid_t pid)
{
	return process_seize(tracer, pid, false);
}

/*
 * Waits for any thread, like waitpid(2).  The processor time of an ended thread can be read until
 * it is waited for; for a killed thread that is the only way.
 */
static pid_t tracer_wait(struct tracer *tracer, int *status)
{
	siginfo_t info = {.si_pid = 0};
	const struct traced_thread *thread;
	pid_t tid;

	if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOWAIT | __WALL))
		return -1;
	thread = traced_find(tracer, info.si_pid);
	if (thread && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
		thread_tell_gap(tracer, thread);
	tid = waitpid(info.si_pid, status, __WALL);
	/* Another thread has executed a program meanwhile. */
	if (tid < 0)
		errno = EINTR;
	return tid;
}

/* Lets all threads go on as if nothing had been. */
static void tracer_detach(struct tracer *tracer)
{
	for (unsigned int i = 0; i < OBSERVED_BUCKETS; i++)
		for (struct observed_thread *at = tracer->observed.threads[i]; at; at = at->next)
			ptrace(PTRACE_INTERRUPT, at->tid, NULL, NULL);
	while (tracer->observed.n_threads) {
		int status;
		pid_t tid = tracer_wait(tracer, &status);
		struct traced_thread *thread;

		if (tid < 0 && errno != EINTR)
			break;
		thread = tid > 0 ? traced_find(tracer, tid) : NULL;
		if (tid > 0 && WIFSTOPPED(status)) {
			int signal = WSTOPSIG(status);

			if (thread)
				thread_tell_gap(tracer, thread);
			ptrace(PTRACE_DETACH, tid, NULL,
			       status >> 16 || signal == (SIGTRAP | 0x80) ? 0 : signal);
		}
		if (thread)
			traced_destroy(tracer, thread);
	}
}

/* Watches until all have ended, or *stop.  Returns false when it was stopped. */
static bool tracer_watch(struct tracer *tracer, const volatile sig_atomic_t *stop)
{
	while (tracer->observed.n_threads) {
		struct traced_thread *thread;
		int status;
		pid_t tid;

		if (stop && *stop)
			return false;
		tid = tracer_wait(tracer, &status);
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			break;
		if (WIFSTOPPED(status)) {
			thread_stopped(tracer, tid, status);
			continue;
		}
		thread = traced_find(tracer, tid);
		if (thread)
			thread_exited(tracer, thread, status);
		else if (tid == tracer->program)
			tracer->status = status;
	}
	return true;
}

static int tracer_begin(struct tracer *tracer, const struct record_sink *sink)
{
	memset(tracer, 0, sizeof(*tracer));
	tracer->sink = *sink;
	tracer->observed.thread_size = sizeof(struct traced_thread);
	tracer->observed.thread_end = traced_end;
	tracer->observed.objects = objects_create(sink);
	return tracer->observed.objects ? 0 : -ENOMEM;
}

static void tracer_end(struct tracer *tracer)
{
	observed_drop(&tracer->observed);
	objects_destroy(tracer->observed.objects);
}

/* Makes a child that is watched, and then does `run`. */
static int child_watch(struct tracer *tracer, void (*run)(void *), void *argument, bool quiet)
{
	struct child child;
	int error = child_start(&child, run, argument);

	if (error)
		return error;
	error = process_seize(tracer, child.pid, quiet);
	tracer->program = child.pid;
	return child_go(&child, error);
}

static struct probes calibrate(struct tracer *tracer, struct event_header *header)
{
	struct calibration calibration;
	struct record_sink sink = {calibration_take, &calibration};
	struct probes ret = {.n = 0};

	if (!calibration_begin(&calibration))
		return ret;
	if (!tracer_begin(tracer, &sink)) {
		if (!child_watch(tracer, calibration_run, &calibration, false))
			tracer_watch(tracer, NULL);
		ret.calibrated = tracer->probes.mean;
		tracer_end(tracer);
	}
	calibration_end(&calibration, header);
	ret.call_cost = header->call_cost;
	ret.gap_cost = header->gap_cost;
	return ret;
}

struct record_result record_ptrace(const struct record_options *options,
				   struct event_header *header, const struct record_sink *sink)
{
	struct record_result result = {.reason = "nothing can be watched by ptrace"};
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	struct event_end end = {.calls = 0};
	struct probes probes;

	if (!tracer) {
		result.error = -ENOMEM;
		return result;
	}
	options->say(EVENT_BACKEND_PTRACE);
	header->backend = EVENT_BACKEND_PTRACE;
	probes = calibrate(tracer, header);
	result.error = tracer_begin(tracer, sink);
	tracer->probes = probes;
	if (!result.error && options->program)
		result.error = child_watch(tracer, program_run, options->program, true);
	if (!result.error)
		result.error = record_attach(options, process_attach, tracer);
	end.took = clock_now();
	if (!result.error && !options->begun(options->begun_context))
		result.error = -EAGAIN;
	if (!result.error) {
		if (!tracer_watch(tracer, options->stop)) {
			result.interrupted = true;
			tracer_detach(tracer);
		}
	}
	result.status = tracer->status;
	result.program = options->program ? tracer->program : 0;
	end.calls = tracer->calls;
	end.took = clock_now() - end.took;
	end.cpu = clock() * (1000000000ULL / CLOCKS_PER_SEC);
	event_tell(&tracer->sink, &end.event, EVENT_END, sizeof(end), 0);
	tracer_end(tracer);
	free(tracer);
	return result;
}
