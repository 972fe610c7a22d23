// Functions of other headers of the C library count as libc's: a function that recurses may report errors by
// <err.h>, <error.h> and <syslog.h>, and take names apart by <libgen.h>.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <libgen.h>
#include <sys/stat.h>
#include <syslog.h>

static int visit(char *path, int depth)
{
	struct stat st;

	if (depth > 9)
		errx(1, "%s: too deep", path);
	if (lstat(path, &st) < 0) {
		warn("%s", path);
		error(0, errno, "%s", path);
		syslog(LOG_ERR, "%s", path);
		return 0;
	}
	return S_ISDIR(st.st_mode) + visit(dirname(path), depth + 1);
}

int count(char *path)
{
	int found;

	COSY_START;
	found = visit(path, 0);
	COSY_END;
	return found;
}
// CHECK: headers.c:[[@LINE-5]]:2: remark: region compiled
