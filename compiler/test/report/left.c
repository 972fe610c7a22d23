// -Rcosy says before which calls a region ends; one that a loop comes after keeps it native.
// RUN: %cosycc -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void die(const char *name)
{
	perror(name);
	exit(1);
}

int left(const char *name, int turns)
{
	long n = 0;

	COSY_START;
	for (int i = 0; i < turns; i++) {
		int fd = open(name, O_RDONLY);

		if (fd < 0) {
			perror(name);
			return -1;
		}
		if (close(fd))
			die(name);
		n++;
	}
	printf("%ld\n", n);
	COSY_END;
	return 0;
}
// CHECK-DAG: left.c:24:4: remark: the region ends before the call of 'perror': libc's streams are in user space [-Rpass=cosy]
// CHECK-DAG: left.c:28:4: remark: the region ends before the call of 'die': it calls what no compound can hold [-Rpass=cosy]
// CHECK-DAG: left.c:31:2: remark: the region ends before the call of 'printf': libc's streams are in user space [-Rpass=cosy]
// CHECK-DAG: left.c:19:2: remark: region compiled:

void kept(const char *name, int turns)
{
	COSY_START;
	for (int i = 0; i < turns; i++) {
		int fd = open(name, O_RDONLY);

		if (fd < 0) {
			perror(name);
			continue;
		}
		close(fd);
	}
	COSY_END;
}
// CHECK: left.c:47:4: warning: the region at line 42 stays native: a call of 'perror': libc's streams are in user space [-Wcosy]
// CHECK-NOT: left.c:{{4[0-9]|5}}{{.*}}ends before
