// Each region has a container in a section of its own, read-only.
// RUN: %cosycc -O2 -c %s -o %t.o && cosy dis %t.o | FileCheck %s
// RUN: llvm-readelf -S %t.o | FileCheck %s --check-prefix=SECTION
// SECTION: cosy_compounds PROGBITS {{[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+}} A
#include <cosy/cosy.h>
#include <unistd.h>

int one(void)
{
	int n;

	COSY_START;
	n = getpid();
	COSY_END;
	COSY_START;
	n += getppid();
	COSY_END;
	return n;
}

static inline int shared(void)
{
	int n;

	COSY_START;
	n = getuid();
	COSY_END;
	return n;
}

int two(void)
{
	return shared() + shared();
}
// CHECK: compound several.c:12 one:
// CHECK: compound several.c:15 one:
// CHECK: compound several.c:25 shared:
// CHECK-NOT: compound
