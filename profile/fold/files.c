// SPDX-License-Identifier: MIT
/* files.c - see files.h. */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "fold/files.h"
#include "fold/limits.h"
#include "fold/relax.h"

#define SESSION_LINE 16 /* nodes */

struct open_file *open_file_create(struct files *files, unsigned int kind)
{
	struct open_file *file;

	if (files->n_open >= LIMIT_OPEN)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (file) {
		file->references = 1;
		file->serial = ++files->serial;
		file->kind = kind;
		files->n_open++;
	}
	return file;
}

/* --- Sessions --------------------------------------------------------------------- */

/* Sites that no stack has: a call on a kind of file. */
static uint32_t session_symbol(struct grammar *grammar, unsigned int nr, unsigned int kind)
{
	struct profile *profile = grammar->profile;
	bool new;
	uint32_t number =
		table_add(&grammar->symbols, table_mix(3, (uint64_t)nr << 8 | kind), &new);

	if (new) {
		profile->n_symbols = number;
		/* Numbers of calls, in place of sites: a session needs no more (session_call). */
		profile->symbols[number] =
			(struct symbol){.site = UINT32_MAX - nr, .match = number};
	}
	return number;
}

void files_session(struct files *files, struct open_file *file, const struct event_call *call,
		   const struct sums *sums)
{
	uint32_t symbol = session_symbol(files->grammar, call->nr, file->kind);
	struct grammar_node left;

	file->calls++;
	file->cpu += call->cpu;
	if (!file->line)
		file->line = line_create(SESSION_LINE);
	if (file->line && symbol)
		grammar_add(files->grammar, file->line, symbol, sums, &left);
}

static void session_end(struct files *files, const struct open_file *file)
{
	struct profile *profile = files->grammar->profile;
	const struct grammar_line *line = file->line;
	struct session *session = profile->sessions;
	uint32_t i;

	if (!line || !line->n)
		return;
	for (i = 0; i < profile->n_sessions; i++, session++) {
		uint32_t j = 0;

		if (session->file != file->kind || session->len != line->n ||
		    session->cut != line->overflown)
			continue;
		while (j < line->n && profile->bodies[session->first + j] == line->nodes[j].symbol)
			j++;
		if (j == line->n)
			break;
	}
	if (i == profile->n_sessions) {
		if (i == LIMIT_SESSIONS || profile->n_bodies + line->n > files->grammar->max_bodies)
			return;
		profile->n_sessions++;
		*session = (struct session){.file = file->kind,
					    .cut = line->overflown,
					    .first = profile->n_bodies,
					    .len = line->n};
		for (uint32_t j = 0; j < line->n; j++)
			profile->bodies[profile->n_bodies++] = line->nodes[j].symbol;
	}
	session->times++;
	session->calls += file->calls;
	session->cpu += file->cpu;
}

void files_drop(struct files *files, struct open_file *file)
{
	if (!file || --file->references)
		return;
	relax_closed(files->grammar->profile, file);
	session_end(files, file);
	free(file->line);
	free(file->path);
	free(file);
	files->n_open--;
}

/* --- Tables ------------------------------------------------------------------------ */

struct file_table *file_table_create(void)
{
	struct file_table *table = calloc(1, sizeof(*table));

	if (table)
		table->references = 1;
	return table;
}

static bool file_table_grow(struct file_table *table, uint32_t n)
{
	struct open_file **grown;

	if (n <= table->n)
		return true;
	n = n < 16 ? 16 : 2 * n;
	grown = realloc(table->files, n * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + table->n, 0, (n - table->n) * sizeof(*grown));
	table->files = grown;
	table->n = n;
	return true;
}

struct file_table *file_table_copy(struct file_table *from)
{
	struct file_table *table = file_table_create();

	if (!table || !from || !file_table_grow(table, from->n))
		return table;
	for (uint32_t i = 0; i < from->n; i++) {
		table->files[i] = from->files[i];
		if (table->files[i]) {
			table->files[i]->references++;
			table->files[i]->shared = true;
		}
	}
	return table;
}

void file_table_drop(struct files *files, struct file_table *table)
{
	if (!table || --table->references)
		return;
	for (uint32_t i = 0; i < table->n; i++)
		files_drop(files, table->files[i]);
	free(table->files);
	free(table);
}

struct open_file *files_get(const struct fold_process *process, int64_t fd)
{
	struct file_table *table = process->table;

	return table && fd >= 0 && fd < table->n ? table->files[fd] : NULL;
}

void files_set(struct files *files, struct fold_process *process, int64_t fd,
	       struct open_file *file)
{
	struct file_table *table = process->table;

	if (!table || fd < 0 || fd >= FILES_MAX_DESCRIPTOR ||
	    (file ? !file_table_grow(table, fd + 1) : fd >= table->n))
		return;
	if (file)
		file->references++;
	files_drop(files, table->files[fd]);
	table->files[fd] = file;
}

/* Makes a new file at `fd`. */
static struct open_file *files_open(struct files *files, struct fold_process *process, int64_t fd,
				    unsigned int kind)
{
	struct open_file *file = open_file_create(files, kind);

	if (!file)
		return NULL;
	file->opened = true;
	files_set(files, process, fd, file);
	file->references--;
	/* The table has no room for it. */
	if (!file->references) {
		free(file);
		files->n_open--;
		return NULL;
	}
	return file;
}

/* --- Calls ------------------------------------------------------------------------- */

static bool path_begins(const char *path, const char *with)
{
	return !strncmp(path, with, strlen(with));
}

enum file_kind file_kind_of_path(const char *path)
{
	if (!path)
		return FILE_REGULAR;
	if (path_begins(path, "socket:"))
		return FILE_SOCKET;
	if (path_begins(path, "pipe:"))
		return FILE_PIPE;
	if (path_begins(path, "anon_inode:"))
		return FILE_OTHER;
	if (path_begins(path, "/dev/"))
		return path_begins(path, "/dev/shm/") ? FILE_REGULAR : FILE_DEVICE;
	if (path_begins(path, "/proc/") || path_begins(path, "/sys/"))
		return FILE_PROC;
	return FILE_REGULAR;
}

static bool is_dup(const struct event_call *call)
{
	return call->nr == SYS_dup || call->nr == SYS_dup2 || call->nr == SYS_dup3 ||
	       (call->nr == SYS_fcntl &&
		(call->args[1] == F_DUPFD || call->args[1] == F_DUPFD_CLOEXEC));
}

struct open_file *files_of_call(const struct fold_process *process, const struct event_call *call)
{
	int argument = call_descriptor(call->nr);

	return argument < 0 ? NULL : files_get(process, (int)call->args[argument]);
}

/* Returns a hash of the process and the name if a file is opened for reading only, or 0. */
static uint64_t files_asked(const struct fold_process *process, const struct event_call *call,
			    const char *path)
{
	uint64_t ret = table_mix(15, process->pid),
		 flags = call->args[call->nr != SYS_open ? 2 : 1];

	if (!path || call->event.flags & EVENT_PATH_CUT ||
	    (call->nr != SYS_open && call->nr != SYS_openat) || (flags & O_ACCMODE) != O_RDONLY ||
	    flags & (O_DIRECTORY | O_PATH) ||
	    (*path != '/' && call->nr == SYS_openat && (int)call->args[0] != AT_FDCWD))
		return 0;
	if (*path != '/')
		ret = table_mix(ret, process->directory);
	while (*path)
		ret = table_mix(ret, *path++);
	return ret | 1;
}

static void files_opened(struct files *files, struct fold_process *process,
			 const struct event_call *call)
{
	uint64_t flags = call->nr == SYS_open	 ? call->args[1]
			 : call->nr == SYS_creat ? O_CREAT | O_WRONLY | O_TRUNC
						 : call->args[2];
	const char *path = event_path(&call->event);
	struct open_file *file;

	/* openat2 has its flags in memory, so nothing that depends on them is known. */
	if (call->nr == SYS_openat2)
		flags = O_RDWR;
	file = files_open(files, process, call->ret,
			  flags & O_DIRECTORY ? FILE_DIRECTORY : file_kind_of_path(path));
	if (!file)
		return;
	file->flags = flags;
	file->asked = files_asked(process, call, path);
	if (path && file->kind == FILE_REGULAR && (flags & O_ACCMODE) == O_RDONLY &&
	    !(call->event.flags & EVENT_PATH_CUT) &&
	    (*path == '/' ||
	     (!process->moved && (call->nr == SYS_open || (int)call->args[0] == AT_FDCWD))))
		file->path = strdup(path);
	file->position_known = !(flags & O_APPEND);
	file->extends = flags & (O_APPEND | O_TRUNC | O_EXCL);
}

/* read, write and lseek of a position that is known. */
static void files_moved(struct open_file *file, const struct event_call *call)
{
	switch (call->nr) {
	case SYS_lseek:
		/* The position moves to within the written part. */
		if (call->ret != file->position)
			file->extends = file->flags & O_APPEND;
		file->position = call->ret;
		file->position_known = call->ret >= 0;
		break;
	case SYS_read:
	case SYS_write:
	case SYS_readv:
	case SYS_writev:
		if (call->ret > 0)
			file->position = (uint64_t)file->position + call->ret;
		if (file->flags & O_APPEND && call->nr != SYS_read && call->nr != SYS_readv)
			file->position_known = false;
		break;
	case SYS_sendfile:
	case SYS_splice:
	case SYS_copy_file_range:
	case SYS_preadv2:
	case SYS_pwritev2:
	case SYS_getdents64:
	case SYS_getdents:
		file->position_known = false;
		break;
	}
}

static void files_close_range(struct files *files, struct fold_process *process,
			      const struct event_call *call)
{
	uint64_t last = call->args[1];

	if (!process->table || call->args[2])
		return;
	for (uint64_t fd = call->args[0]; fd < process->table->n && fd <= last; fd++)
		files_set(files, process, fd, NULL);
}

void files_call(struct files *files, struct fold_process *process, const struct event_call *call)
{
	struct open_file *file = files_of_call(process, call);

	if (file)
		files_moved(file, call);
	if (call->ret < 0) {
		/* The descriptor is closed even if the call fails. */
		if (call->nr == SYS_close)
			files_set(files, process, call->args[0], NULL);
		return;
	}
	if (is_dup(call)) {
		if (file && files_get(process, call->ret) != file)
			files_set(files, process, call->ret, file);
		return;
	}
	switch (call->nr) {
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat:
		files_opened(files, process, call);
		break;
	case SYS_close:
		files_set(files, process, call->args[0], NULL);
		break;
	case SYS_chdir:
	case SYS_fchdir:
		process->directory = ++files->serial;
		process->moved = true;
		break;
	case SYS_close_range:
		files_close_range(files, process, call);
		break;
	case SYS_socket:
	case SYS_accept:
	case SYS_accept4:
		files_open(files, process, call->ret, FILE_SOCKET);
		break;
	case SYS_memfd_create:
		files_open(files, process, call->ret, FILE_REGULAR);
		break;
	case SYS_epoll_create:
	case SYS_epoll_create1:
	case SYS_eventfd2:
	case SYS_timerfd_create:
	case SYS_signalfd4:
	case SYS_inotify_init1:
		files_open(files, process, call->ret, FILE_OTHER);
		break;
	}
}
