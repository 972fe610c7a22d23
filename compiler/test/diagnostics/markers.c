// RUN: %cosycc -c %s -o %t.o 2>&1 | FileCheck %s
#include <cosy/cosy.h>

void by_hand(void)
{
	__cosy_region_start(1);
	__cosy_region_end(0);
}
// CHECK: markers.c:6:2: warning: a region is marked with the statements COSY_START; and COSY_END; of <cosy/cosy.h>
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: __cosy_region
