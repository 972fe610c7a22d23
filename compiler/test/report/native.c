// -Rcosy says why a region stays native, also when the warning is off.
// RUN: %cosycc -Rcosy -Wno-cosy -c %s -o %t.o 2>&1 | FileCheck %s --implicit-check-not=warning
#include <cosy/cosy.h>
#include <stdio.h>

void f(void)
{
	COSY_START;
	puts("x");
	COSY_END;
}
// CHECK: native.c:8:2: remark: region stays native: a call of 'puts': libc's streams are in user space [-Rpass-missed=cosy]
