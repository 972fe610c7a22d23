// _FORTIFY_SOURCE compares with the sizes of locals that a region touches, in the region and outside,
// though their memory is the shared buffer's.
// RUN: %cosycc -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Rcosy -S -o %t.s %s 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.s
// RUN: %cosycc -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -S -o - %s | FileCheck %s
#include <cosy/cosy.h>
#include <string.h>
#include <unistd.h>

int use(void *);

int outside(int fd, const char *from, size_t n)
{
	char buffer[8];
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 4; i++)
		sum += read(fd, buffer, sizeof(buffer));
	COSY_END;
	memcpy(buffer, from, n);
	return use(buffer) + (int)sum;
}
// REMARK: object-sizes.c:17:2: remark: region compiled
// CHECK-LABEL: outside:
// CHECK: movl $8, %ecx
// CHECK: callq __memcpy_chk

int inside(int fd, const char *from, size_t n)
{
	char buffer[8];
	long sum = 0;

	COSY_START;
	for (int i = 0; i < 4; i++) {
		sum += read(fd, buffer, sizeof(buffer));
		memcpy(buffer, from, n);
	}
	COSY_END;
	return use(buffer) + (int)sum;
}
// REMARK: object-sizes.c:34:2: remark: region compiled
// CHECK-LABEL: inside:
// CHECK: callq __memcpy_chk
