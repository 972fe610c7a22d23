// The warning names what lists a directory in a region.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
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
// CHECK: readdir.c:11:9: warning: the region at line 10 stays native: a call of 'readdir': libc's directory streams are in user space; getdents64 and cosy_scan_dir list a directory in a region [-Wcosy]
