// SPDX-License-Identifier: MIT
// fchmodat in a region: without flags, and with those that libc emulates.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char top[64] = "/tmp/cosy-fchmodat.XXXXXX";
	int dir, good = 0, missing = 0, wrong = 0, link = 0;
	struct stat st;

	if (!mkdtemp(top) || (dir = open(top, O_RDONLY | O_DIRECTORY)) < 0)
		return 1;
	close(openat(dir, "file", O_CREAT | O_WRONLY, 0600));
	COSY_START;
	for (int i = 0; i < 20; i++) {
		good += !fchmodat(dir, "file", 0400 + i, 0);
		missing += fchmodat(dir, "none", 0600, 0) && errno == ENOENT;
	}
	wrong = fchmodat(dir, "file", 0600, 1) && errno == EINVAL;
	link = !fchmodat(dir, "file", 0620, AT_SYMLINK_NOFOLLOW);
	COSY_END;
	fstatat(dir, "file", &st, 0);
	unlinkat(dir, "file", 0);
	rmdir(top);
	printf("%d %d %d %d %o\n", good, missing, wrong, link, st.st_mode & 07777);
	return 0;
}
