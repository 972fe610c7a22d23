// SPDX-License-Identifier: MIT
/* child.c - see child.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/say.h"
#include "record/child.h"
#include "record/signals.h"

int child_start(struct child *child, void (*run)(void *), void *argument)
{
	int gate[2];
	char go;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	child->pid = fork();
	if (!child->pid) {
		close(gate[1]);
		if (read(gate[0], &go, 1) == 1)
			run(argument);
		_exit(127);
	}
	close(gate[0]);
	child->gate = gate[1];
	if (child->pid > 0)
		return 0;
	close(gate[1]);
	return -errno;
}

int child_go(struct child *child, int error)
{
	if (!error && write(child->gate, "", 1) != 1)
		error = -errno;
	close(child->gate);
	return error;
}

static int file_executable(const char *path)
{
	struct stat file;

	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) || stat(path, &file))
		return -errno;
	return S_ISREG(file.st_mode) ? 0 : -EACCES;
}

int program_find(const char *name)
{
	const char *path = getenv("PATH"), *end;
	int found = -ENOENT;

	if (!*name)
		return -ENOENT;
	if (strchr(name, '/'))
		return file_executable(name);
	for (path = path ? path : "/bin:/usr/bin"; path; path = *end ? end + 1 : NULL) {
		char file[PATH_MAX];
		int error;

		end = strchrnul(path, ':');
		snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - path), path,
			 end == path ? "" : "/", name);
		error = file_executable(file);
		if (!error)
			return 0;
		if (error == -EACCES)
			found = error;
	}
	return found;
}

void program_run(void *arguments)
{
	char **program = arguments;

	signals_restore();
	execvp(program[0], program);
	say("cosy profile: %s: %s", program[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

bool calibration_begin(struct calibration *calibration)
{
	memset(calibration, 0, sizeof(*calibration));
	calibration->file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (calibration->file < 0)
		return false;
	calibration->recorded = mmap(NULL, sizeof(*calibration->recorded), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calibration->recorded == MAP_FAILED) {
		close(calibration->file);
		return false;
	}
	calibration->usual = record_usual(calibration->file);
	calibration->blocks = record_blocks(calibration->file);
	return true;
}

void calibration_run(void *context)
{
	struct calibration *calibration = context;

	*calibration->recorded = record_usual_again(calibration->file);
	_exit(0);
}

void calibration_take(void *context, const struct event *event)
{
	struct calibration *calibration = context;
	const struct event_call *call = (const struct event_call *)event;

	if (event->kind != EVENT_CALL || call->nr != SYS_pread64 || !(event->flags & EVENT_CPU))
		return;
	calibration->cpu += call->cpu;
	calibration->user += call->user;
	calibration->calls++;
}

/* Use the mean: it is subtracted from sums of many calls, expensive and cheap ones. */
void calibration_end(struct calibration *calibration, struct event_header *header)
{
	uint64_t call = calibration->usual.call, gap = calibration->usual.all - call, cpu, user;

	header->added = *calibration->recorded > calibration->usual.all
				? *calibration->recorded - calibration->usual.all
				: 0;
	munmap(calibration->recorded, sizeof(*calibration->recorded));
	close(calibration->file);
	header->null_call = record_null_call();
	header->read_call = call;
	header->read_block = calibration->blocks.read;
	header->copy_block = calibration->blocks.copy;
	if (!calibration->calls)
		return;
	cpu = calibration->cpu / calibration->calls;
	user = calibration->user / calibration->calls;
	header->call_cost = (int32_t)(cpu - call);
	header->gap_cost = user > gap ? user - gap : 0;
}
