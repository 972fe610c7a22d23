// SPDX-License-Identifier: MIT
// getcwd in a region: into memory of the program's, and what libc does by itself.
// expect: compiled
#include <cosy/cosy.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
	char top[64] = "/tmp/cosy-getcwd.XXXXXX", path[256], removed[256];
	int good = 0, small = 0, none = 0, gone = 0, deep = 0;

	if (!mkdtemp(top) || chdir(top) || mkdir("a", 0700) || mkdir("a/b", 0700))
		return 1;
	COSY_START;
	for (int i = 0; i < 20; i++) {
		good += getcwd(path, sizeof(path)) == path && !strcmp(path, top);
		small += !getcwd(path, strlen(top)) && errno == ERANGE;
		none += !getcwd(path, 0) && errno == EINVAL;
	}
	for (int i = 0; i < 3; i++) {
		chdir(i ? "b" : "a");
		deep += getcwd(path, sizeof(path)) ? (int)strlen(path + strlen(top)) : 1000;
	}
	chdir(top);
	mkdir("c", 0700);
	chdir("c");
	rmdir("../c");
	gone = !getcwd(removed, sizeof(removed)) && errno == ENOENT;
	COSY_END;
	chdir(top);
	rmdir("a/b");
	rmdir("a");
	chdir("/");
	rmdir(top);
	printf("%d %d %d %d %d\n", good, small, none, deep, gone);
	return 0;
}
