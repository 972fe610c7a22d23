// -Rcosy tells which reads become views.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O0 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O2 -Rcosy -fno-cosy-fast -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: without a copy
// PLAIN-NOT: read copies
// PLAIN-NOT: view_
#include <cosy/cosy.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

long handed_on(int in, int out)
{
	char buf[4096];
	long total = 0, n;

	COSY_START;
	while ((n = read(in, buf, sizeof(buf))) > 0)
		total += write(out, buf, n);
	COSY_END;
	return total;
}
// CHECK: views.c:[[#@LINE-5]]:14: remark: read without a copy (view_read) [

long at_an_offset(int in, int socket)
{
	long total = 0;

	COSY_START;
	char buf[8192];
	for (int i = 0; i < 10; i++) {
		long n = pread(in, buf, sizeof(buf), i * 20000L);
		total += send(socket, buf, n, 0);
	}
	COSY_END;
	return total;
}
// CHECK: views.c:[[#@LINE-6]]:12: remark: pread without a copy (view_pread) [

long looked_at_here_and_there(int in)
{
	char *buf = cosy_malloc(16384);
	long total = 0;

	if (!buf)
		return -1;
	COSY_START;
	while (read(in, buf, 16384) == 16384) {
		total += buf[0] + *(int *)(buf + 100);
		buf[1] = 0;
	}
	COSY_END;
	cosy_free(buf);
	return total;
}
// CHECK: views.c:[[#@LINE-8]]:9: remark: read without a copy (view_read), 3 loads or stores through the view [

long scanned(int in)
{
	char buf[4096];
	long lines = 0, n;

	COSY_START;
	while ((n = read(in, buf, sizeof(buf))) > 0)
		for (char *at = buf; (at = memchr(at, '\n', buf + n - at)); at++)
			lines++;
	COSY_END;
	return lines;
}
// CHECK: views.c:[[#@LINE-6]]:14: remark: read without a copy (view_read) [

// The buffer may be looked at after the region.
long shown_later(int in)
{
	char buf[4096];

	memset(buf, 0, sizeof(buf));
	COSY_START;
	read(in, buf, sizeof(buf) - 1);
	COSY_END;
	return puts(buf);
}
// CHECK: views.c:[[#@LINE-4]]:2: remark: read without a copy (view_read) [
