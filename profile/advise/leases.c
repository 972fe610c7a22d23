// SPDX-License-Identifier: MIT
/* leases.c - see leases.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/overlays.h"
#include "../common/path.h"
#include "../common/rules.h"
#include "../cosyd/protocol.h"
#include "../run/file/filesystem.h"
#include "advise/leases.h"

static bool daemon_answers(struct leases *leases)
{
	const char *path = getenv("COSYD_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (leases->daemon != COSYD_UNKNOWN)
		return leases->daemon == COSYD_ANSWERS;
	path = path ? path : COSYD_SOCKET;
	leases->daemon = COSYD_SILENT;
	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		leases->daemon = COSYD_ANSWERS;
	close(fd);
	return leases->daemon == COSYD_ANSWERS;
}

/*
 * Takes a lease as the library would, and returns it.  A writer that comes meanwhile breaks the
 * lease; the kernel then sends SIGIO, which would end this process.
 */
static int lease_try(int fd)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, former;
	int error = 0;

	sigaction(SIGIO, &ignore, &former);
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		error = -errno;
	else
		fcntl(fd, F_SETLEASE, F_UNLCK);
	sigaction(SIGIO, &former, NULL);
	return error;
}

/* True, with its interpreter's path in `ret`: the file is a script. */
static bool file_interpreter(const char *path, char ret[SCRIPT_LINE])
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char line[SCRIPT_LINE] = "";

	if (fd < 0)
		return false;
	if (read(fd, line, sizeof(line) - 1) < 0)
		*line = 0;
	close(fd);
	return script_interpreter(line, ret);
}

/*
 * Returns the name that a program is called by, its argv[0], as far as that follows from the path
 * that it was executed by: a script has its interpreter's.
 */
static const char *program_name(const char *path, char whole[EVENT_MAX_PATH])
{
	char interpreter[SCRIPT_LINE];

	strcpy(whole, path);
	for (int i = 0; i < MAX_SCRIPTS && file_interpreter(whole, interpreter); i++)
		strcpy(whole, interpreter);
	return path_name(whole);
}

/* True if the rules leave the file alone.  Reports wrong rules, with which `cosy run` would end. */
static bool rules_say_off(struct leases *leases, const struct run_file *file, const char *program,
			  uint32_t type)
{
	const char *started = *file->started ? file->started : program;
	char name[EVENT_MAX_PATH], whole[PATH_MAX];
	struct rules_subject subject = {
		.program = program,
		.name = program_name(started, name),
		.started = file->first ? NULL : started,
		.type = type,
	};

	if (!leases->begun) {
		leases->begun = true;
		if (!overlays_switch_off(&leases->rules) || !policy_read_all(NULL, &leases->rules))
			leases_drop(leases);
	}
	subject.file = realpath(file->path, whole);
	return leases->rules.text && subject.file && rules_leave(leases->rules.text, &subject);
}

static enum run_reason lease_reason(struct leases *leases, int fd, bool *daemon)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return RUN_REASONS;
	if (!filesystem_has_leases(fs.f_type))
		return RUN_UNLEASED;
	switch (lease_try(fd)) {
	case 0:
		return RUN_SERVED;
	case -EAGAIN:
		return RUN_HELD;
	case -EACCES:
		if (!daemon_answers(leases))
			return RUN_FOREIGN;
		*daemon = true;
		return RUN_SERVED;
	default:
		return RUN_UNLEASED;
	}
}

enum run_reason leases_look(void *leases, const struct run_file *file, const char *program,
			    bool *daemon)
{
	const char *path = file->path;
	enum run_reason ret;
	struct statfs fs;
	struct stat st;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return RUN_REASONS;
	if (!statfs(path, &fs) && rules_say_off(leases, file, program, fs.f_type))
		return RUN_OFF;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return RUN_REASONS;
	ret = lease_reason(leases, fd, daemon);
	close(fd);
	return ret;
}

void leases_drop(struct leases *leases)
{
	free(leases->rules.text);
	leases->rules = (struct policy_text){NULL, 0, false};
}
