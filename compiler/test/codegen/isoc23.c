// Functions of other names, by which headers of glibc 2.38 and later read numbers and which
// know 0b; and the two functions of strings that it brought.
// RUN: %cosycc -O2 -Werror=cosy -c %s -o %t.o
// RUN: %if links %{ %cosycc -O2 -Werror=cosy %s %S/Inputs/isoc23.c -o %t %}
// RUN: %if links %{ env COSY_MODE=native %t > %t.native %}
// RUN: %if links %{ env COSY_MODE=interp COSY_STATS=1 %t > %t.interp 2> %t.stats %}
// RUN: %if links %{ diff %t.native %t.interp && FileCheck %s < %t.interp && FileCheck %s --check-prefix=RAN < %t.stats %}
#include "Inputs/isoc23.h"
#include <cosy/cosy.h>
#include <errno.h>
#include <stdio.h>

static const char *const texts[] = {
	"0b101", "-0B11", "0b", "0b2",	"  +0b1x", "12", "0x1f", "017",
	"-5",	 "zz",	  "",	"0bx1", "0b11111111111111111111111111111111111111111111111111111111111111111",
	"99999999999999999999", "-99999999999999999999"};
static const int bases[] = {0, 2, 8, 10, 16, 36, 1, 37};
#define TEXTS (int)(sizeof(texts) / sizeof(*texts))
#define BASES (int)(sizeof(bases) / sizeof(*bases))

int main(void)
{
	static long long r[TEXTS * BASES][6], ends[TEXTS * BASES][6], errors[TEXTS * BASES][6];
	char path[8] = "ab";
	size_t n[4];

	COSY_START;
	for (int t = 0, i = 0; t < TEXTS; t++)
		for (int b = 0; b < BASES; b++, i++) {
			char *end;

#define TRY(k, name)                                                           \
	end = NULL;                                                            \
	errno = 0;                                                             \
	r[i][k] = name(texts[t], &end, bases[b]);                              \
	ends[i][k] = end ? end - texts[t] : 0;                                 \
	errors[i][k] = errno
			TRY(0, isoc23_strtol);
			TRY(1, isoc23_strtoll);
			TRY(2, isoc23_strtoimax);
			TRY(3, isoc23_strtoul);
			TRY(4, isoc23_strtoull);
			TRY(5, isoc23_strtoumax);
		}
	n[0] = strlcat(path, "cd", sizeof(path));
	n[1] = strlcat(path, "efghij", sizeof(path));
	n[2] = strlcat(path, "x", 3);
	n[3] = strlcpy(path + 1, "uvwxyz", 4);
	COSY_END;
	for (int i = 0; i < TEXTS * BASES; i++)
		for (int k = 0; k < 6; k++)
			printf("\"%s\" %d: %lld %lld %lld\n", texts[i / BASES], bases[i % BASES], r[i][k], ends[i][k],
			       errors[i][k]);
	printf("%zu %zu %zu %zu %s\n", n[0], n[1], n[2], n[3], path);
	return 0;
}
// CHECK: "0b101" 0: 5 5 0
// CHECK: "0b101" 2: 5 5 0
// CHECK: "0b101" 10: 0 1 0
// CHECK: "-0B11" 0: -3 5 0
// CHECK: "0b" 0: 0 1 0
// CHECK: "  +0b1x" 0: 1 6 0
// CHECK: "-99999999999999999999" 10: -9223372036854775808 21 34
// CHECK: 4 10 4 6 auvw
// RAN: native=0
