/* SPDX-License-Identifier: MIT */
/*
 * failures.h - what failed in a copy or removal of a tree: reported, counted, the first one kept.
 */
#ifndef COSY_LIB_FILES_FAILURES_H
#define COSY_LIB_FILES_FAILURES_H

#include <errno.h>
#include <stdbool.h>

#include <cosy/files.h>

struct libcosy_failures {
	cosy_failed_function report; /* NULL: stop at the first one */
	void *argument;
	int first; /* errno, or 0 */
	bool stop;
};

/* Notes a failure.  False: the work is to stop. */
static inline bool libcosy_failure(struct libcosy_failures *failures, const char *path, int error)
{
	if (!failures->first)
		failures->first = error;
	if (!failures->report || failures->report(failures->argument, path, error))
		failures->stop = true;
	return !failures->stop;
}

/* Returns the result of the whole function, with errno set. */
static inline int libcosy_failures_end(const struct libcosy_failures *failures, int saved)
{
	errno = failures->first ? failures->first : saved;
	return failures->first ? -1 : 0;
}

#endif /* COSY_LIB_FILES_FAILURES_H */
