// In the copy of a function that recurses, an iteration with a call counts what it saves, not the
// mean of those with and without one.  A call on some of its paths counts where it is made.
// RUN: %ir %s | FileCheck %s
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// A function with a body in runtime/ that makes one system call counts as that call.
// CHECK-LABEL: define {{.*}}@modes(
// CHECK: select i1 %cosy.made{{[^,]*}}, i64 {{9[0-9][0-9]}}, i64 0
// CHECK: call i32 @fchmodat(
int modes(int dir, const char *const *names, int count)
{
	int failed = 0;

	COSY_START;
	for (int i = 0; i < count; i++)
		failed |= fchmodat(dir, names[i], 0600, 0);
	COSY_END;
	return failed;
}

// CHECK-LABEL: define internal {{.*}}@below.twin(
// CHECK: call i64 @getdents64(
// CHECK: select i1 %cosy.made{{[^,]*}}, i64 {{[89][0-9][0-9]}}, i64 -{{[0-9]+}}
// CHECK: call i32 @fstatat(
// CHECK: sub i64 %cosy.left{{[^,]*}}, {{[89][0-9][0-9]}}
// CHECK: call i32 (i32, ptr, i32, ...) @openat(
// CHECK: sub i64 %cosy.left{{[^,]*}}, 162
// CHECK: call i32 @close(
static long below(int dir)
{
	char names[4096] __attribute__((aligned(16)));
	long sum = 0;
	ssize_t len;

	while ((len = getdents64(dir, names, sizeof(names))) > 0) {
		for (ssize_t at = 0; at < len;) {
			struct dirent64 *d = (struct dirent64 *)(names + at);
			struct stat st;

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			if (fstatat(dir, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				return -1;
			sum += st.st_blocks;
			if (S_ISDIR(st.st_mode)) {
				int fd = openat(dir, d->d_name, O_RDONLY | O_DIRECTORY);
				long part = below(fd);

				close(fd);
				if (part < 0)
					return -1;
				sum += part;
			}
		}
	}
	return len < 0 ? -1 : sum;
}

long walk(int root)
{
	long sum;

	COSY_START;
	sum = below(root);
	COSY_END;
	return sum;
}
