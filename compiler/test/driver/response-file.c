// Options of cosycc's own may be in a response file; quotes are clang's.
// RUN: echo "-O1 '-DTEXT=\"two words\"' -Rcosy" > %t.rsp
// RUN: %cosycc @%t.rsp -c %s -o %t.o 2>&1 | FileCheck %s
// CHECK: remark: region compiled
#include <cosy/cosy.h>
#include <unistd.h>

const char *text = TEXT;

int f(void)
{
	int n;

	COSY_START;
	n = getpid();
	COSY_END;
	return n;
}
