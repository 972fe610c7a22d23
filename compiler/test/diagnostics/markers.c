// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %cosycc -O2 -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>

void by_hand(void)
{
	__cosy_region_start(1);
	__cosy_region_end(0);
}
// CHECK: markers.c:7:2: warning: a region is marked with the statements COSY_START; and COSY_END; of <cosy/cosy.h>

// The macros' own variable is not for the program.
int token(int n)
{
	COSY_START;
	__cosy_token = 5;
	n = (int)__cosy_token;
	COSY_END;
	return n;
}
// CHECK: markers.c:15:2: warning: a region is marked with the statements COSY_START; and COSY_END; of <cosy/cosy.h>
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: __cosy_region
