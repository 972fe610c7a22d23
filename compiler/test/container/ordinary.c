// With -fno-cosy-fast the container asks for ordinary calls, and holds no operation for one.
// RUN: %cosycc -O2 -c %s -o %t.o && llvm-readelf -x cosy_compounds %t.o | FileCheck %s --check-prefix=FAST
// RUN: %cosycc -O2 -fno-cosy-fast -c %s -o %t.o && llvm-readelf -x cosy_compounds %t.o | FileCheck %s
// RUN: cosy dis %t.o | FileCheck %s --check-prefix=CODE
// FAST: 434f5359 01004000 {{[0-9a-f]+}} 00000000
// CHECK: 434f5359 01004000 {{[0-9a-f]+}} 01000000
// CODE-NOT: view_
// CODE-NOT: readc
// CODE: call read{{$}}
#include <cosy/cosy.h>
#include <cosy/fast.h>
#include <unistd.h>

long f(int in, int out)
{
	char buf[4096], c = 0;
	long n;

	COSY_START;
	n = cosy_read(in, buf, sizeof(buf));
	n += read(in, buf, sizeof(buf));
	n += write(out, buf, n);
	n += read(in, &c, 1) + c;
	COSY_END;
	return n;
}
