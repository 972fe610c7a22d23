// Where values have no room the reason is given once, not for each of them.
// RUN: %cosycc -O2 -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

#define TEN(x) x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9)
#define LOAD(n)	  long a##n = p[n] * (n + 3), b##n = p[n + 10] * (n + 5), c##n = p[n + 20] * (n + 7), \
		  d##n = p[n + 30] * (n + 11), e##n = p[n + 40] * (n + 13), f##n = p[n + 50] * (n + 17), \
		  g##n = p[n + 60] * (n + 19), h##n = p[n + 70] * (n + 23);
#define ADD(n)	  s = s * 31 + (a##n ^ b##n ^ c##n ^ d##n ^ e##n ^ f##n ^ g##n ^ h##n ^ c);
#define ADD_UP(n) s = s * 7 + a##n + 3 * b##n + 5 * c##n + 7 * d##n + 9 * e##n + 11 * f##n + 13 * g##n + 17 * h##n;

long f(int fd, const long *p)
{
	long s = 0;
	char c;

	COSY_START;
	TEN(LOAD)
	read(fd, &c, 1);
	TEN(ADD)
	read(fd, &c, 1);
	TEN(ADD_UP)
	COSY_END;
	return s;
}
// CHECK: crowded.c:18:2: warning: the region at line 18 stays native: it needs more values at once than a compound's registers and frame can hold
// CHECK: 1 warning generated
