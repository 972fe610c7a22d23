// A directory stream is read in the region; scandir is not, and the warning names what to write instead.
// RUN: %cosycc -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
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
// CHECK: readdir.c:10:2: remark: region compiled

int sorted(const char *path, struct dirent ***list)
{
	int count = 0;

	COSY_START;
	count = scandir(path, list, 0, 0);
	COSY_END;
	return count;
}
// CHECK: readdir.c:23:10: warning: the region at line 22 stays native: a call of 'scandir': libc's directory streams are in user space; readdir, getdents64 and cosy_scan_dir list a directory in a region [-Wcosy]
