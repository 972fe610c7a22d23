// -Rcosy tells which reads copy, and why.
// RUN: %cosycc -O2 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O0 -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void keep(char *buf);
char global[4096];
char *pointer;

#define COPY(buf, count)                                                                           \
	long total = 0, n;                                                                         \
	COSY_START;                                                                                \
	while ((n = read(in, buf, count)) > 0)                                                     \
		total += write(out, buf, n);                                                       \
	COSY_END;                                                                                  \
	return total

long callers(int in, int out, char *buf)
{
	COPY(buf, 4096);
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: the buffer is the caller's

long globals(int in, int out)
{
	COPY(global, sizeof(global));
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: a global is not in the shared buffer

long loaded(int in, int out)
{
	char *buf = pointer;
	COPY(buf, 4096);
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: the buffer's address is kept in memory

long from_malloc(int in, int out)
{
	char *buf = malloc(4096);
	COPY(buf, 4096);
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: the buffer is not in the shared buffer: see cosy_malloc

long known(int in, int out)
{
	char buf[4096];
	keep(buf);
	COPY(buf, sizeof(buf));
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: 'keep' is given the buffer's address

long stored_before(int in, int out)
{
	char buf[4096];
	pointer = buf;
	COPY(buf, sizeof(buf));
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: the buffer's address is stored

// The buffer is known between two runs of the region.
void known_next_time(int in, int out, int times)
{
	char buf[4096];

	for (int i = 0; i < times; i++) {
		COSY_START;
		read(in, buf, sizeof(buf));
		write(out, buf, sizeof(buf));
		COSY_END;
		keep(buf);
	}
}
// CHECK: views-refused.c:[[#@LINE-6]]:3: remark: read copies: 'keep' is given the buffer's address

long few(int in, int out)
{
	char buf[100];
	COPY(buf, sizeof(buf));
}
// CHECK: views-refused.c:[[#@LINE-2]]:2: remark: read copies: too few bytes for a view to pay

long summed(int in)
{
	char buf[4096];
	long sum = 0, n;

	COSY_START;
	while ((n = read(in, buf, sizeof(buf))) > 0)
		for (int i = 0; i < n; i++)
			sum += buf[i];
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-6]]:14: remark: read copies: its bytes are loaded or stored in a loop (line [[#@LINE-4]])

// The loop takes a byte at a time from a buffer that is read into now and then.
long getchars(int in)
{
	char buf[4096];
	long sum = 0, at = 0, n = 0;

	COSY_START;
	for (;;) {
		if (at == n) {
			n = read(in, buf, sizeof(buf));
			at = 0;
			if (n <= 0)
				break;
		}
		sum = sum * 31 + buf[at++];
	}
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-10]]:8: remark: read copies: its bytes are loaded or stored in a loop

long gathered(int in, int out)
{
	char buf[4096];
	struct iovec vector = {buf, sizeof(buf)};
	long total = 0;

	COSY_START;
	total = read(in, buf, sizeof(buf));
	total += writev(out, &vector, 1);
	COSY_END;
	return total;
}
// CHECK: views-refused.c:[[#@LINE-5]]:10: remark: read copies: the buffer's address is stored

long atomically(int in)
{
	static long sum;
	char buf[4096] __attribute__((aligned(8)));

	COSY_START;
	if (read(in, buf, sizeof(buf)) > 0)
		sum += __atomic_load_n((long *)buf, __ATOMIC_SEQ_CST);
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-5]]:6: remark: read copies: a volatile or atomic access (line [[#@LINE-4]])

// By name others may know the buffer: all accesses that may be of it go there.
long by_name(int in, char *buf, char *same)
{
	long sum = 0;

	COSY_START;
	while (cosy_read(in, buf, 4096) > 0)
		sum += same[100];
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-5]]:9: remark: read without a copy (view_read), 1 load or store through the view

long by_name_in_a_loop(int in, char *buf, char *same)
{
	long sum = 0;

	COSY_START;
	while (cosy_read(in, buf, 4096) > 0)
		for (int i = 0; i < 4096; i++)
			sum += same[i];
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-6]]:9: remark: read copies: its bytes are loaded or stored in a loop

// Short strings are looked at in place, which loads them.
long words(int in)
{
	char buf[4096];
	long sum = 0;

	COSY_START;
	while (read(in, buf, sizeof(buf)) > 0)
		for (int i = 0; i < 4096; i += 32)
			sum += strlen(buf + i);
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-6]]:9: remark: read copies: its strings are scanned in a loop (line [[#@LINE-4]])

long string(int in)
{
	char buf[4096];
	long sum = 0;

	COSY_START;
	while (read(in, buf, sizeof(buf)) > 0)
		sum += strlen(buf);
	COSY_END;
	return sum;
}
// CHECK: views-refused.c:[[#@LINE-5]]:9: remark: read without a copy (view_read)
