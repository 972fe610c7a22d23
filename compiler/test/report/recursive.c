// A recursive walk that makes its call after tests that LLVM takes to fail mostly is counted: the
// native twin finds out how often it makes the call.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static long walk(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	long sum = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		char name[PATH_MAX];
		struct stat st;
		int len;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		len = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (len < 0 || (size_t)len >= sizeof(name))
			continue;
		if (lstat(name, &st) < 0)
			continue;
		sum += st.st_size;
		if (S_ISDIR(st.st_mode))
			sum += walk(name);
	}
	closedir(dir);
	return sum;
}

long total(const char *path)
{
	long sum;

	// CHECK: recursive.c:[[#@LINE+2]]:2: remark: gain: {{.*}}an iteration of its loop costs {{[0-9]+}}, a call of its recursive function
	// CHECK-NOT: runs natively: it is expected to lose
	COSY_START;
	sum = walk(path);
	COSY_END;
	return sum;
}
