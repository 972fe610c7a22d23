// SPDX-License-Identifier: MIT
// Variadic wrappers: open with and without a mode, fcntl, ioctl, syscall.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	char name[64];
	int fd = -1, flags = 0, queued = -1, same = 0, dup_ok = 0;
	struct stat st = {0};
	long pid = 0, n = 0;

	snprintf(name, sizeof(name), "/tmp/cosy-variadic-%d", getpid());
	umask(022);
	COSY_START;
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
	fcntl(fd, F_SETFL, O_APPEND);
	flags = fcntl(fd, F_GETFL) & (O_APPEND | O_RDWR);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	int d = fcntl(fd, F_DUPFD, 100);
	dup_ok = d >= 100;
	close(d);
	n = write(fd, "123456", 6);
	lseek(fd, 2, SEEK_SET);
	ioctl(fd, FIONREAD, &queued);
	pid = syscall(SYS_getpid);
	same = pid == getpid() && syscall(SYS_close, 9999) == -1;
	fstat(fd, &st);
	close(fd);
	unlink(name);
	COSY_END;
	printf("%o %d %d %d %ld %ld\n", st.st_mode & 07777, flags == (O_APPEND | O_RDWR), dup_ok,
	       same, n, (long)st.st_size);
	printf("%d\n", queued);
	return 0;
}
