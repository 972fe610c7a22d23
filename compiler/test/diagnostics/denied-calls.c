// System calls that core/ops.def denies are refused, by wrapper and by number.
// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <sys/syscall.h>
#include <unistd.h>

int forks(void)
{
	int pid;

	COSY_START;
	pid = fork();
	COSY_END;
	return pid;
}
// CHECK: denied-calls.c:13:8: warning: {{.*}} a call of 'fork': the child would start in the middle of a compound

void execs(char **argv)
{
	COSY_START;
	execve("/bin/true", argv, argv);
	execvp("true", argv);
	COSY_END;
}
// CHECK: denied-calls.c:22:2: warning: {{.*}} a call of 'execve': replaces the program
// CHECK: denied-calls.c:23:2: warning: {{.*}} a call of 'execvp': replaces or starts a program

long by_number(void)
{
	long r;

	COSY_START;
	r = syscall(SYS_clone, 0, 0);
	r += syscall(9999);
	r += syscall(-1);
	r += syscall(-2);
	COSY_END;
	return r;
}
// CHECK: denied-calls.c:34:6: warning: {{.*}} a call of syscall(56): the child would
// CHECK: denied-calls.c:35:7: warning: {{.*}} a call of syscall(9999): there is no such system call
// CHECK: denied-calls.c:36:7: warning: {{.*}} a call of syscall(-1): there is no such system call
// CHECK: denied-calls.c:37:7: warning: {{.*}} a call of syscall(-2): there is no such system call
