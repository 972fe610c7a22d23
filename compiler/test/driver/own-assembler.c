// With -fno-integrated-as, GNU as takes what cosycc makes.
// RUN: %cosycc -O2 -fno-integrated-as -c %s -o %t.o
// RUN: llvm-readelf -S %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: %cosycc -fno-integrated-as -S %s -o - | FileCheck %s --check-prefix=GNU --implicit-check-not=@PLT-
// RUN: %cosycc -fno-integrated-as -fintegrated-as -S %s -o - | FileCheck %s --check-prefix=CLANG
// RUN: %if links %{ %cosycc -O2 -fno-integrated-as %s -o %t && env COSY_MODE=interp %t %}
// OBJECT: cosy_compounds PROGBITS
// GNU: cosy.premises:
// CLANG: getppid@PLT-{{.*}}cosy.premises
#include <cosy/cosy.h>
#include <unistd.h>

int main(void)
{
	int n = 0;

	COSY_START;
	for (int i = 0; i < 9; i++)
		n += getppid() >= 0;
	COSY_END;
	return n != 9;
}
