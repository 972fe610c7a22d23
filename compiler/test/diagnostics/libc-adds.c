// libc does more than the call in these.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <fcntl.h>
#include <unistd.h>

int f(int fd, int command)
{
	int r = 0;

	COSY_START;
	r += setuid(1000);
	r += fcntl(fd, F_GETOWN);
	r += fcntl(fd, command, 0);
	COSY_END;
	return r;
}
// CHECK: libc-adds.c:13:7: warning: {{.*}} a call of 'setuid': libc does more than the system call of that name
// CHECK: libc-adds.c:14:7: warning: {{.*}} a call of 'fcntl' with F_GETOWN or a command that is not a constant
// CHECK: libc-adds.c:15:7: warning: {{.*}} a call of 'fcntl' with
