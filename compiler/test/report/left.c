// -Rcosy reports where a region ends early and begins; a call in each iteration keeps it native.
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
// CHECK-DAG: left.c:28:4: remark: the region ends before the call of 'die': a compound cannot do that [-Rpass=cosy]
// CHECK-DAG: left.c:31:2: remark: the region ends before the call of 'printf': libc's streams are in user space [-Rpass=cosy]
// CHECK-DAG: left.c:19:2: remark: region compiled:

void again(const char *name, int turns)
{
	COSY_START;
	int dir = open("/", O_RDONLY | O_DIRECTORY);

	for (int i = 0; i < turns; i++) {
		int fd = openat(dir, name, O_RDONLY);

		if (fd < 0) {
			perror(name);
			continue;
		}
		close(fd);
	}
	COSY_END;
}
// CHECK-DAG: left.c:49:4: remark: the region ends before the call of 'perror': libc's streams are in user space [-Rpass=cosy]
// CHECK-DAG: left.c:45:2: remark: the region begins at this loop, because it ends before a call inside [-Rpass=cosy]
// CHECK-DAG: left.c:42:2: remark: region compiled:

void kept(const char *name, int turns)
{
	COSY_START;
	for (int i = 0; i < turns; i++) {
		int fd = open(name, O_RDONLY);

		printf("%d\n", fd);
		if (fd >= 0)
			close(fd);
	}
	COSY_END;
}
// CHECK: left.c:66:3: warning: the region at line 62 stays native: a call of 'printf': libc's streams are in user space [-Wcosy]
// CHECK-NOT: left.c:{{6[0-9]|7}}{{.*}}ends before
