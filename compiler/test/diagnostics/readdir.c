// A directory stream is read in the region, and the region goes on after scandir; readdir_r keeps it native, and
// the warning names what to write instead.
// RUN: %cosycc -Rcosy -Wno-deprecated-declarations -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <dirent.h>

int entries(DIR *dir)
{
	int count = 0;

	COSY_START;
	while (readdir(dir))
		count++;
	COSY_END;
	return count;
}
// CHECK: readdir.c:11:2: remark: region compiled

int sorted(const char *path, struct dirent ***list)
{
	int count = 0;

	COSY_START;
	count = scandir(path, list, 0, 0);
	COSY_END;
	return count;
}
// CHECK: readdir.c:23:2: remark: region compiled

int reentrant(DIR *dir, struct dirent *entry, struct dirent **next)
{
	int error;

	COSY_START;
	error = readdir_r(dir, entry, next);
	COSY_END;
	return error;
}
// CHECK: readdir.c:35:10: warning: the region at line 34 stays native: a call of 'readdir_r': libc's directory streams are in user space; readdir, getdents64 and cosy_scan_dir list a directory in a region [-Wcosy]
