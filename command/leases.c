// SPDX-License-Identifier: MIT
/* leases.c - see leases.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../cosyd/protocol.h"
#include "../run/file/filesystem.h"
#include "leases.h"

/* Opens a new file in `directory`, for reading alone.  Below 0: it has none, or no leases. */
static int file_make(const char *directory)
{
	int writer = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), reader;
	struct statfs fs;
	char path[40];

	if (writer < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", writer);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	close(writer);
	if (reader < 0 || (!fstatfs(reader, &fs) && filesystem_has_leases(fs.f_type)))
		return reader;
	close(reader);
	return -1;
}

const char *leases_refusal(void)
{
	const char *directories[] = {getenv("HOME"), getenv("TMPDIR"), "/tmp", "/var/tmp",
				     "/dev/shm"};
	static char why[80];
	FILE *enabled = fopen("/proc/sys/fs/leases-enable", "re");
	int digit = enabled ? getc(enabled) : '1', fd = -1, error = 0;

	if (enabled)
		fclose(enabled);
	if (digit == '0')
		return "the kernel grants no leases (sysctl fs.leases-enable=1 switches them on)";
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) && fd < 0; i++)
		fd = directories[i] ? file_make(directories[i]) : -1;
	if (fd < 0)
		return "there is no directory of a file system with leases in which you may write";
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		error = errno;
	close(fd);
	if (!error)
		return NULL;
	snprintf(why, sizeof(why), "a lease is refused: %s", strerror(error));
	return why;
}

bool leases_have_daemon(void)
{
	const char *path = getenv("COSYD_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;
	bool answers;

	path = path && *path ? path : COSYD_SOCKET;
	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	answers = fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof(address));
	if (fd >= 0)
		close(fd);
	return answers;
}
