// SPDX-License-Identifier: MIT
// Arithmetic with overflow checks, 32 and 64 bits, signed and not.
// expect: compiled
#include <cosy/cosy.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static const long v[] = {0,	     1,		  -1,	       2,	3037000499,
				 3037000500, -3037000500, INT_MAX,     INT_MIN, LONG_MAX,
				 LONG_MIN,   4294967296,  -4294967296, 1000003};
	long hash = 0;

	COSY_START;
	for (int i = 0; i < 14; i++)
		for (int j = 0; j < 14; j++) {
			long l;
			unsigned long ul;
			int w;
			unsigned u;

			hash = hash * 3 + __builtin_mul_overflow(v[i], v[j], &l);
			hash += l;
			hash = hash * 3 + __builtin_mul_overflow((unsigned long)v[i],
								 (unsigned long)v[j], &ul);
			hash += ul;
			hash = hash * 3 + __builtin_mul_overflow((int)v[i], (int)v[j], &w) + w;
			hash = hash * 3 +
			       __builtin_mul_overflow((unsigned)v[i], (unsigned)v[j], &u) + u;
			hash = hash * 3 + __builtin_add_overflow(v[i], v[j], &l) +
			       __builtin_sub_overflow(v[i], v[j], &l);
			hash = hash * 3 + __builtin_add_overflow((int)v[i], (int)v[j], &w) + w;
			hash = hash * 3 +
			       __builtin_sub_overflow((unsigned)v[i], (unsigned)v[j], &u) + u;
		}
	hash += getpid() <= 0;
	COSY_END;
	printf("%ld\n", hash);
	return 0;
}
