// A loop's iterations are counted if those without a call are short, whatever comes before a call
// that is made, or before a return.
// RUN: %cosycc -D_GNU_SOURCE -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[4096];

static size_t add(size_t length, const char *name)
{
	size_t i = 0;

	for (; name[i] && length + i + 2 < sizeof(path); i++)
		path[length + 1 + i] = name[i];
	path[length] = '/';
	return name[i] ? 0 : length + 1 + i;
}

static int below(int dir, size_t length)
{
	char names[16384] __attribute__((aligned(16)));
	ssize_t len;

	while ((len = getdents64(dir, names, sizeof(names))) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct stat st;
			size_t end;
			int fd, failed;

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			end = add(length, d->d_name);
			if (!end || fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				return -1;
			if (!S_ISDIR(st.st_mode))
				continue;
			fd = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			failed = fd < 0 || below(fd, end);
			close(fd);
			if (failed)
				return -1;
		}
	}
	return (int)len;
}

int walk(int root)
{
	int ret;

	COSY_START;
	ret = below(root, 0);
	COSY_END;
	return ret;
}
// CHECK: gain: entering the kernel {{.*}}, an iteration of its loop saves {{[0-9]+}}, of another saves
