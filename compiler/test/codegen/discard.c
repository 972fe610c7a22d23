// Views of a local end after its last use, and a use is also an argument of a call with
// six arguments, of memchr's result, and of the next turn of a loop.
// RUN: %cosycc -O2 -c %s -o %t.o && cosy dis %t.o | FileCheck %s
#include <cosy/cosy.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// CHECK-LABEL: compound {{.*}} sent:
long sent(int in, int socket)
{
	long n;

	COSY_START;
	char buf[4096];
	// CHECK: call cosy_view_read
	n = read(in, buf, sizeof(buf));
	// CHECK-NOT: call cosy_discard
	// CHECK: call sendto
	n = send(socket, buf, n, 0);
	// CHECK: call cosy_discard
	// CHECK: call getppid
	n += getppid();
	COSY_END;
	return n;
}

// CHECK-LABEL: compound {{.*}} found:
long found(int in, int out)
{
	long n;

	COSY_START;
	char buf[4096];
	// CHECK: call cosy_view_read
	n = read(in, buf, sizeof(buf));
	char *line = memchr(buf, '\n', sizeof(buf));
	// CHECK-NOT: call cosy_discard
	// CHECK: call write
	n += write(out, line, 10);
	// CHECK: call cosy_discard
	// CHECK: call getppid
	n += getppid();
	COSY_END;
	return n;
}

// CHECK-LABEL: compound {{.*}} of_the_turn_before:
long of_the_turn_before(int in, int out)
{
	long n = 0;

	COSY_START;
	char buf[4096];
	for (int i = 0; i < 1000; i++) {
		// CHECK: call write
		if (i)
			n += write(out, buf, sizeof(buf));
		// CHECK-NOT: call cosy_discard
		// CHECK: call cosy_view_read
		n += read(in, buf, sizeof(buf));
		// CHECK-NOT: call cosy_discard
		// CHECK: call getppid
		n += getppid();
	}
	COSY_END;
	return n;
}

// An address less another's low bits is one of the same buffer.
// CHECK-LABEL: compound {{.*}} by_low_bits:
long by_low_bits(int in, int out, long at)
{
	long n;

	COSY_START;
	char buf[8192];
	// CHECK: call cosy_view_read
	n = read(in, buf, sizeof(buf));
	char *line = (char *)((uintptr_t)(buf + at) - ((uintptr_t)buf & 63));
	// CHECK-NOT: call cosy_discard
	// CHECK: call write
	n += write(out, line, 10);
	// CHECK: call cosy_view_load
	n += line[1];
	// CHECK: call cosy_discard
	COSY_END;
	return n;
}

// CHECK-LABEL: compound {{.*}} annotated:
long annotated(int in, int out)
{
	long n;

	COSY_START;
	struct {
		char bytes[4096] __attribute__((annotate("bytes")));
		int more;
	} buf;
	// CHECK: call cosy_view_read
	n = read(in, &buf, sizeof(buf.bytes));
	// CHECK-NOT: call cosy_discard
	// CHECK: call cosy_view_load
	n += buf.bytes[5];
	// CHECK: call write
	n += write(out, buf.bytes, 10);
	// CHECK: call cosy_discard
	COSY_END;
	return n;
}

// The host looks at this local.
// CHECK-LABEL: compound {{.*}} of_the_host:
long of_the_host(int in)
{
	char buf[4096];
	long n;

	COSY_START;
	// CHECK: call cosy_view_read
	n = read(in, buf, sizeof(buf));
	// CHECK-NOT: call cosy_discard
	// CHECK: call getppid
	n += getppid();
	// CHECK-NOT: call cosy_discard
	// CHECK: exit
	COSY_END;
	return n + buf[7];
}

// A byte that is sent has to be where it is sent from.
// CHECK-LABEL: compound {{.*}} a_byte:
long a_byte(int in, int socket)
{
	char c = 'x';
	long n = 0;

	COSY_START;
	// CHECK: call read
	while (read(in, &c, 1) == 1)
		// CHECK: call sendto
		n += send(socket, &c, 1, 0);
	COSY_END;
	return n + c;
}
