// SPDX-License-Identifier: MIT
// Many kinds of file calls, their results and errors.
// expect: compiled
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char dir[] = "/tmp/cosy-files-XXXXXX", link_text[64] = "", back[32] = "";
	long r[40];
	struct stat st;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	umask(022);
	memset(r, 0, sizeof(r));
	COSY_START;
	int n = 0;
	r[n++] = mkdir("sub", 0755);
	r[n++] = mkdir("sub", 0755) == -1 ? errno : 0;
	int fd = open("sub/a", O_RDWR | O_CREAT, 0644);
	r[n++] = write(fd, "0123456789", 10);
	r[n++] = lseek(fd, -3, SEEK_END);
	r[n++] = read(fd, back, 20);
	r[n++] = pread(fd, back + 10, 4, 2);
	r[n++] = pwrite(fd, "XY", 2, 20);
	r[n++] = fstat(fd, &st) ? -1 : st.st_size;
	r[n++] = ftruncate(fd, 5);
	r[n++] = fsync(fd);
	r[n++] = fchmod(fd, 0400);
	r[n++] = lseek(fd, -1, SEEK_SET) == -1 ? errno : 0;
	r[n++] = close(fd);
	r[n++] = close(fd) == -1 ? errno : 0;
	r[n++] = rename("sub/a", "sub/b");
	r[n++] = link("sub/b", "sub/c");
	r[n++] = symlink("sub/b", "s");
	ssize_t len = readlink("s", link_text, sizeof(link_text) - 1);
	r[n++] = len;
	r[n++] = access("s", R_OK);
	r[n++] = access("nothing", R_OK) == -1 ? errno : 0;
	r[n++] = stat("s", &st) ? -1 : (long)(st.st_mode & 0777) * 100 + st.st_nlink;
	r[n++] = lstat("s", &st) ? -1 : S_ISLNK(st.st_mode);
	r[n++] = unlink("s") + unlink("sub/b") + unlink("sub/c");
	r[n++] = rmdir("sub");
	r[n++] = open("sub", O_RDONLY) == -1 ? errno : 0;
	int p[2];
	r[n++] = pipe(p);
	r[n++] = write(p[1], "pipe", 4);
	r[n++] = dup2(p[0], 77);
	r[n++] = read(77, back + 20, 8);
	r[n++] = close(p[0]) + close(p[1]) + close(77);
	COSY_END;
	for (int i = 0; i < 32; i++)
		printf("%ld ", r[i]);
	printf("%s %.3s %.4s %.4s\n", link_text, back, back + 10, back + 20);
	return rmdir(dir);
}
