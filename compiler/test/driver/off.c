// -fno-cosy, and -DCOSY_OFF, leave plain code: nothing of Cosy's in it.
// RUN: %cosycc -fno-cosy -O2 -S %s -o - | FileCheck %s
// RUN: %cosycc -DCOSY_OFF -O2 -S %s -o - | FileCheck %s
// RUN: %cosycc -### -fno-cosy %s 2>&1 | FileCheck %s --check-prefix=COMMAND
// CHECK-NOT: cosy_
// COMMAND-NOT: CosyPass
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
