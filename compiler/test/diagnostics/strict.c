// Obeys -Werror=cosy, -Wno-error=cosy, -Wno-cosy and -w.
// RUN: not %cosycc -Werror=cosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: %cosycc -Werror=cosy -Wno-error=cosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: %cosycc -Wno-cosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// RUN: %cosycc -w -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// ERROR: strict.c:[[#@LINE+9]]:2: error: the region at line
// WARNING: strict.c:[[#@LINE+8]]:2: warning: the region at line
// QUIET-NOT: region
#include <cosy/cosy.h>
#include <stdio.h>

void f(void)
{
	COSY_START;
	puts("x");
	COSY_END;
}
