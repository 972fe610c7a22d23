// SPDX-License-Identifier: MIT
/*
 * bpf.c - a back end whose watchers are BPF programs in the kernel.  cosy-observe loads them and
 * passes on their observations; this file, without a privilege, turns these into events.  Watched
 * programs are not stopped, so anything that an observation lacks may be gone by now.  The calls
 * show which files' code is mapped at which addresses; /proc is read only if they do not.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/types.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../common/path.h"
#include "../common/say.h"
#include "record/bpf/observation.h"
#include "record/bpf/refusal.h"
#include "record/child.h"
#include "record/observed.h"
#include "record/record.h"
#include "record/space.h"
#include "record/tell.h"

#define BUFFER	 (1 << 20)
#define PAUSE_MS 100

/* A thread, with state that its observations refer to. */
struct bpf_thread {
	struct observed_thread observed;
	uint32_t stacks[OBSERVATION_KNOWN]; /* the last ones sent, by their numbers */
	uint32_t leaving;		    /* the stack of an execve that is under way, */
	char path[EVENT_MAX_PATH];	    /* and its path; "": none is */
};

struct watcher {
	struct record_sink sink;
	struct observed observed;
	struct record_progress progress;
	pid_t helper, program;
	int to, from; /* its standard input and output */
	int status;
	uint64_t calls, lost, cpu;
	int64_t answer; /* to the last ATTACH */
	bool ready, answered, ended;
	size_t had;
	_Alignas(8) char buffer[BUFFER];
};

static struct bpf_thread *bpf_thread_find(struct watcher *watcher, pid_t tid)
{
	return (struct bpf_thread *)*thread_place(&watcher->observed, tid);
}

/* --- Observations become events ---------------------------------------------------------- */

static void tell_exit(struct watcher *watcher, const struct observation *from, pid_t tid, bool last)
{
	struct event_exit exit = {.event.time = from->time, .pid = from->pid, .last = last};

	event_tell(&watcher->sink, &exit.event, EVENT_EXIT, sizeof(exit), tid);
}

static void tell_fork(struct watcher *watcher, const struct observation *from, pid_t parent,
		      unsigned int flags)
{
	struct event_fork fork = {.event.time = from->time, .pid = from->pid, .parent = parent};

	fork.event.flags = flags;
	event_tell(&watcher->sink, &fork.event, EVENT_FORK, sizeof(fork), from->tid);
}

/* Notes where a library is open, and where its code is mapped. */
static void library_look(struct observed_process *process, const struct event_call *call)
{
	const char *path = call->path_size ? call->path : NULL;

	if ((call->nr == SYS_openat || call->nr == SYS_open) && call->ret >= 0 &&
	    call->ret < MAX_LIBRARIES) {
		free(process->libraries[call->ret]);
		process->libraries[call->ret] =
			path && *path == '/' && !path_is_own(path) && strstr(path, ".so")
				? strdup(path)
				: NULL;
	}
	if (call->nr == SYS_mmap && call->ret > 0 && call->args[2] & PROT_EXEC &&
	    call->args[4] < MAX_LIBRARIES && process->libraries[call->args[4]])
		space_code(process->space, process->libraries[call->args[4]], call->ret,
			   (call->args[1] + 4095) & ~4095ULL, call->args[5]);
}

/* The kernel never lets a thread wait that long, so a larger one is a mistake. */
static uint64_t time_limited(uint64_t time)
{
	return time < EVENT_MAX_TIME ? time : EVENT_MAX_TIME;
}

static uint32_t stack_number(struct observed_process *process, const struct observed_stack *told)
{
	struct space_registers registers = {
		.ip = told->ip,
		.sp = told->sp,
		.bp = told->bp,
		.words = (const uint64_t *)told->word,
		.n_words = told->words <= OBSERVATION_WORDS ? told->words : 0,
	};

	return space_stack(process->space, &registers);
}

/* Returns the stack of a call: from its observation, or from an earlier one of its thread. */
static uint32_t call_stack(struct bpf_thread *thread, const struct observed_call *told)
{
	uint32_t stack;

	if (told->head.kind != OBSERVE_CALL_STACK && told->head.kind != OBSERVE_CALL_STACK_PATH)
		return told->known < OBSERVATION_KNOWN ? thread->stacks[told->known] : 0;
	stack = stack_number(thread->observed.process,
			     &((const struct observed_call_stack *)told)->stack);
	if (told->known < OBSERVATION_KNOWN)
		thread->stacks[told->known] = stack;
	return stack;
}

static void take_leaving(struct watcher *watcher, const struct observed_call_stack_path *told)
{
	struct bpf_thread *thread = bpf_thread_find(watcher, told->call.head.tid);

	if (!thread)
		return;
	thread->leaving = stack_number(thread->observed.process, &told->stack);
	memcpy(thread->path, told->path, sizeof(thread->path));
	thread->path[told->call.path_size ? sizeof(thread->path) - 1 : 0] = 0;
}

static void take_call(struct watcher *watcher, const struct observed_call *told, const char *path)
{
	_Alignas(8) char buffer[sizeof(struct event_call) + EVENT_MAX_PATH] = {0};
	struct event_call *call = (struct event_call *)buffer;
	struct bpf_thread *thread = bpf_thread_find(watcher, told->head.tid);

	if (!thread || thread->observed.process->quiet)
		return;
	call->event.time = told->head.time;
	call->event.flags = EVENT_CPU | (told->flags & OBSERVED_SLEPT ? EVENT_SLEPT : 0) |
			    (told->flags & OBSERVED_FROM_POSITION ? EVENT_FROM_POSITION : 0);
	call->pid = told->head.pid;
	call->nr = told->nr;
	call->ret = told->head.arg;
	call->given = told->given;
	call->made = told->made;
	call->took = time_limited(told->took);
	call->cpu = time_limited(told->took > told->away ? told->took - told->away : 0);
	call->user = time_limited(told->gap);
	memcpy(call->args, told->args, sizeof(call->args));
	if (path && told->path_size && told->path_size <= EVENT_MAX_PATH) {
		memcpy(call->path, path, told->path_size);
		call->path[told->path_size - 1] = 0;
		call->path_size = told->path_size;
		if (told->path_size == EVENT_MAX_PATH)
			call->event.flags |= EVENT_PATH_CUT;
	}
	if (*thread->path && (call->nr == SYS_execve || call->nr == SYS_execveat)) {
		call->path_size = strlen(strcpy(call->path, thread->path)) + 1;
		call->stack = thread->leaving;
		*thread->path = 0;
	} else {
		call->stack = call_stack(thread, told);
	}
	library_look(thread->observed.process, call);
	watcher->calls++;
	event_tell(&watcher->sink, &call->event, EVENT_CALL, sizeof(*call) + call->path_size,
		   told->head.tid);
}

static void take_attached(struct watcher *watcher, const struct observation *told)
{
	bool first = !*process_place(&watcher->observed, told->pid);
	struct observed_thread *thread = thread_create(&watcher->observed, told->pid, told->tid);

	if (!thread)
		return;
	thread->process->quiet = told->pid == (__u32)watcher->program;
	tell_fork(watcher, told, 0, first ? 0 : EVENT_FORK_THREAD);
	if (!first)
		return;
	if (!thread->process->quiet)
		tell_exec(&watcher->sink, told->pid, told->tid, told->time, NULL);
	tell_descriptors(&watcher->sink, told->pid, told->tid);
}

static void take_fork(struct watcher *watcher, const struct observed_fork *told)
{
	struct observed_process *parent = *process_place(&watcher->observed, told->head.arg);
	struct observed_thread *thread =
		thread_create(&watcher->observed, told->head.pid, told->head.tid);

	if (!thread)
		return;
	if (!told->thread && parent && parent != thread->process) {
		space_copy(thread->process->space, parent->space);
		strcpy(thread->process->program, parent->program);
	}
	tell_fork(watcher, &told->head, told->head.arg,
		  (told->thread ? EVENT_FORK_THREAD : 0) |
			  (told->flags & CLONE_FILES ? EVENT_FORK_FILES : 0));
}

/*
 * Returns the program's path: by /proc while it runs, as it was named once it has ended.  A name
 * that means another file in each process is never resolved here.
 */
static const char *program_path(const struct observed_exec *told,
				const struct observed_process *process, char *whole)
{
	bool own = path_is_own(told->path);
	char name[64];
	ssize_t len;

	if (!strcmp(told->path, "/proc/self/exe") && *process->program)
		return strcpy(whole, process->program);
	if (told->path[0] != '/' || own) {
		snprintf(name, sizeof(name), "/proc/%u/exe", told->head.pid);
		len = readlink(name, whole, PATH_MAX - 1);
		if (len > 0) {
			whole[len] = 0;
			if (own || !strcmp(path_name(whole), path_name(told->path)))
				return whole;
		}
	}
	return !own && realpath(told->path, whole) ? whole : told->path;
}

static void program_note(struct observed_process *process, const char *path)
{
	size_t size = strlen(path) + 1;

	*process->program = 0;
	if (size <= sizeof(process->program))
		memcpy(process->program, path, size);
}

static void take_exec(struct watcher *watcher, const struct observed_exec *told)
{
	struct observed_thread *thread =
		thread_create(&watcher->observed, told->head.pid, told->head.tid);
	pid_t former = told->head.arg;
	struct bpf_thread *other = bpf_thread_find(watcher, former);
	uint64_t headers = 0, linker = 0;
	char whole[PATH_MAX];
	const char *path;

	if (!thread)
		return;
	/* The thread took over the process's number. */
	if (former != (pid_t)told->head.tid && other) {
		struct bpf_thread *itself = (struct bpf_thread *)thread;

		itself->leaving = other->leaving;
		memcpy(itself->path, other->path, sizeof(itself->path));
		tell_exit(watcher, &told->head, former, false);
		thread_destroy(&watcher->observed, thread_place(&watcher->observed, former));
	}
	for (int i = 0; i + 1 < OBSERVATION_AUXV && told->auxv[i]; i += 2) {
		if (told->auxv[i] == AT_PHDR)
			headers = told->auxv[i + 1];
		if (told->auxv[i] == AT_BASE)
			linker = told->auxv[i + 1];
	}
	thread->process->quiet = thread->process->leader_ended = false;
	process_forget_libraries(thread->process);
	space_forget(thread->process->space);
	path = program_path(told, thread->process, whole);
	program_note(thread->process, path);
	if (headers && !path_is_own(path))
		space_program(thread->process->space, path, headers, linker);
	tell_exec(&watcher->sink, told->head.pid, told->head.tid, told->head.time, path);
}

/* Emits the computation after a thread's last call, except of our child before its execve. */
static void take_gap(struct watcher *watcher, const struct observed_gap *told)
{
	const struct observed_thread *thread = *thread_place(&watcher->observed, told->head.tid);

	if (thread && !thread->process->quiet)
		tell_gap(&watcher->sink, told->head.pid, told->head.tid, told->head.time,
			 time_limited(told->gap));
}

/* Ends a thread; the first one counts until its process ends, as for wait(2). */
static void take_exit(struct watcher *watcher, const struct observation *told)
{
	struct observed_thread **at = thread_place(&watcher->observed, told->tid);
	struct observed_process *process = *at ? (*at)->process : NULL;
	bool leader = told->pid == told->tid, last = told->arg;

	if (!process)
		return;
	if (leader && !last) {
		process->leader_ended = true;
		return;
	}
	last = last && !process->leader_ended;
	tell_exit(watcher, told, told->tid, last);
	if (told->arg && process->leader_ended) {
		thread_destroy(&watcher->observed, at);
		at = thread_place(&watcher->observed, told->pid);
		tell_exit(watcher, told, told->pid, true);
	}
	if (*at)
		thread_destroy(&watcher->observed, at);
}

static void take_dropped(struct watcher *watcher, const struct observation *told)
{
	pid_t former = told->arg;
	struct observed_thread **at = thread_place(&watcher->observed, former);

	if (!*at)
		at = thread_place(&watcher->observed, told->tid);
	if (!*at)
		return;
	tell_exit(watcher, told, (*at)->tid, true);
	say("cosy profile: process %u has other rights than yours now, and is not recorded further",
	    told->pid);
	thread_destroy(&watcher->observed, at);
	at = thread_place(&watcher->observed, told->tid);
	if (*at)
		thread_destroy(&watcher->observed, at);
}

static void take_lost(struct watcher *watcher, const struct observation *told)
{
	struct event_lost lost = {.event.time = told->time, .calls = told->arg};

	watcher->lost += told->arg;
	event_tell(&watcher->sink, &lost.event, EVENT_LOST, sizeof(lost), 0);
}

static size_t observation_least(const struct observation *told)
{
	switch (told->kind) {
	case OBSERVE_CALL:
		return sizeof(struct observed_call);
	case OBSERVE_CALL_PATH:
		return sizeof(struct observed_call_path);
	case OBSERVE_CALL_STACK:
		return sizeof(struct observed_call_stack);
	case OBSERVE_CALL_STACK_PATH:
	case OBSERVE_LEAVING:
		return sizeof(struct observed_call_stack_path);
	case OBSERVE_FORK:
		return sizeof(struct observed_fork);
	case OBSERVE_EXIT:
	case OBSERVE_RUNNING:
		return sizeof(struct observed_gap);
	case OBSERVE_EXEC:
		return sizeof(struct observed_exec);
	default:
		return sizeof(*told);
	}
}

static void observation_take(struct watcher *watcher, const struct observation *told)
{
	switch (told->kind) {
	case OBSERVE_CALL:
	case OBSERVE_CALL_STACK:
		take_call(watcher, (const struct observed_call *)told, NULL);
		break;
	case OBSERVE_CALL_PATH:
		take_call(watcher, (const struct observed_call *)told,
			  ((const struct observed_call_path *)told)->path);
		break;
	case OBSERVE_CALL_STACK_PATH:
		take_call(watcher, (const struct observed_call *)told,
			  ((const struct observed_call_stack_path *)told)->path);
		break;
	case OBSERVE_LEAVING:
		take_leaving(watcher, (const struct observed_call_stack_path *)told);
		break;
	case OBSERVE_ATTACHED:
		take_attached(watcher, told);
		break;
	case OBSERVE_FORK:
		take_fork(watcher, (const struct observed_fork *)told);
		break;
	case OBSERVE_EXEC:
		take_exec(watcher, (const struct observed_exec *)told);
		break;
	case OBSERVE_RUNNING:
		take_gap(watcher, (const struct observed_gap *)told);
		break;
	case OBSERVE_EXIT:
		take_gap(watcher, (const struct observed_gap *)told);
		take_exit(watcher, told);
		break;
	case OBSERVE_DROPPED:
		take_dropped(watcher, told);
		break;
	case OBSERVE_READY:
		watcher->ready = true;
		watcher->answer = told->arg;
		break;
	case OBSERVE_ANSWERED:
		watcher->answered = true;
		watcher->answer = told->arg;
		break;
	case OBSERVE_LOST:
		take_lost(watcher, told);
		break;
	case OBSERVE_END:
		watcher->cpu = told->arg;
		break;
	}
}

/* Takes what has come, for at most PAUSE_MS; false when there will be no more. */
static bool watcher_read(struct watcher *watcher)
{
	struct pollfd wait = {.fd = watcher->from, .events = POLLIN};
	size_t at = 0;
	ssize_t n;

	if (watcher->ended)
		return false;
	if (poll(&wait, 1, PAUSE_MS) <= 0)
		return true;
	n = read(watcher->from, watcher->buffer + watcher->had, BUFFER - watcher->had);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		watcher->ended = true;
		return false;
	}
	watcher->had += n;
	while (watcher->had - at >= sizeof(struct observation)) {
		const struct observation *told = (void *)(watcher->buffer + at);

		if (told->size < observation_least(told) || told->size > BUFFER / 2 ||
		    told->size % 8) {
			watcher->ended = true;
			return false;
		}
		if (told->size > watcher->had - at)
			break;
		observation_take(watcher, told);
		at += told->size;
	}
	memmove(watcher->buffer, watcher->buffer + at, watcher->had - at);
	watcher->had -= at;
	return true;
}

/* --- cosy-observe -------------------------------------------------------------------------- */

static bool helper_path(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len <= 0)
		return false;
	self[len] = 0;
	slash = strrchr(self, '/');
	return slash &&
	       snprintf(path, size, "%.*s/cosy-observe", (int)(slash - self), self) < (int)size;
}

static int helper_start(struct watcher *watcher, const char *backend)
{
	char path[PATH_MAX];
	char *arguments[] = {"cosy-observe", (char *)backend, NULL};
	posix_spawn_file_actions_t actions;
	int to[2], from[2], error;
	extern char **environ;

	if (!helper_path(path, sizeof(path)))
		return -ENOENT;
	if (pipe2(to, O_CLOEXEC))
		return -errno;
	if (pipe2(from, O_CLOEXEC)) {
		error = -errno;
		close(to[0]);
		close(to[1]);
		return error;
	}
	fcntl(from[0], F_SETPIPE_SZ, BUFFER);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
	/* It needs all three, also where ours was closed and ends at an exec. */
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDERR_FILENO);
	error = -posix_spawn(&watcher->helper, path, &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	watcher->to = to[1];
	watcher->from = from[0];
	if (error)
		return error;
	while (!watcher->ready && watcher_read(watcher))
		;
	if (!watcher->ready)
		return -EACCES;
	return watcher->answer < 0 ? watcher->answer : 0;
}

static void helper_command(struct watcher *watcher, enum observe_order order, pid_t pid)
{
	struct observe_command command = {.order = order, .pid = pid};

	if (write(watcher->to, &command, sizeof(command)) != sizeof(command))
		watcher->ended = true;
}

/* ns of processor time that it has taken. */
static uint64_t helper_time(const struct watcher *watcher)
{
	char name[64];
	uint64_t time = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/schedstat", (int)watcher->helper);
	file = fopen(name, "re");
	if (file && fscanf(file, "%lu", &time) != 1)
		time = 0;
	if (file)
		fclose(file);
	return time;
}

static uint64_t watcher_time(const struct watcher *watcher)
{
	return clock() * (1000000000ULL / CLOCKS_PER_SEC) +
	       (watcher->cpu ? watcher->cpu : helper_time(watcher));
}

/* --- From the first to the last ------------------------------------------------------------ */

static int watcher_attach(void *context, pid_t pid)
{
	struct watcher *watcher = context;

	watcher->answered = false;
	helper_command(watcher, OBSERVE_ATTACH, pid);
	while (!watcher->answered && watcher_read(watcher))
		;
	if (!watcher->answered)
		return -EPIPE;
	return watcher->answer < 0 ? watcher->answer : 0;
}

static int watcher_begin(struct watcher *watcher, enum event_backend backend,
			 const struct record_sink *sink)
{
	int error;

	memset(watcher, 0, offsetof(struct watcher, buffer));
	watcher->to = watcher->from = -1;
	watcher->sink = *sink;
	watcher->observed.thread_size = sizeof(struct bpf_thread);
	watcher->observed.objects = objects_create(sink);
	if (!watcher->observed.objects)
		return -ENOMEM;
	error = helper_start(watcher, backend == EVENT_BACKEND_FENTRY ? "fentry" : "tracepoint");
	return error;
}

/* Stops, and takes the events that are still under way. */
static void watcher_stop(struct watcher *watcher)
{
	helper_command(watcher, OBSERVE_STOP, 0);
	while (watcher_read(watcher))
		;
}

static void watcher_end(struct watcher *watcher)
{
	if (watcher->to >= 0)
		close(watcher->to);
	if (watcher->from >= 0)
		close(watcher->from);
	if (watcher->helper > 0)
		waitpid(watcher->helper, NULL, 0);
	observed_drop(&watcher->observed);
	objects_destroy(watcher->observed.objects);
}

/* Drops threads that are gone: their ends may be among observations that were lost. */
static void watcher_sweep(struct watcher *watcher)
{
	for (unsigned int i = 0; i < OBSERVED_BUCKETS; i++) {
		struct observed_thread **at = &watcher->observed.threads[i];

		while (*at) {
			struct observed_thread *thread = *at;

			if (syscall(SYS_tgkill, thread->process->pid, thread->tid, 0) &&
			    errno == ESRCH)
				thread_destroy(&watcher->observed, at);
			if (*at == thread)
				at = &thread->next;
		}
	}
}

/* Watches until all have ended, or *stop.  Returns false when it was stopped. */
static bool watcher_watch(struct watcher *watcher, const volatile sig_atomic_t *stop)
{
	while (watcher->observed.n_threads) {
		uint64_t before = watcher->calls;

		if (stop && *stop)
			return false;
		if (!watcher_read(watcher))
			break;
		if (watcher->lost && watcher->calls == before)
			watcher_sweep(watcher);
		if (stop)
			record_progress(&watcher->progress, watcher->calls, watcher->lost,
					watcher_time(watcher));
	}
	return true;
}

static int child_watch(struct watcher *watcher, void (*run)(void *), void *argument, bool quiet)
{
	struct child child;
	int error = child_start(&child, run, argument);

	if (error)
		return error;
	watcher->program = quiet ? child.pid : 0;
	error = child_go(&child, watcher_attach(watcher, child.pid));
	watcher->program = child.pid;
	if (error)
		waitpid(child.pid, NULL, 0);
	return error;
}

static int calibrate(struct watcher *watcher, enum event_backend backend,
		     struct event_header *header)
{
	struct calibration calibration;
	struct record_sink sink = {calibration_take, &calibration};
	int error;

	if (!calibration_begin(&calibration))
		return -errno;
	error = watcher_begin(watcher, backend, &sink);
	if (!error)
		error = child_watch(watcher, calibration_run, &calibration, false);
	if (!error) {
		watcher_watch(watcher, NULL);
		waitpid(watcher->program, NULL, 0);
		watcher_stop(watcher);
	}
	watcher_end(watcher);
	calibration_end(&calibration, header);
	return error ? error : calibration.calls ? 0 : -EOPNOTSUPP;
}

struct record_result record_bpf(const struct record_options *options, struct event_header *header,
				const struct record_sink *sink)
{
	struct record_result result = {.reason = "nothing can be watched by BPF programs"};
	struct watcher *watcher = malloc(sizeof(*watcher));
	struct event_end end = {.calls = 0};

	if (!watcher) {
		result.error = -ENOMEM;
		return result;
	}
	header->backend = options->backend;
	result.error = calibrate(watcher, options->backend, header);
	if (result.error) {
		result.refused = true;
		result.refusal = observe_refusal(result.error);
		free(watcher);
		return result;
	}
	result.error = watcher_begin(watcher, options->backend, sink);
	/* Others may have begun to record since it was calibrated. */
	result.refused = result.error;
	result.refusal = observe_refusal(result.error);
	if (!result.error)
		options->say(options->backend);
	if (!result.error && options->program)
		result.error = child_watch(watcher, program_run, options->program, true);
	if (!result.error)
		result.error = record_attach(options, watcher_attach, watcher);
	end.took = clock_now();
	if (!result.error && !options->begun(options->begun_context))
		result.error = -EAGAIN;
	if (!result.error) {
		result.interrupted = !watcher_watch(watcher, options->stop);
		end.took = clock_now() - end.took;
		watcher_stop(watcher);
		record_progress_end(&watcher->progress);
		if (!watcher->cpu)
			fputs("cosy profile: cosy-observe has ended before the recording\n",
			      stderr);
		result.program = watcher->program;
		if (watcher->program && !result.interrupted)
			waitpid(watcher->program, &result.status, 0);
		end.calls = watcher->calls;
		end.cpu = watcher_time(watcher);
		event_tell(&watcher->sink, &end.event, EVENT_END, sizeof(end), 0);
	}
	watcher_end(watcher);
	free(watcher);
	return result;
}
