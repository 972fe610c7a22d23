// SPDX-License-Identifier: MIT
/*
 * watch.c - watches, by inotify, fanotify, and a process that allows or denies by fanotify's
 * permission events.  What they saw is told after each batch.
 */
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include "same.h"

static struct {
	int inotify, fanotify;
	/* Shared with the process that permits: */
	struct {
		uint32_t count, told;
		struct {
			uint64_t mask;
			char name[40];
		} event[4096];
	} *log;
} watch = { .inotify = -1, .fanotify = -1 };

/* Finds the place in the tree of an event's file. */
static void name_of(int fd, char *ret, size_t size)
{
	char link[32], target[256];
	ssize_t len;
	char *tree, *name;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target) - 1);
	target[len < 0 ? 0 : len] = 0;
	tree = strstr(target, "/tree");
	name = strrchr(target, '/');
	if (tree && !strncmp(name, "/#", 2))
		strcpy(name, "/#"); /* an inode that has no name */
	snprintf(ret, size, "%s", tree ? tree + 5 : "?");
}

/* Denies to read a file whose name ends in f, and to open one that ends in g. */
static void permit(int group)
{
	char events[4096];
	ssize_t len;

	while ((len = read(group, events, sizeof(events))) > 0) {
		struct fanotify_event_metadata *event = (void *)events;

		for (; FAN_EVENT_OK(event, len); event = FAN_EVENT_NEXT(event, len)) {
			struct fanotify_response answer = { .fd = event->fd,
							    .response = FAN_ALLOW };
			uint32_t at = watch.log->count;
			char *name = watch.log->event[at].name;

			if (event->fd < 0)
				continue;
			name_of(event->fd, name, sizeof(watch.log->event[at].name));
			if (*name &&
			    name[strlen(name) - 1] == (event->mask & FAN_OPEN_PERM ? 'g' : 'f'))
				answer.response = FAN_DENY;
			watch.log->event[at].mask = event->mask;
			watch.log->count = (at + 1) % 4096;
			/*
			 * Only the asking process has the file now: it goes when that lets it go.
			 */
			close(event->fd);
			MUST(write(group, &answer, sizeof(answer)) == sizeof(answer));
		}
	}
}

void watch_start(struct round *round, unsigned int which)
{
	static const char *const watched[] = { ".", "d0", "d1", "a", "c" };

	if (which & WATCH_INOTIFY) {
		watch.inotify = inotify_init1(IN_NONBLOCK);
		MUST(watch.inotify >= 0);
		for (int i = 0; i < 5; i++)
			MUST(inotify_add_watch(watch.inotify, watched[i], IN_ALL_EVENTS) >= 0);
	}
	if (!round->as_root)
		return;
	if (which & WATCH_FANOTIFY) {
		watch.fanotify = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
		MUST(watch.fanotify >= 0);
		MUST(!fanotify_mark(watch.fanotify, FAN_MARK_ADD | FAN_MARK_MOUNT,
				    FAN_ACCESS | FAN_MODIFY | FAN_OPEN | FAN_CLOSE | FAN_ONDIR,
				    round->root, NULL));
	}
	if (which & WATCH_PERMISSIONS) {
		int group = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY);

		MUST(group >= 0);
		watch.log = shared_memory(sizeof(*watch.log));
		round->child[1] = fork();
		MUST(round->child[1] >= 0);
		if (!round->child[1]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			permit(group);
			_exit(0);
		}
		MUST(!fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_MOUNT,
				    FAN_ACCESS_PERM | FAN_OPEN_PERM, round->root, NULL));
		close(group);
	}
}

static void tell_inotify(struct round *round)
{
	static uint32_t cookies[64], cookie_count;
	_Alignas(8) char events[4096];
	ssize_t len;

	while ((len = read(watch.inotify, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct inotify_event *event = (void *)(events + at);
			uint32_t cookie = 0;

			if (event->cookie) {
				while (cookie < cookie_count && cookies[cookie] != event->cookie)
					cookie++;
				if (cookie == cookie_count && cookie_count < 64)
					cookies[cookie_count++] = event->cookie;
				cookie++;
			}
			TELL(round, "inotify %d %#x %u %s\n", event->wd, event->mask, cookie,
			     !event->len	   ? ""
			     : *event->name == '#' ? "#"
						   : event->name); /* #inode: has no name */
			at += (ssize_t)sizeof(*event) + event->len;
		}
	}
}

static void tell_fanotify(struct round *round)
{
	char events[4096], name[64];
	ssize_t len;

	while ((len = read(watch.fanotify, events, sizeof(events))) > 0) {
		struct fanotify_event_metadata *event = (void *)events;

		for (; FAN_EVENT_OK(event, len); event = FAN_EVENT_NEXT(event, len)) {
			strcpy(name, "overflow");
			if (event->fd >= 0) {
				name_of(event->fd, name, sizeof(name));
				close(event->fd);
			}
			TELL(round, "fanotify %#llx %s%s\n", (unsigned long long)event->mask, name,
			     event->pid == getpid() ? "" : " (others)");
		}
	}
}

void watch_tell(struct round *round)
{
	if (watch.inotify >= 0)
		tell_inotify(round);
	if (watch.fanotify >= 0)
		tell_fanotify(round);
	if (!watch.log)
		return;
	for (; watch.log->told != watch.log->count; watch.log->told = (watch.log->told + 1) % 4096)
		TELL(round, "asked %#llx %s\n",
		     (unsigned long long)watch.log->event[watch.log->told].mask,
		     watch.log->event[watch.log->told].name);
}
