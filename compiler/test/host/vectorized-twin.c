// The twin is optimised like the plain program: its loop is still vectorised.
// RUN: %cosycc -O3 -S -emit-llvm %s -o - | FileCheck %s
#include <cosy/cosy.h>
#include <unistd.h>

void f(int *restrict a, const int *restrict b, int n)
{
	COSY_START;
	getpid();
	for (int i = 0; i < n; i++)
		a[i] = b[i] * 3 + 1;
	COSY_END;
}
// CHECK: mul {{.*}}<4 x i32>
