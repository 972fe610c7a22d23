// SPDX-License-Identifier: MIT
/* useless.c - see useless.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "core.h"
#include "fold/useless.h"

static bool is_wait(const struct event_call *call)
{
	switch (call->nr) {
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return true;
	default:
		return false;
	}
}

static unsigned int call_flags(const struct event_call *call)
{
	return call_kind(call->nr)->flags;
}

/* True if the call queries the identity of the process or its user. */
static bool is_identity(const struct event_call *call)
{
	unsigned int flags = call_flags(call);

	return flags & COSY_CALL_QUERY && flags & COSY_CALL_NO_ERROR;
}

/* True if the call queries a name and changes nothing. */
static bool is_look_up(const struct event_call *call)
{
	unsigned int flags = call_flags(call);

	return flags & COSY_CALL_QUERY && flags & COSY_CALL_PATH;
}

/*
 * True if the call queries a name's attributes.  Sets *follows to whether the call follows a
 * symbolic link.
 */
static bool is_stat(const struct event_call *call, bool *follows)
{
	*follows = call->nr != SYS_lstat;
	if (call->nr == SYS_newfstatat)
		*follows = !(call->args[3] & AT_SYMLINK_NOFOLLOW);
	else if (call->nr == SYS_statx)
		*follows = !(call->args[2] & AT_SYMLINK_NOFOLLOW);
	return call->nr == SYS_stat || call->nr == SYS_lstat || call->nr == SYS_newfstatat ||
	       call->nr == SYS_statx;
}

/* True if the call is the C library's check whether the time zone has changed. */
static bool is_zone(const struct event_call *call)
{
	const char *path = event_path(&call->event);

	return path && !strcmp(path, "/etc/localtime");
}

/* Hashes `kind` and the call's name, with its directory if it is relative.  0: there is no name. */
static uint64_t question_of(const struct fold_process *process, const struct open_file *file,
			    const struct event_call *call, uint64_t kind)
{
	const char *path = event_path(&call->event);
	uint64_t question = table_mix(table_mix(6, call->pid), kind);

	if (!path || !*path)
		return 0;
	if (*path != '/')
		question = table_mix(question, file ? file->serial : process->directory);
	while (*path)
		question = table_mix(question, *path++);
	return question;
}

/* Records the answer to a question.  True if it equals the previous answer. */
static bool useless_known(struct useless *useless, uint64_t question, uint64_t answer)
{
	uint64_t *known = &useless->names[question % LIMIT_NAMES], now;
	bool again;

	now = table_mix(question, answer) | 1;
	again = *known == now;
	*known = now;
	return again;
}

/*
 * True if the call has the same result as the previous call with the same question.  newfstatat and
 * statx make two questions of a name: the attributes of a link, and those of its target.
 */
static bool useless_again(struct useless *useless, const struct fold_process *process,
			  const struct open_file *file, const struct event_call *call)
{
	bool follows, stats = is_stat(call, &follows);
	uint64_t question =
		question_of(process, file, call, stats && !follows ? 1000 + call->nr : call->nr);

	return question && useless_known(useless, question, call->ret);
}

/* True after stat of a name that this lstat queries again, or the reverse, if both found it. */
static bool useless_twice(struct useless *useless, const struct fold_process *process,
			  const struct open_file *file, const struct event_call *call)
{
	uint64_t question = question_of(process, file, call, 2000), *known;
	bool follows, other;

	is_stat(call, &follows);
	if (!question || call->ret)
		return false;
	known = &useless->names[question % LIMIT_NAMES];
	other = *known == (table_mix(question, !follows) | 1);
	/* Each result pairs with one of the other kind; a repeated pair counts as AGAIN. */
	*known = other ? 0 : table_mix(question, follows) | 1;
	return other;
}

static bool is_open(const struct event_call *call)
{
	return call->nr == SYS_open || call->nr == SYS_openat;
}

static bool opens_directory(const struct event_call *call)
{
	return call->args[call->nr == SYS_open ? 1 : 2] & O_DIRECTORY;
}

/*
 * Adds the call's result to the digest of the file's contents.  Calls that may change or move the
 * file otherwise make the digest unsure.
 */
static void contents_note(struct open_file *file, const struct event_call *call)
{
	bool reads = call->nr == SYS_read || call->nr == SYS_pread64;

	switch (call->nr) {
	case SYS_read:
	case SYS_pread64:
	case SYS_lseek:
		file->ended |= reads && call->ret >= 0 && (uint64_t)call->ret < call->args[2];
		file->unsure |= call->ret < 0 || (reads && call->ret > 0 && !call->made);
		file->contents = table_mix(table_mix(file->contents, call->ret), call->made) | 1;
		break;
	case SYS_fstat:
	case SYS_newfstatat:
	case SYS_fadvise64:
	case SYS_fcntl:
	case SYS_ioctl:
	case SYS_close:
		break;
	default:
		file->unsure = true;
	}
}

static void useless_found(struct profile *profile, enum useless_kind kind,
			  const struct event_call *call, uint32_t site)
{
	struct site *at = &profile->sites[site];

	profile->useless[kind].calls++;
	profile->useless[kind].cpu += call->cpu;
	at->useless++;
	at->useless_cpu += call->cpu;
	if (at->useless > profile->useless[kind].site_calls) {
		profile->useless[kind].site_calls = at->useless;
		profile->useless[kind].site = site;
	}
}

/*
 * At the close of a file, counts all its calls as useless if they read it whole, and its contents
 * were the same the last time.
 */
static void useless_reread(struct useless *useless, struct profile *profile,
			   const struct open_file *file, const struct event_call *call,
			   uint32_t site)
{
	bool again;

	if (!file->asked || !file->contents || file->unsure || !file->ended || file->shared ||
	    file->references > 1)
		return;
	again = useless_known(useless, file->asked, file->contents);
	profile->useless[USELESS_REREAD].of += file->calls + 1;
	if (!again)
		return;
	useless_found(profile, USELESS_REREAD, call, site);
	profile->useless[USELESS_REREAD].calls += file->calls;
	profile->useless[USELESS_REREAD].cpu += file->cpu;
}

/*
 * Counts the thread's last wait as READY instead of WAIT if this call reads or writes a regular
 * file: such a file is always ready.
 */
static void useless_ready(struct useless *useless, struct profile *profile,
			  const struct open_file *file, const struct event_call *call)
{
	struct useless_wait *wait = &useless->waits[call->event.tid % LIMIT_WAITS];
	bool uses = call->nr == SYS_read || call->nr == SYS_write || call->nr == SYS_pread64 ||
		    call->nr == SYS_pwrite64 || call->nr == SYS_readv || call->nr == SYS_writev;

	if (wait->tid != call->event.tid)
		return;
	wait->tid = 0;
	if (!uses || !file || file->kind != FILE_REGULAR)
		return;
	profile->useless[USELESS_READY].calls++;
	profile->useless[USELESS_READY].cpu += wait->cpu;
	profile->useless[USELESS_READY].site = wait->site;
	profile->useless[USELESS_WAIT].calls--;
	profile->useless[USELESS_WAIT].cpu -= wait->cpu;
}

void useless_count(struct useless *useless, struct profile *profile,
		   const struct fold_process *process, struct open_file *file,
		   const struct event_call *call, enum call_origin origin, uint32_t site)
{
	enum useless_kind kind;
	bool found, follows;

	useless_ready(useless, profile, file, call);
	if (file)
		contents_note(file, call);
	if (file && call->nr == SYS_close)
		useless_reread(useless, profile, file, call, site);
	if (is_stat(call, &follows)) {
		profile->useless[USELESS_TWICE].of++;
		if (useless_twice(useless, process, file, call))
			useless_found(profile, USELESS_TWICE, call, site);
	}
	if (call->nr == SYS_lseek) {
		kind = USELESS_SEEK;
		/* SEEK_END queries the file's length, so it is needed. */
		found = file && file->position_known && call->ret == file->position &&
			call->args[2] != SEEK_END;
	} else if (is_wait(call)) {
		kind = USELESS_WAIT;
		found = call->ret > 0 && !(call->event.flags & EVENT_SLEPT) &&
			call->event.flags & EVENT_CPU;
		profile->useless[USELESS_READY].of++;
		if (found)
			useless->waits[call->event.tid % LIMIT_WAITS] = (struct useless_wait){
				.tid = call->event.tid, .site = site, .cpu = call->cpu};
	} else if (call->nr == SYS_fcntl) {
		kind = USELESS_FLAGS;
		found = call->args[1] == F_GETFD || call->args[1] == F_GETFL;
	} else if (is_look_up(call)) {
		kind = is_zone(call) ? USELESS_ZONE : USELESS_AGAIN;
		found = useless_again(useless, process, file, call);
	} else if (is_identity(call)) {
		kind = USELESS_IDENTITY;
		found = true;
	} else if (is_open(call) && opens_directory(call)) {
		kind = USELESS_NO_DIRECTORY;
		found = call->ret == -ENOTDIR;
	} else if (call->nr == SYS_read && origin == ORIGIN_LIBC) {
		kind = USELESS_UNBUFFERED;
		found = call->args[2] == 1 && call->ret == 1;
	} else if (file || (call->ret == -EAGAIN && call_descriptor(call->nr) >= 0)) {
		kind = USELESS_EMPTY;
		found = call->ret == -EAGAIN;
	} else {
		return;
	}
	profile->useless[kind].of++;
	if (found)
		useless_found(profile, kind, call, site);
}
