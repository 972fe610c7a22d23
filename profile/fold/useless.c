// SPDX-License-Identifier: MIT
/* useless.c - see useless.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

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
	const struct cosy_call *found = cosy_call_find(call->nr);

	return found ? found->flags : 0;
}

/* Tells whether the call asks who the process or its user is. */
static bool is_identity(const struct event_call *call)
{
	unsigned int flags = call_flags(call);

	return flags & COSY_CALL_QUERY && flags & COSY_CALL_NO_ERROR;
}

/* Tells whether the call asks about a name and changes nothing. */
static bool is_look_up(const struct event_call *call)
{
	unsigned int flags = call_flags(call);

	return flags & COSY_CALL_QUERY && flags & COSY_CALL_PATH;
}

/* Tells whether the C library asks whether the time zone has become another one. */
static bool is_zone(const struct event_call *call)
{
	const char *path = event_path(&call->event);

	return path && !strcmp(path, "/etc/localtime");
}

/*
 * The same question had the same result when it was asked last, of the same directory if its name
 * is relative.
 */
static bool useless_again(struct useless *useless, const struct fold_process *process,
			  const struct open_file *file, const struct event_call *call)
{
	const char *path = event_path(&call->event);
	uint64_t question = table_mix(table_mix(6, call->pid), call->nr), answer, *known;
	bool again;

	if (!path || !*path)
		return false;
	if (*path != '/')
		question = table_mix(question, file ? file->serial : process->directory);
	while (*path)
		question = table_mix(question, *path++);
	answer = table_mix(question, call->ret) | 1;
	known = &useless->names[question % LIMIT_NAMES];
	again = *known == answer;
	*known = answer;
	return again;
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

void useless_count(struct useless *useless, struct profile *profile,
		   const struct fold_process *process, const struct open_file *file,
		   const struct event_call *call, uint32_t site)
{
	enum useless_kind kind;
	bool found;

	if (call->nr == SYS_lseek) {
		kind = USELESS_SEEK;
		/* From the end it asks how long the file is, and moves by the way. */
		found = file && file->position_known && call->ret == file->position &&
			call->args[2] != SEEK_END;
	} else if (is_wait(call)) {
		kind = USELESS_WAIT;
		found = call->ret > 0 && !(call->event.flags & EVENT_SLEPT) &&
			call->event.flags & EVENT_CPU;
	} else if (call->nr == SYS_fcntl) {
		kind = USELESS_FLAGS;
		found = call->args[1] == F_GETFD || call->args[1] == F_GETFL;
	} else if (is_look_up(call)) {
		kind = is_zone(call) ? USELESS_ZONE : USELESS_AGAIN;
		found = useless_again(useless, process, file, call);
	} else if (is_identity(call)) {
		kind = USELESS_IDENTITY;
		found = true;
	} else if (file) {
		kind = USELESS_EMPTY;
		found = call->ret == -EAGAIN;
	} else {
		return;
	}
	profile->useless[kind].of++;
	if (found)
		useless_found(profile, kind, call, site);
}
