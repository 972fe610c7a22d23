// SPDX-License-Identifier: MIT
/* fold.c - see fold.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/path.h"
#include "calls.h"
#include "core.h"
#include "fold/depend.h"
#include "fold/files.h"
#include "fold/fold.h"
#include "fold/limits.h"
#include "fold/programs.h"
#include "fold/reads.h"
#include "fold/relax.h"
#include "fold/rows.h"
#include "fold/useless.h"

#define BUCKETS 512

struct fold_thread {
	uint32_t tid;
	struct fold_process *process;
	struct grammar_line *line;
	struct depend depend;
	bool named; /* its last call was one by name, which remembers the name's directories */
	struct fold_thread *next;
};

struct fold {
	struct profile profile;
	struct grammar grammar;
	struct files files;
	struct rows rows;
	struct depends depends;
	struct useless useless;
	struct relax relax;
	struct table sites, stack_ids, object_ids, run_files;
	struct fold_thread *threads[BUCKETS];
	struct fold_process *processes[BUCKETS];
	uint32_t n_threads;
	bool finished;
};

struct fold *fold_create(const struct event_header *header)
{
	struct fold *fold = calloc(1, sizeof(*fold));
	struct profile *profile;

	if (!fold)
		return NULL;
	profile = &fold->profile;
	profile->header = *header;
	profile->sites = calloc(LIMIT_SITES + 1, sizeof(*profile->sites));
	profile->stacks = calloc(LIMIT_STACKS + 1, sizeof(*profile->stacks));
	profile->frames = calloc(LIMIT_FRAMES, sizeof(*profile->frames));
	profile->objects = calloc(LIMIT_OBJECTS + 1, sizeof(*profile->objects));
	profile->sessions = calloc(LIMIT_SESSIONS, sizeof(*profile->sessions));
	profile->run_files = calloc(LIMIT_RUN_FILES + 1, sizeof(*profile->run_files));
	fold->files.grammar = &fold->grammar;
	if (!profile->sites || !profile->stacks || !profile->frames || !profile->objects ||
	    !profile->sessions || !profile->run_files ||
	    !grammar_create(&fold->grammar, profile, LIMIT_SYMBOLS) ||
	    !relax_create(&fold->relax) || !rows_create(&fold->rows, profile) ||
	    !depends_create(&fold->depends, profile) || !table_create(&fold->sites, LIMIT_SITES) ||
	    !table_create(&fold->stack_ids, LIMIT_STACKS) ||
	    !table_create(&fold->object_ids, LIMIT_OBJECTS) ||
	    !table_create(&fold->run_files, LIMIT_RUN_FILES)) {
		fold_destroy(fold);
		return NULL;
	}
	return fold;
}

/* --- Processes and threads --------------------------------------------------------- */

static struct fold_process *process_of(struct fold *fold, uint32_t pid, struct fold_process *parent)
{
	struct fold_process **at = &fold->processes[pid % BUCKETS], *process;

	for (process = *at; process; process = process->next)
		if (process->pid == pid)
			return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->lane = timeline_lane(&fold->profile.timeline, pid);
	process->table = parent ? file_table_copy(parent->table) : file_table_create();
	process->directory = parent ? parent->directory : ++fold->files.serial;
	process->moved = parent && parent->moved;
	process->dearer = parent ? parent->dearer : 0;
	process->next = *at;
	*at = process;
	fold->profile.processes++;
	return process;
}

static void process_end(struct fold *fold, struct fold_process *process)
{
	struct fold_process **at = &fold->processes[process->pid % BUCKETS];

	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	timeline_end(&fold->profile.timeline, process->lane);
	file_table_drop(&fold->files, process->table);
	free(process);
}

static struct fold_thread *thread_find(struct fold *fold, uint32_t tid)
{
	struct fold_thread *thread = fold->threads[tid % BUCKETS];

	while (thread && thread->tid != tid)
		thread = thread->next;
	return thread;
}

static void thread_flush(struct fold *fold, struct fold_thread *thread)
{
	for (uint32_t i = 0; i < thread->line->n; i++)
		rows_count(&fold->rows, &thread->line->nodes[i], thread->process->pid);
	thread->line->n = 0;
	thread->depend.n = 0;
}

static void thread_end(struct fold *fold, struct fold_thread *thread)
{
	struct fold_thread **at = &fold->threads[thread->tid % BUCKETS];

	while (*at != thread)
		at = &(*at)->next;
	*at = thread->next;
	thread_flush(fold, thread);
	if (!--thread->process->threads)
		process_end(fold, thread->process);
	free(thread->line);
	free(thread);
	fold->n_threads--;
}

static struct fold_thread *thread_begin(struct fold *fold, uint32_t tid,
					struct fold_process *process)
{
	struct fold_thread *thread;

	if (!process || fold->n_threads == LIMIT_THREADS)
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->line = line_create(LIMIT_LINE);
	if (!thread->line) {
		free(thread);
		return NULL;
	}
	thread->tid = tid;
	thread->process = process;
	process->threads++;
	process->threaded |= process->threads > 1;
	thread->next = fold->threads[tid % BUCKETS];
	fold->threads[tid % BUCKETS] = thread;
	fold->n_threads++;
	fold->profile.threads++;
	return thread;
}

/* Ends a process that has no thread. */
static void process_check(struct fold *fold, struct fold_process *process)
{
	if (process && !process->threads)
		process_end(fold, process);
}

static struct fold_thread *thread_of(struct fold *fold, uint32_t tid, uint32_t pid)
{
	struct fold_thread *thread = thread_find(fold, tid);
	struct fold_process *process;

	if (thread && thread->process->pid == pid)
		return thread;
	/* The number is another thread's now; the previous thread's end was not recorded. */
	if (thread)
		thread_end(fold, thread);
	process = process_of(fold, pid, NULL);
	thread = thread_begin(fold, tid, process);
	process_check(fold, process);
	return thread;
}

static void take_fork(struct fold *fold, const struct event_fork *fork)
{
	struct fold_thread *old = thread_find(fold, fork->event.tid);
	struct fold_process *parent = NULL, *process;

	if (old)
		thread_end(fold, old);
	for (process = fold->processes[fork->parent % BUCKETS]; process; process = process->next)
		if (process->pid == fork->parent)
			parent = process;
	process = process_of(fold, fork->pid, parent);
	if (process && parent && !process->threads) {
		process->program = parent->program;
		process->first = parent->first;
		strcpy(process->started, parent->started);
	}
	if (process && parent && process != parent && fork->event.flags & EVENT_FORK_FILES &&
	    process->table != parent->table) {
		file_table_drop(&fold->files, process->table);
		process->table = parent->table;
		if (process->table)
			process->table->references++;
	}
	thread_begin(fold, fork->event.tid, process);
	process_check(fold, process);
}

/* Closes files with O_CLOEXEC, and unshares the fd table. */
static void take_exec(struct fold *fold, const struct event_exec *exec)
{
	struct fold_thread *thread = thread_of(fold, exec->event.tid, exec->pid);
	struct file_table *table;
	const char *path = event_path(&exec->event);
	bool first = path && !fold->profile.program[0];

	if (first)
		strcpy(fold->profile.program, path);
	fold->profile.run.programs++;
	if (!thread)
		return;
	thread_flush(fold, thread);
	thread->process->first = first;
	thread->process->started[0] = 0;
	if (path)
		thread->process->program = programs_add(&fold->profile.programs, path);
	if (path && thread->process->lane)
		strcpy(fold->profile.timeline.lanes[thread->process->lane].program, path);
	table = thread->process->table;
	thread->process->thread_credit = 0;
	thread->process->dearer = 0;
	thread->process->late = false;
	thread->process->bus_handled = false;
	thread->process->threaded = thread->process->threads > 1;
	if (table && table->references > 1) {
		thread->process->table = file_table_copy(table);
		file_table_drop(&fold->files, table);
		table = thread->process->table;
	}
	for (uint32_t i = 0; table && i < table->n; i++) {
		struct open_file *file = table->files[i];

		if (file && file->flags & O_CLOEXEC)
			files_set(&fold->files, thread->process, i, NULL);
		else if (file)
			file->opened = false;
	}
}

/* Counts computing that no call follows: it belongs to no call and no loop. */
static void take_gap(struct fold *fold, const struct event_gap *gap)
{
	struct fold_thread *thread = thread_find(fold, gap->event.tid);
	struct profile *profile = &fold->profile;
	uint64_t time = gap->event.time;

	profile->sums.user += gap->user;
	if (!profile->first)
		profile->first = time > gap->user ? time - gap->user : time;
	if (time > profile->last)
		profile->last = time;
	if (thread && thread->process->pid == gap->pid)
		timeline_gap(&profile->timeline, thread->process->lane, time, gap->user);
}

static void take_exit(struct fold *fold, const struct event_exit *exit)
{
	struct fold_thread *thread = thread_find(fold, exit->event.tid);

	if (thread && thread->process->pid == exit->pid)
		thread_end(fold, thread);
}

/* --- Objects and stacks --------------------------------------------------------------- */

static void take_object(struct fold *fold, const struct event_object *object)
{
	struct profile *profile = &fold->profile;
	const char *path = event_path(&object->event);
	bool new;
	uint32_t number = table_add(&fold->object_ids, table_mix(9, object->id), &new);

	if (!new)
		return;
	profile->n_objects = number;
	strcpy(profile->objects[number].path, path ? path : "");
	profile->objects[number].libc = object->libc;
	profile->objects[number].syscall = object->syscall;
}

static void take_stack(struct fold *fold, const struct event_stack *told)
{
	struct profile *profile = &fold->profile;
	struct stack *stack;
	uint32_t number;
	bool new;

	if (profile->n_frames + told->frames > LIMIT_FRAMES)
		return;
	number = table_add(&fold->stack_ids, table_mix(10, told->id), &new);
	if (!new)
		return;
	profile->n_stacks = number;
	stack = &profile->stacks[number];
	stack->first = profile->n_frames;
	stack->len = told->frames;
	stack->user = stack->len;
	for (uint32_t i = 0; i < told->frames; i++) {
		struct event_frame frame = told->frame[i];

		frame.object = table_find(&fold->object_ids, table_mix(9, frame.object));
		if (!i && frame.object && frame.function &&
		    frame.function == profile->objects[frame.object].syscall)
			stack->raw = true;
		if (stack->user == stack->len && frame.object &&
		    !profile->objects[frame.object].libc)
			stack->user = i;
		profile->frames[profile->n_frames++] = frame;
	}
}

static enum call_origin stack_origin(const struct profile *profile, uint32_t number)
{
	const struct stack *stack = &profile->stacks[number];

	/* Number 0 is a stack without known frames. */
	if (!number || !stack->len)
		return ORIGIN_PROGRAM;
	if (!stack->user || stack->raw)
		return ORIGIN_BARE;
	/* The calling function was itself called from libc. */
	return stack->user > 1 ? ORIGIN_LIBC : ORIGIN_PROGRAM;
}

static uint32_t site_of(struct fold *fold, const struct event_call *call, uint32_t stack,
			unsigned int file)
{
	struct profile *profile = &fold->profile;
	uint64_t hash = table_mix(11, (uint64_t)call->nr << 8 | file);
	struct site *site;
	bool new;
	uint32_t number;

	/* A helper's callers are sites of their own, so hash the place and its caller. */
	if (stack) {
		const struct stack *of = &profile->stacks[stack];

		for (uint32_t i = of->user; i < of->len && i < of->user + 2; i++) {
			const struct event_frame *frame = &profile->frames[of->first + i];

			hash = table_mix(table_mix(hash, frame->object), frame->address);
		}
	}
	number = table_add(&fold->sites, hash, &new);
	if (!new)
		return number;
	site = &profile->sites[number];
	profile->n_sites = number;
	site->nr = call->nr;
	site->file = file;
	site->libc = stack && profile->stacks[stack].len &&
		     profile->stacks[stack].user == profile->stacks[stack].len;
	site->stack = stack && !site->libc && profile->stacks[stack].len ? stack : 0;
	return number;
}

/* --- Calls ------------------------------------------------------------------------------ */

static enum call_class class_of_read(const struct event_call *call, unsigned int file)
{
	if (file != FILE_REGULAR)
		return CLASS_RECEIVE;
	return call->ret <= 1024    ? CLASS_READ_SMALL
	       : call->ret <= 16384 ? CLASS_READ
				    : CLASS_READ_LARGE;
}

/* True if a call of the stat family names a descriptor: libc implements fstat by newfstatat. */
static bool call_is_of_descriptor(const struct event_call *call)
{
	const char *path = event_path(&call->event);

	return !path || !*path;
}

/* True if the call has a specialised version that looks names up (kmod/fast/lookup.h). */
static bool call_is_named(const struct event_call *call)
{
	if (call->nr == SYS_getdents64)
		return true;
	return call_kind(call->nr)->specialised && call_path(call->nr) >= 0 &&
	       !call_is_of_descriptor(call);
}

/* True if the path is in a file system whose names the kernel validates each time they are used. */
static bool path_is_validated(const char *path)
{
	return !strncmp(path, "/proc/", strlen("/proc/")) ||
	       !strncmp(path, "/sys/", strlen("/sys/"));
}

/*
 * True if a specialised version looks up the path (kmod/fast/lookup.c): its last component is a
 * name, and there are no empty ones or `.` on the way.  A path of several components also needs an
 * earlier call by name in the thread, without an ordinary call in between: that drops the
 * directories on the way.
 */
static bool path_is_of_names(const char *path, bool named)
{
	if ((!named && strchr(path, '/')) || path_is_validated(path))
		return false;
	if (!strncmp(path, "./", 2))
		path += 2;
	else if (*path == '/')
		path++;
	for (const char *name = path;; name = strchr(name, '/') + 1) {
		size_t len = strcspn(name, "/");
		bool up = len == 2 && !strncmp(name, "..", 2);

		if (!len || (len == 1 && *name == '.') || (up && !name[len]))
			return false;
		if (!name[len])
			return true;
	}
}

static enum call_class class_of_stat(const struct event_call *call, bool named)
{
	if (call_is_of_descriptor(call))
		return call->nr == SYS_newfstatat ? CLASS_QUESTION : CLASS_STAT;
	return path_is_of_names(event_path(&call->event), named) ? CLASS_STAT : CLASS_STAT_PATH;
}

/* The specialised version overwrites existing bytes; only the kernel makes a file longer. */
static enum call_class class_of_write(const struct open_file *file)
{
	if (!file || file->kind != FILE_REGULAR)
		return CLASS_SEND;
	return file->extends ? CLASS_APPEND : CLASS_WRITE;
}

/* `named`: the thread remembers the directories of names. */
static enum call_class class_of(const struct event_call *call, const struct open_file *open_file,
				unsigned int file, bool named)
{
	const struct call_kind *kind = call_kind(call->nr);

	if (kind->denied)
		return CLASS_PROCESS;
	if (call->event.flags & EVENT_SLEPT && kind->flags & COSY_CALL_BLOCKS)
		return CLASS_WAIT;
	switch (kind->flags & COSY_CLASS_MASK) {
	case COSY_CLASS_PURE:
		return CLASS_PURE;
	case COSY_CLASS_READ:
		return class_of_read(call, file);
	case COSY_CLASS_RECEIVE:
		return CLASS_RECEIVE;
	case COSY_CLASS_STAT:
		return class_of_stat(call, named);
	case COSY_CLASS_SEEK:
		return CLASS_SEEK;
	case COSY_CLASS_WRITE:
		return class_of_write(open_file);
	case COSY_CLASS_SEND:
		return CLASS_SEND;
	case COSY_CLASS_OPEN:
		return CLASS_OPEN;
	case COSY_CLASS_CLOSE:
		return CLASS_CLOSE;
	case COSY_CLASS_QUESTION:
		return CLASS_QUESTION;
	case COSY_CLASS_NAME:
		return CLASS_NAME;
	case COSY_CLASS_PROCESS:
		return CLASS_PROCESS;
	default:
		return CLASS_OTHER;
	}
}

static void sums_of_call(struct sums *sums, const struct event_call *call, enum call_class class)
{
	memset(sums, 0, sizeof(*sums));
	sums->calls = 1;
	sums->errors = call->ret < 0;
	sums->cpu = call->cpu;
	sums->user = call->user;
	sums->took = call->took;
	sums->slept = call->event.flags & EVENT_SLEPT;
	sums->paths = call_kind(call->nr)->flags & COSY_CALL_PATH &&
		      !(call->nr == SYS_newfstatat && call_is_of_descriptor(call));
	sums->of[class].calls = 1;
	sums->of[class].cpu = call->cpu;
}

static bool call_opens(const struct event_call *call)
{
	return (call_kind(call->nr)->flags & COSY_CLASS_MASK) == COSY_CLASS_OPEN;
}

/* Records an opened file, whose name is in `directory` (by_descriptor: in that of a descriptor). */
static void take_opened(struct fold *fold, struct fold_process *process, uint64_t directory,
			bool by_descriptor, const struct event_call *call, const struct sums *sums,
			enum call_origin origin)
{
	struct open_file *file = files_get(process, call->ret);

	if (!file || !file->opened)
		return;
	if (!by_descriptor)
		files_session(&fold->files, file, call, sums);
	relax_opened(&fold->relax, process, file, directory, call, origin);
}

/* Records the path of an execve, whose event as a call comes after the event of the exec. */
static void take_started(struct fold_process *process, const struct event_call *call)
{
	const char *path = event_path(&call->event);

	if (call->ret || (call->nr != SYS_execve && call->nr != SYS_execveat))
		return;
	/* Ignore a name that means another file in each process. */
	if (!path || call->event.flags & EVENT_PATH_CUT || path_is_own(path))
		path = "";
	strcpy(process->started, path);
}

static void take_call(struct fold *fold, const struct event_call *call)
{
	struct profile *profile = &fold->profile;
	struct fold_thread *thread = thread_of(fold, call->event.tid, call->pid);
	struct open_file *file;
	unsigned int kind = FILE_NONE;
	enum call_origin origin;
	uint64_t directory;
	uint32_t stack, site, symbol;
	enum call_class class;
	struct grammar_node left;
	struct sums sums;

	if (!profile->first || call->event.time < profile->first)
		profile->first = call->event.time;
	if (call->event.time > profile->last)
		profile->last = call->event.time;
	if (!thread) {
		profile->forgotten++;
		return;
	}
	take_started(thread->process, call);
	file = files_of_call(thread->process, call);
	if (file)
		kind = file->kind;
	else if (call_descriptor(call->nr) >= 0 && !event_path(&call->event))
		kind = FILE_OTHER;
	class = class_of(call, file, kind, thread->named);
	/* An ordinary call drops what is remembered, a specialised one does not. */
	thread->named = call_is_named(call) || (thread->named && call_kind(call->nr)->specialised);
	sums_of_call(&sums, call, class);
	sums_add(&profile->sums, &sums);
	timeline_count(&profile->timeline, thread->process->lane, call);
	profile->programs.of[thread->process->program].calls++;
	stack = table_find(&fold->stack_ids, table_mix(10, call->stack));
	origin = stack_origin(profile, stack);
	directory = relax_directory(thread->process, file);
	site = site_of(fold, call, stack, kind);
	if (!site) {
		profile->forgotten++;
		files_call(&fold->files, thread->process, call);
		return;
	}
	sums_add(&profile->sites[site].all, &sums);
	useless_count(&fold->useless, profile, thread->process, file, call, origin, site);
	reads_count(profile, &fold->run_files, thread->process, file, call, origin);
	relax_count(&fold->relax, thread->process, file, call, origin);
	depend_count(&fold->depends, &thread->depend, call, site, file);
	if (file)
		files_session(&fold->files, file, call, &sums);
	files_call(&fold->files, thread->process, call);
	if (call->ret >= 0 && call_opens(call))
		take_opened(fold, thread->process, directory, file, call, &sums, origin);
	/* Leave the allocator's calls out of loops: they come at irregular times. */
	symbol = call_memory(call->nr, call->args) ? 0 : grammar_site(&fold->grammar, site);
	if (!symbol)
		sums_add(&profile->sites[site].outside, &sums);
	else if (grammar_add(&fold->grammar, thread->line, symbol, &sums, &left))
		rows_count(&fold->rows, &left, call->pid);
}

static void take_descriptor(struct fold *fold, const struct event_descriptor *told)
{
	struct fold_thread *thread = thread_of(fold, told->event.tid, told->pid);
	struct open_file *file;

	if (!thread || told->fd < 0)
		return;
	file = open_file_create(&fold->files, file_kind_of_path(event_path(&told->event)));
	if (!file)
		return;
	file->flags = told->open_flags;
	/* Assume that the process opened all files except standard input, output and error. */
	file->opened = file->earlier = told->fd > STDERR_FILENO;
	file->extends = told->open_flags & O_APPEND;
	if (told->open_flags & O_DIRECTORY)
		file->kind = FILE_DIRECTORY;
	file->position = told->position;
	file->position_known = told->position >= 0 && file->kind == FILE_REGULAR;
	files_set(&fold->files, thread->process, told->fd, file);
	files_drop(&fold->files, file);
}

void fold_take(void *context, const struct event *event)
{
	struct fold *fold = context;
	const struct event_end *end = (const struct event_end *)event;

	switch (event->kind) {
	case EVENT_CALL:
		take_call(fold, (const struct event_call *)event);
		break;
	case EVENT_OBJECT:
		take_object(fold, (const struct event_object *)event);
		break;
	case EVENT_STACK:
		take_stack(fold, (const struct event_stack *)event);
		break;
	case EVENT_DESCRIPTOR:
		take_descriptor(fold, (const struct event_descriptor *)event);
		break;
	case EVENT_FORK:
		take_fork(fold, (const struct event_fork *)event);
		break;
	case EVENT_EXEC:
		take_exec(fold, (const struct event_exec *)event);
		break;
	case EVENT_EXIT:
		take_exit(fold, (const struct event_exit *)event);
		break;
	case EVENT_GAP:
		take_gap(fold, (const struct event_gap *)event);
		break;
	case EVENT_LOST:
		fold->profile.lost += ((const struct event_lost *)event)->calls;
		break;
	case EVENT_END:
		fold->profile.recorded = end->calls;
		fold->profile.took = end->took;
		fold->profile.recorder_cpu = end->cpu;
		break;
	}
}

static void fold_end_all(struct fold *fold)
{
	for (uint32_t i = 0; i < BUCKETS; i++)
		while (fold->threads[i])
			thread_end(fold, fold->threads[i]);
}

const struct profile *fold_finish(struct fold *fold)
{
	if (!fold->finished) {
		for (uint32_t i = 0; i < BUCKETS; i++)
			for (struct fold_process *at = fold->processes[i]; at; at = at->next)
				fold->profile.running++;
		/* A truncated recording has no end event. */
		if (!fold->profile.took)
			fold->profile.took = fold->profile.last - fold->profile.first;
		fold_end_all(fold);
		rows_finish(&fold->rows);
	}
	fold->finished = true;
	return &fold->profile;
}

void fold_destroy(struct fold *fold)
{
	struct profile *profile = &fold->profile;

	fold_end_all(fold);
	grammar_destroy(&fold->grammar);
	rows_destroy(&fold->rows);
	relax_destroy(&fold->relax);
	depends_destroy(&fold->depends);
	table_destroy(&fold->sites);
	table_destroy(&fold->stack_ids);
	table_destroy(&fold->object_ids);
	table_destroy(&fold->run_files);
	free(profile->sites);
	free(profile->symbols);
	free(profile->bodies);
	free(profile->stacks);
	free(profile->frames);
	free(profile->objects);
	free(profile->rows);
	free(profile->edges);
	free(profile->sessions);
	free(profile->run_files);
	free(fold);
}
