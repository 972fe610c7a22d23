// SPDX-License-Identifier: MIT
/* streams.c - see streams.h. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "process/streams.h"
#include "process/thread.h"
#include "region/region.h"

/* glibc's DIR, as compiler/pass/runtime/runtime.c has it. */
struct stream {
	int fd, lock;
	size_t allocation, size, offset;
	long position;
	int error, unused;
	char entries[];
};

struct libcosy_spare_streams *__cosy_streams(void)
{
	return &libcosy_thread_self->spare_streams;
}

static bool stream_is_as_known(DIR *dir)
{
	const struct stream *stream = (const struct stream *)dir;
	struct stream before = *stream, after;
	const struct dirent *entry;

	entry = readdir(dir);
	after = *stream;
	if (!entry || before.fd != dirfd(dir) || before.lock || before.size || before.offset ||
	    before.position || before.error)
		return false;
	if (before.allocation < 32768 || before.allocation > 1048576 ||
	    after.allocation != before.allocation || after.fd != before.fd || after.lock ||
	    after.error)
		return false;
	if ((const char *)entry != stream->entries || after.offset != entry->d_reclen ||
	    after.size < after.offset || after.position != entry->d_off ||
	    telldir(dir) != after.position)
		return false;
	rewinddir(dir);
	after = *stream;
	return !after.size && !after.offset && !after.position && !after.error;
}

bool libcosy_streams_are_known(void)
{
	static int known; /* 1: yes; -1: no */
	int verdict = __atomic_load_n(&known, __ATOMIC_RELAXED);
	int error = errno;
	DIR *dir;

	if (!verdict) {
		dir = opendir("/");
		verdict = dir && stream_is_as_known(dir) ? 1 : -1;
		if (dir)
			closedir(dir);
		__atomic_store_n(&known, verdict, __ATOMIC_RELAXED);
		errno = error;
	}
	return verdict > 0;
}

bool libcosy_is_of_streams(const char *name)
{
	static const char names[][12] = {"opendir",   "fdopendir", "readdir",
					 "readdir64", "closedir",  "rewinddir",
					 "dirfd",     "telldir",   "seekdir"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}
