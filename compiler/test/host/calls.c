// The native twin counts the system calls that it makes, in eighths, beside what they would save: a
// loop's head for those of the iteration before, a conditional call where it is made.
// RUN: %cosycc -O2 -S -emit-llvm -o - %s | FileCheck %s
#include <cosy/cosy.h>
#include <sys/stat.h>
#include <unistd.h>

// CHECK-LABEL: define {{.*}}@both(
long both(int fd, char *buffer, const char *name)
{
	struct stat st;
	long found = 0;

	COSY_START;
	for (long n = 1; n > 0;) {
		// CHECK-DAG: = add i64 %{{[0-9]+}}, 16, !dbg
		n = read(fd, buffer, 4096);
		lseek(fd, 1, SEEK_CUR);
		if (n > 4000 && buffer[0] == 'x')
			// CHECK-DAG: = add i64 %{{[0-9]+}}, 8, !dbg
			found += stat(name, &st) == 0;
	}
	COSY_END;
	return found;
}
