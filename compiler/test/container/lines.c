// The container has its name, its calls, and the source line of each.
// RUN: %cosycc -O2 -c %s -o %t.o && cosy dis %t.o | FileCheck %s
#include <cosy/cosy.h>
#include <fcntl.h>
#include <unistd.h>

int first_byte(const char *path)
{
	unsigned char c = 0;

	COSY_START;
	int fd = open(path, O_RDONLY);
	read(fd, &c, 1);
	close(fd);
	COSY_END;
	return c;
}
// CHECK: compound lines.c:11 first_byte: {{[0-9]+}} instructions
// CHECK: lines.c:12
// CHECK: open
// CHECK: lines.c:13
// CHECK: read
// CHECK: lines.c:14
// CHECK: close
