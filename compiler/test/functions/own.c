// A function of the program's own is no system call, whatever its name is: bind() in another file.
// RUN: %cosycc -O0 -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O3 -g0 -flto=thin -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -x c++ -O2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=CPLUSPLUS
// RUN: %cosycc -DTHIRDPARTY -isystem %S/Inputs/thirdparty -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -DTHIRDPARTY -isystem %S/Inputs/thirdparty -E %s -o %t.i
// RUN: %cosycc -c %t.i -o %t.o 2>&1 | FileCheck %s
// A folder bits of the C++ library's is none of the C library's.
// RUN: rm -rf %t.cxx && mkdir -p %t.cxx/c++/12/bits && cp %S/Inputs/thirdparty/events.h %t.cxx/c++/12/bits
// RUN: %cosycc -DTHIRDPARTY -isystem %t.cxx/c++/12/bits -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %if links %{ %cosycc -Wno-cosy -O2 %s %S/Inputs/own.c -o %t %}
// RUN: %if links %{ env COSY_MODE=interp %t | FileCheck %s --check-prefix=RAN %}
#include <cosy/cosy.h>
#include <stdio.h>
#include <unistd.h>
#ifdef THIRDPARTY
#include <events.h>
#else
struct node {
	struct node *next;
	int value;
};
#ifdef __cplusplus
extern "C"
#endif
int bind(int key, struct node *node, unsigned count);
#endif

int main(void)
{
	struct node a = {0, 1};
	int r, q;

	COSY_START;
	r = bind(3, &a, 7);
	q = getpid() > 0;
	COSY_END;
	printf("%d %d %d\n", r, q, a.value);
	return 0;
}
// CHECK: own.c:[[#]]:{{[56]}}: warning: {{.*}} a call of 'bind', which no header of the C library declares: it may be the program's own
// CHECK: 1 warning generated
// CPLUSPLUS: a call of 'bind', which no header of the C library declares
// RAN: 37 1 37
