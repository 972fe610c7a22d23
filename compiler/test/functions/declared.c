// A function counts as libc's if a header of the C library declares it, however often it is declared
// again; not if only the program declares it, even by libc's prototype.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O0 -D_FORTIFY_SOURCE=2 -O1 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -E %s -o %t.i && %cosycc -O1 -Rcosy -c %t.i -o %t.o 2>&1 | FileCheck %s --check-prefix=MARKERS
// RUN: %ir %s 2>/dev/null | FileCheck %s --check-prefix=CLEAN
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <sys/socket.h>
#include <unistd.h>

// Declared again, with and without what the header says of it.
ssize_t read(int, void *, size_t);
extern int getpid(void) __attribute__((nothrow));

// <signal.h> is not included.
int kill(int pid, int sig);

int again(int fd, char *buffer)
{
	int n;

	COSY_START;
	n = read(fd, buffer, 16) + getpid();
	COSY_END;
	return n;
}
// CHECK: declared.c:[[@LINE-5]]:2: remark: region compiled

int by_hand(void)
{
	int n;

	COSY_START;
	n = kill(1, 0);
	COSY_END;
	return n;
}
// CHECK: declared.c:[[@LINE-4]]:6: warning: {{.*}} a call of 'kill', which no header of the C library declares

int in_block(int fd, const struct sockaddr *address)
{
	extern int bind(int, const struct sockaddr *, socklen_t);
	extern int tgkill(int, int, int);
	int n;

	COSY_START;
	n = bind(fd, address, 16);
	COSY_END;
	COSY_START;
	n += tgkill(1, 1, 0);
	COSY_END;
	return n;
}
// CHECK: declared.c:[[@LINE-8]]:2: remark: region compiled
// CHECK: declared.c:[[@LINE-5]]:7: warning: {{.*}} a call of 'tgkill', which no header

#pragma weak fsync

int perhaps_none(int fd)
{
	int n;

	COSY_START;
	n = fsync(fd);
	COSY_END;
	return n;
}
// CHECK: declared.c:[[@LINE-4]]:6: warning: {{.*}} a call of 'fsync'

// MARKERS: region compiled
// MARKERS: a call of 'kill', which no header
// MARKERS: region compiled
// MARKERS: a call of 'tgkill', which no header
// MARKERS: a call of 'fsync', which no header
// CLEAN-NOT: cosy_libc
// CLEAN-NOT: cosy-foreign
