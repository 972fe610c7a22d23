/* SPDX-License-Identifier: MIT */
/* watch.h - for tests of watchers (<linux/cosy_watch.h>): one watcher, READs and their checks. */
#ifndef WATCH_H
#define WATCH_H

#include <errno.h>
#include <fcntl.h>
#include <linux/cosy.h>
#include <linux/cosy_watch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct watcher {
	int fd;
	const volatile __u64 *words;
};

/* The answer of a READ, and the entry that was asked for; NULL: it may not be used. */
struct answer {
	struct cosy_watch_read read;
	const struct cosy_watch_entry *entry;
	_Alignas(8) char bytes[32768];
};

/* -1 and errno: there is none. */
static inline int watcher_open(struct watcher *watcher)
{
	struct cosy_watch request = { .size = sizeof(request) };
	int device = open("/dev/cosy", O_RDWR | O_CLOEXEC);

	watcher->fd = -1;
	if (device < 0)
		return -1;
	watcher->fd = ioctl(device, COSY_IOC_WATCH, &request);
	close(device);
	if (watcher->fd < 0)
		return -1;
	watcher->words = mmap(NULL, COSY_WATCH_WORDS * 8, PROT_READ, MAP_SHARED, watcher->fd, 0);
	return watcher->words == MAP_FAILED ? -1 : 0;
}

static inline const struct cosy_watch_entry *answer_find(const struct answer *answer,
							 const char *name)
{
	for (__u32 at = 0; at < answer->read.used;) {
		const struct cosy_watch_entry *entry = (const void *)(answer->bytes + at);

		if (!strcmp((const char *)(entry + 1), name))
			return entry;
		at += entry->length;
	}
	return NULL;
}

/* 0 and the answer, or -1 and errno. */
static inline int watcher_read_as(const struct watcher *watcher, int dirfd, const char *prefix,
				  const char *name, __u32 request, struct answer *answer)
{
	answer->read = (struct cosy_watch_read){
		.size = sizeof(answer->read),
		.dirfd = dirfd,
		.prefix = (__u64)(unsigned long)prefix,
		.name = (__u64)(unsigned long)name,
		.entries = (__u64)(unsigned long)answer->bytes,
		.entries_size = sizeof(answer->bytes),
		.before = 8,
		.count = 16,
		.request = request,
	};
	answer->entry = NULL;
	if (ioctl(watcher->fd, COSY_IOC_WATCH_READ, &answer->read))
		return -1;
	answer->entry = answer_find(answer, name);
	if (answer->entry && !answer->entry->word)
		answer->entry = NULL;
	return 0;
}

static inline int watcher_read(const struct watcher *watcher, int dirfd, const char *prefix,
			       const char *name, struct answer *answer)
{
	return watcher_read_as(watcher, dirfd, prefix, name, 0, answer);
}

/* Tells whether the entry that was asked for may be used now. */
static inline bool answer_holds(const struct watcher *watcher, const struct answer *answer)
{
	const struct cosy_watch_entry *entry = answer->entry;

	return entry && watcher->words[COSY_WATCH_WAY] == answer->read.way &&
	       watcher->words[answer->read.dir_word] == answer->read.dir_value &&
	       (answer->read.dirfd == AT_FDCWD ||
		watcher->words[COSY_WATCH_NUMBERS] == answer->read.numbers) &&
	       watcher->words[entry->word] == entry->value;
}

/* Tells whether an answer is what stat(2) says; without its padding. */
static inline bool stat_is(const struct stat *a, const void *b)
{
	return !memcmp(a, b, 120);
}

/* The kernel's own answer: 0 or an errno. */
static inline int stat_ask(int dirfd, const char *path, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	return syscall(SYS_newfstatat, dirfd, path, ret, AT_SYMLINK_NOFOLLOW) ? errno : 0;
}

#endif /* WATCH_H */
