// These three cannot see what a compound does; AddressSanitizer is fine.
// RUN: %cosycc -fsanitize=memory -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: %cosycc -fsanitize=thread -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=THREAD
// RUN: %cosycc -fsanitize=address -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ADDRESS
// RUN: %cosycc -fsanitize=undefined,dataflow -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=DATAFLOW
// RUN: %cosycc -fsanitize=dataflow -fno-sanitize=all -Rcosy -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=ADDRESS
// MEMORY: warning: {{.*}} MemorySanitizer cannot see what a compound writes
// THREAD: warning: {{.*}} ThreadSanitizer cannot see what a compound accesses
// DATAFLOW: warning: {{.*}} DataFlowSanitizer cannot see what a compound moves
// ADDRESS: remark: region compiled
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
