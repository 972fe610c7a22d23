/* SPDX-License-Identifier: MIT */
/*
 * confined.h - drives cosy-observe as a hostile user would: a copy with file capabilities, victims
 * that it is asked to watch, and counts of what it observed.
 */
#ifndef COSY_PROFILE_TEST_CONFINED_H
#define COSY_PROFILE_TEST_CONFINED_H

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/types.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "record/bpf/observation.h"

#define SHARED static inline __attribute__((unused))

#define CAPABILITY_PERFMON 38
#define CAPABILITY_BPF	   39
#define USER		   65534
#define OTHER		   65533

#define OBSERVER_COPY "/dev/shm/cosy-observe"
#define SETUID	      "/dev/shm/setuid"
#define SETCAP	      "/dev/shm/setcap"

static bool failed;

SHARED void expect(bool right, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf(right ? "ok: " : "FAILED: ");
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
	failed |= !right;
}

SHARED void must(bool right, const char *what)
{
	if (right)
		return;
	printf("FAILED: %s: %s\n", what, strerror(errno));
	exit(1);
}

SHARED void file_copy(const char *from, const char *to, mode_t mode)
{
	char buffer[65536];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	must(in >= 0 && out >= 0, to);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		must(write(out, buffer, n) == n, to);
	close(in);
	close(out);
	must(!chmod(to, mode), to);
}

SHARED void file_write(const char *path, char byte)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	must(fd >= 0 && write(fd, &byte, 1) == 1, path);
	close(fd);
}

SHARED void file_capabilities(const char *path, __u64 set)
{
	struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};

	data.data[0].permitted = set;
	data.data[1].permitted = set >> 32;
	must(!setxattr(path, "security.capability", &data, sizeof(data), 0), path);
}

/* Makes root another user for good; true if the process is that user now. */
SHARED bool user_become(uid_t user)
{
	return getuid() == user || (!setresgid(user, user, user) && !setresuid(user, user, user));
}

/* Makes the copy that packaging would: its file capabilities are all that it has. */
SHARED void observer_copy(const char *path)
{
	file_copy(path, OBSERVER_COPY, 0755);
	file_capabilities(OBSERVER_COPY, 1ULL << CAPABILITY_BPF | 1ULL << CAPABILITY_PERFMON);
}

/* A child as `user` that does `run`, once go() has been called. */
struct victim {
	pid_t pid;
	int gate;
};

SHARED struct victim victim_start(uid_t user, void (*run)(void))
{
	struct victim victim;
	int gate[2], there[2];
	char go;

	must(!pipe2(gate, O_CLOEXEC) && !pipe2(there, O_CLOEXEC), "pipe");
	victim.pid = fork();
	if (!victim.pid) {
		close(gate[1]);
		if (!user_become(user))
			_exit(9);
		prctl(PR_SET_DUMPABLE, run ? 1 : 0);
		if (write(there[1], "", 1) == 1 && read(gate[0], &go, 1) == 1 && run)
			run();
		_exit(0);
	}
	close(gate[0]);
	must(read(there[0], &go, 1) == 1, "victim");
	close(there[0]);
	close(there[1]);
	victim.gate = gate[1];
	return victim;
}

SHARED void victim_go(struct victim victim)
{
	must(write(victim.gate, "", 1) == 1, "gate");
	close(victim.gate);
	waitpid(victim.pid, NULL, 0);
}

struct helper {
	pid_t pid;
	int to, from;
};

SHARED struct helper helper_start_as(uid_t user, const char *backend)
{
	char *environment[] = {"COSY_OBSERVE_SAYS=1", "LD_PRELOAD=/dev/shm/none.so",
			       "LD_LIBRARY_PATH=/dev/shm", "LIBBPF_LOG_LEVEL=debug", NULL};
	char *arguments[] = {OBSERVER_COPY, (char *)backend, NULL};
	struct helper helper;
	int to[2], from[2];

	must(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	helper.pid = fork();
	if (!helper.pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		if (!user_become(user))
			_exit(126);
		execve(OBSERVER_COPY, arguments, environment);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	helper.to = to[1];
	helper.from = from[0];
	return helper;
}

SHARED struct helper helper_start(const char *backend)
{
	return helper_start_as(USER, backend);
}

/* The next observation into `buffer`; false when there is no other. */
SHARED bool helper_next(struct helper helper, char *buffer)
{
	struct observation *head = (struct observation *)buffer;
	size_t had = 0, size = sizeof(*head);

	while (had < size) {
		ssize_t n = read(helper.from, buffer + had, size - had);

		if (n <= 0)
			return false;
		had += n;
		if (had == sizeof(*head))
			size = head->size;
		must(size <= 4096, "an observation is too large");
	}
	return true;
}

SHARED __s64 helper_answer(struct helper helper, __u32 kind)
{
	_Alignas(8) char buffer[4096];
	struct observation *head = (struct observation *)buffer;

	while (helper_next(helper, buffer))
		if (head->kind == kind)
			return head->arg;
	return -EPIPE;
}

SHARED __s64 helper_attach(struct helper helper, pid_t pid)
{
	struct observe_command command = {OBSERVE_ATTACH, pid};

	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "command");
	return helper_answer(helper, OBSERVE_ANSWERED);
}

/* Ends it; how often each was observed. */
struct seen {
	unsigned int own, foreign, dropped, ends;
};

SHARED struct seen helper_end(struct helper helper)
{
	_Alignas(8) char buffer[4096];
	struct observation *head = (struct observation *)buffer;
	struct observed_call *call = (struct observed_call *)buffer;
	struct observe_command command = {OBSERVE_STOP, 0};
	struct seen seen = {0};

	must(write(helper.to, &command, sizeof(command)) == sizeof(command), "stop");
	while (helper_next(helper, buffer)) {
		bool is_call = head->kind >= OBSERVE_CALL && head->kind < OBSERVE_LEAVING;

		seen.own += is_call && call->nr == SYS_getuid;
		seen.foreign += is_call && call->nr == SYS_getgid;
		seen.dropped += head->kind == OBSERVE_DROPPED;
		seen.ends += head->kind == OBSERVE_END;
	}
	close(helper.to);
	close(helper.from);
	waitpid(helper.pid, NULL, 0);
	return seen;
}

#endif /* COSY_PROFILE_TEST_CONFINED_H */
