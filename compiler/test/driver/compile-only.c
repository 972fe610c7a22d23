// -c, -S and -E do what they do in clang; nothing of the linker's is added.
// RUN: %cosycc -c %s -o %t.o && llvm-readelf -S %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: %cosycc -S %s -o - | FileCheck %s --check-prefix=ASM
// RUN: %cosycc -E %s | FileCheck %s --check-prefix=PREPROCESSED
// RUN: %cosycc -### -c %s 2>&1 | FileCheck %s --check-prefix=COMMANDS
// RUN: %cosycc -fsyntax-only %s
// OBJECT: cosy_compounds PROGBITS
// ASM: __cosy_enter
// PREPROCESSED: __cosy_region_start(
// COMMANDS-NOT: -lcosy
// COMMANDS-NOT: unused
#include <cosy/cosy.h>
#include <unistd.h>

int f(void)
{
	int n;

	COSY_START;
	n = getpid();
	COSY_END;
	return n;
}
