/* SPDX-License-Identifier: MIT */
/* tasks.h - has a BPF program called for every task of the machine. */
#ifndef COSY_PROFILE_TASKS_H
#define COSY_PROFILE_TASKS_H

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

/* `link` is an iterator's descriptor.  Returns 0 or -errno. */
static inline int tasks_iterate(int link)
{
	int iterator = bpf_iter_create(link);
	char nothing[64];
	ssize_t n;

	if (iterator < 0)
		return -errno;
	while ((n = read(iterator, nothing, sizeof(nothing))) > 0)
		;
	n = n < 0 ? -errno : 0;
	close(iterator);
	return (int)n;
}

#endif /* COSY_PROFILE_TASKS_H */
